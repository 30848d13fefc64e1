/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Local replacement: an LRU queue for each process, and an arbiter that knows what share of the
 * memory each should have.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/map.h"
#include "base/try.h"
#include "queues.h"

struct local {
	struct page_memory memory;
	enum lpl_memory_kind kind;
	uint64_t pages;
	struct queues queues;
	uint64_t *brought;		/* by process: distinct pages, so far */
	size_t brought_room;
	struct lpl_map seen;		/* process, page: those */
};

static enum lpl_error no_memory(struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "schedule: no memory for the processes' pages");
}

/* ---- shares ---- */

/* Which processes count: all with pages in memory, and the one that faults. */
static bool shares(const struct local *local, size_t process, size_t faulting)
{
	return local->queues.queue[process].resident != 0 || process == faulting;
}

/* Of what all shares are parts: the processes that have one, or the pages that they brought in. */
static uint64_t whole(const struct local *local, size_t faulting)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < local->queues.queues; i++)
		if (shares(local, i, faulting))
			sum += local->kind == LPL_MEMORY_LOCAL_EQUAL ? 1 :
				local->brought[i];
	return sum;
}

static uint64_t share_of(const struct local *local, size_t process, uint64_t of)
{
	assert(of > 0);		/* memory is full of pages that were brought in */
	return local->kind == LPL_MEMORY_LOCAL_EQUAL ? local->pages / of :
		(uint64_t)((unsigned __int128)local->pages * local->brought[process] / of);
}

/* The process that a page is taken from, for one of `faulting`. */
static size_t find_victim(const struct local *local, size_t faulting)
{
	const uint64_t of = whole(local, faulting);
	const struct queue *queue = local->queues.queue, *own = &queue[faulting];
	size_t most = 0, above = local->queues.queues;
	uint64_t most_above = 0;

	if (own->resident != 0 && own->resident >= share_of(local, faulting, of))
		return faulting;
	for (size_t i = 0; i < local->queues.queues; i++) {
		const uint64_t resident = queue[i].resident;
		const uint64_t share = shares(local, i, faulting) ? share_of(local, i, of) : 0;

		if (resident > queue[most].resident)
			most = i;
		if (resident > share && resident - share > most_above) {
			most_above = resident - share;
			above = i;
		}
	}
	return above != local->queues.queues ? above : own->resident != 0 ? faulting : most;
}

/* ---- the memory ---- */

static enum lpl_error count_brought(struct local *local, const struct reference *reference,
				    struct lpl_report *report)
{
	uint64_t *seen = lpl_map_reach(&local->seen, LPL_KEY(reference->process, reference->page));

	if (seen == NULL)
		return no_memory(report);
	local->brought[reference->process] += *seen == 0;
	*seen = 1;
	return LPL_OK;
}

static enum lpl_error local_reference(struct page_memory *memory, struct reference *reference,
				      struct lpl_report *report)
{
	struct local *local = (struct local *)memory;
	struct queues *queues = &local->queues;
	const uint64_t process = reference->process;

	LPL_TRY(lpl_queues_reach(queues, reference->page, process, report));
	reference->fault = queues->page[reference->page].owner == 0;
	if (!reference->fault) {
		queues->page[reference->page].dirty |= reference->write;
		lpl_queues_touch(queues, reference->page);
		return LPL_OK;
	}
	if (!lpl_reach(local->brought, local->brought_room, process))
		return no_memory(report);
	if (process >= queues->queues)
		queues->queues = process + 1;
	if (queues->used == local->pages)
		lpl_queues_drop_oldest(queues, find_victim(local, process), memory);
	LPL_TRY(count_brought(local, reference, report));
	lpl_queues_bring(queues, reference->page, process, reference->write);
	return LPL_OK;
}

static void local_close(struct page_memory *memory)
{
	struct local *local = (struct local *)memory;

	lpl_map_free(&local->seen);
	lpl_queues_free(&local->queues);
	free(local->brought);
	free(local);
}

enum lpl_error lpl_memory_open_local(struct page_memory **memory, const struct lpl_machine *how,
				     struct lpl_report *report)
{
	struct local *local = calloc(1, sizeof(*local));

	*memory = NULL;
	if (local == NULL)
		return no_memory(report);
	local->memory.reference = local_reference;
	local->memory.close = local_close;
	local->kind = how->memory;
	local->pages = how->pages;
	lpl_map_init(&local->seen, 2);
	*memory = &local->memory;
	return LPL_OK;
}
