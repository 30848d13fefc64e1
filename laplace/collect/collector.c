/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The collector's thread: ring records become references and events in order,
 * pass the reducers and end in the trace file.
 *
 * Order.  With every reference sent, the ring's order is the trace's.  With
 * windows, a window's pages come together at its end, each with its first and
 * last reference, and events may have come before them: so a window is
 * gathered, sorted by reference number, and passed on with its events in
 * between.  An event with ref == r stands after reference r.  Memory is bounded
 * by the window: 2K references and LPL_WINDOW_EVENTS events.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <laplace/collector.h>
#include <laplace/reducer.h>

#define BLOCK 4096		/* references passed on together when all are sent */
#define STATUS_NS 500000000U
#define LOOK_NS 50000000U	/* how long the clock may go unnoticed */

/* An event, and what the tracer had left out by then. */
struct waiting {
	struct lpl_event event;
	uint64_t tracer_refs;
};

struct lpl_collector {
	struct lpl_plan plan;
	enum lpl_stage stage;
	struct lpl_ring *ring;
	struct lpl_writer *writer;	/* NULL unless the stage is FILE */
	struct lpl_reducer *reducer;
	struct lpl_sink *out;		/* the reducer's, where the stream goes */
	struct lpl_sink null;		/* the end of the stream without a file */

	pthread_t thread;
	bool running;
	struct lpl_report report;	/* the thread's; read after join or `failed` */
	_Atomic bool failed;

	/* the thread's own */
	struct lpl_ref *ref;		/* the current window or block */
	size_t refs, capacity;
	size_t block;			/* references to be passed on together */
	struct waiting *event;		/* of the current window, in order */
	size_t events, event_capacity;
	uint64_t cycle_offset;
	struct lpl_ring_record half;	/* the first half of a PAGE */
	bool have_half;
	struct lpl_event pending;	/* an EVENT whose payload is arriving */
	struct kernel_trace_record payload;
	size_t payload_records, payload_got;
	struct lpl_totals totals;	/* as of what was passed on */
	uint64_t tracer_refs;		/* as of now */

	/* for status(), written by the thread */
	_Atomic uint64_t references, instructions, event_count, flushes;

	int status_fd;
	uint64_t start_ns, status_at;
	uint64_t flush_ns, flush_at;
	void (*flush_due)(void *context);
	void *context;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

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

/* ---- from ring records to the stream ---- */

/*
 * Totals.  A chunk's are exact as of its last record, so the writer is told before
 * each part of the stream what will hold once it has that part.  References are
 * counted when they come and passed on no later than a chunk is full; events, and
 * what the tracer left out, are counted as they are passed on.
 */
static void tell_totals(struct lpl_collector *c)
{
	if (c->writer)
		lpl_writer_totals(c->writer, &c->totals);
}

static struct lpl_ref *new_ref(struct lpl_collector *c)
{
	if (c->refs == c->capacity) {
		size_t capacity = c->capacity ? c->capacity * 2 : BLOCK;
		struct lpl_ref *grown = realloc(c->ref, capacity * sizeof(*grown));

		if (!grown)
			return NULL;
		c->ref = grown;
		c->capacity = capacity;
	}
	return &c->ref[c->refs++];
}

static enum lpl_error no_memory(struct lpl_collector *c)
{
	return lpl_fail(&c->report, LPL_ERR_MEMORY, "no memory for a window of %zu references",
			c->refs);
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = ((const struct lpl_ref *)a)->ref, y = ((const struct lpl_ref *)b)->ref;

	return (x > y) - (x < y);
}

/* Pass on what was gathered: references by number, events in their places. */
static enum lpl_error pass_on(struct lpl_collector *c)
{
	enum lpl_error error = LPL_OK;
	size_t done = 0;

	if (c->plan.window)
		qsort(c->ref, c->refs, sizeof(*c->ref), by_number);
	atomic_store_explicit(&c->references, c->totals.total, memory_order_relaxed);
	tell_totals(c);
	for (size_t e = 0; e < c->events && !error; e++) {
		const struct waiting *next = &c->event[e];
		size_t upto = done;

		while (upto < c->refs && c->ref[upto].ref <= next->event.ref)
			upto++;
		if (upto > done)
			error = c->out->refs(c->out, c->ref + done, upto - done, &c->report);
		c->totals.events++;
		c->totals.tracer_refs = next->tracer_refs;
		tell_totals(c);
		if (!error)
			error = c->out->event(c->out, &next->event, &c->report);
		done = upto;
	}
	if (!error && done < c->refs)
		error = c->out->refs(c->out, c->ref + done, c->refs - done, &c->report);
	c->refs = c->events = 0;
	c->block = c->writer ? lpl_writer_room(c->writer) : BLOCK;
	if (c->block > BLOCK)
		c->block = BLOCK;
	return error;
}

static uint8_t type_of(uint64_t number, bool walk)
{
	return (uint8_t)(walk ? LPL_WALK_READ + (number & 1) : number & 3);
}

static enum lpl_error take_ref(struct lpl_collector *c, const struct lpl_ring_record *r)
{
	struct lpl_ref *ref = new_ref(c);
	uint64_t w = r->word[3];

	if (!ref)
		return no_memory(c);
	*ref = (struct lpl_ref){
		.ref = r->word[0] >> 3,
		.instr = r->word[1],
		.cycle = r->word[1] + c->cycle_offset,
		.address = r->word[2],
		.space = w & LPL_WIRE_SPACE,
		.type = type_of(r->word[0], w & LPL_WIRE_WALK),
		.flags = (uint8_t)((r->word[0] & 4 ? LPL_USER : 0) |
				   (w & LPL_WIRE_SECOND ? LPL_SECOND : 0)),
		.length = (w >> LPL_WIRE_LENGTH_SHIFT) & 0xff,
	};
	c->totals.refs[ref->type]++;
	c->totals.user_refs += !!(ref->flags & LPL_USER);
	c->totals.total = ref->ref;
	return c->refs < c->block ? LPL_OK : pass_on(c);
}

/* A page of a window: its first reference, and its last if that is another. */
static enum lpl_error take_page(struct lpl_collector *c, const struct lpl_ring_record *a,
				const struct lpl_ring_record *b)
{
	uint64_t w = b->word[3];
	bool walk = w & LPL_WIRE_WALK;
	struct lpl_ref *ref = new_ref(c);

	if (!ref)
		return no_memory(c);
	*ref = (struct lpl_ref){
		.ref = a->word[0] >> 3,
		.instr = a->word[1],
		.cycle = a->word[2],
		.address = a->word[3] << LPL_PAGE_SHIFT,
		.space = w & LPL_WIRE_SPACE,
		.type = type_of(a->word[0], walk),
		.flags = LPL_PAGED | (a->word[0] & 4 ? LPL_USER : 0),
	};
	if (b->word[0] >> 3 == a->word[0] >> 3)
		return LPL_OK;

	uint64_t address = ref->address, space = ref->space;
	ref = new_ref(c);
	if (!ref)
		return no_memory(c);
	*ref = (struct lpl_ref){
		.ref = b->word[0] >> 3,
		.instr = b->word[1],
		.cycle = b->word[2],
		.address = address,
		.space = space,
		.type = type_of(b->word[0], walk),
		.flags = LPL_PAGED | (b->word[0] & 4 ? LPL_USER : 0),
	};
	if (w & LPL_WIRE_WROTE)		/* it stands for the writes before it too */
		ref->type = walk ? LPL_WALK_WRITE : LPL_WRITE;
	return LPL_OK;
}

static enum lpl_error event_complete(struct lpl_collector *c)
{
	struct lpl_event *event;

	if (c->events == c->event_capacity) {
		size_t capacity = c->event_capacity ? c->event_capacity * 2 : 64;
		struct waiting *grown = realloc(c->event, capacity * sizeof(*grown));

		if (!grown)
			return lpl_fail(&c->report, LPL_ERR_MEMORY, "no memory for %zu events",
					capacity);
		c->event = grown;
		c->event_capacity = capacity;
	}
	c->event[c->events].tracer_refs = c->tracer_refs;
	event = &c->event[c->events++].event;
	*event = c->pending;
	event->space = c->payload.space;
	memcpy(event->arg, c->payload.arg, sizeof(event->arg));
	event->tag = c->payload.tag;
	event->tid = c->payload.tid;
	event->tgid = c->payload.tgid;
	event->text_length = c->payload.text_length;
	memcpy(event->text, c->payload.text, sizeof(event->text));
	atomic_fetch_add_explicit(&c->event_count, 1, memory_order_relaxed);
	return c->plan.window ? LPL_OK : pass_on(c);
}

static enum lpl_error take_payload(struct lpl_collector *c, const struct lpl_ring_record *r)
{
	size_t offset = c->payload_got * sizeof(*r);
	size_t left = sizeof(c->payload) - offset;

	memcpy((char *)&c->payload + offset, r, left < sizeof(*r) ? left : sizeof(*r));
	if (++c->payload_got < c->payload_records)
		return LPL_OK;
	c->payload_records = 0;
	return event_complete(c);
}

static void take_totals(struct lpl_collector *c, const struct lpl_ring_record *r)
{
	c->totals.total = r->word[0];
	c->tracer_refs = r->word[1];
	atomic_store_explicit(&c->references, r->word[0], memory_order_relaxed);
	atomic_store_explicit(&c->instructions, r->word[2], memory_order_relaxed);
}

/* All that came is told, as far as the reduction allows, and handed to the system. */
static enum lpl_error flush(struct lpl_collector *c)
{
	enum lpl_error error = c->plan.window ? LPL_OK : pass_on(c);

	if (!error)
		error = lpl_reducer_flush(c->reducer, &c->report);
	if (!error && c->writer)
		error = lpl_writer_flush(c->writer, &c->report);
	c->flush_at = now_ns() + c->flush_ns;
	atomic_fetch_add_explicit(&c->flushes, 1, memory_order_relaxed);
	return error;
}

static enum lpl_error take(struct lpl_collector *c, const struct lpl_ring_record *r)
{
	if (c->payload_records)
		return take_payload(c, r);
	if (c->have_half) {
		c->have_half = false;
		return take_page(c, &c->half, r);
	}
	switch (r->word[3] >> 56) {
	case LPL_WIRE_REF:
		atomic_store_explicit(&c->instructions, r->word[1], memory_order_relaxed);
		return take_ref(c, r);
	case LPL_WIRE_PAGE:
		c->half = *r;
		c->half.word[3] &= ~LPL_WIRE_KIND(0xff);
		c->have_half = true;
		return LPL_OK;
	case LPL_WIRE_WINDOW:
		take_totals(c, r);
		return pass_on(c);
	case LPL_WIRE_OFFSET:
		c->cycle_offset = r->word[0];
		return LPL_OK;
	case LPL_WIRE_EVENT:
		c->pending = (struct lpl_event){ .ref = r->word[0], .instr = r->word[1],
						 .cycle = r->word[2] };
		c->payload_records = LPL_WIRE_EVENT_RECORDS;
		c->payload_got = 0;
		return LPL_OK;
	case LPL_WIRE_TOTALS:
		take_totals(c, r);
		return LPL_OK;
	case LPL_WIRE_FLUSH:
		return flush(c);
	default:
		return lpl_fail(&c->report, LPL_ERR_INTERNAL, "ring record of kind %u",
				(unsigned)(r->word[3] >> 56));
	}
}

/* ---- status ---- */

void lpl_collector_status(const struct lpl_collector *c, struct lpl_collector_status *status)
{
	/* in this order: no more can be kept than there were */
	const uint64_t kept = c->writer ? lpl_writer_refs(c->writer) : 0;

	atomic_thread_fence(memory_order_acquire);
	*status = (struct lpl_collector_status){
		.references = atomic_load_explicit(&c->references, memory_order_relaxed),
		.instructions = atomic_load_explicit(&c->instructions, memory_order_relaxed),
		.events = atomic_load_explicit(&c->event_count, memory_order_relaxed),
		.kept = kept,
		.bytes = c->writer ? lpl_writer_bytes(c->writer) : 0,
		.wait_ns = lpl_ring_wait_ns(c->ring),
		.elapsed_ns = now_ns() - c->start_ns,
		.flushes = atomic_load_explicit(&c->flushes, memory_order_relaxed),
	};
}

/* One JSON object and a newline; a reader that went away is not our trouble. */
static void tell_status(struct lpl_collector *c, const char *state, const char *end,
			const char *message)
{
	struct lpl_collector_status s;
	char line[1024], quoted[600];
	size_t n = 0;

	if (c->status_fd < 0)
		return;
	lpl_collector_status(c, &s);
	for (const char *p = message ? message : ""; *p && n < sizeof(quoted) - 8; p++) {
		if (*p == '"' || *p == '\\')
			quoted[n++] = '\\';
		quoted[n++] = (unsigned char)*p < ' ' ? ' ' : *p;
	}
	quoted[n] = '\0';
	int length = snprintf(line, sizeof(line),
		"{\"state\":\"%s\",%s%s%s\"message\":\"%s\",\"instructions\":%llu,"
		"\"references\":%llu,\"kept\":%llu,\"events\":%llu,\"bytes\":%llu,"
		"\"wait_ns\":%llu,\"elapsed_ns\":%llu}\n",
		state, end ? "\"end\":\"" : "", end ? end : "", end ? "\"," : "", quoted,
		(unsigned long long)s.instructions, (unsigned long long)s.references,
		(unsigned long long)s.kept, (unsigned long long)s.events,
		(unsigned long long)s.bytes, (unsigned long long)s.wait_ns,
		(unsigned long long)s.elapsed_ns);
	const char *p = line;
	while (length > 0) {
		ssize_t written = write(c->status_fd, p, (size_t)length);

		if (written < 0) {
			if (errno == EINTR)
				continue;
			c->status_fd = -1;
			break;
		}
		p += written;
		length -= (int)written;
	}
}

/* ---- the thread ---- */

/* What has to be done from time to time. */
static void look_at_clock(struct lpl_collector *c)
{
	uint64_t now = now_ns();

	if (c->status_fd >= 0 && now >= c->status_at) {
		tell_status(c, "running", NULL, NULL);
		c->status_at = now + STATUS_NS;
	}
	if (c->flush_ns && now >= c->flush_at) {
		c->flush_due(c->context);
		c->flush_at = now + LOOK_NS;
	}
}

static enum lpl_error drain(struct lpl_collector *c)
{
	const bool timed = c->status_fd >= 0 || c->flush_ns;
	const struct lpl_ring_record *r;
	size_t ready;

	while ((ready = lpl_ring_peek(c->ring, timed ? LOOK_NS : LPL_RING_FOREVER, &r)) > 0 ||
	       !lpl_ring_over(c->ring)) {
		enum lpl_error error = LPL_OK;

		if (ready > BLOCK)	/* give room back while working */
			ready = BLOCK;
		for (size_t i = 0; i < ready && !error && c->stage != LPL_STAGE_RING; i++)
			error = take(c, &r[i]);
		if (error)
			return error;
		lpl_ring_release(c->ring, ready);
		if (timed)
			look_at_clock(c);
	}
	enum lpl_error error = pass_on(c);
	return error ? error : (enum lpl_error)c->out->finish(c->out, &c->report);
}

static void *run(void *argument)
{
	struct lpl_collector *c = argument;

	if (drain(c)) {
		atomic_store_explicit(&c->failed, true, memory_order_release);
		lpl_ring_abort(c->ring);
	}
	return NULL;
}

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

static void destroy(struct lpl_collector *c)
{
	lpl_writer_abandon(c->writer);
	lpl_reducer_close(c->reducer);
	lpl_ring_free(c->ring);
	free(c->ref);
	free(c->event);
	free(c);
}

enum lpl_error lpl_collector_open(struct lpl_collector **collector,
				  const struct lpl_collector_options *options,
				  struct lpl_report *report)
{
	struct lpl_collector *c = calloc(1, sizeof(*c));
	enum lpl_error error;

	*collector = NULL;
	if (!c)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for the collector");
	c->plan = *options->plan;
	c->stage = options->stage;
	c->status_fd = options->status_fd;
	c->start_ns = now_ns();
	c->flush_ns = options->flush_ns;
	c->flush_at = c->start_ns + c->flush_ns;
	c->flush_due = options->flush_due;
	c->context = options->context;
	c->block = BLOCK;
	c->null = (struct lpl_sink){ null_refs, null_event, null_finish };
	c->ring = lpl_ring_new(options->ring_records ? options->ring_records : 65536);
	if (!c->ring) {
		error = lpl_fail(report, LPL_ERR_MEMORY, "no memory for the ring");
		goto failed;
	}
	if (c->stage == LPL_STAGE_FILE) {
		struct lpl_writer_options writing = { .level = options->level };
		struct lpl_meta *meta = lpl_meta_copy(options->meta);

		error = meta ? describe(meta, &c->plan, report) :
			       lpl_fail(report, LPL_ERR_MEMORY, "no memory for the header");
		if (!error)
			error = lpl_writer_open(&c->writer, options->path, meta, &writing,
						options->overwrite, report);
		lpl_meta_free(meta);
		if (error)
			goto failed;
	}
	error = lpl_reducer_open(&c->reducer, "none", c->plan.rest,
				 c->writer ? lpl_writer_sink(c->writer) : &c->null, report);
	if (error)
		goto failed;
	c->out = lpl_reducer_sink(c->reducer);

	int problem = pthread_create(&c->thread, NULL, run, c);
	if (problem) {
		errno = problem;
		error = lpl_fail(report, LPL_ERR_IO, "cannot start the collector's thread");
		goto failed;
	}
	c->running = true;
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
	c->totals.tracer_refs = c->tracer_refs;
	c->totals.wait_ns = c->flush_ns ? lpl_ring_wait_ns(c->ring) : 0;
	if (c->writer && !error) {
		tell_totals(c);
		/* the file is complete before anyone is told so */
		error = lpl_writer_flush(c->writer, report);
	}
	struct lpl_writer *writer = c->writer;
	if (!error && writer)
		tell_status(c, "closing", NULL, NULL);
	tell_status(c, "ended", error ? "error" : end, error && report ? report->text : message);
	c->writer = NULL;
	if (writer && !error)
		error = lpl_writer_close(writer, report);
	else
		lpl_writer_abandon(writer);
	destroy(c);
	return error;
}
