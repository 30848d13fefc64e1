/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reductions flushed in mid-stream, as reducer.h promises: what was sent so far can be
 * read, what comes is reduced as if the stream began there or as if nothing had
 * been, and what was exact is exact.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trial.h"

#include <inttypes.h>
#include <stdio.h>

enum { CUTS = 8 };	/* most flushes of a stream */

/* A stream, and before which of its records the reducer is flushed, in order. */
struct cut_stream {
	struct stream in;
	size_t cut[CUTS + 1];	/* the last is the stream's end */
	unsigned int cuts;
	uint64_t seed;
	unsigned int number;
};

static void make(struct cut_stream *cut, uint64_t seed, unsigned int number, bool events)
{
	struct random random = {seed + number};

	*cut = (struct cut_stream){.seed = seed, .number = number};
	random_stream(&random, number % SHAPES, 1 + random_below(&random, 12),
		      1 + random_below(&random, 300), events, &cut->in);
	/* flushes may come at once one after the other, at the very beginning, or at the end */
	for (size_t at = 0; cut->cuts < CUTS; cut->cuts++) {
		at += random_below(&random, (uint32_t)cut->in.count / 3 + 2);
		if (at > cut->in.count)
			break;
		cut->cut[cut->cuts] = at;
	}
	cut->cut[cut->cuts] = cut->in.count;
}

static void send(struct lpl_sink *sink, const struct item *item, size_t count)
{
	struct lpl_report report = {0};

	for (size_t i = 0; i < count; i++)
		assert_int_equal(item[i].is_event ? sink->event(sink, &item[i].event, &report) :
				 sink->refs(sink, &item[i].ref, 1, &report), LPL_OK);
}

static void fail_at(const struct cut_stream *cut, const char *spec, unsigned int part)
{
	stream_print(spec, &cut->in);
	fail_msg("%s: seed %" PRIu64 ", stream %u, flush %u before record %zu", spec, cut->seed,
		 cut->number, part, cut->cut[part]);
}

/* Called after each flush, and at the end with part == cut->cuts. */
typedef void check(const struct cut_stream *cut, const char *spec, unsigned int part,
		   const struct stream *out);

static void reduce_flushed(const struct cut_stream *cut, const char *spec, struct stream *out,
			   check *check)
{
	struct lpl_report report = {0};
	struct lpl_reducer *reducer;
	struct collector collector;
	struct lpl_sink *sink;
	size_t at = 0;

	collector_init(&collector, out);
	assert_int_equal(lpl_reducer_open(&reducer, NULL, spec, &collector.sink, &report), LPL_OK);
	sink = lpl_reducer_sink(reducer);
	for (unsigned int part = 0; part <= cut->cuts; part++) {
		send(sink, cut->in.item + at, cut->cut[part] - at);
		at = cut->cut[part];
		if (part < cut->cuts)
			assert_int_equal(lpl_reducer_flush(reducer, &report), LPL_OK);
		else
			assert_int_equal(sink->finish(sink, &report), LPL_OK);
		assert_int_equal(out->finished, part == cut->cuts);
		if (check)
			check(cut, spec, part, out);
	}
	lpl_reducer_close(reducer);
}

/* ---- what begins anew ---- */

/* The parts up to this one, each reduced by itself, one after the other. */
static void expect_parts(const struct cut_stream *cut, const char *spec, unsigned int part,
			 const struct stream *out)
{
	struct stream expected = {0};
	size_t at = 0, place;

	for (unsigned int i = 0; i <= part; i++) {
		struct stream piece = {.item = cut->in.item + at, .count = cut->cut[i] - at};

		reduce_stream(spec, &piece, 1, &expected);
		at = cut->cut[i];
	}
	if (!stream_equal(&expected, out, &place))
		fail_at(cut, spec, part);
	stream_free(&expected);
}

static void begins_anew(void **state)
{
	/* fenced forms on streams without events, as what events say survives a flush */
	static const struct {
		const char *spec;
		bool events;
	} methods[] = {
		{"none", true}, {"block", true}, {"block:8192", true}, {"window:1", true},
		{"window:4", true}, {"sad:1", true}, {"sad:4", true}, {"sad:4+sad:2", true},
		{"sad-ws:3", true}, {"sad-ws:30", true}, {"block+sad-ws:9", true},
		{"window:4+sad:4", false}, {"fence+sad:3", false}, {"fence+sad-ws:9", false},
	};
	const uint64_t seed = random_seed();

	(void)state;
	for (unsigned int number = 0; number < 400; number++) {
		for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
			struct cut_stream cut;
			struct stream out = {0};

			make(&cut, seed, number, methods[i].events);
			reduce_flushed(&cut, methods[i].spec, &out, expect_parts);
			stream_free(&out);
			stream_free(&cut.in);
		}
	}
}

/* ---- what goes on ---- */

static void goes_on(void **state)
{
	static const char *const specs[] = {
		"sd:3", "irg:5", "lrubs:3", "annotated:3", "olr:1", "olr:4", "sad2-fix:3", "lrubs:4+olr:4",
	};
	const uint64_t seed = random_seed();

	(void)state;
	for (unsigned int number = 0; number < 400; number++) {
		for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
			struct cut_stream cut;
			struct stream out = {0}, whole = {0};
			size_t place;

			make(&cut, seed, number, true);
			reduce_flushed(&cut, specs[i], &out, NULL);
			reduce_stream(specs[i], &cut.in, 64, &whole);
			if (!stream_equal(&whole, &out, &place))
				fail_at(&cut, specs[i], cut.cuts);
			stream_free(&whole);
			stream_free(&out);
			stream_free(&cut.in);
		}
	}
}

/* ---- nothing is held back ---- */

/* The latest record has been passed on: the latest reference, and all events. */
static void expect_latest(const struct cut_stream *cut, const char *spec, unsigned int part,
			  const struct stream *out)
{
	uint64_t sent = 0, got = 0;
	size_t events_sent = 0, events_got = 0;

	for (size_t i = 0; i < cut->cut[part]; i++) {
		events_sent += cut->in.item[i].is_event;
		if (!cut->in.item[i].is_event)
			sent = cut->in.item[i].ref.ref;
	}
	for (size_t i = 0; i < out->count; i++) {
		events_got += out->item[i].is_event;
		if (!out->item[i].is_event)
			got = out->item[i].ref.ref;
	}
	if (sent != got || events_sent != events_got)
		fail_at(cut, spec, part);
}

static void nothing_is_held_back(void **state)
{
	static const char *const specs[] = {
		"none", "window:3", "sad:3", "sad-ws:7", "sad2:3", "glass-cao:9", "window:3+sad:3",
		"fence+sad:3", "fence+sad-ws:9", "sad:3+sad2:3",
	};
	const uint64_t seed = random_seed();

	(void)state;
	for (unsigned int number = 0; number < 400; number++) {
		for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
			struct cut_stream cut;
			struct stream out = {0};

			make(&cut, seed, number, true);
			reduce_flushed(&cut, specs[i], &out, expect_latest);
			stream_free(&out);
			stream_free(&cut.in);
		}
	}
}

/* ---- exactness ---- */

static bool same_counts(const struct stream *in, const struct stream *out, uint64_t size, bool opt)
{
	struct trace before, after;
	struct counts a, b;

	trace_of(in, &before);
	trace_of(out, &after);
	a = opt ? oracle_opt(&before, size) : oracle_lru(&before, size);
	b = opt ? oracle_opt(&after, size) : oracle_lru(&after, size);
	trace_free(&before);
	trace_free(&after);
	return counts_equal(a, b);
}

static void remains_exact(void **state)
{
	static const struct {
		const char *spec;
		uint64_t from;		/* pages */
		bool opt;
	} methods[] = {
		{"block", 1, true}, {"window:3", 3, true}, {"sad:1", 1, true}, {"sad:4", 4, true},
		{"sad-ws:4", 4, true}, {"window:4+sad:4", 4, true}, {"fence+sad:4", 4, true},
		{"sad2:3", 3, false}, {"sad:4+sad2:4", 4, false}, {"sad2-fix:3", 3, false},
		{"olr:3", 3, false},
	};
	const uint64_t seed = random_seed();

	(void)state;
	for (unsigned int number = 0; number < 300; number++) {
		for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
			struct cut_stream cut;
			struct stream out = {0};

			make(&cut, seed, number, true);
			reduce_flushed(&cut, methods[i].spec, &out, NULL);
			for (uint64_t size = methods[i].from; size <= 14; size++) {
				if (!same_counts(&cut.in, &out, size, false) ||
				    (methods[i].opt && !same_counts(&cut.in, &out, size, true)))
					fail_at(&cut, methods[i].spec, cut.cuts);
			}
			stream_free(&out);
			stream_free(&cut.in);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(begins_anew),
		cmocka_unit_test(goes_on),
		cmocka_unit_test(nothing_is_held_back),
		cmocka_unit_test(remains_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
