/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How another process continues where a collector was left: at the end of a segment, where the
 * reducer holds nothing back.  It has to know how far everything was counted, the processor's state,
 * what the reducer's fences know, and, from a file, the guest's tasks and memory.
 */
#include <string.h>

#include "base/host.h"
#include "base/try.h"
#include "collector_struct.h"

/* ---- it is left ---- */

void lpl_collector_note_resume_point(struct lpl_collector *c)
{
	struct lpl_resume_data *point = &c->resume_point;

	*point = (struct lpl_resume_data){
		.totals = *lpl_collector_totals(c),
		.refs = c->has_log ? c->log.refs : 0,
		.tracer_refs = lpl_collector_tracer_refs(c),
		.events = lpl_collector_events(c),
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
		.fence = lpl_reducer_fence(c->reducer),
	};
	point->segment = lpl_collector_place(c, &point->writer);
	point->hash = lpl_collector_hash(c);
}

uint64_t lpl_collector_resume_point(const struct lpl_collector *c, struct lpl_resume_point *point)
{
	/* the thread wrote it before it counted the flush, and writes nothing until the next */
	(void)atomic_load_explicit(&c->flushes, memory_order_acquire);
	memset(point, 0, sizeof(*point));
	memcpy(point, &c->resume_point, sizeof(c->resume_point));
	return c->resume_point.segment;
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

/* ---- it is continued ---- */

static void go_to(struct lpl_collector *c, const struct lpl_resume_data *point)
{
	*lpl_collector_totals(c) = point->totals;
	c->segment_instr = point->instructions;
	c->start_ns -= point->elapsed_ns;
	c->earlier_wait_ns = point->wait_ns;
	c->room_wait_ns = point->room_wait_ns;
	c->syncs = point->syncs;
	c->sync_time_ns = point->sync_ns;
	c->status.checkpoints_failed = point->checkpoints_failed;
	c->status.tracing = point->tracing;
	c->status.marked = point->marked;
	c->status.mark = point->mark;
	if (!c->has_log) {
		c->stream.tracer_refs = point->tracer_refs;
		c->stream.events_taken = point->events;
		c->stream.references = point->totals.total;
		c->stream.instructions = point->instructions;
		return;
	}
	c->log.refs = c->refs.number = point->refs;
	c->log.references = point->refs;
	c->log.tracer_refs = point->tracer_refs;
	c->log.tracer_known = point->tracer_refs;
	c->log.events = point->events;
	c->log.now = point->instructions;
	c->log.instructions = point->instructions;
	c->log.state = c->refs.state = point->state;
	c->log.changed = true;
}

enum lpl_error lpl_collector_go_to(struct lpl_collector *c, const struct lpl_collector_options *options,
				   struct lpl_report *report)
{
	memcpy(&c->resume_point, options->resume_point, sizeof(c->resume_point));
	if (!options->segmented || c->resume_point.segment == 0)
		return lpl_fail(report, LPL_ERR_USAGE, "%s: only a trace in segments can be continued",
				options->path);
	go_to(c, &c->resume_point);
	lpl_status_checkpoint(&c->status, options->resume_instr, c->resume_point.elapsed_ns);
	return lpl_guest_keeper_load(&c->guest, options->resume_guest, report);
}

enum lpl_error lpl_collector_resume(struct lpl_collector *c,
				   const struct lpl_collector_options *options,
				   const struct lpl_writer_options *writing,
				   struct lpl_report *report)
{
	LPL_TRY(lpl_collector_go_to(c, options, report));
	return lpl_segments_continue(&c->segments, options->path, writing, &c->guest.keeper,
				     c->resume_point.segment, &c->resume_point.writer, options->overwrite,
				     report);
}
