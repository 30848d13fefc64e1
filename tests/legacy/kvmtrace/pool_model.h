/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kVMTrace's pool of open pages, by its definition: at most `size` pages; one that
 * enters a full pool takes the place of another, by FIFO of the one that entered
 * first, by CLOCK of the first in that order which was not referenced since it
 * entered or was passed.  Plain, and slow.
 */
#ifndef POOL_MODEL_H
#define POOL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pool_page {
	uint32_t space, page;
	bool referenced;
	uint64_t tag;		/* the caller's */
};

struct pool_model {
	size_t size, count;
	bool clock;
	struct pool_page *pages;	/* count, in their order */
};

/* false: no memory.  pages has to be freed by pool_model_free(). */
bool pool_model_init(struct pool_model *pool, size_t size, bool clock);
void pool_model_free(struct pool_model *pool);

/* NULL: it is not in the pool.  Valid until something enters or leaves. */
struct pool_page *pool_model_find(struct pool_model *pool, uint32_t space, uint32_t page);

/* A page that is not in the pool enters it, referenced.  If one had to leave, true and *left. */
bool pool_model_enter(struct pool_model *pool, uint32_t space, uint32_t page, uint64_t tag,
		      struct pool_page *left);
void pool_model_leave(struct pool_model *pool, struct pool_page *page);

#endif
