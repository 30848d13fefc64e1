# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2016,SC2154 # rules for awk
# Windows of time hold what a recording of the whole run holds there, reference by reference;
# they are where their definition (docs/bochsrc.md) puts them, worked out here from the events of
# the whole; what is known in them of pages is the same; and reductions work within them.  Half of the
# kinds of windows are there where LONG=yes.
in_long() {
	[ "${LONG:-}" = yes ]
}
recorded windows-whole windows --reduce none --start off
whole=$WORK/windows-whole.lpl
"$LAPLACE" cat --events --format raw "$whole" | grep '^E ' >"$WORK/windows.events"

windows() { # NAME SPEC [REDUCTION]
	recorded "windows-$1" windows --reduce "${3:-none}" --start off --windows "$2"
	verify "$WORK/windows-$1.lpl"
}
compare() { # NAME [OPTION...]
	local name=$1
	shift
	"$PROGRAMS/compare-windows" "$@" "$whole" "$WORK/windows-$name.lpl" >"$WORK/windows-$name.same" ||
		fail "$name: $(tail -n 1 "$WORK/windows-$name.same")"
	sed "s/^/# $name: /; s/ compared, all equal//" "$WORK/windows-$name.same"
}

# E NAME CYCLE INSTR REF SPACE TID TGID ARGS TEXT; numbers are hexadecimal but TID and TGID.
# Prints where tracing was switched, and to what.
switched() { # NAME
	"$LAPLACE" cat --events --format raw "$WORK/windows-$1.lpl" |
		awk '$1 == "E" && $2 == "tracing" { split($9, a, ","); print $4, a[1] }'
}
# The same as it should be: RULE sets `on` by an event; and laplace-ctl start and stop hold, too.
expected() { # RULE
	awk '
		function number(hex, v, i) {
			for (i = 1; i <= length(hex); i++)
				v = v * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
			return v
		}
		{ split($9, a, ","); text = $10 }
		$2 == "control" && a[1] < 3 { wanted = a[1] == 1 }
		'"$1"'
		{ is = on && wanted }
		is != was + 0 { print $4, is; was = is }' "$WORK/windows.events"
}
by_rule() { # NAME RULE AT-LEAST
	expected "$2" >"$WORK/windows-$1.expected"
	switched "$1" >"$WORK/windows-$1.switched"
	[ "$(wc -l <"$WORK/windows-$1.expected")" -ge "$3" ] || fail "$1: hardly a window is expected"
	expect_same "where the windows of $1 are" "$WORK/windows-$1.expected" "$WORK/windows-$1.switched"
}

echo "instructions"
first=$("$LAPLACE" info --json "$whole" | awk '/"instruction"/ && !n { getline; n = $1 + 0 } END { print n }')
from=$((first + 5000))
windows every "every:500k,length:50k,from:$from"
compare every -e 500000 -l 50000 -f $from
if in_long; then
	windows count "every:500k,length:500k,from:$from,count:3"
	compare count -e 1500000 -l 1500000 -f $from -1

	echo "page walks, of which there would be more where the run is disturbed"
	record windows-walking windows --reduce none --start off --walks || fail "walks: $(said "$WORK/windows-walking.log")"
	recorded windows-walks windows --reduce none --start off --walks --windows "every:500k,length:50k"
	"$PROGRAMS/compare-windows" "$WORK/windows-walking.lpl" "$WORK/windows-walks.lpl" >"$WORK/windows-walks.same" ||
		fail "walks: $(tail -n 1 "$WORK/windows-walks.same")"
	"$LAPLACE" info "$WORK/windows-walks.lpl" >"$WORK/windows.info"
	expect_line "$WORK/windows.info" '^  walk reads'
fi

echo "marks"
windows marks "mark:copy-on-write,until:threads"
compare marks
by_rule marks '$2 == "mark" && text == "copy-on-write" { on = 1 } $2 == "mark" && text == "threads" { on = 0 }' 4
if in_long; then
	windows mark-length "mark:heap,length:30k"
	compare mark-length
	switched mark-length | awk '
		function number(hex, v, i) {
			for (i = 1; i <= length(hex); i++)
				v = v * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
			return v
		}
		$2 == 1 { began = number($1); n++ }
		$2 == 0 { long = number($1) - began; if (long < 30000 || long >= 30000 + 100) { print "long: " long; bad = 1 } }
		END { if (n != 2) { print n " windows"; bad = 1 } exit bad }' ||
		fail "mark:heap,length:30k: windows are not of that length"
fi

echo "from a moment of one kind until one of another"
windows exec "from:exec:exerciser,until:mark:threads"
compare exec
by_rule exec '$2 == "exec" && text ~ /(^|\/)exerciser$/ { on = 1 } $2 == "mark" && text == "threads" { on = 0 }' 2
if in_long; then
	windows until "from:instructions:$from,until:threads"
	compare until -1
	[ "$(switched until | cut -d ' ' -f 2 | paste -sd ' ')" = "1 0" ] || fail "until: not one window"
fi

echo "tasks"
windows task "task:exerciser"
compare task
by_rule task '$2 == "schedule" { on = text == "exerciser" } $2 == "exec" { on = text ~ /(^|\/)exerciser$/ }' 20
if in_long; then
	tid=$(awk '$2 == "exec" && $10 == "/bin/exerciser" { print $7; exit }' "$WORK/windows.events")
	windows tid "task:$tid"
	compare tid
	by_rule tid '$2 == "schedule" { on = number(a[3]) == '"$tid"' }' 10
fi

echo "calls"
windows call "syscall:wait4"
compare call
by_rule call '
	$2 == "syscall-enter" && text == "wait4" { within[$7]; on = 1 }
	$2 == "syscall-exit" && text == "wait4" && ($7 in within) { delete within[$7]; on = 0 }
	$2 == "exit" { delete within[number(a[1])] }
	$2 == "schedule" { on = (number(a[3]) "") in within }' 20

echo "who and what: nothing is unknown, and pages are the same pages"
for name in every marks task call; do
	"$LAPLACE" info --json "$WORK/windows-$name.lpl" >"$WORK/windows.info"
	expect_line "$WORK/windows.info" '"task": [0-9]'
	if grep -q '"task": null' "$WORK/windows.info"; then
		fail "$name: there are windows in which it is not known who ran"
	fi
done
for name in whole every task; do
	"$LAPLACE" merge --overwrite --format canonical -o "$WORK/windows-$name-canonical.lpl" \
		"$WORK/windows-$name.lpl" >"$WORK/windows.merge"
done
for name in every task; do
	"$PROGRAMS/compare-windows" -c "$WORK/windows-whole-canonical.lpl" \
		"$WORK/windows-$name-canonical.lpl" >"$WORK/windows.same" ||
		fail "$name, canonical: $(tail -n 1 "$WORK/windows.same")"
done
rm -f "$WORK"/windows-*-canonical.lpl

echo "reduced within windows"
windows sad "every:500k,length:50k,from:$from" sad:16
"$PROGRAMS/compare-traces" -r window:16+sad:16 "$WORK/windows-every.lpl" "$WORK/windows-sad.lpl" ||
	fail "sad:16 as recorded in windows is not window:16+sad:16 of all references in them"

echo "what does not come, and what nobody can tell"
windows never "mark:never"
expect_line "$WORK/windows-never.log" '^laplace: windows=mark:never: none of them began'
[ "$(switched never | wc -l)" -eq 0 ] || fail "mark:never: it was recorded"
refused() { # PARAMETERS
	if "$BOCHS" -q -f "$IMAGE/windows.bochsrc" "laplace: trace=$WORK/refused.lpl, $1" \
		>"$WORK/windows.out" 2>&1 </dev/null; then
		fail "$1 is not refused"
	fi
	if [ -e "$WORK/refused.lpl" ] || [ -e "$WORK/refused.lpl.part" ]; then
		fail "$1: a trace was begun"
	fi
}
refused "kernel=none, windows=task:exerciser"
expect_line "$WORK/windows.out" '^laplace: windows=task:exerciser: with kernel=none no marks, tasks'
refused "windows=every:1M,length:2M"
expect_line "$WORK/windows.out" '^laplace: windows=every:1M,length:2M: a length of 2000000 is more than'
refused "length:2M, windows=every:1M"
expect_line "$WORK/windows.out" "unknown parameter 'length:2M'"

# As a bochsrc has it, with a comma.
"$BOCHS" -q -f "$IMAGE/windows.bochsrc" \
	"laplace: trace=$WORK/windows-comma.lpl, reduce=none, windows=every:500k, length:50k, from:$from, start=off, flush=off" \
	>"$WORK/windows.out" 2>&1 </dev/null || fail "with commas: $(said "$WORK/windows.out")"
"$PROGRAMS/compare-traces" "$WORK/windows-every.lpl" "$WORK/windows-comma.lpl" ||
	fail "commas in a bochsrc are not what --windows takes"
