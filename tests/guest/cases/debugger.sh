# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# The debugger's command `laplace`: on and off in the middle of a run, marks,
# flush, status; and what it is told wrongly.
trace=$WORK/debugger.lpl
cat >"$WORK/debugger.rc" <<'END'
laplace status
step 1000000
laplace on
step 300000
laplace mark hello, world
step 1000
laplace off
laplace mark while off
step 50000
laplace on
laplace on
step 200000
laplace status
laplace nonsense
help laplace
help
quit
END
debug() { # REDUCTION TRACE OUTPUT
	local status=0
	"$BOCHS" -q -f "$IMAGE/boot.bochsrc" -dbg -rc "$WORK/debugger.rc" \
		"laplace: trace=$2, reduce=$1, start=off, overwrite=on" >"$3" 2>&1 </dev/null || status=$?
	[ "$status" -eq 0 ] || fail "$1: status $status: $(said "$3")"
	verify "$2"
}
debug none "$trace" "$WORK/debugger.out"
expect_line "$WORK/debugger.out" '^laplace: tracing off, reduction none'
expect_line "$WORK/debugger.out" '^laplace: tracing on, reduction none'
# each says what it did
expect_line "$WORK/debugger.out" '^laplace: tracing is on, after 0 references'
expect_line "$WORK/debugger.out" '^laplace: tracing is off, after [1-9][0-9]* references'
expect_line "$WORK/debugger.out" '^laplace: tracing is on already, after [1-9][0-9]* references'
expect_line "$WORK/debugger.out" '^laplace: marked'
expect_line "$WORK/debugger.out" '^laplace mark TEXT - '
expect_line "$WORK/debugger.out" '^    laplace$'
expect_line "$WORK/debugger.out" '^usage: laplace on\|off\|status\|mark TEXT\|flush'

"$LAPLACE" cat --events --format csv "$trace" >"$WORK/debugger.csv"
grep '^#E' "$WORK/debugger.csv" | awk '{ split($9, a, ","); print $2, $2 == "tracing" ? a[1] : substr($0, index($0, $10)) }' \
	>"$WORK/debugger.events"
printf '%s\n' 'tracing 1' 'mark hello, world' 'tracing 0' 'mark while off' 'tracing 1' 'tracing 0' |
	sed 's/^mark /user-mark /' >"$WORK/debugger.expected"
sed -i 's/^mark /user-mark /; s/^[a-z-]*mark /user-mark /' "$WORK/debugger.events"
expect_same "events" "$WORK/debugger.expected" "$WORK/debugger.events"

# Instructions stepped over with tracing on are in the trace, each fetched once;
# a repeated one counts for each iteration and is fetched once.
awk -F , '
	/^#E/ { split($0, f, " "); split(f[9], a, ","); if (f[2] == "tracing") on = a[1] }
	/^i,/ { if (!on) bad++; if ($9 == 0) { if ($3 <= last) bad++; last = $3; n++ } }
	END { print n, bad + 0; exit !(n > 1000 && n <= 501000 && bad == 0) }' "$WORK/debugger.csv" ||
	fail "the fetches are not those of the steps with tracing on"

debug sad:4 "$WORK/debugger-sad.lpl" "$WORK/debugger-sad.out"
"$PROGRAMS/compare-traces" -r window:4+sad:4 "$trace" "$WORK/debugger-sad.lpl" ||
	fail "sad:4 as recorded is not window:4+sad:4 of the whole"

# The debugger may leave whenever it has stopped the processor, and what it stepped
# over is in the trace.
for steps in 1 5 1000 123457; do
	printf '%s\n' "step $steps" quit >"$WORK/debugger.rc"
	for reduction in none sad:4; do
		status=0
		"$BOCHS" -q -f "$IMAGE/boot.bochsrc" -dbg -rc "$WORK/debugger.rc" \
			"laplace: trace=$trace, reduce=$reduction, overwrite=on" \
			>"$WORK/debugger.out" 2>&1 </dev/null || status=$?
		[ "$status" -eq 0 ] ||
			fail "$reduction, quit after $steps steps: status $status: $(said "$WORK/debugger.out")"
		verify "$trace"
	done
done
