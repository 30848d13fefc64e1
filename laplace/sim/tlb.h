/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TLBs as they are made: what their parts share. */
#ifndef LAPLACE_SIM_TLB_H
#define LAPLACE_SIM_TLB_H

#include <laplace/tlb.h>
#include <laplace/translation.h>

#include "walk_loads.h"
#include "ways.h"

/* A page, at the size at which an array has it; or what an entry of an upper table covers. */
struct lpl_tlb_entry {
	uint64_t page;		/* its number, in pages of that size */
	uint64_t space;
	uint64_t frame;		/* of its first 4096 bytes; KTR_NONE: not known, or of a table */
	uint8_t size;		/* enum lpl_tlb_page; 0 in caches of walks */
	bool global;		/* it fits in all spaces */
	bool here;		/* false: nothing is in it */
};

struct lpl_tlb_array {
	uint32_t entries, ways, sets;	/* a power of two of sets */
	unsigned int sizes;		/* 1 << enum lpl_tlb_page: those that it is for */
	enum lpl_ways_order order;
	uint64_t random;		/* the state of its generator */
	uint32_t held[LPL_TLB_PAGES];	/* entries that something is in, by size */
	struct lpl_tlb_entry *entry;	/* `ways` for each set; of LRU the latest first */
	uint64_t *tree;			/* of PLRU: for each set */
};

/* A level, or a cache of walks, which has one array. */
struct lpl_tlb_store {
	struct lpl_tlb_level level;
	struct lpl_tlb_array array[LPL_TLB_PAGES];
	size_t arrays;			/* 0: it is not there */
	struct lpl_tlb_array *of[LPL_TLB_PAGES];	/* the array for pages of a size; */
	enum lpl_tlb_page as[LPL_TLB_PAGES];	/* and the size at which they are in it */
	struct lpl_tlb_store *below;	/* NULL: walks */
	/* what it was asked for last, and has, as nothing has happened since but such lookups */
	uint64_t last_page, last_space;	/* of 4096 bytes */
	bool has_last;
};

enum {
	LPL_TLB_L1, LPL_TLB_L1I, LPL_TLB_L1D, LPL_TLB_L2, LPL_TLB_L2I, LPL_TLB_L2D,
	LPL_TLB_PDE, LPL_TLB_PDPTE, LPL_TLB_PML4E, LPL_TLB_STORES,
	LPL_TLB_WALK_CACHES = LPL_TLB_STORES - LPL_TLB_PDE
};

struct lpl_tlb {
	struct lpl_sink sink;		/* first */
	struct lpl_tlb_store store[LPL_TLB_STORES];
	struct lpl_tlb_store *first[LPL_CACHE_ACCESSES];	/* where an access begins */
	struct lpl_tlb_level walk;
	bool tags;
	unsigned int tables;		/* that a walk to a page of 4K goes through */
	unsigned int pages;		/* shift of the pages that everything is mapped by; 0: as it was */
	const struct lpl_huge *huge;	/* NULL: no region is promoted */
	unsigned int promote;		/* from so many touched pages on */
	struct lpl_translations *translations;	/* NULL: the trace has none */
	struct lpl_walk_loads *loads;	/* NULL: nothing goes through caches */
	uint64_t space;			/* without translations: the last reference's */
	bool has_space;
	uint64_t unpaged, unknown;
};

extern const unsigned int lpl_tlb_shift[LPL_TLB_PAGES];

/* Fill in, of `tlb`, what SPEC says, and how its levels are linked.  (tlb_spec.c) */
enum lpl_error lpl_tlb_parse(struct lpl_tlb *tlb, const char *spec, struct lpl_report *report);

/* ---- one array (tlb_array.c) ---- */

/* false: no memory. */
bool lpl_tlb_array_init(struct lpl_tlb_array *array);
void lpl_tlb_array_free(struct lpl_tlb_array *array);

/* The entry of a page that fits, of which there is one at most; NULL: none. */
struct lpl_tlb_entry *lpl_tlb_find(const struct lpl_tlb_array *array, uint64_t page, unsigned int size,
				   uint64_t space);
/* It was used.  Returns where it is now. */
struct lpl_tlb_entry *lpl_tlb_use(struct lpl_tlb_array *array, struct lpl_tlb_entry *entry);
/*
 * Put an entry in, of which there is none that fits.  A global one removes those of its page in single
 * spaces, and adds how many there were to `*removed`.  Did another one make room?
 */
bool lpl_tlb_put(struct lpl_tlb_array *array, const struct lpl_tlb_entry *entry, uint64_t *removed);
void lpl_tlb_remove(struct lpl_tlb_array *array, struct lpl_tlb_entry *entry);
/* Remove all; or those in single spaces; or those of one.  Returns how many there were. */
uint64_t lpl_tlb_clear(struct lpl_tlb_array *array);
uint64_t lpl_tlb_clear_single(struct lpl_tlb_array *array);
uint64_t lpl_tlb_clear_space(struct lpl_tlb_array *array, uint64_t space);

#endif
