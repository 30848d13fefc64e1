# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# In the machine's window a key switches tracing, off and on again; status file and trace tell.
command -v Xvfb >/dev/null || skip "there is no Xvfb"
grep -aq libSDL2 "$BOCHS" || skip "laplace-bochs was built without SDL2"
readonly CONTROL=37 SCROLL_LOCK=78	# of a keyboard as X has it on Linux

# a machine that runs for ever: its boot sector jumps to itself
printf '\353\376' >"$WORK/screen.img"
truncate -s 510 "$WORK/screen.img"
printf '\125\252' >>"$WORK/screen.img"
truncate -s 1474560 "$WORK/screen.img"
sed -e 's/^display_library:.*/display_library: sdl2/' -e 's/^boot:.*/boot: floppy/' \
	-e "\$ a floppya: 1_44=\"$WORK/screen.img\", status=inserted" "$IMAGE/boot.bochsrc" \
	>"$WORK/screen.bochsrc"
rm -f "$WORK"/screen.lpl* "$WORK/screen.number" "$WORK/screen.status"
Xvfb -displayfd 3 -screen 0 1024x768x24 -nolisten tcp 3>"$WORK/screen.number" \
	>"$WORK/screen.xvfb" 2>&1 &
server=$!
trap 'kill $server' EXIT
while [ ! -s "$WORK/screen.number" ]; do
	kill -0 $server || fail "Xvfb does not start: $(tail -n 1 "$WORK/screen.xvfb")"
	sleep 0.1
done
env -u SDL_VIDEODRIVER DISPLAY=":$(cat "$WORK/screen.number")" \
	"$LAPLACE" record --progress=never --flush 1s -o "$WORK/screen.lpl" --kernel none \
	--status-file "$WORK/screen.status" --status-every 1 "$WORK/screen.bochsrc" \
	>"$WORK/screen.log" 2>&1 </dev/null &
front=$!

# The last status has this.
wait_for() { # PATTERN
	until tail -n 1 "$WORK/screen.status" 2>/dev/null | grep -Eq "\"state\":\"running\".*$1"; do
		kill -0 $front || fail "it ended before its status had $1: $(said "$WORK/screen.log")"
		# one a second: against waiting for ever
		lines=$(grep -c "" "$WORK/screen.status" 2>/dev/null || :)
		[ "${lines:-0}" -lt 300 ] || fail "its status never had $1"
		sleep 0.2
	done
}
press() {
	"$PROGRAMS/press-keys" "$(cat "$WORK/screen.number")" "$@" || fail "the keys cannot be pressed"
}

# the key works from some 10 million cycles on
wait_for '"tracing":true.*"instructions":[1-9][0-9]{7}'
press $SCROLL_LOCK	# alone it is the guest's
press $CONTROL $SCROLL_LOCK
wait_for '"tracing":false'
press $CONTROL $SCROLL_LOCK
wait_for '"tracing":true'
kill -TERM $front
status=0
wait $front || status=$?
[ "$status" -eq 1 ] || fail "status $status, not 1"
verify "$WORK/screen.lpl"
switched=$("$LAPLACE" cat --events "$WORK/screen.lpl" |
	awk '$1 == "E" && $2 == "tracing" { split($9, on, ","); printf "%s ", on[1] }')
[ "$switched" = "1 0 1 0 " ] || fail "tracing was switched $switched, not 1 0 1 0"
