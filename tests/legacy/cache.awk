# SPDX-License-Identifier: LGPL-2.1-or-later
# Are the caches that the events tell of as large as the kernel counts them (the marks
# "memory B C" of guest/memory.c)?  Segments are in no cache of the kernel's.
function is_buffer(a) { return a[1] == "0" && a[2] == "1" }
function is_segment(a) { return a[1] == "0" && a[2] != "1" }
$1 != "E" { next }
{ split($9, a, ",") }
$2 == "cache-add" && !is_segment(a) { held[is_buffer(a)] += a[5] }
$2 == "cache-remove" && !is_segment(a) { held[is_buffer(a)] -= a[5] }
$2 == "mark" && $10 == "memory" {
	marks++
	print "buffers " held[1] ", cached " held[0] "; the kernel: " $11 ", " $12
	buffers += held[1] != $11
	cached += held[0] != $12
}
END {
	print marks + 0 " marks: buffers differ at " buffers + 0 ", cached pages at " cached + 0
}
