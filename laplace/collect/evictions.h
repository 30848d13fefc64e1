/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The evictions of an LRU memory of K pages, found while windows of at most K pages are made.
 *
 * Within a window only a page's first reference is noticed when it is made; how recent the others
 * are is known when the window ends.  That is enough.  Let the window have had m pages before a first
 * reference faults; m is below K, for that reference's page is in the window as well, which has no
 * more than K.  Of the K pages in memory at least one was not referenced in this window, then, and each of
 * these is less recent than those m.  So the victim, the least recent of all, is the least recent of
 * those that were not referenced in this window, and their order was known when the last window
 * ended.  (Which references of the window's pages are its last changes their order among themselves alone;
 * they are put in that order when it ends.)
 *
 * For the simulator's thread; C++ may include this header.
 */
#ifndef LAPLACE_COLLECT_EVICTIONS_H
#define LAPLACE_COLLECT_EVICTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lpl_evictions;

struct lpl_evicted {
	uint64_t space, page, frame;
};

/* A page of a window that ends, and the number of its last reference. */
struct lpl_window_use {
	uint64_t last;
	uint32_t place;
};

/* A memory of so many pages (up to 2^32 - 2), empty.  NULL: no memory. */
struct lpl_evictions *lpl_evictions_open(uint64_t pages);
void lpl_evictions_close(struct lpl_evictions *evictions);	/* NULL is fine */

/*
 * A page's first reference in the window.  Returns the page's place in memory, which it keeps until it is
 * evicted; 0: no memory for that.  *evicts: `victim` made room.
 */
uint32_t lpl_evictions_enter(struct lpl_evictions *evictions, uint64_t space, uint64_t page,
			     struct lpl_evicted *victim, bool *evicts);
/* The page in this place is in this frame; what is not known yet is KTR_NONE. */
void lpl_evictions_set_frame(struct lpl_evictions *evictions, uint32_t place, uint64_t frame);
/* The window ends: all of its pages, in any order, which is changed. */
void lpl_evictions_window_ends(struct lpl_evictions *evictions, struct lpl_window_use *use,
			       size_t count);

#ifdef __cplusplus
}
#endif
#endif
