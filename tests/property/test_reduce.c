/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reducers against their definitions, record for record, and against what they
 * promise: LRU and OPT fault, evict and write back the same on the reduced trace,
 * for every memory from K pages on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- equal to the definitions ---- */

static void by_none(const struct stream *in, const struct trial *trial, struct stream *out)
{
	(void)trial;
	for (size_t i = 0; i < in->count; i++) {
		if (in->item[i].is_event)
			stream_add_event(out, &in->item[i].event);
		else
			stream_add_ref(out, &in->item[i].ref);
	}
}

static void by_block(const struct stream *in, const struct trial *trial, struct stream *out)
{
	(void)trial;
	oracle_block(in, out);
}

static void by_window(const struct stream *in, const struct trial *trial, struct stream *out)
{
	oracle_window(in, (uint32_t)trial->number, out);
}

static void by_sad(const struct stream *in, const struct trial *trial, struct stream *out)
{
	oracle_sad(in, (uint32_t)trial->number, out);
}

static void by_window_sad(const struct stream *in, const struct trial *trial, struct stream *out)
{
	struct stream between = {0};

	by_window(in, trial, &between);
	oracle_fenced(&between, oracle_sad, (uint32_t)trial->number, out);
	stream_free(&between);
}

static void by_block_sad(const struct stream *in, const struct trial *trial, struct stream *out)
{
	struct stream between = {0};

	oracle_block(in, &between);
	by_sad(&between, trial, out);
	stream_free(&between);
}

static const struct {
	const char *form;	/* %1$u: K */
	void (*oracle)(const struct stream *in, const struct trial *trial, struct stream *out);
	bool every_size;	/* exact below K, too */
} methods[] = {
	{"none", by_none, true},
	{"block", by_block, true},
	{"window:%1$u", by_window, false},
	{"sad:%1$u", by_sad, false},
	{"window:%1$u+sad:%1$u", by_window_sad, false},
	{"block+sad:%1$u", by_block_sad, false},
};
enum { METHODS = sizeof(methods) / sizeof(methods[0]) };

static void write_spec(char spec[64], size_t method, uint32_t pages)
{
	(void)snprintf(spec, 64, methods[method].form, pages);
}

static void test_definitions(void **state)
{
	uint64_t seed = random_seed();
	struct random random = {seed};
	struct stream in = {0};

	(void)state;
	for (unsigned int number = 0; number < 3000; number++) {
		uint32_t pages = 1 + random_below(&random, 8);
		enum shape shape = number % SHAPES;
		size_t count = random_below(&random, 120);

		stream_clear(&in);
		random_stream(&random, shape, pages, count, number % 3 != 0, &in);
		for (size_t method = 0; method < METHODS; method++) {
			char spec[64];
			struct trial trial = {
				.spec = spec,
				.batch = 1 + random_below(&random, 40),
				.oracle = methods[method].oracle,
				.number = pages,
			};

			write_spec(spec, method, pages);
			expect_not(differs_from_oracle, &in, &trial, seed, number);
		}
	}
	stream_free(&in);
}

/* ---- exact ---- */

/* Does the reduction show at this size? */
static bool shows(const struct trace *before, const struct trace *after, uint64_t size)
{
	return !counts_equal(oracle_lru(before, size), oracle_lru(after, size)) ||
	       !counts_equal(oracle_opt(before, size), oracle_opt(after, size));
}

static void traces(const struct stream *in, const struct trial *trial, struct trace *before,
		   struct trace *after)
{
	struct stream original = {0};
	struct stream reduced = {0};

	before_and_after(in, trial, &original, &reduced);
	trace_of(&original, before);
	trace_of(&reduced, after);
	stream_free(&original);
	stream_free(&reduced);
}

static bool is_inexact(const struct stream *in, void *context)
{
	const struct trial *trial = context;
	struct trace before;
	struct trace after;
	bool inexact;

	traces(in, trial, &before, &after);
	inexact = before.pages != after.pages;
	for (uint64_t size = trial->number; size <= before.pages + 1U && !inexact; size++)
		inexact = shows(&before, &after, size);
	trace_free(&before);
	trace_free(&after);
	return inexact;
}

/* Sizes below K at which the reduction shows: it may, and a test that could not
 * see it would prove nothing. */
static unsigned int sizes_it_shows(const struct stream *in, const struct trial *trial)
{
	struct trace before;
	struct trace after;
	unsigned int count = 0;

	traces(in, trial, &before, &after);
	for (uint64_t size = 1; size < trial->number; size++)
		count += shows(&before, &after, size) ? 1 : 0;
	trace_free(&before);
	trace_free(&after);
	return count;
}

static void test_exactness(void **state)
{
	uint64_t seed = random_seed();
	struct random random = {seed + 1};
	struct stream in = {0};
	unsigned int shown[METHODS] = {0};

	(void)state;
	for (unsigned int number = 0; number < 2000; number++) {
		uint32_t pages = 1 + random_below(&random, 8);
		enum shape shape = number % SHAPES;

		stream_clear(&in);
		random_stream(&random, shape, pages, random_below(&random, 150),
			      number % 3 != 0, &in);
		for (size_t method = 0; method < METHODS; method++) {
			char spec[64];
			struct trial trial = {
				.spec = spec,
				.batch = 64,
				.number = methods[method].every_size ? 1 : pages,
				.merged = number % 4 == 0 ? 1 + random_below(&random, 20) : 0,
			};

			write_spec(spec, method, pages);
			expect_not(is_inexact, &in, &trial, seed, number);
			shown[method] += sizes_it_shows(&in, &trial);
		}
	}
	stream_free(&in);
	for (size_t method = 0; method < METHODS; method++)
		assert_true(methods[method].every_size || shown[method] > 100);
}

/* ---- examples ---- */

static void test_examples(void **state)
{
	(void)state;
	/* the paper, section 3.3 */
	expect_pages("sad:2", "ABCBCBA", "ABCCBA");
	/* figure 1: dropped at five pages, not at four */
	expect_pages("sad:5", "ABCADEA", "ABCDEA");
	expect_pages("sad:4", "ABCADEA", "ABCADEA");
	/* one page, over and over */
	expect_pages("sad:1", "AAAAAA", "AA");
	expect_pages("sad:1", "AA", "AA");
	expect_pages("window:1", "AAAAAA", "AA");
	expect_pages("block", "AAAAAA", "A");
	expect_pages("window:2", "ABABCCCA", "ABABCCA");
	expect_pages("window:3", "ABABCCCA", "ABBCCA");
	expect_pages("block", "ABBAACA", "ABACA");
	expect_pages("none", "ABBAACA", "ABBAACA");
	expect_pages("block+window:2+sad:2", "AABABBBA", "ABBA");
	for (size_t method = 0; method < METHODS; method++) {
		char spec[64];

		write_spec(spec, method, 16777216);
		expect_pages(spec, "", "");
		expect_pages(spec, "A", "A");
	}
}

/* A page's types along the way: what was dropped as a write comes out as one. */
static void expect_types(const char *spec, const char *in, const char *expected)
{
	static const char letters[] = "rwipq";
	struct stream stream = {0};
	struct stream out = {0};
	char got[64] = "";

	for (const char *type = in; *type != '\0'; type++)
		stream_add_page(&stream, 5,
				(enum lpl_type)(strchr(letters, *type) - letters));
	reduce_stream(spec, &stream, 64, &out);
	for (size_t i = 0; i < out.count; i++)
		got[i] = letters[out.item[i].ref.type];
	assert_string_equal(got, expected);
	stream_free(&stream);
	stream_free(&out);
}

static void test_dirtiness(void **state)
{
	(void)state;
	expect_types("sad:4", "rrr", "rr");
	expect_types("sad:4", "rwr", "rw");
	expect_types("sad:4", "wrr", "wr");
	expect_types("sad:4", "iwii", "iw");
	expect_types("sad:4", "pqpp", "pq");
	expect_types("window:4", "wrrr", "wr");
	expect_types("window:4", "iiwi", "iw");
	expect_types("window:4", "w", "w");
	expect_types("window:4", "pqp", "pq");
	expect_types("block", "irwi", "w");
	expect_types("block", "pqp", "q");
	/* a walk's page is not the data page of that number */
	expect_types("block", "rpr", "rpr");
	expect_types("sad:1", "rprpr", "rprpr");
}

/* ---- events ---- */

static void add_event(struct stream *stream, uint32_t tag, uint64_t number)
{
	struct lpl_event event = {.tag = tag, .arg = {[11] = number}, .text_length = 2,
				  .text = "\xff\n"};

	stream_add_event(stream, &event);
}

/* The 1024th event of a window ends it; it counts in neither window. */
static void test_window_events(void **state)
{
	struct trial trial = {
		.spec = "window:4", .batch = 16, .oracle = by_window, .number = 4,
	};
	struct stream in = {0};
	struct stream out = {0};
	size_t refs = 0;

	(void)state;
	for (unsigned int i = 0; i < 4 * 1024; i++) {
		stream_add_page(&in, 1, LPL_READ);
		add_event(&in, KTR_SCHEDULE, i);
	}
	reduce_stream("window:4", &in, 16, &out);
	for (size_t i = 0; i < out.count; i++)
		refs += out.item[i].is_event ? 0 : 1;
	/* four windows of two references each, a fifth that is empty */
	assert_int_equal(refs, 8);
	assert_int_equal(out.count - refs, 4 * 1024);
	stream_free(&out);
	assert_false(differs_from_oracle(&in, &trial));

	/* events count when no reference has come yet, and a fence starts anew */
	stream_clear(&in);
	for (unsigned int i = 0; i < 1000; i++)
		add_event(&in, KTR_SCHEDULE, i);
	stream_add_page(&in, 1, LPL_READ);
	for (unsigned int i = 0; i < 30; i++) {
		add_event(&in, KTR_SCHEDULE, i);
		stream_add_page(&in, 1, LPL_WRITE);
	}
	add_event(&in, KTR_MAP, 0);
	for (unsigned int i = 0; i < 1030; i++) {
		stream_add_page(&in, 1, LPL_FETCH);
		add_event(&in, KTR_SCHEDULE, i);
	}
	assert_false(differs_from_oracle(&in, &trial));
	stream_free(&in);
}

/* Events wait as long as the trace has no more than K pages, however many events they are. */
static void test_sad_events(void **state)
{
	struct stream in = {0};
	struct stream out = {0};
	size_t events = 0;

	(void)state;
	for (unsigned int i = 0; i < 20000; i++) {
		stream_add_page(&in, i % 3, LPL_READ);
		add_event(&in, KTR_SCHEDULE, (uint64_t)i << 20);
	}
	reduce_stream("sad:3", &in, 16, &out);
	for (size_t i = 0; i < out.count; i++) {
		if (!out.item[i].is_event)
			continue;
		assert_int_equal(out.item[i].event.arg[11], (uint64_t)events << 20);
		events++;
	}
	assert_int_equal(events, 20000);
	/* first and last of each page */
	assert_int_equal(out.count - events, 6);
	assert_int_equal(out.item[out.count - 2].ref.ref, 20000);
	stream_free(&in);
	stream_free(&out);
}

/* An error of the next stage comes back unchanged, and at once. */
static void test_errors(void **state)
{
	struct lpl_sink full = {.refs = refuse_refs};
	struct stream in = {0};

	(void)state;
	for (unsigned int i = 0; i < 5000; i++)
		stream_add_page(&in, i % 100, LPL_READ);
	for (size_t method = 0; method < METHODS; method++) {
		struct lpl_report report = {0};
		struct lpl_reducer *reducer;
		char spec[64];

		write_spec(spec, method, 3);
		assert_int_equal(lpl_reducer_open(&reducer, NULL, spec, &full, &report), LPL_OK);
		assert_int_equal(stream_send(&in, lpl_reducer_sink(reducer), 64, &report),
				 LPL_ERR_FULL);
		lpl_reducer_close(reducer);
	}
	stream_free(&in);
	lpl_reducer_close(NULL);
}

/* ---- SPECs ---- */

static void test_specs(void **state)
{
	static const char *const bad[] = {
		"", "+", "sad", "sad:", "sad:0", "sad:16777217", "sad:99999999999999999999",
		"sad:-1", "sad:+1", "sad: 1", "sad:1k", "sad:1:2", "block:1", "none:1", "nonesuch",
		"sad:1+", "+sad:1", "sad:1++block", "SAD:1", "sad3:64", "window", " none", "none ",
	};
	struct collector collector;
	struct stream out = {0};
	char longest[2 * LPL_SPEC_SIZE];
	struct lpl_exactness exactness;

	(void)state;
	collector_init(&collector, &out);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct lpl_report report = {0};
		struct lpl_reducer *reducer = (struct lpl_reducer *)&report;

		assert_int_equal(lpl_reducer_open(&reducer, NULL, bad[i], &collector.sink, &report),
				 LPL_ERR_USAGE);
		assert_null(reducer);
		assert_non_null(strstr(report.text, "window:K"));
		assert_false(lpl_reduction_exactness(bad[i], &exactness));
		assert_int_equal(exactness.lru, 0);
	}
	for (size_t i = 0; i < sizeof(longest); i++)
		longest[i] = "none+"[i % 5];
	longest[5 * (LPL_SPEC_SIZE / 5) - 1] = '\0';	/* 254 characters */
	assert_true(lpl_reduction_exactness(longest, &exactness));
	longest[5 * (LPL_SPEC_SIZE / 5) - 1] = '+';
	longest[5 * (LPL_SPEC_SIZE / 5) + 4] = '\0';
	assert_false(lpl_reduction_exactness(longest, &exactness));
}

static void expect_description(const char *before, const char *spec, const char *reduction,
			       const char *exact)
{
	struct lpl_report report = {0};
	char got_reduction[LPL_SPEC_SIZE];
	char got_exact[LPL_SPEC_SIZE];

	assert_int_equal(lpl_reducer_describe(before, spec, got_reduction, got_exact, &report),
			 LPL_OK);
	assert_string_equal(got_reduction, reduction);
	assert_string_equal(got_exact, exact);
}

static void expect_exactness(const char *reduction, uint64_t lru, uint64_t opt,
			     uint64_t demand, uint64_t ws)
{
	struct lpl_exactness exactness;

	assert_true(lpl_reduction_exactness(reduction, &exactness));
	assert_int_equal(exactness.lru, lru);
	assert_int_equal(exactness.opt, opt);
	assert_int_equal(exactness.demand, demand);
	assert_int_equal(exactness.ws, ws);
}

static void test_descriptions(void **state)
{
	struct lpl_exactness exactness;
	struct lpl_report report = {0};
	char reduction[LPL_SPEC_SIZE];
	char exact[LPL_SPEC_SIZE];
	char longest[LPL_SPEC_SIZE];

	(void)state;
	expect_description("none", "none", "none", "all");
	expect_description(NULL, "none+none", "none", "all");
	expect_description("none", "block", "block", "all but ws,vmin");
	expect_description("none", "sad:0064", "sad:64", "lru,opt from 64 pages");
	expect_description("window:64", "sad:8", "window:64+unfence+sad:8", "lru,opt from 64 pages");
	expect_description("block", "none+sad:8+none", "block+sad:8", "lru,opt from 8 pages");
	expect_description("sad:9", "none", "sad:9", "lru,opt from 9 pages");
	expect_description("later:64", "sad:8", "later:64+sad:8", "unknown");
	assert_int_equal(lpl_reducer_describe("none", "sad", reduction, exact, &report),
			 LPL_ERR_USAGE);
	for (size_t i = 0; i < sizeof(longest); i++)
		longest[i] = "block+"[i % 6];
	longest[6 * (LPL_SPEC_SIZE / 6) - 1] = '\0';
	expect_description("none", longest, longest, "all but ws,vmin");
	report = (struct lpl_report){0};
	assert_int_equal(lpl_reducer_describe(longest, "sad:8", reduction, exact, &report),
			 LPL_ERR_USAGE);
	expect_exactness(NULL, 1, 1, 1, 1);
	expect_exactness("none", 1, 1, 1, 1);
	expect_exactness("block", 1, 1, 1, 0);
	expect_exactness("window:64+sad:128", 128, 128, 0, 0);
	expect_exactness("sad:16777216", 16777216, 16777216, 0, 0);
	assert_false(lpl_reduction_exactness("later:64", &exactness));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_specs),
		cmocka_unit_test(test_descriptions),
		cmocka_unit_test(test_examples),
		cmocka_unit_test(test_dirtiness),
		cmocka_unit_test(test_window_events),
		cmocka_unit_test(test_sad_events),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_definitions),
		cmocka_unit_test(test_exactness),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
