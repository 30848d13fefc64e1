/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Faults by owner. */
#include "shares.h"

#include "base/array.h"

#include <assert.h>
#include <stdlib.h>

struct lpl_shares *lpl_shares_new(const uint64_t *size, size_t sizes)
{
	struct lpl_shares *shares = calloc(1, sizeof(*shares));

	if (shares == NULL)
		return NULL;
	shares->size = size;
	shares->sizes = sizes;
	if (!lpl_shares_charge(shares, 0)) {
		free(shares);
		return NULL;
	}
	return shares;
}

void lpl_shares_free(struct lpl_shares *shares)
{
	if (shares == NULL)
		return;
	free(shares->fault);
	free(shares);
}

bool lpl_shares_charge(struct lpl_shares *shares, uint32_t owner)
{
	if (!lpl_reach(shares->fault, shares->room, ((size_t)owner + 1) * shares->sizes))
		return false;
	shares->owner = owner;
	return true;
}

/* How many of the sizes are below `depth`. */
static size_t sizes_below(const struct lpl_shares *shares, uint32_t depth)
{
	size_t below = 0, left = shares->sizes;

	if (depth == LPL_DEPTH_NONE)
		return shares->sizes;
	if (shares->size == NULL)
		return depth - 1 < left ? depth - 1 : left;
	while (left != 0) {
		size_t half = left / 2;

		if (shares->size[below + half] < depth) {
			below += half + 1;
			left -= half + 1;
		} else {
			left = half;
		}
	}
	return below;
}

void lpl_shares_count(struct lpl_shares *shares, uint32_t depth)
{
	size_t below = sizes_below(shares, depth);

	assert((shares->owner + (size_t)1) * shares->sizes <= shares->room);
	if (below != 0)
		shares->fault[shares->owner * shares->sizes + below - 1]++;
}

uint64_t lpl_shares_faults(const struct lpl_shares *shares, uint32_t owner, size_t place)
{
	uint64_t faults = 0;

	assert(place < shares->sizes);
	for (size_t i = place; i < shares->sizes; i++) {
		size_t at = owner * shares->sizes + i;

		faults += at < shares->room ? shares->fault[at] : 0;
	}
	return faults;
}
