/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Random streams of references and events for tests of trace files: made from a
 * seed, sent to a sink, collected from one, compared field by field.
 */
#ifndef LAPLACE_TESTS_STREAM_H
#define LAPLACE_TESTS_STREAM_H

#include <stdlib.h>
#include <string.h>

#include <laplace/error.h>
#include <laplace/record.h>

struct stream {
	struct lpl_sink sink;	/* first: appends what it is sent */
	struct item {
		bool is_event;
		union {
			struct lpl_ref ref;
			struct lpl_event event;
		};
	} *items;
	size_t count, room;
	bool finished;
};

static inline uint64_t next_random(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static inline struct item *stream_add(struct stream *stream)
{
	if (stream->count == stream->room) {
		stream->room = stream->room ? 2 * stream->room : 1024;
		stream->items = realloc(stream->items, stream->room * sizeof(*stream->items));
		if (!stream->items)
			abort();
	}
	memset(&stream->items[stream->count], 0, sizeof(*stream->items));
	return &stream->items[stream->count++];
}

static inline enum lpl_error stream_take_refs(struct lpl_sink *sink, const struct lpl_ref *refs,
					      size_t count, struct lpl_report *report)
{
	(void)report;
	for (size_t i = 0; i < count; i++)
		stream_add((struct stream *)sink)->ref = refs[i];
	return LPL_OK;
}

static inline enum lpl_error stream_take_event(struct lpl_sink *sink, const struct lpl_event *event,
					       struct lpl_report *report)
{
	struct item *item = stream_add((struct stream *)sink);

	(void)report;
	item->is_event = true;
	item->event = *event;
	return LPL_OK;
}

static inline enum lpl_error stream_take_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	(void)report;
	((struct stream *)sink)->finished = true;
	return LPL_OK;
}

static inline void stream_init(struct stream *stream)
{
	memset(stream, 0, sizeof(*stream));
	stream->sink.refs = stream_take_refs;
	stream->sink.event = stream_take_event;
	stream->sink.finish = stream_take_finish;
}

static inline void stream_free(struct stream *stream)
{
	free(stream->items);
	stream_init(stream);
}

enum stream_style {
	STREAM_RAW,	/* as a simulator sends it */
	STREAM_PAGED,	/* as a reducer does */
	STREAM_WILD,	/* all that is allowed */
	STREAM_STYLES
};

static inline void random_event(struct lpl_event *event, uint64_t *state)
{
	event->tag = next_random(state) % 8 ? (uint32_t)(next_random(state) % KTR_TAGS)
					    : (uint32_t)next_random(state);
	event->tid = (uint32_t)(next_random(state) >> (32 + next_random(state) % 32));
	event->tgid = (uint32_t)(next_random(state) >> (32 + next_random(state) % 32));
	event->space = next_random(state) >> (next_random(state) % 64);
	for (unsigned int i = 0; i < KTR_ARGS; i++)
		if (next_random(state) % 2)
			event->arg[i] = next_random(state) >> (next_random(state) % 64);
	event->text_length = (uint32_t)(next_random(state) % 4 ? next_random(state) % 20
							       : next_random(state) %
								 (KTR_TEXT + 1));
	for (uint32_t i = 0; i < event->text_length; i++)
		event->text[i] = (char)next_random(state);
}

static inline void stream_random(struct stream *stream, size_t count, enum stream_style style,
				 uint64_t seed)
{
	uint64_t state = seed, ref = 0, instr = 0, cycle = next_random(&state) % 1000000;
	uint64_t space = 5, address = 0x400000;

	stream_init(stream);
	while (stream->count < count) {
		uint64_t dice = next_random(&state);
		struct item *item = stream_add(stream);
		struct lpl_ref *r = &item->ref;
		uint64_t step = style == STREAM_WILD ? dice >> (34 + dice % 30) : dice % 4 == 0;

		if (dice % (style == STREAM_RAW ? 97 : 11) == 0) {
			item->is_event = true;
			random_event(&item->event, &state);
			if (style != STREAM_RAW) {	/* references were left out before it */
				ref += next_random(&state) % 3;
				instr += step;
				cycle += step + next_random(&state) % 2;
			}
			item->event.ref = ref;
			item->event.instr = instr;
			item->event.cycle = cycle;
			continue;
		}
		ref += style == STREAM_RAW ? 1 : 1 + step;
		instr += step;
		cycle += style == STREAM_WILD ? next_random(&state) >> (40 + dice % 24) : step;
		if (next_random(&state) % 50 == 0)
			space = next_random(&state) >> (style == STREAM_WILD ? 0 : 44);
		if (next_random(&state) % 5 == 0)
			address = next_random(&state) >> (style == STREAM_WILD ? 0 : 30);
		r->ref = ref;
		r->instr = instr;
		r->cycle = cycle;
		r->space = space;
		r->type = (uint8_t)(next_random(&state) % (style == STREAM_RAW ? 3 : LPL_TYPES));
		r->flags = (uint8_t)(next_random(&state) % 4);
		r->address = address;
		if (style == STREAM_PAGED || (style == STREAM_WILD && dice >> 63)) {
			r->flags |= LPL_PAGED;
			r->address &= ~(uint64_t)4095;
		} else {
			r->length = (uint16_t)(1 + next_random(&state) %
					       (style == STREAM_WILD ? 4096 : 16));
			address += r->length;
		}
	}
}

/* Send the items from `first` on, in batches of random sizes. */
static inline enum lpl_error stream_send(const struct stream *stream, size_t first, size_t count,
					 struct lpl_sink *sink, uint64_t batches,
					 struct lpl_report *report)
{
	struct lpl_ref batch[700];
	size_t end = first + count;
	enum lpl_error error = LPL_OK;

	for (size_t i = first; i < end && error == LPL_OK;) {
		size_t most = 1 + next_random(&batches) % 700, n = 0;

		while (i < end && n < most && !stream->items[i].is_event)
			batch[n++] = stream->items[i++].ref;
		if (n > 0)
			error = sink->refs(sink, batch, n, report);
		else
			error = sink->event(sink, &stream->items[i++].event, report);
	}
	return error;
}

/* The first item in which the streams differ; `count` when none does. */
static inline size_t stream_difference(const struct stream *a, const struct stream *b,
				       size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct item *x = &a->items[i], *y = &b->items[i];
		const struct lpl_ref *r = &x->ref, *s = &y->ref;
		const struct lpl_event *e = &x->event, *f = &y->event;

		if (i >= a->count || i >= b->count || x->is_event != y->is_event)
			return i;
		if (!x->is_event &&
		    (r->ref != s->ref || r->instr != s->instr || r->cycle != s->cycle ||
		     r->address != s->address || r->space != s->space || r->type != s->type ||
		     r->flags != s->flags || r->length != s->length ||
		     r->reserved != s->reserved))
			return i;
		if (x->is_event &&
		    (e->ref != f->ref || e->instr != f->instr || e->cycle != f->cycle ||
		     e->space != f->space || e->tag != f->tag || e->tid != f->tid ||
		     e->tgid != f->tgid || e->text_length != f->text_length ||
		     memcmp(e->arg, f->arg, sizeof(e->arg)) != 0 ||
		     memcmp(e->text, f->text, e->text_length) != 0))
			return i;
	}
	return count;
}

#endif
