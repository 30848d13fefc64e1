# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# The events that the exerciser must cause are there, by its tasks, in their
# order, and each between the marks where it belongs (disk-images/exerciser.c).
raw=$(known none)
"$LAPLACE" cat --events --format raw "$raw" | grep '^E ' >"$WORK/events"
# What has not been chosen is not reported.
chosen='reclaim|refault|scan|activate|deactivate|write-out|swap-write|swap-read|fault|kswapd|direct-reclaim|oom-kill|age|stall|write-back|watermark|place|isolate'
if grep -E "^E ($chosen) " "$WORK/events"; then
	fail "events that have not been chosen"
fi

# E NAME CYCLE INSTR REF SPACE TID TGID ARGS TEXT
awk '
	$2 == "mark" { mark = $10 }
	$2 == "exec" && $10 == "/bin/exerciser" { main = $7; ours[main]; mark = "-" }
	$2 == "task-create" && ($8 in ours) && $10 == "exerciser" { split($9, a, ","); ours[number(a[2])] }
	!($8 in ours) { next }
	{ who = $8 == main ? "main" : "child"; split($9, a, ",") }
	$2 == "mark" { print "mark", $10 }
	$2 == "exec" { print "exec", who }
	$2 == "task-create" { print mark, who, "creates", number(a[2]) == main ? "thread" : "process" }
	$2 == "space-duplicate" { print mark, who, "duplicates" }
	$2 == "exit" { if (a[4] == 1) print mark, who, "exits"; else threads++ }
	($2 == "map" || $2 == "unmap" || $2 == "shm-attach" || $2 == "shm-detach") && a[2] ~ /^2[0-4]/ && length(a[2]) == 12 && \
	!(mark == "remap" && $2 == "unmap") { print mark, who, $2, a[2], $2 == "map" ? "kind " a[5] : "" }
	# How the kernel unmaps what it moved from is its own affair.
	mark == "remap" && $2 == "unmap" { unmapped[a[2]] }
	$2 == "remap" { print mark, who, $2, a[2], a[3], a[4], a[5] }
	$2 == "cow-break" && a[2] ~ /^20000/ { cow[mark " " who " " (a[3] == a[4] ? "keeps" : "copies")]++ }
	$2 == "cache-add" && mark == "file-twice" { added++ }
	$2 == "brk" { if (mark == "heap") print mark, who, "brk" }
	END {
		for (c in cow) print "cow:", c, cow[c] | "sort"
		close("sort")
		print "file pages added", added
		print "threads gone", threads
		print "shrunk:", "241000008000" in unmapped, "unmapped:", "240000000000" in unmapped
	}
	function number(hex, v, i) {
		for (i = 1; i <= length(hex); i++)
			v = v * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
		return v
	}' "$WORK/events" | sed 's/ *$//' >"$WORK/events.found"

# Kinds of mappings are those of enum ktr_map_kind: 0 anonymous, 1 a private file,
# 2 a shared file, 3 a segment.  Of 32 pages each: a child's writes copy, twice;
# so do the parent's to a private file's pages; and when the child is gone, the
# parent's keep.
cat >"$WORK/events.expected" <<'END'
exec main
mark file-twice
file-twice main map 200000000000 kind 2
file-twice main unmap 200000000000
file-twice main map 210000000000 kind 2
file-twice main map 200000000000 kind 2
file-twice main unmap 200000000000
file-twice main unmap 210000000000
mark file-in-child
file-in-child main map 200000000000 kind 2
file-in-child main duplicates
file-in-child main creates process
file-in-child child unmap 200000000000
file-in-child child map 220000000000 kind 2
file-in-child child exits
file-in-child main unmap 200000000000
mark copy-on-write
copy-on-write main map 200000000000 kind 0
copy-on-write main duplicates
copy-on-write main creates process
copy-on-write child exits
copy-on-write main unmap 200000000000
copy-on-write main map 200000000000 kind 1
copy-on-write main duplicates
copy-on-write main creates process
copy-on-write child exits
copy-on-write main unmap 200000000000
mark system-v
system-v main map 230000000000 kind 3
system-v main shm-attach 230000000000
system-v main map 231000000000 kind 3
system-v main shm-attach 231000000000
system-v main duplicates
system-v main creates process
system-v child map 232000000000 kind 3
system-v child shm-attach 232000000000
system-v child unmap 232000000000
system-v child shm-detach 232000000000
system-v child exits
system-v main unmap 230000000000
system-v main shm-detach 230000000000
system-v main unmap 231000000000
system-v main shm-detach 231000000000
mark threads
threads main map 200000000000 kind 0
threads main creates thread
threads main creates thread
threads main creates thread
threads main unmap 200000000000
mark remap
remap main map 240000000000 kind 0
remap main remap 240000000000 240000010000 241000000000 241000010000
remap main remap 241000000000 241000008000 240000000000 240000008000
remap main map 240000008000 kind 0
mark heap
heap main brk
heap main brk
mark stack
mark beacon-begin
mark beacon-end
beacon-end main exits
cow: copy-on-write child copies 64
cow: copy-on-write main copies 32
cow: copy-on-write main keeps 64
file pages added 16
threads gone 3
shrunk: 1 unmapped: 1
END
expect_same "events" "$WORK/events.expected" "$WORK/events.found"
