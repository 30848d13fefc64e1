/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The frames of a memory, and the pages in them. */
#include "frames.h"

#include "base/array.h"
#include "base/try.h"

#include <assert.h>
#include <stdlib.h>

static enum lpl_error no_memory(const struct lpl_frames *frames, struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "policy '%s': no memory for %u frames",
			frames->policy->name, frames->memory.used);
}

/* Let the arrays by frame reach `frame`. */
static bool reach_frame(struct lpl_frames *frames, uint32_t frame)
{
	struct lpl_memory *memory = &frames->memory;
	size_t each = frames->policy->frame_size;

	if (frame == LPL_NO_FRAME || !lpl_reach(frames->page, frames->page_room, frame) ||
	    !lpl_reach(frames->dirty, frames->dirty_room, frame) ||
	    (each != 0 && !lpl_reach_index(&memory->frame, &frames->frame_room, frame, each)))
		return false;
	memory->page = frames->page;
	return true;
}

/* A frame for `page`: a free one, or that of a page that is evicted. */
static enum lpl_error find_frame(struct lpl_frames *frames, uint32_t page, uint32_t *frame,
				 enum lpl_evicted *evicted, struct lpl_report *report)
{
	struct lpl_memory *memory = &frames->memory;

	assert(memory->used <= memory->size);
	*evicted = LPL_EVICTED_NONE;
	if (memory->used < memory->size) {
		if (!reach_frame(frames, memory->used))
			return no_memory(frames, report);
		*frame = memory->used++;
		return LPL_OK;
	}
	*frame = frames->policy->evict(memory, page);
	if (*frame >= memory->used)
		return lpl_fail(report, LPL_ERR_INTERNAL,
				"policy '%s': evicts from frame %u of a memory of %u",
				frames->policy->name, *frame, memory->used);
	*evicted = frames->dirty[*frame] ? LPL_EVICTED_DIRTY : LPL_EVICTED_CLEAN;
	lpl_frame_map_remove(&frames->map, frames->page[*frame]);
	return LPL_OK;
}

enum lpl_error lpl_frames_fault(struct lpl_frames *frames, const struct lpl_page_names *names,
				uint32_t page, bool write, enum lpl_evicted *evicted,
				struct lpl_report *report)
{
	uint32_t frame = 0;

	if (frames->policy->fault != NULL) {
		struct lpl_page name = lpl_page_name(names, page);

		frames->policy->fault(&frames->memory, name.space, name.number);
	}
	LPL_TRY(find_frame(frames, page, &frame, evicted, report));
	frames->last = page;
	frames->page[frame] = page;
	frames->dirty[frame] = write;
	if (!lpl_frame_map_add(&frames->map, page, frame))
		return no_memory(frames, report);
	return frames->policy->admit == NULL ? LPL_OK :
		frames->policy->admit(&frames->memory, frame, page, report);
}

static void free_frames(struct lpl_frames *frames)
{
	free(frames->page);
	free(frames->dirty);
	lpl_frame_map_free(&frames->map);
	free(frames->memory.frame);
	free(frames->memory.state);
}

void lpl_frames_free(struct lpl_frames *frames)
{
	if (frames->policy->close != NULL)
		frames->policy->close(&frames->memory);
	free_frames(frames);
}

enum lpl_error lpl_frames_init(struct lpl_frames *frames, const struct lpl_policy *policy,
			       uint64_t size, const uint64_t *option, struct lpl_report *report)
{
	enum lpl_error error = LPL_OK;

	*frames = (struct lpl_frames){
		.policy = policy, .memory = {.size = size, .option = option}
	};
	if (policy->state_size != 0)
		frames->memory.state = calloc(1, policy->state_size);
	if (!lpl_frame_map_init(&frames->map) ||
	    (policy->state_size != 0 && frames->memory.state == NULL))
		error = lpl_fail(report, LPL_ERR_MEMORY, "policy '%s': no memory", policy->name);
	else if (policy->open != NULL)
		error = policy->open(&frames->memory, report);
	if (error != LPL_OK)
		free_frames(frames);
	return error;
}
