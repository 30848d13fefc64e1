# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# The machine's screen goes away in mid-run: the library that shows it calls exit().  The
# trace is closed and whole, and it is told that this was no good end.
# shellcheck source=tests/guest/xserver.sh
. "$GUEST/xserver.sh"
needs_window

start_xserver "$WORK/display.x"
# no kernel that says how it went: any end would be a clean one
record_in_window "$WORK/display.lpl" "$IMAGE/boot.bochsrc" "$WORK/display.log" --kernel none
size=0
while [ "$size" -lt 60000 ]; do
	kill -0 "$FRONT" || fail "it ended by itself: $(said "$WORK/display.log")"
	sleep 0.1
	size=$(stat -c %s "$WORK/display.lpl.part" 2>/dev/null || echo 0)
done
kill -KILL "$XSERVER"
status=0
wait "$FRONT" || status=$?
[ "$status" -eq 1 ] || fail "status $status, not 1"
expect_line "$WORK/display.log" '^laplace: the simulator was ended from within, as when its display is closed'
verify "$WORK/display.lpl"
