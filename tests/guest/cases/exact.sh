# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# The same run recorded in full and recorded reduced: what was reduced on the way
# is record for record what `laplace reduce` makes of the whole, and LRU and OPT
# take the same faults and evictions, clean and dirty, in every memory of at
# least K pages.  (The whole run has some ten million references, which OPT
# takes as they are; nothing is reduced for it.)
raw=$(known none)
verify "$raw"

for k in 1 2 16 64; do
	reduced=$(known "sad:$k")
	verify "$reduced"
	echo "K = $k"
	"$PROGRAMS/compare-traces" -r "window:$k+sad:$k" "$raw" "$reduced" ||
		fail "sad:$k as recorded is not window:$k+sad:$k of the whole run"
done

# The same by the command, as a user would.
for k in 16 64; do
	"$LAPLACE" reduce --overwrite -m "window:$k+sad:$k" "$raw" -o "$WORK/offline.lpl"
	for trace in "$WORK/offline.lpl" "$WORK/known-sad:$k.lpl"; do
		"$LAPLACE" cat --events --format csv "$trace" | sha256sum
	done >"$WORK/sums"
	[ "$(sort -u "$WORK/sums" | wc -l)" -eq 1 ] || fail "reduce -m window:$k+sad:$k and sad:$k print differently"
done

# What must be equal at K pages and above, and what lies below; of canonical pages, and of virtual
# ones, which are more.
curve() { # TRACE POLICY ADDRESSES: policy,size,faults,evictions,dirty
	"$LAPLACE" sim -p "$2" -s all --addresses "$3" "$1" |
		awk -F , 'NR > 1 { print $1 "," $2 "," $4 "," $5 "," $6 }'
}
for how in 'lru auto' 'opt auto' 'lru virtual'; do
	policy=${how% *} addresses=${how#* }
	curve "$raw" "$policy" "$addresses" >"$WORK/raw.$policy"
	for k in 16 64; do
		curve "$WORK/known-sad:$k.lpl" "$policy" "$addresses" >"$WORK/sad.$policy"
		for part in raw sad; do
			awk -F , -v k=$k '$2 >= k' "$WORK/$part.$policy" >"$WORK/$part.above"
			awk -F , -v k=$k '$2 < k' "$WORK/$part.$policy" >"$WORK/$part.below"
		done
		[ "$(wc -l <"$WORK/raw.above")" -gt 500 ] || fail "$policy: hardly a size above $k"
		awk -F , '{ n += $5 } END { exit n == 0 }' "$WORK/raw.above" || fail "$policy: nothing dirty is evicted"
		expect_same "$policy from $k pages" "$WORK/raw.above" "$WORK/sad.above"
		if cmp -s "$WORK/raw.below" "$WORK/sad.below"; then
			fail "$policy is exact below $k pages, too: then nothing was reduced"
		fi
	done
	echo "# $policy: $(wc -l <"$WORK/raw.$policy") sizes, $addresses addresses"
	cp "$WORK/raw.$policy" "$WORK/raw.$policy.$addresses"
done
[ "$(wc -l <"$WORK/raw.lru.virtual")" -gt "$(wc -l <"$WORK/raw.lru.auto")" ] ||
	fail "there are no more virtual pages than canonical ones"

# Those canonical pages are the ones of a merged trace, of a part as of the whole, at all sizes.
for trace in "$raw" "$WORK/known-sad:64.lpl"; do
	"$LAPLACE" merge --overwrite --format canonical -o "$WORK/merged.lpl" "$trace" >/dev/null
	for chosen in '' '--process exerciser' '--user' '--kind file' '--from mark:copy-on-write' \
		'--task exerciser --type write' '--until mark:threads'; do
		for part in "$trace" "$WORK/merged.lpl"; do
			# shellcheck disable=SC2086 # words
			"$LAPLACE" sim -p lru -s all $chosen "$part"
		done 2>/dev/null | sort | uniq -c >"$WORK/as-merged"
		[ "$(wc -l <"$WORK/as-merged")" -gt 10 ] || fail "sim $chosen: hardly a size"
		awk '$1 != 2 { print; bad = 1 } END { exit bad }' "$WORK/as-merged" ||
			fail "sim $chosen: not as after a merge"
	done
done
rm "$WORK/merged.lpl"
