# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# disk.sh: the guest's disk: what is put on it before the run, and what is taken from it afterwards.  Read
# by `run`, which has these options; `scratch` is the directory of the disk, and `die` says why there
# is none.
# shellcheck disable=SC2034,SC2154 # of others, which are set there
: "${here:?}"

readonly MOST_BYTES=4000000000	# of what is taken along
readonly ROOM_STEP=67108864	# bytes, of a disk that is made
readonly ROOM_FOR_INPUT=8388608	# of what each disk has to spare
readonly HASH_OF_NOTHING=e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
readonly systems_path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

# ---- making it ----

# So many bytes at least, in whole cylinders, as Bochs counts them.
cylinders() { # BYTES
	local cylinder=$((16 * 63 * 512))
	echo $((($1 / cylinder + 1) * cylinder))
}

# In steps, so that many programs have the same machine (booted.sh).
in_steps() { # BYTES
	echo $((($1 + ROOM_STEP - 1) / ROOM_STEP * ROOM_STEP))
}

make_room() { # FILE BYTES
	truncate -s "$(cylinders "$2")" "$1" || die "$1: no room for $(($2 / 1000000)) MB"
}

# As the program will have it.
pythonpath() {
	local variable value=''
	for variable in "${environment[@]}"; do
		[[ $variable != PYTHONPATH=* ]] || value=${variable#*=}
	done
	printf '%s' "$value"
}

# As needs lists them: the guest has them by the same names.
take_from_here() { # TREE
	local name
	[ "$clear_env" = no ] || unset TZ
	PYTHONPATH=$(pythonpath) "$here/needs" --cpu "$cpu" "${with[@]}" "${taken_here[@]}" "${observed[@]}" \
		--looked "$scratch" "$program" "${arguments[@]:1}" >"$scratch/needs" || after $? needs
	note_needs
	# what cannot be read is not for the program, either
	while IFS= read -r -d '' path; do
		if [ -L "$path" ] || [ -r "$path" ]; then
			printf '%s\0' "${path#/}"
		fi
	done <"$scratch/needs" >"$scratch/readable"
	bytes=$(cd / && { LC_ALL=C xargs -0 -a "$scratch/readable" stat -c '%F %s' -- 2>/dev/null || true; } |
		awk '/^regular/ { sum += $NF } END { printf "%.0f\n", sum }')
	check_size
	(cd / && cpio --null --quiet -pdm "$1" <"$scratch/readable") 2>"$scratch/cpio.log" ||
		die "not all that ${arguments[0]} needs can be copied: $(why "$scratch/cpio.log")"
	make_in_tree "$1" "$directory" || die "$directory: cannot be made in the guest"
	for name in "${keep[@]}"; do
		name=$(in_guest "$name" && echo .)
		make_in_tree "$1" "${name%/*}" || true
	done
	# which have what it needs of them, or nothing
	for name in "${HOME:-}" "${TMPDIR:-}"; do
		[ "$clear_env" = no ] || break
		[[ $name != /* ]] || make_in_tree "$1" "$name" || true
	done
}

copy_directory() { # FROM TREE
	(cd "$1" && find . -depth ! -type b ! -type c ! -type s -print0 | cpio --null --quiet -pdm "$2")
}

# All of it but devices, which are the guest's own, and sockets.
take_root() { # TREE
	note_root
	if [ "$of_root" = directory ]; then
		bytes=$(du -sb -- "$root" 2>/dev/null | cut -f 1)
		check_size
		long copy_directory "$root" "$1" 2>"$scratch/cpio.log" ||
			die "--root $root: not all of it can be copied: $(why "$scratch/cpio.log")"
	else
		long tar --force-local -xf "$root" -C "$1" --anchored --exclude='./dev/*' --exclude='dev/*' \
			2>"$scratch/tar.log" ||
			die "--root $root: cannot be unpacked: $(head -n 1 "$scratch/tar.log")"
		find "$1" \( -type b -o -type c -o -type s \) -delete 2>"$scratch/tar.log" ||
			die "--root $root: not all of it can be looked through: $(head -n 1 "$scratch/tar.log")"
		bytes=$(du -sb -- "$1" | cut -f 1)
		check_size
	fi
	find_in_root "$1"
}

# Sets `place`, where a path leads in a tree: its links lead where they lead in the guest, and what this
# machine has by their names is no matter.  No part of `place` is a link, or would lead out of the tree; and
# the tree is ours alone while it is made.  What is not there yet is a part as any other.
# Status 1: it leads nowhere, for too many links, or through what is no directory.
find_in_tree() { # TREE PATH
	local rest=$2 part links=0
	place=''
	while [ -n "$rest" ]; do
		take_part
		case $part in
		'' | .) continue ;;
		esac
		[ ! -e "$1$place" ] || [ -d "$1$place" ] || return 1
		if [ "$part" = .. ]; then
			place=${place%/*}
		elif [ -L "$1$place/$part" ]; then
			links=$((links + 1))
			[ $links -le 40 ] || return 1
			part=$(readlink -- "$1$place/$part" && echo .)	# it may end in a newline
			part=${part%$'\n.'}
			[[ $part != /* ]] || place=''
			rest=$part/$rest
		else
			place+=/$part
		fi
	done
}

is_in_tree() { # TREE PATH
	local place
	find_in_tree "$1" "$2" && [ -e "$1$place" ]
}

# A directory, where the guest will find it by this name.  Status 1: there is no place for it.
make_in_tree() { # TREE PATH
	local place
	find_in_tree "$1" "$2" && mkdir -p "$1$place" 2>/dev/null
}

is_in_root() { # TREE, or '' if it is on the disk; PATH
	if [ -z "$1" ]; then
		[ -n "$(kind_on_disk "$2")" ]
	else
		is_in_tree "$1" "$2"
	fi
}

# Sets `init`, where that is wanted.
find_init() { # as is_in_root has it
	local place
	init=''
	[ "$own_init" = yes ] || return 0
	for place in /usr/lib/systemd/systemd /lib/systemd/systemd; do
		if is_in_root "$1" $place; then
			init=$place
			return
		fi
	done
	die "--root $root has no systemd, which is the one --init that can be taken; its package is systemd-sysv"
}

# By the path that it was called by, or where a shell of root's would look.
find_in_root() { # as is_in_root has it
	local place
	find_init "$1"
	called=${arguments[0]}
	case $called in
	*/*) is_in_root "$1" "/$called" || die "--root $root has no $called" ;;
	*)
		for place in /usr/local/sbin /usr/local/bin /usr/sbin /usr/bin /sbin /bin; do
			if is_in_root "$1" "$place/$called"; then
				called=$place/$called
				return
			fi
		done
		die "--root $root has no program $called"
		;;
	esac
}

check_size() {
	[ "$bytes" -le $MOST_BYTES ] ||
		die "${root:-${arguments[0]} and what it needs} is $((bytes / 1000000)) MB, more than a" \
			"guest's disk takes ($((MOST_BYTES / 1000000)) MB)"
}

# Of names, owners, modes, contents, and when files were changed.
hash_of_tree() { # TREE
	{
		tar --sort=name --mtime=@0 --numeric-owner --format=gnu -cf - -C "$1" .
		(cd "$1" && find . -type f -printf '%p %T@\n' | LC_ALL=C sort)
	} | sha256sum | cut -d ' ' -f 1
}

# What the disk has, and what else has to be there.  Sets `room`, bytes, and `inodes`, for it, and `base_hash`; what
# fills it sets `bytes` and (find_in_root) `called` and `init`.
make_tree() { # TREE
	local tree=$1 name
	mkdir -p "$tree"
	if [ -n "$root" ]; then
		take_root "$tree"
	else
		take_from_here "$tree"
	fi
	# a link of somebody's root file system leads nowhere in ours
	rm -rf "$tree/.laplace"
	mkdir "$tree/.laplace"
	# what these are links to is for the tree to say, and left as it is
	for name in dev proc sys run tmp var var/tmp; do
		[ -e "$tree/$name" ] || [ -L "$tree/$name" ] || [ -L "$tree/${name%/*}" ] ||
			mkdir "$tree/$name" || die "--root $root: /$name cannot be made"
	done
	for name in tmp var/tmp; do
		[ -L "$tree/$name" ] || [ -L "$tree/${name%/*}" ] || chmod 1777 "$tree/$name"
	done
	# what is ours is of no day, and neither are directories that were made to hold what is listed
	find "$tree" -newer "$scratch/begun" -print0 | xargs -0 touch -h -m -d "@$E2FSPROGS_FAKE_TIME" ||
		die "the guest's disk cannot be made"
	base_hash=$(hash_of_tree "$tree")
	room=$(($(in_steps $((bytes * 5 / 4 + (32 + disk) * 1048576))) + input_room))
	inodes=$(($(find "$tree" | wc -l) + 16384))
}

# The last one of a name holds.
without_doubles() { # VARIABLE...: sets `variables`
	local -A value=()
	local variable
	for variable; do
		value[${variable%%=*}]=${variable#*=}
	done
	variables=()
	for variable in $(printf '%s\n' "${!value[@]}" | sort); do
		variables+=("$variable=${value[$variable]}")
	done
}

# What start-program.c reads.
write_program() { # DIRECTORY
	local user group terminal=${TERM:-dumb}
	local -a variables=()
	if [ -n "$root" ]; then
		user=0 group=0
		[ "$clear_env" = no ] || terminal=dumb
		variables=("PATH=$systems_path" HOME=/root USER=root LOGNAME=root "TERM=$terminal" PWD=/
			"${environment[@]}")
	else
		user=$(id -u) group=$(id -g)
		[ -z "${LAPLACE_LISTS_SYMBOLS:-}" ] || user=0 group=0
		print_environment
	fi
	without_doubles "${variables[@]}"
	printf '%s\0' "$timeout" "$linger" "$swap" "$seed" "$events" "$usable" "$user" "$group" "$users_mask" "$init" \
		"$directory" "$called" "${#arguments[@]}" "${arguments[@]}" "${variables[@]}" >"$1/program"
	chmod 644 "$1/program" "$1/stdin"
}

# Standard input, which a terminal is not.
copy_input() { # FILE
	if [ -t 0 ] || [ /dev/stdin -ef /dev/null ]; then
		: >"$1"
	else
		long head -c $((MOST_BYTES + 1)) >"$1" || die "standard input cannot be taken along"
		[ "$(stat -c %s "$1")" -le $MOST_BYTES ] ||
			die "standard input is longer than what a guest's disk takes ($((MOST_BYTES / 1000000)) MB)"
	fi
}

# Sets `input_bytes`, `input_hash`, and `input_room`, what it adds to a disk that has some to spare.
take_input() {
	copy_input "$scratch/stdin"
	input_bytes=0 input_hash=$HASH_OF_NOTHING
	if [ -s "$scratch/stdin" ]; then
		input_bytes=$(stat -c %s "$scratch/stdin")
		input_hash=$(hash_of "$scratch/stdin")
	fi
	input_room=0
	[ "$input_bytes" -lt $ROOM_FOR_INPUT ] || input_room=$(in_steps $((input_bytes * 5 / 4)))
}

# Of the environment what a program looks at, and a run of another day has, too; or (--clear-env) what is the
# same for everybody.
print_environment() {
	local name
	if [ "$clear_env" = yes ]; then
		variables+=("PATH=$systems_path" HOME=/ TERM=dumb)
	else
		[ -z "$users_path" ] || variables+=("PATH=$users_path")
		for name in HOME USER LOGNAME SHELL TERM TZ TMPDIR LANG LANGUAGE LD_LIBRARY_PATH "${!LC_@}"; do
			[ -z "${!name:-}" ] || variables+=("$name=${!name}")
		done
	fi
	variables+=("PWD=$directory" "${environment[@]}")
}

# Of an image, which is not unpacked.
make_disk_of_image() {
	note_root
	long "$here/image" "$root" "$scratch/disk" || after $? image
	make_room "$scratch/disk" $(($(stat -c %s "$scratch/disk") + (32 + disk) * 1048576 + input_room))
	resize2fs "$scratch/disk" >"$scratch/resize2fs.log" 2>&1 ||
		die "--root $root: cannot be given room: $(why "$scratch/resize2fs.log")"
	find_in_root ''
	[ -z "$(kind_on_disk /.laplace)" ] || die "--root $root: has a /.laplace, which is ours"
	keep_disk "$(($(stat -c %b "$scratch/disk") * 512))"
}

# What describes the program is put beside what the disk has.
put_program() {
	local name field
	mkdir "$scratch/written"
	{
		[ "$of_root" != image ] || echo 'mkdir /.laplace'
		echo 'cd /.laplace'
		for name in program stdin; do
			printf 'write %s %s\nsif %s uid 0\nsif %s gid 0\n' $name $name $name $name
			printf 'dump %s ../written/%s\n' $name $name
		done
		for name in program stdin .; do
			for field in atime mtime ctime crtime; do
				printf 'sif %s %s @%d\nsif %s %s_extra 0\n' $name $field "$E2FSPROGS_FAKE_TIME" $name $field
			done
		done
	} >"$scratch/commands"
	(cd "$scratch/own" && debugfs -w -f ../commands ../disk) >"$scratch/debugfs.log" 2>&1 || true
	for name in program stdin; do
		cmp -s "$scratch/own/$name" "$scratch/written/$name" ||
			die "${root:+--root $root: }/.laplace/$name cannot be written to the guest's disk"
	done
	rm -r "$scratch/written"
}

# When files were copied, and last read, is of no interest; but what a kernel does depends on it, and a run
# would not repeat.
forget_times() {
	local used inode
	used=$(dumpe2fs -h "$scratch/disk" 2>/dev/null |
		awk '/^Inode count:/ { count = $3 } /^Free inodes:/ { print count - $3 }')
	for ((inode = 2; inode <= used; inode++)); do
		printf 'sif <%d> %s @%d\nsif <%d> %s_extra 0\n' $inode ctime "$E2FSPROGS_FAKE_TIME" $inode ctime \
			$inode atime "$E2FSPROGS_FAKE_TIME" $inode atime
	done >"$scratch/commands"
	(cd "$scratch" && debugfs -w -f commands disk) >"$scratch/debugfs.log" 2>&1 || true
}

make_disk_of_tree() {
	local bytes room inodes
	make_tree "$scratch/tree"
	make_room "$scratch/disk" "$room"
	long mke2fs -q -F -t ext4 -m 0 -N "$inodes" -O ^metadata_csum -E hash_seed=00000000-0000-4000-8000-000000000000 \
		-U 00000000-0000-4000-8000-000000000001 -d "$scratch/tree" "$scratch/disk" \
		>"$scratch/mke2fs.log" 2>&1 || die "the guest's disk cannot be made: $(why "$scratch/mke2fs.log")"
	forget_times
	chmod -R u+rwX "$scratch/tree"
	rm -rf "$scratch/tree"
	keep_disk "$bytes"
}

# Sets `program_hash`, of what describes the program, and `tree_hash`, of what is on a disk that we fill, for the recipe.
make_disk() {
	local init='' base_hash=''
	[ -n "$input_hash" ] || take_input
	if take_kept_disk; then
		[ -z "$root" ] || find_in_root ''
	elif [ "$of_root" = image ]; then
		make_disk_of_image
	else
		make_disk_of_tree
	fi
	mkdir "$scratch/own"
	mv "$scratch/stdin" "$scratch/own/stdin"
	write_program "$scratch/own"
	put_program
	program_hash=$(hash_of "$scratch/own/program")
	if [ "$of_root" != image ]; then
		tree_hash=$(printf '%s\n' "$base_hash" "$program_hash  -" "$input_hash" | sha256sum)
		tree_hash=${tree_hash%% *}
	fi
	rm -rf "$scratch/own"
}

make_swap() {
	[ "$swap" != 0 ] || return 0
	make_room "$scratch/swap" $((swap * 1048576))
	mkswap -q -U 00000000-0000-4000-8000-000000000002 "$scratch/swap" >"$scratch/mkswap.log" 2>&1 ||
		die "no swap can be made: $(why "$scratch/mkswap.log")"
	echo 'ata1-slave: type=disk, path=swap, mode=flat' >>"$scratch/machine.bochsrc"
}

# ---- taking from it ----

# Whatever the guest made of its disk, what is taken from it goes to places that we choose.  How long a file
# is, is the guest's to say: one that is longer than the disk has holes, and is taken only to a disk that
# could hold it.  Holes stay holes: all of it comes through a pipe.
from_disk() { # PATH FILE
	local size most
	rm -f "$2"
	size=$(stat_on_disk "$1" | sed -n 's/.* Size: \([0-9]*\)$/\1/p' | head -n 1)
	[ -n "$size" ] || return 1
	most=$(stat -c %s -- "$scratch/disk")
	if [ ${#size} -gt 18 ] || [ "$size" -gt "$most" ]; then
		complain "$1: is $size bytes long, more than all of the guest's disk ($most);" \
			"a greater --disk allows it"
		return 1
	fi
	long dd bs=65536 iflag=fullblock conv=sparse status=none of="$scratch/taken" \
		< <(cd "$scratch" && exec debugfs -R "dump \"$1\" /dev/stdout" disk 2>debugfs.log) || true
	if [ "$(stat -c %s -- "$scratch/taken" 2>/dev/null)" != "$size" ]; then
		rm -f "$scratch/taken"
		complain "$1: cannot be taken from the guest's disk whole"
		return 1
	fi
	mv "$scratch/taken" "$2"
}

stat_on_disk() { # PATH
	(cd "$scratch" && debugfs -R "stat \"$1\"" disk 2>/dev/null) || true
}

# "TYPE MODE" of what is there: regular, directory, symlink ..., and in octal; or nothing.
kind_on_disk() { # PATH
	stat_on_disk "$1" |
		sed -n 's/^Inode: .* Type: \([a-z]*\) *Mode: *\([0-7]*\).*/\1 \2/p' | head -n 1
}

# A file that the program left; status 1: there is none.
keep_file() { # PATH
	local path type='' mode=0
	path=$(in_guest "$1")
	read -r type mode <<<"$(kind_on_disk "$path")" || true
	case $type in
	regular) ;;
	'')
		complain "--keep $1: the program left no such file"
		return 1
		;;
	*)
		complain "--keep $1: what the program left is no file but a $type"
		return 1
		;;
	esac
	from_disk "$path" "$scratch/kept" || return 1
	# what it may do here is the user's to say: no set-user-ID of a guest's
	chmod "$(printf '%o' $((8#$mode & 8#777 & ~8#$users_mask)))" "$scratch/kept"
	umask 077
	type=0
	long cp -T --sparse=always --preserve=mode -- "$scratch/kept" "$1" || type=1
	umask 022
	return $type
}

# In a root file system the program's directory is its root.
in_guest() { # PATH
	if [ -n "$root" ]; then
		realpath -ms -- "/$1"
	else
		realpath -ms -- "$1"
	fi
}
