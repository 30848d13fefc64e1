/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ARC, the adaptive replacement cache (N. Megiddo, D. S. Modha: "ARC: a self-tuning, low overhead
 * replacement cache", FAST 2003, figure 4).
 *
 * T1 has the pages in memory that were referenced once, T2 those that were referenced more often, both
 * in LRU order; B1 and B2 remember what left memory from T1 and T2.  A page in B1 that is wanted says
 * that T1 should be larger, one in B2 that T2 should; p is the size that T1 should have.  With c
 * pages of memory, T1 and B1 have at most c pages together, and all four 2c.
 */
#include "adaptive.h"

static enum lpl_error no_memory(const struct lpl_memory *memory, struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "arc: no memory for %u frames", memory->used);
}

static enum lpl_error arc_open(struct lpl_memory *memory, struct lpl_report *report)
{
	struct lpl_adaptive *arc = memory->state;

	return lpl_directory_init(&arc->directory) ? LPL_OK : no_memory(memory, report);
}

static void arc_hit(struct lpl_memory *memory, uint32_t frame)
{
	struct lpl_adaptive *arc = memory->state;

	lpl_directory_move(&arc->directory, ((uint32_t *)memory->frame)[frame], LPL_T2);
}

/* The paper's REPLACE. */
static uint32_t replace(struct lpl_adaptive *arc, bool wanted_in_b2)
{
	const uint64_t t1 = lpl_adaptive_t1(arc);

	if (t1 != 0 && (t1 > arc->target || (wanted_in_b2 && t1 == arc->target)))
		return lpl_adaptive_evict(arc, LPL_T1, LPL_B1);
	return lpl_adaptive_evict(arc, LPL_T2, LPL_B2);
}

/* Case IV: a page that is not in the directory. */
static uint32_t evict_for_new(struct lpl_adaptive *arc, uint64_t size)
{
	const uint64_t t1 = lpl_adaptive_count(arc, LPL_T1);
	const uint64_t l1 = t1 + lpl_adaptive_count(arc, LPL_B1);
	const uint64_t l2 = lpl_adaptive_count(arc, LPL_T2) + lpl_adaptive_count(arc, LPL_B2);

	if (l1 == size && t1 == size)
		return lpl_adaptive_forget(arc, LPL_T1);
	if (l1 == size)
		(void)lpl_adaptive_forget(arc, LPL_B1);
	else if (l1 + l2 == 2 * size)
		(void)lpl_adaptive_forget(arc, LPL_B2);
	return replace(arc, false);
}

static uint32_t arc_evict(struct lpl_memory *memory, uint32_t page)
{
	struct lpl_adaptive *arc = memory->state;
	const uint32_t known = lpl_directory_find(&arc->directory, page);

	if (known == LPL_NO_NODE)
		return evict_for_new(arc, memory->size);
	if (arc->directory.entry[known].queue == LPL_B1) {
		lpl_adaptive_raise(arc, memory->size);
		return replace(arc, false);
	}
	lpl_adaptive_lower(arc);
	return replace(arc, true);
}

static enum lpl_error arc_admit(struct lpl_memory *memory, uint32_t frame, uint32_t page,
				struct lpl_report *report)
{
	struct lpl_adaptive *arc = memory->state;
	const bool known = lpl_directory_find(&arc->directory, page) != LPL_NO_NODE;
	const uint32_t entry = lpl_directory_admit(&arc->directory, page, frame,
						   known ? LPL_T2 : LPL_T1);

	((uint32_t *)memory->frame)[frame] = entry;
	return entry != LPL_NO_NODE ? LPL_OK : no_memory(memory, report);
}

static void arc_close(struct lpl_memory *memory)
{
	lpl_directory_free(&((struct lpl_adaptive *)memory->state)->directory);
}

const struct lpl_policy lpl_policy_arc = {
	.name = "arc",
	.state_size = sizeof(struct lpl_adaptive),
	.frame_size = sizeof(uint32_t),		/* the page's entry */
	.open = arc_open,
	.hit = arc_hit,
	.evict = arc_evict,
	.admit = arc_admit,
	.close = arc_close,
};
