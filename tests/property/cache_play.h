/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the oracles for policies of caches are written with: a memory, and queues of pages. */
#ifndef LAPLACE_TESTS_CACHE_PLAY_H
#define LAPLACE_TESTS_CACHE_PLAY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"

static inline void *cache_room(size_t count, size_t size)
{
	void *memory = calloc(count + 1, size);

	if (memory == NULL) {
		(void)fprintf(stderr, "oracle: no memory\n");
		abort();
	}
	return memory;
}

/* ---- queues: the head is the first ---- */

struct queue {
	uint32_t *page;
	size_t count;
};

static inline struct queue queue_for(const struct trace *trace)
{
	return (struct queue){.page = cache_room(trace->pages, sizeof(uint32_t))};
}

static inline size_t queue_place(const struct queue *queue, uint32_t page)
{
	size_t i = 0;

	while (i < queue->count && queue->page[i] != page)
		i++;
	return i;
}

static inline bool queue_has(const struct queue *queue, uint32_t page)
{
	return queue_place(queue, page) < queue->count;
}

static inline void queue_insert(struct queue *queue, size_t place, uint32_t page)
{
	memmove(&queue->page[place + 1], &queue->page[place],
		(queue->count - place) * sizeof(*queue->page));
	queue->page[place] = page;
	queue->count++;
}

static inline void queue_put_head(struct queue *queue, uint32_t page)
{
	queue_insert(queue, 0, page);
}

static inline void queue_put_tail(struct queue *queue, uint32_t page)
{
	queue_insert(queue, queue->count, page);
}

/* If it is there. */
static inline void queue_remove(struct queue *queue, uint32_t page)
{
	const size_t place = queue_place(queue, page);

	if (place == queue->count)
		return;
	queue->count--;
	memmove(&queue->page[place], &queue->page[place + 1],
		(queue->count - place) * sizeof(*queue->page));
}

static inline uint32_t queue_take_tail(struct queue *queue)
{
	return queue->page[--queue->count];
}

static inline uint32_t queue_take_head(struct queue *queue)
{
	const uint32_t page = queue->page[0];

	queue_remove(queue, page);
	return page;
}

/* ---- a memory: what is in it, and what is dirty ---- */

struct cache {
	const struct trace *trace;
	uint64_t size, used;
	struct counts counts;
	bool *here, *dirty;		/* by page */
};

static inline struct cache cache_for(const struct trace *trace, uint64_t size)
{
	return (struct cache){
		.trace = trace, .size = size, .counts = {.references = trace->count},
		.here = cache_room(trace->pages, sizeof(bool)),
		.dirty = cache_room(trace->pages, sizeof(bool)),
	};
}

static inline struct counts cache_end(struct cache *cache)
{
	free(cache->here);
	free(cache->dirty);
	return cache->counts;
}

/* Another reference to the page that was referenced last: a write counts, but nothing else. */
static inline bool cache_again(struct cache *cache, size_t now)
{
	const struct trace *trace = cache->trace;

	if (now == 0 || trace->page[now - 1] != trace->page[now])
		return false;
	cache->dirty[trace->page[now]] |= trace->write[now];
	return true;
}

static inline bool cache_hit(struct cache *cache, size_t now)
{
	const uint32_t page = cache->trace->page[now];

	if (cache->here[page])
		cache->dirty[page] |= cache->trace->write[now];
	return cache->here[page];
}

static inline bool cache_full(const struct cache *cache)
{
	return cache->used == cache->size;
}

static inline void cache_fetch(struct cache *cache, size_t now)
{
	const uint32_t page = cache->trace->page[now];

	cache->here[page] = true;
	cache->dirty[page] = cache->trace->write[now];
	cache->used++;
	cache->counts.faults++;
}

static inline void cache_evict(struct cache *cache, uint32_t page)
{
	cache->here[page] = false;
	cache->used--;
	cache->counts.evictions++;
	cache->counts.dirty_evictions += cache->dirty[page] ? 1 : 0;
}

/* So many percent, rounded down; sizes in tests are small, or so large that nothing is evicted. */
static inline uint64_t cache_percent(uint64_t size, uint64_t percent)
{
	return size < 100000 ? size * percent / 100 : size;
}

#endif
