/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sad2-fix:K against whole passes of SAD and SAD2, repeated until they change
 * nothing; that it sends on what is decided; and rows that decide at their end only.
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

static void by_passes(const struct stream *in, const struct trial *trial, struct stream *out)
{
	oracle_sad2_fix(in, (uint32_t)trial->number, out);
}

/* ---- streams that give passes work ---- */

enum { STACK = 64 };

/*
 * Pages by their place in the order of recency, which is about K; or in rows, in
 * which each page comes again after the next one.
 */
struct near {
	struct random *random;
	uint64_t stack[STACK];
	uint32_t depth;
	uint64_t pages;		/* so far */
	uint32_t reach, newness;
	bool row;
};

static uint64_t near_page(struct near *near, uint64_t number)
{
	bool new = near->row ? number % 2 == 0 && random_below(near->random, 20) != 0 :
		random_below(near->random, near->newness) == 0;
	uint32_t place = near->row && random_below(near->random, 9) != 0 ? 1 :
		random_below(near->random, near->reach);

	if (new || near->depth == 0)
		return random_below(near->random, 8) != 0 ? near->pages++ :
			random_next(near->random) % (near->pages + 1);
	return near->stack[place < near->depth ? place : near->depth - 1];
}

static void near_stream(struct random *random, uint32_t k, size_t count, struct stream *stream)
{
	struct near near = {
		.random = random,
		.reach = 1 + random_below(random, k + 3),
		.newness = 2 + random_below(random, 6),
		.row = random_below(random, 3) == 0,
	};

	for (size_t i = 0; i < count; i++) {
		uint64_t page = near_page(&near, i);
		uint32_t place = 0;

		while (place < near.depth && near.stack[place] != page)
			place++;
		if (place == near.depth)
			place = near.depth < STACK ? near.depth++ : STACK - 1;
		memmove(near.stack + 1, near.stack, place * sizeof(near.stack[0]));
		near.stack[0] = page;
		stream_add_page(stream, page, random_below(random, 4) == 0 ? LPL_WRITE : LPL_READ);
		if (random_below(random, 30) == 0) {
			struct lpl_event event = {.tag = KTR_SCHEDULE, .arg = {i}};

			stream_add_event(stream, &event);
		}
	}
}

static void test_definition(void **state)
{
	uint64_t seed = random_seed();
	struct random random = {seed + 5};
	struct stream in = {0};

	(void)state;
	for (unsigned int number = 0; number < 4000; number++) {
		/* some are so long that passes are run in the middle, and more than once */
		size_t most = number % 8 == 0 ? 500 : 150;
		uint32_t k = 1 + random_below(&random, number % 8 == 0 ? 9 : 6);
		char spec[32];
		struct trial trial = {
			.spec = spec,
			.batch = 1 + random_below(&random, 40),
			.oracle = by_passes,
			.number = k,
		};

		stream_clear(&in);
		near_stream(&random, k, random_below(&random, (uint32_t)most), &in);
		(void)snprintf(spec, sizeof(spec), "sad2-fix:%u", k);
		expect_not(differs_from_oracle, &in, &trial, seed, number);
	}
	stream_free(&in);
}

/* Neither SAD nor SAD2 finds anything to drop in the result. */
static void test_fixpoint(void **state)
{
	struct random random = {random_seed() + 6};
	size_t once = 0;
	size_t fix = 0;

	(void)state;
	for (unsigned int number = 0; number < 200; number++) {
		uint32_t k = 1 + random_below(&random, 20);
		struct stream in = {0};
		struct stream out = {0};
		struct stream again = {0};
		char spec[64];
		size_t place;

		near_stream(&random, k, 2000, &in);
		(void)snprintf(spec, sizeof(spec), "sad2-fix:%u", k);
		reduce_stream(spec, &in, 50, &out);
		(void)snprintf(spec, sizeof(spec), "sad:%u+sad2:%u+sad:%u", k, k, k);
		reduce_stream(spec, &out, 50, &again);
		assert_true(stream_equal(&out, &again, &place));
		stream_clear(&again);
		reduce_stream(spec, &in, 50, &again);
		fix += out.count;
		once += again.count;
		stream_free(&in);
		stream_free(&out);
		stream_free(&again);
	}
	/* and there was more to find than in one round */
	assert_true(fix < once);
}

/* ---- examples ---- */

static void test_examples(void **state)
{
	(void)state;
	/* the paper, section 3.3 */
	expect_pages("sad2-fix:3", "ABCBACDABD", "ABACDABD");
	expect_pages("sad2-fix:2", "ABCBCBA", "ABCBA");
	/* SAD comes first */
	expect_pages("sad2-fix:3", "AABA", "ABA");
	expect_pages("sad2:3+sad:3", "AABA", "ABA");
	/* the end decides about the beginning */
	expect_pages("sad2-fix:3", "ABACBDCEDFEF", "ABCDEF");
	expect_pages("sad2-fix:3", "ABACBDCEDFE", "ABACBDCEDFE");
	expect_pages("sad2-fix:1", "", "");
	expect_pages("sad2-fix:16777216", "", "");
	expect_pages("sad2-fix:16777216", "A", "A");
	expect_pages("sad2-fix:1", "AAABBA", "ABA");
	/* all of it fits: each page's last reference is enough */
	expect_pages("sad2-fix:16777216", "ABCABCABC", "ABC");
}

/* ---- what is held ---- */

/* How far does the output lag? */
struct watch {
	struct lpl_sink sink;
	uint64_t last, refs;
};

static enum lpl_error watch_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				 struct lpl_report *report)
{
	struct watch *watch = (struct watch *)sink;

	(void)report;
	watch->last = refs[count - 1].ref;
	watch->refs += count;
	return LPL_OK;
}

static enum lpl_error watch_event(struct lpl_sink *sink, const struct lpl_event *event,
				  struct lpl_report *report)
{
	(void)sink;
	(void)event;
	(void)report;
	return LPL_OK;
}

static enum lpl_error watch_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	(void)sink;
	(void)report;
	return LPL_OK;
}

/* The furthest that the output ever lags, in references. */
static uint64_t greatest_lag(const char *spec, const struct stream *in)
{
	struct watch watch = {{watch_refs, watch_event, watch_finish}, 0, 0};
	struct lpl_report report = {0};
	struct lpl_reducer *reducer;
	struct lpl_sink *sink;
	uint64_t furthest = 0;

	assert_int_equal(lpl_reducer_open(&reducer, NULL, spec, &watch.sink, &report), LPL_OK);
	sink = lpl_reducer_sink(reducer);
	for (size_t i = 0; i < in->count; i++) {
		const struct item *item = &in->item[i];

		if (item->is_event)
			continue;
		assert_int_equal(sink->refs(sink, &item->ref, 1, &report), LPL_OK);
		if (item->ref.ref - watch.last > furthest)
			furthest = item->ref.ref - watch.last;
	}
	assert_int_equal(sink->finish(sink, &report), LPL_OK);
	lpl_reducer_close(reducer);
	return furthest;
}

/* What is open at the end closes some hundred references later. */
static void test_promptness(void **state)
{
	struct random random = {random_seed() + 7};

	(void)state;
	for (uint32_t k = 4; k <= 16; k *= 2) {
		struct stream in = {0};

		for (size_t i = 0; i < 30000; i++) {
			uint32_t page = random_below(&random, 2 * k);

			/* every so often something else is done */
			stream_add_page(&in, page + i / 1000 * k, LPL_READ);
		}
		assert_true(greatest_lag(k == 4 ? "sad2-fix:4" : k == 8 ? "sad2-fix:8" :
					    "sad2-fix:16", &in) < 3000);
		stream_free(&in);
	}
}

/* 1 2 1 3 2 4 3 ... n n-1, and n again or not. */
static void test_long_row(void **state)
{
	enum { LENGTH = 20000 };
	struct stream in = {0};
	struct stream out = {0};
	size_t place;

	(void)state;
	stream_add_page(&in, 1, LPL_WRITE);
	for (uint64_t page = 2; page <= LENGTH; page++) {
		stream_add_page(&in, page, LPL_READ);
		stream_add_page(&in, page - 1, LPL_READ);
	}
	reduce_stream("none", &in, 64, &out);
	for (size_t i = 0; i < out.count; i++) {	/* as reducers send them */
		out.item[i].ref.flags = LPL_PAGED;
		out.item[i].ref.length = 0;
	}
	{
		struct stream same = {0};

		reduce_stream("sad2-fix:3", &in, 64, &same);
		assert_true(stream_equal(&out, &same, &place));
		stream_free(&same);
	}
	stream_clear(&out);
	stream_add_page(&in, LENGTH, LPL_READ);
	reduce_stream("sad2-fix:3", &in, 64, &out);
	assert_int_equal(out.count, LENGTH);
	for (size_t i = 0; i < out.count; i++) {
		assert_int_equal(out.item[i].ref.address / 4096, i + 1);
		assert_int_equal(out.item[i].ref.ref, i + 1 == LENGTH ? 2 * i + 2 : 2 * i + 3);
		assert_int_equal(out.item[i].ref.type, i == 0 ? LPL_WRITE : LPL_READ);
	}
	stream_free(&in);
	stream_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples),
		cmocka_unit_test(test_definition),
		cmocka_unit_test(test_fixpoint),
		cmocka_unit_test(test_promptness),
		cmocka_unit_test(test_long_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
