/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * LFU, of the pages in memory: the page with the fewest references since it was fetched goes, and of
 * several the least recently used one.  What is evicted is forgotten, and comes back with a count of 1.
 *
 * Frames are in a heap, the first to go on top.  Each frame's element has two parts: its page's
 * count and place in the heap; and what stands at the heap's place of the same number.
 */
#include "simulation.h"

struct frame {
	uint64_t count, last;	/* references, and when the last one was */
	uint32_t place;		/* in the heap, from 0 */
	uint32_t at;		/* the frame at that place of the heap which has this frame's number */
};

struct lfu {
	uint64_t now;
	uint32_t count;		/* of frames in the heap */
};

static bool goes_before(const struct frame *a, const struct frame *b)
{
	return a->count != b->count ? a->count < b->count : a->last < b->last;
}

static void put(struct frame *frames, uint32_t place, uint32_t frame)
{
	frames[place].at = frame;
	frames[frame].place = place;
}

static void rise(struct frame *frames, uint32_t frame)
{
	uint32_t place = frames[frame].place;

	while (place != 0) {
		const uint32_t above = (place - 1) / 2;

		if (!goes_before(&frames[frame], &frames[frames[above].at]))
			break;
		put(frames, place, frames[above].at);
		place = above;
	}
	put(frames, place, frame);
}

static void sink(struct frame *frames, uint32_t frame, uint32_t count)
{
	uint32_t place = frames[frame].place;

	while (2 * (uint64_t)place + 1 < count) {
		uint32_t below = 2 * place + 1;

		if (below + 1 < count && goes_before(&frames[frames[below + 1].at],
						     &frames[frames[below].at]))
			below++;
		if (!goes_before(&frames[frames[below].at], &frames[frame]))
			break;
		put(frames, place, frames[below].at);
		place = below;
	}
	put(frames, place, frame);
}

static void lfu_hit(struct lpl_memory *memory, uint32_t frame)
{
	struct lfu *lfu = memory->state;
	struct frame *frames = memory->frame;

	frames[frame].count++;
	frames[frame].last = ++lfu->now;
	sink(frames, frame, lfu->count);
}

static uint32_t lfu_evict(struct lpl_memory *memory, uint32_t page)
{
	(void)page;
	return ((struct frame *)memory->frame)[0].at;
}

/* A new frame is at the heap's end; one that was emptied is on its top, where its new page may sink. */
static enum lpl_error lfu_admit(struct lpl_memory *memory, uint32_t frame, uint32_t page,
				struct lpl_report *report)
{
	struct lfu *lfu = memory->state;
	struct frame *frames = memory->frame;

	(void)page;
	(void)report;
	frames[frame].count = 1;
	frames[frame].last = ++lfu->now;
	if (frame == lfu->count) {
		put(frames, lfu->count++, frame);
		rise(frames, frame);
	} else {
		sink(frames, frame, lfu->count);
	}
	return LPL_OK;
}

const struct lpl_policy lpl_policy_lfu = {
	.name = "lfu",
	.state_size = sizeof(struct lfu),
	.frame_size = sizeof(struct frame),
	.hit = lfu_hit,
	.evict = lfu_evict,
	.admit = lfu_admit,
};
