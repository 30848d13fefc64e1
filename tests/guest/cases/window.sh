# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# A person at the window of a Linux: what is typed reaches the guest, TRACE in the status bar tells
# whether it is recorded, and whoever switches that, the window shows it.  Where every reference
# is recorded, for that is another simulator; the picture in the documents is made with the usual one.
# shellcheck source=tests/guest/xserver.sh
. "$GUEST/xserver.sh"
needs_window

await_lamp() { # lit|dark WHEN: it is looked at some times a second of the guest's
	for _ in $(seq 300); do
		if lit; then [ "$1" = dark ] || return 0; else [ "$1" = lit ] || return 0; fi
		kill -0 "$FRONT" || fail "it ended, $2"
		sleep 0.2
	done
	fail "TRACE is not $1, $2"
}

start_xserver "$WORK/window.x"
trap 'kill "$XSERVER"' EXIT
record_in_window "$WORK/window.lpl" "$IMAGE/shell.bochsrc" "$WORK/window.log" --reduce none \
	--start off --control "$WORK/window.control"
wait_for '"mark":\{"text":"shell"'
await_lamp lit "when it is traced"
type_until '"mark":\{"text":"typed"' 'laplace-ctl mark typed'
press "$CONTROL" "$SCROLL_LOCK"
wait_for '"tracing":false'
await_lamp dark "when the key has switched tracing off"
"$LAPLACE" ctl "$WORK/window.control" start || fail "the control socket does not start it"
wait_for '"tracing":true'
await_lamp lit "when tracing was switched on from outside"
type_until '"tracing":false' 'laplace-ctl stop'
await_lamp dark "when the guest has switched tracing off"
press "$CONTROL" "$SCROLL_LOCK"
wait_for '"tracing":true'
await_lamp lit "when the key has switched tracing on"
type_to_the_end exit
status=0
wait "$FRONT" || status=$?
[ "$status" -eq 0 ] || fail "status $status: $(said "$WORK/window.log")"
verify "$WORK/window.lpl"
expect_switched "$WORK/window.lpl" "1 0 1 0 1 0 "
"$LAPLACE" cat --events "$WORK/window.lpl" >"$WORK/window.text"
expect_line "$WORK/window.text" "^E mark .*typed$"

command -v pnmtopng >/dev/null || skip "there is no netpbm for the picture"
"$SRCDIR/docs/window-picture" --builddir "$BUILDDIR" --machine "$IMAGE/shell.bochsrc" -o "$WORK/window.svg" ||
	fail "the picture cannot be made"
