/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * 2Q, the full version (T. Johnson, D. Shasha: "2Q: a low overhead high performance buffer management
 * replacement algorithm", VLDB 1994).
 *
 * A page that is fetched enters A1in, a FIFO queue.  What leaves that is remembered in A1out, a FIFO
 * queue of pages that are not in memory; a page that is fetched while it is there enters Am, an
 * LRU list.  Hits in A1in change nothing.  If A1in has more than `in` percent of the memory's
 * pages, a fault evicts its oldest page, and otherwise Am's least recently used one, which is not
 * remembered.  A1out has at most as many pages as `out` percent of the memory.
 *
 * The paper leaves open when a page that is fetched leaves A1out: here it is before another one
 * comes there, which thus has room.
 */
#include "directory.h"
#include "simulation.h"

enum { OPTION_IN, OPTION_OUT };
enum { A1_IN, A1_OUT, AM };	/* queues */

static const struct lpl_policy_option two_q_options[] = {
	[OPTION_IN] = {"in", 1, 99, 25},
	[OPTION_OUT] = {"out", 0, 1000, 50},
	{NULL, 0, 0, 0},
};

struct two_q {
	struct lpl_directory directory;
	uint64_t in, out;		/* Kin and Kout, in pages */
	bool returns;			/* the page that faults was in A1out */
};

static enum lpl_error no_memory(const struct lpl_memory *memory, struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "2q: no memory for %u frames", memory->used);
}

static enum lpl_error two_q_open(struct lpl_memory *memory, struct lpl_report *report)
{
	struct two_q *two_q = memory->state;

	two_q->in = lpl_percent(memory->size, memory->option[OPTION_IN]);
	two_q->out = memory->size > UINT32_MAX ? memory->size :
		lpl_percent(memory->size, memory->option[OPTION_OUT]);
	return lpl_directory_init(&two_q->directory) ? LPL_OK : no_memory(memory, report);
}

static void two_q_hit(struct lpl_memory *memory, uint32_t frame)
{
	struct two_q *two_q = memory->state;
	const uint32_t i = ((uint32_t *)memory->frame)[frame];

	if (two_q->directory.entry[i].queue == AM)
		lpl_directory_move(&two_q->directory, i, AM);
}

static uint32_t two_q_evict(struct lpl_memory *memory, uint32_t page)
{
	struct two_q *two_q = memory->state;
	struct lpl_directory *directory = &two_q->directory;
	const uint32_t known = lpl_directory_find(directory, page);
	uint32_t frame;

	two_q->returns = known != LPL_NO_NODE;
	if (two_q->returns)
		(void)lpl_directory_forget(directory, known);
	if (lpl_directory_count(directory, A1_IN) <= two_q->in)
		return lpl_directory_forget(directory, lpl_directory_oldest(directory, AM));
	frame = lpl_directory_evict(directory, lpl_directory_oldest(directory, A1_IN), A1_OUT);
	if (lpl_directory_count(directory, A1_OUT) > two_q->out)
		(void)lpl_directory_forget(directory, lpl_directory_oldest(directory, A1_OUT));
	return frame;
}

static enum lpl_error two_q_admit(struct lpl_memory *memory, uint32_t frame, uint32_t page,
				  struct lpl_report *report)
{
	struct two_q *two_q = memory->state;
	const uint32_t entry = lpl_directory_admit(&two_q->directory, page, frame,
						   two_q->returns ? AM : A1_IN);

	((uint32_t *)memory->frame)[frame] = entry;
	return entry != LPL_NO_NODE ? LPL_OK : no_memory(memory, report);
}

static void two_q_close(struct lpl_memory *memory)
{
	lpl_directory_free(&((struct two_q *)memory->state)->directory);
}

const struct lpl_policy lpl_policy_2q = {
	.name = "2q",
	.options = two_q_options,
	.state_size = sizeof(struct two_q),
	.frame_size = sizeof(uint32_t),		/* the page's entry */
	.open = two_q_open,
	.hit = two_q_hit,
	.evict = two_q_evict,
	.admit = two_q_admit,
	.close = two_q_close,
};
