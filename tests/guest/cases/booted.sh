# shellcheck shell=bash disable=SC2015,SC2154
# SPDX-License-Identifier: LGPL-2.1-or-later
# A run that begins with a guest that was booted before has the trace of one that boots, in all that happened, whatever
# is recorded of it; what is damaged is refused and made again; runs at the same time share one; and old ones go.
export LAPLACE_DATADIR=$SRCDIR LAPLACE_BOCHS=$BUILDDIR/build/bochs/laplace-bochs
# a cache of its own, since others boot and remove machines; with guests that were made
export XDG_CACHE_HOME=$WORK/own
cd "$WORK" || exit
mkdir -p own/laplace
[ ! -e cache/laplace/lock ] ||
	flock cache/laplace/lock find cache/laplace -maxdepth 1 -name 'guest-*' -exec cp -a {} own/laplace/ \;
seq 1 3000 >numbers

run() { # NAME OPTION...
	local name=$1
	shift
	"$LAPLACE" run --kernel "$BUILDDIR/build/kernel" -O -o "$name.lpl" "$@" -- sort -r numbers >"$name.stdout" 2>"$name.stderr" ||
		fail "$name: status $?: $(tail -n 1 "$name.stderr")"
	cmp -s "$name.stdout" <(sort -r numbers) || fail "$name: it printed something else"
}

# All records, with all counts; what the file says of how it was made has another number of bytes sent.
same() { # NAME NAME
	"$PROGRAMS/compare-traces" "$1.lpl" "$2.lpl" || fail "$1 and $2 differ"
	cmp <("$LAPLACE" cat -e "$1.lpl") <("$LAPLACE" cat -e "$2.lpl") || fail "$1 and $2 differ"
}

when_made() {
	find own/laplace -path '*/booted-*/machine/place' -printf '%p %T@ %i\n' | sort
}

booted() {
	find own/laplace -maxdepth 1 -type d -name 'booted-*' | wc -l
}

# sad:64 first, for what is compared with it below
every_too=0
[ "${LONG:-}" != yes ] || every_too=1
for options in '-r sad:64' '-r none --code --walks'; do
	[ "$options" = '-r sad:64' ] || [ $every_too = 1 ] || continue
	# shellcheck disable=SC2086 # several
	run cold $options --cold --quiet
	# shellcheck disable=SC2086
	run first $options
	made=$(when_made)
	# shellcheck disable=SC2086
	run second $options
	same cold first
	cmp first.lpl second.lpl || fail "$options: the second run has another trace"
	verify first.lpl
	[ "$(when_made)" = "$made" ] || fail "$options: it was booted again"
	[ "$options" != '-r sad:64' ] || mv cold.lpl cold-sad.lpl
done
[ "$(booted)" = "$((every_too + 1))" ] || fail "$(booted) machines were booted, not one for each simulator"

# with other disks and processes than were there when it was saved
if [ "${LONG:-}" = yes ]; then
	run swap --swap 8 --memory 96
	run swap-cold --swap 8 --memory 96 --cold
	same swap swap-cold
	[ "$(booted)" = 3 ] || fail "a machine with swap and other memory is not another"
fi

# A disk that was made before is taken again, and one that is made anew is the same; when a file has changed, it is
# another, with what the file has now.
disks() {
	find own/laplace -maxdepth 1 -name 'disk-*' -printf '%f\n' | sort
}
kept=$(disks)
[ "$(grep -c . <<<"$kept")" = 1 ] || fail "not one disk is kept of the same files: $kept"
run second -r sad:64
[ "$(disks)" = "$kept" ] || fail "a disk was made anew"
same cold-sad second
# the same run as one before has all that it needs
rm -r own/laplace/{disk,list}-*
run third -r sad:64
[ -z "$(disks)" ] || fail "a run was made ready anew"
same cold-sad third
# unless a part of it is gone
rm own/laplace/ready-*/run/disk
run fourth -r sad:64
[ "$(disks | grep -c .)" = 1 ] || fail "a run is taken of which the disk is gone"
same cold-sad fourth
# of the same length and time
touch -r numbers time
sed -i 's/^17$/71/' numbers
touch -r time numbers
sleep 1.1
run changed -r sad:64
[ "$(disks | grep -c .)" = 2 ] || fail "there is no other disk of another file"
[ "$("$LAPLACE" info --card changed.lpl | grep '^  file ')" != "$("$LAPLACE" info --card second.lpl | grep '^  file ')" ] || fail "the card has the same hash of another file"
seq 1 3000 >numbers
touch -r time numbers

# one that is damaged
status=0
for memory in own/laplace/booted-*/machine/memory.ram; do
	printf x | dd of="$memory" bs=1 seek=20000000 conv=notrunc status=none
done
"$LAPLACE" run --kernel "$BUILDDIR/build/kernel" -o damaged.lpl -- true >damaged.stdout 2>damaged.stderr || status=$?
[ $status = 125 ] && [ ! -e damaged.lpl ] || fail "a damaged one: status $status"
expect_line damaged.stderr 'laplace run: the guest that was booted before is damaged, and was removed: run it again'
run again -r sad:64
same cold-sad again

[ "${LONG:-}" = yes ] || exit 0

# at the same time
for i in 1 2 3; do
	run together-$i --memory 128 &
	pids[i]=$!
done
for i in 1 2 3; do
	wait "${pids[i]}" || fail "the run $i failed"
done
cmp together-1.lpl together-2.lpl && cmp together-2.lpl together-3.lpl || fail "they differ"
[ "$(booted)" = 4 ] || fail "it was not booted once: there are $(booted)"

# no more than four are kept, and those that were used last
run fifth --memory 112
[ "$(booted)" = 4 ] || fail "$(booted) are kept"
made=$(when_made)
run together-1 --memory 128
[ "$(when_made)" = "$made" ] || fail "one that was used lately is gone"
