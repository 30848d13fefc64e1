# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# paths.sh: paths as they are written, which the shell works out itself: processes are what a run waits for.  Read by
# `run` and `needs`.
# shellcheck disable=SC2034 # they use what is set

# Sets `part`, the first one of the path `rest`, and leaves the others in that.
take_part() {
	part=${rest%%/*}
	case $rest in
	*/*) rest=${rest#*/} ;;
	*) rest='' ;;
	esac
}

# As realpath -ms has it, in a directory without links.
find_plain() { # PATH: sets `plain`
	local rest=$1 part
	plain=''
	[[ $rest == /* ]] || rest=$PWD/$rest
	while [ -n "$rest" ]; do
		take_part
		case $part in
		'' | .) ;;
		..) plain=${plain%/*} ;;
		*) plain+=/$part ;;
		esac
	done
	plain=${plain:-/}
}

# As dirname has it.
find_parent() { # PATH: sets `parent`
	parent=${1%"${1##*[!/]}"}
	case $parent in
	*/*)
		parent=${parent%/*}
		parent=${parent%"${parent##*[!/]}"}
		;;
	?*) parent=. ;;
	esac
	parent=${parent:-/}
}
