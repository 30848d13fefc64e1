# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# A guest's kernel that lies (rubbish/rubbish.c): we survive, say so, do not call
# it a success, and keep a trace that is whole and can be worked with.
lied() { # MODE PATTERN...
	local mode=$1 status=0
	shift
	record "rubbish-$mode" "rubbish-$mode" --reduce sad:64 || status=$?
	[ "$status" -eq 1 ] || fail "$mode: status $status, not 1: $(said "$WORK/rubbish-$mode.log")"
	for pattern; do
		expect_line "$WORK/rubbish-$mode.log" "$pattern"
	done
	if grep -a 'internal error' "$WORK/rubbish-$mode.log"; then
		fail "$mode: an internal error"
	fi
	verify "$WORK/rubbish-$mode.lpl"
	[ "$("$LAPLACE" cat --format pages "$WORK/rubbish-$mode.lpl" 2>/dev/null | wc -l)" -gt 10000 ] ||
		fail "$mode: hardly anything was traced"
}
finished() { # MODE: the guest knows nothing of our trouble
	expect_line "$WORK/rubbish-$1.serial" '^LAPLACE-END ok'
}

lied storm 'kernel record was left out: its magic is wrong' \
	'no more of these are shown' 'records were malformed'
finished storm
"$LAPLACE" merge --overwrite --format canonical -o "$WORK/rubbish-canonical.lpl" "$WORK/rubbish-storm.lpl" \
	>"$WORK/rubbish-merge.log" || fail "merge does not survive nonsense"
verify "$WORK/rubbish-canonical.lpl"
"$LAPLACE" sim -p lru -s 64:1024:*4 "$WORK/rubbish-canonical.lpl" >/dev/null
# What is printed of a guest's text drives no terminal.
if "$LAPLACE" cat --events "$WORK/rubbish-storm.lpl" | LC_ALL=C grep -q '[^ -~]'; then
	fail "the guest's bytes are printed as they are"
fi

lied open 'begun and never completed|began before the last one was complete' 'abandoned'
finished open
lied freed 'malformed|before (the guest said|its guest was done)'
finished freed

# In these the handshake itself is a lie, which ends the run.
lied magic "the guest's module cannot be used: .*magic 0x4b52504c.*expected 0x524b504c"
lied size "the guest's module cannot be used: .*size 8"
lied nowhere "the guest's module cannot be used: there is no memory at 0xffff123400000000"
lied crossing "the guest's module cannot be used: .*crosses a page"
lied half "the guest's module cannot be used: there is no memory at 0x4c5048314c504831"
