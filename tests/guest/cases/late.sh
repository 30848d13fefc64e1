# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# A module that is loaded first when the guest is busy already (workloads/late) tells
# nothing before its snapshot, and the books of what follows balance.
late=$WORK/late
mkdir -p "$late"
cp "$BUILDDIR/build/module/laplace-ctl" "$GUEST/workloads/late/run" "$late/"
strip --strip-debug -o "$late/laplace.ko" "$BUILDDIR/build/module/laplace.ko"
"$SRCDIR/disk-images/build" --kernel "$BUILDDIR/build/kernel" --no-module --out "$IMAGE/late" \
	--add "$late" --workload late
IMAGE=$IMAGE/late
recorded late late --reduce none --start off

# It was busy while the module was loaded, or nothing is proved.
for what in forks switches; do
	number=$(sed -n "s/^late: $what //p" "$WORK/late.serial")
	[ "${number:-0}" -ge 20 ] || fail "only ${number:-no} $what while the module was loaded"
done
first=$("$LAPLACE" cat --events --format raw "$WORK/late.lpl" |
	awk '$1 == "E" && $2 != "tracing" { print $2; exit }')
[ "$first" = snapshot ] || fail "$first was told before the snapshot"
"$LAPLACE" merge --audit --problems 1 "$WORK/late.lpl" >"$WORK/late.books" ||
	fail "the books do not balance: $(grep -A 20 '^odd' "$WORK/late.books" | tr '\n' '|')"
expect_line "$WORK/late.books" '^user references unresolved: 0$'
sed 's/^late:/#/;t;d' "$WORK/late.serial"
