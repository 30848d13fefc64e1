/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which pages an event gives another meaning; fence.h says why. */
#include "fence.h"

#include <assert.h>

#define PAGE_MASK ((UINT64_C(1) << LPL_PAGE_SHIFT) - 1)
#define ALL_PAGES (UINT64_C(1) << (64 - LPL_PAGE_SHIFT))
#define USER_PAGES (ALL_PAGES / 2)

static struct lpl_fence_range of_space(uint64_t space)
{
	return (struct lpl_fence_range){.space = space, .first = 0, .count = USER_PAGES};
}

static struct lpl_fence_range everywhere(uint64_t first, uint64_t count)
{
	return (struct lpl_fence_range){.any_space = true, .first = first, .count = count};
}

/* Bytes [start, end): all pages that they touch. */
static struct lpl_fence_range of_bytes(uint64_t space, uint64_t start, uint64_t end)
{
	struct lpl_fence_range range = {.space = space, .first = start >> LPL_PAGE_SHIFT};

	if (start < end)
		range.count = ((end - 1) >> LPL_PAGE_SHIFT) - range.first + 1;
	return range;
}

/* The page at an address, and those after it. */
static struct lpl_fence_range of_pages(uint64_t space, uint64_t address, uint64_t count)
{
	return (struct lpl_fence_range){
		.space = space, .first = address >> LPL_PAGE_SHIFT, .count = count
	};
}

/* The page that holds the heap's end is mapped before and after. */
static struct lpl_fence_range of_brk(uint64_t space, uint64_t old, uint64_t new)
{
	uint64_t from = old < new ? old : new;
	uint64_t to = old < new ? new : old;
	uint64_t first = (from >> LPL_PAGE_SHIFT) + ((from & PAGE_MASK) != 0 ? 1 : 0);
	uint64_t end = (to >> LPL_PAGE_SHIFT) + ((to & PAGE_MASK) != 0 ? 1 : 0);

	return (struct lpl_fence_range){.space = space, .first = first, .count = end - first};
}

/* The kernel's pages at which `count` frames have been seen until now. */
static unsigned int of_frames(const struct lpl_fence *fence, uint64_t frame, uint64_t count,
			      struct lpl_fence_range *range)
{
	if (fence->offsets == 0)
		return 0;
	*range = fence->offsets == 1 ? everywhere(frame + fence->offset, count) :
				       everywhere(0, ALL_PAGES);
	return 1;
}

static unsigned int on_cache_add(struct lpl_fence *fence, const uint64_t *arg,
				 struct lpl_fence_range *range)
{
	uint64_t frame = arg[KTR_CACHE_ADD_FRAME];
	uint64_t count = arg[KTR_CACHE_ADD_PAGES];
	uint64_t address = arg[KTR_CACHE_ADD_ADDRESS];
	uint64_t page = address >> LPL_PAGE_SHIFT;
	unsigned int ranges = of_frames(fence, frame, count, range);

	if (address == KTR_NONE || (fence->offsets == 1 && fence->offset == page - frame))
		return ranges;
	fence->offset = page - frame;
	fence->offsets = fence->offsets == 0 ? 1 : 2;
	range[ranges++] = everywhere(page, count);
	return ranges;
}

unsigned int lpl_fence_ranges(struct lpl_fence *fence, const struct lpl_event *event,
			      struct lpl_fence_range range[LPL_FENCE_RANGES])
{
	const uint64_t *arg = event->arg;

	switch (event->tag) {
	case KTR_MAP:
	case KTR_UNMAP:
	case KTR_SHM_ATTACH:
	case KTR_DISCARD:
	case KTR_PRESENT:
		range[0] = of_bytes(arg[KTR_RANGE_SPACE], arg[KTR_RANGE_START],
				    arg[KTR_RANGE_END]);
		return 1;
	case KTR_REMAP:
		range[0] = of_bytes(arg[KTR_REMAP_SPACE], arg[KTR_REMAP_OLD_START],
				    arg[KTR_REMAP_OLD_END]);
		range[1] = of_bytes(arg[KTR_REMAP_SPACE], arg[KTR_REMAP_NEW_START],
				    arg[KTR_REMAP_NEW_END]);
		return 2;
	case KTR_BRK:
		range[0] = of_brk(arg[KTR_BRK_SPACE], arg[KTR_BRK_OLD_END],
				  arg[KTR_BRK_NEW_END]);
		return 1;
	case KTR_SHM_DETACH:
		range[0] = of_bytes(arg[KTR_SHM_DETACH_SPACE], arg[KTR_SHM_DETACH_START],
				    UINT64_MAX);
		return 1;
	case KTR_EXEC:
		range[0] = of_space(arg[KTR_EXEC_SPACE]);
		return 1;
	case KTR_SPACE_END:
		range[0] = of_space(arg[KTR_SPACE_END_SPACE]);
		return 1;
	case KTR_SPACE_DUPLICATE:
		range[0] = of_space(arg[KTR_SPACE_DUPLICATE_PARENT]);
		range[1] = of_space(arg[KTR_SPACE_DUPLICATE_CHILD]);
		return 2;
	case KTR_COW_BREAK:
		range[0] = of_pages(arg[KTR_COW_BREAK_SPACE], arg[KTR_COW_BREAK_ADDRESS], 1);
		return 1;
	case KTR_PAGE_OWN:
		range[0] = of_pages(arg[KTR_PAGE_OWN_SPACE], arg[KTR_PAGE_OWN_ADDRESS],
				    arg[KTR_PAGE_OWN_PAGES]);
		return 1;
	case KTR_CACHE_ADD:
		return on_cache_add(fence, arg, range);
	case KTR_CACHE_REMOVE:
		return of_frames(fence, arg[KTR_CACHE_REMOVE_FRAME],
				 arg[KTR_CACHE_REMOVE_PAGES], range);
	case LPL_EVENT_SHARED:
		range[0] = of_bytes(arg[LPL_EVENT_SHARED_SPACE], arg[LPL_EVENT_SHARED_START],
				    arg[LPL_EVENT_SHARED_END]);
		range[1] = of_bytes(arg[LPL_EVENT_SHARED_OTHER], arg[LPL_EVENT_SHARED_START],
				    arg[LPL_EVENT_SHARED_END]);
		return 2;
	default:
		/* a change of mapping that is not handled here may be of any page */
		if (event->tag != LPL_EVENT_TRACING && event->tag != LPL_EVENT_GAP &&
		    event->tag != LPL_EVENT_STATE && !lpl_event_is_fence(event->tag))
			return 0;
		range[0] = everywhere(0, ALL_PAGES);
		return 1;
	}
}

/* `finer`: log2 of how many of these pages are in one of the range's. */
static void retire(struct lpl_pages *pages, const struct lpl_fence_range *range,
		   unsigned int finer)
{
	if (!range->any_space && range->first < ALL_PAGES &&
	    range->count <= pages->count >> finer) {
		for (uint64_t i = 0; i < range->count << finer; i++) {
			uint32_t found = lpl_pages_find(pages, (struct lpl_page){
				.space = range->space, .number = (range->first << finer) + i});

			if (found != 0)
				lpl_pages_retire(pages, found);
		}
		return;
	}
	for (uint32_t i = 1; i <= pages->count; i++) {
		struct lpl_page page = pages->node[i].page;

		if ((range->any_space || page.space == range->space) &&
		    (page.number >> finer) - range->first < range->count)
			lpl_pages_retire(pages, i);
	}
}

void lpl_fence_pages(struct lpl_fence *fence, const struct lpl_event *event,
		     struct lpl_pages *pages, unsigned int shift)
{
	struct lpl_fence_range range[LPL_FENCE_RANGES];
	unsigned int ranges = lpl_fence_ranges(fence, event, range);

	assert(ranges <= LPL_FENCE_RANGES && shift <= LPL_PAGE_SHIFT);
	for (unsigned int i = 0; i < ranges; i++)
		retire(pages, &range[i], LPL_PAGE_SHIFT - shift);
}
