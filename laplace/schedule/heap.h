/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A binary heap of numbers in the order of two keys, which no two have alike: what is due, by time and
 * the order in which it was put there; tasks that are ready, by the scheduler's order.
 */
#ifndef LAPLACE_SCHEDULE_HEAP_H
#define LAPLACE_SCHEDULE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lpl_heap_entry {
	int64_t key;
	uint64_t order;
	uint64_t value;
};

struct lpl_heap {			/* of zeros: empty */
	struct lpl_heap_entry *entry;
	size_t count, room;
};

/* false: no memory. */
bool lpl_heap_push(struct lpl_heap *heap, struct lpl_heap_entry entry);
/* Take out the least of a heap that is not empty. */
struct lpl_heap_entry lpl_heap_pop(struct lpl_heap *heap);
/* Its entries stand in their order, the least first; it is a heap still. */
void lpl_heap_sort(struct lpl_heap *heap);
void lpl_heap_free(struct lpl_heap *heap);

/* The least of one that is not empty. */
static inline const struct lpl_heap_entry *lpl_heap_top(const struct lpl_heap *heap)
{
	return &heap->entry[0];
}

#endif
