# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# ready.sh: runs that were made ready before, so that the same one begins at once.  Read by `run`, which has these
# variables.
#
# In the cache: ready-KEY/, named by all that a run is given (options, arguments, environment, user, directory, input), but
# for where the trace goes and what is said meanwhile:
# run/, what it has in its directory when its machine begins; record, the options of `laplace record'; files and
# passed, the paths that had a say in it, as kept.sh has them; and state, what they were then.  Whatever is another now
# makes another state, and the run is made ready anew.  A run that wants more than what kept.sh keeps, or a kernel that
# was built in a tree, is not kept.  All may be removed.
# shellcheck disable=SC2154 # they are set there
: "${here:?}"

readonly MOST_READY=4	# runs that are kept

# Sets `ready`, where this run is; empty, if it cannot be.
find_ready() { # OPTION... -- PROGRAM [ARGUMENT...]
	local name
	local -a environment=() given=()
	ready=''
	# as what the arguments name, too
	find_list
	[ -n "$list" ] && [ "$whole$swap${#keep[@]}" = no00 ] && find_kernel_env || return 0
	take_input
	while [ "$1" != -- ]; do
		case $1 in
		--output=* | --overwrite | --quiet | --progress=* | --status-file=* | --control=*) ;;
		*) given+=("$1") ;;
		esac
		shift
	done
	for name in users_path HOME USER LOGNAME SHELL TERM TZ TMPDIR LANG LANGUAGE LD_LIBRARY_PATH "${!LC_@}" "${!LAPLACE_@}"; do
		environment+=("$name=${!name-}")
	done
	ready=$(printf '%s\0' "${given[@]}" "$@" "$list" "$called" "${environment[@]}" "$EUID" "${GROUPS[0]}" "$users_mask" "$laplace" \
		"$input_hash" | sha256sum)
	ready=$cache/ready-${ready:0:32}
}

# Sets `kernel_env`, what `guest` takes the guest's kernel from.
find_kernel_env() {
	case $kernel in
	/*) kernel_env=$kernel/kernel.env ;;
	*) kernel_env=$cache/kernel${kernel:+-$kernel}/kernel.env ;;
	esac
	[ -e "$kernel_env" ]
}

find_state_of_files() { # DIRECTORY: sets `state`
	# shellcheck disable=SC2153 # kept.sh has it
	state=$({ states_of "$1/files" "$STATE" && states_of "$1/passed" '%F %n\0'; } | sha256sum)
	state=${state:0:32}
}

# Status 1: there is none.  Sets `record`, `image` and `booted`.
take_ready() {
	local state before
	[ -n "$ready" ] && [ -e "$ready/state" ] || return 1
	find_state_of_files "$ready"
	read -r before <"$ready/state"
	[ "$state" = "$before" ] || return 1
	mapfile -d '' -t record <"$ready/record"
	read -r image <"$ready/image"
	booted=${record[-1]%/machine}
	exec {booted_lock}>"$booted.lock"
	flock -s "$booted_lock"
	if [ ! -e "$booted/serial" ] || ! cp -a --reflink=auto "$ready/run/." "$scratch/" 2>/dev/null; then
		exec {booted_lock}>&-
		rm -f "$scratch"/{guest.iso,machine.bochsrc,disk,serial}
		record=() booted=''
		return 1
	fi
	touch -c "$ready" "$booted"
}

# A run that begins with a guest that has booted, and has a disk that is kept.
keep_ready() {
	local state making=$cache/making-$$.ready path
	if [ -z "$ready" ] || [ -z "$booted" ] || [ -z "$list" ] || [ ! -e "$list/passed" ]; then
		return 0
	fi
	mkdir "$making" "$making/run" 2>/dev/null || return 0
	cp "$list/passed" "$making/passed"
	# beside what the program needs: arguments that nothing is taken for, and all that makes a guest of it
	{
		cat "$list/files"
		for path in "$program" "${arguments[@]:1}"; do
			find_plain "$path"
			[ ! -f "$plain" ] || printf '%s\0' "$plain"
		done
		printf '%s\0' "$here"/* "$here"/../{disk-images,linux-module}/* \
			"$here/../laplace/include/laplace/kernel_trace_record.h" "$kernel_env"
		mapfile -t firmware < <(sed -n 's/^\(vga\)\?romimage: file="\?\([^",]*\).*/\2/p' "$scratch/machine.bochsrc")
		printf '%s\0' "$laplace" "$simulator" "${firmware[@]}"
		realpath -z -- "$laplace" "$simulator" "${firmware[@]}"
	} >"$making/files"
	if old_enough "$making/files" 0; then
		# what is made in the cache stays what it is
		printf '%s\0' "$image"/* "$booted"/{serial,machine,machine/place} >>"$making/files"
		find_state_of_files "$making"
		printf '%s\0' "${record[@]}" >"$making/record"
		echo "$image" >"$making/image"
		echo "$state" >"$making/state"
		# with its name it is whole
		if cp -a --reflink=auto "$scratch"/{guest.iso,machine.bochsrc,disk,serial} "$making/run/" 2>/dev/null &&
			sync "$making/run/disk" && rm -rf "$ready"; then
			mv -T "$making" "$ready" 2>/dev/null || true
		fi
	fi
	rm -rf "$making"
	remove_old ready- $MOST_READY
}
