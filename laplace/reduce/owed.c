/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pages that owe a write. */
#include "owed.h"

#include "base/array.h"

#include <stdlib.h>

bool lpl_owed_init(struct lpl_owed *owed)
{
	*owed = (struct lpl_owed){0};
	return lpl_pages_init(&owed->pages);
}

void lpl_owed_free(struct lpl_owed *owed)
{
	lpl_pages_free(&owed->pages);
	free(owed->owes);
	*owed = (struct lpl_owed){0};
}

bool lpl_owed_add(struct lpl_owed *owed, struct lpl_page page)
{
	uint32_t i = lpl_pages_find(&owed->pages, page);

	if (i == 0)
		i = lpl_pages_add(&owed->pages, page);
	if (i == 0 || !lpl_reach(owed->owes, owed->capacity, i))
		return false;
	owed->owes[i] = true;
	return true;
}

bool lpl_owed_pay(struct lpl_owed *owed, struct lpl_page page)
{
	uint32_t i = lpl_pages_find(&owed->pages, page);
	bool owes = i != 0 && owed->owes[i];

	if (owes)
		owed->owes[i] = false;
	return owes;
}
