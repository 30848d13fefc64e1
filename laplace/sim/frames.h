/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The frames of one memory under a policy of demand paging: the library's part of policy.h.  Which
 * page is in which frame, what is dirty, and the arrays of frames, which grow as memory fills: a
 * memory that is larger than what its trace touches costs what the trace touches.
 */
#ifndef LAPLACE_SIM_FRAMES_H
#define LAPLACE_SIM_FRAMES_H

#include <assert.h>

#include <laplace/policy.h>

#include "frame_map.h"
#include "page_names.h"

struct lpl_frames {
	const struct lpl_policy *policy;
	struct lpl_memory memory;
	uint32_t *page;			/* memory.page */
	bool *dirty;			/* by frame */
	size_t page_room, dirty_room, frame_room;
	struct lpl_frame_map map;
	uint32_t last;			/* the page referenced last; 0: none */
};

/* What is evicted by a page that is brought in. */
enum lpl_evicted { LPL_EVICTED_NONE, LPL_EVICTED_CLEAN, LPL_EVICTED_DIRTY };

/* `option` are the policy's options' numbers, as long-lived as the frames. */
enum lpl_error lpl_frames_init(struct lpl_frames *frames, const struct lpl_policy *policy,
			       uint64_t size, const uint64_t *option, struct lpl_report *report);
/* The policy's `close`, and all memory. */
void lpl_frames_free(struct lpl_frames *frames);

/*
 * A page is referenced.  true: it is in memory.  References to one page in a row count as one.
 */
static inline bool lpl_frames_hit(struct lpl_frames *frames,
				  void (*hit)(struct lpl_memory *memory, uint32_t frame),
				  uint32_t page, bool write)
{
	const uint32_t frame = lpl_frame_map_find(&frames->map, page);

	if (frame == LPL_NO_FRAME)
		return false;
	assert(frame < frames->memory.used && frames->page[frame] == page);
	frames->dirty[frame] |= write;
	if (hit != NULL && page != frames->last)
		hit(&frames->memory, frame);
	frames->last = page;
	return true;
}

/* It is not, and is brought in.  `names`: of pages, of a policy that is given them (`fault`). */
enum lpl_error lpl_frames_fault(struct lpl_frames *frames, const struct lpl_page_names *names,
				uint32_t page, bool write, enum lpl_evicted *evicted,
				struct lpl_report *report);

#endif
