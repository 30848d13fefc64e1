/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reducers that drop references (SAD2, SAD-WS, stack deletion, inter-reference
 * gaps, Glass and Cao, larger pages) against their definitions, record for record.
 * What they are exact for: test_eliminate_exact.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <laplace/reducer.h>

#include "oracle_eliminate.h"
#include "trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- equal to the definitions ---- */

static void by_sad2(const struct stream *in, const struct trial *trial, struct stream *out)
{
	oracle_sad2(in, (uint32_t)trial->number, out);
}

static void by_sad_sad2(const struct stream *in, const struct trial *trial, struct stream *out)
{
	struct stream between = {0};

	oracle_sad(in, (uint32_t)trial->number, &between);
	oracle_sad2(&between, (uint32_t)trial->number, out);
	stream_free(&between);
}

static void by_sad2_fix(const struct stream *in, const struct trial *trial, struct stream *out)
{
	oracle_sad2_fix(in, (uint32_t)trial->number, out);
}

static void by_sad_ws(const struct stream *in, const struct trial *trial, struct stream *out)
{
	oracle_sad_ws(in, trial->number, out);
}

static void by_sad_ws_twice(const struct stream *in, const struct trial *trial,
			    struct stream *out)
{
	struct stream between = {0};

	oracle_sad_ws(in, trial->number, &between);
	oracle_sad_ws(&between, trial->number + 3, out);
	stream_free(&between);
}

static void by_sd(const struct stream *in, const struct trial *trial, struct stream *out)
{
	oracle_sd(in, (uint32_t)trial->number, out);
}

static void by_irg(const struct stream *in, const struct trial *trial, struct stream *out)
{
	oracle_irg(in, trial->number, out);
}

static void by_glass_cao(const struct stream *in, const struct trial *trial, struct stream *out)
{
	oracle_glass_cao(in, trial->number, out);
}

static void by_in_out(const struct stream *in, const struct trial *trial, struct stream *out)
{
	oracle_in_out(in, trial->number, out);
}

static void by_reblock(const struct stream *in, const struct trial *trial, struct stream *out)
{
	oracle_reblock(in, UINT64_C(4096) << trial->number % 4, out);
}

/* A method: how its number is written, and how much of it is tried. */
struct method {
	const char *form;	/* %1$u: the number, %2$u: 3 more, %3$u: bytes */
	void (*oracle)(const struct stream *in, const struct trial *trial, struct stream *out);
	uint32_t most;
};

static const struct method methods[] = {
	{"sad2:%1$u", by_sad2, 8},
	{"sad:%1$u+sad2:%1$u", by_sad_sad2, 8},
	{"sad2-fix:%1$u", by_sad2_fix, 8},
	{"sad-ws:%1$u", by_sad_ws, 60},
	{"sad-ws:%1$u+sad-ws:%2$u", by_sad_ws_twice, 60},
	{"sd:%1$u", by_sd, 8},
	{"irg:%1$u", by_irg, 60},
	{"glass-cao:%1$u", by_glass_cao, 20},
	{"in-out:%1$u", by_in_out, 20},
	{"block:%3$u", by_reblock, 16},
};
enum { METHODS = sizeof(methods) / sizeof(methods[0]) };

static void write_spec(char spec[64], const struct method *method, uint32_t number)
{
	(void)snprintf(spec, 64, method->form, number, number + 3, 4096U << number % 4);
}

static void test_definitions(void **state)
{
	uint64_t seed = random_seed();
	struct random random = {seed};
	struct stream in = {0};

	(void)state;
	for (unsigned int number = 0; number < 3000; number++) {
		uint32_t pages = 1 + random_below(&random, 8);

		stream_clear(&in);
		random_stream(&random, (enum shape)(number % SHAPES), pages,
			      random_below(&random, 120), number % 3 != 0, &in);
		for (size_t i = 0; i < METHODS; i++) {
			uint32_t k = methods[i].most == 8 ? pages :
				1 + random_below(&random, methods[i].most);
			char spec[64];
			struct trial trial = {
				.spec = spec,
				.batch = 1 + random_below(&random, 40),
				.oracle = methods[i].oracle,
				.number = k,
			};

			write_spec(spec, &methods[i], k);
			expect_not(differs_from_oracle, &in, &trial, seed, number);
		}
	}
	stream_free(&in);
}

/* ---- examples ---- */

static void test_examples(void **state)
{
	(void)state;
	/* the paper, section 3.3: SAD cannot reduce it, SAD2 can, and again */
	expect_pages("sad:3", "ABCBACDABD", "ABCBACDABD");
	expect_pages("sad2:3", "ABCBACDABD", "ABBACDABD");
	expect_pages("sad2:3", "ABBACDABD", "ABACDABD");
	expect_pages("sad2:3+sad2:3", "ABCBACDABD", "ABACDABD");
	/* what SAD leaves of ABCBCBA */
	expect_pages("sad2:2", "ABCCBA", "ABCBA");
	expect_pages("sad:2+sad2:2", "ABCBCBA", "ABCBA");
	expect_pages("sad2:1", "AAAAAA", "A");
	expect_pages("sad2:1", "ABABAB", "ABABAB");
	expect_pages("sad2:2", "ABABAB", "AAAB");
	/* references 1 2 3 ... of one page */
	expect_pages("sad-ws:1", "AAAAAA", "AAAAAA");
	expect_pages("sad-ws:2", "AAAAAA", "AAAA");
	expect_pages("sad-ws:3", "AAAAAA", "AAA");
	expect_pages("sad-ws:4611686018427387904", "ABABABAB", "ABAB");
	expect_pages("sd:2", "ABABCACB", "ABCAB");
	expect_pages("sd:1", "AABBA", "ABA");
	expect_pages("irg:1", "AABABBA", "ABABA");
	expect_pages("irg:2", "AABABBA", "ABA");
	/* instructions 1 2 3 ...: segments are [1] [2 3] [4 5] ... */
	expect_pages("glass-cao:2", "AAAABCDEFA", "AABCDEFA");
	expect_pages("glass-cao:2", "AABCA", "ABCA");
	/* @ABC DEFG HIJK are larger pages */
	expect_pages("block:16384", "DEFGHCABD", "DH@D");
	expect_pages("block:262144", "ABCD", "@");
}

/* Pages of `spec` for an empty trace, for one page, and for fewer pages than K. */
static void test_small(void **state)
{
	static const char *const specs[] = {
		"sad2:1", "sad2:16777216", "sad-ws:1", "sad-ws:4611686018427387904", "sd:1",
		"sd:16777216", "irg:1", "irg:4611686018427387904", "glass-cao:1",
		"glass-cao:4611686018427387904", "block:4096", "block:262144",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		expect_pages(specs[i], "", "");
		expect_pages(specs[i], "@", "@");
	}
	expect_pages("sad2:16777216", "ABCABC", "ABABC");
	expect_pages("sad:16777216+sad2:16777216", "ABCABCABC", "ABABC");
	expect_pages("sd:16777216", "ABCABC", "ABC");
	expect_pages("irg:4611686018427387904", "ABCABC", "ABC");
	expect_pages("glass-cao:4611686018427387904", "ABCABCABC", "ABCABC");
}

/* A page's types along the way; '-' is a reference to another page, a new one each time. */
static void expect_types(const char *spec, const char *in, const char *expected)
{
	static const char letters[] = "rwipq";
	struct stream stream = {0};
	struct stream out = {0};
	char got[64] = "";
	uint64_t other = 1000;
	size_t count = 0;

	for (const char *type = in; *type != '\0'; type++) {
		if (*type == '-')
			stream_add_page(&stream, other++, LPL_READ);
		else
			stream_add_page(&stream, 5,
					(enum lpl_type)(strchr(letters, *type) - letters));
	}
	reduce_stream(spec, &stream, 64, &out);
	for (size_t i = 0; i < out.count; i++)
		if (!out.item[i].is_event && out.item[i].ref.address / 4096 < 1000)
			got[count++] = letters[out.item[i].ref.type];
	assert_string_equal(got, expected);
	stream_free(&stream);
	stream_free(&out);
}

static void test_dirtiness(void **state)
{
	(void)state;
	expect_types("sad2:4", "wr", "w");
	expect_types("sad2:4", "rw", "w");
	expect_types("sad2:4", "wrir", "w");
	expect_types("sad2:4", "qpp", "q");
	expect_types("sad2:4", "wr-r", "wr");
	expect_types("sad2:4", "iri", "i");
	expect_types("sad-ws:2", "rwr", "rw");
	expect_types("sad-ws:2", "wrr", "wr");
	expect_types("sad-ws:4", "pqpp", "pq");
	expect_types("glass-cao:9", "wrr", "wr");
	expect_types("glass-cao:9", "rwrr", "rw");
	expect_types("glass-cao:9", "w", "w");
	/* what is dropped makes the next fetch a write, once, or is lost */
	expect_types("sd:1", "rw-r-r", "rwr");
	expect_types("sd:1", "wr-r", "wr");
	expect_types("sd:1", "rw", "r");
	expect_types("sd:2", "pq--p--p", "pqp");
	expect_types("irg:2", "rw--r--r", "rwr");
	expect_types("irg:2", "rw-r--i", "rw");
	expect_types("irg:2", "wr--r", "wr");
	expect_types("irg:2", "rw", "r");
}

/* ---- events ---- */

static void add_event(struct stream *stream, uint64_t number)
{
	struct lpl_event event = {.tag = KTR_SCHEDULE, .arg = {[11] = number}};

	stream_add_event(stream, &event);
}

/* Events wait after what is held, however many, and come out in their places. */
static void test_events(void **state)
{
	static const char *const specs[] = {
		"sad2:3", "sad:3+sad2:3", "sad2-fix:3", "sad-ws:1000000", "glass-cao:1000000", "sd:3", "irg:5",
		"block:8192",
	};
	struct stream in = {0};

	(void)state;
	add_event(&in, 0);
	for (unsigned int i = 1; i < 20000; i++) {
		stream_add_page(&in, i % 3, LPL_READ);
		add_event(&in, i);
	}
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		struct stream out = {0};
		uint64_t events = 0;

		reduce_stream(specs[i], &in, 16, &out);
		for (size_t j = 0; j < out.count; j++) {
			if (out.item[j].is_event && out.item[j].event.tag == LPL_EVENT_GAPS)
				continue;	/* IRG's own, at the end */
			if (out.item[j].is_event)
				assert_int_equal(out.item[j].event.arg[11], events++);
			else	/* event r follows reference r */
				assert_int_equal(out.item[j].ref.ref, events);
		}
		assert_int_equal(events, 20000);
		stream_free(&out);
	}
	stream_free(&in);
}

/* ---- errors ---- */

/* The next stage, which fails after a while. */
struct failing {
	struct lpl_sink sink;
	unsigned int after;
};

static enum lpl_error fail_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	struct failing *failing = (struct failing *)sink;

	(void)refs;
	(void)count;
	return failing->after-- != 0 ? LPL_OK : lpl_fail(report, LPL_ERR_FULL, "no");
}

static enum lpl_error fail_event(struct lpl_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	(void)event;
	return fail_refs(sink, NULL, 0, report);
}

static enum lpl_error fail_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	return fail_refs(sink, NULL, 0, report);
}

/* An error of the next stage comes back unchanged, wherever it strikes. */
static void test_errors(void **state)
{
	struct random random = {random_seed()};
	struct stream in = {0};

	(void)state;
	random_stream(&random, SHAPE_UNIFORM, 50, 2000, true, &in);
	for (size_t i = 0; i < METHODS; i++) {
		char spec[64];
		bool failed = true;

		write_spec(spec, &methods[i], 3);
		for (unsigned int after = 0; failed; after++) {
			struct failing next = {{fail_refs, fail_event, fail_finish}, after};
			struct lpl_report report = {0};
			struct lpl_reducer *reducer;
			int error;

			assert_int_equal(lpl_reducer_open(&reducer, NULL, spec, &next.sink,
							  &report), LPL_OK);
			error = stream_send(&in, lpl_reducer_sink(reducer), 64, &report);
			failed = error != LPL_OK;
			if (failed)
				assert_int_equal(error, LPL_ERR_FULL);
			else
				assert_true(after > 100);
			lpl_reducer_close(reducer);
		}
	}
	stream_free(&in);
}

/* Clocks that run backwards are refused by what goes by them. */
static void test_order(void **state)
{
	static const struct {
		const char *spec;
		uint64_t ref, instr;
		int error;
	} cases[] = {
		{"sad-ws:5", 9, 20, LPL_ERR_ORDER}, {"irg:5", 9, 20, LPL_ERR_ORDER},
		{"in-out:5", 20, 9, LPL_ERR_ORDER}, {"glass-cao:5", 20, 9, LPL_ERR_ORDER}, {"glass-cao:5", 9, 20, LPL_OK},
		/* what OLR puts in repeats `ref` */
		{"sad-ws:5", 10, 10, LPL_OK}, {"irg:5", 10, 10, LPL_OK},
		{"sad2:5", 9, 9, LPL_OK}, {"sd:5", 9, 9, LPL_OK},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct stream in = {0};
		struct stream out = {0};
		struct lpl_ref ref = {.ref = 10, .instr = 10, .address = 4096, .length = 1};
		struct lpl_report report = {0};
		struct lpl_reducer *reducer;
		struct collector collector;

		stream_add_ref(&in, &ref);
		ref.ref = cases[i].ref;
		ref.instr = cases[i].instr;
		stream_add_ref(&in, &ref);
		collector_init(&collector, &out);
		assert_int_equal(lpl_reducer_open(&reducer, NULL, cases[i].spec, &collector.sink,
						  &report), LPL_OK);
		assert_int_equal(stream_send(&in, lpl_reducer_sink(reducer), 1, &report),
				 cases[i].error);
		if (cases[i].error != LPL_OK)
			assert_non_null(strstr(report.text, cases[i].spec));
		lpl_reducer_close(reducer);
		stream_free(&in);
		stream_free(&out);
	}
}

/* ---- SPECs ---- */

static void test_specs(void **state)
{
	static const char *const bad[] = {
		"sad2", "sad2:", "sad2:0", "sad2:16777217", "sad2:-1", "sad2:+1", "sad2:4x",
		"sad2-fix", "sad2-fix:0",
		"sad-ws", "sad-ws:0", "sad-ws:4611686018427387905", "sad-ws:18446744073709551617",
		"sad-ws:1.5", "sd:0", "sd:", "irg:0", "irg:-1", "irg:4611686018427387905",
		"glass-cao", "glass-cao:0", "glass-cao: 1", "block:", "block:0", "block:8",
		"block:4097", "block:12288", "block:2147483648", "block:18446744073709555712",
	};
	struct collector collector;
	struct stream out = {0};

	(void)state;
	collector_init(&collector, &out);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct lpl_report report = {0};
		struct lpl_reducer *reducer;

		assert_int_equal(lpl_reducer_open(&reducer, NULL, bad[i], &collector.sink, &report),
				 LPL_ERR_USAGE);
		assert_null(reducer);
		assert_non_null(strstr(report.text, "glass-cao:N"));
	}
}

static void expect_description(const char *before, const char *spec, const char *reduction,
			       const char *exact, uint64_t page_size)
{
	struct lpl_report report = {0};
	char got_reduction[LPL_SPEC_SIZE];
	char got_exact[LPL_SPEC_SIZE];

	assert_int_equal(lpl_reducer_describe(before, spec, got_reduction, got_exact, &report),
			 LPL_OK);
	assert_string_equal(got_reduction, reduction);
	assert_string_equal(got_exact, exact);
	assert_int_equal(lpl_reduction_page_size(reduction), page_size);
}

static void test_descriptions(void **state)
{
	struct lpl_report report = {0};
	struct lpl_reducer *reducer;
	struct collector collector;
	struct stream out = {0};

	(void)state;
	expect_description("none", "sad2:64", "sad2:64", "lru from 64 pages", 4096);
	expect_description("sad:128", "sad2:64", "sad:128+sad2:64",
			   "lru from 128 pages", 4096);
	expect_description("none", "sad2-fix:64", "sad2-fix:64", "lru from 64 pages", 4096);
	expect_description("none", "sad-ws:500", "sad-ws:500",
			   "lru,opt from 500 pages; ws,vmin from 500 references", 4096);
	expect_description("sad-ws:500", "sad-ws:20", "sad-ws:500+sad-ws:20",
			   "lru,opt from 500 pages; ws,vmin from 500 references", 4096);
	expect_description("sad:64", "sad-ws:20", "sad:64+sad-ws:20", "lru,opt from 64 pages",
			   4096);
	/* what OLR put in has no time of its own */
	expect_description("olr:64", "sad-ws:20", "olr:64+sad-ws:20", "nothing", 4096);
	expect_description("sad-ws:20", "olr:64", "sad-ws:20+olr:64", "lru from 64 pages", 4096);
	expect_description("none", "sd:64", "sd:64", "nothing", 4096);
	expect_description("none", "irg:64", "irg:64", "nothing", 4096);
	expect_description("sad:64", "glass-cao:1000", "sad:64+glass-cao:1000", "nothing", 4096);
	expect_description("none", "block:16384", "block:16384", "all but ws,vmin", 16384);
	expect_description("sad:64", "block:8192+block:8192+sad:32",
			   "sad:64+block:8192+block:8192+sad:32", "lru,opt from 64 pages", 8192);
	/* pages do not get smaller */
	collector_init(&collector, &out);
	assert_int_equal(lpl_reducer_open(&reducer, "block:16384", "block:8192", &collector.sink,
					  &report), LPL_ERR_USAGE);
	assert_non_null(strstr(report.text, "16384"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_specs),
		cmocka_unit_test(test_descriptions),
		cmocka_unit_test(test_examples),
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_dirtiness),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_definitions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
