# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# Instructions that read what they may write (modify.S) have in the raw trace the
# references that stand beside them in their source, in that order: no write that
# was not made, above all.
raw=$(known none)
awk '
	match($0, /\/\*( [rw][0-9]+ [0-9a-f]+)+ \*\/$/) {
		n = split(substr($0, RSTART + 3, RLENGTH - 6), word, " ")
		for (i = 1; i < n; i += 2)
			print substr(word[i], 1, 1), substr(word[i], 2), "3000" word[i + 1]
	}' "$GUEST/modify.S" >"$WORK/modify.expected"
"$PROGRAMS/inspect-trace" references "$raw" 30000000 3000a000 |
	awk '$2 == "modify" { print ($5 == "u" ? "" : "kernel ") $6, $7, $8 }' >"$WORK/modify.found"
expect_same "what modify refers to" "$WORK/modify.expected" "$WORK/modify.found"
for page in 5 8; do
	if grep -q "^w [0-9]* 3000$page" "$WORK/modify.found"; then
		fail "page $page was written to"
	fi
done
grep -q "^r 4 30005010" "$WORK/modify.found" || fail "page 5 was not read"
echo "# $(wc -l <"$WORK/modify.found") references"
