/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Demand paging: one memory under one policy, and how often it faults. */
#include "base/try.h"
#include "frames.h"
#include "simulation.h"

#include <stdlib.h>

struct demand {
	struct lpl_simulation simulation;
	struct lpl_frames frames;
	uint64_t faults, evictions, dirty_evictions;
	struct lpl_result result;
};

static enum lpl_error fault(struct demand *demand, const struct lpl_page_ref *ref,
			    struct lpl_report *report)
{
	enum lpl_evicted evicted;

	LPL_TRY(lpl_frames_fault(&demand->frames, demand->simulation.names, ref->page, ref->write != 0,
				 &evicted, report));
	demand->faults++;
	demand->evictions += evicted != LPL_EVICTED_NONE;
	demand->dirty_evictions += evicted == LPL_EVICTED_DIRTY;
	if (demand->simulation.shares != NULL)
		lpl_shares_count(demand->simulation.shares, LPL_DEPTH_NONE);
	return LPL_OK;
}

static enum lpl_error demand_run(struct lpl_simulation *simulation, const struct lpl_page_ref *ref,
				 size_t count, struct lpl_report *report)
{
	struct demand *demand = (struct demand *)simulation;
	void (*hit)(struct lpl_memory *memory, uint32_t frame) = demand->frames.policy->hit;

	for (size_t i = 0; i < count; i++) {
		if (!lpl_frames_hit(&demand->frames, hit, ref[i].page, ref[i].write != 0))
			LPL_TRY(fault(demand, &ref[i], report));
	}
	return LPL_OK;
}

static enum lpl_error demand_finish(struct lpl_simulation *simulation, struct lpl_report *report)
{
	struct demand *demand = (struct demand *)simulation;

	(void)report;
	demand->result = (struct lpl_result){
		.size = demand->frames.memory.size,
		.faults = demand->faults,
		.evictions = demand->evictions,
		.dirty_evictions = demand->dirty_evictions,
	};
	simulation->result = &demand->result;
	simulation->results = 1;
	return LPL_OK;
}

static void demand_close(struct lpl_simulation *simulation)
{
	struct demand *demand = (struct demand *)simulation;

	lpl_frames_free(&demand->frames);
	free(demand);
}

enum lpl_error lpl_demand_open(struct lpl_simulation **simulation, const struct lpl_policy *policy,
			       uint64_t size, const uint64_t *option,
			       struct lpl_report *report)
{
	struct demand *demand = calloc(1, sizeof(*demand));
	enum lpl_error error;

	*simulation = NULL;
	if (demand == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "policy '%s': no memory", policy->name);
	error = lpl_frames_init(&demand->frames, policy, size, option, report);
	if (error != LPL_OK) {
		free(demand);
		return error;
	}
	demand->simulation.run = demand_run;
	demand->simulation.finish = demand_finish;
	demand->simulation.close = demand_close;
	*simulation = &demand->simulation;
	return LPL_OK;
}

const uint64_t *lpl_demand_evictions(const struct lpl_simulation *simulation)
{
	return &((const struct demand *)simulation)->evictions;
}

struct lpl_frames *lpl_demand_frames(struct lpl_simulation *simulation)
{
	return &((struct demand *)simulation)->frames;
}
