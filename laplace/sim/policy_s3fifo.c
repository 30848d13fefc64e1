/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * S3-FIFO (J. Yang, Y. Zhang, Z. Qiu, Y. Yue, K. V. Rashmi: "FIFO queues are all you need for cache
 * eviction", SOSP 2023, algorithm 1): a small FIFO queue for what is new, a main one for what was
 * used there, and a ghost one for what left the small queue and comes back.
 *
 * Each page has a count of its hits, 3 at most.  A page that is fetched enters the small queue, or, if
 * it is a ghost, the main one.  If the small queue has `small` percent of the memory's pages or more, it
 * is evicted from: its oldest page enters the main queue, if it was hit `hits` times or more, with a
 * count of 0; the first that was not is evicted and becomes a ghost.  Else, or if all of the small queue
 * went to the main one, the oldest page of the main queue is evicted if its count is 0, and is put at
 * its front with one hit less otherwise, and so on.  There are as many ghosts as `ghost` percent
 * of the memory; for one more, the oldest is forgotten.
 *
 * In two points this is what the authors' own simulator does, and not their listing.  Whether the page
 * that faults is a ghost is looked up before a page is evicted, which may drop the oldest ghost.  And a
 * page that goes from the small queue to a main one that is full does not push out another at
 * once: only one page leaves for one that comes, and the main queue is evicted from next time.
 */
#include "directory.h"
#include "simulation.h"

enum { OPTION_SMALL, OPTION_GHOST, OPTION_HITS };
enum { SMALL, MAIN, GHOST };	/* queues */
enum { MOST_HITS = 3 };

static const struct lpl_policy_option s3fifo_options[] = {
	[OPTION_SMALL] = {"small", 1, 99, 10},
	[OPTION_GHOST] = {"ghost", 0, 1000, 90},
	[OPTION_HITS] = {"hits", 1, MOST_HITS, 2},
	{NULL, 0, 0, 0},
};

struct s3fifo {
	struct lpl_directory directory;
	uint64_t small, ghosts;		/* pages */
	bool returns;			/* the page that faults was a ghost */
};

static enum lpl_error no_memory(const struct lpl_memory *memory, struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "s3fifo: no memory for %u frames", memory->used);
}

static enum lpl_error s3fifo_open(struct lpl_memory *memory, struct lpl_report *report)
{
	struct s3fifo *s3fifo = memory->state;
	const uint64_t small = lpl_percent(memory->size, memory->option[OPTION_SMALL]);

	s3fifo->small = small != 0 ? small : 1;
	s3fifo->ghosts = memory->size > UINT32_MAX ? memory->size :
		lpl_percent(memory->size, memory->option[OPTION_GHOST]);
	return lpl_directory_init(&s3fifo->directory) ? LPL_OK : no_memory(memory, report);
}

static void s3fifo_hit(struct lpl_memory *memory, uint32_t frame)
{
	struct s3fifo *s3fifo = memory->state;
	struct lpl_entry *entry = &s3fifo->directory.entry[((uint32_t *)memory->frame)[frame]];

	entry->mark += entry->mark < MOST_HITS;
}

/* The frame of a page that leaves the small queue; LPL_NO_FRAME: all of them went to the main one. */
static uint32_t evict_small(struct lpl_memory *memory)
{
	struct s3fifo *s3fifo = memory->state;
	struct lpl_directory *directory = &s3fifo->directory;
	uint32_t oldest, frame;

	while ((oldest = lpl_directory_oldest(directory, SMALL)) != LPL_NO_NODE) {
		struct lpl_entry *entry = &directory->entry[oldest];

		if (entry->mark < memory->option[OPTION_HITS]) {
			frame = lpl_directory_evict(directory, oldest, GHOST);
			if (lpl_directory_count(directory, GHOST) > s3fifo->ghosts)
				(void)lpl_directory_forget(directory,
							   lpl_directory_oldest(directory, GHOST));
			return frame;
		}
		entry->mark = 0;
		lpl_directory_move(directory, oldest, MAIN);
	}
	return LPL_NO_FRAME;
}

static uint32_t evict_main(struct lpl_directory *directory)
{
	for (;;) {
		const uint32_t oldest = lpl_directory_oldest(directory, MAIN);

		if (directory->entry[oldest].mark == 0)
			return lpl_directory_forget(directory, oldest);
		directory->entry[oldest].mark--;
		lpl_directory_move(directory, oldest, MAIN);
	}
}

static uint32_t s3fifo_evict(struct lpl_memory *memory, uint32_t page)
{
	struct s3fifo *s3fifo = memory->state;
	struct lpl_directory *directory = &s3fifo->directory;
	const uint32_t ghost = lpl_directory_find(directory, page);
	uint32_t frame = LPL_NO_FRAME;

	s3fifo->returns = ghost != LPL_NO_NODE;
	if (s3fifo->returns)
		(void)lpl_directory_forget(directory, ghost);
	if (lpl_directory_count(directory, SMALL) >= s3fifo->small)
		frame = evict_small(memory);
	return frame != LPL_NO_FRAME ? frame : evict_main(directory);
}

static enum lpl_error s3fifo_admit(struct lpl_memory *memory, uint32_t frame, uint32_t page,
				    struct lpl_report *report)
{
	struct s3fifo *s3fifo = memory->state;
	const uint32_t entry = lpl_directory_admit(&s3fifo->directory, page, frame,
						   s3fifo->returns ? MAIN : SMALL);

	((uint32_t *)memory->frame)[frame] = entry;
	return entry != LPL_NO_NODE ? LPL_OK : no_memory(memory, report);
}

static void s3fifo_close(struct lpl_memory *memory)
{
	lpl_directory_free(&((struct s3fifo *)memory->state)->directory);
}

const struct lpl_policy lpl_policy_s3fifo = {
	.name = "s3fifo",
	.options = s3fifo_options,
	.state_size = sizeof(struct s3fifo),
	.frame_size = sizeof(uint32_t),		/* the page's entry */
	.open = s3fifo_open,
	.hit = s3fifo_hit,
	.evict = s3fifo_evict,
	.admit = s3fifo_admit,
	.close = s3fifo_close,
};
