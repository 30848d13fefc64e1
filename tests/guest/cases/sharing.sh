# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# What the exerciser shares, copies and moves, as canonical pages and tasks: the
# list below follows from disk-images/exerciser.c alone.  Pages are numbered as
# they first appear in a phase, processes and threads in the order of their ids.
raw=$(known none)
"$PROGRAMS/inspect-trace" references "$raw" "$HOMES_START" "$HOMES_END" >"$WORK/homes"

# MARK PROCESS THREAD MODE TYPE LENGTH ADDRESS PAGE.  Threads run in whatever
# order the kernel likes: theirs are sorted, each by itself.
{
	grep -v '^threads ' "$WORK/homes"
	grep '^threads ' "$WORK/homes" | sort -s -k 3,3n
} | awk '
	$1 != mark { mark = $1; split("", page); pages = 0; split("", thread); threads = 0 }
	!($4 in process) { process[$4] = processes++ }
	!($3 in thread) { thread[$3] = threads++ }
	!($9 in page) { page[$9] = pages++ }
	{ print mark, $2, process[$4], mark == "threads" ? thread[$3] : 0, $5, $6, $7, $8, page[$9] }
' >"$WORK/sharing.found"

awk '
	function offset(i, byte, times, t) {
		if (times)
			return t
		return byte >= 0 ? byte : i
	}
	# One access to each of `count` pages at home, which are canonical pages from
	# `first` on; the byte within a page is its number, or `byte` when that is given.
	function each(type, home, count, first, byte, times, i, t) {
		for (i = 0; i < count; i++)
			for (t = 0; t < (times ? times : 1); t++)
				printf "%s exerciser %d %d u %s 1 %s%04x%03x %d\n", mark, process, thread, type,
					home, i, offset(i, byte, times, t), first + i
	}
	function copy_on_write(child) {
		each("w", FIRST, 32, page, -1)
		process = child
		each("r", FIRST, 32, page, -1)
		each("w", FIRST, 32, page + 32, -1)	# the child breaks the sharing ...
		each("r", FIRST, 32, page + 32, -1)
		process = 0
		each("r", FIRST, 32, page, -1)	# ... and the parent keeps what it had
		each("w", FIRST, 32, page, -1)
		page += 64
	}
	BEGIN {
		FIRST = "20000"; SECOND = "21000"; CHILD = "22000"
		mark = "file-twice"
		each("w", FIRST, 16, 0, -1); each("r", SECOND, 16, 0, -1)
		each("w", FIRST, 16, 0, -1); each("r", SECOND, 16, 0, -1)
		mark = "file-in-child"
		each("w", FIRST, 16, 0, -1)
		process = 1; each("r", CHILD, 16, 0, -1); each("w", CHILD, 16, 0, -1)
		process = 0; each("r", FIRST, 16, 0, -1)
		mark = "copy-on-write"
		copy_on_write(2)
		copy_on_write(3)
		mark = "system-v"
		each("w", "23000", 8, 0, -1); each("r", "23100", 8, 0, -1)
		process = 4; each("r", "23200", 8, 0, -1); each("w", "23200", 8, 0, -1)
		process = 0; each("r", "23000", 8, 0, -1)
		mark = "remap"
		each("w", "24000", 16, 0, -1); each("r", "24100", 16, 0, -1)
		each("r", "24000", 8, 0, -1)	# shrunk to 8 pages, moved back ...
		page = 0
		each("w", "24000", 8, 0, -1)
		for (i = 8; i < 16; i++)	# ... and grown by 8 new ones
			printf "remap exerciser 0 0 u w 1 24000%04x%03x %d\n", i, i, 8 + i
		mark = "threads"
		each("r", FIRST, 16, 0, -1, 3)
		for (thread = 1; thread <= 3; thread++)
			each("w", FIRST, 16, 0, thread - 1)
	}' >"$WORK/sharing.expected"
expect_same "who shares which page" "$WORK/sharing.expected" "$WORK/sharing.found"

# The one file of both phases is one file.
awk '$1 ~ /^file-/ { page[$9] } END { for (p in page) n++; exit n != 16 }' "$WORK/homes" ||
	fail "one file of 16 pages is other than 16 canonical pages"

# And of all references of programs none is left without a home.
"$LAPLACE" merge --overwrite --format global --json -o "$WORK/global" "$raw" >"$WORK/merge.json"
rm -f "$WORK/global"
unresolved=$(sed -n 's/.*"user_unresolved": \([0-9]*\).*/\1/p' "$WORK/merge.json")
echo "# user references unresolved: $unresolved"
[ "$unresolved" -eq 0 ] || fail "$unresolved references of programs have no known mapping"
