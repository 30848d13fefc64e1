# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# A guest that resets its machine, or brings it to a triple fault, ends a recording as one that
# switches it off does: everything up to the instruction that did it is in the trace.  A reset before
# anything is recorded ends nothing.
#
# The guest is a boot sector.  When it comes there for the first time it notes that in the CMOS, which
# a reset leaves alone, and does what it is made for; the second time it stays.

# cli; is it in the CMOS?  Then on at the end; if not, it is from now on.
readonly NOTE='\xfa\xb0\x50\xe6\x70\xe4\x71\x3c\x4c\x74\x12\xb0\x50\xe6\x70\xb0\x4c\xe6\x71'
# Ten bytes, the last of them an instruction that ends it.
readonly KEYBOARD='\x90\x90\x90\x90\x90\x90\xb0\xfe\xe6\x64'	# out 0x64, 0xfe
readonly CHIPSET='\x90\x90\x90\x90\xba\xf9\x0c\xb0\x06\xee'	# out 0xcf9, 6
readonly TRIPLE='\x90\x90\x90\x90\x0f\x01\x1e\x40\x7c\xcc'	# lidt [zeros]; int3
readonly STAY='\xeb\xfe'

machine() { # NAME CODE RESET_ON_TRIPLE_FAULT
	printf '%b' "$NOTE$2$STAY" >"$WORK/$1.img"
	truncate -s 510 "$WORK/$1.img"
	printf '\125\252' >>"$WORK/$1.img"
	truncate -s 1440K "$WORK/$1.img"
	cat >"$WORK/$1.bochsrc" <<-EOF
		$(grep -E '^(config_interface|display_library|romimage|vgaromimage|clock|pci|panic|error|info|debug):' "$IMAGE/boot.bochsrc")
		cpu: model=core2_penryn_t9600, ips=100000000, reset_on_triple_fault=$3
		memory: guest=32, host=32
		floppya: 1_44="$WORK/$1.img", status=inserted
		boot: floppy
		log: "$WORK/$1.bochs"
	EOF
}

reset() { # NAME OPTION...
	local name=$1 status=0
	shift
	nice timeout 120 "$LAPLACE" record --overwrite --progress=never --flush off --kernel none \
		-o "$WORK/$name.lpl" "$@" "$WORK/$name.bochsrc" >"$WORK/$name.log" 2>&1 </dev/null || status=$?
	[ $status = 0 ] || fail "$name: status $status: $(said "$WORK/$name.log")"
	verify "$WORK/$name.lpl"
}

# Its last reference is that instruction's fetch; and what the simulator of windows records is a reduction
# of it.
ends_at() { # NAME ADDRESS
	"$LAPLACE" cat "$WORK/$1.lpl" | tail -n 1 >"$WORK/$1.end"
	expect_line "$WORK/$1.end" "^i [0-9a-f]+ [0-9]+ 0 $2$"
	"$LAPLACE" reduce -m window:64 -o "$WORK/$1-reduced.lpl" "$WORK/$1.lpl" >"$WORK/$1.log" 2>&1 ||
		fail "$1: reduce: $(tail -n 1 "$WORK/$1.log")"
	"$LAPLACE" cat "$WORK/$1-reduced.lpl" >"$WORK/$1.reduced"
	"$LAPLACE" cat "$WORK/$1-windows.lpl" >"$WORK/$1.windows"
	expect_same "$1: windows" "$WORK/$1.reduced" "$WORK/$1.windows"
}

both() { # NAME CODE RESET_ON_TRIPLE_FAULT ADDRESS
	machine "$1" "$2" "$3"
	machine "$1-windows" "$2" "$3"
	reset "$1" --reduce none
	reset "$1-windows" --reduce window:64
	ends_at "$1" "$4"
}

resets() { # NAME CODE ADDRESS
	both "$1" "$2" 1 "$3"
	expect_line "$WORK/$1-windows.log" "$1-windows.lpl: the run was ended by a reset of the machine$"
}

resets keyboard "$KEYBOARD" 7c1b
resets chipset "$CHIPSET" 7c1c
resets triple "$TRIPLE" 7c1c
# Where it resets nothing, the fault ends the machine.
both fault "$TRIPLE" 0 7c1c

# The reset is over when recording begins, after the second boot sector was read.
machine late "$KEYBOARD" 1
reset late --reduce none --start instructions:16M --end instructions:17M
expect_line "$WORK/late.bochs" 'cpu software reset'
"$LAPLACE" cat "$WORK/late.lpl" | sed -n 's/.* //p' | sort -u >"$WORK/late.addresses"
[ "$(cat "$WORK/late.addresses")" = 7c1d ] || fail "late: recorded is not what comes after the reset"
