# SPDX-License-Identifier: LGPL-2.1-or-later
# Has the guest that runs kvmtrace/guest/churn.c lost memory?  What is in use when it is squeezed,
# without the heads of buffers (they are of the log's pages that are left), must not be more by an
# eighth than at the beginning; nor, at the end, than after a third of the time.

function value(name,  i)
{
	for (i = 1; i < NF; i++)
		if ($i == name)
			return $(i + 1)
	return 0
}

$1 == "squeezed" {
	used[$2] = value("used") - value("heads")
	processes[$2] = value("processes")
}

END {
	printf "in use, squeezed, without heads: %d KiB at the beginning, %d after a third of the time, " \
		"%d at the end, after %d processes\n", used[0], used[1], used[2], processes[2] - processes[0]
	exit !(used[0] > 0 && used[1] > 0 && used[2] > 0 && used[1] <= used[0] * 9 / 8 &&
	       used[2] <= used[1] * 9 / 8)
}
