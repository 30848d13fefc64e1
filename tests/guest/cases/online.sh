# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What is simulated while it is recorded, with nothing stored: the stream is the file of the same run, byte for byte,
# and so are the curves; the simulation's memory does not grow with it; and whatever ends one of the two ends the other.
"${CC:-gcc}" -std=c11 -D_GNU_SOURCE -O2 -o "$WORK/online-measure" "$SRCDIR/bench/measure.c"
sizes=64,128,256,512,1024,2048

# As `recorded` does it, into a pipe; what goes through it is counted and hashed, not kept.
online() { # NAME WORKLOAD [OPTION...]: NAME.curve, NAME.sum, NAME.cost
	local name=$1 workload=$2
	shift 2
	"$LAPLACE" record --progress=never --flush off -o - "$@" "$IMAGE/$workload.bochsrc" 2>"$WORK/$name.log" </dev/null |
		tee >(sha256sum >"$WORK/$name.sum") |
		"$WORK/online-measure" "$WORK/$name.cost" "$LAPLACE" sim -p lru,clock -s $sizes - >"$WORK/$name.curve" ||
		fail "$name: $(said "$WORK/$name.log")"
	# what tee feeds is not waited for
	while [ ! -s "$WORK/$name.sum" ]; do sleep 0.05; done
}

# ---- the same as from a file ----

recorded first known
recorded known-none known --reduce none --start off
for kind in first known-none; do
	options=()
	[ $kind = first ] || options=(--reduce none --start off)
	online "online-$kind" known "${options[@]}"
	sha256sum <"$WORK/$kind.lpl" | cmp - "$WORK/online-$kind.sum" || fail "$kind: the stream is not the file"
	"$LAPLACE" sim -p lru,clock -s $sizes "$WORK/$kind.lpl" >"$WORK/$kind.curve"
	expect_same "$kind: the curves" "$WORK/$kind.curve" "$WORK/online-$kind.curve"
	expect_line "$WORK/online-$kind.log" '^standard output: [0-9]+ instructions in .* references, kept '
done

# Memory is that of the pages and of the chunks that are decoded ahead (a few of 48 bytes for each of 4 million
# references, where every one is recorded), however long the stream: of half of it not much less.
peak() { # NAME: KiB
	cut -d ' ' -f 4 "$WORK/$1.cost"
}
bytes=$(stat -c %s "$WORK/first.lpl")
head -c $((bytes / 2)) "$WORK/first.lpl" |
	"$WORK/online-measure" "$WORK/online-half.cost" "$LAPLACE" sim -p lru,clock -s $sizes - \
		>"$WORK/online-half.curve" 2>"$WORK/online-half.log" || true
expect_line "$WORK/online-half.log" 'the result covers the first [0-9]+ references'
echo "# the simulation's memory: $(peak online-first) KiB, of half of the stream $(peak online-half) KiB," \
	"of every reference $(peak online-known-none) KiB"
[ "$(peak online-first)" -lt $(($(peak online-half) + 8192)) ] || fail "its memory grows with the stream"
[ "$(peak online-known-none)" -lt 262144 ] || fail "its memory grows with the stream of every reference"

# ---- one ends, and the other ----

# The reader, which has seen enough.
status=0
rm -f "$IMAGE/boot.serial"
"$LAPLACE" record --progress=never --flush 1s -o - "$IMAGE/boot.bochsrc" 2>"$WORK/online-unread.log" </dev/null |
	head -c 50000 >"$WORK/online-unread.head" || status=${PIPESTATUS[0]}
[ "$status" = 1 ] || fail "a stream that is not read any more: status $status"
expect_line "$WORK/online-unread.log" '^laplace record: standard output: was not read to the end, and the run ended with that'
if [ -e "$IMAGE/boot.serial" ] && grep -q 'LAPLACE-END ok' "$IMAGE/boot.serial"; then
	fail "the guest went on to its end"
fi

# Ctrl-C, which the terminal sends to both: of what was recorded there are results.  (Nothing is mapped so early;
# a file says that, and of a stream it is not known beforehand.)
for reduction in sad:64 none; do
	rm -f "$WORK/online-status"
	# shellcheck disable=SC2016 # the other shell's
	env --default-signal=INT setsid bash -c '"$0" record --progress=never --status-file "$4" --status-every 1 -o - -r "$5" "$1" 2>"$2.log" |
		tee -i "$2.lpl" | "$0" sim -p lru --addresses virtual - >"$2.curve" 2>"$2.said"' \
		"$LAPLACE" "$IMAGE/boot.bochsrc" "$WORK/online-interrupted" - "$WORK/online-status" "$reduction" </dev/null &
	group=$!
	while ! grep -qs '"references":[1-9][0-9]\{6\}' "$WORK/online-status"; do
		kill -0 $group 2>/dev/null || fail "it ended by itself: $(said "$WORK/online-interrupted.log")"
		sleep 0.1
	done
	kill -INT -- -$group
	wait $group || true
	expect_line "$WORK/online-interrupted.log" '^laplace record: standard output: interrupted'
	verify "$WORK/online-interrupted.lpl"
	"$LAPLACE" sim -p lru --addresses virtual "$WORK/online-interrupted.lpl" >"$WORK/online-interrupted.expected"
	expect_same "$reduction: the curve of an interrupted run" "$WORK/online-interrupted.expected" "$WORK/online-interrupted.curve"
done
