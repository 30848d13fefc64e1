/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Demand paging: one memory under one policy.
 *
 * The library's part of policy.h: which page is in which frame, what is dirty, the
 * counts, and the arrays of frames, which grow as memory fills.  A memory that is
 * larger than what its trace touches costs what the trace touches.
 */
#include "base/array.h"
#include "base/try.h"
#include "frame_map.h"
#include "simulation.h"

#include <assert.h>
#include <stdlib.h>

struct demand {
	struct lpl_simulation simulation;
	const struct lpl_policy *policy;
	struct lpl_memory memory;
	uint32_t *page;		/* memory.page */
	bool *dirty;		/* by frame */
	size_t page_room, dirty_room, frame_room;
	struct lpl_frame_map map;
	uint32_t last;		/* the page referenced last; 0: none */
	uint64_t faults, evictions, dirty_evictions;
	struct lpl_result result;
};

static enum lpl_error no_memory(const struct demand *demand, struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "policy '%s': no memory for %u frames",
			demand->policy->name, demand->memory.used);
}

/* Let the arrays by frame reach `frame`. */
static bool reach_frame(struct demand *demand, uint32_t frame)
{
	struct lpl_memory *memory = &demand->memory;
	size_t each = demand->policy->frame_size;

	if (frame == LPL_NO_FRAME || !lpl_reach(demand->page, demand->page_room, frame) ||
	    !lpl_reach(demand->dirty, demand->dirty_room, frame) ||
	    (each != 0 && !lpl_reach_index(&memory->frame, &demand->frame_room, frame, each)))
		return false;
	memory->page = demand->page;
	return true;
}

/* ---- references ---- */

/* A frame for `page`: a free one, or that of a page that is evicted. */
static enum lpl_error find_frame(struct demand *demand, uint32_t page, uint32_t *frame,
				 struct lpl_report *report)
{
	struct lpl_memory *memory = &demand->memory;

	assert(memory->used <= memory->size);
	if (memory->used < memory->size) {
		if (!reach_frame(demand, memory->used))
			return no_memory(demand, report);
		*frame = memory->used++;
		return LPL_OK;
	}
	*frame = demand->policy->evict(memory, page);
	if (*frame >= memory->used)
		return lpl_fail(report, LPL_ERR_INTERNAL,
				"policy '%s': evicts from frame %u of a memory of %u",
				demand->policy->name, *frame, memory->used);
	demand->evictions++;
	demand->dirty_evictions += demand->dirty[*frame] ? 1 : 0;
	lpl_frame_map_remove(&demand->map, demand->page[*frame]);
	return LPL_OK;
}

static enum lpl_error fault(struct demand *demand, const struct lpl_page_ref *ref,
			    struct lpl_report *report)
{
	uint32_t frame = 0;

	if (demand->policy->fault != NULL) {
		struct lpl_page name = lpl_page_name(demand->simulation.names, ref->page);

		demand->policy->fault(&demand->memory, name.space, name.number);
	}
	LPL_TRY(find_frame(demand, ref->page, &frame, report));
	demand->faults++;
	if (demand->simulation.shares != NULL)
		lpl_shares_count(demand->simulation.shares, LPL_DEPTH_NONE);
	demand->page[frame] = ref->page;
	demand->dirty[frame] = ref->write != 0;
	if (!lpl_frame_map_add(&demand->map, ref->page, frame))
		return no_memory(demand, report);
	return demand->policy->admit == NULL ? LPL_OK :
		demand->policy->admit(&demand->memory, frame, ref->page, report);
}

static enum lpl_error demand_run(struct lpl_simulation *simulation, const struct lpl_page_ref *ref,
				 size_t count, struct lpl_report *report)
{
	struct demand *demand = (struct demand *)simulation;
	void (*hit)(struct lpl_memory *memory, uint32_t frame) = demand->policy->hit;

	for (size_t i = 0; i < count; i++) {
		uint32_t frame = lpl_frame_map_find(&demand->map, ref[i].page);

		if (frame == LPL_NO_FRAME) {
			LPL_TRY(fault(demand, &ref[i], report));
		} else {
			assert(frame < demand->memory.used && demand->page[frame] == ref[i].page);
			demand->dirty[frame] |= ref[i].write != 0;
			if (hit != NULL && ref[i].page != demand->last)
				hit(&demand->memory, frame);
		}
		demand->last = ref[i].page;
	}
	return LPL_OK;
}

static enum lpl_error demand_finish(struct lpl_simulation *simulation, struct lpl_report *report)
{
	struct demand *demand = (struct demand *)simulation;

	(void)report;
	demand->result = (struct lpl_result){
		.size = demand->memory.size,
		.faults = demand->faults,
		.evictions = demand->evictions,
		.dirty_evictions = demand->dirty_evictions,
	};
	simulation->result = &demand->result;
	simulation->results = 1;
	return LPL_OK;
}

static void free_demand(struct demand *demand)
{
	free(demand->page);
	free(demand->dirty);
	lpl_frame_map_free(&demand->map);
	free(demand->memory.frame);
	free(demand->memory.state);
	free(demand);
}

static void demand_close(struct lpl_simulation *simulation)
{
	struct demand *demand = (struct demand *)simulation;

	if (demand->policy->close != NULL)
		demand->policy->close(&demand->memory);
	free_demand(demand);
}

enum lpl_error lpl_demand_open(struct lpl_simulation **simulation, const struct lpl_policy *policy,
			       uint64_t size, const uint64_t *option,
			       struct lpl_report *report)
{
	struct demand *demand = calloc(1, sizeof(*demand));

	*simulation = NULL;
	if (demand == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "policy '%s': no memory", policy->name);
	demand->simulation.run = demand_run;
	demand->simulation.finish = demand_finish;
	demand->simulation.close = demand_close;
	demand->policy = policy;
	demand->memory.size = size;
	demand->memory.option = option;
	if (policy->state_size != 0)
		demand->memory.state = calloc(1, policy->state_size);
	if (!lpl_frame_map_init(&demand->map) ||
	    (policy->state_size != 0 && demand->memory.state == NULL)) {
		free_demand(demand);
		return lpl_fail(report, LPL_ERR_MEMORY, "policy '%s': no memory", policy->name);
	}
	if (policy->open != NULL) {
		enum lpl_error error = policy->open(&demand->memory, report);

		if (error != LPL_OK) {
			free_demand(demand);
			return error;
		}
	}
	*simulation = &demand->simulation;
	return LPL_OK;
}
