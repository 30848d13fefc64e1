/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A workload with locality: phases, each with a region of its own size that is
 * walked and jumped about in, and between the steps a few touches of pages just
 * used.  What curves of misses are compared on.
 */
#include "workload.h"

#define PAGES	2500
#define RECENT	6
#define STEPS	4000

static void touch(volatile u32 *page, u32 *random)
{
	if (next_random(random) & 1)
		page[1]++;
	else
		(void)page[2];
}

int locality_run(void)
{
	/* pages in the region of each phase */
	static const u32 regions[] = { 150, 700, 300, 1300, 2500, 500, 900, 1900 };
	volatile u32 *pages = pages_of(PAGES);
	u32 recent[RECENT] = { 0 }, random = 12345, phase, step, i;

	for (i = 0; i < PAGES; i++)
		pages[i * PAGE / 4] = i ^ 0x5a5a5a5a;
	for (phase = 0; phase < sizeof(regions) / sizeof(*regions); phase++) {
		u32 region = regions[phase], first = (PAGES - region) / 2, at = 0;

		for (step = 0; step < STEPS; step++) {
			/* three steps of four go on, the fourth jumps */
			at = step % 4 ? (at + 1) % region : next_random(&random) % region;
			recent[step % RECENT] = first + at;
			for (i = 0; i < 4; i++)
				touch(pages + recent[next_random(&random) % RECENT] * PAGE / 4,
				      &random);
			touch(pages + (first + at) * PAGE / 4, &random);
		}
	}
	for (i = 0; i < PAGES; i++)
		if (pages[i * PAGE / 4] != (i ^ 0x5a5a5a5a))
			return wrong("a page's data");
	return 0;
}
