# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# Every fetch is marked with the mode it was made in: this kernel executes nothing
# from the user's half of an address space, and no program from the kernel's.
raw=$(known none)
"$PROGRAMS/inspect-trace" modes "$raw" | tee "$WORK/modes"
value() {
	awk -v name="$1" '$1 == name { print $2 }' "$WORK/modes"
}
[ "$(value user-fetches-from-user-half)" -gt 10000 ] || fail "hardly a fetch in user mode"
[ "$(value kernel-fetches-from-kernel-half)" -gt 10000 ] || fail "hardly a fetch in kernel mode"
[ "$(value user-fetches-from-kernel-half)" -eq 0 ] ||
	fail "$(value user-fetches-from-kernel-half) fetches of the kernel's code are marked as the user's"
[ "$(value kernel-fetches-from-user-half)" -eq 0 ] ||
	fail "$(value kernel-fetches-from-user-half) fetches of programs' code are marked as the kernel's"
