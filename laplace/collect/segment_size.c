/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How large segments get, as a specification says it. */
#include "base/parts.h"
#include "collector.h"

enum { BYTES, INSTRUCTIONS, PARTS };
static const struct lpl_part parts[PARTS] = { { "bytes", "N" }, { "instructions", "N" } };

enum lpl_error lpl_segment_size_parse(struct lpl_segment_size *size, const char *spec,
				      struct lpl_report *report)
{
	struct lpl_part_value values[PARTS];
	enum lpl_error error = lpl_parts_parse(parts, PARTS, spec, values, report);

	*size = (struct lpl_segment_size){ 0 };
	if (error != LPL_OK)
		return error;
	for (int part = 0; part < PARTS; part++)
		if (values[part].text && values[part].number < LPL_SEGMENT_LEAST)
			return lpl_fail(report, LPL_ERR_USAGE, "%s: is followed by a number from"
					" %d on, as 4G or 1000000", parts[part].name,
					LPL_SEGMENT_LEAST);
	size->bytes = values[BYTES].number;
	size->instructions = values[INSTRUCTIONS].number;
	return LPL_OK;
}
