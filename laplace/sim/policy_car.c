/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * CAR, CLOCK with adaptive replacement (S. Bansal, D. S. Modha: "CAR: clock with adaptive
 * replacement", FAST 2004, figure 2).
 *
 * ARC, of which T1 and T2 are clocks instead of LRU lists: a hit sets the page's reference bit, and that is
 * all it does.  The hand of a clock stands at its oldest page.  A page of T1 with its bit set goes
 * to T2, and one of T2 to T2's end, both with the bit cleared; one with the bit clear is evicted.
 */
#include "adaptive.h"

static enum lpl_error no_memory(const struct lpl_memory *memory, struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "car: no memory for %u frames", memory->used);
}

static enum lpl_error car_open(struct lpl_memory *memory, struct lpl_report *report)
{
	struct lpl_adaptive *car = memory->state;

	return lpl_directory_init(&car->directory) ? LPL_OK : no_memory(memory, report);
}

static void car_hit(struct lpl_memory *memory, uint32_t frame)
{
	struct lpl_adaptive *car = memory->state;

	car->directory.entry[((uint32_t *)memory->frame)[frame]].mark = 1;
}

/* The paper's replace(). */
static uint32_t replace(struct lpl_adaptive *car)
{
	const uint64_t one = UINT64_C(1) << 32;
	const uint64_t least = car->target > one ? car->target : one;

	for (;;) {
		const bool first = lpl_adaptive_t1(car) >= least;
		const uint32_t oldest = lpl_directory_oldest(&car->directory,
							     first ? LPL_T1 : LPL_T2);
		struct lpl_entry *entry = &car->directory.entry[oldest];

		if (entry->mark == 0)
			return lpl_directory_evict(&car->directory, oldest,
						   first ? LPL_B1 : LPL_B2);
		entry->mark = 0;
		lpl_directory_move(&car->directory, oldest, LPL_T2);
	}
}

static uint32_t car_evict(struct lpl_memory *memory, uint32_t page)
{
	struct lpl_adaptive *car = memory->state;
	const uint32_t frame = replace(car);
	const uint64_t l1 = lpl_adaptive_count(car, LPL_T1) + lpl_adaptive_count(car, LPL_B1);
	const uint64_t l2 = lpl_adaptive_count(car, LPL_T2) + lpl_adaptive_count(car, LPL_B2);

	if (lpl_directory_find(&car->directory, page) != LPL_NO_NODE)
		return frame;
	if (l1 == memory->size)
		(void)lpl_adaptive_forget(car, LPL_B1);
	else if (l1 + l2 == 2 * memory->size)
		(void)lpl_adaptive_forget(car, LPL_B2);
	return frame;
}

static enum lpl_error car_admit(struct lpl_memory *memory, uint32_t frame, uint32_t page,
				struct lpl_report *report)
{
	struct lpl_adaptive *car = memory->state;
	const uint32_t known = lpl_directory_find(&car->directory, page);
	uint32_t entry;

	if (known != LPL_NO_NODE && car->directory.entry[known].queue == LPL_B1)
		lpl_adaptive_raise(car, memory->size);
	else if (known != LPL_NO_NODE)
		lpl_adaptive_lower(car);
	entry = lpl_directory_admit(&car->directory, page, frame,
				    known != LPL_NO_NODE ? LPL_T2 : LPL_T1);
	((uint32_t *)memory->frame)[frame] = entry;
	return entry != LPL_NO_NODE ? LPL_OK : no_memory(memory, report);
}

static void car_close(struct lpl_memory *memory)
{
	lpl_directory_free(&((struct lpl_adaptive *)memory->state)->directory);
}

const struct lpl_policy lpl_policy_car = {
	.name = "car",
	.state_size = sizeof(struct lpl_adaptive),
	.frame_size = sizeof(uint32_t),		/* the page's entry */
	.open = car_open,
	.hit = car_hit,
	.evict = car_evict,
	.admit = car_admit,
	.close = car_close,
};
