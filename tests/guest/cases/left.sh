# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# A machine that is left in the middle of its run, as by a signal, but always at the
# same instruction: -benchmark has Bochs leave its loop after so many million ticks.
# What was recorded ends with what was executed, whichever way it was recorded.
left() { # NAME OPTION...
	local name=$1 status=0
	shift
	nice "$LAPLACE" record --overwrite --progress=never --flush off -o "$WORK/$name.lpl" "$@" \
		"$IMAGE/boot.bochsrc" -benchmark 2 >"$WORK/$name.log" 2>&1 </dev/null || status=$?
	[ "$status" -eq 1 ] || fail "$name: status $status, not 1"
	verify "$WORK/$name.lpl"
	# of the summary
	sed -n 's/.*: \([0-9]*\) instructions in .*/\1/p' "$WORK/$name.log" >"$WORK/$name.instructions"
}
left left-none --reduce none
expect_line "$WORK/left-none.log" 'the machine ended before the guest said'
for reduction in sad:4 window:64; do
	left "left-$reduction" --reduce "$reduction"
	chain=${reduction/#sad:4/window:4+sad:4}
	"$PROGRAMS/compare-traces" -r "$chain" "$WORK/left-none.lpl" "$WORK/left-$reduction.lpl" ||
		fail "$reduction as recorded is not $chain of the whole"
	expect_same "instructions by $reduction" "$WORK/left-none.instructions" "$WORK/left-$reduction.instructions"
done

# What ran is counted, traced or not; and while it runs one is told how far it is.
left left-off --start off
expect_same "instructions without tracing" "$WORK/left-none.instructions" "$WORK/left-off.instructions"
"$BOCHS" -q -f "$IMAGE/boot.bochsrc" -benchmark 400 \
	"laplace: trace=$WORK/left-off.lpl, start=off, overwrite=on, status=3" \
	>"$WORK/left-status.log" 2>&1 </dev/null 3>"$WORK/left.status" || true
grep -Eq '"state":"running".*"instructions":[1-9][0-9]{7,},"references":0,' "$WORK/left.status" ||
	fail "while nothing is traced the status does not move: $(head -n 3 "$WORK/left.status" | tr '\n' '|')"
