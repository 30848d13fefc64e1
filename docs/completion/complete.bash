# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# What is done with the tables that bash.awk makes; `generate' puts it behind them.

# What may follow in a list: the words that it does not have, behind those that it has.
# Of a chain, where a method may come twice: all.
_laplace_list() {
	local current=$1 separator=$2 word kept=''
	shift 2
	[[ $current != *"$separator"* ]] || kept=${current%"$separator"*}$separator
	for word; do
		[[ $separator == , && ,$kept == *",$word,"* ]] || printf '%s\n' "$kept$word"
	done
}

# The number of the argument at COMP_CWORD, from 1 on, and whether options are over there.
_laplace_count() {
	local i word how words previous=''
	number=1 only_arguments=''
	for ((i = 2; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ -n $only_arguments ]]; then
			((number++))
		elif [[ $word == -- ]]; then
			only_arguments=yes
		elif [[ $word == = ]]; then
			continue # and what follows is the value of the option before
		elif [[ $previous != -* || -z $previous ]] || ! _laplace_value "$subcommand" "$previous"; then
			if [[ $word != -?* ]]; then
				((number++))
				[[ $program != 1 ]] || only_arguments=yes
			fi
		else
			word='' # that was a value
		fi
		previous=$word
	done
}

_laplace() {
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
	local subcommand=${COMP_WORDS[1]} words='' how='' separator='' program='' number only_arguments

	COMPREPLY=()
	# `--option=value' comes as three words
	if [[ $current == = ]]; then
		current=''
	elif [[ $previous == = ]]; then
		previous=${COMP_WORDS[COMP_CWORD-2]}
	fi
	if ((COMP_CWORD == 1)) || { ((COMP_CWORD == 2)) && [[ $subcommand == help ]]; }; then
		words=$_laplace_subcommands
		((COMP_CWORD > 1)) || words+=' help --help --version'
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
		return
	fi
	_laplace_argument "$subcommand" 1
	[[ $how != command ]] || program=1
	how='' words=''
	_laplace_count
	if [[ -n $only_arguments ]] || ! _laplace_value "$subcommand" "$previous"; then
		if [[ $current == -* && -z $only_arguments ]]; then
			_laplace_options "$subcommand"
			mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
			[[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2> /dev/null
			return
		fi
		_laplace_argument "$subcommand" "$number"
	fi
	case $how in
	list) separator=, ;;
	chain) separator=+ ;;
	esac
	# shellcheck disable=SC2086 # several words
	[[ -z $separator ]] || words=$(_laplace_list "$current" "$separator" $words)
	if [[ -n $words || -n $separator ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
		return
	fi
	compopt -o filenames 2> /dev/null
	case $how in
	directory) mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
	command)
		mapfile -t COMPREPLY < <({
			compgen -f -- "$current"
			compgen -c -- "$current"
		} | sort -u)
		;;
	*) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
	esac
}
complete -F _laplace laplace
