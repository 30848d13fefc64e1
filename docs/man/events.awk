# SPDX-License-Identifier: LGPL-2.1-or-later
# A page of the manual, with the events as they are in their tables (KTR_EVENTS, LPL_EVENTS).  In the page
# these lines stand for some:
#
#	@EVENTS@	each event: its number, name, arguments and text, and the comments of the table
#	@EVENT_NUMBERS@	what arguments may be, of which a comment in the table names an enum (`enum
#			ktr_map_kind') or macros (`KTR_PROT_*')
#	@EVENT_LINES@	the events that have a line of their own in `per-process', by its letters
#
# Usage: awk -f events.awk what=table HEADER... what=lines EVENT_LINE.c what=page PAGE

function fail(text)
{
	print "manual: " FILENAME ": " text > "/dev/stderr"
	failed = 1
	exit 1
}

# What stands between /* and */ in a line, or in the rest of it.
function comment_of(line)
{
	if (!match(line, /\/\*/))
		return ""
	line = substr(line, RSTART + 2)
	sub(/\*\/.*/, "", line)
	return trimmed(line)
}

function trimmed(text)
{
	sub(/[ \t]*\\$/, "", text)
	gsub(/^[ \t]+|[ \t]+$/, "", text)
	return text
}

# The words between parentheses: "KTR_MAP, 6, "map", KTR_FENCE, "name"".
function cells(line, cell)
{
	sub(/^[^(]*\(/, "", line)
	sub(/\)[^)]*$/, "", line)
	gsub(/[ \t]*,[ \t]*/, ",", line)
	gsub(/"/, "", line)
	return split(line, cell, ",")
}

# An argument, with the number that it has; its comment may name the numbers that it has.
function argument(tag, number, name, comment, named)
{
	arg[tag, number] = name
	about_arg[tag, number] = comment
	arguments[tag] = arguments[tag] > number + 1 ? arguments[tag] : number + 1
	if (match(comment, /enum [a-z_]+|(KTR|LPL)_[A-Z_]*_\*/)) {
		named = substr(comment, RSTART, RLENGTH)
		if (!(named in wanted))
			sets[++set_count] = named
		wanted[named] = 1
	}
}

function row(line, cell, i, group)
{
	if (line ~ /^[ \t]*EVENT\(/) {
		cells(line, cell)
		tag = cell[1]
		order[++count] = tag
		number_of[tag] = cell[2] ~ /^0x/ ? hex(cell[2]) : cell[2]
		name_of[tag] = cell[3]
		fence[tag] = cell[4] == "KTR_FENCE"
		text_of[tag] = cell[5]
		about[tag] = comment
		comment = ""
	} else if (line ~ /^[ \t]*ARG\(/) {
		text = line
		sub(/[ \t]*\/\*.*/, "", text)
		cells(text, cell)
		argument(tag, cell[3], cell[4], comment_of(line))
	} else if (match(line, /(KTR|LPL)_[A-Z]+_ARGS/)) {
		group = substr(line, RSTART, RLENGTH)
		for (i = 0; i < arguments[group]; i++)
			argument(tag, i, arg[group, i], about_arg[group, i])
	}
}

function hex(text, value, i)
{
	text = tolower(substr(text, 3))
	for (i = 1; i <= length(text); i++)
		value = value * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
	return value
}

# ---- the tables ----

what == "table" && /^#define (KTR|LPL)_EVENTS\(/ { in_table = 1; next }
what == "table" && /^#define (KTR|LPL)_[A-Z]+_ARGS\(/ {
	match($0, /(KTR|LPL)_[A-Z]+_ARGS/)
	tag = substr($0, RSTART, RLENGTH)
	in_table = 1
	next
}
what == "table" && in_table {
	if (/^[ \t]*\/\*/ || in_comment) {
		line = $0
		in_comment = line !~ /\*\//
		sub(/^[ \t]*\/?\*/, "", line)
		sub(/\*\/.*/, "", line)
		line = trimmed(line)
		comment = comment (comment == "" ? "" : " ") line
	} else {
		row($0)
	}
	in_table = /\\$/
	next
}

# ---- numbers ----

what == "table" && /^enum [a-z_]+ \{/ {
	set = "enum " $2
	next_value = 0
	next
}
what == "table" && /^}/ { set = "" }
what == "table" && set != "" && match($0, /^\t[A-Z][A-Z0-9_]*/) {
	name = substr($0, 2, RLENGTH - 1)
	if (match($0, /= [0-9]+/))
		next_value = substr($0, RSTART + 2, RLENGTH - 2)
	if (/[=,]/)	# without either it only counts the others
		add_value(set, next_value++ " " name, comment_of($0))
}
what == "table" && /^#define (KTR|LPL)_[A-Z]+_[A-Z0-9]+[ \t]+[0-9]/ {
	name = $2
	sub(/_[A-Z0-9]+$/, "_*", name)
	add_value(name, $3 " " $2, comment_of($0))
}

function add_value(set, words, comment)
{
	values[set] = values[set] (values[set] == "" ? "" : ", ") words \
		(comment == "" ? "" : " (" comment ")")
}

# ---- lines of events ----

what == "lines" && /^\t.*(KTR|LPL_EVENT)_[A-Z_]+.*\{ "[A-Z][a-z]?", "[0-9l]*" \}/ {
	match($0, /(KTR|LPL_EVENT)_[A-Z_]+/)
	tag = substr($0, RSTART, RLENGTH)
	if (!(tag in number_of))
		fail("no table has " tag)
	split($0, cell, "\"")
	lines[++line_count] = tag
	letters[tag] = cell[2]
	fields[tag] = cell[4]
}

# ---- the page ----

# Lines of text for mdoc: a sentence begins a line, none is long, and none begins as a request does.
function wrap(text, word, words, i, line)
{
	words = split(text, word, " ")
	for (i = 1; i <= words; i++) {
		if (length(line) + length(word[i]) > 78 || line ~ /[a-z0-9)]\.$/) {
			print line
			line = ""
		}
		line = line (line == "" ? "" : " ") word[i]
	}
	if (line != "")
		print line
}

function listed(tag, i, out)
{
	for (i = 0; i < arguments[tag]; i++)
		out = out (i > 0 ? ", " : "") arg[tag, i] \
			(about_arg[tag, i] == "" ? "" : " (" about_arg[tag, i] ")")
	if (text_of[tag] != "")
		out = out (out == "" ? "" : "; ") "text: " text_of[tag]
	return out
}

function events(i, tag, text)
{
	for (i = 1; i <= count; i++) {
		tag = order[i]
		text = about[tag]
		print ".It " number_of[tag] " " name_of[tag] (fence[tag] ? " , fence" : "")
		wrap(listed(tag))
		if (text != "") {
			if (listed(tag) != "")
				print ".br"
			sub(/\.?$/, ".", text)
			wrap(toupper(substr(text, 1, 1)) substr(text, 2))
		}
	}
}

function event_numbers(i)
{
	for (i = 1; i <= set_count; i++) {
		if (values[sets[i]] == "")
			fail("no header has " sets[i])
		print ".It " sets[i]
		wrap(values[sets[i]])
	}
}

function event_lines(i, k, tag, field, out)
{
	for (i = 1; i <= line_count; i++) {
		tag = lines[i]
		out = ""
		for (k = 1; k <= length(fields[tag]); k++) {
			field = substr(fields[tag], k, 1)
			out = out (k > 1 ? ", " : "") (field == "l" ? "length" : arg[tag, field])
		}
		if (text_of[tag] != "")
			out = out (out == "" ? "" : ", ") text_of[tag]
		print ".It \\&" letters[tag] " " name_of[tag]	# `Ud' is a macro
		wrap(out)
	}
}

what == "page" && $0 == "@EVENTS@" { events(); next }
what == "page" && $0 == "@EVENT_NUMBERS@" { event_numbers(); next }
what == "page" && $0 == "@EVENT_LINES@" { event_lines(); next }
what == "page"

END {
	if (failed || !count)
		exit 1
}
