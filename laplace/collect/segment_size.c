/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How large segments get, as a specification says it. */
#include "base/try.h"
#include "segment_size.h"
#include "select/when.h"

enum lpl_error lpl_segment_size_parse(struct lpl_segment_size *size, const char *spec,
				      struct lpl_report *report)
{
	struct lpl_conditions ends;
	uint64_t bytes, instructions;

	*size = (struct lpl_segment_size){ 0 };
	LPL_TRY(lpl_conditions_parse(&ends, spec, LPL_TO_CUT, report));
	bytes = ends.number[LPL_MOMENT_BYTES];
	instructions = ends.number[LPL_MOMENT_INSTRUCTION];
	if (bytes < LPL_SEGMENT_LEAST || instructions < LPL_SEGMENT_LEAST)
		return lpl_fail(report, LPL_ERR_USAGE, "a segment is from %d on, as 4G or 1000000",
				LPL_SEGMENT_LEAST);
	*size = (struct lpl_segment_size){ bytes == LPL_NEVER ? 0 : bytes,
					   instructions == LPL_NEVER ? 0 : instructions };
	return LPL_OK;
}
