/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The third clock: which cycle an instruction count stands for.
 *
 * Bochs' cycle counter runs with its instruction count, but for jumps: a halted
 * processor counts cycles and no instructions, and a fast string instruction a
 * cycle an element.  Each jump is noted with the instruction count from which it
 * holds, so that a reference need only leave its instruction count.  The list is
 * bounded: when it is full, the pages of the window get their cycles at once, and
 * only the jumps that a fetch not yet accounted for may need are kept.
 */
#include <cstring>

#include "producer.h"

#define P (laplace.processor)

static uint32_t jump_for(uint64_t instr)
{
	uint32_t low = 0, high = laplace_producer.jumps;

	/* the last jump at or before instr; jump[0] is before everything */
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (laplace_producer.jump[middle].instr <= instr)
			low = middle;
		else
			high = middle;
	}
	return low;
}

uint64_t laplace_cycle_at(uint64_t instr)
{
	const struct laplace_jump *last = &laplace_producer.jump[laplace_producer.jumps - 1];

	return instr + (instr >= last->instr ? last : &laplace_producer.jump[jump_for(instr)])->offset;
}

/* The oldest fetch that may still have to be accounted for. */
static uint64_t oldest_fetch(void)
{
	uint64_t oldest = laplace_icount() - 1;

	/* an instruction that goes on, or was over with the last count */
	if (P->repeated - (P->clock >> LAPLACE_INSTR_SHIFT) + 1 <= 1 &&
	    laplace_producer.repeated_first < oldest)
		oldest = laplace_producer.repeated_first;
	if (!P->fetch && laplace_producer.entered_after < oldest)
		oldest = laplace_producer.entered_after;
	return oldest;
}

/* Keep only the jumps that that fetch, the present and the future need. */
void laplace_drop_old_jumps(void)
{
	uint32_t oldest = jump_for(oldest_fetch()), now = jump_for(laplace_icount() - 1), kept = 0;

	if (oldest < now)
		laplace_producer.jump[kept++] = laplace_producer.jump[oldest];
	memmove(laplace_producer.jump + kept, laplace_producer.jump + now,
		(laplace_producer.jumps - now) * sizeof(laplace_producer.jump[0]));
	laplace_producer.jumps = kept + laplace_producer.jumps - now;
}

void laplace_add_jump(uint64_t instr, uint64_t offset)
{
	struct laplace_jump *last = &laplace_producer.jump[laplace_producer.jumps - 1];

	if (last->offset == offset)
		return;
	if (last->instr == instr) {
		last->offset = offset;
		return;
	}
	if (laplace_producer.jumps == LAPLACE_JUMPS) {
		/* Settle what depends on the old ones. */
		laplace_gather_all(&laplace_producer.window, P);
		for (uint32_t i = 0; i < laplace_producer.window.pages; i++) {
			struct laplace_page *page = &laplace_producer.window.page[i];

			if (page->cycle_known != page->last_instr) {
				page->last_cycle = laplace_cycle_at(page->last_instr);
				page->cycle_known = page->last_instr;
			}
		}
		laplace_drop_old_jumps();
	}
	laplace_producer.jump[laplace_producer.jumps++] = { instr, offset };
}

/* The cycle counter may have jumped since the last instruction. */
void laplace_sync_cycles(void)
{
	uint64_t offset = laplace_machine_cycle_offset();

	/* A device's timer that ends the run is called before all ticks are counted. */
	if (laplace.ending && offset < laplace_producer.jump[laplace_producer.jumps - 1].offset)
		return;
	laplace_add_jump(laplace_icount(), offset);
}
