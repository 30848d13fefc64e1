# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# unexpected.sh: no script of `laplace run' ends without a word.  Where a command fails and nothing looks at its
# status, `set -e' ends the script: here it says before what it was doing (`step'), and which command that was.
# Read by those scripts; `us' is the name of the subcommand, `unexpected_status' what they end with then.
# shellcheck disable=SC2034 # they set it

us=${us:-run} step=${step:-} unexpected_status=${unexpected_status:-1}

unexpected() { # STATUS FILE LINE COMMAND
	# of a part of a command, the whole says so, if it fails; in $(...) set -e does not hold
	[ "$BASH_SUBSHELL" = 0 ] || return 0
	trap - ERR
	printf 'laplace %s: %s%s ended with status %d (%s, line %d)\n' "$us" "${step:+$step: }" \
		"\`${4//[^[:print:]]/?}'" "$1" "${2##*/}" "$3" >&2
	exit "$unexpected_status"
}

set -E
trap 'unexpected $? "${BASH_SOURCE[0]}" $LINENO "$BASH_COMMAND"' ERR

# Of a script that says why when it ends with a status of its own: anything else is said here.
after() { # STATUS WHAT
	case $1 in
	1 | 2 | 3 | 125) ;;
	*) echo "laplace $us: ${step:+$step: }$2 ended with status $1" >&2 ;;
	esac
	exit "$unexpected_status"
}
