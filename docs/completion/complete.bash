# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# What is done with the tables that bash.awk makes; `generate' puts it after them.

# The words up to the cursor as they were typed: Bash parts them at `=' and `:', too.  `before'
# is what the last one has before the part that Bash replaces by what is offered.
_laplace_typed() {
	local rest=$COMP_LINE word=''
	typed=() before=''
	for word in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
		if [[ ${#typed[@]} == 0 || $rest == [[:space:]]* || ${typed[-1]}$word == *[\<\>]* ]]; then
			rest=${rest#"${rest%%[^[:space:]]*}"}
			typed+=("$word") before=''
		else
			before=${typed[-1]}
			typed[-1]+=$word
		fi
		rest=${rest#"$word"}
	done
	[[ $word != [=:]* ]] || before=${typed[-1]}
}

# What may follow in a list: the words that it does not have, after those that it has.
# Of a chain, where a method may come twice: all.  (compgen would expand what was typed.)
_laplace_list() {
	local current=$1 separator=$2 word kept=''
	shift 2
	[[ $current != *"$separator"* ]] || kept=${current%"$separator"*}$separator
	for word; do
		[[ $separator == , && ,$kept == *",$word,"* || $kept$word != "$current"* ]] ||
			printf '%s\n' "$kept$word"
	done
}

# The programs with names that begin so.  (What compgen calls commands has functions and keywords.)
_laplace_programs() {
	local directories directory file
	IFS=: read -ra directories <<< "$PATH"
	for directory in "${directories[@]}"; do
		for file in "${directory:-.}/$1"*; do
			[[ ! -f $file || ! -x $file ]] || printf '%s\n' "${file##*/}"
		done
	done
}

# The number of the argument that is being typed, from 1 on, and whether options are over there.
_laplace_count() {
	local word how words previous=''
	number=1 only_arguments=''
	for word in "${typed[@]:2:${#typed[@]}-3}"; do
		if [[ -n $only_arguments ]]; then
			((number++))
		elif [[ $word == -- ]]; then
			only_arguments=yes
		elif _laplace_value "$subcommand" "$previous"; then
			word='' # that was a value
		elif [[ $word != -?* ]]; then
			((number++))
			[[ $program != 1 ]] || only_arguments=yes
		fi
		previous=$word
	done
}

# What an option or an argument may be: `how' and `words' of the tables.
_laplace_offer() { # WHAT-IS-THERE-OF-IT
	local separator=''
	case $how in
	list) separator=, ;;
	chain) separator=+ ;;
	esac
	case $how in
	list | chain)
		# shellcheck disable=SC2086 # several words
		_laplace_list "$1" "$separator" $words
		;;
	word) compgen -W "$words" -- "$1" ;;
	text) ;;
	directory) compgen -d -- "$1" ;;
	command)
		compgen -f -- "$1"
		_laplace_programs "$1"
		;;
	*)
		compgen -W "$words" -- "$1"
		compgen -f -- "$1"
		;;
	esac
}

_laplace() {
	local -a typed
	local before current previous subcommand option='' words='' how='' program='' number only_arguments

	_laplace_typed
	current=${typed[-1]} previous=${typed[-2]} subcommand=${typed[1]}
	COMPREPLY=()
	if ((${#typed[@]} == 2)) || { ((${#typed[@]} == 3)) && [[ $subcommand == help ]]; }; then
		words=$_laplace_subcommands
		((${#typed[@]} > 2)) || words+=' help --help --version'
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
		return
	fi
	_laplace_argument "$subcommand" 1
	[[ $how != command ]] || program=1
	how='' words=''
	_laplace_count
	if [[ $previous == *[\<\>]* ]]; then
		how="file"
	elif [[ -n $only_arguments ]]; then
		_laplace_argument "$subcommand" "$number"
	elif [[ $current == --*=* ]]; then
		option=${current%%=*}=
		current=${current#*=}
		_laplace_value "$subcommand" "${option%=}" || return
	elif ! _laplace_value "$subcommand" "$previous"; then
		if [[ $current == -* ]]; then
			_laplace_options "$subcommand"
			mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
			[[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2> /dev/null
			return
		fi
		_laplace_argument "$subcommand" "$number"
	fi
	mapfile -t COMPREPLY < <(_laplace_offer "$current")
	COMPREPLY=("${COMPREPLY[@]/#/"$option"}")
	COMPREPLY=("${COMPREPLY[@]#"$before"}")
	[[ $how == @(word|list|chain) ]] || compopt -o filenames 2> /dev/null
}
complete -F _laplace laplace
