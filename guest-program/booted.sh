# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# booted.sh: the guest, booted once for all runs on the same machine, and saved where it begins to look at its disks;
# a run begins with that (docs/bochsrc.md, `snapshot='), and its trace is what it would have been with a boot.  Where a
# root's own init boots (--init), the guest is saved once more, when that is done, with what its disks are by then; a run
# of the same program on the same disks begins with that.  Read by `run`, which has these variables.
#
# In the cache, beside the guest: booted-KEY/, of each machine: machine/, the snapshot, and serial, what the console
# had said by then; disks/ and state, what these were, if it is one with disks; booted-KEY.lock, held by those that use
# it, and alone by one that makes or removes it.
# shellcheck disable=SC2034,SC2154 # of others, which are set there
: "${here:?}"

readonly MOST_BOOTED=4	# machines that are kept; each has a hundred megabytes or so, and one with disks these, too
readonly BOOTED_DISKS=(disk output secret swap)	# of them those that there are

# By all that the machine is before it looks at its disks: how they are called and how large they are is in it.
booted_key() {
	{
		grep -v '^#' machine.bochsrc
		sed -n '/^#: \(version\|simulator\|firmware\|guest\) /p' machine.bochsrc
		stat -c '%n %s' disk output swap 2>/dev/null || true
	} | sha256sum | cut -c 1-16
}

# Those that were used longest ago, and are not used now, go.
remove_old_booted() { # CACHE
	local old lock
	find "$1" -maxdepth 1 -type d -name 'booted-*' -printf '%T@ %f\n' | sort -rn | tail -n +$((MOST_BOOTED + 1)) |
		while read -r _ old; do
			exec {lock}>"$1/$old.lock"
			! flock -n "$lock" || rm -rf "$1/${old:?}"
			exec {lock}>&-
		done
}

# By that, and by all that is on the disks, which a root's own init reads and writes while it boots.  Nothing, if the
# recipe, which has it, was too long.
init_key() {
	local of_root
	of_root=$(grep '^#: \(disk\|root\) ' machine.bochsrc) || return 0
	printf '%s\0' "$(booted_key)" "$of_root" "$program_hash" "$input_hash" | sha256sum | cut -c 1-16
}

# What the disks are that were kept with a machine: whatever is written to them changes it.
state_of_disks() { # DIRECTORY
	# shellcheck disable=SC2153 # kept.sh has it
	(cd "$1/disks" && stat --printf "$STATE" -- *)
}

# Whether it is there, and whole.
is_booted() {
	[ -e "$booted/serial" ] || return 1
	[ ! -e "$booted/disks" ] || [ "$(state_of_disks "$booted" | sha256sum)" = "$(cat "$booted/state" 2>/dev/null)" ]
}

# What the guest had on its disks, if that matters.
take_disks() {
	[ ! -e "$booted/disks" ] || cp -a --reflink=auto "$booted/disks/." "$booted/serial" "$scratch/" 2>/dev/null
}

# Whatever the run reduces its references to: it is the simulator that counts.
save_machine() { # DIRECTORY [OPTION...]
	local reduction=sad:64
	[[ $simulator != *-all ]] || reduction=none
	long "$laplace" record --progress never -r $reduction --start off --flush "$flush" -o "$1/trace.lpl" \
		--snapshot "$1/machine" "${@:2}" machine.bochsrc >"$scratch/boot.log" 2>&1 </dev/null || true
	rm -rf "$1"/trace.lpl* ./*.lock
	[ -e "$1/machine/place" ]
}

# The last is serial: with it the guest is whole.
make_booted() { # DIRECTORY
	cd "$scratch" || return 1
	save_machine "$1" && mv serial "$1/serial"
}

# With its own disks, which change meanwhile.
make_booted_by_init() { # DIRECTORY MACHINE
	local name
	mkdir "$1/disks" && cd "$1/disks" || return 1
	for name in guest.iso machine.bochsrc serial "${BOOTED_DISKS[@]}"; do
		[ ! -e "$scratch/$name" ] || cp -a --reflink=auto "$scratch/$name" . || return 1
	done
	save_machine "$1" --from "$2" && rm -f guest.iso machine.bochsrc log && sync ./* && mv serial "$1/new" &&
		state_of_disks "$1" | sha256sum >"$1/state" && mv "$1/new" "$1/serial"
}

# Sets `booted`, which is made if it is not there; status 1: it cannot be.
have_booted() { # KEY COMMAND [ARGUMENT...]: what makes it
	booted=$cache/booted-$1
	exec {booted_lock}>"$booted.lock"
	flock -s "$booted_lock"
	if ! is_booted; then
		flock "$booted_lock"
		if ! is_booted; then
			rm -rf "$booted"
			# it may have what only this user may read
			mkdir -m 700 "$booted"
			("$2" "$booted" "${@:3}") || {
				rm -rf "$booted"
				return 1
			}
			remove_old_booted "$cache"
		fi
		flock -s "$booted_lock"
	fi
	touch "$booted"
}

# The recording begins with a guest that has booted, if there can be one; and with one that its own init has booted.
begin_booted() {
	local first key
	grep -q '^#: simulator ' "$scratch/machine.bochsrc" || return 0
	key=$(cd "$scratch" && booted_key)
	[ ! -t 2 ] || [ -e "$cache/booted-$key/serial" ] || say "booting the guest (once for a machine) ..."
	have_booted "$key" make_booted || {
		say "the guest cannot be saved when it has booted, and boots for this run alone"
		booted=''
		return 0
	}
	cp "$booted/serial" "$scratch/serial"
	first=$booted
	key=$([ "$own_init" = no ] || { cd "$scratch" && init_key; })
	if [ -n "$key" ]; then
		[ ! -t 2 ] || [ -e "$cache/booted-$key/serial" ] || say "booting the --root's own init (once for what is run) ..."
		if have_booted "$key" make_booted_by_init "$first/machine"; then
			take_disks || die "no room for the guest's disks in ${TMPDIR:-/tmp}"
		else
			booted=$first	# and what the matter is shows in the run itself
		fi
	fi
	record+=(--from "$booted/machine")
}

# A recording that did not begin, since the snapshot is not what it was: the next run makes another.
remove_damaged_booted() {
	if [ -n "$booted" ] && grep -q "^laplace: the snapshot .* is damaged" "$scratch/err" 2>/dev/null; then
		rm -rf "$booted"
		die "the guest that was booted before is damaged, and was removed: run it again"
	fi
}
