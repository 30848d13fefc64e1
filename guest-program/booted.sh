# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# booted.sh: the guest, booted once for all runs on the same machine, and saved where it begins to look at its disks;
# a run begins with that (docs/bochsrc.md, `snapshot='), and its trace is what it would have been with a boot.  Read
# by `run`, which has these variables.
#
# In the cache, beside the guest: booted-KEY/, of each machine: machine/, the snapshot, and serial, what the console
# had said by then; booted-KEY.lock, held by those that use it, and alone by one that makes or removes it.
# shellcheck disable=SC2034,SC2154 # of others, which are set there
: "${here:?}"

readonly MOST_BOOTED=4	# machines that are kept; each has a hundred megabytes or so

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

# Whatever the run reduces its references to: it is the simulator that counts.
make_booted() { # DIRECTORY
	local reduction=sad:64
	[[ $simulator != *-all ]] || reduction=none
	[ ! -t 2 ] || say "booting the guest (once for a machine) ..."
	rm -rf "$1"
	mkdir "$1"
	long "$laplace" record --progress never -r $reduction --start off --flush "$flush" -o "$1/trace.lpl" \
		--snapshot "$1/machine" machine.bochsrc >"$scratch/boot.log" 2>&1 </dev/null || true
	rm -rf "$1"/trace.lpl* ./*.lock
	# the last: with it the guest is whole
	[ -e "$1/machine/place" ] && mv serial "$1/serial" && return
	rm -rf "$1"
	return 1
}

# The recording begins with a guest that has booted, if there can be one.
begin_booted() {
	grep -q '^#: simulator ' "$scratch/machine.bochsrc" || return 0
	booted=$cache/booted-$(cd "$scratch" && booted_key)
	exec {booted_lock}>"$booted.lock"
	flock -s "$booted_lock"
	if [ ! -e "$booted/serial" ]; then
		flock "$booted_lock"
		if [ ! -e "$booted/serial" ]; then
			(cd "$scratch" && make_booted "$booted") || {
				say "the guest cannot be saved when it has booted, and boots for this run alone"
				booted=''
				return 0
			}
			remove_old_booted "$cache"
		fi
		flock -s "$booted_lock"
	fi
	touch "$booted"
	cp "$booted/serial" "$scratch/serial"
	record+=(--from "$booted/machine")
}

# A recording that did not begin, since the snapshot is not what it was: the next run makes another.
remove_damaged_booted() {
	if [ -n "$booted" ] && grep -q "^laplace: the snapshot .* is damaged" "$scratch/err" 2>/dev/null; then
		rm -rf "$booted"
		die "the guest that was booted before is damaged, and was removed: run it again"
	fi
}
