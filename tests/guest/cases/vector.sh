# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# Instructions of x86-64-v2 and v3 (vector.S) have in the raw trace the references that stand beside
# them in their source, in that order; what is reduced on the way is record for record what `laplace
# reduce` makes of that, with the kernel saving and restoring wide registers all the while.
sed -e "s/model=[^,]*/$("$SRCDIR/disk-images/processor" x86-64-v3)/" -e 's/vector\.\(serial\|log\)/vector-v3.\1/' \
	"$IMAGE/vector.bochsrc" >"$IMAGE/vector-v3.bochsrc"
recorded vector vector-v3 --reduce none --start off
verify "$WORK/vector.lpl"
expect_region vector "$WORK/vector.lpl"
echo "# $(wc -l <"$WORK/vector.found") references"
for k in 2 64; do
	recorded "vector-$k" vector-v3 --reduce "sad:$k" --start off
	"$PROGRAMS/compare-traces" -r "window:$k+sad:$k" "$WORK/vector.lpl" "$WORK/vector-$k.lpl" ||
		fail "sad:$k as recorded is not window:$k+sad:$k of the whole run"
done

# Its random numbers are in no checkpoint.
sed -e 's/, exclude_features="rdrand"//' "$IMAGE/vector-v3.bochsrc" >"$IMAGE/vector-random.bochsrc"
if record vector-random vector-random --reduce sad:64 --checkpoint on; then
	fail "checkpoints of a processor with random numbers are made"
fi
expect_line "$WORK/vector-random.log" 'it does not hold which random numbers the processor has given'
