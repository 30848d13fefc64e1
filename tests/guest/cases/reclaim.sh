# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# What the events of reclaim say is what the guest's kernel counts itself, to the page (reclaim.c): which pages
# it looks at, takes, writes, reads, activates, and which come back; faults, and what it does for want of memory.
# And each page's way through the lists agrees with itself and with what reclaim took from them.
# In a guest that has too little for files, anonymous and shared memory, with both kinds of LRU.

readonly CHOSEN="reclaim|refault|scan|activate|deactivate|write-out|swap-write|swap-read|fault|kswapd|direct-reclaim|oom-kill|age|stall|write-back|watermark|place|isolate"

# The sums of events, as NAME COUNT, by the names of /proc/vmstat; and what is not as it should be, as
# other lines: between the outer marks the counts are read, and nothing may happen.
sums_of_events() { # LRU_GEN COUNT-AGAIN <EVENTS
	# E NAME CYCLE INSTR REF SPACE TID TGID ARGS TEXT
	awk -v generations="$1" -v count_again="$2" '
	function number(hex, v, i) {
		for (i = 1; i <= length(hex); i++)
			v = v * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
		return v
	}
	BEGIN {
		none = "ffffffffffffffff"
		by["0"] = "_kswapd"; by["1"] = "_direct"
		split("anon anon file file anon file", type)
		names = "pgsteal_kswapd pgsteal_direct pgsteal_anon pgsteal_file pglazyfreed " \
			"workingset_refault_anon workingset_refault_file workingset_restore_anon " \
			"workingset_restore_file pgscan_kswapd pgscan_direct pgscan_anon pgscan_file pgactivate " \
			"nr_vmscan_write pswpout pswpin pgfault pgmajfault pageoutrun allocstall oom_kill " \
			"pgdeactivate pgrotated pglazyfree nr_written"
		# with generations other pages are counted as these, too
		names = names (generations == "y" ? " generation" : " workingset_activate_anon " \
			"workingset_activate_file pgrefill")
	}
	$2 == "mark" { at = $10; next }
	$2 ~ /^(swap-in|swap-out|cache-remove)$/ && at != "reclaim-1" { next }
	at == "reclaim-0" || at == "reclaim-2" { print "while the counts were read: " $0; next }
	at != "reclaim-1" { next }
	{ split($9, a, ","); pages = number(a[5]); of = a[2] == none ? "_anon" : "_file" }
	$2 == "swap-in" { swapped += a[1] != "0" }
	$2 == "reclaim" {
		lazy = a[2] == none && a[6] == none
		sum["pgsteal" by[a[7]]] += pages
		sum["pgsteal" (lazy ? "_file" : of)] += pages
		if (lazy)
			sum["pglazyfreed"] += pages
	}
	$2 == "refault" {
		if (number(a[7]))
			sum["workingset_activate" of] += pages
		if (number(a[8]))
			sum["workingset_refault" of] += pages
		if (number(a[9]))
			sum["workingset_restore" of] += pages
	}
	$2 == "scan" {
		if (number(a[3]) > number(a[2]))
			print "more were taken than scanned: " $0
		if (a[1] == 1 || a[1] == 3) {
			sum["pgrefill"] += number(a[2])
		} else {
			sum["pgscan" by[a[4]]] += number(a[2])
			sum["pgscan_" type[a[1] + 1]] += number(a[2])
		}
	}
	$2 == "activate" { sum["pgactivate"] += pages; moved[a[7]] += pages }
	$2 == "deactivate" { sum["pgdeactivate"] += pages }
	$2 == "place" && a[9] == 4 { sum["pgrotated"] += pages }
	$2 == "place" && a[9] == 5 { sum["pglazyfree"] += pages }
	$2 == "write-back" && !number(a[7]) { sum["nr_written"] += pages }
	$2 == "write-out" { sum["nr_vmscan_write"] += pages }
	$2 == "swap-write" { sum["pswpout"] += pages }
	$2 == "swap-read" && number(a[7]) { sum["pswpin"] += pages }
	$2 == "fault" {
		sum["pgfault"] += a[6] != 1 || count_again
		sum["pgmajfault"] += number(a[5])
		if (number(a[5]) && a[3] != 1 && a[3] != 2)
			print "it is not major: " $0
		swap_faults += a[3] == 2 && a[6] == 0
	}
	$2 == "kswapd" && number(a[1]) { sum["pageoutrun"]++ }
	$2 == "direct-reclaim" {
		if (number(a[1]) == inside[$7])
			print "it begins or ends twice: " $0
		inside[$7] = number(a[1])
		sum["allocstall"] += number(a[1])
	}
	$2 == "oom-kill" { sum["oom_kill"]++ }
	$2 == "age" {
		if (last && number(a[1]) != last + 1)
			print "not the next generation: " $0
		last = number(a[1])
		sum["generation"]++
	}
	# while any task is stalled
	$2 == "stall" && number(a[1]) { if ($7 in stalled) print "it is stalled twice: " $0; stalled[$7] }
	$2 == "stall" && number(a[1]) && stalls++ == 0 { since = number($3) }
	$2 == "stall" && !number(a[1]) { if (!($7 in stalled)) print "it was not stalled: " $0; delete stalled[$7] }
	$2 == "stall" && !number(a[1]) && --stalls == 0 { time += number($3) - since }
	END {
		print "stalled", int(time / 100)
		count = split(names, name, " ")
		for (i = 1; i <= count; i++)
			print name[i], sum[name[i]] + 0
		if (swap_faults != swapped)
			print swap_faults + 0 " faults for swap, and " swapped + 0 " pages came back"
		if (moved["0"] < 20 || moved["1"] < 20)
			print "hardly a page was active for its use (" moved["0"] + 0 ") or as reclaim saw it (" \
				moved["1"] + 0 ")"
	}'
}

# What the kernel counted itself.
counted() { # NAME SERIAL
	awk -v name="$1" '
	$1 == "reclaim:" && ($2 == name || (name == "allocstall" && $2 ~ /^allocstall_/)) { sum += $4 - $3 }
	END { print sum + 0 }' "$2"
}

# A page is reclaimed where it left, and comes back as what was reclaimed; it is in swap where it was written.
strange_events() { # <EVENTS
	awk '
	{ split($9, a, ",") }
	$2 == "swap-out" { out[a[3]]; delete early[a[3]] }
	$2 == "cache-remove" { left[a[1] " " a[2] " " a[3]] = a[4] }
	# shared memory leaves its file when it has been written
	$2 == "swap-write" { if (!(a[6] in out)) early[a[6]] = $0; in_swap[a[6]] }
	# what is all zeros need not be, in later kernels
	$2 == "swap-read" && a[7] != 0 && !(a[6] in in_swap) { print "it was never written: " $0 }
	$2 != "reclaim" && $2 != "refault" { next }
	{ name = a[1] " " a[2] " " a[3] " " a[6]; file = a[2] != "ffffffffffffffff" }
	$2 == "reclaim" {
		gone[name]
		if (file ? left[a[1] " " a[2] " " a[3]] != a[4] : a[6] != "ffffffffffffffff" && !(a[6] in out))
			print "it was there: " $0
		if (a[8] == 1)
			written++
	}
	$2 == "refault" && !(name in gone) { print "it was not reclaimed: " $0 }
	END {
		for (slot in early)
			print "it has not left: " early[slot]
		if (written < 500)
			print "no more than " written + 0 " were written"
	}'
}

# A page is put where it is not yet, is taken from where it is, and of the generation of which it is; what reclaim
# has taken is what it says it has.  What is in the page cache is in a list, but for the last ones, which wait.
strange_places() { # <EVENTS
	awk '
	BEGIN { none = "ffffffffffffffff" }
	{ split($9, a, ","); frame = a[4]; page = a[1] " " a[2] " " a[3] }
	$2 == "cache-add" { waits[page] }
	$2 == "cache-remove" { delete waits[page] }
	$2 == "place" {
		placed[a[9]]++
		if (a[9] == 0)
			delete waits[page]
		else if ((frame in listed) && listed[frame] != (a[9] != 1))
			print "it was " (listed[frame] ? "" : "not ") "in a list: " $0
		listed[frame] = 1
		generation[frame] = a[8]
	}
	$2 == "isolate" {
		taken[a[7]]++
		if ((frame in listed) && !listed[frame])
			print "it was in no list: " $0
		if (a[8] != none && (frame in generation) && generation[frame] != none) {
			checked++
			if (generation[frame] != a[8])
				print "it was of generation " generation[frame] ": " $0
		}
		listed[frame] = 0
		generation[frame] = none
	}
	$2 == "scan" { for (pages = 0; length(a[3]); a[3] = substr(a[3], 2))
			pages = pages * 16 + index("0123456789abcdef", substr(a[3], 1, 1)) - 1
		said[a[1]] += pages
	}
	END {
		for (list in said)
			if (said[list] != taken[list])
				print "of list " list ", " taken[list] + 0 " pages, and " said[list] " by scans"
		for (page in waits)
			waiting++
		if (waiting > 31)
			print waiting " pages of the cache are in no list"
		# only generations know the last two
		for (cause = 0; cause < (checked ? 8 : 6); cause++) {
			counts = counts " " placed[cause] + 0
			if (placed[cause] < 20)
				print "hardly a page was placed for cause " cause
		}
		print "places" counts ", taken of known generations " checked + 0
	}'
}

# When kswapd is woken for single pages, not every zone has enough, or its marks were raised for that; when it sleeps,
# one has.
strange_watermarks() { # SERIAL EVENTS
	awk '
	function number(hex, v, i) {
		for (i = 1; i <= length(hex); i++)
			v = v * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
		return v
	}
	function judge() {
		if (zones && (wanted ? !below : !above))
			print "no zone has " (wanted ? "too little" : "enough") " before " $0
		zones = below = above = 0
	}
	FILENAME == ARGV[1] && $1 == "watermark" && NF == 5 { differ[$2] = $4 - $3 " " $5 - $3 }
	FILENAME == ARGV[1] { next }
	FNR == 1 { pass++ }
	$2 == "watermark" {
		split($9, a, ",")
		zone = number(a[3]); free = number(a[4]); min = number(a[5]); low = number(a[6]); high = number(a[7])
	}
	$2 == "watermark" && pass == 1 {
		if (!(zone in least) || min < least[zone])
			least[zone] = min
		if (differ[zone] != low - min " " high - min)
			print "its marks are not those of /proc/zoneinfo (min and " differ[zone] "): " $0
	}
	pass == 1 { next }
	$2 != "watermark" || (zones && zone <= last) { judge() }
	$2 == "watermark" {
		last = zone; wanted = number(a[1])
		zones++; seen[wanted]++
		below += free < high || min > least[zone] || a[8] != 0; above += free >= high
	}
	END { if (seen[0] < 2 || seen[1] < 2) print "hardly a watermark was reported" }' "$1" "$2" "$2"
}

reclaim_agrees() { # LRU_GEN
	local run=reclaim-$1 found name again=1
	"$GUEST/reclaim-image" "$BUILDDIR/build/kernel" "$BUILDDIR/build/module" "$IMAGE/reclaim" "$1" \
		>"$WORK/reclaim-image.log" 2>&1 || fail "no image: $(tail -n 1 "$WORK/reclaim-image.log")"
	cp --sparse=always "$IMAGE/reclaim/reclaim.disk" "$IMAGE/reclaim/disk"
	IMAGE=$IMAGE/reclaim recorded "$run" reclaim --reduce none --start off
	rm "$IMAGE/reclaim/disk"
	expect_line "$WORK/$run.serial" '^missed 0$'
	expect_line "$WORK/$run.serial" '^chosen reclaim,lists$'
	expect_line "$WORK/$run.serial" "^lru_gen: 0x000$([ "$1" = y ] && echo '[1-7]' || echo 0)\$"
	"$LAPLACE" cat --events --format raw "$WORK/$run.lpl" |
		grep -E "^E ($CHOSEN|mark|swap-in|swap-out|cache-remove) " >"$WORK/$run.events"
	# a fault that is to be tried again counts up to 6.4
	# shellcheck source=/dev/null
	. "$BUILDDIR/build/kernel/kernel.env"
	[ "$(printf '%s\n' 6.5 "$KERNEL_RELEASE" | sort -V | head -n 1)" != 6.5 ] || again=0
	sums_of_events "$1" "$again" <"$WORK/$run.events" >"$WORK/$run.found"
	grep -Ev '^[a-z_]+ [0-9]+$' "$WORK/$run.found" >"$WORK/$run.strange" &&
		fail "lru_gen $1: $(head -n 1 "$WORK/$run.strange")"
	while read -r name found; do
		# microseconds, by a clock that is not ours
		if [ "$name" = stalled ]; then
			awk -v found="$found" -v counted="$(counted stalled "$WORK/$run.serial")" \
				'BEGIN { exit found > counted * 1.02 || found < counted / 1.02 }' ||
				fail "lru_gen $1: stalled for $found us, and the kernel counts $(counted stalled "$WORK/$run.serial")"
			continue
		fi
		[ "$found" = "$(counted "$name" "$WORK/$run.serial")" ] ||
			fail "lru_gen $1: $name: events of $found, and the kernel counts $(counted "$name" "$WORK/$run.serial")"
		case $name in
		pgsteal_* | pglazyfreed | workingset_refault_* | pgscan_* | pswp* | pgfault | nr_vmscan_write)
			[ "$found" -ge 100 ] || fail "lru_gen $1: $name: no more than $found"
			;;
		pgmajfault | pgactivate | pgdeactivate | pgrotated | pglazyfree | nr_written | pgrefill | pageoutrun | allocstall | oom_kill | generation)
			[ "$found" -ge 1 ] || fail "lru_gen $1: $name: there is none"
			;;
		esac
	done <"$WORK/$run.found"
	strange_events <"$WORK/$run.events" >"$WORK/$run.strange"
	strange_watermarks "$WORK/$run.serial" "$WORK/$run.events" >>"$WORK/$run.strange"
	[ ! -s "$WORK/$run.strange" ] || fail "lru_gen $1: $(head -n 1 "$WORK/$run.strange")"
	strange_places <"$WORK/$run.events" >"$WORK/$run.places"
	grep -v '^places' "$WORK/$run.places" >"$WORK/$run.strange" &&
		fail "lru_gen $1: $(head -n 1 "$WORK/$run.strange")"
	[ "$1" = n ] || grep -q 'generations [0-9]\{4,\}$' "$WORK/$run.places" ||
		fail "lru_gen $1: hardly a page's generation was known: $(cat "$WORK/$run.places")"
	echo "# lru_gen $1: $(cat "$WORK/$run.places")"
	echo "# lru_gen $1: $(tr '\n' ',' <"$WORK/$run.found")"
}

reclaim_agrees n
reclaim_agrees y
