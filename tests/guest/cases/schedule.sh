# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# Threads of a real trace that run again (workloads/schedule, relay.c): in the recorded order they make the
# recorded trace; in any other each does what it did, no task gets what has not been handed on, and
# what all spent adds up to the processor's time.
# Reduced a little, so that the case is quick.
recorded schedule schedule --reduce window:4 --start off
raw=$WORK/schedule.lpl canonical=$WORK/schedule-canonical.lpl
expect_line "$WORK/schedule.serial" '^relay: all notes were there'
"$LAPLACE" merge --overwrite --format canonical -o "$canonical" "$raw" >"$WORK/schedule.merge"

# Each note (relay.c) by its address, and its page.
"$PROGRAMS/inspect-trace" references "$raw" 2ffffffff000 300000100000 |
	awk '$2 == "relay" && $5 == "u" { page[$8] = $9 } END { for (a in page) print a, page[a] }' |
	sort >"$WORK/notes"
[ "$(wc -l <"$WORK/notes")" -eq 82 ] || fail "$(wc -l <"$WORK/notes") notes are in the trace"

# The machine's sums are those of its tasks and processors.
add_up() { # NAME
	awk '
		/^  "[a-z]*":/ { section = $1 }
		/^ *"[a-z_]*": [0-9]+,?$/ { gsub(/[":,]/, ""); value[$1] = $2 }
		section == "\"result\":" { result[$1] = $2 }
		section == "\"tasks\":" && /^    }/ {
			tasks++
			if (value["running"] + value["ready"] + value["paging"] + value["waiting"] != \
				value["end"] - value["begin"])
				wrong = wrong " task " value["task"]
			running += value["running"]; switching += value["switching"]
			for (sum in summed)
				summed[sum] += value[sum]
		}
		BEGIN { summed["references"]; summed["faults"]; summed["joined"] }
		END {
			if (running != result["busy"]) wrong = wrong " busy"
			if (switching != result["switching"]) wrong = wrong " switching"
			if (result["busy"] + result["switching"] + result["idle"] != result["end"]) wrong = wrong " end"
			for (sum in summed)
				if (summed[sum] != result[sum])
					wrong = wrong " " sum
			if (tasks < 50 || running == 0) wrong = wrong " tasks"
			if (wrong) print "what does not add up:" wrong
			exit wrong != ""
		}' "$WORK/$1.json" || fail "$1: sums do not agree"
}
again() { # NAME OPTION...
	local name=$1
	shift
	"$LAPLACE" schedule --overwrite --by task --json -o "$WORK/$name.lpl" "$@" "$raw" >"$WORK/$name.json" \
		2>"$WORK/$name.log" || fail "$name: $(tail -n 1 "$WORK/$name.log")"
	add_up "$name"
}

again recorded --scheduler recorded
# (the time before tracing begins does not pass there)
"$PROGRAMS/compare-traces" -o -s "$canonical" "$WORK/recorded.lpl" ||
	fail "the recorded order is not the recorded trace"

reordered() { # NAME OPTION...
	again "$@"
	"$PROGRAMS/schedule-check" "$WORK/notes" "$canonical" "$WORK/$1.lpl" >"$WORK/$1.check" ||
		fail "$1: $(head -n 3 "$WORK/$1.check" | tr '\n' '|')"
	! cmp -s "$WORK/$1.lpl" "$WORK/recorded.lpl" || fail "$1: nothing was in another order"
	rm "$WORK/$1.lpl"
}
reordered rr-tiny --quantum 300
reordered rr --quantum 20000i --switch-cycles 100 -s 50% --fault-cycles 10000 --devices 1
reordered rr-large --quantum 0
reordered priority --scheduler priority --priority relay=1,init=2 --quantum 5000
reordered fair --scheduler fair --quantum 10000 -s 25% --memory local-equal --fault-cycles 3000
echo "# $(tail -n 2 "$WORK/fair.check" | tr '\n' ' ')"
rm -f "$canonical" "$WORK/recorded.lpl"
