# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# A trace that cannot be written: no such directory, no permission, no room.
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

# A device that is full from the first byte on, and one where nobody may make a file.
refused "a full device" "^laplace: /dev/full.*No space left on device" \
	"$LAPLACE" record --overwrite -o /dev/full "$machine"
refused "no permission" "^laplace: /sys/t\.lpl.*(Permission denied|Read-only file system)" \
	"$LAPLACE" record -o /sys/t.lpl "$machine"

# A disk that becomes full meanwhile.  To fill one takes a mount, which not everybody has;
# a limit of one megabyte to files ends a write in the same place: with a part of the
# bytes, and then with an error that means that there is no room.
rm -rf "$WORK/full"
mkdir -p "$WORK/full"
refused "a full disk" "^laplace: .*/full\.lpl.*no room for .*(No space left on device|File too large)" \
	bash -c 'trap "" XFSZ; ulimit -f 1024; exec "$@"' bash \
	"$LAPLACE" record --progress=never --reduce sad:16 -o "$WORK/full/full.lpl" "$machine"
# it is closed in the room of the chunk that did not fit, and says that the rest is missing
expect_line "$WORK/refused.out" '^laplace: .*/full\.lpl: ends early, .* and was closed properly'
verify "$WORK/full/full.lpl"
expect_line "$WORK/verify.log" 'records are missing in 1 place'
"$LAPLACE" info "$WORK/full/full.lpl" >"$WORK/full.info" 2>&1 ||
	fail "what is on a full disk cannot be read: $(tail -n 1 "$WORK/full.info")"
kept=$(awk '$1 == "all" { print $2 }' "$WORK/full.info")
[ "$kept" -gt 10000 ] || fail "of a trace on a full disk only $kept references are readable"

# `laplace run` waits for room, and says so where it has no terminal and shows nothing else, too.
export LAPLACE_DATADIR=$SRCDIR LAPLACE_BOCHS=$BOCHS XDG_CACHE_HOME=$WORK/cache
if [ "$(id -u)" = 0 ] && mkdir -p "$WORK/small" && mount -t tmpfs -o size=512k none "$WORK/small" 2>/dev/null; then
	"$LAPLACE" run -q --kernel "$BUILDDIR/build/kernel" -r none -o "$WORK/small/run.lpl" -- seq 1 100000 \
		>"$WORK/waited.out" 2>"$WORK/waited.err" &
	runs=$!
	while ! grep -q 'waits until there is room' "$WORK/waited.err" && kill -0 $runs 2>/dev/null; do
		sleep 0.1
	done
	mount -o remount,size=200m "$WORK/small"
	status=0
	wait $runs || status=$?
	cp "$WORK/small/run.lpl" "$WORK/waited.lpl" || true
	umount "$WORK/small"
	[ $status = 0 ] || fail "a run that waited for room: status $status: $(cat "$WORK/waited.err")"
	expect_line "$WORK/waited.err" 'No space left on device\.  The recording waits until there is room'
	expect_line "$WORK/waited.err" '^laplace: there is room again: the recording goes on$'
	[ "$(tail -n 1 "$WORK/waited.out")" = 100000 ] || fail "what it printed is lost"
	verify "$WORK/waited.lpl"
fi
