# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# A module built for another kernel: the guest refuses it, says so and ends, and so
# do we.  And a workload that fails is no success.
mkdir -p "$WORK/other-module"
cp "$BUILDDIR/build/module/laplace-ctl" "$WORK/other-module/"
# (With symbol versions the kernel looks only at what follows the release.)
sed 's/vermagic=[0-9]\([^ ]*\) [^ ]/vermagic=9\1 x/' "$BUILDDIR/build/module/laplace.ko" >"$WORK/other-module/laplace.ko"
if cmp -s "$BUILDDIR/build/module/laplace.ko" "$WORK/other-module/laplace.ko"; then
	fail "the module does not say which kernel it is for"
fi
"$SRCDIR/disk-images/build" --kernel "$BUILDDIR/build/kernel" --module-dir "$WORK/other-module" \
	--out "$WORK/other-image" --workload boot
right=$IMAGE IMAGE=$WORK/other-image
status=0
record other-kernel boot || status=$?
[ "$status" -eq 1 ] || fail "a module of another kernel: status $status, not 1"
expect_line "$WORK/other-kernel.serial" "laplace: version magic '9"
expect_line "$WORK/other-kernel.serial" 'laplace-init: /lib/laplace.ko: Exec format error'
expect_line "$WORK/other-kernel.serial" '^LAPLACE-END fail 125'
expect_line "$WORK/other-kernel.log" 'before (the guest said|its guest was done)'
verify "$WORK/other-kernel.lpl"

IMAGE=$right
status=0
record failing fail || status=$?
[ "$status" -eq 1 ] || fail "a workload that fails: status $status, not 1"
expect_line "$WORK/failing.serial" '^LAPLACE-END fail 3'
expect_line "$WORK/failing.log" 'failed in the guest'
verify "$WORK/failing.lpl"
