/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The collector's thread: it takes the stream from the ring, and passes it through the reducer
 * into the trace file.  It also looks at the clock, for status lines, flushes and syncs.
 */
#include <assert.h>

#include "base/host.h"
#include "base/try.h"
#include "collector_struct.h"

#define LOOK_NS 50000000U	/* how long the clock may go unnoticed */
#define RECORDS_AT_ONCE 4096	/* taken from the ring before their room is given back */

/* ---- the reducer ---- */

/* Replace the reducer by a new one, for the stream from here on. */
enum lpl_error lpl_collector_reduce(struct lpl_collector *c, const struct lpl_fence *fence,
				    struct lpl_report *report)
{
	struct lpl_reducer *reducer;

	LPL_TRY(lpl_reducer_open(&reducer, "none", c->plan.rest,
				 c->writer ? lpl_writer_sink(c->writer) : &c->null, report));
	lpl_reducer_set_fence(reducer, fence);
	lpl_reducer_close(c->reducer);
	c->reducer = reducer;
	c->only.next = lpl_reducer_sink(reducer);
	c->stream.out = c->refs.out = c->only.choice ? lpl_only_sink(&c->only) :
							 c->only.next;
	return LPL_OK;
}

/* All that was received is passed on, as far as the reduction allows. */
static enum lpl_error flush_stream(struct lpl_collector *c, struct lpl_report *report)
{
	if (c->has_log)
		LPL_TRY(lpl_block_refs_deliver(&c->refs, report));
	return lpl_reducer_flush(c->reducer, report);
}

/*
 * The same for the end of a segment, which is exact alone: the reduction ends, and begins anew
 * with the next.  (A flush is not enough: some methods hold back what depends on later references.)
 */
static enum lpl_error rotate(struct lpl_collector *c, struct lpl_report *report)
{
	struct lpl_fence fence;

	if (c->has_log)
		LPL_TRY(lpl_block_refs_deliver(&c->refs, report));
	LPL_TRY(c->stream.out->finish(c->stream.out, report));
	fence = lpl_reducer_fence(c->reducer);
	LPL_TRY(lpl_collector_reduce(c, &fence, report));
	c->segment_instr = lpl_collector_instructions(c);
	return lpl_segments_rotate(c->segments, report);
}

/* ---- what the streams ask for ---- */

/* The producer wants it readable: it is handed to the system. */
enum lpl_error lpl_collector_flush(void *context, bool ends_segment, struct lpl_report *report)
{
	struct lpl_collector *c = context;
	const bool counts = ends_segment && c->pass == LPL_PASS_COUNT;
	const bool rotates = ends_segment && c->segments;
	enum lpl_error error = rotates ? rotate(c, report) : flush_stream(c, report);

	if (!error && counts)
		lpl_block_count_end(&c->count, lpl_collector_events(c), lpl_collector_tracer_refs(c));
	if (!error && (counts || rotates))
		lpl_collector_note_resume_point(c);
	else if (!error && c->writer)
		error = lpl_writer_flush(c->writer, report);
	c->flush_at = lpl_now_ns() + c->flush_ns;
	atomic_fetch_add_explicit(&c->flushes, 1, memory_order_release);
	return error;
}

/* The stream can be cut here: is the segment as large as it shall get? */
enum lpl_error lpl_collector_between(void *context, struct lpl_report *report)
{
	struct lpl_collector *c = context;
	const struct lpl_segment_size *size = &c->segment;
	const uint64_t instr = lpl_collector_instructions(c);

	assert(c->segments != NULL);
	if (lpl_segments_is_empty(c->segments))	/* what was not recorded is no part of it */
		c->segment_instr = instr;
	if ((!size->bytes || lpl_segments_bytes(c->segments) < size->bytes) &&
	    (!size->instructions || instr - c->segment_instr < size->instructions))
		return LPL_OK;
	return rotate(c, report);
}

/* ---- the clock ---- */

static enum lpl_error sync_trace(struct lpl_collector *c)
{
	uint64_t begin = lpl_now_ns(), end;
	enum lpl_error error = lpl_writer_sync(c->writer, &c->report);

	end = lpl_now_ns();
	c->sync_at = end + c->sync_ns;
	atomic_fetch_add_explicit(&c->syncs, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&c->sync_time_ns, end - begin, memory_order_relaxed);
	return error;
}

/* What has to be done from time to time. */
static enum lpl_error look_at_clock(struct lpl_collector *c)
{
	uint64_t now = lpl_now_ns();

	lpl_collector_report_if_due(c, now);
	if (c->flush_ns && now >= c->flush_at) {
		c->flush_due(c->context);
		c->flush_at = now + LOOK_NS;
	}
	return c->sync_ns && now >= c->sync_at ? sync_trace(c) : LPL_OK;
}

static bool timed(const struct lpl_collector *c)
{
	return c->status_fd >= 0 || c->status_file.fd >= 0 || c->flush_ns || c->sync_ns;
}

static uint64_t patience(const struct lpl_collector *c)
{
	return timed(c) ? LOOK_NS : LPL_RING_FOREVER;
}

/* ---- the ring ---- */

static enum lpl_error drain_log(struct lpl_collector *c)
{
	struct lpl_accounts *recording = &lpl_collector_totals(c)->recording;
	const struct lpl_log_block *block;

	while ((block = lpl_ring_peek_block(c->ring, patience(c))) || !lpl_ring_over(c->ring)) {
		if (block)	/* counted first: a resume point counts all that was sent before it */
			recording->sent_bytes += block->words * sizeof(*block->word);
		if (block && c->stage != LPL_STAGE_RING)
			LPL_TRY(lpl_log_stream_take(&c->log, block, &c->report));
		if (block)
			lpl_ring_release(c->ring, 1);
		if (timed(c))
			LPL_TRY(look_at_clock(c));
	}
	LPL_TRY(lpl_log_stream_end(&c->log, &c->report));
	return lpl_block_refs_deliver(&c->refs, &c->report);
}

static enum lpl_error drain_records(struct lpl_collector *c)
{
	struct lpl_accounts *recording = &lpl_collector_totals(c)->recording;
	const struct lpl_ring_record *records;
	size_t ready;

	while ((ready = lpl_ring_peek(c->ring, patience(c), &records)) > 0 ||
	       !lpl_ring_over(c->ring)) {
		if (ready > RECORDS_AT_ONCE)
			ready = RECORDS_AT_ONCE;
		recording->sent_bytes += ready * sizeof(*records);
		if (c->stage != LPL_STAGE_RING)
			LPL_TRY(lpl_ring_stream_take(&c->stream, records, ready, &c->report));
		lpl_ring_release(c->ring, ready);
		if (timed(c))
			LPL_TRY(look_at_clock(c));
	}
	return lpl_ring_stream_deliver(&c->stream, &c->report);
}

static enum lpl_error drain(struct lpl_collector *c)
{
	struct lpl_sink *out;

	LPL_TRY(c->has_log ? drain_log(c) : drain_records(c));
	out = c->stream.out;	/* each segment has another */
	return out->finish(out, &c->report);
}

void *lpl_collector_run(void *argument)
{
	struct lpl_collector *c = argument;

	if (timed(c))
		look_at_clock(c);
	if (drain(c)) {
		atomic_store_explicit(&c->failed, true, memory_order_release);
		lpl_ring_abort(c->ring);
	}
	return NULL;
}
