# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# Page walks, when they are asked for, are references of types of their own, to
# physical memory, made by the processor and not in user mode; everything else in
# the trace is what it is without them, but for the references' numbers.
raw=$(known none)
recorded walks known --reduce none --start off --walks
verify "$WORK/walks.lpl"
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
