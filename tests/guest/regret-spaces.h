/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which page is where in a guest: in files, and in what each space maps, which a fork copies.
 */
#ifndef LAPLACE_TESTS_REGRET_SPACES_H
#define LAPLACE_TESTS_REGRET_SPACES_H

#include "regret-pages.h"
#include "regret-table.h"

/* what is in a region of a space; the numbers are those of events */
enum { R_ANONYMOUS, R_PRIVATE, R_SHARED, R_SHM, R_STACK, R_HEAP, R_SPECIAL, R_ANONYMOUS_SHARED };

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

/* What is in a file there; `anew`: it is mentioned, so that what has left for good is not what is meant. */
struct page *in_file(struct guest *g, uint32_t of, uint64_t offset, bool anew);
void name_file(struct guest *g, uint32_t of, const char *name);

/* Its place, by its number. */
size_t space_of(struct guest *g, uint64_t number);
struct region *region_at(const struct guest *g, size_t in, uint64_t at);
void put_region(struct guest *g, size_t in, struct region region);
/* The parts of regions there go to *parts, which is to be freed. */
size_t take_regions(struct guest *g, size_t in, uint64_t from, uint64_t to, struct region **parts);
/* A program sees this page there from now on. */
void show_page(struct guest *g, size_t in, uint64_t at, struct page *p);
/* No program sees there any more what it saw. */
void hide_pages(struct guest *g, size_t in, uint64_t from, uint64_t to);
/* Both. */
void unmap_pages(struct guest *g, size_t in, uint64_t from, uint64_t to);
void end_space(struct guest *g, size_t in);
/* All spaces end, and what the kernel has in its half is not known. */
void forget_spaces(struct guest *g);

/* An anonymous page that was not there before. */
struct page *own_page(struct guest *g);
/* It has the name of the place where it was referenced first, or from where it went to swap. */
void name_page(const struct guest *g, struct page *p, uint64_t in, uint64_t at);
/* Does what is written there become anonymous? */
bool has_own(const struct region *r);
/* The page that a program, or the kernel for it, finds there; NULL: none that reclaim takes. */
struct page *seen_at(struct guest *g, size_t in, uint64_t at, bool write);

#endif
