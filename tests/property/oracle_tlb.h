/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TLBs by the definitions of docs/tlbs.md, with lists that are searched from end to end. */
#ifndef LAPLACE_TESTS_ORACLE_TLB_H
#define LAPLACE_TESTS_ORACLE_TLB_H

#include "oracle_walks.h"

enum { TLB_L1, TLB_L1I, TLB_L1D, TLB_L2, TLB_L2I, TLB_L2D, TLB_PDE, TLB_PDPTE, TLB_PML4E, TLB_WALK, TLB_LEVELS };
enum { TLB_LRU, TLB_PLRU, TLB_RANDOM };
enum { TLB_SIZES = 5, TLB_MOST = 256 };

struct tlb_entry {
	bool here, global;
	unsigned int size;		/* bytes: 1 << size; of caches of walks what an entry covers */
	uint64_t page, frame, space;
	uint64_t used;			/* when, of LRU */
};

struct tlb_array {
	uint32_t entries, ways;
	bool has[TLB_SIZES];		/* 4K, 64K, 1M, 2M, 1G */
	int order;
	uint64_t seed, draws;
	struct tlb_entry entry[TLB_MOST];
	bool right[TLB_MOST][64];	/* of PLRU, for each set: the right half was used less recently */
};

struct tlb_level {
	int arrays;			/* 0: it is not there */
	struct tlb_array array[3];
	uint64_t references[3], misses[3];	/* fetches, reads, writes */
	uint64_t missed_pages[TLB_SIZES];
	uint64_t stale, evictions, invalidations, loads;
};

struct oracle_tlb {
	struct tlb_level level[TLB_LEVELS];
	bool tags, translations;
	unsigned int levels;
	int pages;			/* index of a size; -1: as they are */
	unsigned int promote;		/* from so many touched pages on; 0: nothing */
	uint64_t unpaged, unknown;
	uint64_t now;
	struct tlb_touch *touch;	/* all of the stream */
	size_t touches;
	struct oracle_walks *walks;	/* NULL: nothing goes through caches */
};

/* A page that a reference touched. */
struct tlb_touch {
	uint64_t space, page;		/* space: KTR_NONE if the page is global */
	bool huge;			/* by a page of 2 MB or more */
};

/*
 * Pages that the stream touches, one for each reference; to be freed.  And how many different ones are in
 * a region of 2 MB; 0 if one of them is huge and `small` ones are asked for.
 */
void oracle_touches(struct oracle_tlb *tlb, const struct stream *in);
unsigned int oracle_touched(const struct oracle_tlb *tlb, uint64_t space, uint64_t region, bool small);

void oracle_tlb_run(struct oracle_tlb *tlb, const struct stream *in);

#endif
