/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The collector's thread: what comes out of the ring passes the reducers and ends in the
 * trace file.  It also looks at the clock, for who watches and for flushes.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <laplace/collector.h>

#include "base/host.h"
#include "container/run_writer.h"
#include "container/segments.h"
#include "container/writer.h"
#include "log_stream.h"
#include "ring_stream.h"
#include "run_refs.h"
#include "state_keeper.h"
#include "status.h"
#include "status_file.h"

#define STATUS_NS 500000000U	/* between two lines of status to a descriptor, */
#define STATUS_FILE_NS UINT64_C(10000000000)	/* and to a file unless told */
#define LOOK_NS 50000000U	/* how long the clock may go unnoticed */
#define ROOM_NAP_NS 100000000	/* between looks for room on a full disk */
#define RECORDS_AT_ONCE 4096	/* taken from the ring before their room is given back */

/* What struct lpl_collector_place holds. */
struct place {
	uint64_t segment;		/* that begins; 0: nothing is known */
	struct lpl_writer_place writer;
	struct lpl_totals totals;
	uint64_t refs, tracer_refs, events, instructions;
	bool tracing, marked;
	struct lpl_event mark;		/* the last one, for who watches; and how long it took: */
	uint64_t elapsed_ns, wait_ns, room_wait_ns, syncs, sync_ns;
	struct lpl_run_state state;
};
_Static_assert(sizeof(struct place) <= sizeof(struct lpl_collector_place), "room for a place");

struct lpl_collector {
	struct lpl_plan plan;
	struct lpl_ring *ring;
	struct lpl_ring_stream stream;	/* of windows */
	struct lpl_log_stream log;
	struct lpl_run_refs refs;	/* of the log */
	struct lpl_writer *writer;	/* NULL unless the stage is FILE */
	struct lpl_segments *segments;	/* whose it is; NULL: it has a file of its own */
	struct lpl_guest_keeper guest;	/* for them */
	struct lpl_segment_size segment;	/* when they end */
	uint64_t segment_instr;		/* the instruction count when this one began */
	struct place place;		/* behind the latest FLUSH that ended a segment */
	struct lpl_reducer *reducer;
	struct lpl_sink null;		/* the end of the stream without a file */

	enum lpl_stage stage;
	int status_fd;			/* its status goes there; -1: nobody watches, or no longer */
	bool has_log;			/* else it has the records of windows */
	bool wait_for_room;		/* on a full disk ... */
	_Atomic bool waiting_for_room;	/* ... as now */
	_Atomic bool failed;
	pthread_t thread;
	struct lpl_report report;	/* the thread's; read after join or `failed` */
	_Atomic uint64_t flushes;

	struct lpl_status status;
	struct lpl_status_file status_file;	/* and there, too */
	struct lpl_pace pace, file_pace;
	uint64_t start_ns, status_at, file_at, file_ns;
	void (*complain)(void *context, const char *text);
	uint64_t flush_ns, flush_at;
	void (*flush_due)(void *context);
	uint64_t sync_ns, sync_at;
	_Atomic uint64_t syncs, sync_time_ns;
	bool (*is_ending)(void *context);
	_Atomic uint64_t room_wait_ns;
	uint64_t earlier_wait_ns;	/* for the ring, of the processes before this one */
	void *context;
};

/* ---- the end of the stream when there is no file ---- */

static int null_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
		     struct lpl_report *report)
{
	(void)sink, (void)refs, (void)count, (void)report;
	return LPL_OK;
}

static int null_event(struct lpl_sink *sink, const struct lpl_event *event,
		      struct lpl_report *report)
{
	(void)sink, (void)event, (void)report;
	return LPL_OK;
}

static int null_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	(void)sink, (void)report;
	return LPL_OK;
}

/* ---- status ---- */

static uint64_t wait_ns(const struct lpl_collector *c)
{
	return c->earlier_wait_ns + lpl_ring_wait_ns(c->ring);
}

void lpl_collector_status(const struct lpl_collector *c, struct lpl_collector_status *status)
{
	const struct lpl_ring_stream *stream = &c->stream;
	const struct lpl_log_stream *log = &c->log;
	/* in this order: no more can be kept than there were */
	const uint64_t kept = c->writer ? lpl_writer_refs(c->writer) : 0;

	atomic_thread_fence(memory_order_acquire);
	*status = (struct lpl_collector_status){
		.references = atomic_load_explicit(c->has_log ? &log->references :
						   &stream->references, memory_order_relaxed),
		.instructions = atomic_load_explicit(c->has_log ? &log->instructions :
						     &stream->instructions, memory_order_relaxed),
		.events = atomic_load_explicit(c->has_log ? &log->events : &stream->events_taken,
					       memory_order_relaxed),
		.kept = kept,
		.bytes = c->writer ? lpl_writer_bytes(c->writer) : 0,
		.wait_ns = wait_ns(c),
		.elapsed_ns = lpl_now_ns() - c->start_ns,
		.flushes = atomic_load_explicit(&c->flushes, memory_order_relaxed),
		.tracer_refs = atomic_load_explicit(&log->tracer_told, memory_order_relaxed),
		.syncs = atomic_load_explicit(&c->syncs, memory_order_relaxed),
		.sync_ns = atomic_load_explicit(&c->sync_time_ns, memory_order_relaxed),
		.waiting_for_room = atomic_load_explicit(&c->waiting_for_room,
							 memory_order_relaxed),
		.room_wait_ns = atomic_load_explicit(&c->room_wait_ns, memory_order_relaxed),
		.segment = c->segments ? lpl_segments_number(c->segments) : 0,
		.tracing = c->status.tracing,
	};
}

char *lpl_collector_status_line(struct lpl_collector *c, struct lpl_pace *pace)
{
	struct lpl_collector_status now;

	lpl_collector_status(c, &now);
	return lpl_status_line(&c->status, &now, pace, (struct lpl_status_end){ .state = NULL });
}

static void hear(void *context, const struct lpl_event *event)
{
	struct lpl_collector *c = context;

	lpl_status_hear(&c->status, event);
}

static void tell_descriptor(struct lpl_collector *c, const struct lpl_collector_status *now,
			    struct lpl_status_end end)
{
	char *line = lpl_status_line(&c->status, now, &c->pace, end);

	if (line && !lpl_status_write(c->status_fd, line))
		c->status_fd = -1;
	free(line);
}

/* That it cannot be written is told, and no reason to collect no further. */
static void tell_file(struct lpl_collector *c, const struct lpl_collector_status *now,
		      struct lpl_status_end end)
{
	char *line = lpl_status_line(&c->status, now, &c->file_pace, end);
	char text[128];

	if (line && !lpl_status_file_append(&c->status_file, line) && c->complain) {
		snprintf(text, sizeof(text), "the status file cannot be written: %s",
			 strerror(errno));
		c->complain(c->context, text);
	}
	free(line);
}

/* Everybody who watches, how the run is, with these numbers. */
static void tell_all(struct lpl_collector *c, const struct lpl_collector_status *now,
		     struct lpl_status_end end)
{
	if (c->status_fd >= 0)
		tell_descriptor(c, now, end);
	if (c->status_file.fd >= 0)
		tell_file(c, now, end);
}

/* The same, those for whom it is time. */
static void tell_status_if_due(struct lpl_collector *c, uint64_t now)
{
	const struct lpl_status_end running = { .state = "running" };
	struct lpl_collector_status status;

	if (c->status_fd >= 0 && now >= c->status_at) {
		lpl_collector_status(c, &status);
		tell_descriptor(c, &status, running);
		c->status_at = now + STATUS_NS;
	}
	if (c->status_file.fd >= 0 && now >= c->file_at) {
		lpl_collector_status(c, &status);
		tell_file(c, &status, running);
		c->file_at = now + c->file_ns;
	}
}

/* ---- a full disk ---- */

static void tell_person(const struct lpl_collector *c, const char *text)
{
	if (c->complain)
		c->complain(c->context, text);
}

/* The writer's no_room(). */
static bool wait_for_room(void *context, const struct lpl_report *why)
{
	struct lpl_collector *c = context;
	char text[LPL_REPORT_SIZE + 128];
	uint64_t begin = lpl_now_ns(), now;

	if (!why) {
		atomic_store_explicit(&c->waiting_for_room, false, memory_order_relaxed);
		tell_person(c, "there is room again: the recording goes on");
		return true;
	}
	if (!c->wait_for_room || (c->is_ending && c->is_ending(c->context)))
		return false;
	if (!atomic_load_explicit(&c->waiting_for_room, memory_order_relaxed)) {
		atomic_store_explicit(&c->waiting_for_room, true, memory_order_relaxed);
		(void)snprintf(text, sizeof(text), "%s.  The recording waits until there is room; "
			       "to end it and close its trace, send it SIGTERM", why->text);
		tell_person(c, text);
	}
	(void)nanosleep(&(struct timespec){ .tv_nsec = ROOM_NAP_NS }, NULL);
	now = lpl_now_ns();
	atomic_fetch_add_explicit(&c->room_wait_ns, now - begin, memory_order_relaxed);
	tell_status_if_due(c, now);
	return true;
}

/* ---- the thread ---- */

/* All that came is told, as far as the reduction allows. */
static enum lpl_error flush_stream(struct lpl_collector *c, struct lpl_report *report)
{
	enum lpl_error error = LPL_OK;

	if (c->has_log)
		error = lpl_run_refs_deliver(&c->refs, report);
	return error ? error : lpl_reducer_flush(c->reducer, report);
}

static uint64_t instructions(const struct lpl_collector *c)
{
	return atomic_load_explicit(c->has_log ? &c->log.instructions : &c->stream.instructions,
				    memory_order_relaxed);
}

/* And is the end of a segment. */
static enum lpl_error rotate(struct lpl_collector *c, struct lpl_report *report)
{
	c->segment_instr = instructions(c);
	return lpl_segments_rotate(c->segments, report);
}

static struct lpl_totals *totals_of(struct lpl_collector *c)
{
	return c->has_log ? &c->refs.totals : &c->stream.totals;
}

/* ---- another process goes on ---- */

static void note_place(struct lpl_collector *c)
{
	struct place *place = &c->place;

	*place = (struct place){
		.segment = lpl_segments_number(c->segments),
		.totals = *totals_of(c),
		.refs = c->has_log ? c->log.refs : 0,
		.tracer_refs = c->has_log ? c->log.tracer_refs : c->stream.tracer_refs,
		.events = c->has_log ? c->log.events : c->stream.events_taken,
		.instructions = instructions(c),
		.tracing = c->status.tracing,
		.marked = c->status.marked,
		.mark = c->status.mark,
		.elapsed_ns = lpl_now_ns() - c->start_ns,
		.wait_ns = wait_ns(c),
		.room_wait_ns = atomic_load_explicit(&c->room_wait_ns, memory_order_relaxed),
		.syncs = atomic_load_explicit(&c->syncs, memory_order_relaxed),
		.sync_ns = atomic_load_explicit(&c->sync_time_ns, memory_order_relaxed),
		.state = c->log.state,
	};
	lpl_writer_where(c->writer, &place->writer);
}

static void go_to(struct lpl_collector *c, const struct place *place)
{
	*totals_of(c) = place->totals;
	c->segment_instr = place->instructions;
	c->start_ns -= place->elapsed_ns;
	c->earlier_wait_ns = place->wait_ns;
	c->room_wait_ns = place->room_wait_ns;
	c->syncs = place->syncs;
	c->sync_time_ns = place->sync_ns;
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
	c->log.tracer_told = place->tracer_refs;
	c->log.events = place->events;
	c->log.now = place->instructions;
	c->log.instructions = place->instructions;
	c->log.state = c->refs.state = place->state;
	c->log.changed = true;
}

/* The producer wants it readable: it is handed to the system. */
static enum lpl_error flush(void *context, bool ends_segment, struct lpl_report *report)
{
	struct lpl_collector *c = context;
	enum lpl_error error = flush_stream(c, report);

	if (!error && ends_segment && c->segments)
		error = rotate(c, report);
	else if (!error && c->writer)
		error = lpl_writer_flush(c->writer, report);
	c->flush_at = lpl_now_ns() + c->flush_ns;
	if (!error && ends_segment && c->segments)
		note_place(c);
	atomic_fetch_add_explicit(&c->flushes, 1, memory_order_release);
	return error;
}

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

/* The stream can be cut here: is the segment as large as it shall get? */
static enum lpl_error between(void *context, struct lpl_report *report)
{
	struct lpl_collector *c = context;
	const struct lpl_segment_size *size = &c->segment;
	const uint64_t instr = instructions(c);
	enum lpl_error error;

	if (lpl_segments_is_empty(c->segments))	/* what was not recorded is no part of it */
		c->segment_instr = instr;
	if ((!size->bytes || lpl_segments_bytes(c->segments) < size->bytes) &&
	    (!size->instructions || instr - c->segment_instr < size->instructions))
		return LPL_OK;
	error = flush_stream(c, report);
	return error ? error : rotate(c, report);
}

/* What has to be done from time to time. */
static enum lpl_error look_at_clock(struct lpl_collector *c)
{
	uint64_t now = lpl_now_ns();

	tell_status_if_due(c, now);
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

static enum lpl_error drain_log(struct lpl_collector *c)
{
	const struct lpl_log_block *block;
	enum lpl_error error = LPL_OK;

	while ((block = lpl_ring_peek_block(c->ring, patience(c))) || !lpl_ring_over(c->ring)) {
		if (block)	/* counted first: a place tells of all that came before it */
			totals_of(c)->recording.sent_bytes += block->words * sizeof(*block->word);
		if (block && c->stage != LPL_STAGE_RING)
			error = lpl_log_stream_take(&c->log, block, &c->report);
		if (error)
			return error;
		if (block)
			lpl_ring_release(c->ring, 1);
		if (timed(c))
			error = look_at_clock(c);
		if (error)
			return error;
	}
	error = lpl_log_stream_end(&c->log, &c->report);
	return error ? error : lpl_run_refs_deliver(&c->refs, &c->report);
}

static enum lpl_error drain_records(struct lpl_collector *c)
{
	enum lpl_error error = LPL_OK;
	const struct lpl_ring_record *records;
	size_t ready;

	while ((ready = lpl_ring_peek(c->ring, patience(c), &records)) > 0 ||
	       !lpl_ring_over(c->ring)) {
		if (ready > RECORDS_AT_ONCE)
			ready = RECORDS_AT_ONCE;
		totals_of(c)->recording.sent_bytes += ready * sizeof(*records);
		if (c->stage != LPL_STAGE_RING)
			error = lpl_ring_stream_take(&c->stream, records, ready, &c->report);
		if (error)
			return error;
		lpl_ring_release(c->ring, ready);
		if (timed(c))
			error = look_at_clock(c);
		if (error)
			return error;
	}
	return lpl_ring_stream_deliver(&c->stream, &c->report);
}

static enum lpl_error drain(struct lpl_collector *c)
{
	enum lpl_error error = c->has_log ? drain_log(c) : drain_records(c);
	struct lpl_sink *out = c->stream.out;

	return error ? error : (enum lpl_error)out->finish(out, &c->report);
}

static void *run(void *argument)
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

/* ---- opening and closing ---- */

static enum lpl_error describe(struct lpl_meta *meta, const struct lpl_plan *plan,
			       struct lpl_report *report)
{
	char page_size[24], reduction[LPL_SPEC_SIZE], exact[LPL_SPEC_SIZE];
	enum lpl_error error = lpl_reducer_describe("none", plan->reduction, reduction, exact,
						    report);

	snprintf(page_size, sizeof(page_size), "%" PRIu64, lpl_reduction_page_size(reduction));
	if (!error)
		error = lpl_meta_set(meta, LPL_META_PAGE_SIZE, page_size);
	if (!error)
		error = lpl_meta_set(meta, LPL_META_REDUCTION, reduction);
	if (!error)
		error = lpl_meta_set(meta, LPL_META_EXACT, exact);
	return error;
}

/* Nothing is reduced: the writer takes the log's runs as they are. */
static bool packs_runs(const struct lpl_collector *c)
{
	return c->has_log && c->stage == LPL_STAGE_FILE && strcmp(c->plan.rest, "none") == 0;
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
	lpl_run_refs_free(&c->refs);
	lpl_guest_keeper_close(&c->guest);
	lpl_status_file_close(&c->status_file);
	lpl_status_free(&c->status);
	free(c);
}

static enum lpl_error continue_segments(struct lpl_collector *c,
					const struct lpl_collector_options *options,
					const struct lpl_meta *meta,
					const struct lpl_writer_options *writing,
					struct lpl_report *report)
{
	memcpy(&c->place, options->place, sizeof(c->place));
	if (!options->segmented || c->place.segment == 0)
		return lpl_fail(report, LPL_ERR_USAGE, "%s: only a trace in segments can be continued",
				options->path);
	go_to(c, &c->place);
	lpl_status_checkpoint(&c->status, options->place_instr, c->place.elapsed_ns);
	enum lpl_error error = lpl_guest_keeper_load(&c->guest, options->place_guest, report);

	if (error)
		return error;
	return lpl_segments_continue(&c->segments, options->path, meta, writing,
				     &c->guest.keeper, c->place.segment, &c->place.writer,
				     options->overwrite, report);
}

enum lpl_error lpl_collector_open(struct lpl_collector **collector,
				  const struct lpl_collector_options *options,
				  struct lpl_report *report)
{
	struct lpl_collector *c;
	enum lpl_error error;

	*collector = NULL;
	if (options->log != (options->plan->window == 0))
		return lpl_fail(report, LPL_ERR_USAGE, "%s: %s", options->plan->reduction,
				options->log ? "its windows do not go through a log" :
					       "every reference goes through a log");
	c = calloc(1, sizeof(*c));
	if (!c)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for the collector");
	c->plan = *options->plan;
	c->stage = options->stage;
	c->status_file.fd = -1;
	c->complain = options->complain;
	c->file_ns = options->status_ns ? options->status_ns : STATUS_FILE_NS;
	const char *trace = c->stage == LPL_STAGE_FILE ? options->path : NULL;
	if (!lpl_status_init(&c->status, trace)) {
		error = lpl_fail(report, LPL_ERR_MEMORY, "no memory for the collector");
		goto failed;
	}
	c->status_fd = options->status_fd;
	c->start_ns = lpl_now_ns();
	c->flush_ns = options->flush_ns;
	c->flush_at = c->start_ns + c->flush_ns;
	c->flush_due = options->flush_due;
	c->sync_ns = c->stage == LPL_STAGE_FILE ? options->sync_ns : 0;
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
	if (options->status_path) {
		error = lpl_status_file_open(&c->status_file, options->status_path, trace, report);
		if (error && options->place && c->complain)	/* who goes on does without */
			c->complain(options->context, report->text);
		else if (error)
			goto failed;
	}
	if (c->stage == LPL_STAGE_FILE) {
		struct lpl_writer_options writing = { .level = options->level,
						      .runs = packs_runs(c),
						      .no_room = wait_for_room, .context = c,
						      .ends_when_full = true };
		struct lpl_meta *meta = lpl_meta_copy(options->meta);

		error = meta ? describe(meta, &c->plan, report) :
			       lpl_fail(report, LPL_ERR_MEMORY, "no memory for the header");
		if (!error && options->segmented)
			error = lpl_guest_keeper_open(&c->guest, report);
		if (!error && options->place)
			error = continue_segments(c, options, meta, &writing, report);
		else if (!error && options->segmented)
			error = lpl_segments_open(&c->segments, options->path, meta, &writing,
						  &c->guest.keeper, options->overwrite, report);
		else if (!error)
			error = lpl_writer_open(&c->writer, options->path, meta, &writing,
						options->overwrite, report);
		if (c->segments)
			c->writer = lpl_segments_writer(c->segments);
		lpl_meta_free(meta);
		if (error)
			goto failed;
	}
	error = lpl_reducer_open(&c->reducer, "none", c->plan.rest,
				 c->writer ? lpl_writer_sink(c->writer) : &c->null, report);
	if (error)
		goto failed;
	c->stream.out = lpl_reducer_sink(c->reducer);
	c->stream.writer = c->writer;
	c->stream.flush = flush;
	c->stream.hear = hear;
	c->stream.between = c->segments ? between : NULL;
	c->stream.context = c;
	c->refs.out = c->stream.out;
	c->refs.writer = c->writer;
	c->refs.tracer_refs = &c->log.tracer_refs;
	lpl_run_refs_init(&c->refs);
	c->log.out = packs_runs(c) ? lpl_writer_runs(c->writer) : &c->refs.sink;
	c->log.writer = packs_runs(c) ? c->writer : NULL;
	c->log.flush = flush;
	c->log.hear = hear;
	c->log.between = c->segments ? between : NULL;
	c->log.context = c;

	int problem = pthread_create(&c->thread, NULL, run, c);
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

uint64_t lpl_collector_place(const struct lpl_collector *c, struct lpl_collector_place *place)
{
	/* the thread wrote it before it counted the flush, and writes nothing until the next */
	(void)atomic_load_explicit(&c->flushes, memory_order_acquire);
	memset(place, 0, sizeof(*place));
	memcpy(place, &c->place, sizeof(c->place));
	return c->place.segment;
}

enum lpl_error lpl_collector_save_guest(struct lpl_collector *c, const char *path,
					struct lpl_report *report)
{
	(void)atomic_load_explicit(&c->flushes, memory_order_acquire);
	return lpl_guest_keeper_save(&c->guest, path, report);
}

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

	lpl_ring_end(c->ring);
	pthread_join(c->thread, NULL);
	error = lpl_collector_failure(c, report);
	struct lpl_totals *totals = totals_of(c);
	totals->tracer_refs = c->has_log ? c->log.tracer_refs : c->stream.tracer_refs;
	if (c->has_log) {
		totals->events = c->log.events;
		totals->recording.sent_refs = c->log.refs;
	}
	totals->recording.instructions =
		atomic_load_explicit(c->has_log ? &c->log.instructions : &c->stream.instructions,
				     memory_order_relaxed);
	/* host time has no place in a run that is to repeat */
	totals->wait_ns = c->flush_ns ? wait_ns(c) : 0;
	totals->recording.elapsed_ns = c->flush_ns ? lpl_now_ns() - c->start_ns : 0;
	if (c->writer && (!error || error == LPL_ERR_FULL)) {
		lpl_writer_totals(c->writer, totals);
		/* the file is complete before anyone is told so */
		if (!error)
			error = lpl_writer_flush(c->writer, report);
	}
	struct lpl_writer *writer = c->writer;
	struct lpl_collector_status last;
	lpl_collector_status(c, &last);
	if (!error && writer)
		tell_all(c, &last, (struct lpl_status_end){ .state = "closing" });
	if (error)
		end = error == LPL_ERR_FULL ? "full" : "error";
	if (writer && (!error || error == LPL_ERR_FULL)) {
		struct lpl_report closed = { .error = LPL_OK };
		enum lpl_error how = c->segments ? lpl_segments_close(c->segments, &closed) :
						   lpl_writer_close(writer, &closed);

		/* of a full disk it is told what became of the trace */
		if (how && report)
			*report = closed;
		if (how)
			end = how == LPL_ERR_FULL ? "full" : "error";
		error = how ? how : error;
		c->writer = NULL;
		c->segments = NULL;
	}
	tell_all(c, &last, (struct lpl_status_end){ "ended", end,
						    error && report ? report->text : message });
	destroy(c);
	return error;
}
