# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# symbols.sh: the symbols of the guest's kernel, for `laplace report`.  Debian's kernel packages have none, so
# the guest itself says them, in a run of its own, once for each guest; its addresses are the same in every run.
# Read by `run`, which has these variables.  LAPLACE_LISTS_SYMBOLS, in the environment, says that this is that run,
# with a program that is root.
# shellcheck disable=SC2154 # they are set there

# The list is in the cache by what the guest boots from, which a trace's recipe has, too.  A module's symbols are left
# out: where modules are depends on which ones were loaded before.  An empty list means that there is none.
# Sets `guest_hash`.
list_symbols() {
	local list
	guest_hash=$(hash_of "$image/bin-start-program.iso")
	list=${image%/*/*}/symbols-$guest_hash
	if [ -n "${LAPLACE_LISTS_SYMBOLS:-}${LAPLACE_REPRODUCES:-}" ] || [ -e "$list" ]; then
		return 0
	fi
	say "listing the kernel's symbols (once) ..."
	# what fails for want of room, say, is tried again the next time
	if long env -C / LAPLACE_LISTS_SYMBOLS=yes "$laplace" run "${guest[@]}" -q --clear-env -o "$scratch/symbols.lpl" \
		-- cat /proc/kallsyms </dev/null >"$scratch/kallsyms" 2>"$scratch/err" &&
		keep_symbols "$scratch/kallsyms" "$list.$$" 2>>"$scratch/err"; then
		mv "$list.$$" "$list"
	else
		say "the kernel's symbols could not be listed (laplace report has addresses only)$(
			tail -n 1 "$scratch/err" | plain | sed 's/^/: /')"
		rm -f "$list.$$"
	fi
	rm -f "$scratch/symbols.lpl" "$scratch/kallsyms" "$scratch/err"
}

# Nothing is kept of a list without the kernel's beginning: a kernel may hide its addresses.
keep_symbols() { # LIST WHERE
	if grep -q '^ffffffff[0-9a-f]* T _text$' "$1"; then
		awk '!/\[/' "$1" >"$2"
	else
		: >"$2"
	fi
}
