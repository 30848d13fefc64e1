/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * TLBs: a sink that counts what translation lookaside buffers of one or two levels hit and miss, and what
 * the walks of page tables cost.  docs/tlbs.md defines what they do, step by step.
 *
 *	lpl_tlb_open(&tlb, "l1i=64/8:l1d=64/4/4K+32/4/2M:l2=1536/12/4K/2M+16/4/1G", &options, &report);
 *	lpl_reader_run(reader, lpl_tlb_sink(tlb), &report);
 *	for (size_t i = 0; i < lpl_tlb_levels(tlb); i++)
 *		print(lpl_tlb_level(tlb, i));
 *	lpl_tlb_close(tlb);
 *
 * Memory: 40 bytes for each entry, and what the map of translations takes (translation.h).
 */
#ifndef LAPLACE_TLB_H
#define LAPLACE_TLB_H

#include <laplace/cache.h>
#include <laplace/error.h>
#include <laplace/huge.h>
#include <laplace/record.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * A TLB is written SPEC: parts, joined by colons.  The first may be the name of a processor
 * (lpl_tlb_presets()), for what is said of it there; what follows is added.
 *
 *	l1=ARRAYS	or l1i=ARRAYS and l1d=ARRAYS, of instructions and of data
 *	l2=ARRAYS	or l2i=ARRAYS and l2d=ARRAYS, or no second level
 *	pde=ARRAY	caches of walks: of entries that lead to a page table,
 *	pdpte=ARRAY	... to a page directory,
 *	pml4e=ARRAY	... to a table of these.  They have no page sizes
 *	tags		entries have the number of their space, and stay when another one is loaded
 *	levels=N	tables that a walk to a page of 4K goes through: 2 to 5 (4)
 *	pages=SIZE	as if everything were mapped by pages of that size: 4K, 64K, 1M, 2M, 1G
 *
 * ARRAYS are joined by +, one for some sizes of pages each: ENTRIES/WAYS, and after further slashes
 * sizes (4K, 64K, 1M, 2M, 1G; none: all) and lru (if nothing is said), plru or random=SEED.  ENTRIES are a
 * power of two of sets of WAYS, 1 to 65536, or `full`.  Each level has an array for 4K.
 */
#define LPL_TLB_SPEC_SIZE 256

enum lpl_tlb_page { LPL_TLB_4K, LPL_TLB_64K, LPL_TLB_1M, LPL_TLB_2M, LPL_TLB_1G, LPL_TLB_PAGES };

/* What happened at a level, in a cache of walks, or in walks, which come last. */
struct lpl_tlb_level {
	const char *name;	/* "l1i" ..., "pde", "pdpte", "pml4e", "walk" */
	uint32_t entries;	/* 0: walks */
	/* by type: lookups; of walks, how many there were */
	uint64_t references[LPL_CACHE_ACCESSES];
	uint64_t misses[LPL_CACHE_ACCESSES];	/* of walks 0 */
	/* the same misses by the size at which the level has the page; of walks, walks */
	uint64_t missed_pages[LPL_TLB_PAGES];
	uint64_t stale;		/* entries found that were of another translation, and left */
	uint64_t evictions;	/* entries that made room for others */
	uint64_t invalidations;	/* entries that flushes removed */
	uint64_t loads;		/* of walks: entries of tables that they read */
};

/* Where the entries of one page table, of all that walks load, were found: in a cache, or in memory. */
enum lpl_tlb_found { LPL_TLB_FOUND_L1, LPL_TLB_FOUND_L2, LPL_TLB_FOUND_L3, LPL_TLB_FOUND_MEMORY, LPL_TLB_FOUND };

struct lpl_tlb_loads {
	uint64_t found[LPL_TLB_FOUND];
	uint64_t known;		/* the trace says where the table is */
	uint64_t made_up;	/* it does not, and its place was made up */
};

struct lpl_tlb_options {
	/* LPL_META_REDUCTION of the trace; NULL counts as "none".  A reduced trace is refused. */
	const char *reduction;
	/*
	 * The trace says where pages are, and when the processor flushed its TLB (lpl_has_translations()).
	 * Otherwise all pages are of 4K, in their spaces, and where another space than before
	 * is referenced its table has been loaded.
	 */
	bool translations;
	/*
	 * Of the same trace, not NULL: regions of small pages of which at least `promote` are touched, 1 to
	 * LPL_HUGE_PAGES, are mapped by pages of 2 MB instead.  Has to last as long as the TLB.
	 */
	const struct lpl_huge *huge;
	unsigned int promote;
	/*
	 * Caches, as lpl_cache_open() has them, through which all references go, and before each of them what the
	 * walks for it load; NULL: none.
	 */
	const char *caches;
};

struct lpl_tlb;

/* A processor's TLB by name. */
struct lpl_tlb_preset {
	const char *name;
	const char *spec;
	const char *source;	/* the document that says so */
};

/* `*count` of them. */
const struct lpl_tlb_preset *lpl_tlb_presets(size_t *count);

/*
 * `options` may be NULL: all 0.  LPL_ERR_USAGE: SPEC is none, or has `pages` where regions are promoted,
 * or the trace is reduced, or caches are none; LPL_ERR_MEMORY.
 */
enum lpl_error lpl_tlb_open(struct lpl_tlb **tlb, const char *spec,
			    const struct lpl_tlb_options *options, struct lpl_report *report);
/*
 * Where to send the trace, events and all; owned by the TLB.  LPL_ERR_USAGE: a reference is to a whole
 * page; LPL_ERR_DAMAGED and LPL_ERR_MEMORY of lpl_translations_follow().
 */
struct lpl_sink *lpl_tlb_sink(struct lpl_tlb *tlb);
/* Levels, the first ones first, then caches of walks, and walks last; `index` goes from 0 to this - 1. */
size_t lpl_tlb_levels(const struct lpl_tlb *tlb);
/* At any time; owned by the TLB. */
const struct lpl_tlb_level *lpl_tlb_level(const struct lpl_tlb *tlb, size_t index);
/* References that looked nothing up, as there was no paging. */
uint64_t lpl_tlb_unpaged(const struct lpl_tlb *tlb);
/* References to pages that no event described, which count as pages of 4K. */
uint64_t lpl_tlb_unknown(const struct lpl_tlb *tlb);
/* Tables that a walk to a page of 4K goes through, the last one of which is table 1. */
unsigned int lpl_tlb_tables(const struct lpl_tlb *tlb);
/* What happened in the caches of the options, for lpl_cache_level(); owned by the TLB.  NULL: there are none. */
const struct lpl_cache *lpl_tlb_caches(const struct lpl_tlb *tlb);
/* Loads of entries of a table, 1 to lpl_tlb_tables(); owned by the TLB.  NULL: there are no caches. */
const struct lpl_tlb_loads *lpl_tlb_loads(const struct lpl_tlb *tlb, unsigned int table);
void lpl_tlb_close(struct lpl_tlb *tlb);	/* NULL is fine */

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
