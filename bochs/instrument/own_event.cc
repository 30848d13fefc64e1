/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events that the simulator itself sends. */
#include <cstring>

#include "producer.h"
#include "watch.h"

/* It says what runs, as far as that is known.  `on` is of TRACING alone. */
void laplace_own_event(uint32_t tag, uint64_t on, const char *text)
{
	struct kernel_trace_record record;

	memset(&record, 0, sizeof(record));
	record.tag = tag;
	record.space = laplace.space;
	laplace_running_task(&record.tid, &record.tgid);
	record.arg[LPL_EVENT_TRACING_ON] = on;
	record.text_length = (uint32_t)(strlen(text) < KTR_TEXT ? strlen(text) : KTR_TEXT);
	memcpy(record.text, text, record.text_length);
	laplace_emit_event(&record);
}

/* A mark is neither on nor off. */
void laplace_emit_mark(const char *text)
{
	laplace_own_event(LPL_EVENT_MARK, 0, text);
}
