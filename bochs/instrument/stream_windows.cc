/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The stream of windows: what is recorded and what is not, and the events in it.
 *
 * References are numbered without a gap however often recording is switched, and
 * whatever the tracer's own instructions between a kernel record's begin and its
 * trigger did meanwhile: `data` is set so that the count goes on.
 */
#include <cstring>

#include "producer.h"

#define P (laplace.processor)

uint64_t laplace_references(void)
{
	return laplace.state == LAPLACE_ON ? laplace_number_now() : laplace_producer.resume_number;
}

static void publish(void)
{
	if (laplace_producer.ring)
		lpl_ring_publish(laplace_producer.ring);
}

/* ---- events ---- */

static bool is_fence(uint32_t tag)
{
	return lpl_event_is_fence(tag) || tag == LPL_EVENT_TRACING;
}

static void emit_totals(uint64_t instr)
{
	laplace_emit(laplace_references(), laplace.tracer_refs, instr, LPL_WIRE_KIND(LPL_WIRE_TOTALS));
	publish();
}

void laplace_emit_totals(void)
{
	emit_totals(laplace_icount());
}

void laplace_emit_record(uint64_t ref, uint64_t instr, uint64_t cycle,
			 const struct kernel_trace_record *record)
{
	const unsigned char *bytes = (const unsigned char *)record;
	uint64_t word[4];

	laplace_emit(ref, instr, cycle, LPL_WIRE_KIND(LPL_WIRE_EVENT));
	for (size_t at = 0; at < LPL_WIRE_EVENT_RECORDS * sizeof(word); at += sizeof(word)) {
		size_t left = at < sizeof(*record) ? sizeof(*record) - at : 0;

		memset(word, 0, sizeof(word));
		memcpy(word, bytes + at, left < sizeof(word) ? left : sizeof(word));
		laplace_emit(word[0], word[1], word[2], word[3]);
	}
}

/* The window's rules, as reduce/window.c states them. */
static void end_window_at(const struct kernel_trace_record *record)
{
	struct laplace_window *window = &laplace_producer.window;

	if (is_fence(record->tag) || ++window->events == window->events_max)
		laplace_window_end(laplace_references());
}

void laplace_emit_event(const struct kernel_trace_record *record)
{
	if (record->tag == LPL_EVENT_TLB_FLUSH)		/* (see reduce/window.c) */
		return;
	if (laplace.state == LAPLACE_ON)
		laplace_fetched_until(laplace_icount() - P->between);
	end_window_at(record);
	laplace_sync_cycles();
	laplace_emit_totals();
	laplace_emit_record(laplace_references(), laplace_icount(), laplace_cycle_at(laplace_icount()),
			    record);
	publish();
}

void laplace_emit_past(const struct laplace_past *past)
{
	end_window_at(&past->record);
	emit_totals(past->instr);
	laplace_emit_record(laplace_references(), past->instr, past->instr + past->offset, &past->record);
	publish();
}

/* ---- what is recorded ---- */

/* Let the references made so far be `number`. */
static void set_number(uint64_t number)
{
	laplace_producer.uncounted = false;
	P->base_data += number - laplace_number_now();
}

/* Recording goes on: references are numbered from where it stopped. */
static void record_on(void)
{
	/* In the history, earlier references are no part of the coming instruction. */
	P->clock++;
	set_number(laplace_producer.resume_number);
	/* where nothing was recorded, pages were not followed */
	if (P->code_page != LAPLACE_NOWHERE)
		P->code_page = (P->code_base + laplace_machine_rip()) & ~UINT64_C(0xfff);
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
	laplace_producer.resume_number = laplace_number_now();
	laplace_forget_slots();
	laplace.state = state;
}

void laplace_stream_switch(enum laplace_state to)
{
	if (to != LAPLACE_ON)
		return record_off(to);
	if (laplace.state == LAPLACE_SUPPRESSED)
		laplace.tracer_refs += laplace_number_now() - laplace_producer.resume_number;
	record_on();
}

void laplace_stream_restart(void)
{
	/* of windows nothing was sent yet */
}

void laplace_stream_continue(uint64_t references)
{
	laplace_producer.resume_number = references;
	laplace.space = laplace_machine_space();
	laplace_sync_cycles();
}

/*
 * The window ends here, wherever the processor is: what it holds is no more than a
 * window's references, and the rest of it is a window too.
 */
void laplace_stream_flush(bool rotates)
{
	if (laplace.state == LAPLACE_ON)
		laplace_fetched_until(laplace_icount() - P->between);
	laplace_window_end(laplace_references());
	laplace_emit_totals();
	laplace_emit(rotates ? LPL_WIRE_ROTATE : 0, 0, 0, LPL_WIRE_KIND(LPL_WIRE_FLUSH));
	publish();
}

/*
 * The simulator's thread looks whether anything is due where a trace of instructions
 * begins on another page, and while the processor is halted.  A program may run on one
 * page for long, and while nothing is recorded all pages pass for one, so the page that it fetches
 * from is forgotten, as if it were on another one.  If it is just about to store that page, it
 * will be asked again.
 */
void laplace_ask_look(void)
{
	__atomic_store_n(&P->fetch_page, LAPLACE_NOWHERE, __ATOMIC_RELAXED);
	__atomic_store_n(&P->fetch_reach, LAPLACE_NEAR, __ATOMIC_RELAXED);
}

/* Windows are recorded by one process (forks.cc). */
void laplace_stream_reopen(struct lpl_ring *)
{
}

void laplace_stream_look_at(uint64_t)
{
}
