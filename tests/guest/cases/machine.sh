# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# `laplace record` and the real laplace-bochs speak the same language: each line that went
# through the pipe between them has the form of those of the tests' fake-bochs, the last one
# is what `record` reports, and that is what is in the trace: for a run that ends well, one
# whose workload fails, and one that a signal ends.
cat >"$WORK/tap" <<'END'
#!/bin/bash
# In the place of laplace-bochs: runs it, and keeps a copy of what it says.
fd=$(printf '%s\n' "${@: -1}" | sed 's/.*status=\([0-9]*\).*/\1/')
rm -f "$TAP.pipe"
mkfifo "$TAP.pipe"
tee -p "$TAP" <"$TAP.pipe" >&"$fd" &
copier=$!
eval '"$REAL_BOCHS" "$@"' "$fd"'>"$TAP.pipe" &'
machine=$!
trap 'kill -TERM $machine' TERM
wait $machine
status=$?
# a signal ends a wait, not yet the machine
while kill -0 $machine 2>/dev/null; do
	wait $machine
	status=$?
done
wait $copier
exit $status
END
chmod +x "$WORK/tap"
export REAL_BOCHS=$BOCHS

# What fake-bochs, by which the command is tested, prints: each of its names is in a real line.
names() {
	grep -o '"[a-z_]*":' | sort -u
}
sed -n "s/.*printf '\({\"state\":\"%s\".*}\)\\\\n' .*/\1/p" "$SRCDIR/tests/cli/data/fake-bochs" | names >"$WORK/machine.names"
[ "$(wc -l <"$WORK/machine.names")" -ge 9 ] || fail "cannot tell what fake-bochs prints"

number() { # NAME: of a JSON object on one line or several
	sed -n 's/.*"'"$1"'": *\([0-9][0-9]*\).*/\1/p' | head -n 1
}
# After a run through the tap: what it said, `record` told and the trace holds.
compare() { # NAME END
	local tap=$WORK/$1.tap last line name value
	last=$(tail -n 1 "$tap")
	while read -r line; do
		printf '%s\n' "$line" | names | comm -23 "$WORK/machine.names" - >"$WORK/$1.missing"
		[ ! -s "$WORK/$1.missing" ] || fail "$1: a status has no $(head -n 1 "$WORK/$1.missing")"
	done <"$tap"
	last=${last%%,\"rates\"*}	# what follows has the same names once more
	# the summary is what is said in lines by themselves between braces
	sed -n '/^{$/,/^}$/p' "$WORK/$1.log" >"$WORK/$1.summary"
	[[ $last == *'"state":"ended","end":"'"$2"'"'* ]] || fail "$1: ended with $last"
	grep -q "\"end\": \"$2\"" "$WORK/$1.summary" || fail "$1: record did not tell the end '$2'"
	for name in instructions references kept events wait_ns elapsed_ns; do
		value=$(printf '%s\n' "$last" | number $name)
		[ "$value" = "$(number $name <"$WORK/$1.summary")" ] ||
			fail "$1: $name is $value in the last status, and not in record's summary"
	done
	"$LAPLACE" info --json "$WORK/$1.lpl" >"$WORK/$1.info"
	for name in references:before kept:kept; do
		value=$(printf '%s\n' "$last" | number ${name%:*})
		[ "$value" = "$(number ${name#*:} <"$WORK/$1.info")" ] ||
			fail "$1: ${name%:*} is $value in the last status, and not in the trace"
	done
	# of the file itself, for closing it wrote more than the machine could still tell
	value=$(number bytes <"$WORK/$1.summary")
	[ "$value" = "$(stat -c %s "$WORK/$1.lpl")" ] || fail "$1: the trace has not $value bytes"
	[ "$(printf '%s\n' "$last" | number instructions)" -gt 0 ] || fail "$1: nothing was run"
}
through_the_tap() { # NAME WORKLOAD [OPTION...]
	local status=0
	TAP=$WORK/$1.tap record "$@" --bochs "$WORK/tap" --json || status=$?
	echo $status
}

[ "$(through_the_tap machine-clean known --start off)" = 0 ] ||
	fail "machine-clean: $(said "$WORK/machine-clean.log")"
compare machine-clean clean
[ "$(through_the_tap machine-fail fail)" = 1 ] || fail "a workload that fails is not told"
compare machine-fail fail

# Ended as soon as it is known to run.
through_the_tap machine-quit known >"$WORK/machine-quit.status" &
for ((i = 0; i < 600; i++)); do
	grep -q '"instructions":[1-9]' "$WORK/machine-quit.tap" 2>/dev/null && break
	sleep 0.1
done
pkill -TERM -f "record .* $WORK/machine-quit.lpl" || fail "there is no machine to be ended"
wait
[ "$(cat "$WORK/machine-quit.status")" = 1 ] || fail "a run ended by a signal: $(cat "$WORK/machine-quit.status")"
compare machine-quit quit
