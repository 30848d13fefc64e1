/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the reducers that drop references promise: the same pages fetched and
 * evicted, in the same order, at the same times and as dirty, at every size from
 * the one they name; and that this says something, for at others it is not so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "oracle_eliminate.h"
#include "page.h"
#include "trial.h"

#include <stdio.h>
#include <string.h>

/* One claim: a policy is exact for what SPEC makes, against what it makes of PLAIN. */
struct claim {
	struct trial trial;	/* first; `number` is the least size */
	policy *policy;
	const char *plain;
	bool by_time;		/* sizes are of references */
};

/* The sizes worth trying: beyond, nothing changes. */
static uint64_t largest(const struct claim *claim, const struct stream *in)
{
	uint64_t most = claim->by_time ? stream_span(in) : stream_pages(in);

	return most + 1 > claim->trial.number ? most + 1 : claim->trial.number;
}

static bool is_inexact(const struct stream *in, void *context)
{
	const struct claim *claim = context;
	struct stream plain = {0};
	struct stream reduced = {0};
	bool inexact = false;

	reduce_stream(claim->plain, in, 64, &plain);
	reduce_stream(claim->trial.spec, in, claim->trial.batch, &reduced);
	for (uint64_t size = claim->trial.number; size <= largest(claim, in) && !inexact; size++)
		inexact = !behaves_equally(claim->policy, size, &plain, &reduced);
	stream_free(&plain);
	stream_free(&reduced);
	return inexact;
}

/* How many of the sizes [from, to] show the reduction? */
static unsigned int shown(const struct claim *claim, const struct stream *in, uint64_t from,
			  uint64_t to)
{
	struct stream plain = {0};
	struct stream reduced = {0};
	unsigned int count = 0;

	reduce_stream(claim->plain, in, 64, &plain);
	reduce_stream(claim->trial.spec, in, 64, &reduced);
	for (uint64_t size = from; size <= to; size++)
		count += behaves_equally(claim->policy, size, &plain, &reduced) ? 0 : 1;
	stream_free(&plain);
	stream_free(&reduced);
	return count;
}

/* SPECs as test_claims() writes them: %1$u is K, %2$u more than K, %3$u is bytes. */
struct kind {
	const char *spec, *plain;
	policy *policy;
	bool by_time;
	bool larger;		/* exact from the larger number */
	bool seen_below;	/* the reduction has to show at some smaller sizes */
};

static const struct kind kinds[] = {
	{"sad2:%1$u", "none", history_lru, false, false, true},
	{"sad2:%1$u+sad2:%1$u", "none", history_lru, false, false, true},
	{"sad:%1$u+sad2:%1$u+sad:%1$u", "none", history_lru, false, false, true},
	{"window:%1$u+sad2:%2$u", "none", history_lru, false, true, true},
	{"sad2-fix:%1$u", "none", history_lru, false, false, true},
	{"window:%1$u+sad2-fix:%2$u", "none", history_lru, false, true, true},
	{"sad2-fix:%1$u+block:%3$u", "block:%3$u", history_lru, false, false, true},
	{"sad-ws:%1$u", "none", history_ws, true, false, true},
	{"sad-ws:%1$u", "none", history_vmin, true, false, true},
	{"sad-ws:%1$u", "none", history_lru, false, false, true},
	{"sad-ws:%1$u", "none", history_opt, false, false, true},
	{"sad-ws:%1$u+sad-ws:%2$u", "none", history_ws, true, true, true},
	{"sad-ws:%2$u+sad-ws:%1$u", "none", history_vmin, true, true, true},
	{"sad-ws:%2$u+sad:%1$u", "none", history_opt, false, true, false},
	{"sad:%1$u+block:%3$u", "block:%3$u", history_lru, false, false, true},
	{"sad:%1$u+block:%3$u", "block:%3$u", history_opt, false, false, true},
	{"window:%1$u+block:%3$u", "block:%3$u", history_lru, false, false, true},
	{"window:%1$u+block:%3$u", "block:%3$u", history_opt, false, false, true},
	{"block:%3$u+sad:%1$u", "block:%3$u", history_opt, false, false, true},
	{"sad2:%1$u+block:%3$u", "block:%3$u", history_lru, false, false, true},
	{"window:%1$u+block:%3$u+sad:%1$u", "block:%3$u", history_opt, false, false, true},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static void write_form(char spec[96], const char *form, uint32_t k, uint32_t more, uint32_t bytes)
{
	(void)snprintf(spec, 96, form, k, more, bytes);
}

static void test_claims(void **state)
{
	uint64_t seed = random_seed();
	struct random random = {seed + 2};
	struct stream in = {0};
	unsigned int below[KINDS] = {0};

	(void)state;
	for (unsigned int number = 0; number < 1000; number++) {
		uint32_t pages = 1 + random_below(&random, 8);
		uint32_t bytes = 4096U << random_below(&random, 4);

		stream_clear(&in);
		random_stream(&random, (enum shape)(number % SHAPES), pages,
			      random_below(&random, 70), number % 3 != 0, &in);
		for (size_t i = 0; i < KINDS; i++) {
			const struct kind *kind = &kinds[i];
			bool tau = strstr(kind->spec, "sad-ws") != NULL;
			uint32_t k = tau ? 1 + random_below(&random, 24) : pages;
			uint32_t more = k + random_below(&random, 4);
			char spec[96];
			char plain[96];
			struct claim claim = {
				.trial = {.spec = spec, .batch = 64,
					  .number = kind->larger ? more : k},
				.policy = kind->policy,
				.plain = plain,
				.by_time = kind->by_time,
			};

			write_form(spec, kind->spec, k, more, bytes);
			write_form(plain, kind->plain, k, more, bytes);
			expect_not(is_inexact, &in, &claim.trial, seed, number);
			below[i] += shown(&claim, &in, 1, claim.trial.number - 1);
		}
	}
	stream_free(&in);
	for (size_t i = 0; i < KINDS; i++)
		if (kinds[i].seen_below && below[i] < 50) {
			(void)fprintf(stderr, "claim %zu, %s, shows at %u sizes only\n", i,
				      kinds[i].spec, below[i]);
			fail();
		}
}

/* ---- what is known at the end ---- */

/* An argument of the last event with this tag; 0: there is none. */
static uint64_t said(const struct stream *out, uint32_t tag, size_t arg)
{
	for (size_t i = out->count; i-- > 0;)
		if (out->item[i].is_event && out->item[i].event.tag == tag)
			return out->item[i].event.arg[arg];
	return 0;
}

static uint64_t kept(const struct stream *out)
{
	uint64_t count = 0;

	for (size_t i = 0; i < out->count; i++)
		count += !out->item[i].is_event;
	return count;
}

/*
 * LRU on what `replay` makes of the records of in-out:N is exact from the memory on that in-out
 * names, which says something: with a page less it often is not.
 */
static void test_in_out(void **state)
{
	struct random random = {random_seed() + 5};
	unsigned int below = 0;

	(void)state;
	for (unsigned int number = 0; number < 1000; number++) {
		uint32_t length = 1 + random_below(&random, 12);
		struct stream in = {0};
		struct stream records = {0};
		struct stream replayed = {0};
		char spec[64];
		uint64_t least;

		random_stream(&random, (enum shape)(number % SHAPES), 1 + random_below(&random, 8),
			      random_below(&random, 90), number % 3 != 0, &in);
		(void)snprintf(spec, sizeof(spec), "in-out:%u", length);
		reduce_stream(spec, &in, 1 + random_below(&random, 40), &records);
		least = said(&records, LPL_EVENT_LEAST_MEMORY, LPL_EVENT_LEAST_MEMORY_PAGES);
		reduce_further(spec, "replay", &records, 1 + random_below(&random, 40), &replayed);
		assert_true(kept(&in) == 0 || least != 0);
		for (uint64_t size = least; size != 0 && size <= stream_pages(&in) + 1; size++)
			if (!behaves_equally(history_lru, size, &in, &replayed))
				fail_msg("seed %llu, number %u: %s+replay, %llu pages",
					 (unsigned long long)random_seed(), number, spec,
					 (unsigned long long)size);
		below += least > 1 && !behaves_equally(history_lru, least - 1, &in, &replayed);
		stream_free(&in);
		stream_free(&records);
		stream_free(&replayed);
	}
	assert_true(below > 100);
}

/* Pages referenced within the last tau references, summed over the moments from the first reference to the last. */
static uint64_t working_sets(const struct stream *in, uint64_t tau)
{
	uint64_t sum = 0;
	uint64_t end = 0;

	for (size_t i = 0; i < in->count; i++)
		if (!in->item[i].is_event)
			end = in->item[i].ref.ref;
	for (size_t i = 0; i < in->count; i++) {
		uint64_t moment = in->item[i].ref.ref;
		size_t next = i + 1;

		if (in->item[i].is_event)
			continue;
		while (next < in->count && (in->item[next].is_event ||
					    !same(&in->item[next].ref, &in->item[i].ref)))
			next++;
		for (; moment <= end && moment - in->item[i].ref.ref < tau; moment++)
			sum += next == in->count || moment < in->item[next].ref.ref;
	}
	return sum;
}

/* The mean memory of WS and VMIN follows from what irg:THETA keeps and the event at its end. */
static void test_irg_space_time(void **state)
{
	struct random random = {random_seed() + 6};

	(void)state;
	for (unsigned int number = 0; number < 1000; number++) {
		uint64_t theta = 1 + random_below(&random, 60);
		struct history vmin = {0};
		struct stream in = {0};
		struct stream out = {0};
		char spec[64];
		uint64_t sum;

		random_stream(&random, (enum shape)(number % SHAPES), 1 + random_below(&random, 8),
			      random_below(&random, 90), number % 3 != 0, &in);
		(void)snprintf(spec, sizeof(spec), "irg:%u", (unsigned int)theta);
		reduce_stream(spec, &in, 1 + random_below(&random, 40), &out);
		sum = said(&out, LPL_EVENT_GAPS, LPL_EVENT_GAPS_SUM);
		history_vmin(&in, theta, &vmin);
		assert_int_equal(vmin.resident, sum + kept(&out));
		assert_int_equal(working_sets(&in, theta), sum + kept(&out) * theta -
				 said(&out, LPL_EVENT_GAPS, LPL_EVENT_GAPS_CUT));
		history_free(&vmin);
		stream_free(&in);
		stream_free(&out);
	}
}

/* ---- what is not exact ---- */

/* How often is a policy wrong on what SPEC makes of random streams, at `size`? */
static unsigned int times_wrong(const char *spec, policy *policy, uint64_t size)
{
	struct random random = {random_seed() + 3};
	unsigned int wrong = 0;

	for (unsigned int number = 0; number < 400; number++) {
		struct claim claim = {.trial = {.spec = spec}, .policy = policy, .plain = "none"};
		struct stream in = {0};

		random_stream(&random, (enum shape)(number % SHAPES), 5, 80, false, &in);
		wrong += shown(&claim, &in, size, size);
		stream_free(&in);
	}
	return wrong;
}

/* SAD2 looks at the past only: the paper claims LRU for it, and no more. */
static void test_sad2_is_not_for_opt(void **state)
{
	struct stream in = {0};
	struct stream out = {0};
	struct history before = {0};
	struct history after = {0};

	(void)state;
	for (const char *page = "ABCBCA"; *page != '\0'; page++)
		stream_add_page(&in, (uint64_t)*page, LPL_READ);
	reduce_stream("sad2:2", &in, 8, &out);
	assert_int_equal(out.count, 5);	/* A B B C A */
	assert_true(behaves_equally(history_lru, 2, &in, &out));
	history_opt(&in, 2, &before);
	history_opt(&out, 2, &after);
	/* fetches and evictions: 4 and 2, 3 and 1 */
	assert_int_equal(before.count, 6);
	assert_int_equal(after.count, 4);
	history_free(&before);
	history_free(&after);
	stream_free(&in);
	stream_free(&out);
	assert_true(times_wrong("sad2:4", history_opt, 4) > 10);
	assert_true(times_wrong("sad2-fix:4", history_opt, 4) > 10);
}

static void test_inexact_methods(void **state)
{
	(void)state;
	assert_true(times_wrong("sd:4", history_lru, 4) > 50);
	assert_true(times_wrong("sd:4", history_opt, 4) > 50);
	assert_true(times_wrong("irg:6", history_lru, 6) > 50);
	assert_true(times_wrong("irg:6", history_ws, 6) > 50);
	assert_true(times_wrong("glass-cao:5", history_lru, 5) > 50);
	assert_true(times_wrong("glass-cao:5", history_opt, 5) > 50);
	assert_true(times_wrong("sad:4", history_ws, 6) > 50);
}

static uint64_t fetches(policy *policy, const struct stream *in, uint64_t size)
{
	struct history history = {0};
	uint64_t count = 0;

	policy(in, size, &history);
	for (size_t i = 0; i < history.count; i++)
		count += history.move[i].leaves ? 0 : 1;
	history_free(&history);
	return count;
}

/* All that the paper grants it: with tau = THETA the number of faults is right. */
static void test_irg_faults(void **state)
{
	struct random random = {random_seed() + 4};

	(void)state;
	for (unsigned int number = 0; number < 500; number++) {
		uint32_t theta = 1 + random_below(&random, 20);
		struct stream in = {0};
		struct stream out = {0};
		char spec[32];

		random_stream(&random, (enum shape)(number % SHAPES), 5, 80, false, &in);
		(void)snprintf(spec, sizeof(spec), "irg:%u", theta);
		reduce_stream(spec, &in, 7, &out);
		assert_int_equal(fetches(history_ws, &in, theta), fetches(history_ws, &out, theta));
		assert_int_equal(fetches(history_vmin, &in, theta),
				 fetches(history_vmin, &out, theta));
		stream_free(&in);
		stream_free(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sad2_is_not_for_opt),
		cmocka_unit_test(test_inexact_methods),
		cmocka_unit_test(test_irg_faults),
		cmocka_unit_test(test_in_out),
		cmocka_unit_test(test_irg_space_time),
		cmocka_unit_test(test_claims),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
