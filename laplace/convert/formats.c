/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of formats.
 */
#include <stdio.h>
#include <string.h>

#include "format.h"

static const struct lpl_format *const formats[] = {
	&lpl_format_raw, &lpl_format_diff, &lpl_format_sad, &lpl_format_sad_diff, &lpl_format_pages,
	&lpl_format_time_passed, &lpl_format_behaviour, &lpl_format_csv, &lpl_format_din, &lpl_format_lackey,
	&lpl_format_npy, &lpl_format_raw18, &lpl_format_oracle_general, &lpl_format_pdats, &lpl_format_pdats2, &lpl_format_kvmtrace,
};
enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

const struct lpl_format *lpl_format_find(const char *name)
{
	for (size_t i = 0; i < FORMATS; i++) {
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	}
	return NULL;
}

char *lpl_format_list(char list[LPL_FORMAT_LIST_SIZE], unsigned int without)
{
	size_t used = 0;

	list[0] = '\0';
	for (size_t i = 0; i < FORMATS && used < LPL_FORMAT_LIST_SIZE; i++) {
		if (!(formats[i]->traits & without))
			used += (size_t)snprintf(list + used, LPL_FORMAT_LIST_SIZE - used, "%s%s",
						 used ? ", " : "", formats[i]->name);
	}
	return list;
}
