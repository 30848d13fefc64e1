# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# `laplace run --kernel PACKAGE`: another kernel of the distribution, with all that the cloud's has not
# built in, brought by the machine's own apt.
export LAPLACE_DATADIR=$SRCDIR LAPLACE_BOCHS=$BUILDDIR/build/bochs/laplace-bochs
# a cache of its own: the two lanes share the other one, and one would wait while the other fetches a kernel
export XDG_CACHE_HOME=$WORK/kernels-cache
command -v apt-get >/dev/null || skip "there is no apt"
cd "$WORK" || exit
"$LAPLACE" run --kernel linux-image-amd64 -O -o kernels.lpl -- uname -r >kernels.stdout 2>kernels.stderr ||
	fail "$(cat kernels.stderr)"
expect_line kernels.stdout '^[0-9.]+.*-amd64$'
if grep cloud kernels.stdout; then
	fail "it is the same kernel"
fi
echo "# $(cat kernels.stdout)"
verify kernels.lpl
"$LAPLACE" merge --audit kernels.lpl >kernels.audit || fail "the books do not balance: $(tail -n 1 kernels.audit)"
status=0
"$LAPLACE" run -q --kernel linux-image-none -o none.lpl -- true >none.stdout 2>none.stderr || status=$?
[ $status = 125 ] || fail "a kernel that there is not: status $status"
expect_line none.stderr 'apt knows no package linux-image-none'
# One that the module is not for.
mkdir old
sed 's/^KERNEL_RELEASE=.*/KERNEL_RELEASE=4.19.0-27-cloud-amd64/' "$BUILDDIR/build/kernel/kernel.env" >old/kernel.env
status=0
"$LAPLACE" run -q --kernel old -o none.lpl -- true >none.stdout 2>none.stderr || status=$?
[ $status = 125 ] || fail "a kernel that is too old: status $status"
expect_line none.stderr 'Linux 4.19.0-27-cloud-amd64 is too old: the module is for 5.10 and later'
