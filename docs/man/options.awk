# SPDX-License-Identifier: LGPL-2.1-or-later
# A page of the manual, with the options of a subcommand as they are in its table (laplace SUBCOMMAND
# --list-options).  In the page's list of options these lines stand for some:
#
#	@OPTION NAME@	an option, and what --help says of it; the page may go on
#	@ITEM NAME@	only its names: the page says the rest, at more length than --help
#	@OPTIONS@	all others, in the table's order, but those that the common page explains
#
# Usage: awk -f options.awk what=table TABLE what=common TABLE-OF-THE-COMMON-PAGE what=explained
#	COMMON-PAGE what=page PAGE

function fail(text)
{
	print "manual: " FILENAME ": " text > "/dev/stderr"
	failed = 1
	exit 1
}

# `NAME|PID', `TYPE[,...]', `START:END' as mdoc has them: names of values are arguments.
function arguments(value, out, part)
{
	while (match(value, /^[A-Za-z0-9-]+/)) {
		part = substr(value, 1, RLENGTH)
		out = out " Ar " (part == "MIB" ? "MiB" : tolower(part))
		value = substr(value, RLENGTH + 1)
		if (value == "[,...]")
			return out " Ns Op ,..."
		part = substr(value, 1, 1)
		if (part != "")
			out = out (part == ":" ? " :" : " Ns " part) " Ns"
		value = substr(value, 2)
	}
	return out
}

function item(name, field, value)
{
	split(table[name], field, "\t")
	value = field[5]
	if (field[2] == "bochs") {
		gsub(/\|/, " | ", value)
		print ".It Cm " name " Ns = Ns Li " value
		return
	}
	if (value ~ /^\[/)
		value = " Ns Op = Ns" arguments(substr(value, 2, length(value) - 2))
	else
		value = value == "-" ? "" : " Ns = Ns" arguments(value)
	print ".It Fl " (field[3] == "-" ? "" : field[3] " , ") "-" name value
}

# What --help says, as a sentence of mdoc.  Options, and names of values, are marked up, with what
# belongs to them: `(TRACE.again)'.
function sentence(text, value, word, count, i, before, macro, end, plain, out)
{
	gsub(/\\/, "\\e", text)
	sub(/\[.*/, "", value)
	count = split(text ".", word, " ")
	for (i = 1; i <= count; i++) {
		plain = word[i]
		before = word[i] ~ /^\(.*\)[.,;:]*$/ && gsub(/[()]/, "", word[i]) ? ".Pq " : "."
		macro = word[i] ~ /^--?[a-z][a-z-]*[.,;:)]*$/ ? "Fl" : ""
		if (match(word[i], /^[A-Z][A-Z0-9]*/) &&
		    (substr(word[i], 1, RLENGTH) == value || word[i] ~ /^(FILE|OUT|TRACE2?|PROGRAM|MACHINE)/)) {
			macro = "Ar"
			word[i] = tolower(substr(word[i], 1, RLENGTH)) " Ns " substr(word[i], RLENGTH + 1)
			sub(/ Ns $/, "", word[i])
			sub(/ Ns [.,;:)]+$/, substr(word[i], RLENGTH + 5), word[i])
		}
		if (macro == "") {
			out = out (out ~ /(^|\n)$/ ? "" : " ") (plain ~ /^[.']/ ? "\\&" : "") plain
			continue
		}
		sub(/^-/, "", word[i])
		if (match(word[i], /[.,;:)]+$/)) {
			end = substr(word[i], RSTART)
			gsub(/./, " &", end)
			word[i] = substr(word[i], 1, RSTART - 1) end
		}
		out = out "\n" before macro " " word[i] "\n"
	}
	gsub(/\n+/, "\n", out)
	gsub(/^\n|\n$/, "", out)
	print out
}

function option(name, field)
{
	item(name)
	split(table[name], field, "\t")
	sentence(field[9], field[5])
}

function named(line)
{
	gsub(/^@[A-Z]+ |@$/, "", line)
	return line
}

function is_common(name, row)
{
	row = table[name]
	sub(/^option\t[a-z-]*/, "", row)
	return name in explained && row == common[name]
}

BEGIN { FS = "\t" }

what == "table" && $1 == "option" {
	order[++count] = $4
	table[$4] = $0
}
what == "common" && $1 == "option" {
	name = $4
	sub(/^option\t[a-z-]*/, "")
	common[name] = $0
}
what == "explained" && /^@(OPTION|ITEM) / { explained[named($0)] = 1 }
what == "page" {
	line[++lines] = $0
	if (/^@(OPTION|ITEM) / && !(named($0) in table))
		fail("there is no option --" named($0))
	if (/^@(OPTION|ITEM) /)
		said[named($0)] = 1
}

END {
	for (i = 1; i <= lines && !failed; i++) {
		if (line[i] ~ /^@OPTION /)
			option(named(line[i]))
		else if (line[i] ~ /^@ITEM /)
			item(named(line[i]))
		else if (line[i] != "@OPTIONS@")
			print line[i]
		else
			for (j = 1; j <= count; j++)
				if (!(order[j] in said) && !is_common(order[j]))
					option(order[j])
	}
	if (failed || !count || !lines)
		exit 1
}
