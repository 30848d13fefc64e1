/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Oracles by brute force, and random streams. */
#include "oracle.h"
#include "page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *must(void *memory)
{
	if (memory == NULL) {
		(void)fprintf(stderr, "oracle: no memory\n");
		abort();
	}
	return memory;
}

/* ---- streams ---- */

void stream_clear(struct stream *stream)
{
	stream->count = 0;
	stream->finished = false;
}

void stream_free(struct stream *stream)
{
	free(stream->item);
	*stream = (struct stream){0};
}

static struct item *add(struct stream *stream)
{
	struct item *item;

	if (stream->count == stream->capacity) {
		stream->capacity = stream->capacity == 0 ? 64 : stream->capacity * 2;
		stream->item = must(realloc(stream->item, stream->capacity * sizeof(*item)));
	}
	item = &stream->item[stream->count++];
	memset(item, 0, sizeof(*item));
	return item;
}

void stream_add_ref(struct stream *stream, const struct lpl_ref *ref)
{
	add(stream)->ref = *ref;
}

void stream_add_event(struct stream *stream, const struct lpl_event *event)
{
	struct item *item = add(stream);

	item->is_event = true;
	item->event = *event;
}

static const struct lpl_ref *last_ref(const struct stream *stream)
{
	for (size_t i = stream->count; i-- > 0;)
		if (!stream->item[i].is_event)
			return &stream->item[i].ref;
	return NULL;
}

void stream_add_page(struct stream *stream, uint64_t page, enum lpl_type type)
{
	const struct lpl_ref *last = last_ref(stream);
	struct lpl_ref ref = {
		.ref = last != NULL ? last->ref + 1 : 1,
		.instr = last != NULL ? last->instr + 1 : 1,
		.cycle = last != NULL ? last->cycle + 1 : 1,
		.address = page << 12,
		.space = 7,
		.type = (uint8_t)type,
		.length = 4,
	};

	stream_add_ref(stream, &ref);
}

static enum lpl_error collect_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				   struct lpl_report *report)
{
	struct stream *stream = ((struct collector *)sink)->stream;

	(void)report;
	for (size_t i = 0; i < count; i++)
		stream_add_ref(stream, &refs[i]);
	return 0;
}

static enum lpl_error collect_event(struct lpl_sink *sink, const struct lpl_event *event,
				    struct lpl_report *report)
{
	(void)report;
	stream_add_event(((struct collector *)sink)->stream, event);
	return 0;
}

static enum lpl_error collect_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	(void)report;
	((struct collector *)sink)->stream->finished = true;
	return 0;
}

void collector_init(struct collector *collector, struct stream *stream)
{
	collector->sink = (struct lpl_sink){collect_refs, collect_event, collect_finish};
	collector->stream = stream;
}

enum lpl_error stream_send(const struct stream *stream, struct lpl_sink *sink, size_t batch,
			   struct lpl_report *report)
{
	struct lpl_ref *refs = must(malloc(batch * sizeof(*refs)));
	size_t count = 0;
	enum lpl_error error = LPL_OK;

	for (size_t i = 0; i < stream->count && error == 0; i++) {
		const struct item *item = &stream->item[i];
		bool full = !item->is_event && count == batch;

		if (count != 0 && (item->is_event || full)) {
			error = sink->refs(sink, refs, count, report);
			count = 0;
		}
		if (error != 0)
			break;
		if (item->is_event)
			error = sink->event(sink, &item->event, report);
		else
			refs[count++] = item->ref;
	}
	if (error == 0 && count != 0)
		error = sink->refs(sink, refs, count, report);
	if (error == 0)
		error = sink->finish(sink, report);
	free(refs);
	return error;
}

bool stream_equal(const struct stream *a, const struct stream *b, size_t *place)
{
	for (*place = 0; *place < a->count && *place < b->count; (*place)++) {
		const struct item *x = &a->item[*place];
		const struct item *y = &b->item[*place];

		if (x->is_event != y->is_event)
			return false;
		if (x->is_event ? memcmp(&x->event, &y->event, sizeof(x->event)) != 0 :
		    memcmp(&x->ref, &y->ref, sizeof(x->ref)) != 0)
			return false;
	}
	return a->count == b->count;
}

/* ---- reductions ---- */

/*
 * Block: a reference is dropped if the record just before it is a reference to
 * the same page; the first of such a run is a write if one of the run is.
 */
void oracle_block(const struct stream *in, struct stream *out)
{
	for (size_t i = 0; i < in->count; i++) {
		const struct item *item = &in->item[i];
		bool write = false;

		if (item->is_event) {
			stream_add_event(out, &item->event);
			continue;
		}
		if (i > 0 && !item[-1].is_event && same(&item[-1].ref, &item->ref))
			continue;
		for (size_t j = i; j < in->count && !in->item[j].is_event &&
		     same(&in->item[j].ref, &item->ref); j++)
			write |= is_write(&in->item[j].ref);
		struct lpl_ref kept = paged(item->ref, write);

		stream_add_ref(out, &kept);
	}
}

/* Pages distinct among the references of records [begin, end). */
static uint64_t distinct(const struct stream *in, size_t begin, size_t end)
{
	uint64_t count = 0;

	for (size_t i = begin; i < end; i++) {
		bool new = !in->item[i].is_event;

		for (size_t j = begin; j < i && new; j++)
			new = in->item[j].is_event || !same(&in->item[j].ref, &in->item[i].ref);
		count += new ? 1 : 0;
	}
	return count;
}

/* The kept ones among the records [begin, end), which are one window. */
static void window_keep(const struct stream *in, size_t begin, size_t end, struct stream *out)
{
	for (size_t i = begin; i < end; i++) {
		const struct item *item = &in->item[i];
		bool before = false;	/* is the page referenced before, or after? */
		bool after = false;
		bool write = false;	/* after the first */

		if (item->is_event) {
			stream_add_event(out, &item->event);
			continue;
		}
		for (size_t j = begin; j < end; j++) {
			const struct item *other = &in->item[j];

			if (other->is_event || !same(&other->ref, &item->ref))
				continue;
			if (j > i)
				after = true;
			if (j <= i && before)
				write |= is_write(&other->ref);
			if (j < i)
				before = true;
		}
		if (before && after)
			continue;
		struct lpl_ref kept = paged(item->ref, before && write);

		stream_add_ref(out, &kept);
	}
}

void oracle_window(const struct stream *in, uint32_t pages, struct stream *out)
{
	size_t begin = 0;

	while (begin < in->count) {
		size_t end = begin;
		bool at_event = false;
		unsigned int events = 0;

		for (; end < in->count; end++) {
			const struct item *item = &in->item[end];

			if (item->is_event) {
				at_event = lpl_event_is_fence(item->event.tag) ||
					item->event.tag == LPL_EVENT_TRACING ||
					item->event.tag == LPL_EVENT_GAP ||
					item->event.tag == LPL_EVENT_STATE || ++events == 1024;
				if (at_event)
					break;
			} else if (distinct(in, begin, end + 1) > pages) {
				break;
			}
		}
		window_keep(in, begin, end, out);
		if (at_event)
			stream_add_event(out, &in->item[end++].event);
		begin = end;
	}
}

/* The LRU distance: other pages referenced strictly between two references to a page. */
static uint64_t lru_distance(const struct stream *in, size_t first, size_t third)
{
	uint64_t count = 0;

	for (size_t i = first + 1; i < third; i++) {
		const struct item *item = &in->item[i];
		bool new = !item->is_event && !same(&item->ref, &in->item[first].ref);

		for (size_t j = first + 1; j < i && new; j++)
			new = in->item[j].is_event || !same(&in->item[j].ref, &item->ref);
		count += new ? 1 : 0;
	}
	return count;
}

/* The latest reference before record i to the page of record p that is not dropped. */
static size_t kept_before(const struct stream *in, const bool *dropped, size_t i, size_t p)
{
	while (i-- > 0)
		if (!in->item[i].is_event && !dropped[i] && same(&in->item[i].ref, &in->item[p].ref))
			return i;
	return SIZE_MAX;
}

void oracle_sad(const struct stream *in, uint64_t pages, struct stream *out)
{
	bool *dropped = must(calloc(in->count + 1, sizeof(*dropped)));
	bool *write = must(calloc(in->count + 1, sizeof(*write)));

	for (size_t third = 0; third < in->count; third++) {
		size_t first;
		size_t second;

		if (in->item[third].is_event)
			continue;
		write[third] = is_write(&in->item[third].ref);
		second = kept_before(in, dropped, third, third);
		if (second == SIZE_MAX)
			continue;
		first = kept_before(in, dropped, second, third);
		if (first == SIZE_MAX || lru_distance(in, first, third) >= pages)
			continue;
		dropped[second] = true;
		write[third] |= write[second];
	}
	for (size_t i = 0; i < in->count; i++) {
		if (in->item[i].is_event) {
			stream_add_event(out, &in->item[i].event);
		} else if (!dropped[i]) {
			struct lpl_ref kept = paged(in->item[i].ref, write[i]);

			stream_add_ref(out, &kept);
		}
	}
	free(dropped);
	free(write);
}

/* ---- policies ---- */

void trace_of(const struct stream *in, struct trace *trace)
{
	struct lpl_ref *seen = must(calloc(in->count + 1, sizeof(*seen)));

	*trace = (struct trace){.of = seen};
	trace->page = must(calloc(in->count + 1, sizeof(*trace->page)));
	trace->write = must(calloc(in->count + 1, sizeof(*trace->write)));
	for (size_t i = 0; i < in->count; i++) {
		const struct lpl_ref *ref = &in->item[i].ref;
		uint32_t page = 0;

		if (in->item[i].is_event)
			continue;
		while (page < trace->pages && !same(&seen[page], ref))
			page++;
		seen[page] = *ref;
		if (page == trace->pages)
			trace->pages++;
		trace->page[trace->count] = page;
		trace->write[trace->count] = is_write(ref);
		trace->count++;
	}
}

void trace_free(struct trace *trace)
{
	free(trace->page);
	free(trace->write);
	free(trace->of);
	*trace = (struct trace){0};
}

/* A page in memory. */
struct frame {
	uint32_t page;
	size_t used;		/* the reference that last used it */
	size_t next;		/* that will use it next; SIZE_MAX: none */
	bool dirty;
};

static size_t lru_victim(const struct frame *frame, size_t count)
{
	size_t victim = 0;

	for (size_t i = 1; i < count; i++)
		if (frame[i].used < frame[victim].used)
			victim = i;
	return victim;
}

/* Used furthest in the future; of those never used again the least recently used. */
static size_t opt_victim(const struct frame *frame, size_t count)
{
	size_t victim = 0;

	for (size_t i = 1; i < count; i++)
		if (frame[i].next > frame[victim].next ||
		    (frame[i].next == SIZE_MAX && frame[victim].next == SIZE_MAX &&
		     frame[i].used < frame[victim].used))
			victim = i;
	return victim;
}

/* By reference, the next one to the same page. */
static size_t *next_uses(const struct trace *trace)
{
	size_t *next = must(calloc(trace->count + 1, sizeof(*next)));
	size_t *seen = must(calloc((size_t)trace->pages + 1, sizeof(*seen)));

	for (uint32_t page = 0; page < trace->pages; page++)
		seen[page] = SIZE_MAX;
	for (size_t i = trace->count; i-- > 0;) {
		next[i] = seen[trace->page[i]];
		seen[trace->page[i]] = i;
	}
	free(seen);
	return next;
}

static struct counts simulate(const struct trace *trace, uint64_t size,
			      size_t (*choose)(const struct frame *, size_t))
{
	size_t *next = next_uses(trace);
	struct frame *frame = must(calloc((size_t)trace->pages + 1, sizeof(*frame)));
	size_t *where = must(calloc((size_t)trace->pages + 1, sizeof(*where)));
	struct counts counts = {.references = trace->count};
	size_t used = 0;

	for (uint32_t page = 0; page < trace->pages; page++)
		where[page] = SIZE_MAX;	/* not in memory */
	for (size_t now = 0; now < trace->count; now++) {
		uint32_t page = trace->page[now];
		size_t i = where[page];

		if (i == SIZE_MAX) {
			counts.faults++;
			if (used < size) {
				i = used++;
			} else {
				i = choose(frame, used);
				counts.evictions++;
				counts.dirty_evictions += frame[i].dirty ? 1 : 0;
				where[frame[i].page] = SIZE_MAX;
			}
			frame[i].dirty = false;
			frame[i].page = page;
			where[page] = i;
		}
		frame[i].used = now;
		frame[i].next = next[now];
		frame[i].dirty |= trace->write[now];
	}
	free(frame);
	free(where);
	free(next);
	return counts;
}

struct counts oracle_lru(const struct trace *trace, uint64_t size)
{
	return simulate(trace, size, lru_victim);
}

struct counts oracle_opt(const struct trace *trace, uint64_t size)
{
	return simulate(trace, size, opt_victim);
}

bool counts_equal(struct counts a, struct counts b)
{
	return a.faults == b.faults && a.evictions == b.evictions &&
	       a.dirty_evictions == b.dirty_evictions;
}

/* ---- shrinking ---- */

void stream_shrink(struct stream *stream, bool (*fails)(const struct stream *, void *),
		   void *context)
{
	bool shrunk = true;

	while (shrunk) {
		shrunk = false;
		for (size_t i = stream->count; i-- > 0;) {
			struct item *item = &stream->item[i];
			struct item removed = *item;
			size_t after = stream->count - i - 1;

			memmove(item, item + 1, after * sizeof(*item));
			stream->count--;
			if (fails(stream, context)) {
				shrunk = true;
				continue;
			}
			memmove(item + 1, item, after * sizeof(*item));
			*item = removed;
			stream->count++;
		}
	}
}

void stream_print(const char *what, const struct stream *stream)
{
	(void)fprintf(stderr, "%s:\n", what);
	for (size_t i = 0; i < stream->count; i++) {
		const struct item *item = &stream->item[i];

		if (item->is_event)
			(void)fprintf(stderr, "  event %u after %llu\n", item->event.tag,
				      (unsigned long long)item->event.ref);
		else
			(void)fprintf(stderr, "  %llu: %c %llx:%llx\n",
				      (unsigned long long)item->ref.ref,
				      lpl_type_letter((enum lpl_type)item->ref.type),
				      (unsigned long long)item->ref.space,
				      (unsigned long long)(item->ref.address / 4096));
	}
}

/* ---- random streams ---- */

/* splitmix64 */
uint64_t random_next(struct random *random)
{
	uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

uint32_t random_below(struct random *random, uint32_t limit)
{
	return (uint32_t)(random_next(random) % limit);
}

uint64_t random_seed(void)
{
	const char *text = getenv("LAPLACE_TEST_SEED");

	return text != NULL ? strtoull(text, NULL, 0) : 20021118;
}

/* A page by its number: some are walks, some share their number across spaces. */
static void random_ref(struct random *random, uint64_t page, const struct lpl_ref *before,
		       struct lpl_ref *ref)
{
	static const uint8_t types[] = {LPL_READ, LPL_READ, LPL_WRITE, LPL_FETCH, LPL_FETCH};

	memset(ref, 0, sizeof(*ref));
	ref->ref = (before != NULL ? before->ref : 0) + 1 + random_below(random, 3);
	ref->instr = (before != NULL ? before->instr : 1) + random_below(random, 2);
	ref->cycle = (before != NULL ? before->cycle : 0) + random_below(random, 5);
	ref->length = (uint16_t)(1 + random_below(random, 8));
	ref->address = (page / 2) << 12 | random_below(random, 4096 - ref->length);
	ref->space = 0x1000 + page % 2;
	ref->type = types[random_below(random, sizeof(types))];
	ref->flags = random_below(random, 2) != 0 ? LPL_USER : 0;
	if (random_below(random, 16) == 0)
		ref->flags |= LPL_SECOND;
	if (page % 5 == 4) {	/* a walk: its space is noise */
		ref->type = random_below(random, 4) == 0 ? LPL_WALK_WRITE : LPL_WALK_READ;
		ref->address = page << 12 | 8 * (uint64_t)random_below(random, 512);
		ref->space = 0x1000 + random_below(random, 3);
	}
}

static void random_event(struct random *random, const struct lpl_ref *before,
			 struct lpl_event *event)
{
	static const uint32_t tags[] = {
		KTR_SCHEDULE, KTR_SCHEDULE, KTR_SCHEDULE, KTR_TASK_CREATE, KTR_MARK,
		LPL_EVENT_MARK, KTR_MAP, KTR_COW_BREAK, LPL_EVENT_TRACING, LPL_EVENT_GAP, LPL_EVENT_STATE, 999,
	};

	memset(event, 0, sizeof(*event));
	if (before != NULL) {
		event->ref = before->ref;
		event->instr = before->instr;
		event->cycle = before->cycle;
	}
	event->space = random_below(random, 4) == 0 ? UINT64_MAX : random_below(random, 5);
	event->tag = tags[random_below(random, sizeof(tags) / sizeof(tags[0]))];
	event->tid = (uint32_t)random_next(random);
	event->tgid = random_below(random, 100);
	for (unsigned int i = 0; i < KTR_ARGS; i++)
		if (random_below(random, 2) != 0)
			event->arg[i] = random_next(random) >> random_below(random, 64);
	event->text_length = random_below(random, 8) == 0 ? KTR_TEXT : random_below(random, 9);
	for (uint32_t i = 0; i < event->text_length; i++)
		event->text[i] = (char)random_next(random);
}

/* The i-th page of a shape; `page` is the one before. */
static uint64_t shape_page(struct random *random, enum shape shape, uint32_t pages, size_t i,
			   uint64_t page)
{
	switch (shape) {
	case SHAPE_UNIFORM:
		return random_below(random, 2 * pages + 1);
	case SHAPE_LOOP_K:
		return i % pages;
	case SHAPE_LOOP_K1:
		return i % (pages + 1);
	case SHAPE_RUNS:
		return random_below(random, 10) != 0 ? page : random_below(random, pages + 4);
	case SHAPE_DISTINCT:
		return i + 1000;
	case SHAPE_PHASES:
		return i / (8 * (size_t)pages) * 3 + random_below(random, pages);
	case SHAPE_PALINDROME:
		i %= 4 * (size_t)pages;
		return i < 2 * (size_t)pages ? i : 4 * (size_t)pages - 1 - i;
	case SHAPE_MIXED:
	case SHAPES:
		break;
	}
	return 0;
}

void random_stream(struct random *random, enum shape shape, uint32_t pages, size_t count,
		   bool events, struct stream *stream)
{
	enum shape now = shape;
	uint64_t page = 0;

	for (size_t i = 0; i < count; i++) {
		const struct lpl_ref *before = last_ref(stream);
		struct lpl_ref ref, last;
		struct lpl_event event;

		if (shape == SHAPE_MIXED && (i == 0 || random_below(random, 24) == 0))
			now = random_below(random, SHAPE_MIXED);
		page = shape_page(random, now, pages, i, page);
		random_ref(random, page, before, &ref);
		if (before != NULL) {	/* the stream moves when it grows */
			last = *before;
			before = &last;
		}
		while (events && random_below(random, 12) == 0) {
			random_event(random, before, &event);
			stream_add_event(stream, &event);
		}
		stream_add_ref(stream, &ref);
	}
	if (events && random_below(random, 2) != 0) {
		struct lpl_event event;

		random_event(random, last_ref(stream), &event);
		stream_add_event(stream, &event);
	}
}
