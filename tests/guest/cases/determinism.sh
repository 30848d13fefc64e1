# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# The same run twice, from power-on, gives the same trace, every byte of the file; also
# when it is flushed, but not by the host's time.
recorded first known
recorded second known
verify "$WORK/first.lpl"

[ "$(stat -c %s "$WORK/first.lpl")" -gt 100000 ] || fail "hardly anything was traced"
cmp "$WORK/first.lpl" "$WORK/second.lpl" || fail "the traces differ"
"$PROGRAMS/compare-traces" "$WORK/first.lpl" "$WORK/second.lpl" || fail "the traces' records differ"
recorded first-flushed known --flush 20000000i
recorded second-flushed known --flush 20000000i
verify "$WORK/first-flushed.lpl"
cmp "$WORK/first-flushed.lpl" "$WORK/second-flushed.lpl" || fail "the flushed traces differ"
chunks() {
	"$LAPLACE" info --json "$1" | awk -F '[:,]' '/"chunks"/ { print $2 + 0 }'
}
[ "$(chunks "$WORK/first-flushed.lpl")" -gt "$(chunks "$WORK/first.lpl")" ] ||
	fail "nothing was flushed"
