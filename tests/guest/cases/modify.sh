# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# Instructions that read what they may write (modify.S) have in the raw trace the
# references that stand beside them in their source, in that order: no write that
# was not made, above all.
raw=$(known none)
expect_region modify "$raw"
for page in 5 8; do
	if grep -q "^w [0-9]* 3000$page" "$WORK/modify.found"; then
		fail "page $page was written to"
	fi
done
grep -q "^r 4 30005010" "$WORK/modify.found" || fail "page 5 was not read"
echo "# $(wc -l <"$WORK/modify.found") references"
