/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * CLOCK-Pro (S. Jiang, F. Chen, X. Zhang: "CLOCK-Pro: an effective improvement of the CLOCK
 * replacement", USENIX 2005, section 4): LIRS with reference bits instead of a stack.
 *
 * Hot pages, cold pages in memory, and cold pages that left memory in their test periods are on one
 * clock, with three hands.  A page that is fetched is cold and in its test period, on the clock's head,
 * which is directly after HANDhot.
 *
 * - HANDcold looks for a page to evict.  A cold page without its bit set is evicted; it stays on the
 *   clock if it is in its test period.  With its bit set it becomes hot if it is in its test period,
 *   else another test period begins; either way its bit is cleared and it goes to the head.
 * - HANDhot moves when there are too many hot pages.  It clears the bits of the hot pages that it
 *   meets, makes the first that has none cold, and stops at the next hot one.  On its way it ends the
 *   test periods of cold pages.
 * - HANDtest moves when more pages than memory has are on the clock without being in memory.  It ends
 *   test periods.  A page out of memory of which that ends is forgotten.
 *
 * A page that is fetched in its test period becomes hot.  Of m pages of memory m_c are for cold ones.
 * When a cold page is found to be referenced in its test period m_c is one more, and when the period
 * ends without that one less.  It begins as `cold` percent of m, 1 at least, which is its least, and m is its
 * most.  The first m - m_c pages are hot from the beginning.
 *
 * How it is computed.  The clock is a queue of which the oldest entry is where HANDhot stands: if that
 * passes an entry, the entry becomes the newest, and so does what comes to the head.
 */
#include "directory.h"
#include "simulation.h"

enum { CLOCK };				/* the queue */
enum { HOT = 1, TEST = 2, REFERENCED = 4 };	/* marks */

static const struct lpl_policy_option clockpro_options[] = {
	{"cold", 1, 100, 1},
	{NULL, 0, 0, 0},
};

struct clockpro {
	struct lpl_directory directory;
	uint64_t cold, least_cold;	/* m_c */
	uint64_t hot, gone;		/* hot pages, and pages that are not in memory */
	uint32_t hand_cold, hand_test;	/* LPL_NO_NODE: where HANDhot is */
};

static enum lpl_error no_memory(const struct lpl_memory *memory, struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "clockpro: no memory for %u frames", memory->used);
}

static enum lpl_error clockpro_open(struct lpl_memory *memory, struct lpl_report *report)
{
	struct clockpro *clockpro = memory->state;
	const uint64_t cold = lpl_percent(memory->size, memory->option[0]);

	clockpro->least_cold = cold != 0 ? cold : 1;
	clockpro->cold = clockpro->least_cold;
	clockpro->hand_cold = LPL_NO_NODE;
	clockpro->hand_test = LPL_NO_NODE;
	return lpl_directory_init(&clockpro->directory) ? LPL_OK : no_memory(memory, report);
}

static void clockpro_hit(struct lpl_memory *memory, uint32_t frame)
{
	struct clockpro *clockpro = memory->state;

	clockpro->directory.entry[((uint32_t *)memory->frame)[frame]].mark |= REFERENCED;
}

/* ---- the clock ---- */

static uint32_t next_of(const struct clockpro *clockpro, uint32_t i)
{
	const uint32_t newer = clockpro->directory.entry[i].place.newer;

	return newer != LPL_NO_NODE ? newer : lpl_directory_oldest(&clockpro->directory, CLOCK);
}

/* Hands that stand at an entry which is to be taken from its place move on. */
static void move_hands(struct clockpro *clockpro, uint32_t i)
{
	uint32_t next = next_of(clockpro, i);

	if (next == i)
		next = LPL_NO_NODE;
	if (clockpro->hand_cold == i)
		clockpro->hand_cold = next;
	if (clockpro->hand_test == i)
		clockpro->hand_test = next;
}

static void move_to_head(struct clockpro *clockpro, uint32_t i)
{
	move_hands(clockpro, i);
	lpl_directory_move(&clockpro->directory, i, CLOCK);
}

/* The test period of a cold page ends, if it is in one.  true: so it is known no more. */
static bool end_test(struct clockpro *clockpro, uint32_t i)
{
	struct lpl_entry *entry = &clockpro->directory.entry[i];

	if ((entry->mark & TEST) == 0)
		return false;
	entry->mark &= ~(uint32_t)TEST;
	if ((entry->mark & REFERENCED) == 0 && clockpro->cold > clockpro->least_cold)
		clockpro->cold--;
	if (entry->frame != LPL_NO_FRAME)
		return false;
	move_hands(clockpro, i);
	(void)lpl_directory_forget(&clockpro->directory, i);
	clockpro->gone--;
	return true;
}

/* HANDhot makes a hot page cold, and moves on to the next hot one. */
static void run_hot(struct clockpro *clockpro)
{
	bool done = false;

	for (;;) {
		const uint32_t here = lpl_directory_oldest(&clockpro->directory, CLOCK);
		struct lpl_entry *entry = &clockpro->directory.entry[here];

		if (done && (clockpro->hot == 0 || (entry->mark & HOT) != 0))
			return;
		if ((entry->mark & HOT) == 0) {
			if (end_test(clockpro, here))
				continue;
		} else if ((entry->mark & REFERENCED) != 0) {
			entry->mark &= ~(uint32_t)REFERENCED;
		} else {
			entry->mark &= ~(uint32_t)HOT;
			clockpro->hot--;
			done = true;
		}
		lpl_directory_move(&clockpro->directory, here, CLOCK);	/* other hands stay at it */
	}
}

/* HANDtest moves on until no more pages than `size` are remembered. */
static void run_test(struct clockpro *clockpro, uint64_t size)
{
	while (clockpro->gone > size) {
		uint32_t here = clockpro->hand_test;

		if (here == LPL_NO_NODE)
			here = lpl_directory_oldest(&clockpro->directory, CLOCK);
		clockpro->hand_test = next_of(clockpro, here);
		if ((clockpro->directory.entry[here].mark & HOT) == 0)
			(void)end_test(clockpro, here);
	}
}

/* A cold page on the head was referenced in its test period. */
static void make_hot(struct clockpro *clockpro, uint32_t i, uint64_t size)
{
	clockpro->directory.entry[i].mark = HOT;
	clockpro->hot++;
	if (clockpro->cold < size)
		clockpro->cold++;
	while (clockpro->hot > size - clockpro->cold)
		run_hot(clockpro);
}

/* The cold page in memory where HANDcold is, or the next one. */
static uint32_t find_cold(const struct clockpro *clockpro)
{
	uint32_t here = clockpro->hand_cold;

	if (here == LPL_NO_NODE)
		here = lpl_directory_oldest(&clockpro->directory, CLOCK);
	while (clockpro->directory.entry[here].frame == LPL_NO_FRAME ||
	       (clockpro->directory.entry[here].mark & HOT) != 0)
		here = next_of(clockpro, here);
	return here;
}

static uint32_t evict_cold(struct clockpro *clockpro, uint32_t i, uint64_t size)
{
	struct lpl_entry *entry = &clockpro->directory.entry[i];
	const uint32_t frame = entry->frame;

	clockpro->hand_cold = next_of(clockpro, i);
	if ((entry->mark & TEST) == 0) {
		move_hands(clockpro, i);
		return lpl_directory_forget(&clockpro->directory, i);
	}
	entry->frame = LPL_NO_FRAME;
	clockpro->gone++;
	run_test(clockpro, size);
	return frame;
}

static uint32_t clockpro_evict(struct lpl_memory *memory, uint32_t page)
{
	struct clockpro *clockpro = memory->state;

	(void)page;
	for (;;) {
		const uint32_t here = find_cold(clockpro);
		const uint32_t mark = clockpro->directory.entry[here].mark;

		clockpro->hand_cold = here;
		if ((mark & REFERENCED) == 0)
			return evict_cold(clockpro, here, memory->size);
		move_to_head(clockpro, here);
		if ((mark & TEST) != 0)
			make_hot(clockpro, here, memory->size);
		else
			clockpro->directory.entry[here].mark = TEST;
	}
}

static enum lpl_error clockpro_admit(struct lpl_memory *memory, uint32_t frame, uint32_t page,
				     struct lpl_report *report)
{
	struct clockpro *clockpro = memory->state;
	const uint32_t known = lpl_directory_find(&clockpro->directory, page);
	uint32_t i;

	if (known != LPL_NO_NODE) {
		move_hands(clockpro, known);
		clockpro->gone--;
	}
	i = lpl_directory_admit(&clockpro->directory, page, frame, CLOCK);
	((uint32_t *)memory->frame)[frame] = i;
	if (i == LPL_NO_NODE)
		return no_memory(memory, report);
	if (known != LPL_NO_NODE) {
		make_hot(clockpro, i, memory->size);
	} else if (memory->used <= memory->size - clockpro->least_cold) {
		clockpro->directory.entry[i].mark = HOT;
		clockpro->hot++;
	} else {
		clockpro->directory.entry[i].mark = TEST;
	}
	return LPL_OK;
}

static void clockpro_close(struct lpl_memory *memory)
{
	lpl_directory_free(&((struct clockpro *)memory->state)->directory);
}

const struct lpl_policy lpl_policy_clockpro = {
	.name = "clockpro",
	.options = clockpro_options,
	.state_size = sizeof(struct clockpro),
	.frame_size = sizeof(uint32_t),		/* the page's entry */
	.open = clockpro_open,
	.hit = clockpro_hit,
	.evict = clockpro_evict,
	.admit = clockpro_admit,
	.close = clockpro_close,
};
