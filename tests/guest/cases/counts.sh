# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# count-small in the guest executes, loads and stores what a debugger's single
# steps and valgrind count of it here, and what its source derives by hand.
raw=$(known none)
program=$WORK/count-small
"${CC:-gcc}" -nostdlib -static -o "$program" "$SRCDIR/disk-images/count-small.S"
hand=$(sed -n 's/^ \*.*\(instructions\|loads\|stores\).*= \([0-9]*\)\.*$/\1 \2/p' \
	"$SRCDIR/disk-images/count-small.S" | tr '\n' ' ')
found=$("$PROGRAMS/inspect-trace" counts "$raw" count-small)
echo "by hand: $hand, in the trace: $found"
# Its text, its data and its stack have to be faulted in.
case $found in
*" refetches 0") fail "no instruction of count-small was retried, though its pages were new" ;;
esac
[ "${found%refetches*}" = "$hand" ] || fail "the trace has '$found', by hand it is '$hand'"
status=0
counted=$("$GUEST/count-expect" "$PROGRAMS/count-by-singlestep" "$program") || status=$?
if [ "$status" -eq 77 ]; then
	echo "# compared with the count by hand only: no valgrind, or no ptrace"
elif [ "$status" -ne 0 ] || [ "$counted " != "$hand" ]; then
	fail "counted here: '$counted' (status $status), by hand: '$hand'"
fi
