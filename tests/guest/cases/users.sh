# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# A user of the guest who is not root cannot make a collection fail (workloads/users),
# unless the guest was told to let everybody.
of_users() { # NAME STATUS OPTION...: image and trace, NAME.lpl
	local name=$1 expected=$2 status=0
	shift 2
	IMAGE=$WORK/$name-image
	"$SRCDIR/disk-images/build" --kernel "$BUILDDIR/build/kernel" --module-dir "$BUILDDIR/build/module" \
		--out "$IMAGE" --add "$GUEST/workloads/users" --workload users "$@"
	record "$name" users --reduce sad:64 --start off || status=$?
	[ "$status" -eq "$expected" ] ||
		fail "$name: status $status, not $expected: $(said "$WORK/$name.log")"
	"$LAPLACE" cat --events --format raw "$WORK/$name.lpl" | awk '
		$1 != "E" { next }
		$2 == "mark" { print $2, $10 }
		$2 == "control" { print $2, substr($9, 1, 1) }' >"$WORK/$name.told"
	expect_line "$WORK/$name.serial" '^LAPLACE-END ok$'
}

# start, stop, end; and fail is 5.
printf '%s\n' 'control 1' 'mark before' 'mark after' 'control 2' 'control 4' >"$WORK/users.expected"
of_users users-root 0
expect_same "what root alone tells" "$WORK/users.expected" "$WORK/users-root.told"
expect_line "$WORK/users-root.serial" '^laplace-ctl: /dev/laplace is not for this user: root can '
expect_line "$WORK/users-root.serial" '^users: status 1$'

printf '%s\n' 'control 1' 'mark before' 'control 5' 'mark after' 'control 2' 'control 4' \
	>"$WORK/users.expected"
of_users users-all 1 --append laplace.mode=0666
expect_same "what everybody tells" "$WORK/users.expected" "$WORK/users-all.told"
expect_line "$WORK/users-all.serial" '^users: status 0$'
