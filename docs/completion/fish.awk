# SPDX-License-Identifier: LGPL-2.1-or-later
# Completions for fish, of the options' tables as `generate' gets them.

function quoted(text)
{
	gsub(/\\/, "&&", text)
	gsub(/'/, "\\'", text)
	return "'" text "'"
}

function described(text)
{
	return text == "" ? "" : " -d " quoted(text)
}

# How a value is completed, of an option that takes one.
function action(how, words)
{
	if (how == "word")
		return " -x -a " quoted(words)
	if (how == "list")
		return " -x -a " quoted("(__laplace_list , " words ")")
	if (how == "chain")
		return " -x -a " quoted("(__laplace_list + " words ")")
	if (how == "directory")
		return " -x -a '(__fish_complete_directories)'"
	if (how == "text")
		return " -x"
	return " -r -F" (words == "" ? "" : " -a " quoted(words))
}

# The options of a subcommand, when it is known what they may follow.
function options(i)
{
	for (i = 1; i <= count; i++)
		print "complete -c laplace -n '" condition "'" option[i]
	count = 0
}

$1 == "subcommand" {
	options()
	condition = "__laplace_subcommand " $2
	valued = ""
	print ""
	print "complete -c laplace -n __laplace_subcommand -a " $2 described($3)
	print "complete -c laplace -n '__laplace_subcommand help' -x -a " $2 described($3)
}
$1 == "option" {
	option[++count] = ($3 == "-" || $3 == "?" ? "" : " -s " $3) " -l " $4 \
		($5 == "-" ? "" : action($6, $7)) described($8)
	if ($5 != "-")
		valued = valued ($3 == "-" ? "" : " -" $3) " --" $4
}
$1 == "word" { said[$2, $3] = $4 }
$1 == "argument" {
	if ($4 == "command")
		condition = "__laplace_no_program_yet " $2 valued
	argument = "complete -c laplace -n '__laplace_argument " $2 " " $3 valued "'"
	if ($4 == "command")
		print argument " -a '(__laplace_programs)'"
	words = split($5, word, " ")
	for (i = 1; i <= words; i++)
		print argument " -f -a " word[i] described(said[$2, word[i]])
}
END { options() }
