# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# A run is steered by its socket and by signals, whatever its processor does: busy, halted, or spinning
# on one page; and nobody who does it wrong harms it.
socket=$WORK/control.socket
trace=$WORK/control.lpl
rm -f "$socket"
simulator=
trap 'kill -KILL $simulator 2>/dev/null || true' EXIT

ctl() { # VERB...
	"$LAPLACE" ctl "$socket" "$@" >"$WORK/control.reply" 2>&1 ||
		fail "ctl $*: $(cat "$WORK/control.reply"); $(said "$WORK/control.log")"
}
# Start a run by itself, with nothing flushed but what is asked for.
run() { # BOCHSRC PARAMETERS
	rm -f "$trace" "$trace.part"
	"$BOCHS" -q -f "$1" "laplace: trace=$trace, control=$socket, flush=off, overwrite=on, $2" \
		>"$WORK/control.log" 2>&1 </dev/null &
	simulator=$!
	until "$LAPLACE" ctl "$socket" status >"$WORK/control.reply" 2>&1; do
		kill -0 $simulator 2>/dev/null || fail "$2: it ended: $(said "$WORK/control.log")"
		sleep 0.1
	done
}
# It has ended as expected, the socket is gone, and the trace is whole.
over() { # STATUS MESSAGE
	local status=0
	wait $simulator || status=$?
	[ $status -eq "$1" ] || fail "status $status, not $1: $(said "$WORK/control.log")"
	expect_line "$WORK/control.log" "$2"
	[ ! -e "$socket" ] || fail "the socket was left"
	verify "$trace"
}
marks() { # TRACE
	# what is still written ends without an index, which `cat` says
	{ "$LAPLACE" cat --events --format raw "$1" 2>/dev/null || true; } |
		awk '$1 == "E" && $2 ~ /^(host-)?mark$/ { print $10 }'
}
asked_to_quit='^laplace: the run was ended by a request at the control socket; closing the trace'

printf '%s\n' first second third >"$WORK/control.marks"
endless spinning '\372\353\376'
endless halted '\372\364\353\374'
for machine in "$WORK/spinning.bochsrc" "$WORK/halted.bochsrc" "$IMAGE/steered.bochsrc"; do
	for reduction in none sad:64; do
		echo "${machine##*/}, $reduction"
		run "$machine" "reduce=$reduction"
		# the socket answers before the processor has begun
		until grep -q '^status: done; tracing on' "$WORK/control.reply"; do
			sleep 0.1
			ctl status
		done
		ctl mark first
		ctl stop
		expect_line "$WORK/control.reply" '; tracing off'
		ctl mark second
		ctl start
		expect_line "$WORK/control.reply" '; tracing on'
		ctl mark third
		ctl flush
		# at once: what is asked for is readable when the answer comes
		marks "$trace.part" | grep -vx asleep >"$WORK/control.found"
		expect_same "what can be read after a flush" "$WORK/control.marks" "$WORK/control.found"
		ctl quit
		[ -e "$trace" ] || fail "quit was answered before the trace was closed"
		over 0 "$asked_to_quit"
	done
done

echo "while the guest sleeps"
run "$IMAGE/steered.bochsrc" "start=off"
until marks "$trace.part" | grep -qx asleep; do
	ctl flush
	sleep 0.1
done
for _ in 1 2 3; do
	ctl mark in-its-sleep
done
ctl flush
[ "$(marks "$trace.part" | grep -cx in-its-sleep)" -eq 3 ] || fail "the halted guest's marks are not there"
ctl quit
over 0 "$asked_to_quit"

echo "what is refused"
run "$WORK/spinning.bochsrc" "start=on"
for verb in rotate checkpoint; do
	status=0
	"$LAPLACE" ctl "$socket" $verb >"$WORK/control.reply" 2>&1 || status=$?
	[ $status -eq 1 ] || fail "$verb: status $status"
	expect_line "$WORK/control.reply" "^laplace ctl: $verb: (the trace is not recorded in segments|no checkpoints can be made .*)\$"
done
if "$BOCHS" -q -f "$WORK/spinning.bochsrc" "laplace: trace=$WORK/control-other.lpl, control=$socket" \
	>"$WORK/control.other" 2>&1 </dev/null; then
	fail "two runs have the same socket"
fi
expect_line "$WORK/control.other" '^laplace: control=.*: another run is steered by it'
ctl status
kill -KILL $simulator
wait $simulator || true
[ -S "$socket" ] || fail "a killed run has taken its socket with it"
run "$WORK/spinning.bochsrc" "walks=on"
ctl status

echo "signals"
kill -USR2 $simulator
until grep -q '^laplace: the trace is not recorded in segments' "$WORK/control.log"; do
	kill -0 $simulator || fail "SIGUSR2 ended it: $(said "$WORK/control.log")"
	sleep 0.1
done
ctl mark first
kill -USR1 $simulator
until marks "$trace.part" | grep -qx first; do
	kill -0 $simulator || fail "SIGUSR1 ended it: $(said "$WORK/control.log")"
	sleep 0.1
done
kill -TERM $simulator
over 1 '^laplace: stopped by a signal'

echo "by the front end"
"$LAPLACE" record --overwrite --progress=never --flush off --control "$socket" -o "$trace" \
	"$WORK/spinning.bochsrc" >"$WORK/control.log" 2>&1 </dev/null &
simulator=$!
while [ ! -S "$socket" ]; do
	kill -0 $simulator || fail "record ended: $(said "$WORK/control.log")"
	sleep 0.1
done
ctl mark first
kill -USR1 $simulator
until marks "$trace.part" | grep -qx first; do
	kill -0 $simulator || fail "SIGUSR1 ended the front end: $(said "$WORK/control.log")"
	sleep 0.1
done
ctl quit
over 1 'ended before its guest was done: the run was ended by a request at the control socket'
