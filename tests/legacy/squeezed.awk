# SPDX-License-Identifier: LGPL-2.1-or-later
# Has the guest that runs kvmtrace/guest/churn.c lost memory?  What is in use when it is squeezed must
# not be more by an eighth than at the beginning; nor, at the end, than after a third of the time.
# Of slabs only what exists in them counts, for the kernel keeps them to fill them again; and no
# heads of buffers, which are of pages of the log's that are left.

function value(name,  i)
{
	for (i = 1; i < NF; i++)
		if ($i == name)
			return $(i + 1)
	return 0
}

$1 == "squeezed" {
	used[$2] = value("used") - value("slab") + value("objects")
	processes[$2] = value("processes")
}

END {
	printf "in use, squeezed: %d KiB at the beginning, %d after a third of the time, %d at the " \
		"end, after %d processes\n", used[0], used[1], used[2], processes[2] - processes[0]
	exit !(used[0] > 0 && used[1] > 0 && used[2] > 0 && used[1] <= used[0] * 9 / 8 &&
	       used[2] <= used[1] * 9 / 8)
}
