# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# Nothing of the tracer is in the trace: no reference to the kernel's record, and
# no instruction between the store that begins a record and the one that ends it.
raw=$(known none)
module=$BUILDDIR/build/module/laplace.ko

section() { # NAME: where the guest's kernel loaded it
	sed -n "s/^section $1 0x//p" "$WORK/known-none.serial"
}
symbol() { # NAME FIELD: 1 its offset, 2 its size
	nm -S "$module" | awk -v name="$1" -v field="$2" '$4 == name { print $field }'
}
at() { # SECTION OFFSET: hexadecimal address
	printf '%x\n' $((0x$(section "$1") + $2))
}
# Offsets of instructions of a function that refer to the record, relative to
# the instruction counter; with each the offset of the next instruction.
record_users() { # FUNCTION
	objdump -dr --no-show-raw-insn --disassemble="$1" "$module" | awk '
		/^Disassembly of section/ { text = /\.text:/; live = 0 }
		/^[0-9a-f]+ <.*>:$/ { live = text }
		live && /^ +[0-9a-f]+:\t/ {
			sub(":", "", $1)
			if (uses)
				print here, $1
			here = $1
			uses = 0
		}
		# objdump prints the relocations of what stands before the function, too
		live && /R_X86_64_PC32\tkernel_trace_record/ {
			sub(":", "", $1)
			uses = here != "" && value($1) >= value(here)
		}
		function value(digits, v, i) {
			for (i = 1; i <= length(digits); i++)
				v = v * 16 + index("0123456789abcdef", substr(digits, i, 1)) - 1
			return v
		}'
}

for name in .text .bss; do
	[ -n "$(section $name)" ] || fail "the guest did not say where the module's $name is"
done
begin=0x$(symbol lpl_begin 1) begin_size=0x$(symbol lpl_begin 2)
end=0x$(symbol lpl_end 1)
text=0x$(symbol lpl_text 1) text_size=0x$(symbol lpl_text 2)
record=0x$(symbol kernel_trace_record 1)
# The first use in lpl_begin is the store to `begin`, the last in lpl_end the trigger.
after_begin=0x$(record_users lpl_begin | head -n 1 | cut -d ' ' -f 2)
after_trigger=0x$(record_users lpl_end | tail -n 1 | cut -d ' ' -f 2)
echo "begin $begin..$after_begin, trigger $end..$after_trigger"
[ $((after_begin)) -gt $((begin)) ] || fail "cannot find the store to begin in $module"
[ $((after_trigger)) -gt $((end)) ] || fail "cannot find the store to trigger in $module"

"$PROGRAMS/inspect-trace" touched "$raw" \
	record "$(at .bss "$record")" "$(at .bss "$record+400")" \
	before-begin "$(at .text "$begin")" "$(at .text "$after_begin")" \
	after-begin "$(at .text "$after_begin")" "$(at .text "$begin+$begin_size")" \
	text "$(at .text "$text")" "$(at .text "$text+$text_size")" \
	before-trigger "$(at .text "$end")" "$(at .text "$after_trigger")" \
	after-trigger "$(at .text "$after_trigger")" "$(at .text "$after_trigger+8")" |
	tee "$WORK/touched"
for inside in record after-begin text before-trigger; do
	grep -qx "$inside 0 0" "$WORK/touched" || fail "the tracer's own work is in the trace: $(grep "^$inside" "$WORK/touched")"
done
# The module's code outside of records is traced, so the addresses are right.
for outside in before-begin after-trigger; do
	grep -Eq "^$outside [1-9][0-9]* " "$WORK/touched" || fail "the module is not where it was looked for: $(grep "^$outside" "$WORK/touched")"
done
own=$("$LAPLACE" info --json "$raw" | sed -n 's/.*"tracer": \([0-9]*\).*/\1/p')
[ "$own" -gt 10000 ] || fail "only $own references were left out as the tracer's own"
echo "# $own references left out"
