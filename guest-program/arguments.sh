# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# arguments.sh: which paths of this machine arguments name, as they are or after a = or an option's letter.  Read by
# `needs`, which lists what is there, and by `run`.

# Calls `FUNCTION there PATH` for each that is there, and `FUNCTION in DIRECTORY` for one that could be made in that.
each_path_of() { # FUNCTION ARGUMENT...
	local function=$1 argument path
	shift
	for argument; do
		for path in "$argument" "${argument#*=}" "${argument#-[A-Za-z]}"; do
			if [ -n "$path" ] && [ -e "$path" ]; then
				"$function" there "$path"
			elif [[ $path == */* ]] && [ -d "${path%/*}/" ]; then
				"$function" in "${path%/*}"
			fi
		done
	done
}
