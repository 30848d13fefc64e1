/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pages: what a page is, a hash map from pages to small numbers, and the list
 * of those pages in order of recency.  Shared by the reducers and simulators.
 *
 * Pages are numbered from 1 in the order they were added; 0 is "none", and
 * node 0 is the list's sentinel: its `older` is the newest page, its `newer`
 * the oldest.  What a caller knows of a page is the page's payload, a struct of the
 * caller's own: LPL_PAYLOAD(&pages, struct recent, i).
 *
 * It is no lpl_map (base/map.h), because the list needs a node for each page anyway, and the map's
 * key is in it: the chain takes 4 bytes and a bucket 4, where a map's place takes 24.  With a map
 * each reference would take four times the instructions (`bench/tables`).
 */
#ifndef LAPLACE_REDUCE_PAGES_H
#define LAPLACE_REDUCE_PAGES_H

#include <assert.h>

#include <laplace/record.h>

/*
 * The space of the references a processor makes to its page tables.  Their
 * addresses are physical; no address space has this number, which is the page
 * number of a top-level page table and thus below 2^52.
 */
#define LPL_WALK_SPACE UINT64_MAX

struct lpl_page {
	uint64_t space, number;
};

struct lpl_page_node {
	struct lpl_page page;
	uint32_t chain;			/* next in the same hash bucket */
	uint32_t newer, older;
	uint32_t reserved;
};

struct lpl_pages {
	struct lpl_page_node *node;	/* [0, capacity] */
	uint32_t *bucket;		/* its first node */
	void *payload;			/* [0, capacity], of payload_size bytes each */
	size_t payload_size;
	uint32_t count, capacity;
	unsigned int shift;		/* 64 - log2(buckets) */
};

/*
 * What is asked of each reference has no branches: a processor could not predict them.
 */
static inline bool lpl_is_walk(const struct lpl_ref *ref)
{
	return ref->type >= LPL_WALK_READ;
}

static inline bool lpl_is_write(const struct lpl_ref *ref)
{
	return (1U << LPL_WRITE | 1U << LPL_WALK_WRITE) >> (ref->type & 31) & 1;
}

/* A reference that stands in for a dropped write becomes one. */
static inline void lpl_make_write(struct lpl_ref *ref)
{
	ref->type = lpl_is_walk(ref) ? LPL_WALK_WRITE : LPL_WRITE;
}

/*
 * The page of a reference, where pages have 2^shift bytes: at most LPL_PAGE_SHIFT in a reducer, as
 * the addresses of larger pages are multiples of their size anyway.
 */
static inline struct lpl_page lpl_page_of(const struct lpl_ref *ref, unsigned int shift)
{
	return (struct lpl_page){
		.space = lpl_is_walk(ref) ? LPL_WALK_SPACE : ref->space,
		.number = ref->address >> shift,
	};
}

/* In how many pages after its first does an access of `length` bytes lie, too?  Walks lie in one. */
static inline unsigned int lpl_pages_after(const struct lpl_ref *ref, unsigned int shift)
{
	const uint64_t offset = ref->address & ((UINT64_C(1) << shift) - 1);

	return ref->length == 0 ? 0 : (unsigned int)((offset + ref->length - 1) >> shift);
}

/* The rest of an access, from the next page on: the same access, and therefore LPL_SYNTHETIC. */
static inline void lpl_next_part(struct lpl_ref *ref, unsigned int shift)
{
	const uint64_t next = ((ref->address >> shift) + 1) << shift;

	ref->length = (uint16_t)(ref->length - (next - ref->address));
	ref->address = next;
	ref->flags |= LPL_SYNTHETIC;
}

static inline bool lpl_same_page(struct lpl_page a, struct lpl_page b)
{
	return ((a.number ^ b.number) | (a.space ^ b.space)) == 0;
}

/* Flags and length of a reference to a page; one finer than 4096 bytes is referenced as a whole. */
static inline uint8_t lpl_paged_flags(const struct lpl_ref *ref, unsigned int shift)
{
	return (uint8_t)((ref->flags & (LPL_USER | LPL_SYNTHETIC)) |
			 (shift < LPL_PAGE_SHIFT ? 0 : LPL_PAGED));
}

static inline uint16_t lpl_paged_length(unsigned int shift)
{
	return (uint16_t)(shift < LPL_PAGE_SHIFT ? 1U << shift : 0);
}

/* What every reducer makes of a reference it keeps. */
static inline void lpl_make_paged(struct lpl_ref *ref, unsigned int shift)
{
	ref->address = ref->address >> shift << shift;
	ref->flags = lpl_paged_flags(ref, shift);
	ref->length = lpl_paged_length(shift);
	ref->reserved = 0;
}

/* An empty map.  false: no memory. */
bool lpl_pages_init(struct lpl_pages *pages);
bool lpl_pages_init_with(struct lpl_pages *pages, size_t payload_size);
void lpl_pages_free(struct lpl_pages *pages);

/* The payload of page i, to be changed there; it moves when a page is added. */
#define LPL_PAYLOAD(pages, type, i) (&((type *)(pages)->payload)[i])

/*
 * Add a page that is not there, as the newest; its payload is zeroed.  The page
 * `victim` is forgotten and its number given to the new one; 0: no page is.  Returns
 * the number; 0: no memory (or 2^32 pages).
 */
uint32_t lpl_pages_enter(struct lpl_pages *pages, struct lpl_page page, uint32_t victim);
/* The same without a victim. */
static inline uint32_t lpl_pages_add(struct lpl_pages *pages, struct lpl_page page)
{
	return lpl_pages_enter(pages, page, 0);
}

/*
 * Page i keeps its place and its number, but is no longer found: it gets a name
 * that no reference has, until its number is given to another page.
 */
void lpl_pages_retire(struct lpl_pages *pages, uint32_t i);
/* Forget all pages; numbers start from 1 again. */
void lpl_pages_clear(struct lpl_pages *pages);

static inline size_t lpl_pages_bucket(const struct lpl_pages *pages, struct lpl_page page)
{
	/* Multipliers: 2^64 divided by the golden ratio, and a prime of
	 * similarly even bits; the high bits of the product are the mixed ones. */
	uint64_t mixed = page.number ^ page.space * UINT64_C(0xd6e8feb86659fd93);

	return mixed * UINT64_C(0x9e3779b97f4a7c15) >> pages->shift;
}

static inline uint32_t lpl_pages_find(const struct lpl_pages *pages, struct lpl_page page)
{
	uint32_t i = pages->bucket[lpl_pages_bucket(pages, page)];

	while (i != 0 && !lpl_same_page(pages->node[i].page, page))
		i = pages->node[i].chain;
	assert(i <= pages->count);
	return i;
}

static inline uint32_t lpl_pages_newest(const struct lpl_pages *pages)
{
	return pages->node[0].older;
}

static inline uint32_t lpl_pages_oldest(const struct lpl_pages *pages)
{
	return pages->node[0].newer;
}

/* Page i was referenced: it becomes the newest. */
static inline void lpl_pages_touch(struct lpl_pages *pages, uint32_t i)
{
	struct lpl_page_node *node = pages->node;
	uint32_t newest;

	assert(i >= 1 && i <= pages->count);
	assert(node[node[i].newer].older == i && node[node[i].older].newer == i);
	node[node[i].newer].older = node[i].older;
	node[node[i].older].newer = node[i].newer;
	newest = node[0].older;
	node[i].newer = 0;
	node[i].older = newest;
	node[newest].newer = i;
	node[0].older = i;
}

/* A page is referenced.  Its number, the newest now; 0: it is not there. */
static inline uint32_t lpl_pages_hit(struct lpl_pages *pages, struct lpl_page page)
{
	uint32_t i = lpl_pages_newest(pages);

	if (i != 0 && lpl_same_page(page, pages->node[i].page))
		return i;
	i = lpl_pages_find(pages, page);
	if (i != 0)
		lpl_pages_touch(pages, i);
	return i;
}

#endif
