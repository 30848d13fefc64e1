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

#include <laplace/reducer.h>

#include "oracle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void reduce(const char *spec, const struct stream *in, size_t batch, struct stream *out)
{
	struct lpl_report report = {0};
	struct lpl_reducer *reducer;
	struct collector collector;

	collector_init(&collector, out);
	assert_int_equal(lpl_reducer_open(&reducer, NULL, spec, &collector.sink, &report), LPL_OK);
	assert_int_equal(stream_send(in, lpl_reducer_sink(reducer), batch, &report), LPL_OK);
	assert_true(out->finished);
	lpl_reducer_close(reducer);
}

/* ---- equal to the definitions ---- */

enum method { NONE, BLOCK, WINDOW, SAD, WINDOW_SAD, BLOCK_SAD, METHODS };

static void write_spec(char *spec, size_t size, enum method method, uint32_t pages)
{
	static const char *const specs[METHODS] = {
		[NONE] = "none", [BLOCK] = "block", [WINDOW] = "window:%u", [SAD] = "sad:%u",
		[WINDOW_SAD] = "window:%u+sad:%u", [BLOCK_SAD] = "block+sad:%u",
	};
	size_t used = 0;

	/* each "%u" stands for K */
	for (const char *from = specs[method]; *from != '\0'; from++) {
		if (*from == '%') {
			used += (size_t)snprintf(spec + used, size - used, "%u", pages);
			from++;
		} else {
			spec[used++] = *from;
		}
	}
	spec[used] = '\0';
}

static void oracle(const struct stream *in, enum method method, uint32_t pages,
		   struct stream *out)
{
	struct stream between = {0};

	switch (method) {
	case NONE:
		for (size_t i = 0; i < in->count; i++) {
			if (in->item[i].is_event)
				stream_add_event(out, &in->item[i].event);
			else
				stream_add_ref(out, &in->item[i].ref);
		}
		break;
	case BLOCK:
		oracle_block(in, out);
		break;
	case WINDOW:
		oracle_window(in, pages, out);
		break;
	case SAD:
		oracle_sad(in, pages, out);
		break;
	case WINDOW_SAD:
		oracle_window(in, pages, &between);
		oracle_fenced(&between, oracle_sad, pages, out);
		break;
	case BLOCK_SAD:
		oracle_block(in, &between);
		oracle_sad(&between, pages, out);
		break;
	case METHODS:
		break;
	}
	stream_free(&between);
}

struct trial {
	enum method method;
	uint32_t pages;
	size_t batch;
	uint32_t merged;	/* pages are told apart modulo this; 0: not merged */
};

static bool differs_from_oracle(const struct stream *in, void *context)
{
	const struct trial *trial = context;
	struct stream expected = {0};
	struct stream got = {0};
	char spec[64];
	size_t place;
	bool differs;

	write_spec(spec, sizeof(spec), trial->method, trial->pages);
	oracle(in, trial->method, trial->pages, &expected);
	reduce(spec, in, trial->batch, &got);
	differs = !stream_equal(&expected, &got, &place);
	stream_free(&expected);
	stream_free(&got);
	return differs;
}

/* Check one property on one stream; when it does not hold, say on which. */
static void expect_not(bool (*fails)(const struct stream *, void *), struct stream *in,
		       struct trial *trial, uint64_t seed, unsigned int number)
{
	char spec[64];
	struct stream got = {0};

	if (!fails(in, trial))
		return;
	stream_shrink(in, fails, trial);
	write_spec(spec, sizeof(spec), trial->method, trial->pages);
	reduce(spec, in, trial->batch, &got);
	(void)fprintf(stderr, "LAPLACE_TEST_SEED=%llu, case %u, %s, merged to %u:\n",
		      (unsigned long long)seed, number, spec, trial->merged);
	stream_print("this stream", in);
	stream_print("is reduced to", &got);
	stream_free(&got);
	fail();
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
		for (enum method method = 0; method < METHODS; method++) {
			struct trial trial = {method, pages, 1 + random_below(&random, 40), 0};

			expect_not(differs_from_oracle, &in, &trial, seed, number);
		}
	}
	stream_free(&in);
}

/* ---- exact ---- */

/* Map pages to fewer, as the discovery of what is shared does. */
static void merge_pages(struct stream *stream, uint32_t to)
{
	for (size_t i = 0; i < stream->count; i++) {
		struct lpl_ref *ref = &stream->item[i].ref;
		bool walk = ref->type == LPL_WALK_READ || ref->type == LPL_WALK_WRITE;

		if (stream->item[i].is_event)
			continue;
		ref->address = (ref->address / 4096 * 7 + (walk ? 3 : ref->space)) % to * 4096;
		ref->space = 0;
	}
}

static uint32_t exact_from(const struct trial *trial)
{
	return trial->method == NONE || trial->method == BLOCK ? 1 : trial->pages;
}

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
	char spec[64];

	write_spec(spec, sizeof(spec), trial->method, trial->pages);
	reduce(spec, in, trial->batch, &reduced);
	reduce("none", in, trial->batch, &original);
	if (trial->merged != 0) {
		merge_pages(&original, trial->merged);
		merge_pages(&reduced, trial->merged);
	}
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
	for (uint64_t size = exact_from(trial); size <= before.pages + 1U && !inexact; size++)
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
	for (uint64_t size = 1; size < exact_from(trial); size++)
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
		for (enum method method = BLOCK; method < METHODS; method++) {
			uint32_t merged = number % 4 == 0 ? 1 + random_below(&random, 20) : 0;
			struct trial trial = {method, pages, 64, merged};

			expect_not(is_inexact, &in, &trial, seed, number);
			shown[method] += sizes_it_shows(&in, &trial);
		}
	}
	stream_free(&in);
	for (enum method method = WINDOW; method < METHODS; method++)
		assert_true(shown[method] > 100);
}

/* ---- examples ---- */

static void expect_pages(const char *spec, const char *in, const char *expected)
{
	struct stream stream = {0};
	struct stream out = {0};
	char got[64] = "";

	for (const char *page = in; *page != '\0'; page++)
		stream_add_page(&stream, (uint64_t)*page, LPL_READ);
	reduce(spec, &stream, 3, &out);
	for (size_t i = 0; i < out.count; i++)
		got[i] = (char)(out.item[i].ref.address / 4096);
	assert_string_equal(got, expected);
	stream_free(&stream);
	stream_free(&out);
}

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
	for (enum method method = 0; method < METHODS; method++) {
		char spec[64];

		write_spec(spec, sizeof(spec), method, 16777216);
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
	reduce(spec, &stream, 64, &out);
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
	struct trial trial = {WINDOW, 4, 16, 0};
	struct stream in = {0};
	struct stream out = {0};
	size_t refs = 0;

	(void)state;
	for (unsigned int i = 0; i < 4 * 1024; i++) {
		stream_add_page(&in, 1, LPL_READ);
		add_event(&in, KTR_SCHEDULE, i);
	}
	reduce("window:4", &in, 16, &out);
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

/* Events wait as long as the trace stays within K pages, however many. */
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
	reduce("sad:3", &in, 16, &out);
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
static int refuse_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
		       struct lpl_report *report)
{
	(void)sink;
	(void)refs;
	(void)count;
	return lpl_fail(report, LPL_ERR_FULL, "no");
}

static void test_errors(void **state)
{
	struct lpl_sink full = {.refs = refuse_refs};
	struct stream in = {0};

	(void)state;
	for (unsigned int i = 0; i < 5000; i++)
		stream_add_page(&in, i % 100, LPL_READ);
	for (enum method method = 0; method < METHODS; method++) {
		struct lpl_report report = {0};
		struct lpl_reducer *reducer;
		char spec[64];

		write_spec(spec, sizeof(spec), method, 3);
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
