# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# The bytes of instructions: the rest of the trace is what it is without them; a segment has those that it needs; they
# are those of a program's file, by objdump; what a program writes anew (rewrite.S) is what it was when it was
# executed; they are those that Bochs' own debugger shows; and the numbers of a program's system calls are known.
raw=$(known none)
recorded code known --reduce none --start off --code --segment instructions:2M
verify "$WORK/code.lpl"
"$PROGRAMS/compare-traces" -t "$raw" "$WORK/code.lpl" || fail "code changes the rest of the trace"
disassemble() { # TRACE...
	local trace
	for trace; do
		"$LAPLACE" cat -f disasm "$trace" || fail "$trace: cannot be disassembled"
	done
}
"$LAPLACE" cat -f disasm "$WORK/code.lpl" >"$WORK/code.whole" 2>"$WORK/code.log" || {
	grep -q 'built without Zydis' "$WORK/code.log" && skip "built without Zydis"
	fail "cannot be disassembled: $(tail -n 1 "$WORK/code.log")"
}
count() { # REGEX FILE
	grep -Ec -- "$1" "$2" || true
}
# each fetch is known, and has a length that Zydis finds, too
[ "$(count '^[uk]' "$WORK/code.whole")" -gt 1000000 ] || fail "hardly an instruction"
[ "$(count '\?$|\(bad\)$' "$WORK/code.whole")" = 0 ] || fail "not all instructions are known"
set -- "$WORK"/code.0*.lpl
[ $# -gt 2 ] || fail "no segments"
disassemble "$@" | cmp - "$WORK/code.whole" || fail "segments that are read alone are others"
rm "$WORK/code.whole"

# ---- a program ----

gcc -nostdlib -static -o "$WORK/rewrite" "$GUEST/rewrite.S" || fail "rewrite.S does not compile"
"$LAPLACE" run --kernel "$BUILDDIR/build/kernel" -q -r none --code -O -o "$WORK/rewrite.lpl" --with "$WORK/rewrite" -- \
	"$WORK/rewrite" >"$WORK/rewrite.log" 2>&1 || fail "rewrite: $(tail -n 1 "$WORK/rewrite.log")"
"$LAPLACE" cat -f disasm --process rewrite --user "$WORK/rewrite.lpl" | awk '/^u/ { print $3, $4 }' >"$WORK/rewrite.executed"
objdump -dw "$WORK/rewrite" | awk -F '\t' '/^ *[0-9a-f]+:\t/ { gsub(/[ :]/, "", $1); gsub(/ /, "", $2); print $1, $2 }' |
	LC_ALL=C sort >"$WORK/rewrite.file"
grep '^401' "$WORK/rewrite.executed" | LC_ALL=C sort -u >"$WORK/rewrite.text"
[ "$(wc -l <"$WORK/rewrite.text")" -gt 50 ] || fail "hardly an instruction of the program"
LC_ALL=C comm -23 "$WORK/rewrite.text" "$WORK/rewrite.file" >"$WORK/rewrite.others"
[ ! -s "$WORK/rewrite.others" ] || fail "executed, but not in the file: $(head -n 1 "$WORK/rewrite.others")"
for n in $(seq 1 200); do
	printf '30000100 b8%02x000000\n30000ffd b80000%02x00\n30000ffd b8000055aa\n' "$n" "$n"
done >"$WORK/rewrite.expected"
grep -E '^(30000100|30000ffd) ' "$WORK/rewrite.executed" >"$WORK/rewrite.found"
expect_same "code that was written anew" "$WORK/rewrite.expected" "$WORK/rewrite.found"

# each of its instructions that calls the kernel is followed by the number, of memfd_create, ftruncate, mmap and exit
"$LAPLACE" cat -e -f disasm --process rewrite --user "$WORK/rewrite.lpl" | awk '
	$1 == "u" { if (calls) print "no number"; calls = $3 ~ /^401/ && $4 ~ /^(0f05|0f34|cd80)$/; space = $2 }
	$2 == "system-call" && calls && $6 == space { split($9, argument, ","); print argument[1], argument[2]; calls = 0 }
' >"$WORK/rewrite.called"
{
	printf '13f 0\n4d 0\n'
	for n in $(seq 1 402); do
		echo 9 0
	done
	echo 3c 0
} >"$WORK/rewrite.calls"
expect_same "numbers of system calls" "$WORK/rewrite.calls" "$WORK/rewrite.called"

# ---- the debugger ----

# From power-on: 16 and 32 bits.  More of it, and the kernel, where LONG=yes.
compare_with_debugger() { # FROM STEPS
	printf '%s\n' "step $1" 'laplace on' 'trace on' "step $2" 'trace off' quit >"$WORK/shown.rc"
	"$BOCHS" -q -f "$IMAGE/boot.bochsrc" -dbg -rc "$WORK/shown.rc" \
		"laplace: trace=$WORK/shown.lpl, reduce=none, start=off, code=on, overwrite=on" \
		2>"$WORK/shown.log" </dev/null | sed -n 's/^(0)\.\[.*; \([0-9a-f]*\)$/\1/p' >"$WORK/shown.debugger" ||
		fail "in the debugger: $(said "$WORK/shown.log")"
	verify "$WORK/shown.lpl"
	"$LAPLACE" cat -f disasm "$WORK/shown.lpl" | awk '/^[uk]/ { print $4 }' >"$WORK/shown.trace"
	[ "$(wc -l <"$WORK/shown.trace")" -ge $(($2 * 9 / 10)) ] || fail "only $(wc -l <"$WORK/shown.trace") instructions"
	# the debugger shows a repeated instruction again and again; and at the end the one to come
	for of in debugger trace; do
		uniq "$WORK/shown.$of" >"$WORK/shown.$of.once"
	done
	[ "$(wc -l <"$WORK/shown.debugger.once")" -le $(($(wc -l <"$WORK/shown.trace.once") + 1)) ] ||
		fail "$(wc -l <"$WORK/shown.debugger.once") instructions in the debugger"
	head -n "$(wc -l <"$WORK/shown.trace.once")" "$WORK/shown.debugger.once" >"$WORK/shown.debugger"
	mv "$WORK/shown.debugger" "$WORK/shown.debugger.once"
	expect_same "instructions from $1 on" "$WORK/shown.debugger.once" "$WORK/shown.trace.once"
	echo "# $(wc -l <"$WORK/shown.trace.once") instructions from $1 on as the debugger shows them"
}
compare_with_debugger 1 300000
[ "${LONG:-}" != yes ] || compare_with_debugger 150000000 3000000
