/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading into columns.  Batches are those that lpl_reader_next() delivers; what of the last one
 * does not fit is given back to the reader, which holds it until the next call.  Its memory is
 * unchanged until then, for nothing is read before it is used up.
 */
#include "reader_parts.h"
#include "record/columns.h"

/* Copy what fits of a batch, after `*count` references; the rest of it is held. */
static void take(struct lpl_reader *reader, struct lpl_batch *batch,
		 const struct lpl_ref_columns *columns, size_t most, size_t *count)
{
	const size_t room = most - *count, taken = batch->count < room ? batch->count : room;

	lpl_ref_columns_put(columns, *count, batch->refs, taken);
	*count += taken;
	if (taken < batch->count) {
		reader->held = (struct lpl_batch){ batch->refs + taken, batch->count - taken,
						   batch->event };
		batch->event = NULL;
	}
}

enum lpl_error lpl_reader_fill(struct lpl_reader *reader, const struct lpl_ref_columns *columns,
			       size_t most, size_t *count, const struct lpl_event **event,
			       struct lpl_report *report)
{
	struct lpl_batch batch = { .count = 0 };
	enum lpl_error error;

	*count = 0;
	if (event)
		*event = NULL;
	if (most == 0)
		return lpl_fail(report, LPL_ERR_USAGE, "columns without room for a reference");
	while (*count < most && !(event && batch.event)) {
		/* a failure is kept: after references it is reported by the next call */
		error = lpl_reader_next(reader, &batch.refs, &batch.count, &batch.event,
					*count > 0 ? NULL : report);
		if (error != LPL_OK)
			return *count > 0 ? LPL_OK : error;
		if (batch.count == 0 && !batch.event)
			break;
		take(reader, &batch, columns, most, count);
	}
	if (event)
		*event = batch.event;
	return LPL_OK;
}
