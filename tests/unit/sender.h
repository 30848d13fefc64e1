/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * For the tests of the collector: random streams, sent to it the way collector.h and log.h
 * say that a simulator sends them, and the traces that it makes.  What a window keeps is
 * worked out here, by brute force, from the definition.
 */
#ifndef LAPLACE_TESTS_SENDER_H
#define LAPLACE_TESTS_SENDER_H

#include <inttypes.h>
#include <stdio.h>

#include <laplace/reducer.h>

#include "collect/collector.h"
#include "collect/log.h"
#include "scratch.h"
#include "stream.h"

#define PAGE UINT64_C(4096)
#define SPACES 3
#define WINDOW_PAGES 9		/* most that a window here has */

/* ---- a stream as a simulator sees it ---- */

static inline bool is_walk(const struct lpl_ref *r)
{
	return r->type == LPL_WALK_READ || r->type == LPL_WALK_WRITE;
}

static inline bool is_write(const struct lpl_ref *r)
{
	return r->type == LPL_WRITE || r->type == LPL_WALK_WRITE;
}

/*
 * References are numbered from 1 without a gap; a few pages.  Each fetch is a new instruction's,
 * and nothing else is; before some the processor halts.
 */
static inline void simulate(struct stream *stream, size_t count, uint64_t seed)
{
	uint64_t random = seed, ref = 0, instr = 0, cycle = next_random(&random) % 1000;

	stream_init(stream);
	while (stream->count < count) {
		struct item *item = stream_add(stream);
		uint64_t dice = next_random(&random);

		if (dice % 37 == 0) {
			item->is_event = true;
			random_event(&item->event, &random);
			item->event.ref = ref;
			item->event.instr = instr;
			item->event.cycle = cycle;
			continue;
		}
		struct lpl_ref *r = &item->ref;
		uint64_t offset = next_random(&random) % (PAGE - 15);
		r->type = (uint8_t)(next_random(&random) % LPL_TYPES);
		if (r->type == LPL_FETCH) {
			instr++;
			cycle += 1 + (dice % 20 == 0 ? dice % 100000 : 0);
		}
		r->ref = ++ref;
		r->instr = instr;
		r->cycle = cycle;
		/* the largest address and, below, space there are, too */
		r->address = (UINT64_MAX - PAGE * (next_random(&random) % 7)) / PAGE * PAGE;
		r->address += offset;
		r->length = (uint16_t)(1 + next_random(&random) % (r->type == LPL_FETCH ? 15 : 64));
		if (is_walk(r))		/* by the machine, in no space */
			continue;
		r->space = ((UINT64_C(1) << 46) - 1) >> (next_random(&random) % SPACES * 20);
		r->flags = (uint8_t)(next_random(&random) % (r->type == LPL_FETCH ? 2 : 4));
	}
}

static inline struct kernel_trace_record record_of(const struct lpl_event *event)
{
	struct kernel_trace_record record = {
		.magic = KTR_MAGIC, .version = KTR_VERSION, .size = sizeof(record),
		.tag = event->tag, .tid = event->tid, .tgid = event->tgid,
		.space = event->space, .text_length = event->text_length,
	};

	memcpy(record.arg, event->arg, sizeof(record.arg));
	memcpy(record.text, event->text, event->text_length);
	return record;
}

/* ---- logging every reference ---- */

struct logger {
	struct lpl_log log;
	struct lpl_log_time now;	/* of what was logged last */
	uint64_t space;
	bool user;
};

static inline void logger_open(struct logger *l, struct lpl_collector *collector)
{
	memset(l, 0, sizeof(*l));
	assert_true(lpl_log_open(&l->log, lpl_collector_ring(collector)));
	l->log.base = 0;		/* addresses are sent as they are */
	lpl_log_switch(&l->log, l->now, LPL_LOG_ON);
}

/* The end of the recording; nothing of it was refused. */
static inline void logger_close(struct logger *l)
{
	lpl_log_switch(&l->log, l->now, LPL_LOG_OFF);
	lpl_log_totals(&l->log, l->now.instr);
	assert_false(l->log.failed);
	lpl_log_close(&l->log);
}

static inline void log_state(struct logger *l, const struct lpl_ref *r)
{
	const bool user = (r->flags & LPL_USER) != 0;

	if (user != l->user)
		lpl_log_mode(&l->log, l->now, user);
	if (r->space != l->space)
		lpl_log_space(&l->log, l->now, r->space);
	l->user = user;
	l->space = r->space;
}

/* A trace of one instruction. */
static inline void log_fetch(struct logger *l, const struct lpl_ref *r)
{
	const uint8_t length = (uint8_t)r->length;
	bool forgot;
	uint32_t id;

	lpl_log_room_for_trace(&l->log, r->instr);
	id = lpl_log_define(&l->log, r->instr, r->address, 1, &length, &forgot);
	assert_int_not_equal(id, 0);
	assert_false(forgot);
	lpl_log_word(&l->log, id, r->instr, LPL_LOG_TRACE);
	l->now.executing = true;
}

static inline void log_ref(struct logger *l, const struct lpl_ref *r)
{
	if (r->type == LPL_FETCH)
		l->now = (struct lpl_log_time){ r->instr, false };
	lpl_log_offset(&l->log, r->instr, r->instr, r->cycle - r->instr);
	if (!is_walk(r))
		log_state(l, r);
	if (r->type == LPL_FETCH)
		log_fetch(l, r);
	else if (is_walk(r))
		lpl_log_walk(&l->log, r->instr, r->address, r->length, is_write(r), r->flags & LPL_WALK_FLAGS);
	else
		lpl_log_data(&l->log, r->instr, r->address, r->length,
			     (is_write(r) ? LPL_LOG_WRITE : 0) |
			     (r->flags & LPL_SECOND ? LPL_LOG_SECOND : 0));
}

static inline void log_item(struct logger *l, const struct item *item)
{
	struct kernel_trace_record record;

	if (!item->is_event) {
		log_ref(l, &item->ref);
		return;
	}
	record = record_of(&item->event);
	lpl_log_offset(&l->log, item->event.instr, item->event.instr,
		       item->event.cycle - item->event.instr);
	lpl_log_event(&l->log, l->now, &record);
}

/* References of the tracer's own. */
static inline void log_left_out(struct logger *l, unsigned int references)
{
	lpl_log_switch(&l->log, l->now, LPL_LOG_SUPPRESS);
	while (references-- > 0)
		lpl_log_data(&l->log, l->now.instr, 0, 1, 0);
	lpl_log_switch(&l->log, l->now, LPL_LOG_RESUME);
}

/* All of it, flushed now and then. */
static inline void log_stream(struct logger *l, const struct stream *stream)
{
	for (size_t i = 0; i < stream->count; i++) {
		log_item(l, &stream->items[i]);
		if (i % 1000 == 999)
			lpl_log_flush(&l->log, l->now);
	}
}

/* ---- sending windows ---- */

static inline uint64_t number(const struct lpl_ref *r)
{
	return r->ref << 3 | (r->flags & LPL_USER ? 4 : 0) |
	       (is_walk(r) ? r->type - LPL_WALK_READ : r->type);
}

static inline bool put(struct lpl_ring *ring, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	struct lpl_ring_record *record = lpl_ring_reserve(ring);

	if (!record)
		return false;
	*record = (struct lpl_ring_record){ { a, b, c, d } };
	lpl_ring_commit(ring);
	return true;
}

static inline void put_event(struct lpl_ring *ring, const struct lpl_event *event)
{
	struct lpl_ring_record parts[LPL_WIRE_EVENT_RECORDS];
	const struct kernel_trace_record record = record_of(event);

	memset(parts, 0xa5, sizeof(parts));
	memcpy(parts, &record, sizeof(record));
	assert_true(put(ring, event->ref, event->instr, event->cycle,
			LPL_WIRE_KIND(LPL_WIRE_EVENT) | LPL_WIRE_EVENT_RECORDS));
	for (size_t i = 0; i < LPL_WIRE_EVENT_RECORDS; i++)
		assert_true(put(ring, parts[i].word[0], parts[i].word[1], parts[i].word[2],
				parts[i].word[3]));
}

/* A sender of windows.  For each event the tracer leaves out 3 references of its own. */
struct sender {
	struct lpl_ring *ring;
	uint64_t tracer_refs;
};

/* A page of a window, by its first and last reference. */
struct page {
	struct lpl_ref first, last;
	bool wrote;		/* after the first */
};

static inline bool same_page(const struct lpl_ref *a, const struct lpl_ref *b)
{
	return a->space == b->space && a->address / PAGE == b->address / PAGE &&
	       is_walk(a) == is_walk(b);
}

static inline void keep(struct stream *kept, struct lpl_ref r, bool wrote)
{
	if (wrote)
		r.type = is_walk(&r) ? LPL_WALK_WRITE : LPL_WRITE;
	r.flags = (r.flags & LPL_USER) | LPL_PAGED;
	r.address = r.address / PAGE * PAGE;
	r.length = 0;
	stream_add(kept)->ref = r;
}

/* Items first to end - 1 are one window: send it, and add what it keeps to `kept`. */
static inline void put_window(struct sender *sender, const struct stream *stream, size_t first,
			      size_t end, struct stream *kept, uint64_t *random)
{
	struct lpl_ring *ring = sender->ring;
	struct page page[WINDOW_PAGES];
	uint64_t references = 0;
	size_t pages = 0;

	for (size_t i = first; i < end; i++) {
		const struct lpl_ref *r = &stream->items[i].ref;
		size_t p = 0;

		if (stream->items[i].is_event) {
			references = stream->items[i].event.ref;
			sender->tracer_refs += 3;
			assert_true(put(ring, references, sender->tracer_refs, 0,
					LPL_WIRE_KIND(LPL_WIRE_TOTALS)));
			put_event(ring, &stream->items[i].event);
			continue;
		}
		references = r->ref;
		while (p < pages && !same_page(&page[p].first, r))
			p++;
		if (p == pages)
			page[pages++] = (struct page){ *r, *r, false };
		else
			page[p] = (struct page){ page[p].first, *r, page[p].wrote || is_write(r) };
	}
	for (size_t i = first; i < end; i++) {
		if (stream->items[i].is_event)
			*stream_add(kept) = stream->items[i];
		for (size_t p = 0; p < pages && !stream->items[i].is_event; p++) {
			if (page[p].first.ref == stream->items[i].ref.ref)
				keep(kept, page[p].first, false);
			else if (page[p].last.ref == stream->items[i].ref.ref)
				keep(kept, page[p].last, page[p].wrote);
		}
	}
	while (pages > 0) {		/* in any order */
		size_t p = next_random(random) % pages;
		const struct page *q = &page[p];

		assert_true(put(ring, number(&q->first), q->first.instr, q->first.cycle,
				LPL_WIRE_KIND(LPL_WIRE_PAGE) | q->first.address / PAGE));
		assert_true(put(ring, number(&q->last), q->last.instr, q->last.cycle,
				q->last.space | (is_walk(&q->last) ? LPL_WIRE_WALK : 0) |
				(q->wrote ? LPL_WIRE_WROTE : 0)));
		page[p] = page[--pages];
	}
	assert_true(put(ring, references, sender->tracer_refs, 0,
			LPL_WIRE_KIND(LPL_WIRE_WINDOW)));
}

/* Windows of random lengths; of few pages, since there are few. */
static inline void put_windows(struct sender *sender, const struct stream *stream,
			       struct stream *kept, uint64_t seed)
{
	uint64_t random = seed;

	stream_init(kept);
	for (size_t first = 0; first < stream->count;) {
		size_t most = 1 + next_random(&random) % (seed % 2 ? WINDOW_PAGES : 200), end = first;
		const struct lpl_ref *seen[WINDOW_PAGES];
		size_t pages = 0;

		for (; end < stream->count && end - first < most; end++) {
			size_t p = 0;

			if (stream->items[end].is_event)
				continue;
			while (p < pages && !same_page(seen[p], &stream->items[end].ref))
				p++;
			if (p == WINDOW_PAGES)
				break;
			if (p == pages)
				seen[pages++] = &stream->items[end].ref;
		}
		put_window(sender, stream, first, end, kept, &random);
		first = end;
	}
}

/* ---- collecting and reading ---- */

/* Of `asked` only what is about flushes is taken. */
static inline struct lpl_collector *start_flushing(const char *spec, const char *path,
						   enum lpl_stage stage, int status_fd,
						   const struct lpl_collector_options *asked)
{
	struct lpl_meta *meta = lpl_meta_new();
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_plan plan;
	struct lpl_collector_options options = {
		.path = path, .plan = &plan, .meta = meta, .stage = stage,
		.ring_records = 1024, .status_fd = status_fd, .overwrite = true,
		.flush_ns = asked->flush_ns, .flush_due = asked->flush_due,
		.context = asked->context,
	};
	struct lpl_collector *collector = NULL;

	assert_non_null(meta);
	assert_int_equal(lpl_meta_set(meta, LPL_META_TITLE, "a test"), LPL_OK);
	if (lpl_plan_parse(&plan, spec, &report) != LPL_OK)
		fail_msg("%s", report.text);
	options.log = plan.window == 0;
	if (lpl_collector_open(&collector, &options, &report) != LPL_OK)
		fail_msg("%s", report.text);
	lpl_meta_free(meta);
	return collector;
}

static inline struct lpl_collector *start(const char *spec, const char *path,
					  enum lpl_stage stage, int status_fd)
{
	return start_flushing(spec, path, stage, status_fd, &(struct lpl_collector_options){ 0 });
}

static inline void finish(struct lpl_collector *collector)
{
	struct lpl_report report = { .error = LPL_OK };

	if (lpl_collector_close(collector, "clean", NULL, &report) != LPL_OK)
		fail_msg("%s", report.text);
}

struct trace {
	struct stream stream;
	struct lpl_totals totals;
	char reduction[LPL_SPEC_SIZE], title[32], page_size[24];
};

static inline void read_trace(struct trace *trace, const char *path)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_reader *reader = NULL;

	stream_init(&trace->stream);
	if (lpl_reader_open(&reader, path, &report) != LPL_OK ||
	    lpl_reader_run(reader, &trace->stream.sink, &report) != LPL_OK)
		fail_msg("%s", report.text);
	assert_true(lpl_reader_complete(reader));
	trace->totals = *lpl_reader_totals(reader);
	(void)snprintf(trace->reduction, sizeof(trace->reduction), "%s",
		       lpl_meta_get(lpl_reader_meta(reader), LPL_META_REDUCTION));
	(void)snprintf(trace->title, sizeof(trace->title), "%s",
		       lpl_meta_get(lpl_reader_meta(reader), LPL_META_TITLE));
	(void)snprintf(trace->page_size, sizeof(trace->page_size), "%s",
		       lpl_meta_get(lpl_reader_meta(reader), LPL_META_PAGE_SIZE));
	lpl_reader_close(reader);
}

static inline void assert_same(const struct stream *expected, const struct stream *found,
			uint64_t seed)
{
	size_t where = stream_difference(expected, found, expected->count);

	if (where != expected->count || found->count != expected->count)
		fail_msg("seed %" PRIu64 ": of %zu and %zu records number %zu differs", seed,
			 expected->count, found->count, where);
}

/* By type and mode: all of them are there to be counted. */
static inline struct lpl_totals count(const struct stream *stream)
{
	struct lpl_totals totals = { .total = 0 };

	for (size_t i = 0; i < stream->count; i++)
		if (!stream->items[i].is_event) {
			totals.total++;
			totals.refs[stream->items[i].ref.type]++;
			totals.user_refs += (stream->items[i].ref.flags & LPL_USER) != 0;
		}
	return totals;
}

#endif
