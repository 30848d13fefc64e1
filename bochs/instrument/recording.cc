/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Recording on and off, and the events in the stream.
 *
 * References are numbered without a gap however often recording is switched, and
 * whatever the tracer's own instructions between a kernel record's begin and its
 * trigger did meanwhile: `data` is set so that the count goes on.  Kernel events
 * are sent even while recording is off, so that who reads the trace knows the
 * state of the system when it goes on.
 */
#include <cstring>

#include "producer.h"

#define P (laplace.processor)

/* The number of the latest reference, when recording. */
static uint64_t number_now(void)
{
	/* an instruction not fetched yet must not count */
	bool unfetched = P->between && !laplace.uncounted;

	return laplace_number_of(P, P->clock) - unfetched;
}

uint64_t laplace_references(void)
{
	return laplace.state == LAPLACE_ON ? number_now() : laplace.resume_number;
}

/* Let the references made so far be `number`. */
static void set_number(uint64_t number)
{
	laplace.uncounted = false;
	P->base_data += number - number_now();
}

static bool is_fence(uint32_t tag)
{
	return lpl_event_is_fence(tag) || tag == LPL_EVENT_TRACING;
}

void laplace_emit_totals(void)
{
	laplace_emit(laplace_references(), laplace.tracer_refs, laplace_icount(),
		     LPL_WIRE_KIND(LPL_WIRE_TOTALS));
	if (laplace.ring)
		lpl_ring_publish(laplace.ring);
}

void laplace_emit_event(const struct kernel_trace_record *record)
{
	const unsigned char *bytes = (const unsigned char *)record;
	uint64_t word[4];

	if (laplace.state == LAPLACE_ON)
		laplace_fetched_until(laplace_icount() - P->between);
	/* the window's rules, as reduce/window.c states them */
	if (is_fence(record->tag) || ++laplace.window.events == laplace.window.events_max)
		laplace_window_end();
	laplace_sync_cycles();
	laplace_emit_totals();
	laplace_emit(laplace_references(), laplace_icount(), laplace_cycle_at(laplace_icount()),
		     LPL_WIRE_KIND(LPL_WIRE_EVENT));
	for (size_t at = 0; at < LPL_WIRE_EVENT_RECORDS * sizeof(word); at += sizeof(word)) {
		size_t left = at < sizeof(*record) ? sizeof(*record) - at : 0;

		memset(word, 0, sizeof(word));
		memcpy(word, bytes + at, left < sizeof(word) ? left : sizeof(word));
		laplace_emit(word[0], word[1], word[2], word[3]);
	}
	if (laplace.ring)
		lpl_ring_publish(laplace.ring);
}

/* Recording goes on: references are numbered from where it stopped. */
static void record_on(void)
{
	/* In the history, what came until now is no part of the coming instruction. */
	P->clock++;
	set_number(laplace.resume_number);
	laplace.state = LAPLACE_ON;
	P->fetch = NULL;
	laplace_forget_slots();
}

/* Recording stops; what was fetched until now belongs to it. */
static void record_off(enum laplace_state state)
{
	if (P->between)
		laplace_between_instructions();
	else
		laplace_fetched_until(laplace_icount());
	laplace.resume_number = number_now();
	laplace_forget_slots();
	laplace.state = state;
}

void laplace_pause(void)
{
	if (laplace.state == LAPLACE_ON)
		record_off(LAPLACE_OFF);
}

void laplace_restart(void)
{
	/* of windows nothing was sent yet */
}

void laplace_continue(uint64_t references, uint64_t tracer_refs, bool on)
{
	laplace.resume_number = references;
	laplace.tracer_refs = tracer_refs;
	laplace_sync_cycles();
	if (on)
		record_on();
}

void laplace_start(void)
{
	if (laplace.state != LAPLACE_OFF)
		return;
	record_on();
	laplace_own_event(LPL_EVENT_TRACING, 1, "");
}

void laplace_stop(void)
{
	if (laplace.state == LAPLACE_SUPPRESSED)
		laplace_resume();
	if (laplace.state != LAPLACE_ON)
		return;
	record_off(LAPLACE_OFF);
	laplace_own_event(LPL_EVENT_TRACING, 0, "");
}

/*
 * The run ends wherever the processor is: perhaps between two instructions, which
 * no hook says when Bochs' loop is left, and then the coming one was not fetched
 * (an instruction that has begun has moved RIP on).  But in an exception, as where a triple
 * fault ends the machine, RIP is back, and whether anything was fetched is known.
 */
void laplace_end(void)
{
	laplace.ending = true;
	if (laplace_machine_is_between() && laplace.exception_at != laplace_icount())
		P->between = true;
	laplace_stop();
	laplace_emit_totals();
}

void laplace_suppress(void)
{
	laplace.suppressed_since = laplace_icount();
	record_off(LAPLACE_SUPPRESSED);
	laplace.suppressed_number = number_now();
}

void laplace_resume(void)
{
	laplace.tracer_refs += number_now() - laplace.suppressed_number;
	record_on();
}

/*
 * Everything that happened goes to the collector, which makes it readable.  The
 * window ends here, wherever the processor is: what it holds is no more than a
 * window's references, and the rest of it is a window too.
 */
static void flush(uint64_t rotate)
{
	laplace.flush_due = false;
	laplace.flushes++;
	if (laplace.state == LAPLACE_ON)
		laplace_fetched_until(laplace_icount() - P->between);
	laplace_window_end();
	laplace_emit_totals();
	laplace_emit(rotate, 0, 0, LPL_WIRE_KIND(LPL_WIRE_FLUSH));
	if (laplace.ring)
		lpl_ring_publish(laplace.ring);
}

void laplace_flush(void)
{
	flush(0);
}

void laplace_rotate(void)
{
	flush(LPL_WIRE_ROTATE);
}

/*
 * The simulator's thread looks whether anything is due where a trace of instructions
 * begins on another page, and while the processor is halted.  A program may run on one
 * page for long, so it is made to believe that it came from elsewhere.  Should
 * it be just about to store there where it is, it will be asked again.
 */
void laplace_ask_look(void)
{
	__atomic_store_n(&P->fetch_page, LAPLACE_NOWHERE, __ATOMIC_RELAXED);
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
