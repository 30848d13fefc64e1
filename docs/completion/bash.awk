# SPDX-License-Identifier: LGPL-2.1-or-later
# Tables for bash, of the options' tables as `generate' gets them: functions that set `how' and `words'.

function append(pattern, how, words)
{
	if (!((how, words) in patterns))
		order[++count] = how SUBSEP words
	patterns[how, words] = patterns[how, words] (patterns[how, words] == "" ? "" : " | ") pattern
}

# One arm for all that have the same; `text' as well, for these take a value.
function arms(i, part)
{
	for (i = 1; i <= count; i++) {
		split(order[i], part, SUBSEP)
		printf "\t%s)\n\t\thow=%s words='%s' ;;\n", patterns[order[i]], part[1], part[2]
		delete patterns[order[i]]
	}
	count = 0
}

BEGIN {
	print "# SPDX-License-Identifier: LGPL-2.1-or-later"
	print "# Bash completion for laplace(1), made of the tables of its options."
	print "# shellcheck shell=bash disable=SC2034"
}
$1 == "subcommand" {
	subcommands = subcommands (subcommands == "" ? "" : " ") $2
	name[++names] = $2
}
$1 == "option" {
	options[$2] = options[$2] (options[$2] == "" ? "" : " ") "--" $4 ($5 == "-" ? "" : "=")
	if ($5 != "-")
		append($2 ":--" $4 ($3 == "-" ? "" : " | " $2 ":-" $3), $6, $7)
}
$1 == "argument" {
	argument[++arguments] = $2 ":" $3
	argument_how[arguments] = $4
	argument_words[arguments] = $5
}
END {
	printf "\n_laplace_subcommands='%s'\n", subcommands
	print "\n_laplace_options() { # SUBCOMMAND\n\tcase $1 in"
	for (i = 1; i <= names; i++)
		printf "\t%s)\n\t\twords='%s' ;;\n", name[i], options[name[i]]
	print "\tesac\n}"
	print "\n_laplace_value() { # SUBCOMMAND OPTION: does it take one?\n\tcase $1:$2 in"
	arms()
	print "\t*) return 1 ;;\n\tesac\n}"
	print "\n_laplace_argument() { # SUBCOMMAND NUMBER\n\tcase $1:$2 in"
	for (i = 1; i <= arguments; i++)
		append(argument[i], argument_how[i], argument_words[i])
	arms()
	print "\tesac\n}\n"
}
