# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# However a front end goes, by its own death or by that of who reads its messages, the
# trace is closed and whole; and a signal that was ignored from the start stays so.

# Wait until a recording has written something.
grown() { # TRACE PID LOG
	local size=0
	while [ "$size" -lt 60000 ]; do
		kill -0 "$2" || fail "$1: it ended by itself: $(said "$3")"
		sleep 0.1
		size=$(stat -c %s "$1.part" 2>/dev/null || echo 0)
	done
}
gone() { # PID...
	local pid
	for pid; do
		while [ -e "/proc/$pid" ] && [ "$(awk '$1 == "State:" { print $2 }' "/proc/$pid/status" 2>/dev/null)" != Z ]; do
			sleep 0.1
		done
	done
}
child() { # PID
	tr -d ' ' <"/proc/$1/task/$1/children"
}
# What was ended by a signal: whole, with its own name.
closed() { # NAME
	[ ! -e "$WORK/$1.lpl.part" ] || fail "$1: a .part was left"
	verify "$WORK/$1.lpl"
}
machine=$IMAGE/boot.bochsrc
rm -f "$WORK"/signals-*

# The front end is killed.  Its messages, and the machine's, went to a pipe whose
# reader ends with it.
mkfifo "$WORK/signals-pipe"
cat "$WORK/signals-pipe" >"$WORK/signals-killed.log" &
reader=$!
"$LAPLACE" record --progress=never -o "$WORK/signals-killed.lpl" "$machine" >"$WORK/signals-pipe" 2>&1 </dev/null &
front=$!
grown "$WORK/signals-killed.lpl" $front "$WORK/signals-killed.log"
simulator=$(child $front)
kill -KILL $reader $front
gone "$simulator"
closed signals-killed

# The reader of the messages goes first, then the end is asked for, as by Ctrl-C in
# `laplace record ... 2>&1 | tee log`.
cat "$WORK/signals-pipe" >"$WORK/signals-tee.log" &
reader=$!
"$LAPLACE" record --progress=never -o "$WORK/signals-tee.lpl" "$machine" >"$WORK/signals-pipe" 2>&1 </dev/null &
front=$!
grown "$WORK/signals-tee.lpl" $front "$WORK/signals-tee.log"
kill -KILL $reader
gone $reader
kill -TERM $front
gone $front
closed signals-tee

# The simulator by itself.  It is asked as by a terminal that is closed, several times,
# and with SIGINT, for which Bochs has a handler of its own.
for signal in INT TERM HUP; do
	env --default-signal=INT "$BOCHS" -q -f "$machine" "laplace: trace=$WORK/signals-$signal.lpl" \
		>"$WORK/signals-$signal.log" 2>&1 </dev/null &
	simulator=$!
	grown "$WORK/signals-$signal.lpl" "$simulator" "$WORK/signals-$signal.log"
	for _ in {1..50}; do
		kill -$signal "$simulator" 2>/dev/null || break
		sleep 0.01
	done
	status=0
	wait "$simulator" || status=$?
	[ "$status" -eq 1 ] || fail "SIG$signal, again and again: status $status, not 1"
	closed "signals-$signal"
	expect_line "$WORK/signals-$signal.log" '^laplace: stopped by a signal; closing the trace'
done

# nohup, and a background job of a script: those signals are ignored.  If it did heed one
# it would not go on to grow.
(trap '' HUP INT
	exec "$BOCHS" -q -f "$machine" "laplace: trace=$WORK/signals-nohup.lpl" >"$WORK/signals-nohup.log" 2>&1 </dev/null) &
simulator=$!
grown "$WORK/signals-nohup.lpl" "$simulator" "$WORK/signals-nohup.log"
kill -HUP "$simulator"
kill -INT "$simulator"
before=$(stat -c %s "$WORK/signals-nohup.lpl.part")
while [ "$(stat -c %s "$WORK/signals-nohup.lpl.part" 2>/dev/null || echo 0)" -lt $((before + 60000)) ]; do
	[ -e "$WORK/signals-nohup.lpl.part" ] || fail "an ignored signal ended it: $(said "$WORK/signals-nohup.log")"
	sleep 0.1
done
kill -TERM "$simulator"
wait "$simulator" || true
closed signals-nohup

# A file that may grow no further, in blocks of 1024 bytes.
status=0
(ulimit -f 200
	"$LAPLACE" record --progress=never -o "$WORK/signals-limit.lpl" --reduce sad:16 "$machine" \
		>"$WORK/signals-limit.log" 2>&1 </dev/null) || status=$?
[ "$status" -eq 1 ] || fail "ulimit -f: status $status, not 1"
expect_line "$WORK/signals-limit.log" '^laplace: .*signals-limit\.lpl\.part: no room for .*File too large'
verify "$WORK/signals-limit.lpl"
expect_line "$WORK/verify.log" 'records are missing in 1 place'

# The reader of the messages has gone before the first of them.
{
	sleep 1
	status=0
	timeout -s TERM 3 "$LAPLACE" record --progress=never -o "$WORK/signals-unread.lpl" "$machine" 2>&1 </dev/null || status=$?
	echo "$status" >"$WORK/signals-unread.status"
} | true
closed signals-unread

# The old trace of that name is not taken for what a killed run has written.
cp "$WORK/signals-unread.lpl" "$WORK/signals-old.lpl"
"$LAPLACE" record --overwrite --progress=never -o "$WORK/signals-old.lpl" "$machine" >"$WORK/signals-old.log" 2>&1 </dev/null &
front=$!
grown "$WORK/signals-old.lpl" $front "$WORK/signals-old.log"
kill -KILL "$(child $front)"
wait $front || true
expect_line "$WORK/signals-old.log" 'signals-old\.lpl: was not completed; what was written is in .*\.part'
cmp "$WORK/signals-unread.lpl" "$WORK/signals-old.lpl" || fail "a killed run replaced a trace"

# In the debugger, with the guest running.
mkfifo "$WORK/signals-running"
exec 4<>"$WORK/signals-running"
timeout -s KILL 300 "$BOCHS" -q -f "$machine" -dbg "laplace: trace=$WORK/signals-running.lpl" \
	>"$WORK/signals-running.log" 2>&1 <&4 4<&- &
watcher=$!
echo 'c' >&4
grown "$WORK/signals-running.lpl" $watcher "$WORK/signals-running.log"
kill -TERM "$(child $watcher)"
wait $watcher || true
exec 4>&-
closed signals-running

# At the debugger's prompt the machine waits for a line that never comes.
mkfifo "$WORK/signals-commands"
exec 3<>"$WORK/signals-commands"
timeout -s KILL 300 "$BOCHS" -q -f "$machine" -dbg "laplace: trace=$WORK/signals-prompt.lpl" \
	>"$WORK/signals-prompt.log" 2>&1 <&3 3<&- &
watcher=$!
echo 'step 100000' >&3
echo 'laplace status' >&3
while ! grep -q 'laplace: tracing on' "$WORK/signals-prompt.log"; do
	kill -0 $watcher || fail "the debugger ended: $(said "$WORK/signals-prompt.log")"
	sleep 0.1
done
kill -TERM "$(child $watcher)"
wait $watcher || true
exec 3>&-
closed signals-prompt
