# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# ready.sh: runs that were made ready before, so that the same one begins at once.  Read by `run`, which has these
# variables.
#
# In the cache: ready-KEY/, named by all that a run is given (options, arguments, environment, user, directory, input), but
# for where the trace goes and what is printed meanwhile: run/, what it has in its directory when its machine begins;
# record, the options of `laplace record'; image, where its guest is; files and passed, the paths that had a say in it, as
# kept.sh has them; and state, what they were then.  Whatever is another now
# makes another state, and the run is made ready anew.  A run that wants more than what kept.sh keeps, or a kernel that
# was built in a tree, is not kept.  All may be removed.
# shellcheck disable=SC2154 # they are set there
: "${here:?}"

# Sets `run_files`: what is in its directory.  What a guest of its own init has on its disks by then is with that.
find_run_files() {
	run_files=(guest.iso machine.bochsrc)
	[ ! -e "$booted/disks" ] || return 0
	run_files+=(disk serial)
	[ "$swap" = 0 ] || run_files+=(swap)
}

# Sets `ready`, where this run is; empty, if it cannot be.
find_ready() { # OPTION... -- PROGRAM [ARGUMENT...]
	local name
	local -a variables=() given=()
	ready=''
	# its name has program, directory, user and groups in it, and what the arguments name
	find_list
	[ -n "$list" ] && [ "$whole${#keep[@]}" = no0 ] && find_kernel_env || return 0
	# of what comes through a pipe nothing is known until it ends, and what is wrong is to be known before
	[ -t 0 ] || [ /dev/stdin -ef /dev/null ] || [ -f /dev/stdin ] || return 0
	take_input
	while [ "$1" != -- ]; do
		case $1 in
		--output=* | --overwrite | --quiet | --progress=* | --status-file=* | --control=* | --jobs=*) ;;
		*) given+=("$1") ;;
		esac
		shift
	done
	print_environment
	for name in HOME TMPDIR "${!LAPLACE_@}"; do
		variables+=("$name=${!name-}")
	done
	ready=$(printf '%s\0' "${given[@]}" "$@" "$list" "$called" "$kernel_env" "${variables[@]}" "$users_mask" "$laplace" \
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

copy_run() {
	(cd "$ready/run" && cp -a --reflink=auto "${run_files[@]}" "$scratch/") && take_disks
}

# Status 1: there is none.  Sets `record`, `image` and `booted`.  Whether it is as it was shows while it is copied.
take_ready() {
	local state before good=no
	local -a kept=() run_files=()
	[ -n "$ready" ] && read -r before <"$ready/state" && mapfile -d '' -t kept <"$ready/record" &&
		read -r image <"$ready/image" && [ ${#kept[@]} -gt 0 ] || return 1
	booted=${kept[-1]%/machine}
	exec {booted_lock}>"$booted.lock"
	flock -s "$booted_lock"
	find_run_files
	copy_run 2>/dev/null &
	awaited=$!
	find_state_of_files "$ready"
	[ "$state" != "$before" ] || ! is_booted || good=yes
	wait_for "$awaited" || good=no
	if [ $good = no ]; then
		exec {booted_lock}>&-
		(cd "$scratch" && rm -f "${run_files[@]}" "${BOOTED_DISKS[@]}" serial)
		booted=''
		return 1
	fi
	record=("${kept[@]}")
	touch -c "$ready" "$booted" &
} 2>/dev/null

# Beside what the program needs: arguments that nothing is taken for, and all that makes a guest of it.  Those of a root's
# program are names in there.
list_all() {
	local path
	local -a firmware there=("$laplace" "$simulator")
	cat "$list/files" || return 1
	if [ -z "$root" ]; then
		there+=("$program")
		for path in "${arguments[@]:1}"; do
			[ ! -f "$path" ] || there+=("$path")
		done
	fi
	mapfile -t firmware < <(sed -n 's/^\(vga\)\?romimage: file="\?\([^",]*\).*/\2/p' "$scratch/machine.bochsrc")
	there+=("${firmware[@]}")
	for path in "${there[@]}"; do
		find_plain "$path"
		printf '%s\0' "$plain"
	done
	# where links lead, too
	realpath -z -- "${there[@]}" &&
		printf '%s\0' "$here"/* "$here"/../{disk-images,linux-module}/* \
			"$here/../laplace/include/laplace/kernel_trace_record.h" "$kernel_env" "${DISK_TOOLS[@]}"
}

# The disk is of what the files in `list` were then.  (What is made in the cache stays what it is.)
make_ready() { # DIRECTORY, STATE of the disk
	local state
	local -a run_files=()
	find_run_files
	mkdir "$1/run" && cp "$list/passed" "$1/passed" && list_all >"$1/files" && old_enough "$1/files" 0 &&
		printf '%s\0' "$image"/* "$booted"/{serial,machine,machine/place} "${image%/*/*}/symbols-$guest_hash" >>"$1/files" &&
		find_state_of_files "$1" && echo "$state" >"$1/state" && find_state "$list" && [ "$state" = "$2" ] &&
		printf '%s\0' "${record[@]}" >"$1/record" && echo "$image" >"$1/image" &&
		(cd "$scratch" && cp -a --reflink=auto "${run_files[@]}" "$1/run/") && sync "$1"/* "$1/run"/*
}

# A run that begins with a guest that has booted, and has a disk that is kept.
keep_ready() {
	[ -n "$ready" ] && [ -n "$booted" ] && [ -n "$list" ] && [ -e "${image%/*/*}/symbols-$guest_hash" ] || return 0
	begin_making || return 0
	# what a full disk or another run leaves undone is not kept
	if mkdir -m 700 "$making/whole" 2>/dev/null && make_ready "$making/whole" "$state" 2>/dev/null && remove_kept "$ready" 2>/dev/null; then
		mv -T "$making/whole" "$ready" 2>/dev/null || true
	fi
	end_making ready-
}
