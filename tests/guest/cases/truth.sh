# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# Pages are one canonical page exactly when the guest's kernel has them in one
# frame (truth/family.h): for a family recorded in full, for the same recorded
# reduced, and for one of which nothing but events was recorded.
check() { # NAME: the samples that the guest printed against the trace
	verify "$WORK/$1.lpl"
	"$PROGRAMS/truth-check" "$WORK/$1.lpl" "$WORK/$1.serial" >"$WORK/$1.truth" ||
		fail "$1: $(grep -m 1 '^sample .*:$' "$WORK/$1.truth"), and more in $WORK/$1.truth"
	tail -n 1 "$WORK/$1.truth"
}
references() { # NAME
	"$LAPLACE" info --json "$WORK/$1.lpl" | sed -n 's/^ *"before": \([0-9]*\),*$/\1/p' | head -n 1
}

recorded truth-none truth --reduce none --start off
check truth-none
recorded truth-window truth --reduce window:64+sad:64 --start off
check truth-window
recorded truth-events truth-events --reduce none --start off
check truth-events

all=$(references truth-none)
few=$(references truth-events)
echo "# $all references, and $few"
[ "$few" -lt $((all / 20)) ] || fail "of truth-events $few references were recorded, which are too many"
