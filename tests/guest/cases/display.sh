# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# The machine's screen goes away in mid-run: the library that shows it calls exit().  The
# trace is closed and whole, and it is told that this was no good end.
command -v Xvfb >/dev/null || skip "there is no Xvfb"
grep -aq libSDL2 "$BOCHS" || skip "laplace-bochs was built without SDL2"

sed 's/^display_library:.*/display_library: sdl2/' "$IMAGE/boot.bochsrc" >"$WORK/display.bochsrc"
rm -f "$WORK"/display.lpl* "$WORK/display.number"
Xvfb -displayfd 3 -screen 0 1024x768x24 -nolisten tcp 3>"$WORK/display.number" >"$WORK/display.xvfb" 2>&1 &
server=$!
while [ ! -s "$WORK/display.number" ]; do
	kill -0 $server || fail "Xvfb does not start: $(tail -n 1 "$WORK/display.xvfb")"
	sleep 0.1
done
# no kernel that says how it went: any end would be a clean one
env -u SDL_VIDEODRIVER DISPLAY=":$(cat "$WORK/display.number")" \
	"$LAPLACE" record --progress=never -o "$WORK/display.lpl" --kernel none "$WORK/display.bochsrc" \
	>"$WORK/display.log" 2>&1 </dev/null &
front=$!
size=0
while [ "$size" -lt 60000 ]; do
	kill -0 $front || fail "it ended by itself: $(said "$WORK/display.log")"
	sleep 0.1
	size=$(stat -c %s "$WORK/display.lpl.part" 2>/dev/null || echo 0)
done
kill -KILL $server
status=0
wait $front || status=$?
[ "$status" -eq 1 ] || fail "status $status, not 1"
expect_line "$WORK/display.log" '^laplace: the simulator was ended from within, as by a display that went away'
verify "$WORK/display.lpl"
