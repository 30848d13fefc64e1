/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the kernel itself counts of its caches (/proc/meminfo), as a mark "memory B C": pages
 * of buffers, and pages in the page cache and the swap cache.  The trace is held against it.
 */
#ifndef LEGACY_MEMORY_H
#define LEGACY_MEMORY_H

void mark_memory(void);

#endif
