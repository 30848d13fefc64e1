# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# What `laplace regret` says of the reclaim of a real guest is what regret-check works out anew from the text of the
# trace, of each evicted page, in all sums and of the worst: of a program that uses more than there is of files,
# anonymous and shared memory, shared by forks, moved, given up and truncated (pressure.c), with both kinds of LRU.
export LAPLACE_DATADIR=$SRCDIR LAPLACE_BOCHS=$BUILDDIR/build/bochs/laplace-bochs
cd "$WORK" || exit
"${CC:-gcc}" -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -static -Wl,--build-id=none -o pressure "$SRCDIR/tests/guest/pressure.c"

# What --json prints, as regret-check does: an object or array begins and ends at an indentation of two blanks for
# each level.  What is of no account, or 0 in a whole trace, is left out.
sums() { # <JSON
	awk '
	{
		match($0, /^ */)
		level = RLENGTH / 2
		line = substr($0, RLENGTH + 1)
		sub(/,$/, "", line)
		listed = path[1] == "files" || path[1] == "processes"
		if (line ~ /^[]}]/) {
			if (listed && level == 2) {
				at = path[1] == "processes" ? of["process"] : of["device"] "." of["inode"] "." of["generation"]
				delete of["process"]; delete of["device"]; delete of["inode"]; delete of["generation"]
				for (name in of)
					print path[1] "." at "." name, of[name]
			}
			delete of
			next
		}
		key = line
		if (!sub(/^"/, "", key) || !sub(/": .*/, "", key))
			key = next_of[level]++ + 0
		sub(/^"[^"]*": /, "", line)
		path[level] = key
		next_of[level + 1] = 0
		at = path[1]
		for (i = 2; i <= level; i++)
			at = at "." path[i]
		if (line ~ /^[[{]$/ || key == "cut" || at ~ /^(file|state|cycles_a_second|odd|cuts)$/)
			next
		if (listed)
			of[key] = line
		else
			print at, line
	}'
}

regret_agrees() { # LRU_GEN
	local run=regret-$1 kind

	"$LAPLACE" run --kernel "$BUILDDIR/build/kernel" -q -O -r none --events reclaim --usable-memory 32 --swap 64 \
		-o "$run.lpl" --with ./pressure -- sh -c "echo $1 >/sys/kernel/mm/lru_gen/enabled
			echo 100 >/proc/sys/vm/swappiness
			exec ./pressure f" >"$run.log" 2>&1 || fail "lru_gen $1: $(tail -n 1 "$run.log")"
	"$LAPLACE" regret --csv "$run.lpl" >"$run.csv" || fail "lru_gen $1: laplace regret --csv: $?"
	"$LAPLACE" regret --json --top 200 "$run.lpl" >"$run.json" || fail "lru_gen $1: laplace regret --json: $?"
	"$LAPLACE" cat --events --format sad "$run.lpl" |
		"$BUILDDIR/tests/bin/regret-check" "$run.csv" >"$run.sums" 2>"$run.differ" ||
		fail "lru_gen $1: $(cat "$run.differ")"
	sort "$run.sums" >"$run.own"
	sums <"$run.json" | sort >"$run.json-sums"
	cmp -s "$run.own" "$run.json-sums" || fail "lru_gen $1: sums: $(diff "$run.own" "$run.json-sums" | head -n 10)"
	for kind in anonymous file; do
		awk -v name="by_kind.$kind.used" '$1 == name { found = $2 >= 300 } END { exit !found }' "$run.own" ||
			fail "lru_gen $1: hardly a page was missed: $(grep "$kind" "$run.own" | xargs)"
	done
	echo "# lru_gen $1: $(tail -n 1 "$run.differ"), $(grep -E '^by_kind.*evicted|^all.optimal' "$run.own" | xargs)"
	rm "$run.lpl"
}

regret_agrees n
regret_agrees y
