/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * CLOCK with one hand and two reference bits (the paper's section 7.2).
 *
 * Frames are the clock's face.  A page enters with its primary bit set, and a hit
 * sets it.  The hand shifts the primary bit of each page it meets into the
 * secondary and clears the primary, and stops at a page that has both clear: that one
 * leaves, its successor takes its place, and the hand stands after it.
 */
#include "simulation.h"

#include <assert.h>

enum { PRIMARY = 2, SECONDARY = 1 };

static void clock_hit(struct lpl_memory *memory, uint32_t frame)
{
	((uint8_t *)memory->frame)[frame] |= PRIMARY;
}

static uint32_t clock_evict(struct lpl_memory *memory, uint32_t page)
{
	uint32_t *hand = memory->state;
	uint8_t *bits = memory->frame;

	(void)page;
	for (;;) {
		uint32_t frame = *hand;

		assert(frame < memory->used);
		*hand = frame + 1 < memory->used ? frame + 1 : 0;
		if (bits[frame] == 0)
			return frame;
		bits[frame] = bits[frame] / PRIMARY * SECONDARY;
	}
}

static enum lpl_error clock_admit(struct lpl_memory *memory, uint32_t frame, uint32_t page,
				  struct lpl_report *report)
{
	(void)page;
	(void)report;
	((uint8_t *)memory->frame)[frame] = PRIMARY;
	return LPL_OK;
}

const struct lpl_policy lpl_policy_clock = {
	.name = "clock",
	.state_size = sizeof(uint32_t),
	.frame_size = sizeof(uint8_t),
	.hit = clock_hit,
	.evict = clock_evict,
	.admit = clock_admit,
};
