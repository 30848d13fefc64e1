/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The collector's life: what it is made of when it is opened, and how the trace ends when it is
 * closed.  collector_struct.h says where the rest is.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/host.h"
#include "base/output.h"
#include "base/try.h"
#include "collector_struct.h"
#include "container/block_writer.h"

#define STATUS_FILE_NS UINT64_C(10000000000)	/* between two lines in a file, by default */

/* ---- the end of the stream when there is no file ---- */

static enum lpl_error null_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	(void)sink, (void)refs, (void)count, (void)report;
	return LPL_OK;
}

static enum lpl_error null_event(struct lpl_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	(void)sink, (void)event, (void)report;
	return LPL_OK;
}

static enum lpl_error null_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	(void)sink, (void)report;
	return LPL_OK;
}

/* ---- opening ---- */

static enum lpl_error describe(struct lpl_meta *meta, const struct lpl_plan *plan,
			       const char *only, struct lpl_report *report)
{
	char page_size[24], reduction[LPL_SPEC_SIZE], exact[LPL_SPEC_SIZE];

	LPL_TRY(lpl_reducer_describe("none", plan->reduction, reduction, exact, report));
	snprintf(page_size, sizeof(page_size), "%" PRIu64, lpl_reduction_page_size(reduction));
	LPL_TRY(lpl_meta_set(meta, LPL_META_PAGE_SIZE, page_size));
	LPL_TRY(lpl_meta_set(meta, LPL_META_REDUCTION, reduction));
	LPL_TRY(lpl_meta_set(meta, LPL_META_EXACT, exact));
	return *only ? lpl_meta_set(meta, LPL_META_ONLY, only) : LPL_OK;
}

/* Nothing is reduced: the writer packs blocks, those of the log as they are ... */
static bool has_blocks(const struct lpl_collector *c)
{
	return c->has_log && c->stage == LPL_STAGE_FILE && strcmp(c->plan.rest, "none") == 0;
}

/* ... unless they are taken apart, as some of their references are chosen. */
static bool passes_blocks(const struct lpl_collector *c)
{
	return has_blocks(c) && !c->only.choice;
}

static void abandon(struct lpl_collector *c)
{
	if (c->segments)
		lpl_segments_abandon(c->segments);
	else
		lpl_writer_abandon(c->writer);
	c->writer = NULL;
	c->segments = NULL;
}

static void destroy(struct lpl_collector *c)
{
	abandon(c);
	lpl_reducer_close(c->reducer);
	lpl_ring_free(c->ring);
	lpl_ring_stream_free(&c->stream);
	lpl_log_stream_free(&c->log);
	lpl_block_refs_free(&c->refs);
	lpl_only_close(&c->only);
	lpl_block_count_free(&c->count);
	lpl_guest_keeper_close(&c->guest);
	lpl_status_file_close(&c->status_file);
	lpl_status_free(&c->status);
	free(c);
}

/* One that begins, or one that another process has left. */
static enum lpl_error open_trace(struct lpl_collector *c,
				 const struct lpl_collector_options *options,
				 struct lpl_report *report)
{
	/*
	 * Where every reference is kept this thread has more to do than the simulator's, so that another one compresses
	 * chunks; but not where a segment's size ends it, of which those that wait would not be part yet.
	 */
	const struct lpl_writer_options writing = {
		.level = options->level, .blocks = has_blocks(c), .ends_when_full = true,
		.jobs = has_blocks(c) && !options->segment.bytes ? 2 : 1,
		.no_room = lpl_collector_wait_for_room, .context = c
	};
	struct lpl_meta *meta = lpl_meta_copy(options->meta);
	enum lpl_error error = meta ? describe(meta, &c->plan, c->only.spec, report) :
			       lpl_fail(report, LPL_ERR_MEMORY, "no memory for the header");

	if (!error && options->segmented)
		error = lpl_guest_keeper_open(&c->guest, report);
	if (!error && c->pass != LPL_PASS_WHOLE)
		error = !passes_blocks(c) || !options->segmented ?
			lpl_fail(report, LPL_ERR_USAGE, "%s: only every reference, in segments, can be recorded "
				 "by several processes", options->path) :
			lpl_collector_open_pass(c, options, &writing, meta, report);
	else if (!error && options->resume_point)
		error = lpl_collector_resume(c, options, &writing, report);
	else if (!error && options->segmented)
		error = lpl_segments_open(&c->segments, options->path, meta, &writing,
					  &c->guest.keeper, options->overwrite, report);
	else if (!error)
		error = lpl_writer_open(&c->writer, options->path, meta, &writing,
					options->overwrite, report);
	if (c->segments)
		c->writer = lpl_segments_writer(c->segments);
	lpl_meta_free(meta);
	return error;
}

/* The one that is used, and the other as well: both ask for the same. */
static void connect_streams(struct lpl_collector *c)
{
	/* what gives the writer its totals */
	c->only.writer = c->writer;
	c->only.all = lpl_collector_totals(c);
	c->stream.writer = c->refs.writer = c->only.choice ? NULL : c->writer;
	c->stream.flush = lpl_collector_flush;
	c->stream.on_event = lpl_collector_event;
	c->stream.between = c->segments ? lpl_collector_between : NULL;
	c->stream.context = c;
	c->refs.tracer_refs = &c->log.tracer_refs;
	lpl_block_refs_init(&c->refs);
	c->log.out = c->pass == LPL_PASS_COUNT ? &c->count.sink :
		     passes_blocks(c) ? lpl_writer_blocks(c->writer) : &c->refs.sink;
	c->log.writer = passes_blocks(c) ? c->writer : NULL;
	c->log.flush = lpl_collector_flush;
	c->log.on_event = lpl_collector_event;
	c->log.between = c->segments ? lpl_collector_between : NULL;
	c->log.context = c;
}

enum lpl_error lpl_collector_open(struct lpl_collector **collector,
				  const struct lpl_collector_options *options,
				  struct lpl_report *report)
{
	struct lpl_collector *c;
	enum lpl_error error = LPL_OK;
	int fd;

	*collector = NULL;
	if (options->log != (options->plan->window == 0))
		return lpl_fail(report, LPL_ERR_USAGE, "%s: %s", options->plan->reduction,
				options->log ? "its windows do not go through a log" :
					       "every reference goes through a log");
	if (options->only && options->resume_point)
		return lpl_fail(report, LPL_ERR_USAGE, "what is known of the tasks that are chosen is in no "
				"checkpoint");
	if (options->segmented && lpl_names_descriptor(options->path, &fd))
		return lpl_fail(report, LPL_ERR_USAGE, "%s: segments and checkpoints stand beside a "
				"file, and this is none", options->path);
	c = calloc(1, sizeof(*c));
	if (!c)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for the collector");
	c->plan = *options->plan;
	c->stage = options->stage;
	c->pass = options->pass;
	c->status_file.fd = -1;
	c->complain = options->complain;
	c->file_ns = options->status_ns ? options->status_ns : STATUS_FILE_NS;
	const char *trace = c->stage == LPL_STAGE_FILE ? options->path : NULL;
	if (!lpl_status_init(&c->status, trace)) {
		error = lpl_fail(report, LPL_ERR_MEMORY, "no memory for the collector");
		goto failed;
	}
	c->status.begin_instr = options->begin_instr;
	c->status_fd = options->status_fd;
	c->start_ns = lpl_now_ns();
	c->flush_ns = options->flush_ns;
	c->flush_at = c->start_ns + c->flush_ns;
	c->flush_due = options->flush_due;
	/* what is only counted is in no file */
	c->sync_ns = c->stage == LPL_STAGE_FILE && c->pass != LPL_PASS_COUNT ? options->sync_ns : 0;
	c->sync_at = c->start_ns + c->sync_ns;
	c->wait_for_room = options->wait_for_room;
	c->is_ending = options->is_ending;
	c->segment = options->segment;
	c->context = options->context;
	c->null = (struct lpl_sink){ null_refs, null_event, null_finish };
	c->has_log = options->log;
	const size_t records = options->ring_records ? options->ring_records : 65536;
	c->ring = c->has_log ? lpl_log_new_ring(records) : lpl_ring_new(records);
	if (!c->ring) {
		error = lpl_fail(report, LPL_ERR_MEMORY, "no memory for the ring");
		goto failed;
	}
	if (options->only)
		error = lpl_only_open(&c->only, options->only, options->log,
					options->cycles_a_second, report);
	if (error)
		goto failed;
	if (options->status_path) {
		error = lpl_status_file_open(&c->status_file, options->status_path, trace, report);
		/* a run that is continued does without the file */
		if (error && options->resume_point && c->complain)
			c->complain(options->context, report->text);
		else if (error)
			goto failed;
	}
	if (c->stage == LPL_STAGE_FILE)
		error = open_trace(c, options, report);
	if (!error)
		error = lpl_collector_reduce(c, &c->resume_point.fence, report);
	if (error)
		goto failed;
	connect_streams(c);

	int problem = pthread_create(&c->thread, NULL, lpl_collector_run, c);
	if (problem) {
		errno = problem;
		error = lpl_fail(report, LPL_ERR_IO, "cannot start the collector's thread");
		goto failed;
	}
	*collector = c;
	return LPL_OK;
failed:
	destroy(c);
	return error;
}

struct lpl_ring *lpl_collector_ring(struct lpl_collector *c)
{
	return c->ring;
}

/* ---- the end ---- */

void lpl_collector_leave(struct lpl_collector *c)
{
	lpl_ring_end(c->ring);
	pthread_join(c->thread, NULL);
	destroy(c);
}

enum lpl_error lpl_collector_failure(struct lpl_collector *c, struct lpl_report *report)
{
	if (!atomic_load_explicit(&c->failed, memory_order_acquire))
		return LPL_OK;
	if (report)
		*report = c->report;
	return c->report.error;
}

enum lpl_error lpl_collector_close(struct lpl_collector *c, const char *end,
				   const char *message, struct lpl_report *report)
{
	enum lpl_error error;

	if (!c)
		return LPL_OK;
	lpl_ring_end(c->ring);
	pthread_join(c->thread, NULL);
	error = lpl_collector_failure(c, report);
	struct lpl_totals *totals = lpl_collector_totals(c);
	totals->tracer_refs = lpl_collector_tracer_refs(c);
	if (c->has_log) {
		totals->events = c->log.events;
		totals->recording.sent_refs = c->log.refs;
	}
	if (c->only.choice)
		lpl_only_end(&c->only, totals);
	totals->recording.instructions = lpl_collector_instructions(c);
	/* host time has no place in a run that is to repeat */
	totals->wait_ns = c->flush_ns ? lpl_collector_wait_ns(c) : 0;
	totals->recording.elapsed_ns = c->flush_ns ? lpl_now_ns() - c->start_ns : 0;
	if (c->writer && (!error || error == LPL_ERR_FULL)) {
		lpl_writer_totals(c->writer, totals);
		/* the file is complete before the status says so */
		if (!error)
			error = lpl_writer_flush(c->writer, report);
	}
	struct lpl_writer *writer = c->writer;
	struct lpl_collector_status last;
	lpl_collector_status(c, &last);
	if (!error && writer)
		lpl_collector_report_all(c, &last, (struct lpl_status_end){ .state = "closing" });
	if (error)
		end = error == LPL_ERR_FULL ? "full" : "error";
	if (writer && (!error || error == LPL_ERR_FULL)) {
		struct lpl_report closed = { .error = LPL_OK };
		enum lpl_error how = c->segments ? lpl_segments_close(c->segments, &closed) :
						   lpl_writer_close(writer, &closed);

		/* for a full disk, the report says what happened to the trace */
		if (how && report)
			*report = closed;
		if (how)
			end = how == LPL_ERR_FULL ? "full" : "error";
		error = how ? how : error;
		c->writer = NULL;
		c->segments = NULL;
	}
	if (c->only.choice && totals->total == 0 && c->complain)
		c->complain(c->context, "no reference matched what was chosen: the trace holds no "
			    "references");
	lpl_collector_report_all(c, &last,
				 (struct lpl_status_end){ "ended", end,
							error && report ? report->text : message });
	destroy(c);
	return error;
}
