/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pages that a policy knows. */
#include "directory.h"

#include "base/array.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

bool lpl_directory_init(struct lpl_directory *directory)
{
	memset(directory, 0, sizeof(*directory));
	directory->spare = LPL_NO_NODE;
	for (uint32_t i = 0; i < LPL_MOST_QUEUES; i++)
		lpl_lru_list_init(&directory->queue[i], sizeof(struct lpl_entry));
	return lpl_frame_map_init(&directory->map);
}

void lpl_directory_free(struct lpl_directory *directory)
{
	lpl_frame_map_free(&directory->map);
	free(directory->entry);
}

static void enter(struct lpl_directory *directory, uint32_t i, uint32_t queue)
{
	assert(queue < LPL_MOST_QUEUES);
	directory->entry[i].queue = queue;
	lpl_lru_list_add(&directory->queue[queue], i);
}

static void leave(struct lpl_directory *directory, uint32_t i)
{
	lpl_lru_list_remove(&directory->queue[directory->entry[i].queue], i);
}

/* An entry for a page that is not known, in no queue yet; LPL_NO_NODE: no memory. */
static uint32_t add_entry(struct lpl_directory *directory, uint32_t page)
{
	uint32_t i = directory->spare;

	if (i != LPL_NO_NODE) {
		directory->spare = directory->entry[i].frame;
	} else {
		i = directory->used;
		if (i == LPL_NO_NODE || !lpl_reach(directory->entry, directory->entry_room, i))
			return LPL_NO_NODE;
		for (uint32_t queue = 0; queue < LPL_MOST_QUEUES; queue++)
			directory->queue[queue].nodes = directory->entry;
		directory->used++;
	}
	directory->entry[i].page = page;
	directory->entry[i].mark = 0;
	return lpl_frame_map_add(&directory->map, page, i) ? i : LPL_NO_NODE;
}

uint32_t lpl_directory_admit(struct lpl_directory *directory, uint32_t page, uint32_t frame,
			     uint32_t queue)
{
	uint32_t i = lpl_directory_find(directory, page);

	if (i != LPL_NO_NODE) {
		assert(directory->entry[i].frame == LPL_NO_FRAME);
		leave(directory, i);
	} else {
		i = add_entry(directory, page);
	}
	if (i == LPL_NO_NODE)
		return LPL_NO_NODE;
	directory->entry[i].frame = frame;
	enter(directory, i, queue);
	return i;
}

void lpl_directory_move(struct lpl_directory *directory, uint32_t i, uint32_t queue)
{
	leave(directory, i);
	enter(directory, i, queue);
}

uint32_t lpl_directory_evict(struct lpl_directory *directory, uint32_t i, uint32_t queue)
{
	const uint32_t frame = directory->entry[i].frame;

	assert(frame != LPL_NO_FRAME);
	lpl_directory_move(directory, i, queue);
	directory->entry[i].frame = LPL_NO_FRAME;
	return frame;
}

uint32_t lpl_directory_forget(struct lpl_directory *directory, uint32_t i)
{
	const uint32_t frame = directory->entry[i].frame;

	leave(directory, i);
	lpl_frame_map_remove(&directory->map, directory->entry[i].page);
	directory->entry[i].frame = directory->spare;
	directory->spare = i;
	return frame;
}
