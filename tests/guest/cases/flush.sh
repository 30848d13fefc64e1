# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2153,SC2154
# A recording whose end is not kind (SIGKILL) has on disk what happened before its
# last flush: by the debugger's command, by the guest's, and by itself in time.

references() { # TRACE: before reduction, as far as the file tells; 0: it tells nothing
	{ "$LAPLACE" info --json "$1" 2>/dev/null || true; } |
		awk -F '[:,]' '/"before"/ && !n { n = $2 } END { print n + 0 }'
}

# The debugger stops the machine, so that exactly so much has happened.
for reduction in none sad:64 sad-ws:100000; do
	trace=$WORK/flush-debugger.lpl
	printf '%s\n' 'step 1000000' 'laplace flush' 'laplace status' >"$WORK/flush.rc"
	rm -f "$WORK/flush.stdin" "$trace.part"
	mkfifo "$WORK/flush.stdin"
	"$BOCHS" -q -f "$IMAGE/boot.bochsrc" -dbg -rc "$WORK/flush.rc" \
		"laplace: trace=$trace, reduce=$reduction, flush=off, overwrite=on" \
		>"$WORK/flush.out" 2>&1 <"$WORK/flush.stdin" &
	bochs=$!
	exec 7>"$WORK/flush.stdin"	# it waits for us at its prompt
	while ! grep -q 'left out as the tracer' "$WORK/flush.out"; do
		kill -0 "$bochs" || fail "$reduction: it ended: $(said "$WORK/flush.out")"
		sleep 0.1
	done
	kill -KILL "$bochs"
	wait "$bochs" || true
	exec 7>&-
	expect_line "$WORK/flush.out" '^laplace: all [1-9][0-9]* references so far can be read'
	told=$(sed -n 's/^  references \([0-9]*\), kept \([0-9]*\),.*/\1 \2/p' "$WORK/flush.out")
	if [ -z "$told" ] || [ "${told% *}" -le 1000000 ] || [ "${told#* }" -eq 0 ]; then
		fail "$reduction: status after a flush: '$told'"
	fi
	found="$(references "$trace.part") $("$LAPLACE" cat -f csv "$trace.part" 2>/dev/null |
		grep -c '^[rwipq],')" || true
	[ "$found" = "$told" ] ||
		fail "$reduction: references and kept: the file has '$found', status told '$told'"
done

# A machine that spins within one page, or is halted for good, never ends a window of
# many pages; within a second of its time it has to be on disk all the same.
endless spinning '\353\376'
endless halted '\372\364\353\375'
for machine in spinning halted; do
	for reduction in none sad:65536; do
		trace=$WORK/flush-$machine.lpl
		rm -f "$trace" "$trace.part"
		"$BOCHS" -q -f "$WORK/$machine.bochsrc" \
			"laplace: trace=$trace, reduce=$reduction, kernel=none, flush=1s" \
			>"$WORK/flush.out" 2>&1 </dev/null &
		bochs=$!
		tries=0 size=0
		# what the BIOS makes, at least
		while [ "$(references "$trace.part")" -lt 100000 ]; do
			kill -0 "$bochs" || fail "$machine: it ended: $(said "$WORK/flush.out")"
			tries=$((tries + 1))
			[ $tries -lt 1000 ] || {
				kill -KILL "$bochs"
				fail "$machine, $reduction: nothing was written by time"
			}
			sleep 0.2
		done
		kill -KILL "$bochs"
		wait "$bochs" || true
		size=$(stat -c %s "$trace.part")
		rm -f "$trace.part"
		[ "$size" -gt 144 ] || fail "$machine, $reduction: $size bytes"
	done
done
