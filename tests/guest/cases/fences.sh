# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# A guest in which addresses mean one thing after the other (fences.c), recorded
# in full and recorded reduced: when pages have become canonical, LRU and OPT take
# the same faults and evictions, clean and dirty, in every memory of at least K
# pages.  The paper's SAD alone, which knows no changes of mapping, does not keep
# that, so the guest is one in which it matters; and its traces say so.
recorded fences-none fences --reduce none --start off
verify "$WORK/fences-none.lpl"

canonical() { # NAME: makes WORK/NAME.canonical.lpl and what is simulated on it
	"$LAPLACE" merge --overwrite --format canonical --json -o "$WORK/$1.canonical.lpl" \
		"$WORK/$1.lpl" >"$WORK/$1.merge.json"
	for policy in lru opt; do
		"$LAPLACE" sim -p $policy -s all "$WORK/$1.canonical.lpl" 2>/dev/null |
			awk -F , 'NR > 1 { print $1 "," $2 "," $4 "," $5 "," $6 }' >"$WORK/$1.$policy"
	done
}
from() { # PAGES FILE
	awk -F , -v k="$1" '$2 >= k' "$2"
}
said_of() { # KEY NAME
	"$LAPLACE" info "$WORK/$2.canonical.lpl" | sed -n "s/^$1  *//p"
}

canonical fences-none
for k in 64 512; do
	recorded "fences-sad:$k" fences --reduce "sad:$k" --start off
	verify "$WORK/fences-sad:$k.lpl"
	"$PROGRAMS/compare-traces" -r "window:$k+sad:$k" "$WORK/fences-none.lpl" "$WORK/fences-sad:$k.lpl" ||
		fail "sad:$k as recorded is not window:$k+sad:$k of the whole run"
	"$LAPLACE" reduce --overwrite -m "fence+sad:$k" -o "$WORK/fences-offline:$k.lpl" "$WORK/fences-none.lpl"
	for name in "fences-sad:$k" "fences-offline:$k"; do
		canonical "$name"
		[ "$(said_of exact "$name")" = "lru,opt from $k pages" ] ||
			fail "$name, made canonical, is said to be exact for $(said_of exact "$name")"
		for policy in lru opt; do
			from $k "$WORK/fences-none.$policy" >"$WORK/fences.expected"
			from $k "$WORK/$name.$policy" >"$WORK/fences.found"
			[ "$(wc -l <"$WORK/fences.expected")" -gt 500 ] || fail "$policy: hardly a size above $k"
			expect_same "$policy from $k pages on $name" "$WORK/fences.expected" "$WORK/fences.found"
		done
	done

	"$LAPLACE" reduce --overwrite -m "sad:$k" -o "$WORK/fences-paper:$k.lpl" "$WORK/fences-none.lpl"
	canonical "fences-paper:$k"
	case $(said_of exact "fences-paper:$k") in
	nothing*) ;;
	*) fail "sad:$k alone is said to be exact for $(said_of exact "fences-paper:$k") when made canonical" ;;
	esac
done
if cmp -s <(from 512 "$WORK/fences-none.lru") <(from 512 "$WORK/fences-paper:512.lru"); then
	fail "the paper's SAD is exact on canonical pages, too: then nothing was tried"
fi
for k in 64 512; do
	echo "# K = $k: $("$LAPLACE" info "$WORK/fences-paper:$k.lpl" | awk '$1 == "all" { print $2 " of " $3 }')" \
		"references by SAD alone, $("$LAPLACE" info "$WORK/fences-sad:$k.lpl" |
			awk '$1 == "all" { print $2 }') as recorded"
done
