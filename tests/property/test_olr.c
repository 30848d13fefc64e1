/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `olr:K` and `lrubs:K`: against the paper's examples, its rule and its lower
 * bound, against the shortest trace found by trying all, and against what they
 * promise, the same faults and evictions in every LRU memory from K pages on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <laplace/reducer.h>

#include "../../laplace/container/data.h"
#include "oracle_olr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the first error; what had come out by then is in `out`. */
static int try_reduce(const char *before, const char *spec, const struct stream *in, size_t batch,
		      struct stream *out, struct lpl_report *report)
{
	struct lpl_reducer *reducer;
	struct collector collector;
	int error;

	collector_init(&collector, out);
	*report = (struct lpl_report){0};
	assert_int_equal(lpl_reducer_open(&reducer, before, spec, &collector.sink, report), LPL_OK);
	error = stream_send(in, lpl_reducer_sink(reducer), batch, report);
	lpl_reducer_close(reducer);
	return error;
}

static void reduce(const char *before, const char *spec, const struct stream *in, size_t batch,
		   struct stream *out)
{
	struct lpl_report report;

	if (try_reduce(before, spec, in, batch, out, &report) != LPL_OK)
		fail_msg("%s: %s", spec, report.text);
	assert_true(out->finished);
}

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
		event.arg[0] = 7;
		event.arg[1] = (uint64_t)pair[1] << 12;
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
	reduce(NULL, spec_of(spec, "olr:%u", pages), &stream, 3, &out);
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
	reduce(NULL, spec_of(spec, "lrubs:%u", pages), &stream, 3, &out);
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
	reduce(spec_of(before, "lrubs:%u", pages), spec_of(spec, "olr:%u", pages), &stream, 3,
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
	/* a page that stays while others pass */
	expect_olr(2, "ABACADAEA", "ABaCaDaE");
	/* pages to be kept to the end, put in once */
	expect_olr(4, "ABCDABCEABCE", "ABCDabcE");
}

/* ---- the same record for record ---- */

struct trial {
	const char *before;	/* formats for spec_of(); NULL: none */
	const char *spec;
	const char *same_as;	/* NULL: as the oracle */
	void (*oracle)(const struct stream *in, uint32_t pages, struct stream *out);
	size_t batch;
	uint32_t pages;
	uint32_t merged;	/* pages are told apart modulo this; 0: not merged */
};

/* What is reduced further: the stream, or its reduction by `before`. */
static void input(const struct stream *in, const struct trial *trial, struct stream *out)
{
	char spec[64];

	reduce(NULL, trial->before == NULL ? "none" :
	       spec_of(spec, trial->before, trial->pages), in, trial->batch, out);
}

static void reduce_trial(const struct stream *in, const struct trial *trial, struct stream *out)
{
	struct stream between = {0};
	char before[64];
	char spec[64];

	input(in, trial, &between);
	reduce(trial->before == NULL ? NULL : spec_of(before, trial->before, trial->pages),
	       spec_of(spec, trial->spec, trial->pages), &between, trial->batch, out);
	stream_free(&between);
}

static bool differs(const struct stream *in, void *context)
{
	const struct trial *trial = context;
	struct stream expected = {0};
	struct stream got = {0};
	char spec[64];
	size_t place;
	bool differ;

	if (trial->same_as == NULL)
		trial->oracle(in, trial->pages, &expected);
	else
		reduce(NULL, spec_of(spec, trial->same_as, trial->pages), in, 7, &expected);
	reduce_trial(in, trial, &got);
	differ = !stream_equal(&expected, &got, &place);
	stream_free(&expected);
	stream_free(&got);
	return differ;
}

/* Check one property on one stream; when it does not hold, say on which. */
static void expect_not(bool (*fails)(const struct stream *, void *), struct stream *in,
		       struct trial *trial, uint64_t seed, unsigned int number)
{
	struct stream got = {0};

	if (!fails(in, trial))
		return;
	stream_shrink(in, fails, trial);
	reduce_trial(in, trial, &got);
	(void)fprintf(stderr, "LAPLACE_TEST_SEED=%llu, case %u, %s after %s, K=%u, merged to %u:\n",
		      (unsigned long long)seed, number, trial->spec,
		      trial->before == NULL ? "none" : trial->before, trial->pages, trial->merged);
	stream_print("this stream", in);
	stream_print("is reduced to", &got);
	stream_free(&got);
	fail();
}

static void test_definitions(void **state)
{
	static const struct trial trials[] = {
		{.spec = "olr:%u", .oracle = oracle_olr},
		{.spec = "lrubs:%u", .oracle = oracle_lrubs},
		{.spec = "lrubs:%u+olr:%u", .same_as = "olr:%u"},
		{.spec = "lrubs:%u+none+olr:%u", .same_as = "olr:%u"},
		{.before = "lrubs:%u", .spec = "olr:%u", .same_as = "olr:%u"},
		{.before = "lrubs:%u", .spec = "none+olr:%u", .same_as = "olr:%u"},
		{.before = "lrubs:%u", .spec = "none", .same_as = "lrubs:%u"},
		/* as the simulator and the collector share it */
		{.spec = "window:%u+olr:%u", .same_as = "olr:%u"},
		{.spec = "window:%u+lrubs:%u", .same_as = "lrubs:%u"},
		{.before = "window:%u", .spec = "lrubs:%u", .same_as = "lrubs:%u"},
		{.spec = "sad:%u+olr:%u", .same_as = "olr:%u"},
		{.spec = "olr:%u+olr:%u", .same_as = "olr:%u"},
	};
	uint64_t seed = random_seed();
	struct random random = {seed};
	struct stream in = {0};

	(void)state;
	for (unsigned int number = 0; number < 2000; number++) {
		uint32_t pages = 1 + random_below(&random, 8);

		stream_clear(&in);
		random_stream(&random, number % SHAPES, pages, random_below(&random, 100),
			      number % 3 != 0, &in);
		for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++) {
			struct trial trial = trials[i];

			trial.pages = pages;
			trial.batch = 1 + random_below(&random, 40);
			expect_not(differs, &in, &trial, seed, number);
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
		ref->type = ref->type == LPL_WRITE || ref->type == LPL_WALK_WRITE;
		ref->space = 0;
	}
}

/* A stream, and the number that each reference of its trace has. */
struct numbered {
	struct trace trace;
	struct lpl_ref *ref;	/* its first member is the number */
};

static void number(struct numbered *numbered, const struct stream *stream)
{
	size_t refs = 0;

	trace_of(stream, &numbered->trace);
	numbered->ref = calloc(stream->count + 1, sizeof(*numbered->ref));
	assert_non_null(numbered->ref);
	for (size_t i = 0; i < stream->count; i++)
		if (!stream->item[i].is_event)
			numbered->ref[refs++] = stream->item[i].ref;
}

static void numbered_free(struct numbered *numbered)
{
	trace_free(&numbered->trace);
	free(numbered->ref);
}

/* The same pages at the same times go in and out, and equally dirty. */
static bool same_behaviour(const struct numbered *a, const struct numbered *b, uint64_t size)
{
	struct behaviour x;
	struct behaviour y;
	bool same;

	oracle_behaviour(&a->trace, size, &x);
	oracle_behaviour(&b->trace, size, &y);
	same = x.count == y.count;
	for (size_t i = 0; i < x.count && same; i++) {
		const struct fault *f = &x.fault[i];
		const struct fault *g = &y.fault[i];

		/* pages are numbered by their first references, equally in both */
		same = f->fetched == g->fetched && f->evicted == g->evicted &&
			f->dirty == g->dirty && a->ref[f->at].ref == b->ref[g->at].ref &&
			a->ref[f->at].address / 4096 == b->ref[g->at].address / 4096 &&
			a->ref[f->at].cycle == b->ref[g->at].cycle &&
			a->ref[f->at].instr == b->ref[g->at].instr;
	}
	behaviour_free(&x);
	behaviour_free(&y);
	return same;
}

static void before_and_after(const struct stream *in, const struct trial *trial,
			     struct numbered *before, struct numbered *after)
{
	struct stream original = {0};
	struct stream reduced = {0};

	reduce(NULL, "none", in, trial->batch, &original);
	reduce_trial(in, trial, &reduced);
	if (trial->merged != 0) {
		merge_pages(&original, trial->merged);
		merge_pages(&reduced, trial->merged);
	}
	number(before, &original);
	number(after, &reduced);
	stream_free(&original);
	stream_free(&reduced);
}

static bool is_inexact(const struct stream *in, void *context)
{
	const struct trial *trial = context;
	struct numbered before;
	struct numbered after;
	bool inexact;

	before_and_after(in, trial, &before, &after);
	inexact = before.trace.pages != after.trace.pages;
	for (uint64_t size = trial->pages; size <= before.trace.pages + 1U && !inexact; size++)
		inexact = !same_behaviour(&before, &after, size);
	numbered_free(&before);
	numbered_free(&after);
	return inexact;
}

/* Sizes below K at which the reduction shows: a test that could not see it would
 * prove nothing. */
static unsigned int sizes_it_shows(const struct stream *in, const struct trial *trial)
{
	struct numbered before;
	struct numbered after;
	unsigned int count = 0;

	before_and_after(in, trial, &before, &after);
	for (uint64_t size = 1; size < trial->pages; size++)
		count += same_behaviour(&before, &after, size) ? 0 : 1;
	numbered_free(&before);
	numbered_free(&after);
	return count;
}

/* The records' order, as the writer wants it; events are those of the input. */
static bool is_disordered(const struct stream *in, void *context)
{
	struct lpl_clocks now = {0};
	struct stream out = {0};
	bool disordered = false;
	size_t event = 0;

	reduce_trial(in, context, &out);
	for (size_t i = 0; i < out.count && !disordered; i++) {
		const struct item *item = &out.item[i];

		if (item->is_event) {
			while (event < in->count && !in->item[event].is_event)
				event++;
			disordered = event == in->count ||
				memcmp(&item->event, &in->item[event++].event,
				       sizeof(item->event)) != 0 || item->event.ref < now.ref ||
				item->event.instr < now.instr || item->event.cycle < now.cycle;
			now = (struct lpl_clocks){item->event.ref, item->event.instr,
						  item->event.cycle};
		} else {
			disordered = !lpl_ref_follows(item->ref.ref, item->ref.flags, now.ref) ||
				item->ref.instr < now.instr || item->ref.cycle < now.cycle ||
				(item->ref.flags & LPL_PAGED) == 0 || item->ref.length != 0;
			now = (struct lpl_clocks){item->ref.ref, item->ref.instr, item->ref.cycle};
		}
	}
	for (; event < in->count; event++)
		disordered |= in->item[event].is_event;
	stream_free(&out);
	return disordered;
}

static void test_exactness(void **state)
{
	uint64_t seed = random_seed();
	struct random random = {seed + 1};
	struct stream in = {0};
	unsigned int shown = 0;

	(void)state;
	for (unsigned int number = 0; number < 3000; number++) {
		uint32_t pages = 1 + random_below(&random, number % 10 == 0 ? 30 : 8);
		uint32_t merged = number % 4 == 0 ? 1 + random_below(&random, 20) : 0;
		struct trial trial = {.spec = number % 5 == 0 ? "olr:%u+olr:%u" : "olr:%u",
				      .pages = pages, .batch = 64, .merged = merged};

		stream_clear(&in);
		random_stream(&random, number % SHAPES, pages, random_below(&random, 160),
			      number % 3 != 0, &in);
		expect_not(is_inexact, &in, &trial, seed, number);
		expect_not(is_disordered, &in, &trial, seed, number);
		shown += sizes_it_shows(&in, &trial);
	}
	stream_free(&in);
	assert_true(shown > 100);
}

/* A smaller memory after a larger one: what was put in may fault, and keeps its flag. */
static void test_chains(void **state)
{
	uint64_t seed = random_seed();
	struct random random = {seed + 2};
	struct stream in = {0};

	(void)state;
	for (unsigned int number = 0; number < 1000; number++) {
		struct trial trial = {.spec = "olr:2+olr:5", .pages = 5, .batch = 64};

		if (number % 2 == 0) {
			trial.before = "olr:5";
			trial.spec = "olr:2";
		}
		stream_clear(&in);
		random_stream(&random, number % SHAPES, 1 + random_below(&random, 8),
			      random_below(&random, 100), number % 3 != 0, &in);
		expect_not(is_inexact, &in, &trial, seed, number);
		expect_not(is_disordered, &in, &trial, seed, number);
	}
	stream_free(&in);
}

/* ---- shortest ---- */

/* Neither longer nor shorter than need be: by the lower bound, and if all can be
 * tried, by that. */
static bool is_longer(const struct stream *in, void *context)
{
	const struct trial *trial = context;
	struct stream out = {0};
	struct behaviour behaviour;
	struct trace trace;
	size_t refs = 0;
	size_t clips = 0;
	bool longer;

	trace_of(in, &trace);
	oracle_behaviour(&trace, trial->pages, &behaviour);
	reduce_trial(in, trial, &out);
	for (size_t i = 0; i < out.count; i++) {
		refs += out.item[i].is_event ? 0 : 1;
		clips += !out.item[i].is_event && (out.item[i].ref.flags & LPL_SYNTHETIC) != 0 ?
			1 : 0;
	}
	longer = refs != behaviour.count + clips || clips != oracle_lower_bound(&behaviour) ||
		(trial->pages <= MOST_TRIED && refs != oracle_shortest(&behaviour, trial->pages));
	stream_free(&out);
	behaviour_free(&behaviour);
	trace_free(&trace);
	return longer;
}

static void test_shortest(void **state)
{
	uint64_t seed = random_seed();
	struct random random = {seed + 3};
	struct stream in = {0};

	(void)state;
	for (unsigned int number = 0; number < 4000; number++) {
		uint32_t pages = 1 + random_below(&random, number % 10 == 0 ? 40 : 8);
		struct trial trial = {.spec = "olr:%u", .pages = pages, .batch = 64};
		size_t most = pages == MOST_TRIED ? 40 : 200;

		stream_clear(&in);
		random_stream(&random, number % SHAPES, pages, random_below(&random, most),
			      false, &in);
		expect_not(is_longer, &in, &trial, seed, number);
	}
	stream_free(&in);
}

/* ---- behaviour sequences ---- */

/* A fetch of `page`; it evicts that one, if any. */
static void add_fault(struct stream *stream, uint64_t page, uint32_t evicted, bool dirty)
{
	struct lpl_event event = {.tag = LPL_EVENT_EVICTED, .space = 7};
	const struct lpl_ref *ref;

	stream_add_page(stream, page, LPL_READ);
	if (evicted == NO_PAGE)
		return;
	ref = &stream->item[stream->count - 1].ref;
	event.ref = ref->ref;
	event.instr = ref->instr;
	event.cycle = ref->cycle;
	event.arg[0] = ref->space;
	event.arg[1] = (uint64_t)evicted << 12;
	event.arg[2] = dirty ? 1 : 0;
	stream_add_event(stream, &event);
}

/*
 * What is made of a behaviour sequence is reduced to the same sequence again, and
 * is the shortest: the stream is right if both hold.
 */
static bool is_misread(const struct stream *in, void *context)
{
	const struct trial *trial = context;
	struct stream references = {0};
	struct stream again = {0};
	struct trial back = {.spec = "olr:%u", .pages = trial->pages, .batch = 64};
	char before[64];
	char spec[64];
	size_t place;
	bool misread;

	reduce(spec_of(before, "lrubs:%u", trial->pages), spec_of(spec, "olr:%u", trial->pages),
	       in, 64, &references);
	oracle_lrubs(&references, trial->pages, &again);
	/* a fetch may have become a write */
	for (size_t i = 0; i < again.count; i++) {
		again.item[i].ref.type = LPL_READ;
		if (!again.item[i].is_event)
			again.item[i].ref.length = 4;
		again.item[i].ref.flags = 0;
	}
	misread = !stream_equal(in, &again, &place) || is_longer(&references, &back);
	stream_free(&references);
	stream_free(&again);
	return misread;
}

static void expect_read(struct stream *in, uint32_t pages, uint64_t seed, unsigned int number)
{
	struct trial trial = {.before = "lrubs:%u", .spec = "olr:%u", .pages = pages};

	if (!is_misread(in, &trial))
		return;
	(void)fprintf(stderr, "LAPLACE_TEST_SEED=%llu, case %u, K=%u\n",
		      (unsigned long long)seed, number, pages);
	stream_print("this behaviour", in);
	fail();
}

/* The victims are told by the digits of `code` in base K: places in memory. */
static void coded_behaviour(struct stream *in, uint32_t pages, uint32_t faults, uint32_t code)
{
	uint32_t memory[MOST_TRIED] = {0};

	stream_clear(in);
	for (uint32_t i = 0; i < pages; i++) {
		memory[i] = i;
		add_fault(in, i, NO_PAGE, false);
	}
	for (uint32_t i = pages; i < pages + faults; i++) {
		uint32_t place = pages > 1 ? code % pages : 0;

		/* the page is new: where it was before does not matter to what comes */
		add_fault(in, i, memory[place], i % 3 == 0);
		memory[place] = i;
		code /= pages > 1 ? pages : 1;
	}
}

/* All behaviour sequences of small memories. */
static void test_all_behaviours(void **state)
{
	static const struct {
		uint32_t pages, faults;
	} sizes[] = {{1, 4}, {2, 1}, {2, 2}, {2, 9}, {3, 3}, {3, 7}, {4, 5}, {5, 4}};
	struct stream in = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint32_t codes = 1;

		for (uint32_t j = 0; j < sizes[i].faults; j++)
			codes *= sizes[i].pages;
		for (uint32_t code = 0; code < codes; code++) {
			coded_behaviour(&in, sizes[i].pages, sizes[i].faults, code);
			expect_read(&in, sizes[i].pages, 0, code);
		}
	}
	stream_free(&in);
}

/* Victims at random, from all the memory or from a part of it, pages that return. */
static void random_behaviour(struct random *random, uint32_t pages, uint32_t faults,
			     struct stream *in)
{
	uint32_t memory[64];
	uint32_t some = 1 + random_below(random, pages);
	uint32_t used = 0;

	stream_clear(in);
	while (faults-- > 0) {
		uint32_t place = random_below(random, some);
		uint32_t page = 0;
		bool there = true;

		if (random_below(random, 10) == 0)
			some = 1 + random_below(random, pages);
		while (there) {
			page = random_below(random, 2 * pages + 2);
			there = false;
			for (uint32_t i = 0; i < used; i++)
				there |= memory[i] == page;
		}
		if (used < pages) {
			memory[used++] = page;
			add_fault(in, page, NO_PAGE, false);
		} else {
			add_fault(in, page, memory[place], random_below(random, 2) != 0);
			memory[place] = page;
		}
	}
}

static void test_random_behaviours(void **state)
{
	uint64_t seed = random_seed();
	struct random random = {seed + 4};
	struct stream in = {0};

	(void)state;
	for (unsigned int number = 0; number < 3000; number++) {
		uint32_t pages = 1 + random_below(&random, number % 10 == 0 ? 64 : 9);
		uint32_t most = pages == MOST_TRIED ? 30 : 150;

		random_behaviour(&random, pages, random_below(&random, most), &in);
		expect_read(&in, pages, seed, number);
	}
	stream_free(&in);
}

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
	/* a victim that is not there: gone, never seen, just being fetched */
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

/* Whatever comes: a result or a word on the damage. */
static void test_noise(void **state)
{
	struct random random = {random_seed() + 5};
	struct stream in = {0};
	unsigned int damaged = 0;

	(void)state;
	for (unsigned int number = 0; number < 3000; number++) {
		uint32_t pages = 1 + random_below(&random, 6);
		struct stream out = {0};
		struct lpl_report report;
		char before[64];
		char spec[64];
		int error;

		random_behaviour(&random, pages, 2 + random_below(&random, 60), &in);
		for (uint32_t i = random_below(&random, 3); i > 0; i--) {
			struct item *a = &in.item[random_below(&random, (uint32_t)in.count)];
			struct item *b = &in.item[random_below(&random, (uint32_t)in.count)];
			struct item swapped = *a;

			*a = *b;
			if (random_below(&random, 2) != 0)
				*b = swapped;
		}
		error = try_reduce(spec_of(before, "lrubs:%u", pages),
				   spec_of(spec, "olr:%u", pages), &in,
				   1 + random_below(&random, 9), &out, &report);
		assert_true(error == LPL_OK || error == LPL_ERR_DAMAGED);
		damaged += error == LPL_OK ? 0 : 1;
		stream_free(&out);
	}
	assert_in_range(damaged, 500, 2500);
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
	reduce(NULL, "olr:2", &in, 64, &out);
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
	/* not evicted: its type stays, and a clip is a read */
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
	reduce(NULL, "olr:2", &in, 64, &out);
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
	reduce(NULL, "olr:3", &in, 16, &out);
	assert_int_equal(out.count, 3 + 20000);
	for (size_t i = 0; i < out.count; i++)
		if (out.item[i].is_event)
			assert_int_equal(out.item[i].event.arg[0], events++);
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
	/* what is put in may stand behind a change of mapping */
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
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_definitions),
		cmocka_unit_test(test_exactness),
		cmocka_unit_test(test_chains),
		cmocka_unit_test(test_shortest),
		cmocka_unit_test(test_all_behaviours),
		cmocka_unit_test(test_random_behaviours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
