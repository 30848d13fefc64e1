# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# `laplace sim --by function' of a real run: the faults of a program with functions that reference known pages, and what
# the trace has of one of its functions, counted another way.
export LAPLACE_DATADIR=$SRCDIR LAPLACE_BOCHS=$BUILDDIR/build/bochs/laplace-bochs
export XDG_CACHE_HOME=$WORK/cache
cd "$WORK" || exit
pages=300 rounds=10
cat >hot.c <<END
#include <stdio.h>
#include <sys/mman.h>

__attribute__((noinline)) long sum_all(volatile char *pages)
{
	long sum = 0;

	for (int round = 0; round < $rounds; round++)
		for (int i = 0; i < $pages; i++)
			sum += pages[i * 4096L];
	return sum;
}

__attribute__((noinline)) void fill(volatile char *pages)
{
	for (int i = 0; i < $pages; i++)
		pages[i * 4096L] = (char)i;
}

int main(void)
{
	char *pages = mmap(NULL, $pages * 4096L, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	fill(pages);
	printf("%ld\\n", sum_all(pages));
	return 0;
}
END
${CC:-cc} -O1 -o hot hot.c
"$LAPLACE" run -q --kernel "$BUILDDIR/build/kernel" -O -r none -o hot.lpl -- ./hot >hot.stdout 2>hot.stderr ||
	fail "hot: $(cat hot.stderr)"
[ "$(cat hot.stdout)" = "$(./hot)" ] || fail "hot prints $(cat hot.stdout)"
verify hot.lpl

# In a memory of 128 pages the loop finds none of its pages, in one of 2000 each of them.
"$LAPLACE" sim --by function -s 128,2000 --files / hot.lpl >by.csv 2>by.log
column() { # SIZE FUNCTION COLUMN: of the program's
	awk -F, -v size="$1" -v name="$2" -v column="$3" '$2 == size && $4 ~ /\/hot$/ && $5 == name { print $column }' by.csv
}
within() { # WHAT NUMBER LEAST MOST
	if [ -z "$2" ] || [ "$2" -lt "$3" ] || [ "$2" -gt "$4" ]; then
		fail "$1: ${2:-none}, not $3 to $4"
	fi
}
all=$((pages * rounds))
# a few more of its code and stack, which interrupts have pushed out
within "faults of sum_all in 128 pages" "$(column 128 sum_all 8)" $all $((all + 60))
within "faults of sum_all in 2000 pages" "$(column 2000 sum_all 8)" 0 10
within "first references of sum_all" "$(column 128 sum_all 10)" 0 2
within "pages of sum_all" "$(column 128 sum_all 7)" $((pages + 1)) $((pages + 2))
within "first references of fill" "$(column 128 fill 10)" $pages $((pages + 2))
within "pages of fill" "$(column 128 fill 7)" $((pages + 1)) $((pages + 2))
[ "$(sed -n 2p by.csv | cut -d, -f5)" = sum_all ] || fail "most faults has $(sed -n 2p by.csv)"
# They are those of the simulation.
"$LAPLACE" sim -s 128,2000 hot.lpl | sed 1d | cut -d, -f2-4 >plain
grep ,,all, by.csv | cut -d, -f2,6,8 | cmp - plain || fail "the sums are not the simulation's"

# The kernel's functions have its own names; it gave the program its pages.
awk -F, '$2 == 128 && $4 == "[kernel]" { n += $6; if ($5 !~ /^\[/) named += $6 } END { exit !(named > n * 0.99) }' by.csv ||
	fail "the kernel's functions have no names"
within "references of asm_exc_page_fault" \
	"$(awk -F, '$2 == 128 && $5 == "asm_exc_page_fault" { print $6 }' by.csv)" $((pages * 10)) 1000000

# What sum_all references, by the addresses that it has.
"$LAPLACE" cat --events hot.lpl | awk '/^E map / && $NF == "hot" { split($9, a, ","); if (a[8] == "0") { print a[2]; exit } }' >base
[ -s base ] || fail "nothing maps hot"
read -r start size _ < <(nm -S hot | awk '$4 == "sum_all" { print $1, $2 }')
first=$((0x$(cat base) + 0x$start)) end=$((0x$(cat base) + 0x$start + 0x$size))
"$LAPLACE" cat --user --process hot hot.lpl | awk -v first=$first -v end=$end '
	function number(hex,    n, i) {
		for (i = 1; i <= length(hex); i++)
			n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
		return n
	}
	$1 ~ /^i/ { at = number($5); inside = at >= first && at < end }
	inside { n++ }
	END { print n + 0 }' >counted
[ "$(cat counted)" = "$(column 128 sum_all 6)" ] ||
	fail "sum_all references $(column 128 sum_all 6), and by its addresses $(cat counted)"
[ "$(cat counted)" -gt $((all * 4)) ] || fail "sum_all references only $(cat counted)"
