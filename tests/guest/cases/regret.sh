# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# What `laplace regret` says of the reclaim of a real guest is what regret-check works out anew from the text of the
# trace, of each evicted page, in all sums and of the worst: of a program that uses more than there is of files,
# anonymous and shared memory, shared by forks, moved, given up and truncated (pressure.c), with both kinds of LRU,
# where records are missing, and where tracing is off now and then.
export LAPLACE_DATADIR=$SRCDIR LAPLACE_BOCHS=$BUILDDIR/build/bochs/laplace-bochs
cd "$WORK" || exit
"${CC:-gcc}" -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -static -Wl,--build-id=none -o pressure "$SRCDIR/tests/guest/pressure.c"

recorded_under_pressure() { # NAME LRU_GEN [BEFORE]
	"$LAPLACE" run --kernel "$BUILDDIR/build/kernel" -q -O -r none --events reclaim --usable-memory 32 --swap 64 \
		-o "$1.lpl" --with ./pressure -- sh -c "echo $2 >/sys/kernel/mm/lru_gen/enabled
			echo 100 >/proc/sys/vm/swappiness
			${3:-}
			exec ./pressure f" >"$1.log" 2>&1 || fail "$1: $(tail -n 1 "$1.log")"
}

regret_agrees() { # NAME CUTS PAGES: at least so many cuts, and of each kind so many pages that were missed
	"$GUEST/regret-agrees" "$LAPLACE" "$PROGRAMS/regret-check" "$1.lpl" >"$1.agrees" || fail "$1: $(cat "$1.agrees")"
	awk -v name="$1" -v cuts="$2" -v pages="$3" '
		{ value[$1] = $2 }
		END {
			if (value["cuts"] < cuts || (cuts > 0 && value["all.cut"] < 100))
				exit 1
			exit value["by_kind.anonymous.used"] < pages || value["by_kind.file.used"] < pages
		}' "$1.lpl.sums" ||
		fail "$1: hardly a page was missed, or cut: $(grep -E '^(cuts|all.cut|by_kind.*used) ' "$1.lpl.sums" | xargs)"
	echo "# $1: $(cat "$1.agrees"), $(grep -E '^(cuts|by_kind.*evicted|all.optimal|all.cut) ' "$1.lpl.sums" | xargs)"
}

recorded_under_pressure regret-lists n
regret_agrees regret-lists 0 300

# one chunk of it is damaged
cp regret-lists.lpl regret-damaged.lpl
dd if=/dev/zero of=regret-damaged.lpl bs=4096 count=1 seek=$(($(stat -c %s regret-lists.lpl) * 35 / 100 / 4096)) conv=notrunc status=none
"$LAPLACE" repair -o regret-gap.lpl regret-damaged.lpl >regret-gap.log 2>&1 || true
rm regret-lists.lpl regret-damaged.lpl
regret_agrees regret-gap 1 100
rm regret-gap.lpl

recorded_under_pressure regret-generations y
regret_agrees regret-generations 0 300
rm regret-generations.lpl

recorded_under_pressure regret-windows y 'while sleep 1; do echo stop >/dev/laplace; sleep 0.2; echo start >/dev/laplace; done &'
regret_agrees regret-windows 3 100
rm regret-windows.lpl
