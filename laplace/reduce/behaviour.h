/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The LRU behaviour of a trace: what a memory of K pages fetches and evicts.
 *
 * References go in; those to pages in memory are hits and change the order of
 * recency alone.  Each other one is a fault, an element <x, y> of the behaviour
 * sequence: page x is fetched, and once K pages are there another, y, is evicted.
 * What is known of a page in memory besides, a caller keeps by the page's place,
 * which is its own from its fetch to its eviction.
 */
#ifndef LAPLACE_REDUCE_BEHAVIOUR_H
#define LAPLACE_REDUCE_BEHAVIOUR_H

#include "pages.h"

struct lpl_behaviour {
	struct lpl_pages pages;		/* in memory; a page's number is its place, 1 to K */
	unsigned char *dirty;		/* by place: written since it was fetched? */
	size_t dirty_capacity;
	uint32_t limit;			/* K */
};

struct lpl_fault {
	uint32_t place;			/* of the page fetched, and of its victim before */
	bool evicts;			/* there is a victim */
	bool dirty;			/* and it was written to since it was fetched */
	struct lpl_page victim;
};

bool lpl_behaviour_init(struct lpl_behaviour *behaviour, uint32_t limit); /* false: no memory */
void lpl_behaviour_free(struct lpl_behaviour *behaviour);

/* The place a fetch takes over: that of the least recently used page; 0: a new one. */
static inline uint32_t lpl_behaviour_victim(const struct lpl_behaviour *behaviour)
{
	return behaviour->pages.count < behaviour->limit ? 0 : lpl_pages_oldest(&behaviour->pages);
}

/*
 * Fetch the page of `ref`, which is not in memory, to the place `victim` (0: a
 * new one; there must be fewer than K).  false: no memory.
 */
bool lpl_behaviour_fetch(struct lpl_behaviour *behaviour, const struct lpl_ref *ref,
			 uint32_t victim, struct lpl_fault *fault);

/* A reference to a page in memory is done with; false: its page is to be fetched. */
static inline bool lpl_behaviour_hit(struct lpl_behaviour *behaviour, const struct lpl_ref *ref)
{
	struct lpl_pages *pages = &behaviour->pages;
	struct lpl_page page = lpl_page_of(ref);
	uint32_t i = lpl_pages_newest(pages);

	if (i == 0 || !lpl_same_page(page, pages->node[i].page)) {
		i = lpl_pages_find(pages, page);
		if (i == 0)
			return false;
		lpl_pages_touch(pages, i);
	}
	behaviour->dirty[i] |= lpl_is_write(ref) ? 1 : 0;
	return true;
}

#endif
