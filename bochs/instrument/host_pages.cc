/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Large pages of the host under what the simulator reads all the time: the guest's memory
 * and the traces of instructions.  Some tens to thousands of megabytes, touched without
 * order, are more than the host's TLB covers in small pages, and each first touch of a small
 * page is a fault of its own.
 */
#include "bochs.h"

#include <cstdint>
#include <sys/mman.h>

void laplace_large_pages(void *start, size_t size)
{
	const uintptr_t page = 4096;
	uintptr_t begin = ((uintptr_t)start + page - 1) & ~(page - 1);
	uintptr_t end = ((uintptr_t)start + size) & ~(page - 1);

	/* advice: a host that has none of them, or gives none, goes on with small ones */
	if (begin < end)
		(void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
}
