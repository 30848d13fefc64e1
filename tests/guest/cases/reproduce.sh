# shellcheck shell=bash disable=SC2015,SC2016,SC2046,SC2059 # dollar signs are what this is about
# SPDX-License-Identifier: LGPL-2.1-or-later
# A trace of `laplace run` tells what it was made of (`laplace info --card`), and is made again from that.
export LAPLACE_DATADIR=$SRCDIR LAPLACE_BOCHS=$BUILDDIR/build/bochs/laplace-bochs
export XDG_CACHE_HOME=$WORK/cache
mkdir "$WORK/a second place"
cd "$WORK/a second place" || exit
printf 'one\ntwo' >$'odd \xc3\xa4 name'
printf 'three' >input
"$LAPLACE" run -q --kernel "$BUILDDIR/build/kernel" --env 'A=$x y' --keep left -o again.lpl -- \
	sh -c 'cat "$1" -; echo "$A" >left' -- $'odd \xc3\xa4 name' <input >stdout || fail "the run ended with $?"
[ "$(cat stdout)" = $'one\ntwothree' ] && [ "$(cat left)" = '$x y' ] || fail "it printed $(cat stdout)"

"$LAPLACE" info --card again.lpl >card
for line in "program  *$(sha256sum <"$(type -P sh)" | cut -d ' ' -f 1) .*/sh" "file  *$(sha256sum <odd*name | cut -d ' ' -f 1) odd" \
	"standard input  *5 $(sha256sum <input | cut -d ' ' -f 1)" "kernel  *6\\.1" 'env A=\$x y' 'state  *complete' \
	'faults of OPT: the same as before reduction, from 64 pages on' 'arguments  *sh$'; do
	grep -q -- "^  .*$line" card || fail "the card lacks '$line': $(cat card)"
done
reproduce() { # STATUS OPTION...
	local expected=$1
	shift
	status=0
	"$LAPLACE" reproduce --kernel "$BUILDDIR/build/kernel" "$@" >told 2>&1 <input || status=$?
	[ $status = "$expected" ] || fail "reproduce $*: status $status, expected $expected: $(cat told)"
}

rm left
reproduce 0 again.lpl
[ ! -e again.lpl.again ] || fail "something was run unasked"
cd /
reproduce_in_root() {
	status=0
	"$LAPLACE" reproduce --run --kernel "$BUILDDIR/build/kernel" "$WORK/a second place/again.lpl" <"$WORK/a second place/input" >"$WORK/told" 2>&1 || status=$?
}
reproduce_in_root
[ $status = 0 ] || fail "it is not the same: $(cat "$WORK/told")"
cd "$WORK/a second place" || exit
cmp again.lpl again.lpl.again || fail "said to be the same, and is not"
[ ! -e left ] || fail "what the first run kept was replaced"
reproduce 2 --run again.lpl
# a run that fails leaves an earlier result, which is not taken for its own
ulimit -S -f 1000
reproduce 3 --run --overwrite again.lpl
ulimit -S -f unlimited
expect_line told '.*could not be run.*'
cmp again.lpl again.lpl.again || fail "what was there is gone"
# what only the guest's disk shows
TERM=another reproduce 3 --run -o second.lpl again.lpl
expect_line told ".*not as it was: what is on the guest's disk.*"
[ ! -e second.lpl ] || fail "it was run in another environment"
# what was derived from it is not what it makes
"$LAPLACE" reduce -m sad:256 -o derived.lpl again.lpl
reproduce 3 --run derived.lpl
expect_line told '.*was derived .*'
"$LAPLACE" info --card derived.lpl | grep -q 'to make it again  *it was derived' || fail "the card does not say so"
# other standard input
printf 'another, and longer' >input
reproduce 3 --run -o second.lpl again.lpl
[ ! -e second.lpl ] || fail "it was run with other input"
reproduce 1 --run --anyway -o second.lpl again.lpl
expect_line told 'not the same'
expect_line told 'the first record that differs is line [0-9]+'
expect_line told '< *standard input +5 .*'
# a file that changed, and one that is gone
printf 'three' >input
printf 'one\ntwo!' >$'odd \xc3\xa4 name'
reproduce 3 again.lpl
expect_line told 'not as it was: .* has changed .*'
rm $'odd \xc3\xa4 name'
reproduce 3 again.lpl
expect_line told 'not as it was: .* is not there'
# files of this machine that a trace names, and that would be run by making the guest (what else a recipe may
# ask for is a matter of tests/cli)
hostile() { # [OPTION] PROGRAM
	status=0
	"$SRCDIR/guest-program/reproduce" card again.lpl hostile.lpl anyway '' '' '' '' '' run "${@:1:$#-1}" -- "${@: -1}" >told 2>&1 </dev/null || status=$?
	[ ! -e hacked ] && [ ! -e hostile.lpl ] || fail "a recipe was obeyed"
	[ $status = 3 ] || fail "a hostile recipe: status $status: $(cat told)"
}

export LAPLACE
hostile --cpu=$'\033[31mred' true
expect_line told "--cpu: the processor '.*red' is none of"
! grep -q $'\033' told || fail "a recipe speaks to the terminal"
hostile --reduce=$'\033[31mred' true
! grep -q $'\033' told || fail "a recipe speaks to the terminal"
printf '#!/bin/sh\ntouch "%s/hacked"\n' "$PWD" >ld-of-mine.so
chmod +x ld-of-mine.so
echo 'int main(void) { return 0; }' | "${CC:-cc}" -x c -o evil "-Wl,--dynamic-linker=$PWD/ld-of-mine.so" -
hostile ./evil
expect_line told ".*more than the system's own loader.*"
printf '#include <stdio.h>\nunsigned la_version(unsigned v) { fclose(fopen("%s/hacked", "w")); return v; }\n' "$PWD" |
	"${CC:-cc}" -x c -shared -fPIC -o audit.so -
echo 'int main(void) { return 0; }' | "${CC:-cc}" -x c -o evil "-Wl,--audit=$PWD/audit.so" -
hostile ./evil
expect_line told ".*more than the system's own loader.*"
# more words than a header holds
"$LAPLACE" run -q --kernel "$BUILDDIR/build/kernel" -o words.lpl -- true $(seq 100000 109000) || fail "many words: $?"
"$LAPLACE" info --card words.lpl | grep -q 'to make it again  *its command was too long' || fail "the card does not say so"
"$LAPLACE" info --card words.lpl | grep -q "^  program  *$(sha256sum <"$(type -P true)" | cut -d ' ' -f 1)" ||
	fail "the card has lost the program"
reproduce 3 words.lpl
