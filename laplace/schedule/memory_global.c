/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One memory for all, under a policy of demand paging: those of `laplace sim', and LRU. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/try.h"
#include "memory.h"
#include "sim/frames.h"
#include "sim/lru_list.h"
#include "sim/request.h"

/* ---- LRU of one size: that of sim/policy_lru.c finds all sizes, but when a page leaves none ---- */

static enum lpl_error lru_open(struct lpl_memory *memory, struct lpl_report *report)
{
	(void)report;
	lpl_lru_list_init(memory->state, sizeof(struct lpl_lru_node));
	return LPL_OK;
}

static void lru_hit(struct lpl_memory *memory, uint32_t frame)
{
	struct lpl_lru_list *list = memory->state;

	list->nodes = memory->frame;
	lpl_lru_list_reference(list, frame);
}

static uint32_t lru_evict(struct lpl_memory *memory, uint32_t page)
{
	(void)page;
	return ((struct lpl_lru_list *)memory->state)->oldest;
}

static enum lpl_error lru_admit(struct lpl_memory *memory, uint32_t frame, uint32_t page,
				struct lpl_report *report)
{
	struct lpl_lru_list *list = memory->state;

	(void)page;
	(void)report;
	list->nodes = memory->frame;
	if (frame == list->count)
		lpl_lru_list_add(list, frame);
	else
		lpl_lru_list_reference(list, frame);
	return LPL_OK;
}

static const struct lpl_policy lru = {
	.name = "lru", .state_size = sizeof(struct lpl_lru_list),
	.frame_size = sizeof(struct lpl_lru_node),
	.open = lru_open, .hit = lru_hit, .evict = lru_evict, .admit = lru_admit,
};

/* ---- the memory ---- */

#define NAMED(name) ", " #name

struct global {
	struct page_memory memory;
	struct lpl_request *request;
	struct lpl_frames *frames;	/* its only one's */
};

static enum lpl_error global_reference(struct page_memory *memory, struct reference *reference,
				       struct lpl_report *report)
{
	struct lpl_frames *frames = ((struct global *)memory)->frames;
	enum lpl_evicted evicted;

	reference->fault = !lpl_frames_hit(frames, frames->policy->hit, reference->page,
					   reference->write);
	if (!reference->fault)
		return LPL_OK;
	LPL_TRY(lpl_frames_fault(frames, &memory->names, reference->page, reference->write, &evicted,
				 report));
	memory->evictions += evicted != LPL_EVICTED_NONE;
	memory->dirty_evictions += evicted == LPL_EVICTED_DIRTY;
	return LPL_OK;
}

static void global_close(struct page_memory *memory)
{
	struct global *global = (struct global *)memory;

	lpl_request_close(global->request);
	lpl_page_names_free(&memory->names);
	free(global);
}

static bool is_lru(const char *policy)
{
	return strncmp(policy, "lru", 3) == 0 && (policy[3] == '\0' || policy[3] == ':');
}

enum lpl_error lpl_memory_open_global(struct page_memory **memory, const struct lpl_machine *how,
				      struct lpl_report *report)
{
	static const struct lpl_exactness none;
	const char *policy = how->policy != NULL ? how->policy : "lru";
	uint64_t pages = how->pages;
	const struct lpl_sizes sizes = {.size = &pages, .count = 1};
	struct global *global = calloc(1, sizeof(*global));
	enum lpl_error error;

	*memory = NULL;
	if (global == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "schedule: no memory");
	global->memory.reference = global_reference;
	global->memory.close = global_close;
	error = lpl_request_open(&global->request, policy, is_lru(policy) ? &lru : NULL, &sizes,
				 &none, 1, report);
	if (error == LPL_OK && global->request->policy == NULL)
		error = lpl_fail(report, LPL_ERR_USAGE, "policy '%.80s': decides by what comes, or "
				 "has no memory of a given size; a machine's memory has one that runs "
				 "on demand: lru" LPL_DEMAND_POLICIES(NAMED), policy);
	if (error != LPL_OK) {
		global_close(&global->memory);
		return error;
	}
	assert(global->request->policy != NULL);
	global->frames = lpl_demand_frames(global->request->simulation[0]);
	global->memory.named = global->request->policy->fault != NULL;
	*memory = &global->memory;
	return LPL_OK;
}
