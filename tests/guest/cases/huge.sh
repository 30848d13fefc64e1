# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# Huge pages, as `laplace sim --promote` predicts them from a run without any, and as they are in a run with them: of a
# program that maps an array and touches all of it, what a TLB misses is the same but for one part in a hundred.
export LAPLACE_DATADIR=$SRCDIR LAPLACE_BOCHS=$BUILDDIR/build/bochs/laplace-bochs
cd "$WORK" || exit
"${CC:-gcc}" -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -Wl,--build-id=none -o huge-guest "$SRCDIR/bench/huge-guest.c"
cp huge-guest walk
for run in never always; do
	# with less than 512 MB a kernel has none
	"$LAPLACE" run --kernel "$BUILDDIR/build/kernel" -q -m 768 -r none --physical --with walk -O -o "$WORK/huge-$run.lpl" \
		-- ./huge-guest "$run" ./walk >"$WORK/huge-$run.out" 2>&1 || fail "$run: $(tail -n 1 "$WORK/huge-$run.out")"
done
counted() { # RUN OPTION...: misses of the first TLBs, walks, loads
	local run=$1

	shift
	"$LAPLACE" sim -P never -p tlb:skylake --user --process walk "$@" "$WORK/huge-$run.lpl" | awk -F, '
		{ found = 1 + (NF > 22 && $(NF - 2) != "") }
		$2 ~ /^l1/ { misses[found] += $8 }
		$2 == "walk" { walks[found] = $4; loads[found] = $21 }
		END { last = 2 in walks ? 2 : 1; print misses[last], walks[last], loads[last] }'
}
echo "$(counted never --promote 512) $(counted always) $(counted never)" | tee "$WORK/huge.counted"
awk '
	function near(a, b) { return b > 0 && (a > b ? a - b : b - a) * 100 <= b }
	{ exit !(near($1, $4) && near($2, $5) && near($3, $6) && $8 > 10 * $5) }' "$WORK/huge.counted" ||
	fail "predicted, true and without huge pages: $(cat "$WORK/huge.counted")"
