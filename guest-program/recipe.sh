# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# recipe.sh: what a run was made of, for the trace to say (`laplace info --card`, `laplace reproduce`).
# Read by `run`, which has these variables.
#
# The trace's header has the machine's bochsrc: so the recipe is comments in that, `#: KEY VALUE`, a line
# each, with bytes other than letters, digits and ._/=+@- as %XX.  Bochs takes lines of 500 bytes:
# what is longer goes on after `#:+ `.
# shellcheck disable=SC2154 # they are set there

readonly MOST_RECIPE=45000	# bytes: a header's bochsrc has 64 KB at most
readonly MOST_LISTED=64		# of files among the arguments

# A line of it, for encode(): its fields with a null byte after each, and how many there are before them.
put() { # KEY VALUE...
	printf '%s\0' $# "$@"
}

# Makes lines of them: all at once, since it is processes that take time.
encode() {
	od -An -v -tx1 -w1 | LC_ALL=C awk '
		BEGIN {
			for (i = 0; i < 256; i++) {
				c = sprintf("%c", i)
				shown[sprintf("%02x", i)] = c ~ /[A-Za-z0-9._\/=+@-]/ ? c : sprintf("%%%02X", i)
			}
		}
		$1 != "00" { text = text shown[$1]; next }
		!fields { fields = text + 0; field = 0; line = ""; text = ""; next }
		{
			if (field++ == 0)
				key = text
			else
				line = line (field > 2 ? " " : "") text
			text = ""
			if (field < fields)
				next
			fields = 0
			printf "#: %s %s\n", key, substr(line, 1, 400)
			for (at = 401; at <= length(line); at += 400)
				printf "#:+ %s\n", substr(line, at, 400)
		}'
}

hash_of() { # FILE
	local hash
	hash=$(sha256sum <"$1")
	echo "${hash%% *}"
}

# All at once: see encode().  Of what is no file, nothing.
print_hashes() { # [KEY FILE]...
	local hash
	local -a keys=() files=()
	while [ $# -gt 0 ]; do
		if [ -f "$2" ] && [ -r "$2" ]; then
			keys+=("$1")
			files+=("$2")
		fi
		shift 2
	done
	[ ${#files[@]} -gt 0 ] || return 0
	local -i i=0
	# before it is a backslash where it writes a name in another way
	sha256sum -- "${files[@]}" | while read -r hash _; do
		put "${keys[i]}" "${hash#\\}" "${files[i]}"
		i+=1
	done
}

# What the kernel makes up is not taken along, and may have no end.
is_of_kernel() { # FILE
	case $(realpath -- "$1") in
	/proc/* | /sys/*) return 0 ;;
	esac
	return 1
}

# What has to be the same for the trace to be the same.
print_made_of() {
	local path line version
	local -a made=(simulator "$simulator") files=()
	version=$("$laplace" --version)
	version=${version%%$'\n'*}
	put version "${version##* }"
	while IFS= read -r line; do
		[[ ! $line =~ ^(vga)?romimage:\ file=\"?([^\",]*) ]] || made+=(firmware "${BASH_REMATCH[2]}")
	done <"$scratch/machine.bochsrc"
	print_hashes "${made[@]}"
	put kernel "$(sed -n 's/^KERNEL_RELEASE=//p' "${image%/*}/made")"
	put guest "$guest_hash"
	[ -z "$tree_hash" ] || put disk "$tree_hash"
	if [ -n "$root" ]; then
		is_of_kernel "$root" || files+=(root "$root")
	else
		files+=(program "$program")
		for path in "${arguments[@]:1}" "${with[@]}"; do
			[ ${#files[@]} -lt $((2 * MOST_LISTED + 2)) ] || break
			if [ -f "$path" ] && ! is_of_kernel "$path"; then
				files+=(file "$path")
			fi
		done
	fi
	print_hashes "${files[@]}"
}

# What `laplace run` has to be given to do it again.
print_command() {
	local -i i
	[ -n "$root" ] || put directory "$PWD"
	put option cpu "$cpu"
	if [ "$usable" = 0 ]; then
		put option memory "$memory"
	else
		put option usable-memory "$usable"
	fi
	put option swap "$swap"
	put option disk "$disk"
	put option reduce "$reduce"
	[ -z "$only" ] || put option only "$only"
	[ -z "$level" ] || put option level "$level"
	[ "$timeout" = 0 ] || put option timeout "$timeout"
	[ "$linger" = 0 ] || put option linger "$linger"
	[ "$seed" = 0 ] || put option seed "$seed"
	[ -z "$events" ] || put option events "$events"
	[ "$print_limit" = 4096 ] || put option print-limit "$print_limit"
	[ -z "$kernel" ] || put option kernel "$kernel"
	[ -z "$root" ] || put option root "$(realpath -- "$root")"
	for ((i = 0; i < ${#given[@]}; i += 2)); do
		put option "${given[i]}" "${given[i + 1]}"
	done
	[ "$clear_env" = no ] || put option clear-env
	[ "$take_here" = no ] || put option here
	[ "$own_init" = no ] || put option init
	[ "$physical" = no ] || put option physical
	[ "$code" = no ] || put option code
	[ "$walks" = no ] || put option walks
	[ "$whole" = no ] || put option whole
	put input "$input_bytes" "$input_hash"
	for path in "${arguments[@]}"; do
		put argument "$path"
	done
}

print_recipe() {
	local path recipe
	recipe=$({ print_made_of && print_command; } | encode)
	if [ ${#recipe} -le $MOST_RECIPE ]; then
		printf '%s\n' "$recipe"
		return
	fi
	put too-long ${#recipe} | encode
	recipe=$(print_made_of | encode)
	[ ${#recipe} -gt $MOST_RECIPE ] || printf '%s\n' "$recipe"
}

# What only shows when the guest is made: whether it is as another recipe, a file of KEY VALUE lines, has it.
check_recipe() { # RECIPE
	local key now other=()
	local -A what=([kernel]="the guest's kernel" [guest]="what the guest boots from"
		[disk]="what is on the guest's disk (libraries, files, when they were changed, environment, user)")
	for key in kernel guest disk; do
		now=$(sed -n "s/^#: $key //p" "$scratch/machine.bochsrc")
		if grep -q "^$key " "$1" && ! grep -qxF "$key $now" "$1"; then
			other+=("${what[$key]}")
		fi
	done
	[ ${#other[@]} = 0 ] || die "not as it was: $(printf '%s; ' "${other[@]}" | sed 's/; $//')"
}
