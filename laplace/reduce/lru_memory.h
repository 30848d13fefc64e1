/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An LRU memory of K pages: what it fetches and evicts.
 *
 * References go in; those to pages in memory are hits and change the order of
 * recency alone.  Each other one is a fault, an element <x, y> of the behaviour
 * sequence: page x is fetched, and once K pages are there another, y, is evicted.
 */
#ifndef LAPLACE_REDUCE_LRU_MEMORY_H
#define LAPLACE_REDUCE_LRU_MEMORY_H

#include "pages.h"

struct lpl_lru_memory {
	struct lpl_pages pages;		/* in memory; a page's number is its frame, 1 to K */
	uint32_t limit;			/* K */
	unsigned int shift;		/* log2 of a page's size */
};

/* What is known of the page in a frame. */
struct lpl_frame {
	bool dirty;			/* written since it was fetched */
	uint32_t residency;		/* its user's; 0 when the page is fetched */
};

struct lpl_fault {
	uint32_t frame;			/* of the page fetched, and of its victim before */
	bool evicts;			/* there is a victim */
	struct lpl_page victim;
	struct lpl_frame evicted;	/* what was known of it */
};

/* false: no memory. */
bool lpl_lru_memory_init(struct lpl_lru_memory *memory, uint32_t limit, unsigned int shift);
void lpl_lru_memory_free(struct lpl_lru_memory *memory);

static inline struct lpl_frame *lpl_lru_memory_frame(struct lpl_lru_memory *memory, uint32_t i)
{
	return LPL_PAYLOAD(&memory->pages, struct lpl_frame, i);
}

/* The frame that a fetch takes over: that of the least recently used page; 0: a new one. */
static inline uint32_t lpl_lru_memory_victim(const struct lpl_lru_memory *memory)
{
	return memory->pages.count < memory->limit ? 0 : lpl_pages_oldest(&memory->pages);
}

/*
 * Fetch the page of `ref`, which is not in memory, to the frame `victim` (0: a
 * new one; there must be fewer than K).  false: no memory.
 */
bool lpl_lru_memory_fetch(struct lpl_lru_memory *memory, const struct lpl_ref *ref,
			  uint32_t victim, struct lpl_fault *fault);

/* A reference to a page in memory is done with; false: its page is to be fetched. */
static inline bool lpl_lru_memory_hit(struct lpl_lru_memory *memory, const struct lpl_ref *ref)
{
	uint32_t i = lpl_pages_hit(&memory->pages, lpl_page_of(ref, memory->shift));

	if (i != 0)
		lpl_lru_memory_frame(memory, i)->dirty |= lpl_is_write(ref);
	return i != 0;
}

#endif
