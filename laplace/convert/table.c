/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of formats.
 */
#include <stdio.h>
#include <string.h>

#include "format.h"

static const struct format *const formats[] = {
	&format_raw, &format_diff, &format_sad, &format_sad_diff, &format_pages,
	&format_time_passed, &format_behaviour, &format_csv, &format_din, &format_lackey,
	&format_npy, &format_raw18, &format_oracle_general, &format_pdats, &format_pdats2, &format_kvmtrace,
};
enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

const struct format *format_find(const char *name)
{
	for (size_t i = 0; i < FORMATS; i++) {
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	}
	return NULL;
}

char *format_list(char list[FORMAT_LIST_SIZE], unsigned int without)
{
	size_t used = 0;

	list[0] = '\0';
	for (size_t i = 0; i < FORMATS && used < FORMAT_LIST_SIZE; i++) {
		if (!(formats[i]->traits & without))
			used += (size_t)snprintf(list + used, FORMAT_LIST_SIZE - used, "%s%s",
						 used ? ", " : "", formats[i]->name);
	}
	return list;
}
