/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the ring's records to the stream; ring_stream.h has the order. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "ring_stream.h"

/* ---- delivering ---- */

/*
 * A chunk's totals are exact as of its last record, so the writer is given before each
 * part of the stream what will hold once it has that part.  References are counted with
 * their window; events, and what the tracer left out, as they are delivered.
 */
static void pass_totals(const struct lpl_ring_stream *stream)
{
	if (stream->writer)
		lpl_writer_totals(stream->writer, &stream->totals);
}

static enum lpl_error no_room(const struct lpl_ring_stream *stream, struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "no memory for a window of %zu pages",
			stream->order.records / 2);
}

/* References by number, events in their places. */
enum lpl_error lpl_ring_stream_deliver(struct lpl_ring_stream *stream,
				       struct lpl_report *report)
{
	struct lpl_sink *out = stream->out;
	const size_t refs = lpl_window_sort(&stream->order);
	const struct lpl_ref *ref = stream->order.ref;
	size_t done = 0;
	enum lpl_error error = LPL_OK;

	if (refs == SIZE_MAX)
		return no_room(stream, report);
	stream->totals.recording.sent_refs += refs;
	atomic_store_explicit(&stream->references, stream->totals.total, memory_order_relaxed);
	pass_totals(stream);
	for (size_t e = 0; e < stream->events && !error; e++) {
		const struct lpl_ring_event *next = &stream->event[e];
		size_t upto = done;

		while (upto < refs && ref[upto].ref <= next->event.ref)
			upto++;
		if (upto > done)
			error = out->refs(out, ref + done, upto - done, report);
		stream->totals.events++;
		stream->totals.tracer_refs = next->tracer_refs;
		pass_totals(stream);
		if (!error)
			error = out->event(out, &next->event, report);
		done = upto;
	}
	if (!error && done < refs)
		error = out->refs(out, ref + done, refs - done, report);
	stream->events = 0;
	return error;
}

void lpl_ring_stream_free(struct lpl_ring_stream *stream)
{
	lpl_window_order_free(&stream->order);
	free(stream->event);
}

/* ---- events ---- */

static void begin_event(struct lpl_ring_stream *stream, const struct lpl_ring_record *r)
{
	stream->arriving = (struct lpl_event){ .ref = r->word[0], .instr = r->word[1],
					       .cycle = r->word[2] };
	stream->payload_records = LPL_WIRE_EVENT_RECORDS;
	stream->payload_got = 0;
}

static enum lpl_error event_complete(struct lpl_ring_stream *stream, struct lpl_report *report)
{
	const struct kernel_trace_record *record = &stream->payload;
	struct lpl_event *event;

	if (!lpl_reach(stream->event, stream->event_room, stream->events))
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for %zu events",
				stream->events + 1);
	stream->event[stream->events].tracer_refs = stream->tracer_refs;
	event = &stream->event[stream->events++].event;
	*event = stream->arriving;
	event->space = record->space;
	memcpy(event->arg, record->arg, sizeof(event->arg));
	event->tag = record->tag;
	event->tid = record->tid;
	event->tgid = record->tgid;
	event->text_length = record->text_length;
	memcpy(event->text, record->text, sizeof(event->text));
	atomic_fetch_add_explicit(&stream->events_taken, 1, memory_order_relaxed);
	if (stream->on_event)
		stream->on_event(stream->context, event);
	return LPL_OK;
}

static enum lpl_error take_payload(struct lpl_ring_stream *stream,
				   const struct lpl_ring_record *r, struct lpl_report *report)
{
	size_t offset = stream->payload_got * sizeof(*r);
	size_t left = sizeof(stream->payload) - offset;

	assert(stream->payload_got < stream->payload_records && offset < sizeof(stream->payload));
	memcpy((char *)&stream->payload + offset, r, left < sizeof(*r) ? left : sizeof(*r));
	if (++stream->payload_got < stream->payload_records)
		return LPL_OK;
	stream->payload_records = 0;
	return event_complete(stream, report);
}

/* ---- records ---- */

static void take_totals(struct lpl_ring_stream *stream, const struct lpl_ring_record *r)
{
	stream->totals.total = r->word[0];
	stream->tracer_refs = r->word[1];
	atomic_store_explicit(&stream->references, r->word[0], memory_order_relaxed);
	atomic_store_explicit(&stream->instructions, r->word[2], memory_order_relaxed);
}

static enum lpl_error end_window(struct lpl_ring_stream *stream, struct lpl_report *report)
{
	enum lpl_error error = lpl_ring_stream_deliver(stream, report);

	return error || !stream->between ? error : stream->between(stream->context, report);
}

static enum lpl_error take(struct lpl_ring_stream *stream, const struct lpl_ring_record *r,
			   struct lpl_report *report)
{
	if (stream->payload_records)
		return take_payload(stream, r, report);
	switch (r->word[3] >> 56) {
	case LPL_WIRE_WINDOW:
		take_totals(stream, r);
		return end_window(stream, report);
	case LPL_WIRE_EVENT:
		begin_event(stream, r);
		return LPL_OK;
	case LPL_WIRE_TOTALS:
		take_totals(stream, r);
		return LPL_OK;
	case LPL_WIRE_FLUSH:
		return stream->flush(stream->context, r->word[0] & LPL_WIRE_ROTATE, report);
	default:
		return lpl_fail(report, LPL_ERR_INTERNAL, "ring record of kind %u",
				(unsigned)(r->word[3] >> 56));
	}
}

/* How many of these records are of pages: a window's are sent one after the other. */
static size_t pages_records(const struct lpl_ring_stream *stream,
			    const struct lpl_ring_record *records, size_t count)
{
	size_t pages = 0;

	if (stream->payload_records)
		return 0;
	if (lpl_window_awaits(&stream->order))
		pages = 1;
	while (pages < count && records[pages].word[3] >> 56 == LPL_WIRE_PAGE)
		pages += 2;
	return pages < count ? pages : count;
}

enum lpl_error lpl_ring_stream_take(struct lpl_ring_stream *stream,
				    const struct lpl_ring_record *records, size_t count,
				    struct lpl_report *report)
{
	enum lpl_error error = LPL_OK;

	for (size_t i = 0; i < count && !error;) {
		const size_t pages = pages_records(stream, &records[i], count - i);

		if (pages == 0)
			error = take(stream, &records[i++], report);
		else if (!lpl_window_add(&stream->order, &records[i], pages))
			error = no_room(stream, report);
		i += pages;
	}
	return error;
}
