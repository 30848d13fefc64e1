# SPDX-License-Identifier: LGPL-2.1-or-later
# Is a copy of a space what guest/copied.c says it is (its marks), when others were busy
# while fork made it?  Each page of the file there is the space's own from a broken
# copy-on-write on, until it is discarded; a fork hands down what is its own.  Reads
# `laplace cat -e --format sad`, and counts what happened between fork's call and its child.
function pages(name) { return substr(name, 1, length(name) - 3) }
function of_file(page) { return length(page) == 5 && page >= "58000" && page < "58008" }
function of_thread(page) { return page ~ /^(c00[0-7]|7000[0-7])$/ }
$1 == "w" && $5 in forking && running != forking[$5] && of_thread($6) { writes++ }
$1 != "E" { next }
{ split($9, a, ",") }
$2 == "schedule" { running = a[3] }
$2 == "syscall-enter" && a[1] == "2" { forking[$6] = running }
$2 == "task-create" { delete forking[$6] }
$2 == "cow-break" && of_file(pages(a[2])) { own[a[1], pages(a[2])] = 1 }
$2 == "discard" {
	for (key in own) {
		split(key, part, SUBSEP)
		if (part[1] == a[1] && part[2] >= pages(a[2]) && part[2] < pages(a[3])) delete own[key]
	}
	if (a[1] in forking && running != forking[a[1]]) discards++
}
$2 == "space-duplicate" {
	split("", copies)
	for (key in own) {
		split(key, part, SUBSEP)
		if (part[1] == a[1]) copies[a[2], part[2]] = 1
	}
	for (key in copies) own[key] = 1
}
$2 == "space-end" {
	for (key in own) {
		split(key, part, SUBSEP)
		if (part[1] == a[1]) delete own[key]
	}
}
$2 == "mark" && $10 ~ /^(file|copies)$/ {
	owned = 0
	for (key in own) {
		split(key, part, SUBSEP)
		owned += part[1] == $6
	}
	if (owned != ($10 == "file" ? 0 : 8)) {
		odd++
		print "a child finds its " $10 ", and has " owned " pages of its own: line " NR
	}
	children++
}
END {
	print "odd", odd + 0
	print "children", children + 0
	print "writes meanwhile", writes + 0
	print "discards meanwhile", discards + 0
}
