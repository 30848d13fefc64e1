# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# In the machine's window a key switches tracing, off and on again; status file and trace tell.
# shellcheck source=tests/guest/xserver.sh
. "$GUEST/xserver.sh"
needs_window

# a machine that runs for ever: its boot sector jumps to itself
endless screen '\353\376'
start_xserver "$WORK/screen.x"
trap 'kill "$XSERVER"' EXIT
record_in_window "$WORK/screen.lpl" "$WORK/screen.bochsrc" "$WORK/screen.log" --kernel none

# the key works from some 10 million cycles on
wait_for '"tracing":true.*"instructions":[1-9][0-9]{7}'
press "$SCROLL_LOCK"	# alone it is the guest's
press "$CONTROL" "$SCROLL_LOCK"
wait_for '"tracing":false'
press "$CONTROL" "$SCROLL_LOCK"
wait_for '"tracing":true'
kill -TERM "$FRONT"
status=0
wait "$FRONT" || status=$?
[ "$status" -eq 1 ] || fail "status $status, not 1"
verify "$WORK/screen.lpl"
expect_switched "$WORK/screen.lpl" "1 0 1 0 "
