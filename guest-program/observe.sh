# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# observe.sh: what a program looks at when it runs here, for `laplace run --observe', and the directory that
# --here takes along.  Read by `run`, which has these options.
# shellcheck disable=SC2034,SC2154 # of others, which are set there
: "${here:?}"

# ---- --here ----

# Sets `taken_here`, options of needs; what would be far too much is refused.
find_here() {
	local bytes
	[ "$take_here" = yes ] || return 0
	[ "$directory" != / ] || die "--here: this is the root directory; --with names what is needed of it"
	case $(realpath -m -- "${HOME:-/}")/ in
	"$directory"/*)
		die "--here: $directory is your home directory, or above it; --with names what is needed of it"
		;;
	esac
	bytes=$(du -sb -- "$directory" 2>/dev/null | cut -f 1) || true
	[ "${bytes:-0}" -le "$MOST_BYTES" ] ||
		die "--here: $directory has $((bytes / 1000000)) MB, more than a guest's disk takes" \
			"($((MOST_BYTES / 1000000)) MB); --with names what is needed of it"
	say "--here takes $directory along, $(((bytes + 999999) / 1000000)) MB"
	taken_here=(--here "$directory")
}

# ---- --observe ----

# "KIND PATH" of what strace (-f -y) saw succeed, with its escapes: `seen`; `made`, what was not there before;
# `cwd`, where it was from then on.  A path that does not begin with a slash began in one of those.
paths_of_strace() { # FILE
	LC_ALL=C awk '
		# what a thread was interrupted in goes on in a later line
		/ <unfinished \.\.\.>$/ {
			sub(/ *<unfinished \.\.\.>$/, "")
			begun[$1] = $0
			next
		}
		/^[0-9]+ +<\.\.\. [a-z0-9_]+ resumed>/ {
			rest = $0
			sub(/^[0-9]+ +<\.\.\. [a-z0-9_]+ resumed>/, "", rest)
			$0 = begun[$1] rest
		}
		!/\) += [0-9]/ { next }
		{
			text = $0
			sub(/^[0-9]+ +/, "", text)
			call = text
			sub(/\(.*/, "", call)
			text = substr(text, length(call) + 2)
			if (call ~ /^(unlink|rmdir)/)
				next
			if (call ~ /^execve/)
				sub(/, \[.*/, "", text)
			two = call ~ /^(rename|link|symlink)/
			kind = call ~ /^(mkdir|mknod)/ || two ? "made" : call == "chdir" ? "cwd" : "seen"
			# the first "...", or the second; and what a descriptor before it stands for
			for (count = 1; match(text, /"([^"\\]|\\.)*"(\.\.\.)?/); count++) {
				path = substr(text, RSTART + 1, RLENGTH - 2)
				before = substr(text, 1, RSTART - 1)
				cut = substr(text, RSTART + RLENGTH - 1, 1) == "."
				text = substr(text, RSTART + RLENGTH)
				if (two && count == 1)
					continue
				if (path !~ /^\// && match(before, /<\/[^>]*>, $/))
					path = substr(before, RSTART + 1, RLENGTH - 4) "/" path
				if (path != "" && !cut && !((kind, path) in given)) {
					given[kind, path] = 1
					print kind, path
				}
				break
			}
		}' "$1"
}

# The same without escapes, each once, a null byte after each: $scratch/seen and $scratch/made.
decode_paths() { # DIRECTORY
	local kind path directory
	local -a directories=("$1") inside=()
	while IFS=' ' read -r kind path; do
		printf -v path %b "${path//\\\"/\\042}"
		[[ $path != *$'\n'* ]] || continue
		if [ "$kind" = cwd ]; then
			[[ $path == /* ]] || path=${directories[-1]}/$path
			directories+=("$path")
			kind=seen
		fi
		if [[ $path == /* ]]; then
			printf '%s %s\n' "$kind" "$path"
		else
			inside+=("$kind $path")
		fi
	done < <(paths_of_strace "$scratch/strace") >"$scratch/absolute"
	for path in "${inside[@]}"; do
		for directory in "${directories[@]}"; do
			printf '%s %s\n' "${path%% *}" "$directory/${path#* }"
		done
	done >>"$scratch/absolute"
	for kind in seen made; do
		sed -n "s/^$kind //p" "$scratch/absolute" | tr '\n' '\0' | xargs -0 -r realpath -zms -- |
			LC_ALL=C sort -zu >"$scratch/$kind"
	done
}

# Of what the program saw what was here before it: into $scratch/observed; what it wrote: $scratch/wrote.
sort_out() {
	local path above
	local -A made=() wrote=()
	while IFS= read -r -d '' path; do
		made[$path]=yes
	done <"$scratch/made"
	# a file that it changed would be there as it left it
	# shellcheck disable=SC2016 # of the shell that is called
	while IFS= read -r -d '' path; do
		wrote[$path]=yes
	done < <(xargs -0 -r -a "$scratch/seen" sh -c \
		'exec find -L "$@" -maxdepth 0 -type f -cnewer "$0" -print0 2>/dev/null' "$scratch/before" || true)
	while IFS= read -r -d '' path; do
		case $path in
		/ | /proc | /sys | /dev | /run | /proc/* | /sys/* | /dev/* | /run/* | "$scratch"/*) continue ;;
		esac
		[ -e "$path" ] || [ -L "$path" ] || continue
		above=$path
		while [ -n "$above" ] && [ -z "${made[$above]:-}" ]; do
			above=${above%/*}
		done
		[ -z "$above" ] || continue
		if [ -n "${wrote[$path]:-}" ]; then
			printf '%s\0' "$path" >&3
		else
			printf '%s\0' "$path"
		fi
	done <"$scratch/seen" >"$scratch/observed" 3>"$scratch/wrote"
}

# The kernel opens what a script's first line names, and strace does not see it.
interpreters() { # LIST
	local path begin
	while IFS= read -r -d '' path; do
		if [ ! -f "$path" ] || [ ! -x "$path" ] || [ ! -r "$path" ]; then
			continue
		fi
		IFS= read -r begin < <(head -c 256 -- "$path" | tr -d '\0') || true
		[[ ! ${begin:-} =~ ^#!\ *(/[^ ]+) ]] || printf '%s\0' "${BASH_REMATCH[1]}"
	done <"$1"
}

# Runs the program here, once, as this user, where it is to run in the guest, and with the same input.
observe_program() {
	local strace status=0 limit=0
	local -a variables=()
	[ -n "$observe" ] || return 0
	step="--observe"
	strace=$(type -P strace) || die "--observe wants strace, which this machine does not have (Debian: strace)"
	copy_input "$scratch/input"
	exec <"$scratch/input"
	print_environment
	without_doubles "${variables[@]}"
	limit=$timeout
	say "running ${arguments[0]} here once, to see what it looks at ..."
	: >"$scratch/before"
	# files have the time of the last tick
	sleep 0.02
	trap 'end_run HUP' HUP
	trap 'end_run INT' INT
	trap 'end_run TERM' TERM
	(
		umask "$users_mask"
		exec env -i "${variables[@]}" "$(type -P timeout)" -k 5 "$limit" "$strace" -f -y -qq -s 4096 \
			-e 'trace=%file' -e signal=none -o "$scratch/strace" -- "$called" "${arguments[@]:1}"
	) <"$scratch/input" >"$scratch/observed.out" 2>"$scratch/observed.err" &
	wait_for $! || status=$?
	[ -z "$ended" ] || die "ended by a signal, while ${arguments[0]} ran here"
	trap 'die "ended by a signal, before anything was traced"' HUP INT TERM
	if grep -aq '^[^ ]*strace: ' "$scratch/observed.err" && [ ! -s "$scratch/strace" ]; then
		die "--observe: $(head -n 1 "$scratch/observed.err")"
	fi
	[ "$status" = 0 ] ||
		say "here it ended with status $status$(sed -n '$s/^/: /p' "$scratch/observed.err" |
			cut -c 1-200 | tr -c '[:print:]' '?' | sed 's/?$//')"
	decode_paths "$directory"
	sort_out
	interpreters "$scratch/observed" | LC_ALL=C sort -zu >"$scratch/interpreters"
	cat "$scratch/interpreters" >>"$scratch/observed"
	observed=(--observed "$scratch/observed" --found "$scratch/found")
}

# What needs took of it is for the recipe, and for whoever wants to look.
list_observed() {
	local path
	local -i count=0
	[ -n "$observe" ] || return 0
	while IFS= read -r -d '' path; do
		given+=(take "$path")
		count+=1
	done <"$scratch/found"
	{
		echo "# What ${called//[^[:print:]]/?} looked at, and was taken along for that (laplace run --observe)."
		tr '\0' '\n' <"$scratch/found"
		tr '\0' '\n' <"$scratch/wrote" | sed 's/^/# not taken, for it was written: /'
	} >"$observe" || die "--observe: $observe cannot be written"
	say "$count more files and directories come along; $observe has the list"
}
