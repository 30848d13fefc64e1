/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The pages that a policy knows, those in memory and those that left it and are remembered: the
 * cache directory, as the paper of ARC has it.  Each is in one of a few queues.
 *
 * A policy's element for each frame is the uint32_t number of the page's entry.  An entry has its
 * number as long as the page is known, whether in memory or not.  The policy decides what is forgotten,
 * and so how large a directory becomes: 40 bytes for each page in it, and what a frame map takes.
 */
#ifndef LAPLACE_SIM_DIRECTORY_H
#define LAPLACE_SIM_DIRECTORY_H

#include "frame_map.h"
#include "lru_list.h"

enum { LPL_MOST_QUEUES = 4 };

struct lpl_entry {
	struct lpl_lru_node place;	/* in its queue */
	uint32_t page;
	uint32_t frame;			/* LPL_NO_FRAME: not in memory */
	uint32_t queue;
	uint32_t mark;			/* the policy's; 0 when the page becomes known */
};

struct lpl_directory {
	struct lpl_entry *entry;
	size_t entry_room;
	uint32_t used;			/* elements of entry[] ever used */
	uint32_t spare;			/* free ones, linked by `frame` */
	struct lpl_frame_map map;	/* a page's entry, in place of its frame */
	struct lpl_lru_list queue[LPL_MOST_QUEUES];
};

bool lpl_directory_init(struct lpl_directory *directory);	/* false: no memory */
void lpl_directory_free(struct lpl_directory *directory);

/* The page's entry; LPL_NO_NODE: it is not known. */
static inline uint32_t lpl_directory_find(const struct lpl_directory *directory, uint32_t page)
{
	return lpl_frame_map_find(&directory->map, page);
}

/* Of how many pages a queue is, and which entry has been in it for longest; LPL_NO_NODE: none. */
static inline uint64_t lpl_directory_count(const struct lpl_directory *directory, uint32_t queue)
{
	return directory->queue[queue].count;
}

static inline uint32_t lpl_directory_oldest(const struct lpl_directory *directory, uint32_t queue)
{
	return directory->queue[queue].oldest;
}

/*
 * A page is in `frame` now, known or not, and the newest in `queue`: its entry.  LPL_NO_NODE: no
 * memory.
 */
uint32_t lpl_directory_admit(struct lpl_directory *directory, uint32_t page, uint32_t frame,
			     uint32_t queue);
/* The entry becomes the newest in `queue`, wherever it is. */
void lpl_directory_move(struct lpl_directory *directory, uint32_t i, uint32_t queue);
/* The same of a page that leaves memory: its frame. */
uint32_t lpl_directory_evict(struct lpl_directory *directory, uint32_t i, uint32_t queue);
/* It is known no more.  Returns its frame, if it was in memory. */
uint32_t lpl_directory_forget(struct lpl_directory *directory, uint32_t i);

#endif
