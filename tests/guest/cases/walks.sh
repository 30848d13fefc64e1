# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# Page walks, when they are asked for, are references of types of their own, to
# physical memory, made by the processor and not in user mode; everything else in
# the trace is what it is without them, but for the references' numbers.
raw=$(known none)
recorded walks known --reduce none --start off --walks --segment instructions:2M
verify "$WORK/walks.lpl"
# a segment that is read alone knows which tables there are
"$LAPLACE" cat --walks "$WORK/walks.lpl" | tail -n +2 >"$WORK/walks.whole"
for segment in "$WORK"/walks.0*.lpl; do
	"$LAPLACE" cat --walks "$segment" | tail -n +2
done >"$WORK/walks.segments"
set -- "$WORK"/walks.0*.lpl
[ $# -gt 2 ] || fail "no segments"
expect_same "walks of segments that are read alone" "$WORK/walks.whole" "$WORK/walks.segments"
"$PROGRAMS/inspect-trace" modes "$raw" >"$WORK/modes.without"
"$PROGRAMS/inspect-trace" modes "$WORK/walks.lpl" | tee "$WORK/modes.with"
value() {
	awk -v name="$2" '$1 == name { print $2 }' "$WORK/modes.$1"
}
for type in reads writes; do
	[ "$(value without walk-$type)" -eq 0 ] || fail "walk-$type in a trace without walks"
done
[ "$(value with walk-reads)" -gt 10000 ] || fail "hardly a walk"
[ "$(value with walk-writes)" -gt 100 ] || fail "hardly an accessed or dirty bit set"
[ "$(value with user-walks)" -eq 0 ] || fail "walks in user mode"
[ $((0x$(value with highest-walk))) -lt $((256 << 20)) ] || fail "a page table beyond the guest's memory"
"$PROGRAMS/compare-traces" -w "$raw" "$WORK/walks.lpl" || fail "walks change the rest of the trace"

recorded walks-sad:16 known --reduce sad:16 --start off --walks
"$PROGRAMS/compare-traces" -r window:16+sad:16 "$WORK/walks.lpl" "$WORK/walks-sad:16.lpl" ||
	fail "with walks, sad:16 as recorded is not window:16+sad:16 of the whole run"

# Each is the one that Bochs' own debugger shows, and each reference goes where its TLB says (physical.h).  A whole
# boot's end, where LONG=yes; else some of it.
at=150000000 steps=2000000
[ "${LONG:-}" != yes ] || at=400000000 steps=40000000
printf '%s\n' "step $at" 'laplace on' 'trace-mem on' "step $steps" 'trace-mem off' quit >"$WORK/walks.rc"
"$BOCHS" -q -f "$IMAGE/boot.bochsrc" -dbg -rc "$WORK/walks.rc" \
	"laplace: trace=$WORK/walked.lpl, reduce=none, start=off, walks=on, physical=on, overwrite=on" \
	2>"$WORK/walks.log" </dev/null | awk '/; P/ { print; more = 1; next } more { print; more = 0 }' >"$WORK/walks.shown" ||
	fail "in the debugger: $(said "$WORK/walks.log")"
verify "$WORK/walked.lpl"
"$PROGRAMS/walk-check" "$WORK/walked.lpl" <"$WORK/walks.shown" >"$WORK/walks.compared" || fail "walks are others than the debugger's"
echo "# $(cat "$WORK/walks.compared"); $(said "$WORK/walks.log")"
# nearly all have an access that they were made for
awk '{ exit !($2 > 5000 && $4 > 2000 && $6 * 100 < $4) }' "$WORK/walks.compared" || fail "hardly a walk: $(cat "$WORK/walks.compared")"
checked=$(sed -n 's/^laplace: the frames of \([0-9]*\) references are those.*/\1/p' "$WORK/walks.log")
[ "${checked:-0}" -gt $((steps * 3 / 2)) ] || fail "the frames of only ${checked:-0} references were compared"
