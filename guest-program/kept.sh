# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# kept.sh: the disks of programs that were run before, and of roots, kept so that nothing has to be found out and made
# again.  Read by `run`, which has these variables.
#
# In the cache: list-KEY/ of a program, with arguments that are paths of something: the paths that it needs and those
# that were looked at to know that (needs); or of a --root, all that is in it; and disk-STATE-TREE, a disk each, named by
# what those paths are now and by the hash of what is on it (if it was made of files).  STATE has all that a change of a
# file shows in (its inode, and when that was changed), so a disk of that name is what would be made anew; whatever else
# changed makes another name.  A file that changed in the second in which a run began could change again without showing
# it: then nothing is kept, nor where a state is another when the disk is made than it was before.  All may be removed,
# as may making-*, which a run leaves that is killed.
# shellcheck disable=SC2154 # they are set there
: "${here:?}"

readonly MOST_DISKS=8			# that are kept, and lists, and runs (ready.sh)
readonly MOST_DISK_BYTES=1000000000	# of files on one of them
readonly DISK_TOOLS=({/usr,}/sbin/{mke2fs,debugfs} /etc/mke2fs.conf)
readonly STATE='%.9Z %.9Y %f %u %g %s %d %i %n\0'	# of a file, for stat; when its inode was changed comes first

print_path() { # there|in PATH
	printf '%s\0' "$@"
}

# Whether all that has a say may be listed, as far as the options show it.
may_be_kept() {
	[ "$use_kept" = yes ] && [ -d "$cache" ] && [ -w "$cache" ] && [ "${#with[@]}$take_here" = 0no ] && [ ! -b "$root" ] &&
		[ -z "$observe${LAPLACE_REPRODUCES:-}${LAPLACE_LISTS_SYMBOLS:-}" ]
}

# Sets `list`, where the paths are kept; empty, if they cannot be.  Of arguments only those matter that name something:
# with others, needs lists the same.
find_list() {
	list=''
	may_be_kept || return 0
	list=$(
		{
			cat "$here"/{needs,disk.sh,kept.sh,arguments.sh,paths.sh,image}
			if [ -n "$root" ]; then
				printf '%s\0' "$(realpath -- "$root")" "$of_root" "$EUID" "${GROUPS[*]}"
			else
				printf '%s\0' "$directory" "$program" "$cpu" "$EUID" "${GROUPS[*]}" "$clear_env" "${TZ-}" \
					"${LD_LIBRARY_PATH-}" "$PATH"
				each_path_of print_path "${arguments[@]:1}"
			fi
		} | sha256sum
	)
	list=$cache/list-${list:0:32}
}

# What files are.
states_of() { # LIST FORMAT
	(cd / && LC_ALL=C xargs -0 -r -a "$1" stat --printf "$2" -- 2>/dev/null) || true
}

# Sets `state`, of what a disk is made of.
find_state() { # DIRECTORY, with files `files' and `passed'
	state=$(
		{
			printf '%s\0' "$list" "$disk" "$input_room" "${#keep[@]}" "${keep[@]}" "${HOME-}" "${TMPDIR-}"
			states_of "$1/files" "$STATE"
			states_of "$1/passed" '%F %n\0'
			stat --printf "$STATE" "${DISK_TOOLS[@]}" 2>/dev/null || true
		} | sha256sum
	)
	state=${state:0:32}
}

# Status 1: there is none.  Sets `base_hash`.
take_kept_disk() {
	local kept
	find_list
	if [ -z "$list" ] || [ ! -e "$list/passed" ]; then
		return 1
	fi
	find_state "$list"
	for kept in "$cache/disk-$state-"*; do
		[ -e "$kept" ] && cp --reflink=auto "$kept" "$scratch/disk" 2>/dev/null || return 1
		base_hash=${kept##*-}
		touch -c "$kept" "$list"
		return 0
	done
}

# Whether none of these changed since the run began, and so many at least are there.
old_enough() { # LIST COUNT
	states_of "$1" "$STATE" | tr '\n\0' ' \n' |
		awk -v count="$2" -v began="$began" '$1 >= began { late = 1 } END { exit late || NR < count }'
}

# What needs listed is in $scratch/needs, and what it looked at in $scratch/looked and $scratch/passed; or it was more.
# Sets `state`, of what is about to be copied.
note_needs() {
	[ -n "$list" ] && [ -e "$scratch/passed" ] || return 0
	mkdir "$scratch/list"
	cat "$scratch/needs" "$scratch/looked" >"$scratch/list/files"
	mv "$scratch/passed" "$scratch/list/"
	find_state "$scratch/list"
}

# The same of a root: all that is in it, or the file that it is.
note_root() {
	[ -n "$list" ] || return 0
	# what cannot be looked through cannot be copied, either
	find "$(realpath -- "$root")" -print0 >"$scratch/needs" 2>/dev/null || true
	: >"$scratch/looked"
	: >"$scratch/passed"
	note_needs
}

# Where something is made in the cache that is not there until it is whole.  Sets `making`; status 1: there is no room.
begin_making() {
	making=$(mktemp -d "$cache/making-XXXXXX" 2>/dev/null)
}

# What is there by this name is gone at once.
remove_kept() { # PATH
	[ ! -e "$1" ] || { mv -T "$1" "$making/old" && rm -rf "$making/old"; }
}

keep_disk() { # BYTES
	local before=$state
	if [ -z "$list" ] || [ ! -e "$scratch/list" ] || [ "$1" -gt $MOST_DISK_BYTES ] ||
		! old_enough "$scratch/needs" "$(tr -cd '\0' <"$scratch/needs" | wc -c)" || ! old_enough "$scratch/looked" 0 ||
		! find_state "$scratch/list" || [ "$state" != "$before" ] || ! begin_making; then
		list=''
		return 0
	fi
	# it may have what only this user may read
	{ (umask 077 && cp --reflink=auto "$scratch/disk" "$making/disk") && cp -r "$scratch/list" "$making/list" &&
		sync "$making/disk" "$making/list"/* && remove_kept "$list" && mv -T "$making/list" "$list" &&
		mv "$making/disk" "$cache/disk-$state-$base_hash"; } 2>/dev/null || list=''
	end_making list- disk-
}

# Of each kind those that were used longest ago go; what is being copied is only gone by its name.
end_making() { # PREFIX...
	local prefix old
	for prefix; do
		find "$cache" -maxdepth 1 -name "$prefix*" -printf '%T@ %f\n' | sort -rn | tail -n +$((MOST_DISKS + 1)) |
			while read -r _ old; do
				remove_kept "$cache/${old:?}" || true
			done || true
	done
	# which runs left that were killed
	find "$cache" -maxdepth 1 -name 'making-*' -mmin +1500 -exec rm -rf {} + || true
	rm -rf "$making"
	making=''
}
