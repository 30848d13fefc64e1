# SPDX-License-Identifier: LGPL-2.1-or-later
# A function for zsh's completion system, of the options' tables as `generate' gets them.

# A text within single quotes, and within brackets of a specification of _arguments.
function quoted(text)
{
	gsub(/'/, "'\\''", text)
	return text
}
function described(text)
{
	gsub(/\\/, "\\\\", text)
	gsub(/\[/, "\\[", text)
	gsub(/\]/, "\\]", text)
	gsub(/:/, "\\:", text)
	return quoted(text)
}

# How a value is completed.
function action(how, words)
{
	gsub(/:/, "\\:", words)
	if (how == "word")
		return "(" words ")"
	if (how == "list")
		return "_sequence compadd - " words
	if (how == "chain")
		return "_sequence -s + -d compadd - " words
	if (how == "directory")
		return "_files -/"
	if (how == "command")
		return "_laplace_programs"
	if (how == "text")
		return " "
	if (words != "")
		return " _laplace_words_or_files " words
	return "_files"
}

# `'(-o --output)'{-o+,--output=}'[The trace to write]:TRACE:_files''
function specification(letter, long, value, how, words, text, many, names, excluded, first)
{
	first = letter != "-" ? "-" letter : ""
	if (letter == "?")
		first = "-\\?"
	if (value == "-") {
		names = first == "" ? "--" long : "{" first ",--" long "}"
	} else {
		names = first == "" ? "--" long "=" : "{" first "+,--" long "=}"
		value = described(value)
	}
	excluded = many != "" ? many : "(" (first == "" ? "" : first " ") "--" long ")"
	if (long ~ /^(help|version)$/)
		excluded = "(- *)"
	return "'" excluded "'" names "'[" described(text) "]" \
		(value == "-" ? "" : ":" value ":" action(how, words)) "'"
}

BEGIN {
	print "#compdef laplace"
	print "# SPDX-License-Identifier: LGPL-2.1-or-later"
	print "# Zsh completion for laplace(1), made of the tables of its options."
}
$1 == "subcommand" { name[++names_known] = $2; summary[$2] = $3 }
$1 == "option" { options[$2] = options[$2] " \\\n\t\t\t" specification($3, $4, $5, $6, $7, $8, $10) }
$1 == "word" { said[$2] = said[$2] " " $3 "\\:" "\"" described($4) "\"" }
$1 == "argument" {
	if ($4 == "command") {
		options[$2] = options[$2] " \\\n\t\t\t'(-)" $3 ":PROGRAM:" action($4, $5) \
			"' '*::ARGUMENT:_normal'"
		ended[$2] = 1
	} else {
		for (i = arguments[$2] + 1; i < $3; i++)
			options[$2] = options[$2] " \\\n\t\t\t'" i ":file:_files'"
		arguments[$2] = $3
		options[$2] = options[$2] " \\\n\t\t\t'" $3 ":what:" \
			($2 in said ? "((" substr(said[$2], 2) "))" : action($4, $5)) "'"
	}
}
END {
	print "\n_laplace_programs() {"
	print "\t_alternative 'commands:program: _command_names -e' 'files:file:_files'\n}"
	print "\n_laplace_words_or_files() {"
	print "\t_alternative \"words:word:(${(j: :)@})\" 'files:file:_files'\n}"
	print "\n_laplace() {"
	print "\tlocal curcontext=$curcontext state line"
	print "\ttypeset -A opt_args"
	print "\tlocal -a subcommands=("
	for (i = 1; i <= names_known; i++)
		printf "\t\t'%s:%s'\n", name[i], described(summary[name[i]])
	print "\t)\n"
	print "\t_arguments -C '(- *)'{-\\?,--help}'[show the options]' \\"
	print "\t\t'(- *)'{-V,--version}'[show the version]' \\"
	print "\t\t'1:subcommand:->subcommand' '*::argument:->argument'"
	print "\tcase $state in"
	print "\tsubcommand)\n\t\t_describe subcommand subcommands -- \\"
	print "\t\t\t'(help:\"show the options of a subcommand\")' ;;"
	print "\targument)\n\t\tcurcontext=${curcontext%:*}-$words[1]:\n\t\tcase $words[1] in"
	print "\t\thelp) _describe subcommand subcommands ;;"
	for (i = 1; i <= names_known; i++)
		printf "\t\t%s)\n\t\t\t_arguments -s -S%s%s ;;\n", name[i], options[name[i]], \
			(name[i] in ended ? "" : " \\\n\t\t\t'*:file:_files'")
	print "\t\tesac ;;\n\tesac\n}\n\n_laplace \"$@\""
}
