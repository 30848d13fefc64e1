/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How another process goes on where a collector was left: at the end of a segment, where the
 * reducer holds nothing back.  What remains is to know how far everything was counted, what the
 * processor's state was, what the reducer has learned, and, in a file, who and what the guest has.
 */
#include <string.h>

#include "base/host.h"
#include "collector_struct.h"

/* ---- it is left ---- */

void lpl_collector_note_place(struct lpl_collector *c)
{
	struct lpl_place *place = &c->place;

	*place = (struct lpl_place){
		.segment = lpl_segments_number(c->segments),
		.totals = *lpl_collector_totals(c),
		.refs = c->has_log ? c->log.refs : 0,
		.tracer_refs = c->has_log ? c->log.tracer_refs : c->stream.tracer_refs,
		.events = c->has_log ? c->log.events : c->stream.events_taken,
		.instructions = lpl_collector_instructions(c),
		.tracing = c->status.tracing,
		.marked = c->status.marked,
		.mark = c->status.mark,
		.elapsed_ns = lpl_now_ns() - c->start_ns,
		.wait_ns = lpl_collector_wait_ns(c),
		.room_wait_ns = atomic_load_explicit(&c->room_wait_ns, memory_order_relaxed),
		.syncs = atomic_load_explicit(&c->syncs, memory_order_relaxed),
		.sync_ns = atomic_load_explicit(&c->sync_time_ns, memory_order_relaxed),
		.checkpoints_failed = c->status.checkpoints_failed,
		.state = c->log.state,
		.learned = lpl_reducer_learned(c->reducer),
	};
	lpl_writer_where(c->writer, &place->writer);
}

uint64_t lpl_collector_place(const struct lpl_collector *c, struct lpl_collector_place *place)
{
	/* the thread wrote it before it counted the flush, and writes nothing until the next */
	(void)atomic_load_explicit(&c->flushes, memory_order_acquire);
	memset(place, 0, sizeof(*place));
	memcpy(place, &c->place, sizeof(c->place));
	return c->place.segment;
}

void lpl_collector_checkpoint_failed(struct lpl_collector *c)
{
	c->status.checkpoints_failed++;
}

enum lpl_error lpl_collector_save_guest(struct lpl_collector *c, const char *path,
					struct lpl_report *report)
{
	(void)atomic_load_explicit(&c->flushes, memory_order_acquire);
	return lpl_guest_keeper_save(&c->guest, path, report);
}

/* ---- and gone on with ---- */

static void go_to(struct lpl_collector *c, const struct lpl_place *place)
{
	*lpl_collector_totals(c) = place->totals;
	c->segment_instr = place->instructions;
	c->start_ns -= place->elapsed_ns;
	c->earlier_wait_ns = place->wait_ns;
	c->room_wait_ns = place->room_wait_ns;
	c->syncs = place->syncs;
	c->sync_time_ns = place->sync_ns;
	c->status.checkpoints_failed = place->checkpoints_failed;
	c->status.tracing = place->tracing;
	c->status.marked = place->marked;
	c->status.mark = place->mark;
	if (!c->has_log) {
		c->stream.tracer_refs = place->tracer_refs;
		c->stream.events_taken = place->events;
		c->stream.references = place->totals.total;
		c->stream.instructions = place->instructions;
		return;
	}
	c->log.refs = c->refs.number = place->refs;
	c->log.references = place->refs;
	c->log.tracer_refs = place->tracer_refs;
	c->log.tracer_known = place->tracer_refs;
	c->log.events = place->events;
	c->log.now = place->instructions;
	c->log.instructions = place->instructions;
	c->log.state = c->refs.state = place->state;
	c->log.changed = true;
}

enum lpl_error lpl_collector_go_on(struct lpl_collector *c,
				   const struct lpl_collector_options *options,
				   const struct lpl_writer_options *writing,
				   struct lpl_report *report)
{
	enum lpl_error error;

	memcpy(&c->place, options->place, sizeof(c->place));
	if (!options->segmented || c->place.segment == 0)
		return lpl_fail(report, LPL_ERR_USAGE, "%s: only a trace in segments can be continued",
				options->path);
	go_to(c, &c->place);
	lpl_status_checkpoint(&c->status, options->place_instr, c->place.elapsed_ns);
	error = lpl_guest_keeper_load(&c->guest, options->place_guest, report);
	if (error)
		return error;
	return lpl_segments_continue(&c->segments, options->path, writing, &c->guest.keeper,
				     c->place.segment, &c->place.writer, options->overwrite,
				     report);
}
