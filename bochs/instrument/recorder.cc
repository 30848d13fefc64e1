/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Recording on and off, flushed, and marked, in terms of what each simulator makes of it (stream.h).
 *
 * Kernel events are sent even while recording is off, so that whoever reads the trace knows the state
 * of the system when it goes on.
 */
#include "recorder.h"

#include <cstring>

#include "stream.h"

/* ---- the simulator's own events ---- */

void laplace_emit_own_event(struct kernel_trace_record *record)
{
	record->tid = laplace.watch.tid;
	record->tgid = laplace.watch.tgid;
	laplace_emit_event(record);
}

/* `on` is of TRACING alone. */
static void own_event(uint32_t tag, uint64_t on, const char *text)
{
	struct kernel_trace_record record;

	memset(&record, 0, sizeof(record));
	record.tag = tag;
	record.space = laplace.space;
	record.arg[LPL_EVENT_TRACING_ON] = on;
	record.text_length = (uint32_t)(strlen(text) < KTR_TEXT ? strlen(text) : KTR_TEXT);
	memcpy(record.text, text, record.text_length);
	laplace_emit_own_event(&record);
}

/* A mark is neither on nor off. */
void laplace_mark(const char *text)
{
	own_event(LPL_EVENT_MARK, 0, text);
}

/* ---- on and off ---- */

void laplace_start(void)
{
	if (laplace.state != LAPLACE_OFF)
		return;
	laplace_stream_switch(LAPLACE_ON);
	own_event(LPL_EVENT_TRACING, 1, "");
	if (laplace.begins)
		laplace.begins();
}

void laplace_stop(void)
{
	if (laplace.state == LAPLACE_SUPPRESSED)
		laplace_resume();
	if (laplace.state != LAPLACE_ON)
		return;
	laplace_stream_switch(LAPLACE_OFF);
	own_event(LPL_EVENT_TRACING, 0, "");
}

/*
 * The run ends wherever the processor is: perhaps between two instructions, which
 * no hook says when Bochs' loop is left, and then the coming one was not fetched
 * (an instruction that has begun has moved RIP on).  But in an exception, as where a triple
 * fault ends the machine, RIP is back, and whether anything was fetched is known.
 */
void laplace_stop_for_good(void)
{
	laplace.ending = true;
	if (laplace_machine_is_between() && laplace.exception_at != laplace_icount())
		laplace.processor->between = true;
	laplace_stop();
	laplace_emit_totals();
}

void laplace_pause(void)
{
	if (laplace.state == LAPLACE_ON)
		laplace_stream_switch(LAPLACE_OFF);
}

void laplace_continue(uint64_t references, uint64_t tracer_refs, bool on)
{
	laplace.tracer_refs = tracer_refs;
	laplace_stream_continue(references);
	if (!on)
		return;
	laplace_stream_switch(LAPLACE_ON);
	if (laplace.begins)
		laplace.begins();
}

void laplace_suppress(void)
{
	laplace.suppressed_since = laplace_icount();
	laplace_stream_switch(LAPLACE_SUPPRESSED);
}

void laplace_resume(void)
{
	laplace_stream_switch(LAPLACE_ON);
}

/* ---- flushes ---- */

static void flush(bool rotates)
{
	laplace.flush_due = false;
	laplace.flushes++;
	laplace_stream_flush(rotates);
}

void laplace_flush(void)
{
	flush(false);
}

void laplace_rotate(void)
{
	flush(true);
}

void laplace_ask_flush(void)
{
	laplace.flush_due = true;
	laplace_ask_look();
}

void laplace_flush_if_due(void)
{
	/* between a record's begin and its trigger nothing is recorded: a moment later */
	if (laplace.flush_due && laplace.state != LAPLACE_SUPPRESSED)
		laplace_flush();
}
