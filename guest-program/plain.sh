# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# plain.sh: text from elsewhere (a guest, a recipe, a name of a file) on its way into a message, where it
# must not move a terminal's cursor, change its title or write over what stands there.  Read by `run` and
# `reproduce`.

# From stdin to stdout: each byte of a control character becomes a question mark, but for ends of lines and
# tabs.  Beyond ASCII a terminal of UTF-8 takes U+0080 to U+009F for such; any other may take single bytes.
plain() {
	case $users_locale in
	*[Uu][Tt][Ff]-8* | *[Uu][Tt][Ff]8*)
		LC_ALL=C sed -u -e 's/[\x00-\x08\x0b-\x1f\x7f]/?/g' -e 's/\xc2[\x80-\x9f]/??/g' \
			-e ':again' -e 's/\(^\|[\x09 -~]\)[\x80-\xbf]/\1?/' -e 't again'
		;;
	*) LC_ALL=C sed -u -e 's/[^\x09 -~]/?/g' ;;
	esac
}
users_locale=${LC_ALL:-${LC_CTYPE:-${LANG:-}}}

# One line of it.
plain_line() { # TEXT...
	local line="${*//$'\n'/ }" LC_ALL=C
	if [[ $line != *[!\ -~]* ]]; then
		printf '%s\n' "$line"
	else
		printf '%s\n' "$line" | plain
	fi
}
