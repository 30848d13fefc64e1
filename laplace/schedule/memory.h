/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memories of a machine: which pages are there, and which leave when another comes. */
#ifndef LAPLACE_SCHEDULE_MEMORY_H
#define LAPLACE_SCHEDULE_MEMORY_H

#include <laplace/schedule.h>

#include "sim/page_names.h"

/* A reference, and its outcome. */
struct reference {
	uint32_t page;			/* numbers from 1 in the order of the run's first references */
	bool write;
	uint64_t process, t;		/* by this one, at that time */
	bool fault;			/* it was not there, and comes */
	bool cold;			/* it is the page's first in this run */
	bool disturbs;			/* it made other tasks leave, or makes them ready */
	uint64_t dirty;			/* of a fault: dirty pages that left since the one before */
};

struct page_memory {
	/*
	 * `reference` says which, by which process and when; `fault` is set, and `disturbs`, where
	 * that is so.  What a memory does not look at remains as it is.
	 */
	enum lpl_error (*reference)(struct page_memory *memory, struct reference *reference,
				    struct lpl_report *report);
	void (*close)(struct page_memory *memory);
	uint64_t evictions, dirty_evictions;	/* pages that have left so far */
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
