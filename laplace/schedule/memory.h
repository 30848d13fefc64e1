/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memories of a machine: which pages are there, and which goes when another comes. */
#ifndef LAPLACE_SCHEDULE_MEMORY_H
#define LAPLACE_SCHEDULE_MEMORY_H

#include <laplace/schedule.h>

#include "sim/frames.h"

struct page_memory {
	/*
	 * A process references a page, which has a number from 1 in the order of the run's first
	 * references.  *fault: it was not there, and comes; *evicted: what went for it.
	 */
	enum lpl_error (*reference)(struct page_memory *memory, uint32_t page, bool write,
				    uint64_t process, bool *fault, enum lpl_evicted *evicted,
				    struct lpl_report *report);
	void (*close)(struct page_memory *memory);
	/* The names of pages are wanted in `names`, before they are referenced. */
	bool named;
	struct lpl_page_names names;
};

/* As `how` has it: how->pages is not 0. */
enum lpl_error lpl_memory_open_global(struct page_memory **memory, const struct lpl_machine *how,
				      struct lpl_report *report);
enum lpl_error lpl_memory_open_local(struct page_memory **memory, const struct lpl_machine *how,
				     struct lpl_report *report);

#endif
