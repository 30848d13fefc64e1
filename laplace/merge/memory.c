/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A bound on the host's memory, whatever a guest reports.
 *
 * Events build up tasks, spaces, mappings, pages that are present, names of files: a guest that
 * reports ever more of them, or of each a million times, would have us run out of memory, and
 * one event may be about a million pages.  So what events take is counted, and when it is more
 * than it may be, all of it is forgotten, as after records were missing: nothing is resolved by
 * what is not known any more, tasks are lost, and the stream goes on from there.  How often is
 * counted (`forgotten`), and shown wherever gaps are.
 *
 * What references have shown is kept: that a page was seen, and is called by this number, is
 * never forgotten, for another number would be a wrong one.  It is not in the bound; it takes
 * a reference for each page.
 *
 * Linux has at most 2^22 tasks and 65530 mappings in a space, so that no guest in its right mind
 * comes near the default.
 */
#include <stdlib.h>

#include "audit.h"
#include "state.h"

/* Of a map's place, as full as it may be; of a block, what malloc() adds. */
#define OVERHEAD 16

static uint64_t map_bytes(const struct lpl_map *map)
{
	return map->room * (map->words + 1) * sizeof(*map->place);
}

bool lpl_memory_is_full(const struct lpl_merge *merge)
{
	const struct tasks *tasks = &merge->tasks;
	uint64_t bytes = merge->store.bytes;

	bytes += merge->spaces.count * (sizeof(struct space) + OVERHEAD);
	bytes += tasks->by_tid.count * (sizeof(struct task) + OVERHEAD);
	bytes += tasks->processes.count * (sizeof(struct process) + OVERHEAD);
	if (tasks->keep_events)
		bytes += tasks->by_tid.count * (sizeof(struct lpl_event) + OVERHEAD);
	bytes += merge->idle_objects * (sizeof(struct object) + KTR_TEXT + 2 * OVERHEAD);
	bytes += merge->present_room * sizeof(*merge->present_page);
	bytes += map_bytes(&merge->spaces) + map_bytes(&merge->present) +
		 map_bytes(&tasks->by_tid) + map_bytes(&tasks->processes);
	if (merge->audit != NULL)
		bytes += map_bytes(&merge->audit->ended);
	return bytes > merge->memory;
}

bool lpl_memory_forget(struct lpl_merge *merge, const struct lpl_event *event)
{
	merge->stats.forgotten++;
	/* before the books forget which spaces have ended: these have not */
	if (!lpl_spaces_forget(merge, event))
		return false;
	lpl_merge_forget(merge);
	free(merge->present_page);
	merge->present_page = NULL;
	merge->present_room = 0;
	lpl_objects_forget(merge);
	lpl_tasks_gap(&merge->tasks);
	lpl_tasks_lose(&merge->tasks, event);
	return true;
}
