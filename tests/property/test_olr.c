/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `olr:K` and `lrubs:K`: the paper's examples, and what small traces show; types,
 * events, behaviour sequences that are none, SPECs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trial.h"

#include <stdio.h>
#include <string.h>

/* FORMAT has one %u or two, for K. */
__attribute__((format(printf, 2, 0)))
static const char *spec_of(char spec[64], const char *format, uint32_t pages)
{
	(void)snprintf(spec, 64, format, pages, pages);
	return spec;
}

/* ---- examples ---- */

static void letters(struct stream *stream, const char *pages)
{
	stream_clear(stream);
	for (const char *page = pages; *page != '\0'; page++)
		stream_add_page(stream, (uint64_t)*page, LPL_READ);
}

/* A behaviour sequence: pairs of letters, the second one '-' for NF. */
static void pairs(struct stream *stream, const char *behaviour)
{
	stream_clear(stream);
	for (const char *pair = behaviour; *pair != '\0'; pair += 2) {
		struct lpl_event event = {.tag = LPL_EVENT_EVICTED};

		stream_add_page(stream, (uint64_t)pair[0], LPL_READ);
		event.ref = stream->item[stream->count - 1].ref.ref;
		event.instr = event.ref;
		event.cycle = event.ref;
		event.space = 7;
		event.arg[LPL_EVENT_EVICTED_SPACE] = 7;
		event.arg[LPL_EVENT_EVICTED_ADDRESS] = (uint64_t)pair[1] << 12;
		if (pair[1] != '-')
			stream_add_event(stream, &event);
	}
}

/* As letters; in lower case what was put in. */
static void expect_letters(const struct stream *out, const char *expected)
{
	char got[128] = "";
	size_t used = 0;

	for (size_t i = 0; i < out->count; i++) {
		const struct item *item = &out->item[i];
		bool synthetic = (item->ref.flags & LPL_SYNTHETIC) != 0;

		assert_false(item->is_event);
		got[used++] = (char)(item->ref.address / 4096 + (synthetic ? 'a' - 'A' : 0));
	}
	assert_string_equal(got, expected);
}

static void expect_olr(uint32_t pages, const char *in, const char *expected)
{
	struct stream stream = {0};
	struct stream out = {0};
	char spec[64];

	letters(&stream, in);
	reduce_stream(spec_of(spec, "olr:%u", pages), &stream, 3, &out);
	expect_letters(&out, expected);
	stream_free(&stream);
	stream_free(&out);
}

static void expect_lrubs(uint32_t pages, const char *in, const char *expected)
{
	struct stream stream = {0};
	struct stream wanted = {0};
	struct stream out = {0};
	char spec[64];

	letters(&stream, in);
	pairs(&wanted, expected);
	reduce_stream(spec_of(spec, "lrubs:%u", pages), &stream, 3, &out);
	assert_int_equal(out.count, wanted.count);
	for (size_t i = 0; i < out.count; i++) {
		assert_int_equal(out.item[i].is_event, wanted.item[i].is_event);
		if (!out.item[i].is_event)
			assert_int_equal(out.item[i].ref.address, wanted.item[i].ref.address);
		else
			assert_memory_equal(out.item[i].event.arg, wanted.item[i].event.arg,
					    sizeof(out.item[i].event.arg));
	}
	stream_free(&stream);
	stream_free(&wanted);
	stream_free(&out);
}

static void expect_from_behaviour(uint32_t pages, const char *behaviour, const char *expected)
{
	struct stream stream = {0};
	struct stream out = {0};
	char before[64];
	char spec[64];

	pairs(&stream, behaviour);
	reduce_further(spec_of(before, "lrubs:%u", pages), spec_of(spec, "olr:%u", pages), &stream, 3,
	       &out);
	expect_letters(&out, expected);
	stream_free(&stream);
	stream_free(&out);
}

static void test_paper(void **state)
{
	(void)state;
	/* sequence 1, its behaviour 2; 3, the fetches alone, has another one */
	expect_lrubs(3, "ABCBACDABD", "A-B-C-DBBC");
	expect_lrubs(3, "ABCDB", "A-B-C-DA");
	/* 4, annotated in 5 and 6 */
	expect_olr(3, "ABCBACDABD", "ABCaDB");
	expect_from_behaviour(3, "A-B-C-DBBC", "ABCaDB");
	expect_lrubs(3, "ABCADB", "A-B-C-DBBC");
	/* 7; 8, clipped late alone, has another behaviour; 9 */
	expect_lrubs(3, "ABCADEB", "A-B-C-DBECBA");
	expect_from_behaviour(3, "A-B-C-DBEABC", "ABaCDEB");
	expect_lrubs(3, "ABACDEB", "A-B-C-DBEABC");
	/* 10 and 11 */
	expect_from_behaviour(3, "A-B-C-DBECFE", "ABCaDEadF");
	expect_lrubs(3, "ABCADEADF", "A-B-C-DBECFE");
	/* section 3.3: better than SAD and SAD2 */
	expect_olr(2, "ABCBCBA", "ABCbA");
	expect_olr(3, "ABCBACDABD", "ABCaDB");
}

static void test_small(void **state)
{
	(void)state;
	for (uint32_t pages = 1; pages <= 3; pages++) {
		expect_olr(pages, "", "");
		expect_olr(pages, "A", "A");
		expect_olr(pages, "AAAA", "A");
		expect_lrubs(pages, "", "");
		expect_lrubs(pages, "AAAA", "A-");
		expect_from_behaviour(pages, "", "");
		expect_from_behaviour(pages, "A-", "A");
	}
	expect_olr(16777216, "ABCABCABDB", "ABCD");
	expect_lrubs(16777216, "ABCABCABDB", "A-B-C-D-");
	/* one page of memory leaves nothing to choose */
	expect_olr(1, "AABBAABC", "ABABC");
	expect_lrubs(1, "AABBAABC", "A-BAABBACB");
	/* never a page twice; round and round K pages, and one more */
	expect_olr(3, "ABCDEFG", "ABCDEFG");
	expect_olr(3, "ABCABCABCABC", "ABC");
	expect_olr(3, "ABCDABCDABCD", "ABCDABCDABCD");
	/* a page that is kept while others pass */
	expect_olr(2, "ABACADAEA", "ABaCaDaE");
	/* pages to be kept to the end, put in once */
	expect_olr(4, "ABCDABCEABCE", "ABCDabcE");
}

/* ---- damage ---- */

static void expect_damage(uint32_t pages, const struct stream *in, uint64_t ref,
			  const char *saved)
{
	struct lpl_report report;
	struct stream out = {0};
	char before[64];
	char spec[64];
	char place[64];

	assert_int_equal(try_reduce(spec_of(before, "lrubs:%u", pages),
				    spec_of(spec, "olr:%u", pages), in, 3, &out, &report),
			 LPL_ERR_DAMAGED);
	(void)snprintf(place, sizeof(place), "reference %llu ", (unsigned long long)ref);
	assert_non_null(strstr(report.text, place));
	expect_letters(&out, saved);
	assert_false(out.finished);
	stream_free(&out);
}

static void test_damage(void **state)
{
	struct stream in = {0};

	(void)state;
	/* a fetch of what is there, full or not */
	pairs(&in, "A-B-A-");
	expect_damage(3, &in, 3, "AB");
	pairs(&in, "A-B-CABA");
	expect_damage(2, &in, 4, "ABC");
	/* a victim that is not there: evicted, never seen, just being fetched */
	pairs(&in, "A-B-CADA");
	expect_damage(2, &in, 4, "ABC");
	pairs(&in, "A-B-CX");
	expect_damage(2, &in, 3, "AB");
	pairs(&in, "A-B-CC");
	expect_damage(2, &in, 3, "AB");
	/* a victim too early, one too many */
	pairs(&in, "A-BA");
	expect_damage(2, &in, 2, "AB");
	pairs(&in, "A-B-CA");
	stream_add_event(&in, &in.item[3].event);
	expect_damage(2, &in, 3, "ABC");
	/* none for a fetch: another comes, another event, the end */
	pairs(&in, "A-B-C-D-");
	expect_damage(2, &in, 3, "AB");
	pairs(&in, "A-B-C-");
	expect_damage(2, &in, 3, "AB");
	in.item[2] = (struct item){.is_event = true, .event = {.tag = LPL_EVENT_EVICTED}};
	expect_damage(2, &in, 0, "AB");
	pairs(&in, "A-B-CA");
	in.item[3].event.tag = KTR_SCHEDULE;
	expect_damage(2, &in, 3, "AB");
	/* right for two pages, not for three */
	pairs(&in, "A-B-CADBEC");
	expect_damage(3, &in, 3, "ABC");
	expect_from_behaviour(2, "A-B-CADBEC", "ABCDE");
	stream_free(&in);
}

/* ---- dirtiness ---- */

/* Types as letters, of one page's references among others'. */
static void expect_types(const char *pages, const char *types, const char *expected_pages,
			 const char *expected_types)
{
	static const char letter[] = "rwipq";
	struct stream in = {0};
	struct stream out = {0};
	char got[64] = "";

	for (size_t i = 0; pages[i] != '\0'; i++)
		stream_add_page(&in, (uint64_t)pages[i],
				(enum lpl_type)(strchr(letter, types[i]) - letter));
	reduce_stream("olr:2", &in, 64, &out);
	expect_letters(&out, expected_pages);
	for (size_t i = 0; i < out.count; i++)
		got[i] = letter[out.item[i].ref.type];
	assert_string_equal(got, expected_types);
	stream_free(&in);
	stream_free(&out);
}

static void test_dirtiness(void **state)
{
	(void)state;
	/* written after its fetch, and evicted: the fetch writes */
	expect_types("AABC", "rwrr", "ABC", "wrr");
	/* not evicted: its type is kept, and a clip is a read */
	expect_types("AAB", "rwr", "AB", "rr");
	expect_types("ABAC", "iwwr", "ABaC", "iwrr");
	expect_types("ABA", "wri", "AB", "wr");
	/* the eviction is not among the K + 1 faults that are known, and then it is */
	expect_types("ABACADAEFG", "iririrwrrr", "ABaCaDaEFG", "irwrwrwrrr");
	expect_types("ABACADAEFG", "iriririrww", "ABaCaDaEFG", "irrrrrrrww");
	/* clean in one stay, dirty in the next */
	expect_types("ABCAABC", "rrrrwrr", "ABCABC", "rrrwrr");
	/* walks are written by the processor */
	expect_types("AABC", "pqrr", "ABC", "qrr");
	expect_types("ABACDE", "prqrrr", "ABaCDE", "qrqrrr");
	expect_types("ABACDE", "prprrr", "ABaCDE", "prprrr");
}

/* ---- events ---- */

static void add_mark(struct stream *stream, uint64_t number)
{
	struct lpl_event event = {.tag = LPL_EVENT_MARK, .arg = {number}};

	if (stream->count != 0)
		event.ref = stream->item[stream->count - 1].is_event ?
			stream->item[stream->count - 1].event.ref :
			stream->item[stream->count - 1].ref.ref;
	stream_add_event(stream, &event);
}

/* Marks 1, 2 ... stand where they stood, and clips before them. */
static void test_events(void **state)
{
	static const char in_pages[] = ".A.A.B.BA.C..C.";
	static const char expected[] = ".A..Ba..C...";
	struct stream in = {0};
	struct stream out = {0};
	uint64_t marks = 0;
	char got[64] = "";

	(void)state;
	for (const char *page = in_pages; *page != '\0'; page++) {
		if (*page == '.')
			add_mark(&in, ++marks);
		else
			stream_add_page(&in, (uint64_t)*page, LPL_READ);
	}
	reduce_stream("olr:2", &in, 64, &out);
	marks = 0;
	for (size_t i = 0; i < out.count; i++) {
		const struct item *item = &out.item[i];
		bool synthetic = (item->ref.flags & LPL_SYNTHETIC) != 0;

		if (item->is_event)
			assert_int_equal(item->event.arg[0], ++marks);
		got[i] = (char)(item->is_event ? '.' : item->ref.address / 4096 +
				(synthetic ? 'a' - 'A' : 0));
	}
	assert_string_equal(got, expected);
	stream_free(&in);
	stream_free(&out);
}

/* Nothing faults for long: events wait, and keep their order. */
static void test_many_events(void **state)
{
	struct stream in = {0};
	struct stream out = {0};
	uint64_t events = 0;

	(void)state;
	for (unsigned int i = 0; i < 20000; i++) {
		stream_add_page(&in, i % 3, LPL_READ);
		add_mark(&in, i);
	}
	reduce_stream("olr:3", &in, 16, &out);
	assert_int_equal(out.count, 3 + 20000);
	for (size_t i = 0; i < out.count; i++)
		if (out.item[i].is_event)
			assert_int_equal(out.item[i].event.arg[0], events++);
	stream_free(&in);
	stream_free(&out);
}

/* An error of the next stage comes back unchanged, and at once. */
static void test_errors(void **state)
{
	static const char *const specs[] = {"olr:3", "lrubs:3", "lrubs:3+olr:3"};
	struct lpl_sink full = {.refs = refuse_refs};
	struct stream in = {0};

	(void)state;
	for (unsigned int i = 0; i < 5000; i++)
		stream_add_page(&in, i % 7, LPL_READ);
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		struct lpl_report report = {0};
		struct lpl_reducer *reducer;

		assert_int_equal(lpl_reducer_open(&reducer, NULL, specs[i], &full, &report),
				 LPL_OK);
		assert_int_equal(stream_send(&in, lpl_reducer_sink(reducer), 64, &report),
				 LPL_ERR_FULL);
		lpl_reducer_close(reducer);
	}
	stream_free(&in);
}

/* ---- SPECs ---- */

static void expect_refused(const char *before, const char *spec, const char *word)
{
	struct lpl_report report = {0};
	char reduction[LPL_SPEC_SIZE];
	char exact[LPL_SPEC_SIZE];
	struct collector collector;
	struct stream out = {0};
	struct lpl_reducer *reducer;

	collector_init(&collector, &out);
	assert_int_equal(lpl_reducer_open(&reducer, before, spec, &collector.sink, &report),
			 LPL_ERR_USAGE);
	assert_null(reducer);
	assert_non_null(strstr(report.text, word));
	report = (struct lpl_report){0};
	assert_int_equal(lpl_reducer_describe(before, spec, reduction, exact, &report),
			 LPL_ERR_USAGE);
	assert_non_null(strstr(report.text, word));
}

static void expect_described(const char *before, const char *spec, const char *reduction,
			     const char *exact, uint64_t behaviour)
{
	struct lpl_report report = {0};
	char got_reduction[LPL_SPEC_SIZE];
	char got_exact[LPL_SPEC_SIZE];

	assert_int_equal(lpl_reducer_describe(before, spec, got_reduction, got_exact, &report),
			 LPL_OK);
	assert_string_equal(got_reduction, reduction);
	assert_string_equal(got_exact, exact);
	assert_int_equal(lpl_reduction_behaviour(reduction), behaviour);
}

static void test_specs(void **state)
{
	(void)state;
	expect_described(NULL, "olr:64", "olr:64", "lru from 64 pages", 0);
	expect_described("window:64", "olr:64", "window:64+olr:64", "lru from 64 pages", 0);
	expect_described("sad:64", "olr:8", "sad:64+olr:8", "lru from 64 pages", 0);
	expect_described(NULL, "lrubs:64", "lrubs:64", "lru from 64 pages", 64);
	expect_described("lrubs:64", "none", "lrubs:64", "lru from 64 pages", 64);
	expect_described("lrubs:64", "olr:64", "lrubs:64+olr:64", "lru from 64 pages", 0);
	expect_described(NULL, "lrubs:8+olr:8+sad:9", "lrubs:8+olr:8+sad:9", "lru from 9 pages", 0);
	expect_described(NULL, "olr:8+lrubs:7", "olr:8+lrubs:7", "lru from 8 pages", 7);
	expect_described(NULL, "annotated:8", "annotated:8", "all", 0);
	assert_int_equal(lpl_reduction_annotated("sad:3+annotated:8+fence"), 8);
	assert_int_equal(lpl_reduction_annotated("annotated:8+annotated:9"), 9);
	assert_int_equal(lpl_reduction_annotated("annotated:8+olr:8"), 0);
	assert_int_equal(lpl_reduction_annotated("lrubs:8"), 0);
	assert_int_equal(lpl_reduction_annotated(NULL), 0);
	expect_refused(NULL, "lrubs:64+annotated:64", "olr:64");
	/* what is put in may stand after a change of mapping */
	assert_false(lpl_reduction_fenced("window:64+olr:64"));
	assert_false(lpl_reduction_fenced("fence+lrubs:64"));
	assert_int_equal(lpl_reduction_behaviour(NULL), 0);
	assert_int_equal(lpl_reduction_behaviour("none"), 0);
	assert_int_equal(lpl_reduction_behaviour("later:1"), 0);
	expect_refused(NULL, "lrubs:64+sad:64", "olr:64");
	expect_refused(NULL, "lrubs:64+none+block", "olr:64");
	expect_refused(NULL, "lrubs:64+olr:63", "olr:64");
	expect_refused(NULL, "lrubs:64+lrubs:64", "olr:64");
	expect_refused("block+lrubs:64", "window:64", "olr:64");
	expect_refused("lrubs:64", "olr:65", "olr:64");
	expect_refused(NULL, "olr", "olr:K");
	expect_refused(NULL, "olr:0", "lrubs:K");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_specs),
		cmocka_unit_test(test_paper),
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_dirtiness),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_many_events),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
