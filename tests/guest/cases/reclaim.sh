# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# What reclaim takes, and what comes back, is what the guest's kernel counts itself, to the page
# (reclaim.c): of files, anonymous and shared memory, in a guest that has too little for them.
"$GUEST/reclaim-image" "$BUILDDIR/build/kernel" "$BUILDDIR/build/module" "$IMAGE/reclaim" \
	>"$WORK/reclaim-image.log" 2>&1 || fail "no image: $(tail -n 1 "$WORK/reclaim-image.log")"
IMAGE=$IMAGE/reclaim

cp --sparse=always "$IMAGE/reclaim.disk" "$IMAGE/disk"
recorded reclaim reclaim --reduce none --start off
rm "$IMAGE/disk"
"$LAPLACE" cat --events --format raw "$WORK/reclaim.lpl" | grep -E '^E (reclaim|refault|mark) ' >"$WORK/reclaim.events"

# E NAME CYCLE INSTR REF SPACE TID TGID ARGS TEXT.  What is not an error is printed as NAME COUNT;
# between the outer marks the counts are read, and nothing may happen.
awk '
	function number(hex, v, i) {
		for (i = 1; i <= length(hex); i++)
			v = v * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
		return v
	}
	BEGIN {
		none = "ffffffffffffffff"
		steal[0] = "pgsteal_kswapd"; steal[1] = "pgsteal_direct"
		names = "pgsteal_kswapd pgsteal_direct pgsteal_anon pgsteal_file pglazyfreed " \
			"workingset_refault_anon workingset_refault_file workingset_activate_anon " \
			"workingset_activate_file workingset_restore_anon workingset_restore_file"
	}
	$2 == "mark" { at = $10; next }
	at == "reclaim-0" || at == "reclaim-2" { print "while the counts were read: " $0; next }
	at != "reclaim-1" { next }
	{ split($9, a, ","); pages = number(a[5]); of = a[2] == none ? "_anon" : "_file" }
	$2 == "reclaim" {
		lazy = a[2] == none && a[6] == none
		sum[steal[number(a[7])]] += pages
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
	END {
		count = split(names, name, " ")
		for (i = 1; i <= count; i++)
			print name[i], sum[name[i]] + 0
	}' "$WORK/reclaim.events" >"$WORK/reclaim.found"
while read -r name found; do
	counted=$(awk -v name="$name" '$1 == "reclaim:" && $2 == name { print $4 - $3 }' "$WORK/reclaim.serial")
	[ "$found" = "$counted" ] || fail "$name: events of $found pages, and the kernel counts $counted"
	case $name in
	pgsteal_* | pglazyfreed | workingset_refault_*)
		[ "$found" -ge 500 ] || fail "$name: of no more than $found pages"
		;;
	esac
done <"$WORK/reclaim.found"
expect_line "$WORK/reclaim.serial" '^missed 0$'
expect_line "$WORK/reclaim.serial" '^chosen reclaim$'

# A page is reclaimed where it left, and comes back as what was reclaimed.
"$LAPLACE" cat --events --format raw "$WORK/reclaim.lpl" | awk '
	$1 != "E" { next }
	{ split($9, a, ",") }
	$2 == "swap-out" { out[a[3]] }
	$2 == "cache-remove" { left[a[1] " " a[2] " " a[3]] = a[4] }
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
	END { if (written < 500) print "no more than " written + 0 " were written" }' >"$WORK/reclaim.strange"
[ ! -s "$WORK/reclaim.strange" ] || fail "$(head -n 1 "$WORK/reclaim.strange")"
echo "# $(tr '\n' ',' <"$WORK/reclaim.found")"
