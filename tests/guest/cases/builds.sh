# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# A trace does not depend on how the simulators were compiled: those by a profile make the same files.
compare() { # SIMULATOR REDUCTION
	local name=$1-$2
	[ -x "$BUILDDIR/build/bochs/$1-profiled" ] || skip "build/bochs/$1-profiled is not there: make check-long builds it"
	cmp -s "$BUILDDIR/build/bochs/$1" "$BUILDDIR/build/bochs/$1-profiled" && fail "$1: there is only one of it"
	LAPLACE_BOCHS=$BUILDDIR/build/bochs/$1 recorded "$name" boot --reduce "$2"
	LAPLACE_BOCHS=$BUILDDIR/build/bochs/$1-profiled recorded "$name-profiled" boot --reduce "$2"
	verify "$WORK/$name.lpl"
	cmp "$WORK/$name.lpl" "$WORK/$name-profiled.lpl" || fail "$1 by a profile makes another trace with $2"
}

compare laplace-bochs sad:64
compare laplace-bochs-all none
compare laplace-bochs-all olr:64
