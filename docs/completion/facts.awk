# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What there is to complete, a fact a line, in fields that are separated by tabs:
#
#	subcommand NAME SUMMARY
#	option SUBCOMMAND LETTER LONG VALUE HOW WORDS TEXT
#		LETTER: - for none.  VALUE: its name in --help, - for an option that takes none.
#		TEXT: what --help says of it, up to where details come; of what has nothing but
#		words there, the name of its value.
#	argument SUBCOMMAND N HOW WORDS
#	word SUBCOMMAND WORD TEXT
#		of an argument, where --help tells of its words one by one
#
# Input: the table `values', then the subcommands' --help, each behind a line `>', NAME, SUMMARY.

function fail(text)
{
	print "completion: " text > "/dev/stderr"
	failed = 1
	exit 1
}

# The words that a text lists: `raw, diff or csv (raw)', `Show it: auto, always, never'.
function listed(text, part, count, i, words)
{
	gsub(/ *\([^()]*\)/, "", text)
	sub(/;.*/, "", text)
	sub(/, or .*/, "", text)
	sub(/^[^:]*: /, "", text)
	count = split(text, part, /, | or /)
	for (i = 1; i <= count; i++) {
		sub(/[:[].*/, "", part[i])
		if (part[i] ~ /^[A-Za-z0-9-]+$/)
			words = words (words == "" ? "" : " ") part[i]
	}
	if (words !~ / /)
		fail("no list of words in \"" text "\"")
	return words
}

# ... and those that the usage has instead of an argument: `timeline|footprint TRACE'.
function used(text, word, count, i, words)
{
	gsub(/[][|.]/, " ", text)
	count = split(text, word, " ")
	for (i = 1; i <= count; i++)
		if (word[i] ~ /^[a-z]+$/)
			words = words (words == "" ? "" : " ") word[i]
	return words
}

function option_fact(how, words)
{
	if (long == "")
		return
	how = "-"
	if (value != "-") {
		how = "text"
		if ((name, "--" long) in hows)
			how = take(name, "--" long)
		else if (("*", "--" long) in hows)
			how = take("*", "--" long)
		else if (("=", value) in hows)
			how = take("=", value)
	}
	words = how ~ /^(word|list|chain|file)$/ ? found : ""
	if (words ~ /^help( |$)/) {
		sub(/^help/, "", words)
		words = listed(text) words
	}
	if (words != "" && index(text, first_of(words)) == 1) {
		text = tolower(value)
		sub(/\[.*/, "", text)
	} else {
		text = first_clause(text)
	}
	print "option", name, letter, long, value, how, words, text
	long = ""
}

function first_of(words)
{
	sub(/ .*/, "", words)
	return words
}

# Up to a colon or a semicolon, but not within parentheses, and not too little of it.
function first_clause(text, i, c, open)
{
	for (i = 1; i < length(text); i++) {
		c = substr(text, i, 1)
		open += (c == "(") - (c == ")")
		if (i > 16 && open == 0 && substr(text, i, 2) ~ /^[:;] /)
			return substr(text, 1, i - 1)
	}
	return text
}

function take(where, what)
{
	taken[where, what] = 1
	found = words_of[where, what]
	return hows[where, what]
}

# The arguments of a subcommand, when all of its help was read.
function argument_facts(n, words)
{
	if (name == "")
		return
	for (n = 1; n <= 3; n++)
		if ((name, "@" n) in hows) {
			words = words_of[name, "@" n]
			if (words == "help")
				words = verbs != "" ? verbs : used(usage)
			if (take(name, "@" n) == "word" && words !~ / /)
				fail(name ": no words for argument " n)
			print "argument", name, n, hows[name, "@" n], words
		}
}

BEGIN { OFS = "\t" }

FNR == 1 { file++ }

file == 1 && !/^#/ && NF >= 3 {
	hows[$1, $2] = $3
	words_of[$1, $2] = ""
	for (i = 4; i <= NF; i++)
		words_of[$1, $2] = words_of[$1, $2] (i > 4 ? " " : "") $i
}
file == 1 { next }

/^>\t/ {
	option_fact()
	argument_facts()
	split($0, field, "\t")
	name = field[2]
	usage = verbs = ""
	in_verbs = 0
	print "subcommand", name, field[3]
	next
}

/^Usage: |^  or: / {
	line = $0
	sub(/^.*laplace [a-z-]+/, "", line)
	gsub(/\[OPTION...\]|--?[a-z]+( [A-Z0-9]+)?/, "", line)
	usage = usage " " line
	next
}

# `  -o, --output=TRACE         The trace to write', or with the text in the next line.
/^ +(-., )? *--[a-z]/ {
	option_fact()
	line = $0
	sub(/^ +/, "", line)
	letter = "-"
	if (line ~ /^-., /) {
		letter = substr(line, 2, 1)
		sub(/^-., */, "", line)
	}
	match(line, /^--[a-z-]+/)
	long = substr(line, 3, RLENGTH - 2)
	line = substr(line, RLENGTH + 1)
	value = "-"
	sub(/^\[=[^]]*\]/, "", line)	# who need not give a value is not asked for one
	if (line ~ /^=/) {
		match(line, /^=[^ ]+/)
		value = substr(line, 2, RLENGTH - 1)
		line = substr(line, RLENGTH + 1)
	}
	sub(/^ +/, "", line)
	text = line
	next
}
# ... which may go on: always far from the margin
/^             / && long != "" {
	line = $0
	sub(/^ +/, "", line)
	text = text (text == "" ? "" : " ") line
	next
}
{ option_fact() }

# `  status : tell how the run is'
/ is one of:$/ { in_verbs = 1; next }
in_verbs && /^  [a-z]+( [A-Z]+)? ?: / {
	verb = $1
	line = $0
	sub(/^[^:]*: /, "", line)
	verbs = verbs (verbs == "" ? "" : " ") verb
	print "word", name, verb, line
	next
}
{ in_verbs = 0 }

END {
	if (failed)
		exit 1
	option_fact()
	argument_facts()
	for (row in hows) {
		split(row, field, SUBSEP)
		if (field[1] != "=" && !(row in taken))
			fail("values: " field[1] " " field[2] " is in no --help")
	}
}
