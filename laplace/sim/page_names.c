/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The names of numbered pages. */
#include "page_names.h"

#include <assert.h>
#include <stdlib.h>

bool lpl_page_names_add(struct lpl_page_names *names, uint32_t i, struct lpl_page name)
{
	const unsigned int part = lpl_page_names_part(i);
	const uint32_t first = UINT32_C(1) << part;

	assert(names->part[part] != NULL || i == first);	/* they are added in order */
	if (names->part[part] == NULL)
		names->part[part] = malloc(first * sizeof(name));
	if (names->part[part] == NULL)
		return false;
	names->part[part][i - first] = name;
	return true;
}

void lpl_page_names_free(struct lpl_page_names *names)
{
	for (size_t i = 0; i < sizeof(names->part) / sizeof(names->part[0]); i++)
		free(names->part[i]);
}
