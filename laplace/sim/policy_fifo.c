/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * FIFO: the page that was fetched first goes, however often it was referenced since.
 *
 * Frames are filled in order, and a page takes the frame of the one that left, so a hand that goes round
 * them meets pages in the order in which they were fetched.
 */
#include "simulation.h"

static uint32_t fifo_evict(struct lpl_memory *memory, uint32_t page)
{
	uint32_t *hand = memory->state;
	uint32_t frame = *hand;

	(void)page;
	*hand = frame + 1 < memory->used ? frame + 1 : 0;
	return frame;
}

const struct lpl_policy lpl_policy_fifo = {
	.name = "fifo",
	.state_size = sizeof(uint32_t),	/* the hand */
	.evict = fifo_evict,
};
