/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The heap. */
#include "heap.h"

#include <stdlib.h>

#include "base/array.h"

static bool before(const struct lpl_heap_entry *a, const struct lpl_heap_entry *b)
{
	return a->key != b->key ? a->key < b->key : a->order < b->order;
}

bool lpl_heap_push(struct lpl_heap *heap, struct lpl_heap_entry entry)
{
	size_t i = heap->count;

	if (!lpl_reach(heap->entry, heap->room, i))
		return false;
	heap->count++;
	for (; i > 0 && before(&entry, &heap->entry[(i - 1) / 2]); i = (i - 1) / 2)
		heap->entry[i] = heap->entry[(i - 1) / 2];
	heap->entry[i] = entry;
	return true;
}

struct lpl_heap_entry lpl_heap_pop(struct lpl_heap *heap)
{
	const struct lpl_heap_entry least = heap->entry[0];
	const struct lpl_heap_entry last = heap->entry[--heap->count];
	size_t i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= heap->count)
			break;
		if (child + 1 < heap->count &&
		    before(&heap->entry[child + 1], &heap->entry[child]))
			child++;
		if (!before(&heap->entry[child], &last))
			break;
		heap->entry[i] = heap->entry[child];
		i = child;
	}
	heap->entry[i] = last;
	return least;
}

static int compare(const void *a, const void *b)
{
	return before(a, b) ? -1 : before(b, a);
}

void lpl_heap_sort(struct lpl_heap *heap)
{
	if (heap->count > 1)
		qsort(heap->entry, heap->count, sizeof(*heap->entry), compare);
}

void lpl_heap_free(struct lpl_heap *heap)
{
	free(heap->entry);
	*heap = (struct lpl_heap){.entry = NULL};
}
