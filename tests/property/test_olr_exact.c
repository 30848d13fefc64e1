/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `olr:K` and `lrubs:K`: record for record as the paper's rule says; the same
 * faults and evictions in every LRU memory from K pages on; as short as its lower
 * bound, and as the shortest trace found by trying all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "container/data.h"
#include "oracle_olr.h"
#include "trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the same record for record ---- */

/* FORMAT has one %u or two, for K. */
__attribute__((format(printf, 2, 0)))
static const char *spec_of(char spec[64], const char *format, uint32_t pages)
{
	(void)snprintf(spec, 64, format, pages, pages);
	return spec;
}

/* What another SPEC of the same K makes of it. */
struct comparison {
	struct trial trial;	/* first */
	const char *same_as;
};

static bool differs(const struct stream *in, void *context)
{
	const struct comparison *comparison = context;
	struct stream expected = {0};
	struct stream got = {0};
	size_t place;
	bool differ;

	reduce_stream(comparison->same_as, in, 7, &expected);
	reduce_trial(in, &comparison->trial, &got);
	differ = !stream_equal(&expected, &got, &place);
	stream_free(&expected);
	stream_free(&got);
	return differ;
}

static void by_olr(const struct stream *in, const struct trial *trial, struct stream *out)
{
	oracle_olr(in, (uint32_t)trial->number, out);
}

static void by_lrubs(const struct stream *in, const struct trial *trial, struct stream *out)
{
	oracle_lrubs(in, (uint32_t)trial->number, out);
}

static void by_annotated(const struct stream *in, const struct trial *trial, struct stream *out)
{
	oracle_annotated(in, (uint32_t)trial->number, out);
}

static void test_definitions(void **state)
{
	static const struct {
		const char *before, *spec;	/* formats for spec_of() */
		const char *same_as;		/* NULL: as the oracle */
		void (*oracle)(const struct stream *in, const struct trial *trial,
			       struct stream *out);
	} rows[] = {
		{.spec = "olr:%u", .oracle = by_olr},
		{.spec = "lrubs:%u", .oracle = by_lrubs},
		{.spec = "lrubs:%u+olr:%u", .same_as = "olr:%u"},
		{.spec = "lrubs:%u+none+olr:%u", .same_as = "olr:%u"},
		{.before = "lrubs:%u", .spec = "olr:%u", .same_as = "olr:%u"},
		{.before = "lrubs:%u", .spec = "none+olr:%u", .same_as = "olr:%u"},
		{.before = "lrubs:%u", .spec = "none", .same_as = "lrubs:%u"},
		{.spec = "annotated:%u", .oracle = by_annotated},
		{.spec = "annotated:%u+lrubs:%u", .same_as = "lrubs:%u"},
		{.spec = "annotated:%u+olr:%u", .same_as = "olr:%u"},
		{.spec = "annotated:1+annotated:%u", .same_as = "annotated:%u"},
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
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			char before[64];
			char spec[64];
			char same_as[64];
			struct comparison comparison = {.trial = {
				.before = rows[i].before == NULL ? NULL :
					spec_of(before, rows[i].before, pages),
				.spec = spec_of(spec, rows[i].spec, pages),
				.batch = 1 + random_below(&random, 40),
				.oracle = rows[i].oracle,
				.number = pages,
			}};

			if (rows[i].same_as != NULL)
				comparison.same_as = spec_of(same_as, rows[i].same_as, pages);
			expect_not(rows[i].same_as != NULL ? differs : differs_from_oracle, &in,
				   &comparison.trial, seed, number);
		}
	}
	stream_free(&in);
}

/* ---- exact ---- */

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

static void number_both(const struct stream *in, const struct trial *trial,
			struct numbered *before, struct numbered *after)
{
	struct stream original = {0};
	struct stream reduced = {0};

	before_and_after(in, trial, &original, &reduced);
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

	number_both(in, trial, &before, &after);
	inexact = before.trace.pages != after.trace.pages;
	for (uint64_t size = trial->number; size <= before.trace.pages + 1U && !inexact; size++)
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

	number_both(in, trial, &before, &after);
	for (uint64_t size = 1; size < trial->number; size++)
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
		char spec[64];
		struct trial trial = {
			.spec = spec_of(spec, number % 5 == 0 ? "olr:%u+olr:%u" : "olr:%u", pages),
			.batch = 64, .number = pages, .merged = merged,
		};

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
		struct trial trial = {.spec = "olr:2+olr:5", .number = 5, .batch = 64};

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
	oracle_behaviour(&trace, trial->number, &behaviour);
	reduce_trial(in, trial, &out);
	for (size_t i = 0; i < out.count; i++) {
		refs += out.item[i].is_event ? 0 : 1;
		clips += !out.item[i].is_event && (out.item[i].ref.flags & LPL_SYNTHETIC) != 0 ?
			1 : 0;
	}
	longer = refs != behaviour.count + clips || clips != oracle_lower_bound(&behaviour) ||
		(trial->number <= MOST_TRIED && refs != oracle_shortest(&behaviour, (uint32_t)trial->number));
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
		char spec[64];
		struct trial trial = {
			.spec = spec_of(spec, "olr:%u", pages), .batch = 64, .number = pages,
		};
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
	event.arg[LPL_EVENT_EVICTED_SPACE] = ref->space;
	event.arg[LPL_EVENT_EVICTED_ADDRESS] = (uint64_t)evicted << 12;
	event.arg[LPL_EVENT_EVICTED_DIRTY] = dirty ? 1 : 0;
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
	struct trial back = {.spec = trial->spec, .number = trial->number, .batch = 64};
	size_t place;
	bool misread;

	reduce_further(trial->before, trial->spec, in, 64, &references);
	oracle_lrubs(&references, (uint32_t)trial->number, &again);
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
	char before[64];
	char spec[64];
	struct trial trial = {
		.before = spec_of(before, "lrubs:%u", pages),
		.spec = spec_of(spec, "olr:%u", pages), .number = pages,
	};

	if (!is_misread(in, &trial))
		return;
	(void)fprintf(stderr, "LAPLACE_TEST_SEED=%llu, case %u, K=%u\n",
		      (unsigned long long)seed, number, pages);
	stream_print("this behaviour", in);
	fail();
}

/* The victims are given by the digits of `code` in base K: places in memory. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_definitions),
		cmocka_unit_test(test_exactness),
		cmocka_unit_test(test_chains),
		cmocka_unit_test(test_shortest),
		cmocka_unit_test(test_all_behaviours),
		cmocka_unit_test(test_random_behaviours),
		cmocka_unit_test(test_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
