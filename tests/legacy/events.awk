# SPDX-License-Identifier: LGPL-2.1-or-later
# From `laplace cat -e` to what a person can write down beforehand: names instead of numbers
# that a machine chose.  Tasks are t1 ..., spaces s1 ..., inodes i1 ... in the order in which
# they appear after the first mark.  A frame is told by what is known to be in it: a page of
# a file, the space's own page at that address, or something else.
#
# Left out: what stacks do but to grow, the buffer cache, and all switches but those of
# task t1 after the mark "schedule" and those by which a task stops.
function name(kind, value) {
	if (value == "0") return "0"
	if (!((kind, value) in names)) names[kind, value] = kind (++count[kind])
	return names[kind, value]
}
function stack(address) { return length(address) == 8 && address >= "bf000000" }
function content(space, address, frame) {
	if (frame in cached) return cached[frame]
	return own[space, address] == frame ? "own" : "other"
}
function flags(value) { return value == "0" ? "" : " flags " value }
$1 != "E" || $2 == "mark" && $10 == "memory" { next }
$2 == "mark" { section = $10; for (i = 11; i <= NF; i++) section = section " " $i; print "mark " section; begun = 1; next }
{
	n = split($9, a, ",")
	text = $10
}
!begun { next }
$2 == "schedule" && (a[2] == "4" || a[2] == "8") { print "schedule from", name("t", a[1]), "state", a[2] }
$2 == "schedule" && section != "schedule" { next }
{ who = name("t", sprintf("%x", $7)) ": " $2 }
$2 == "task-create" { print who, name("t", a[1]), "of", name("t", a[2]), name("s", a[3]) flags(a[4]), text }
$2 == "schedule" && (name("t", a[1]) == "t1" || name("t", a[3]) == "t1") {
	print "schedule", (name("t", a[1]) == "t1" ? "from t1 state " a[2] : "to t1 " name("s", a[5]))
}
$2 == "space-assign" { print who, name("t", a[1]), "of", name("t", a[2]), name("s", a[3]) }
$2 == "exec" { print who, name("t", a[1]), "of", name("t", a[2]), name("s", a[3]), a[4], name("i", a[5]), text }
$2 == "exit" { print who, name("t", a[1]), "of", name("t", a[2]), "code", a[3], (a[4] == "1" ? "last" : "not last") }
$2 == "map" {
	print who, name("s", a[1]), a[2] "-" a[3], "prot", a[4], "kind", a[5], a[6], \
		(a[7] == "ffffffffffffffff" ? "-" : name("i", a[7])), "offset", a[8], text
}
$2 == "unmap" || $2 == "discard" || $2 == "brk" { print who, name("s", a[1]), a[2] "-" a[3] }
$2 == "mprotect" { print who, name("s", a[1]), a[2] "-" a[3], "prot", a[4] }
$2 == "remap" { print who, name("s", a[1]), a[2] "-" a[3], a[4] "-" a[5] }
$2 == "shm-attach" { print who, name("s", a[1]), a[2] "-" a[3], name("i", a[5]), (a[5] == sprintf("80000000%8s", a[4]) || substr(a[5], 1, 8) == "80000000" && substr(a[5], 17 - length(a[4])) == a[4] ? "its id" : "another id") }
$2 == "shm-detach" { print who, name("s", a[1]), a[2] }
$2 == "space-duplicate" {
	print who, name("s", a[1]), name("s", a[2])
	for (key in own) {
		split(key, part, SUBSEP)
		if (part[1] == a[1]) copies[a[2], part[2]] = own[key]
	}
	for (key in copies) own[key] = copies[key]
	delete copies
}
$2 == "space-end" { print who, name("s", a[1]) }
$2 == "cow-break" {
	if (!stack(a[2]))
		print who, name("s", a[1]), a[2], content(a[1], a[2], a[3]), (a[3] == a[4] ? "kept" : "copied")
	own[a[1], a[2]] = a[4]
}
$2 == "page-own" {
	if (!stack(a[2])) print who, name("s", a[1]), a[2], "pages", a[4]
	own[a[1], a[2]] = a[3]
}
($2 == "cache-add" || $2 == "cache-remove") && a[1] a[2] != "01" {
	key = name("i", a[2]) ":" a[3]
	print who, a[1], key, "pages", a[5] \
		($2 == "cache-add" ? "" : cached[a[4]] == key ? " its frame" : " another frame")
	if ($2 == "cache-add") cached[a[4]] = key
	else delete cached[a[4]]
}
$2 == "file" { print who, a[1], name("i", a[2]), "kind", a[3], text }
$2 == "syscall-enter" { printf "%s %s abi %s args", who, a[1], a[2]; for (i = 3; i <= 7; i++) printf " %s", (a[1] == "fa" ? a[i] : "*"); print "" }
$2 == "syscall-exit" { print who, a[1], "abi", a[2], "result", (a[1] == "2" ? name("t", a[3]) : a[3]) }
$2 == "swap-out" || $2 == "swap-in" { print who, name("s", a[1]), a[2] }
