/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of formats, in the order in which they are listed to people. */
#include <stdio.h>
#include <string.h>

#include "format.h"

#define FORMATS(X) \
	X(raw) X(diff) X(sad) X(sad_diff) X(pages) X(time_passed) X(behaviour) X(annotated) \
	X(csv) X(din) X(lackey) X(hex) X(npy) X(raw17) X(raw18) X(oracle_general) X(pdats) X(pdats2) \
	X(disasm) X(ramulator2) X(ramulator2_o3) X(dramsim3) X(gem5) X(champsim) \
	X(kvmtrace) X(per_process) X(drmemtrace)

#define DECLARE(name) extern const struct lpl_format lpl_format_##name;
#define ADDRESS(name) &lpl_format_##name,

FORMATS(DECLARE)
static const struct lpl_format *const formats[] = { FORMATS(ADDRESS) NULL };

const struct lpl_format *lpl_format_find(const char *name)
{
	size_t i = 0;

	while (formats[i] && strcmp(formats[i]->name, name) != 0)
		i++;
	return formats[i];
}

const struct lpl_format *lpl_format_at(size_t index)
{
	return index < sizeof(formats) / sizeof(formats[0]) ? formats[index] : NULL;
}

const char *lpl_format_name(const struct lpl_format *format)
{
	return format->name;
}

unsigned int lpl_format_traits(const struct lpl_format *format)
{
	return format->traits;
}

char *lpl_format_list(char list[LPL_FORMAT_LIST_SIZE], unsigned int without, const char *last)
{
	const struct lpl_format *named = NULL;
	const char *between = "";
	size_t used = 0;

	/* a name is written when it is known whether another one follows */
	list[0] = '\0';
	for (size_t i = 0; i == 0 || formats[i - 1]; i++) {
		if (formats[i] && (formats[i]->traits & without))
			continue;
		if (!formats[i] && used)
			between = last;
		if (named && used < LPL_FORMAT_LIST_SIZE)
			used += (size_t)snprintf(list + used, LPL_FORMAT_LIST_SIZE - used, "%s%s",
						 between, named->name);
		if (named)
			between = ", ";
		named = formats[i];
	}
	return list;
}
