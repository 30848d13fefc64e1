# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# The books of a busy guest balance: a parallel make, threads, shared libraries,
# shared memory, signals, a disk, and more memory in use than there is (busy/).
# Recorded in full and recorded reduced; and the load was what it claims to be.
"$GUEST/busy/build" "$BUILDDIR/build/kernel" "$BUILDDIR/build/module" "$IMAGE/busy" \
	>"$WORK/busy-image.log" 2>&1 || fail "no image: $(tail -n 1 "$WORK/busy-image.log")"
IMAGE=$IMAGE/busy

# Each run begins with the same disk.
busy() { # REDUCTION
	cp --sparse=always "$IMAGE/busy.disk" "$IMAGE/disk"
	recorded "busy-$1" busy --reduce "$1" --start off
	rm "$IMAGE/disk"
	"$LAPLACE" merge --audit --problems 1 "$WORK/busy-$1.lpl" >"$WORK/busy-$1.books" ||
		fail "$1: the books do not balance: $(grep -A 20 '^odd' "$WORK/busy-$1.books" | tr '\n' '|')"
	expect_line "$WORK/busy-$1.books" '^user references unresolved: 0$'
}
busy none
busy window:64+sad:64
references=$(sed -n 's/^references: \([0-9]*\) = of all tasks.*/\1/p' "$WORK/busy-none.books")
echo "# $references references"

# What the guest's kernel counted itself.
guest() { # KEY
	awk -v key="$1" '$1 == "busy:" && $2 == key { print $3 }' "$WORK/busy-none.serial"
}
"$LAPLACE" cat --events --format raw "$WORK/busy-window:64+sad:64.lpl" | grep '^E ' >"$WORK/busy.events"
forks=$(awk '
	$2 == "mark" && $10 == "busy-begin" { busy = 1 }
	$2 == "mark" && $10 == "busy-end" { busy = 0 }
	busy && $2 == "task-create" { forks++ }
	END { print forks + 0 }' "$WORK/busy.events")
[ "$forks" = "$(guest forks)" ] || fail "$forks tasks were told of, and $(guest forks) were created"
[ "$(guest missed)" = 0 ] || fail "the module could not see $(guest missed) calls"
[ "$(guest oom_kill)" = 0 ] || fail "the guest had to kill for memory: $(guest oom_kill)"

# At least so many of each.
awk '
	function number(hex, v, i) {
		for (i = 1; i <= length(hex); i++)
			v = v * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
		return v
	}
	function bit(value, n) {
		return int(value / 2 ^ n) % 2
	}
	{ split($9, a, ","); found[$2]++ }
	$2 == "task-create" && bit(number(a[4]), 16) { found["thread"]++ }
	$2 == "task-create" && bit(number(a[4]), 14) { found["vfork"]++ }
	$2 == "exec" && $10 ~ /\/(make|as|ld|busy|true)$/ { found["dynamic-exec"]++ }
	$2 == "exit" { found["exit-" number(a[3])]++ }
	$2 == "map" && $10 ~ /\.so/ { found["library-map"]++ }
	$2 == "swap-out" && a[1] == "0" { found["shared-swap-out"]++ }
	$2 == "swap-in" && a[1] == "0" { found["shared-swap-in"]++ }
	END {
		least["thread"] = 30; least["vfork"] = 10; least["dynamic-exec"] = 15
		least["library-map"] = 50
		least["exit-9"] = least["exit-11"] = least["exit-15"] = 2
		least["swap-out"] = least["swap-in"] = 100
		least["shared-swap-out"] = least["shared-swap-in"] = 1
		least["cow-break"] = 500; least["space-duplicate"] = 30
		least["cache-add"] = 1000; least["cache-remove"] = 500; least["file"] = 30
		least["shm-attach"] = 20; least["shm-detach"] = 12; least["remap"] = 8
		least["mprotect"] = 50; least["discard"] = 20; least["brk"] = 50
		least["unmap"] = 100
		for (what in least)
			if (found[what] < least[what]) {
				print what ": " found[what] + 0 " of " least[what]
				few = 1
			}
		exit few
	}' "$WORK/busy.events" >"$WORK/busy.few" || fail "too few events: $(tr '\n' '|' <"$WORK/busy.few")"
for key in pswpin pswpout pgsteal_direct; do
	[ "$(guest $key)" -gt 0 ] || fail "the guest's kernel counted no $key"
done
echo "# $(guest forks) tasks, $(guest pswpout) pages swapped out and $(guest pswpin) in," \
	"$(guest pgfault) faults"
