# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# Machines that cannot be: no bochsrc, no image, no BIOS; and a laplace option
# that says what it must not.
machine=$IMAGE/boot.bochsrc
bad() { # WHAT PATTERN BOCHSRC
	local status=0
	"$LAPLACE" record --overwrite --progress=never -o "$WORK/bad.lpl" "$3" >"$WORK/bad.log" 2>&1 </dev/null || status=$?
	[ "$status" -eq 1 ] || fail "$1: status $status, not 1"
	expect_line "$WORK/bad.log" "$2"
}
bad "no bochsrc" 'nowhere\.bochsrc: No such file' "$WORK/nowhere.bochsrc"
bad "a directory" 'is no file' "$WORK"
sed 's|path="[^"]*"|path="/nonexistent/image.iso"|' "$machine" >"$WORK/no-image.bochsrc"
bad "no image" '/nonexistent/image\.iso' "$WORK/no-image.bochsrc"
sed 's|^romimage:.*|romimage: file="/nonexistent/bios"|' "$machine" >"$WORK/no-bios.bochsrc"
bad "no BIOS" '/nonexistent/bios' "$WORK/no-bios.bochsrc"
{
	cat "$machine"
	echo "memry: guest=256"
} >"$WORK/typo.bochsrc"
bad "a typo in the bochsrc" 'memry' "$WORK/typo.bochsrc"

known_parameters='trace=FILE, reduce=.*start=on\|off\|mark.*kernel=.*walks=.*status=FD'
option() { # OPTION PATTERN
	local status=0
	rm -f "$IMAGE/boot.serial"
	{
		cat "$machine"
		echo "laplace: $1"
	} >"$WORK/option.bochsrc"
	"$BOCHS" -q -f "$WORK/option.bochsrc" >"$WORK/option.log" 2>&1 </dev/null || status=$?
	[ "$status" -eq 1 ] || fail "laplace: $1: status $status, not 1"
	expect_line "$WORK/option.log" "^laplace: .*$2"
	# at start-up: nothing was simulated, the guest has not said a word
	if [ -s "$IMAGE/boot.serial" ]; then
		fail "laplace: $1: was noticed only after the machine ran"
	fi
	if [ -e "$WORK/option.lpl" ]; then
		[ -z "$("$LAPLACE" cat --format pages "$WORK/option.lpl")" ] ||
			fail "laplace: $1: was noticed only after something was traced"
		rm "$WORK/option.lpl"
	fi
}
option "tracee=$WORK/option.lpl" "unknown parameter 'tracee=.*known are: $known_parameters"
option "trace" "unknown parameter 'trace'.*known are: $known_parameters"
for value in level=0 level=20 level=x start=maybe walks=perhaps ring=1 status=-1 stage=none \
	overwrite=2 trace= reduce=; do
	option "$value" "value of '$value' is not valid.*known are: $known_parameters"
done
for value in sad sad:0 sad:x nothing window:64+ sad:99999999999; do
	option "trace=$WORK/option.lpl, reduce=$value" "reduce=.*reduction"
done
option "reduce=sad:64" "needs trace=FILE"
option "trace=$WORK/option.lpl, reduce=sad:1, images=evict:1" "images=evict:1: say images=evict:K, with K from 2"
option "trace=$WORK/option.lpl, reduce=sad:64, images=evict:63" "images=evict:63: say images=evict:K, with K from 2"
option "trace=$WORK/option.lpl, kernel=/nonexistent/map" "/nonexistent/map.*No such file"
option "trace=$WORK/option.lpl, kernel=0xffffffff81000ff0" "crosses a page"

# Bochs takes blanks away, and what follows a forgotten comma is part of the value before it.
trace=$WORK/option.lpl
option "trace=$trace start=on" "'trace=.*option.lplstart=on' a comma seems to be missing before 'start=on'"
option "trace=$trace, reduce=sad:64 level=9" "'reduce=sad:64level=9' a comma seems to be missing before 'level=9'"
option "trace=$trace, title=boot kernel=none" "'title=bootkernel=none' a comma seems to be missing before 'kernel=none'"
option "trace=$trace, title=\"boot (twice)\" start=off" "a comma seems to be missing before 'start=off'"
option "trace=$trace; start=off" "a comma seems to be missing before 'start=off'"
option "trace=$trace strat=off" "a comma seems to be missing before 'strat=off'"

# A trace must not take the place of what the machine is made of.
iso=$(sed -n 's/^ata0-master:.*path="\([^"]*\)".*/\1/p' "$machine")
ln -f "$iso" "$WORK/option.iso" 2>/dev/null || cp "$iso" "$WORK/option.iso"
sed "s|^ata0-master:.*|ata0-master: type=cdrom, path=\"$WORK/option.iso\", status=inserted|" "$machine" >"$WORK/own.bochsrc"
for own in option.iso option.map; do
	echo "ffffffff81000000 D kernel_trace_record" >"$WORK/option.map"
	status=0
	"$BOCHS" -q -f "$WORK/own.bochsrc" "laplace: trace=$WORK/$own, kernel=$WORK/option.map, overwrite=on" \
		>"$WORK/own.log" 2>&1 </dev/null || status=$?
	[ "$status" -eq 1 ] || fail "a trace in the place of $own: status $status, not 1"
	expect_line "$WORK/own.log" "^laplace: .*$own is the trace, too"
done

# Several lines add up; what is given twice is refused, whoever of the two was meant.
option "trace=$trace, level=3, level=4" 'level= is given twice'
option "trace=$trace
laplace: trace=$WORK/other.lpl" 'option\.bochsrc:[0-9]*: laplace: trace= is given twice'
option "trace=$trace
laplace: reduce=sad" "reduce=sad: .*reduction"

# The line of `laplace record` goes before the bochsrc's, and that is told; what it does
# not say stays.
{
	cat "$machine"
	echo "laplace: trace=$WORK/other.lpl, reduce=none, title=\"mine, of restart = 1\", kernel=none"
} >"$WORK/twice.bochsrc"
status=0
"$LAPLACE" record --overwrite --progress=never -o "$WORK/twice.lpl" --reduce sad:16 "$WORK/twice.bochsrc" \
	-benchmark 2 >"$WORK/twice.log" 2>&1 </dev/null || status=$?
[ "$status" -eq 0 ] || fail "a laplace line in the bochsrc: status $status: $(said "$WORK/twice.log")"
[ ! -e "$WORK/other.lpl" ] || fail "the bochsrc's trace= was heeded"
expect_line "$WORK/twice.log" "^laplace: the command line takes the place of the bochsrc's trace= reduce="
"$LAPLACE" info "$WORK/twice.lpl" >"$WORK/twice.info"
expect_line "$WORK/twice.info" 'mine, of restart = 1'
expect_line "$WORK/twice.info" 'window:16\+sad:16'
