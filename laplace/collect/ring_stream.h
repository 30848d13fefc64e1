/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The stream that the ring's records carry (wire.h): references and events, in order.
 *
 * A window's pages are sent together at its end, in order of their first references, each with its
 * last, and events may have been sent before them: so a window is gathered, sorted by reference
 * number, and delivered with its events in between.  An event with ref == r stands after
 * reference r.  Memory is bounded by the window: 2K references and LPL_WINDOW_EVENTS events.
 */
#ifndef LAPLACE_COLLECT_RING_STREAM_H
#define LAPLACE_COLLECT_RING_STREAM_H

#include <stdatomic.h>

#include <laplace/trace.h>

#include "window_order.h"
#include "wire.h"

/* An event, and the references that the tracer had left out by then. */
struct lpl_ring_event {
	struct lpl_event event;
	uint64_t tracer_refs;
};

struct lpl_ring_stream {
	/* set by the caller */
	struct lpl_sink *out;		/* gets the stream */
	struct lpl_writer *writer;	/* at its end, is given the totals; NULL: there is none */
	/* called for each event, in order; may be NULL */
	void (*on_event)(void *context, const struct lpl_event *event);
	/* a FLUSH was read; `rotate`: a segment shall end with it */
	enum lpl_error (*flush)(void *context, bool rotate, struct lpl_report *report);
	/* a window was delivered, all of it: here the stream can be cut; NULL: it never is */
	enum lpl_error (*between)(void *context, struct lpl_report *report);
	void *context;

	struct lpl_window_order order;	/* of the current window */
	struct lpl_ring_event *event;	/* of the current window, in order */
	size_t events, event_room;
	struct lpl_event arriving;	/* an EVENT, until its payload is there: */
	struct kernel_trace_record payload;
	size_t payload_records, payload_got;	/* 0 records: none is */
	struct lpl_totals totals;	/* as of what was delivered */
	uint64_t tracer_refs;		/* as of now */

	/* for other threads: how far the stream is */
	_Atomic uint64_t references, instructions, events_taken;
};

/* Take records as they come out of the ring. */
enum lpl_error lpl_ring_stream_take(struct lpl_ring_stream *stream,
				    const struct lpl_ring_record *records, size_t count,
				    struct lpl_report *report);
/* Deliver what was gathered; at the end. */
enum lpl_error lpl_ring_stream_deliver(struct lpl_ring_stream *stream,
				       struct lpl_report *report);
void lpl_ring_stream_free(struct lpl_ring_stream *stream);

#endif
