# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# recipe.sh: what a run was made of, for the trace to tell (`laplace info --card`, `laplace reproduce`).
# Read by `run`, whose variables these are.
#
# The trace's header has the machine's bochsrc: so the recipe is comments in that, `#: KEY VALUE`, a line
# each, with bytes other than letters, digits and ._/=+@- as %XX.  Bochs takes lines of 500 bytes:
# what is longer goes on behind `#:+ `.
# shellcheck disable=SC2154 # they are set there

readonly MOST_RECIPE=45000	# bytes: a header's bochsrc has 64 KB at most
readonly MOST_TOLD=64		# of files among the arguments

# In time that is linear in its length.
told_value() { # TEXT
	local LC_ALL=C
	case $1 in
	*[!A-Za-z0-9._/=+@-]*) ;;
	*)
		printf '%s' "$1"
		return
		;;
	esac
	printf '%s' "$1" | od -An -v -tx1 -w1 | awk '
		BEGIN {
			for (i = 0; i < 256; i++) {
				c = sprintf("%c", i)
				shown[sprintf("%02x", i)] = c ~ /[A-Za-z0-9._\/=+@-]/ ? c : sprintf("%%%02X", i)
			}
		}
		{ printf "%s", shown[$1] }'
}

tell() { # KEY VALUE...
	local key=$1 line='' value
	shift
	for value; do
		line+=${line:+ }$(told_value "$value")
	done
	printf '#: %s %s\n' "$key" "${line:0:400}"
	while [ ${#line} -gt 400 ]; do
		line=${line:400}
		printf '#:+ %s\n' "${line:0:400}"
	done
}

hash_of() { # FILE
	sha256sum <"$1" | cut -d ' ' -f 1
}

# What the kernel makes up is not taken along, and may have no end.
tell_hash() { # KEY FILE
	[ -f "$2" ] && [ -r "$2" ] || return 0
	case $(realpath -- "$2") in
	/proc/* | /sys/*) ;;
	*) tell "$1" "$(hash_of "$2")" "$2" ;;
	esac
}

# What has to be the same for the trace to be the same.
tell_made_of() {
	local path firmware
	tell version "$("$laplace" --version | sed -n '1s/.* //p')"
	tell_hash simulator "$simulator"
	while IFS= read -r firmware; do
		tell_hash firmware "$firmware"
	done < <(sed -n 's/^v*g*a*romimage: file="*\([^",]*\).*/\1/p' "$scratch/machine.bochsrc")
	tell kernel "$(sed -n 's/^KERNEL_RELEASE=//p' "${image%/*}/made")"
	tell guest "$(hash_of "$scratch/guest.iso")"
	[ -z "$tree_hash" ] || tell disk "$tree_hash"
	[ -n "$root" ] || tell_hash program "$program"
	tell_hash root "$root"
	local -i count=0
	for path in "${arguments[@]:1}" "${with[@]}"; do
		if [ -z "$root" ] && [ -f "$path" ] && [ $count -lt $MOST_TOLD ]; then
			tell_hash file "$path"
			count+=1
		fi
	done
}

# What `laplace run` has to be told to do it again.
tell_command() {
	local -i i
	[ -n "$root" ] || tell directory "$(pwd -P)"
	tell option cpu "$cpu"
	if [ "$usable" = 0 ]; then
		tell option memory "$memory"
	else
		tell option usable-memory "$usable"
	fi
	tell option swap "$swap"
	tell option disk "$disk"
	tell option reduce "$reduce"
	[ -z "$only" ] || tell option only "$only"
	[ -z "$level" ] || tell option level "$level"
	[ "$timeout" = 0 ] || tell option timeout "$timeout"
	[ "$linger" = 0 ] || tell option linger "$linger"
	[ "$seed" = 0 ] || tell option seed "$seed"
	[ "$print_limit" = 4096 ] || tell option print-limit "$print_limit"
	[ -z "$kernel" ] || tell option kernel "$kernel"
	[ -z "$root" ] || tell option root "$(realpath -- "$root")"
	for ((i = 0; i < ${#told[@]}; i += 2)); do
		tell option "${told[i]}" "${told[i + 1]}"
	done
	[ "$clear_env" = no ] || tell option clear-env
	[ "$take_here" = no ] || tell option here
	[ "$own_init" = no ] || tell option init
	[ "$walks" = no ] || tell option walks
	[ "$whole" = no ] || tell option whole
	tell input "$input_bytes" "$input_hash"
	for path in "${arguments[@]}"; do
		tell argument "$path"
	done
}

tell_recipe() {
	local path recipe
	recipe=$(tell_made_of && tell_command)
	if [ ${#recipe} -le $MOST_RECIPE ]; then
		printf '%s\n' "$recipe"
		return
	fi
	tell too-long ${#recipe}
	recipe=$(tell_made_of)
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
