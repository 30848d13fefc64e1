# SPDX-License-Identifier: LGPL-2.1-or-later
# Do swap's events and the references of `laplace cat -e --format sad` fit together?  Of
# each page of a space it is known whether it is in swap, and in which entry; what is there
# cannot be referenced.  And a frame that holds a file's page or buffers is given to no space
# before it is told that they left.  Prints what does not fit, and in the end the number of
# events.
function odd(what) { if (odds++ < 10) print what ": line " NR ": " $0 }
function page(address) { return substr(address, 1, length(address) - 3) }
$1 ~ /^[rwi]$/ { if (($5, $6) in swapped) odd("a reference to what is in swap"); next }
$1 != "E" { next }
{ split($9, a, ",") }
$2 == "swap-out" && a[1] != "0" {
	if ((a[1], page(a[2])) in swapped) odd("swapped out twice")
	swapped[a[1], page(a[2])] = a[3]
	count[$2]++
}
$2 == "swap-in" && a[1] != "0" {
	if (swapped[a[1], page(a[2])] != a[3]) odd("comes from elsewhere")
	delete swapped[a[1], page(a[2])]
	count[$2]++
}
$2 == "swap-out" && a[1] == "0" {
	if ((a[7], a[8]) in segment) odd("swapped out twice")
	segment[a[7], a[8]] = a[3]
	count["segment's " $2]++
}
$2 == "swap-in" && a[1] == "0" {
	if (segment[a[7], a[8]] != a[3]) odd("comes from elsewhere")
	delete segment[a[7], a[8]]
	count["segment's " $2]++
}
# fork copies what is in swap, too
$2 == "space-duplicate" {
	split("", copies)
	for (key in swapped) {
		split(key, part, SUBSEP)
		if (part[1] == a[1]) copies[a[2], part[2]] = swapped[key]
	}
	for (key in copies) swapped[key] = copies[key]
}
$2 == "space-end" {
	for (key in swapped) {
		split(key, part, SUBSEP)
		if (part[1] == a[1]) delete swapped[key]
	}
}
$2 == "cow-break" && (a[1], page(a[2])) in swapped { odd("copied while in swap") }
$2 == "cache-add" { cached[a[4]] = 1 }
$2 == "cache-remove" {
	delete cached[a[4]]
	count[(a[1] != "0" ? "file" : a[2] == "1" ? "buffers" : "segment") " given up"]++
}
$2 == "page-own" && a[3] in cached || $2 == "cow-break" && a[3] != a[4] && a[4] in cached {
	odd("a frame with a cached page is given away")
}
# the area of stress.c
$2 ~ /^(page-own|cow-break)$/ && length(a[2]) == 8 && a[2] >= "50000000" && a[2] < "51800000" {
	count[$2 (a[3] == a[4] ? " kept" : "")]++
}
END {
	print "odd", odds + 0
	for (key in count) print key, count[key]
}
