# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# The books of a whole run balance; and its parts, by task and by kind of page, add up.
raw=$(known none)
"$LAPLACE" merge --audit --problems 1 "$raw" >"$WORK/books" ||
	fail "the books do not balance: $(grep -A 20 '^odd' "$WORK/books" | tr '\n' '|')"
references=$(sed -n 's/^references: \([0-9]*\) = of all tasks.*/\1/p' "$WORK/books")
echo "# $references references"

# A file for each task: all references are there, each once, and in order.
rm -rf "$WORK/tasks"
"$LAPLACE" merge --format per-process -o "$WORK/tasks" "$raw" >"$WORK/tasks.summary"
for file in "$WORK"/tasks/*/*; do
	grep -c '^[a-z]' "$file" || true
done | awk -v expected="$references" '
	{ sum += $1 }
	END { if (sum != expected) { print sum " lines are references"; exit 1 } }' ||
	fail "the files of the tasks do not add up to $references references"
for file in "$WORK"/tasks/*/*; do
	cut -d ' ' -f 2 "$file" | awk '{ printf "%16s\n", $1 }' | LC_ALL=C sort -c ||
		fail "$file: cycles run backwards"
done

# The exerciser: a process, four children, and in the first three more threads
# (disk-images/exerciser.c).
awk -F , '$11 == "\"exerciser\"" { files[$1]++ } END { for (d in files) print files[d] }' \
	"$WORK/tasks/tasks.csv" | sort | tr '\n' ' ' >"$WORK/tasks.found"
echo '1 1 1 1 4 ' | tr -d '\n' >"$WORK/tasks.expected"
expect_same "the exerciser's tasks by process" "$WORK/tasks.expected" "$WORK/tasks.found"
rm -rf "$WORK/tasks"

# By kind of page.
"$LAPLACE" merge --overwrite --format canonical -o "$WORK/canonical.lpl" "$raw" >/dev/null
sum=0
for kind in anonymous file shm special kernel page-table; do
	part=$("$LAPLACE" sim -s 64 --kind $kind "$WORK/canonical.lpl" | awk -F , 'END { print $3 }')
	sum=$((sum + part))
done
[ "$sum" -eq "$references" ] || fail "the kinds of pages have $sum references of $references"
rm -f "$WORK/canonical.lpl"

# The report has the same sums, by task and by process; and somebody ran at any time.
"$LAPLACE" report --json "$raw" >"$WORK/report.json"
awk -v references="$references" -v tasks="$(sed -n 's/^tasks: \([0-9]*\) = .*/\1/p' "$WORK/books")" \
	-v added="$(sed -n 's/^page cache, pages added: \([0-9]*\) .*/\1/p' "$WORK/books")" '
	/^  "[a-z_]*":/ { section = $1 }
	section == "\"time\":" && $1 == "\"length\":" { length_told = $2 + 0 }
	section == "\"page_cache\":" && $1 == "\"pages_added\":" { added_told = $2 + 0 }
	/^      "references":/ { sum[section] += $2; lines[section]++ }
	/^        "runs":/ { ran += $2 }
	function same(what, told, found) {
		if (told != found || told == 0) {
			print what ": " told " in the books, " found " in the report"
			exit 1
		}
	}
	END {
		same("references of tasks", references, sum["\"tasks\":"])
		same("references of processes", references, sum["\"processes\":"])
		same("tasks", tasks, lines["\"tasks\":"] - 1)	# and idle
		same("pages of the page cache", added, added_told)
		same("time", length_told, ran)
	}' "$WORK/report.json" >"$WORK/report.wrong" || fail "$(cat "$WORK/report.wrong")"
rm -f "$WORK/report.json"
