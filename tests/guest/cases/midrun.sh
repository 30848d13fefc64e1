# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# A trace that begins in mid-run gives the same canonical trace, from there on, as
# one from the beginning.  The guest (midrun/midrun.h) loads the tracer's module
# at boot and, in mid-run, anew; then it says `start`.  Recordings of that one run:
#
#	begin		from its first mark on, before anything was made
#	boot		from power-on, reduced (where LONG=yes)
#	late		from `start` on
#	late-sad	the same, reduced
K=64
recorded midrun-begin midrun --reduce none --start mark
recorded midrun-late midrun --reduce none --start off
recorded midrun-late-sad midrun --reduce "sad:$K" --start off

same() { # OPTIONS BOOT MID
	# shellcheck disable=SC2086 # several options
	"$PROGRAMS/midrun-check" $1 "$WORK/midrun-$2.lpl" "$WORK/midrun-$3.lpl" >"$WORK/midrun.same" ||
		fail "$2 and $3 ($1) differ: $(grep -Em 1 '^(the|a|odd|[A-Z]+ has) ' "$WORK/midrun.same"); see $WORK/midrun.same"
	cat "$WORK/midrun.same"
}
unwritten() { # prints how many pages there are more, and how many references to them
	sed -n 's/^.*; \([0-9]*\) more .* with \([0-9]*\) references$/\1 \2/p' "$WORK/midrun.same"
}
echo "events from boot on, references from mid-run on: nothing is unknown"
same -s begin late
[ "$(unwritten)" = '0 0' ] || fail "pages that were not written are not as from boot: $(unwritten)"
head -n 1 "$WORK/midrun.same" | sed 's/^/# /'

# What a snapshot cannot tell: the actors have 16 such pages, twice, and the
# family some; the rest is known.
echo "a module that is loaded in mid-run"
same "-s -c" begin late
read -r pages references < <(unwritten)
if [ "$pages" -lt 16 ] || [ "$pages" -gt 100 ] || [ "$references" -gt 300 ]; then
	fail "$pages pages that were not written, with $references references, are not what was expected"
fi
sed -n '2s/^/# /p' "$WORK/midrun.same"
if [ "${LONG:-}" = yes ]; then
	echo "held against a trace from power-on"
	recorded midrun-boot midrun --reduce "sad:$K" --start on
	same "-r -s -c" boot late
fi

echo "reduced: what is dropped is dropped the same, and simulates the same from $K pages on"
"$PROGRAMS/compare-traces" -r "window:$K+sad:$K" "$WORK/midrun-late.lpl" "$WORK/midrun-late-sad.lpl" ||
	fail "sad:$K as recorded from mid-run on is not window:$K+sad:$K of the whole"
for trace in late late-sad; do
	"$LAPLACE" merge --overwrite --format canonical -o "$WORK/midrun-canonical.lpl" \
		"$WORK/midrun-$trace.lpl" >"$WORK/midrun.merge"
	"$LAPLACE" sim -p lru -s all "$WORK/midrun-canonical.lpl" |
		awk -F , -v k=$K 'NR > 1 && $2 >= k { print $2 "," $4 "," $5 "," $6 }' >"$WORK/midrun-$trace.lru"
done
rm -f "$WORK/midrun-canonical.lpl"
expect_same "faults of LRU from $K pages on" "$WORK/midrun-late.lru" "$WORK/midrun-late-sad.lru"
echo "# LRU: $(wc -l <"$WORK/midrun-late.lru") sizes"
