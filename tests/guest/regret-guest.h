/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which page is where, as the events of a guest's kernel say: a program's is found through a table for each
 * space, which a fork copies.
 */
#ifndef LAPLACE_TESTS_REGRET_GUEST_PAGES_H
#define LAPLACE_TESTS_REGRET_GUEST_PAGES_H

#include "regret-pages.h"
#include "regret-table.h"

struct region {
	uint64_t from, to;	/* pages */
	int what;		/* enum ktr_map_kind */
	uint32_t file;		/* 0: none */
	uint64_t offset;	/* of page 0: what is added to a page's number */
	uint32_t family;	/* of forks: what they have not touched yet is one page for all of a family */
};

struct space {
	uint64_t number;
	bool alive;
	struct region *region;
	size_t regions;
};

struct guest {
	struct books *b;
	struct table shown;		/* space (its place in the array), page: what a program sees there */
	struct table contents;		/* file, offset */
	struct table in_kernel;		/* 0, page of the kernel's half */
	struct table in_swap;		/* 0, swap entry */
	struct table in_frame;		/* 1, frame, or 0, swap entry: in a snapshot */
	struct space *space;
	size_t spaces;
	uint32_t families;
	uint64_t reclaimed, dropped, unknown;	/* pages */
	const char *wrong;		/* with the trace; NULL */
};

struct event {
	char name[24];
	uint64_t tid, tgid;
	uint64_t a[12];
	const char *text;	/* escaped; "-": none */
};

void guest_open(struct guest *g, struct books *b);
void guest_close(struct guest *g);
/* NULL, or what is wrong. */
const char *guest_event(struct guest *g, const struct event *e);
/* Which page a reference is to; NULL: none that reclaim takes. */
struct page *guest_page(struct guest *g, uint64_t space, uint64_t at, bool write);

#endif
