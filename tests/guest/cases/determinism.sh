# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# The same run twice, from power-on, gives the same trace: every byte of the file
# but the index, which tells how long the simulator waited.
recorded first known
recorded second known
verify "$WORK/first.lpl"

# The index is the last chunk; a chunk begins with these bytes (docs/format.md).
index_of() {
	grep -abo -P '\x89LPL\r' "$1" | tail -n 1 | cut -d : -f 1
}
index=$(index_of "$WORK/first.lpl")
[ "$index" -gt 100000 ] || fail "the index is at $index: hardly anything was traced"
[ "$index" = "$(index_of "$WORK/second.lpl")" ] || fail "the traces differ in length"
cmp -n "$index" "$WORK/first.lpl" "$WORK/second.lpl" || fail "the traces differ"
"$PROGRAMS/compare-traces" "$WORK/first.lpl" "$WORK/second.lpl" || fail "the traces' records differ"
for n in first second; do
	"$LAPLACE" info --json "$WORK/$n.lpl" | grep -v -e '"file"' -e '"wait_ns"' -e '"bytes"' \
		-e '"bits_per_reference"' >"$WORK/$n.info"
done
expect_same "what info says" "$WORK/first.info" "$WORK/second.info"
