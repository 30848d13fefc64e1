# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# Where references go in physical memory: the rest of the trace is what it is without that; what is recorded
# reduced is the reduction of the whole; pages are where the guest's kernel says that they are; and each
# reference goes where Bochs' TLB says.
raw=$(known none)
recorded physical known --reduce none --start off --physical
verify "$WORK/physical.lpl"
"$PROGRAMS/compare-traces" -t "$raw" "$WORK/physical.lpl" || fail "translations change the rest of the trace"
sizes=64
[ "${LONG:-}" != yes ] || sizes='16 64'
for k in $sizes; do
	recorded "physical-sad:$k" known --reduce "sad:$k" --start off --physical
	verify "$WORK/physical-sad:$k.lpl"
	"$PROGRAMS/compare-traces" -r "window:$k+sad:$k" "$WORK/physical.lpl" "$WORK/physical-sad:$k.lpl" ||
		fail "sad:$k as recorded is not window:$k+sad:$k of the whole run"
	# and so it is exact for frames, from K on
	for trace in physical "physical-sad:$k"; do
		"$LAPLACE" sim -p lru,opt -s all --addresses physical "$WORK/$trace.lpl" |
			awk -F , -v k="$k" 'NR > 1 && $2 >= k { print $1, $2, $4, $5, $6 }' >"$WORK/$trace.frames"
	done
	[ "$(wc -l <"$WORK/physical.frames")" -gt 1000 ] || fail "hardly a size above $k"
	expect_same "faults in frames, from $k on" "$WORK/physical.frames" "$WORK/physical-sad:$k.frames"
done
# no flush is missing: of what a TLB holds that is hardly ever full nothing is out of date
"$LAPLACE" sim -p tlb:l1=16384/8 "$WORK/physical.lpl" >"$WORK/physical.tlb" || fail "no TLB: $(cat "$WORK/physical.tlb")"
awk -F , '$2 == "l1" && $8 > 1000 && $18 == 0 && $20 > 1000 { found = 1 } END { exit !found }' "$WORK/physical.tlb" ||
	fail "a TLB's entries are out of date: $(cat "$WORK/physical.tlb")"
# bytes: translations are few
grown=$((1000 * $(stat -c %s "$WORK/physical.lpl") / $(stat -c %s "$raw") - 1000))
echo "# lossless: $grown thousandths larger"
for k in $sizes; do
	small=$(stat -c %s "$(known "sad:$k")")
	echo "# sad:$k: $((1000 * $(stat -c %s "$WORK/physical-sad:$k.lpl") / small - 1000)) thousandths larger"
done

recorded frames frames --reduce none --start off --physical
"$PROGRAMS/inspect-trace" frames "$WORK/frames.lpl" | tee "$WORK/frames.found" || fail "the guest has pages elsewhere"
found() {
	awk -v name="$1" '$1 == name { print $2 }' "$WORK/frames.found"
}
[ "$(found same)" -ge 300 ] || fail "the guest said of $(found same) pages only where they are"
[ "$(found large)" -ge 30 ] || fail "hardly a large page"

# The debugger looks at every access (physical.h): a whole boot, where time does not matter; walks.sh has a part of one.
if [ "${LONG:-}" = yes ]; then
	printf '%s\n' 'laplace on' c >"$WORK/physical.rc"
	"$BOCHS" -q -f "$IMAGE/boot.bochsrc" -dbg -rc "$WORK/physical.rc" \
		"laplace: trace=$WORK/checked.lpl, reduce=none, start=off, physical=on, overwrite=on" \
		>"$WORK/physical.out" 2>&1 </dev/null || fail "in the debugger: $(said "$WORK/physical.out")"
	verify "$WORK/checked.lpl"
	checked=$(sed -n 's/^laplace: the frames of \([0-9]*\) references are those.*/\1/p' "$WORK/physical.out")
	echo "# $checked references compared with the TLB; $(said "$WORK/physical.out")"
	[ "${checked:-0}" -gt 500000000 ] || fail "only ${checked:-0} references were compared"
fi
