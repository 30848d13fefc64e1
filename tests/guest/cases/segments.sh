# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# The same run recorded in one file and in segments.  Of every reference the segments hold those of
# the one file, record by record, and so does each where it stands; what is reduced has the same LRU
# and OPT faults in every memory of at least K pages, as a whole.  Two runs in segments give the same
# files.  A segment that is taken away is named.
segments() { # MANIFEST: how many
	local n=0
	while [ -e "${1%.lpl}.$(printf %06d $((n + 1))).lpl" ]; do
		n=$((n + 1))
	done
	echo $n
}

raw=$(known none)
recorded cut-raw known --reduce none --start off --segment instructions:1M --physical
verify "$WORK/cut-raw.lpl"
n=$(segments "$WORK/cut-raw.lpl")
echo "# of every reference: $n segments"
[ "$n" -ge 3 ] || fail "only $n segments of every reference"
"$PROGRAMS/compare-traces" -t "$raw" "$WORK/cut-raw.lpl" || fail "segments hold other references than one file"
for i in $(seq "$n"); do
	verify "$WORK/cut-raw.$(printf %06d "$i").lpl"
	# (their events begin with the state of the guest, which is in no other)
	"$LAPLACE" cat --format csv "$WORK/cut-raw.$(printf %06d "$i").lpl" |
		if [ "$i" -eq 1 ]; then cat; else sed 1d; fi
done | sha256sum >"$WORK/alone.sum"
"$LAPLACE" cat --format csv "$raw" | sha256sum >"$WORK/whole.sum"
expect_same "segments read one by one" "$WORK/whole.sum" "$WORK/alone.sum"
# where pages are is known in each, too
for i in $(seq "$n"); do
	"$LAPLACE" cat --addresses physical --format csv "$WORK/cut-raw.$(printf %06d "$i").lpl" 2>"$WORK/alone.warnings" |
		if [ "$i" -eq 1 ]; then cat; else sed 1d; fi
	[ ! -s "$WORK/alone.warnings" ] || cat "$WORK/alone.warnings"
done | sha256sum >"$WORK/alone.sum"
"$LAPLACE" cat --addresses physical --format csv "$WORK/cut-raw.lpl" | sha256sum >"$WORK/whole.sum"
expect_same "physical addresses of segments read one by one" "$WORK/whole.sum" "$WORK/alone.sum"

curve() { # TRACE POLICY: policy,size,faults,evictions,dirty
	"$LAPLACE" sim -p "$2" -s all "$1" | awk -F , 'NR > 1 && $2 >= 64 { print $1 "," $2 "," $4 "," $5 "," $6 }'
}
recorded cut-sad known --reduce sad:64 --start off --segment instructions:1M
recorded again-sad known --reduce sad:64 --start off --segment instructions:1M
verify "$WORK/cut-sad.lpl"
n=$(segments "$WORK/cut-sad.lpl")
echo "# of sad:64: $n segments"
[ "$n" -ge 3 ] || fail "only $n segments of sad:64"
for i in $(seq "$n"); do
	cmp "$WORK/cut-sad.$(printf %06d "$i").lpl" "$WORK/again-sad.$(printf %06d "$i").lpl" ||
		fail "segment $i differs in a second run"
done
# The second reader, which checks what docs/format.md says of STATE chunks, reads them, too.
if /usr/bin/python3 -c 'import xxhash, zstandard' 2>/dev/null; then
	(cd "$WORK" && PYTHONDONTWRITEBYTECODE=1 LAPLACE=$LAPLACE \
		/usr/bin/python3 "$SRCDIR/tests/python/compare_readers.py" cut-sad.000001.lpl cut-sad.lpl) ||
		fail "the two readers differ"
fi
for policy in lru opt; do
	curve "$raw" $policy >"$WORK/whole.$policy"
	curve "$WORK/cut-sad.lpl" $policy >"$WORK/cut.$policy"
	[ "$(wc -l <"$WORK/whole.$policy")" -gt 500 ] || fail "$policy: hardly a size above 64"
	expect_same "$policy from 64 pages" "$WORK/whole.$policy" "$WORK/cut.$policy"
done

rm "$WORK/cut-sad.000002.lpl"
if "$LAPLACE" verify "$WORK/cut-sad.lpl" >"$WORK/missing" 2>&1; then
	fail "nobody misses a segment"
fi
expect_line "$WORK/missing" 'cut-sad\.000002\.lpl: this segment of .*cut-sad\.lpl is missing'
