# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# A recording that is ended from outside: by SIGTERM it is closed and whole; by
# SIGKILL, what was written is readable up to its last complete chunk.

# Record the boot until its trace has grown, then send a signal.
start_and() { # SIGNAL NAME WHOM
	local name=$2 bochs='' pid size=0
	rm -f "$WORK/$name.lpl" "$WORK/$name.lpl.part"
	"$LAPLACE" record --overwrite --progress=never --flush off -o "$WORK/$name.lpl" --reduce sad:16 \
		"$IMAGE/boot.bochsrc" >"$WORK/$name.log" 2>&1 </dev/null &
	pid=$!
	while [ "$size" -lt 1000000 ]; do
		kill -0 "$pid" || fail "it ended by itself: $(said "$WORK/$name.log")"
		sleep 0.1
		size=$(stat -c %s "$WORK/$name.lpl.part" 2>/dev/null || echo 0)
	done
	bochs=$(cat "/proc/$pid/task/$pid/children")
	bochs=${bochs%% *}
	[ -n "$bochs" ] || fail "no simulator runs"
	if [ "$3" = front ]; then kill "-$1" "$pid"; else kill "-$1" "$bochs"; fi
	status=0
	wait "$pid" || status=$?
	[ "$status" -eq 1 ] || fail "$1 to $3: status $status, not 1"
	if [ -e "/proc/$bochs" ]; then
		fail "$1 to $3: the simulator is still there"
	fi
}

for whom in front simulator; do
	start_and TERM "term-$whom" $whom
	verify "$WORK/term-$whom.lpl"
	[ ! -e "$WORK/term-$whom.lpl.part" ] || fail "TERM to $whom: a .part was left"
done
expect_line "$WORK/term-front.log" 'interrupted|stopped by a signal'
expect_line "$WORK/term-simulator.log" 'stopped by a signal'

start_and KILL killed simulator
expect_line "$WORK/killed.log" 'killed by signal 9'
[ ! -e "$WORK/killed.lpl" ] || fail "a killed recording got its final name"
part=$WORK/killed.lpl.part
"$LAPLACE" info "$part" >"$WORK/killed.info" || fail "info cannot read $part"
expect_line "$WORK/killed.info" '^state .*(not closed|incomplete|unclosed)'
status=0
"$LAPLACE" verify "$part" >"$WORK/killed.verify" 2>&1 || status=$?
[ "$status" -eq 3 ] || fail "verify of an incomplete trace: status $status, not 3"

# It is the beginning of what an undisturbed run writes.
recorded undisturbed boot --reduce sad:16
count=$("$LAPLACE" cat --format csv "$part" 2>/dev/null | wc -l) || true
[ "$count" -gt 10000 ] || fail "only $count lines could be read"
"$LAPLACE" cat --format csv "$part" 2>/dev/null | head -n "$count" >"$WORK/killed.csv" || true
"$LAPLACE" cat --format csv "$WORK/undisturbed.lpl" 2>/dev/null | head -n "$count" >"$WORK/undisturbed.csv" || true
expect_same "a killed recording" "$WORK/undisturbed.csv" "$WORK/killed.csv"
