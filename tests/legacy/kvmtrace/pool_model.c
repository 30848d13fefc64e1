/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See pool_model.h. */
#include "pool_model.h"

#include <stdlib.h>
#include <string.h>

bool pool_model_init(struct pool_model *pool, size_t size, bool clock)
{
	pool->size = size;
	pool->count = 0;
	pool->clock = clock;
	pool->pages = calloc(size ? size : 1, sizeof(*pool->pages));
	return pool->pages != NULL;
}

void pool_model_free(struct pool_model *pool)
{
	free(pool->pages);
	pool->pages = NULL;
}

struct pool_page *pool_model_find(struct pool_model *pool, uint32_t space, uint32_t page)
{
	/* from the last that entered: it is the likeliest */
	for (size_t i = pool->count; i-- > 0;)
		if (pool->pages[i].page == page && pool->pages[i].space == space)
			return &pool->pages[i];
	return NULL;
}

void pool_model_leave(struct pool_model *pool, struct pool_page *page)
{
	const size_t i = (size_t)(page - pool->pages);

	pool->count--;
	memmove(page, page + 1, (pool->count - i) * sizeof(*page));
}

bool pool_model_enter(struct pool_model *pool, uint32_t space, uint32_t page, uint64_t tag,
		      struct pool_page *left)
{
	bool full = pool->count == pool->size;

	while (pool->count == pool->size) {
		struct pool_page first = pool->pages[0];

		pool_model_leave(pool, &pool->pages[0]);
		if (pool->clock && first.referenced) {
			first.referenced = false;
			pool->pages[pool->count++] = first;
		} else {
			*left = first;
		}
	}
	pool->pages[pool->count++] = (struct pool_page){
		.space = space, .page = page, .referenced = true, .tag = tag };
	return full;
}
