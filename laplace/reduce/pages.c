/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The map of pages: memory, growth, and removal.  What is hot is in pages.h. */
#include "pages.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 63, FIRST_SHIFT = 64 - 8 };

bool lpl_pages_init(struct lpl_pages *pages)
{
	return lpl_pages_init_with(pages, 0);
}

bool lpl_pages_init_with(struct lpl_pages *pages, size_t payload_size)
{
	*pages = (struct lpl_pages){
		.payload_size = payload_size, .capacity = FIRST_CAPACITY, .shift = FIRST_SHIFT
	};
	pages->node = calloc(FIRST_CAPACITY + 1, sizeof(*pages->node));
	pages->bucket = calloc((size_t)1 << (64 - FIRST_SHIFT), sizeof(*pages->bucket));
	if (payload_size != 0)
		pages->payload = calloc(FIRST_CAPACITY + 1, payload_size);
	if (pages->node != NULL && pages->bucket != NULL &&
	    (pages->payload != NULL || payload_size == 0))
		return true;
	lpl_pages_free(pages);
	return false;
}

void lpl_pages_free(struct lpl_pages *pages)
{
	free(pages->node);
	free(pages->bucket);
	free(pages->payload);
	*pages = (struct lpl_pages){0};
}

static bool grow_payload(struct lpl_pages *pages, size_t capacity)
{
	void *payload;

	if (pages->payload_size == 0)
		return true;
	if (capacity + 1 > SIZE_MAX / pages->payload_size)
		return false;
	payload = realloc(pages->payload, (capacity + 1) * pages->payload_size);
	if (payload != NULL)
		pages->payload = payload;
	return payload != NULL;
}

/* Twice the pages, twice the buckets. */
static bool grow(struct lpl_pages *pages)
{
	size_t capacity = (size_t)pages->capacity * 2 + 1;
	size_t buckets = (size_t)1 << (64 - pages->shift + 1);
	struct lpl_page_node *node;
	uint32_t *bucket;

	assert(pages->count == pages->capacity);
	if (capacity > UINT32_MAX - 1 || !grow_payload(pages, capacity))
		return false;
	node = realloc(pages->node, (capacity + 1) * sizeof(*node));
	if (node == NULL)
		return false;
	pages->node = node;
	bucket = calloc(buckets, sizeof(*bucket));
	if (bucket == NULL)
		return false;
	free(pages->bucket);
	pages->bucket = bucket;
	pages->capacity = (uint32_t)capacity;
	pages->shift--;
	for (uint32_t i = 1; i <= pages->count; i++) {
		uint32_t *first = &bucket[lpl_pages_bucket(pages, node[i].page)];

		node[i].chain = *first;
		*first = i;
	}
	return true;
}

static void link_page(struct lpl_pages *pages, uint32_t i, struct lpl_page page)
{
	uint32_t *first = &pages->bucket[lpl_pages_bucket(pages, page)];

	pages->node[i].page = page;
	pages->node[i].chain = *first;
	*first = i;
}

static inline void rename_page(struct lpl_pages *pages, uint32_t i, struct lpl_page page)
{
	uint32_t *link = &pages->bucket[lpl_pages_bucket(pages, pages->node[i].page)];

	while (*link != i) {
		assert(*link != 0);	/* a page is in the bucket of its name */
		link = &pages->node[*link].chain;
	}
	*link = pages->node[i].chain;
	link_page(pages, i, page);
}

uint32_t lpl_pages_enter(struct lpl_pages *pages, struct lpl_page page, uint32_t victim)
{
	uint32_t i = victim;

	assert(victim <= pages->count);
	assert(lpl_pages_find(pages, page) == 0);
	if (i != 0) {
		rename_page(pages, i, page);
	} else {
		if (pages->count == pages->capacity && !grow(pages))
			return 0;
		i = ++pages->count;
		link_page(pages, i, page);
		/* linked to itself, touch() has nothing to unlink */
		pages->node[i].newer = i;
		pages->node[i].older = i;
	}
	lpl_pages_touch(pages, i);
	if (pages->payload_size != 0)
		memset((char *)pages->payload + i * pages->payload_size, 0, pages->payload_size);
	return i;
}

void lpl_pages_retire(struct lpl_pages *pages, uint32_t i)
{
	assert(i >= 1 && i <= pages->count);
	/* 64-bit addresses have no page of 16 bytes or more beyond 2^60 */
	rename_page(pages, i, (struct lpl_page){.number = (UINT64_C(1) << 60) + i});
}

void lpl_pages_clear(struct lpl_pages *pages)
{
	for (uint32_t i = 1; i <= pages->count; i++)
		pages->bucket[lpl_pages_bucket(pages, pages->node[i].page)] = 0;
	pages->count = 0;
	pages->node[0].newer = 0;
	pages->node[0].older = 0;
}
