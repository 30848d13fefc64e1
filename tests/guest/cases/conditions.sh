# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# Recordings that start and stop, and runs that end, by conditions: where docs/bochsrc.md says, to the
# trace of instructions, the same each time and in both simulators; and ends are clean ones.

# Record like record() what has to end by itself, well, for this reason.
ended() { # NAME WORKLOAD WHY OPTION...
	local name=$1 workload=$2 why=$3
	shift 3
	record "conditions-$name" "$workload" "$@" ||
		fail "$name: it did not end well: $(said "$WORK/conditions-$name.log")"
	expect_line "$WORK/conditions-$name.log" "^laplace: the run was ended $why; closing the trace"
	expect_line "$WORK/conditions-$name.log" "conditions-$name\\.lpl: the run was ended $why\$"
	verify "$WORK/conditions-$name.lpl"
}
trace() { # NAME
	echo "$WORK/conditions-$1.lpl"
}
raw() { # NAME: its references, a line each
	"$LAPLACE" cat --format raw "$(trace "$1")"
}
# E NAME CYCLE INSTR REF SPACE TID TGID ARGS TEXT
events() { # NAME
	"$LAPLACE" cat --events --format raw "$(trace "$1")" | grep '^E '
}
reached() { # NAME: references before reduction, instructions
	"$LAPLACE" info --json "$(trace "$1")" | awk -F '[:,]' '/"before"/ && !n { n = $2 + 0 } END { print n }'
}

echo "instructions: what windows of time hold there"
ended window boot 'by end=instructions:6000000' --reduce none --end instructions:6M \
	--windows every:1T,length:500k,from:5M
ended instructions boot 'by end=instructions:6000000' --reduce none --end instructions:6M \
	--start instructions:5M --stop instructions:5500k
"$PROGRAMS/compare-traces" "$(trace window)" "$(trace instructions)" ||
	fail "start and stop by instructions are not what a window holds"
ended again boot 'by end=instructions:6000000' --reduce none --end instructions:6M,seconds:100000 \
	--start instructions:5M,mark:never --stop instructions:5500k
cmp "$(trace instructions)" "$(trace again)" || fail "a run that ends by instructions does not repeat"

echo "references: the beginning of the whole, up to the trace of instructions that has the last"
ended whole boot 'by end=instructions:1000000' --reduce none --end instructions:1M
for count in 300000 1000001; do
	for reduction in none sad:64; do
		ended references-$reduction boot "by end=references:$count" --reduce $reduction --end references:$count
	done
	raw references-none >"$WORK/conditions.found"
	made=$(wc -l <"$WORK/conditions.found")
	[ "$made" -ge $count ] || fail "end=references:$count ended after $made"
	raw whole | head -n "$made" >"$WORK/conditions.expected" || true
	expect_same "what end=references:$count holds" "$WORK/conditions.expected" "$WORK/conditions.found"
	# a trace has at most 32 instructions, of a cycle each
	last=$(tail -n 1 "$WORK/conditions.found" | cut -d' ' -f2)
	first=$(sed -n "${count}p" "$WORK/conditions.found" | cut -d' ' -f2)
	[ $((16#$last - 16#$first)) -lt 32 ] || fail "end=references:$count ended long after: $first, $last"
	[ "$(reached references-sad:64)" -eq "$made" ] ||
		fail "windows end after $(reached references-sad:64) references, all references after $made"
done
ended stop boot 'by end=instructions:6000000' --reduce none --stop references:300k --end instructions:6M
ended stopped boot 'by end=references:300000' --reduce none --end references:300k
raw stop >"$WORK/conditions.found"
raw stopped >"$WORK/conditions.expected"
expect_same "what stop=references:300k holds" "$WORK/conditions.expected" "$WORK/conditions.found"

echo "marks and images"
ended marks conditions 'by end=mark:done' --reduce none --start exec:exerciser --stop mark:threads --end mark:done
events marks >"$WORK/conditions.events"
# from the image on, not from the mark that came before; up to the mark, which is in it
awk '$2 == "tracing" { split($9, a, ","); print (a[1] ? "on" : "off") }
	$2 == "exec" && $10 == "/bin/exerciser" || $2 == "mark" && ($10 == "threads" || $10 == "done") { print $10 }' \
	"$WORK/conditions.events" >"$WORK/conditions.found"
printf '%s\n' threads on /bin/exerciser threads off "done" >"$WORK/conditions.expected"
expect_same "what starts, stops and ends it" "$WORK/conditions.expected" "$WORK/conditions.found"
[ "$(tail -n 1 "$WORK/conditions.events" | cut -d' ' -f2)" = mark ] || fail "something came after the end"
ended image conditions 'by end=exec:/bin/exerciser' --end exec:/bin/exerciser --start mark:threads --reduce sad:16
[ "$(events image | tail -n 1 | cut -d' ' -f2)" = tracing ] || fail "recording was not on at the end"
[ "$(events image | tail -n 2 | head -n 1 | cut -d' ' -f10)" = /bin/exerciser ] || fail "the exec is not in the trace"

echo "the guest"
ended guest conditions 'by the guest' --start off

echo "the host"
ended seconds boot 'by end=seconds:1' --end seconds:1
ended bytes boot 'by end=bytes:100000' --reduce none --flush 1000000i --end bytes:100k
[ "$(stat -c %s "$(trace bytes)")" -ge 100000 ] || fail "end=bytes:100k: it is shorter"

echo "what is none"
refused() { # PARAMETERS MESSAGE
	if "$BOCHS" -q -f "$IMAGE/boot.bochsrc" "laplace: trace=$WORK/refused.lpl, $1" \
		>"$WORK/conditions.out" 2>&1 </dev/null; then
		fail "$1 is not refused"
	fi
	expect_line "$WORK/conditions.out" "$2"
	if [ -e "$WORK/refused.lpl" ] || [ -e "$WORK/refused.lpl.part" ]; then
		fail "$1: a trace was begun"
	fi
}
refused "start=maybe" "the value of 'start=maybe' is not valid"
refused "start=references:5" '^laplace: start=references:5: references: is no condition for the start'
refused "stop=seconds:5" '^laplace: stop=seconds:5: seconds: is no condition for the stop'
refused "stop=on" "^laplace: stop=on: 'on' is none of instructions:N"
refused "end=references:0" '^laplace: end=references:0: references:0 is no number'
refused "end=references:1e9" '^laplace: end=references:1e9: references:1e9 is no number'
refused "end=references:5, end=bytes:6" 'laplace: end= is given twice'
refused "end=mark:a, mark:b" '^laplace: end=mark:a,mark:b: mark: is given twice'
refused "seconds:5, end=bytes:6" "unknown parameter 'seconds:5'"
refused "kernel=none, end=mark:a" '^laplace: end=mark:a: with kernel=none no marks and images'
refused "stage=ring, end=bytes:5M" '^laplace: end=bytes:5M: nothing is written'
"$BOCHS" -q -f "$IMAGE/boot.bochsrc" \
	"laplace: trace=$WORK/conditions-comma.lpl, reduce=none, start=instructions:5M, mark:never, stop=instructions:5500k, end=seconds:100000, instructions:6M, flush=off" \
	>"$WORK/conditions.out" 2>&1 </dev/null || fail "with commas: $(said "$WORK/conditions.out")"
"$PROGRAMS/compare-traces" "$(trace instructions)" "$(trace comma)" ||
	fail "commas in a bochsrc are not what the options take"
