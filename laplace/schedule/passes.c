/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "passes.h"

#include <stdlib.h>

#include "base/array.h"

void lpl_passes_init(struct lpl_passes *passes)
{
	*passes = (struct lpl_passes){ 0 };
	lpl_map_init(&passes->newest, 2);
	lpl_map_init(&passes->by_giver, 3);
	lpl_map_init(&passes->taken, 3);
}

void lpl_passes_free(struct lpl_passes *passes)
{
	lpl_map_free(&passes->newest);
	lpl_map_free(&passes->by_giver);
	lpl_map_free(&passes->taken);
	free(passes->giver);
}

/* Out of its pipe's list; it is not the newest there. */
static void take_out(struct lpl_giver *giver, uint64_t i)
{
	if (giver[i].newer != 0)
		giver[giver[i].newer].older = giver[i].older;
	if (giver[i].older != 0)
		giver[giver[i].older].newer = giver[i].newer;
}

bool lpl_passes_give(struct lpl_passes *passes, uint64_t device, uint64_t inode, uint64_t serial,
		     uint64_t number)
{
	uint64_t *newest = lpl_map_reach(&passes->newest, LPL_KEY(device, inode));
	uint64_t *own = lpl_map_reach(&passes->by_giver, LPL_KEY(device, inode, serial));
	struct lpl_giver *giver;

	if (newest == NULL || own == NULL ||
	    !lpl_reach(passes->giver, passes->giver_room, passes->givers + 1))
		return false;
	giver = passes->giver;
	if (*own == 0)
		giver[*own = ++passes->givers].serial = serial;
	giver[*own].number = number;
	if (*newest == *own)
		return true;
	take_out(giver, *own);
	giver[*own].newer = 0;
	giver[*own].older = *newest;
	if (*newest != 0)
		giver[*newest].newer = *own;
	*newest = *own;
	return true;
}

bool lpl_passes_take(struct lpl_passes *passes, uint64_t device, uint64_t inode, uint64_t serial,
		     uint64_t *giver, uint64_t *since)
{
	const struct lpl_key taker = LPL_KEY(device, inode, serial);

	*giver = lpl_map_get(&passes->newest, LPL_KEY(device, inode));
	*since = lpl_map_get(&passes->taken, taker);
	return *giver == 0 || passes->giver[*giver].number == *since ||
		lpl_map_put(&passes->taken, taker, passes->giver[*giver].number);
}
