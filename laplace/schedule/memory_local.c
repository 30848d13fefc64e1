/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Local replacement: an LRU queue for each process, and an arbiter that knows what share of the
 * memory each should have.  A page belongs to the process that brought it in; a reference by any
 * process puts it at the newest end of that queue.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/map.h"
#include "base/try.h"
#include "memory.h"

struct resident {			/* by page's number */
	uint32_t newer, older;		/* in its owner's queue; 0 at the ends */
	uint32_t owner;			/* process + 1; 0: the page is not in memory */
	bool dirty;
};

struct owner {
	uint32_t newest, oldest;
	uint64_t resident;
	uint64_t brought;		/* distinct pages, so far */
};

struct local {
	struct page_memory memory;
	enum lpl_memory_kind kind;
	uint64_t pages, used;
	struct resident *page;
	size_t page_room;
	struct owner *owner;		/* by process */
	size_t owners, owner_room;
	struct lpl_map brought;		/* process, page: distinct ones that it brought in */
};

static enum lpl_error no_memory(struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "schedule: no memory for the processes' pages");
}

/* ---- queues ---- */

static void take_out(struct local *local, uint32_t i)
{
	struct resident *page = &local->page[i];
	struct owner *owner = &local->owner[page->owner - 1];

	if (page->newer != 0)
		local->page[page->newer].older = page->older;
	else
		owner->newest = page->older;
	if (page->older != 0)
		local->page[page->older].newer = page->newer;
	else
		owner->oldest = page->newer;
}

static void put_first(struct local *local, uint32_t i)
{
	struct resident *page = &local->page[i];
	struct owner *owner = &local->owner[page->owner - 1];

	page->newer = 0;
	page->older = owner->newest;
	if (owner->newest != 0)
		local->page[owner->newest].newer = i;
	else
		owner->oldest = i;
	owner->newest = i;
}

/* ---- shares ---- */

/* Which processes count: all with pages in memory, and the one that faults. */
static bool shares(const struct local *local, size_t process, size_t faulting)
{
	return local->owner[process].resident != 0 || process == faulting;
}

/* Of what all shares are parts: the processes that have one, or the pages that they brought in. */
static uint64_t whole(const struct local *local, size_t faulting)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < local->owners; i++)
		if (shares(local, i, faulting))
			sum += local->kind == LPL_MEMORY_LOCAL_EQUAL ? 1 :
				local->owner[i].brought;
	return sum;
}

static uint64_t share_of(const struct local *local, size_t process, uint64_t of)
{
	assert(of > 0);		/* memory is full of pages that were brought in */
	return local->kind == LPL_MEMORY_LOCAL_EQUAL ? local->pages / of :
		(uint64_t)((unsigned __int128)local->pages * local->owner[process].brought / of);
}

/* The process that a page is taken from, for one of `faulting`. */
static size_t find_victim(const struct local *local, size_t faulting)
{
	const uint64_t of = whole(local, faulting);
	const struct owner *own = &local->owner[faulting];
	size_t most = 0, above = local->owners;
	uint64_t most_above = 0;

	if (own->resident != 0 && own->resident >= share_of(local, faulting, of))
		return faulting;
	for (size_t i = 0; i < local->owners; i++) {
		const uint64_t resident = local->owner[i].resident;
		const uint64_t share = shares(local, i, faulting) ? share_of(local, i, of) : 0;

		if (resident > local->owner[most].resident)
			most = i;
		if (resident > share && resident - share > most_above) {
			most_above = resident - share;
			above = i;
		}
	}
	return above != local->owners ? above : own->resident != 0 ? faulting : most;
}

static enum lpl_evicted evict(struct local *local, size_t faulting)
{
	const size_t victim = find_victim(local, faulting);
	const uint32_t i = local->owner[victim].oldest;

	take_out(local, i);
	local->page[i].owner = 0;
	local->owner[victim].resident--;
	local->used--;
	return local->page[i].dirty ? LPL_EVICTED_DIRTY : LPL_EVICTED_CLEAN;
}

/* ---- the memory ---- */

static enum lpl_error bring(struct local *local, uint32_t i, bool write, size_t process,
			    struct lpl_report *report)
{
	uint64_t *brought = lpl_map_reach(&local->brought, LPL_KEY(process, i));

	if (brought == NULL)
		return no_memory(report);
	local->owner[process].brought += *brought == 0;
	*brought = 1;
	local->page[i].owner = (uint32_t)process + 1;
	local->page[i].dirty = write;
	put_first(local, i);
	local->owner[process].resident++;
	local->used++;
	return LPL_OK;
}

static enum lpl_error local_reference(struct page_memory *memory, uint32_t page, bool write,
				      uint64_t process, bool *fault, enum lpl_evicted *evicted,
				      struct lpl_report *report)
{
	struct local *local = (struct local *)memory;

	*evicted = LPL_EVICTED_NONE;
	if (process >= UINT32_MAX || !lpl_reach(local->page, local->page_room, page) ||
	    !lpl_reach(local->owner, local->owner_room, process))
		return no_memory(report);
	*fault = local->page[page].owner == 0;
	if (!*fault) {
		local->page[page].dirty |= write;
		take_out(local, page);
		put_first(local, page);
		return LPL_OK;
	}
	if (process >= local->owners)
		local->owners = process + 1;
	if (local->used == local->pages)
		*evicted = evict(local, process);
	return bring(local, page, write, process, report);
}

static void local_close(struct page_memory *memory)
{
	struct local *local = (struct local *)memory;

	lpl_map_free(&local->brought);
	free(local->owner);
	free(local->page);
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
	lpl_map_init(&local->brought, 2);
	*memory = &local->memory;
	return LPL_OK;
}
