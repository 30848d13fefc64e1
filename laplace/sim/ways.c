/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tree over the ways of a set; see ways.h. */
#include "ways.h"

void lpl_ways_turn(uint64_t *tree, uint32_t ways, uint32_t way)
{
	for (uint32_t node = ways + way; node > 1; node /= 2) {
		*tree &= ~(UINT64_C(1) << node / 2);
		*tree |= (uint64_t)(~node & 1) << node / 2;
	}
}

uint32_t lpl_ways_lead(uint64_t tree, uint32_t ways)
{
	uint32_t node = 1;

	while (node < ways)
		node = 2 * node + (tree >> node & 1);
	return node - ways;
}
