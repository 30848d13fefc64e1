# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# The whole boot, from the processor's first instruction: real mode, protected
# mode, the BIOS, paging going on, 64 bits.  Recorded in full and reduced, the two
# agree record for record.
recorded boot-none boot --reduce none
for k in 16 64; do
	recorded "boot-sad:$k" boot --reduce "sad:$k"
	verify "$WORK/boot-sad:$k.lpl"
	"$PROGRAMS/compare-traces" -r "window:$k+sad:$k" "$WORK/boot-none.lpl" "$WORK/boot-sad:$k.lpl" ||
		fail "sad:$k as recorded is not window:$k+sad:$k of the whole boot"
done
first=$("$LAPLACE" cat --format raw "$WORK/boot-none.lpl" 2>/dev/null | head -n 1 || true)
[ "$first" = "i 0 5 0 fffffff0" ] || fail "the first reference is '$first', not that of the reset vector"
rm -f "$WORK"/boot-*.lpl
