# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# A trace that cannot be written: no such directory, no permission, a full disk.
refused() { # WHAT PATTERN COMMAND...
	local what=$1 pattern=$2 status=0
	shift 2
	"$@" >"$WORK/refused.out" 2>&1 </dev/null || status=$?
	[ "$status" -eq 1 ] || fail "$what: status $status, not 1"
	expect_line "$WORK/refused.out" "$pattern"
}
machine=$IMAGE/boot.bochsrc
refused "no directory" "/nonexistent/.*No such file or directory" \
	"$LAPLACE" record -o /nonexistent/t.lpl "$machine"
refused "a file for a directory" "Not a directory" "$LAPLACE" record -o "$machine/t.lpl" "$machine"
refused "no directory, without the front end" "^laplace: /nonexistent/t.lpl.*No such file or directory" \
	"$BOCHS" -q -f "$machine" "laplace: trace=/nonexistent/t.lpl"
touch "$WORK/there.lpl"
refused "an existing file, without the front end" "^laplace: .*there.lpl: exists; .*overwrite=on" \
	"$BOCHS" -q -f "$machine" "laplace: trace=$WORK/there.lpl"

# A disk of one megabyte, in a mount namespace of its own, which takes it along.
full=$WORK/full
mkdir -p "$full"
if ! unshare -rm mount -t tmpfs -o size=1m none "$full" 2>/dev/null; then
	echo "# a full disk was not tried: this machine lets us mount none"
	exit 0
fi
# shellcheck disable=SC2016 # for the inner shell
unshare -rm sh -c '
	mount -t tmpfs -o size=1m none "$1" && cd "$1" || exit 77
	status=0
	"$2" record --progress=never --reduce sad:16 -o "$1/full.lpl" "$3" >"$4.log" 2>&1 </dev/null || status=$?
	echo "record $status" >"$4.status"
	status=0
	"$2" info "$1/full.lpl.part" >"$4.info" 2>&1 || status=$?
	echo "info $status" >>"$4.status"
	test ! -e "$1/full.lpl" && echo "no final name" >>"$4.status"
	mount -o remount,ro "$1"
	status=0
	"$2" record --progress=never -o "$1/other.lpl" "$3" >"$4.readonly" 2>&1 </dev/null || status=$?
	echo "read-only $status" >>"$4.status"
' sh "$full" "$LAPLACE" "$machine" "$WORK/full"
printf '%s\n' 'record 1' 'info 0' 'no final name' 'read-only 1' >"$WORK/full.expected"
expect_same "a full disk" "$WORK/full.expected" "$WORK/full.status"
expect_line "$WORK/full.log" '^laplace: .*/full\.lpl.*No space left on device'
expect_line "$WORK/full.readonly" 'other\.lpl.*Read-only file system'
kept=$(awk '$1 == "all" { print $2 }' "$WORK/full.info")
[ "$kept" -gt 10000 ] || fail "of a trace on a full disk only $kept references are readable"
