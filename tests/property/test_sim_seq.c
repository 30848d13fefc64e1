/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SEQ where it matters: sweeps through the pages of several spaces, up and down, that meet, are
 * broken off, and go on; with small options, so that all that the definition speaks of happens.
 */
#include "play.h"

#include "oracle_sim.h"

#include <stdio.h>
#include <string.h>

struct trial {
	struct seq_options options;
	const char *sizes;
	size_t batch;
};

static struct lpl_simulator *play(const struct stream *in, const struct trial *trial)
{
	char spec[128];

	(void)snprintf(spec, sizeof(spec), "seq:length=%llu:distance=%llu:faults=%llu",
		       (unsigned long long)trial->options.length,
		       (unsigned long long)trial->options.distance,
		       (unsigned long long)trial->options.faults);
	return simulate(spec, trial->sizes, in, trial->batch);
}

static bool differs(const struct stream *in, void *context)
{
	const struct trial *trial = context;
	struct lpl_simulator *simulator = play(in, trial);
	bool found = false;
	struct trace trace;
	size_t count;
	const struct lpl_result *result = lpl_simulator_results(simulator, 0, &count);

	trace_of(in, &trace);
	for (size_t i = 0; i < count && !found; i++) {
		struct counts expected = oracle_seq(&trace, result[i].size, &trial->options);

		found = !result_equal(&result[i], &expected);
	}
	trace_free(&trace);
	lpl_simulator_close(simulator);
	return found;
}

static void expect_equal(struct stream *in, struct trial *trial, uint64_t seed, unsigned int number)
{
	if (!differs(in, trial))
		return;
	if (in->count < 500)	/* the oracle is slow */
		stream_shrink(in, differs, trial);
	(void)fprintf(stderr, "LAPLACE_TEST_SEED=%llu, case %u, sizes %s, length %llu, distance %llu, "
		      "faults %llu:\n", (unsigned long long)seed, number, trial->sizes,
		      (unsigned long long)trial->options.length,
		      (unsigned long long)trial->options.distance,
		      (unsigned long long)trial->options.faults);
	if (in->count < 500)
		stream_print("not simulated rightly", in);
	fail();
}

static void reference(struct random *random, uint64_t space, uint64_t page, struct stream *in)
{
	enum lpl_type type = random_below(random, 3) == 0 ? LPL_WRITE : LPL_READ;

	if (space == 0)		/* one of the spaces is that of page tables */
		type = type == LPL_WRITE ? LPL_WALK_WRITE : LPL_WALK_READ;
	stream_add_page(in, page, type);
	in->item[in->count - 1].ref.space = space;
}

/* A sweep that is going on. */
struct sweep {
	uint64_t space, page;
	bool down;
};

/*
 * Sweeps step in turn, at random; now and then one begins elsewhere, or turns round, or a page at
 * random is referenced, in `spread` pages of each of `spaces` spaces.
 */
static void sweeps(struct random *random, uint32_t spaces, uint32_t spread, size_t count,
		   struct stream *in)
{
	struct sweep sweep[3] = {{0}};
	const uint32_t restless = 2 + random_below(random, 40);

	while (in->count < count) {
		struct sweep *one = &sweep[random_below(random, 3)];

		if (random_below(random, restless) == 0 || one->page == 0 || one->page > 2 * spread)
			*one = (struct sweep){random_below(random, spaces),
					      1 + random_below(random, spread), random_below(random, 2)};
		if (random_below(random, 4 * restless) == 0)
			one->down = !one->down;
		if (random_below(random, 8) == 0)
			reference(random, random_below(random, spaces), random_below(random, spread), in);
		reference(random, one->space, one->page, in);
		one->page = one->down ? one->page - 1 : one->page + 1;
	}
}

static void test_sweeps(void **state)
{
	uint64_t seed = random_seed();
	struct random random = {seed + 16};
	struct stream in = {0};

	(void)state;
	for (unsigned int number = 0; number < 1500; number++) {
		struct trial trial = {
			{1 + random_below(&random, 4), 1 + random_below(&random, 4),
			 1 + random_below(&random, 4)},
			number % 2 != 0 ? "1:12:1" : "1,3,7:100:13", 1 + random_below(&random, 99),
		};

		stream_clear(&in);
		sweeps(&random, 1 + random_below(&random, 3), 4 + random_below(&random, 60),
		       random_below(&random, 300), &in);
		expect_equal(&in, &trial, seed, number);
	}
	stream_free(&in);
}

/* Longer, with the defaults among the options, and with more sequences than are remembered. */
static void test_many(void **state)
{
	static const struct seq_options options[] = {
		{20, 20, 5}, {1, 1, 1}, {3, 7, 32}, {2, UINT64_MAX, 1}, {UINT64_MAX, 1, 1},
	};
	uint64_t seed = random_seed();
	struct random random = {seed + 17};
	struct stream in = {0};

	(void)state;
	for (unsigned int number = 0; number < 20; number++) {
		struct trial trial = {options[number % 5], "1,20,50,100,300,18446744073709551615", 700};

		stream_clear(&in);
		for (size_t part = 1; part <= 8; part++) {
			for (size_t i = 0; i < 300 && part % 2 == 0; i++)
				reference(&random, 1, random_below(&random, 1000), &in);
			sweeps(&random, 2, 200 + random_below(&random, 400), part * 500, &in);
		}
		expect_equal(&in, &trial, seed, number);
	}
	stream_free(&in);
}

/* What it is made for: a file read again and again that does not fit. */
static void test_loop(void **state)
{
	struct lpl_simulator *simulator = new_simulator(1, NULL);
	struct stream in = {0};
	size_t count;

	(void)state;
	for (size_t i = 0; i < 10 * 150; i++)
		stream_add_page(&in, i % 150, LPL_READ);
	add_policy(simulator, "lru", "100");
	add_policy(simulator, "seq", "100");
	send_all(simulator, &in, 100);
	assert_int_equal(lpl_simulator_results(simulator, 0, &count)->faults, 10 * 150);
	assert_true(lpl_simulator_results(simulator, 1, &count)->faults < 10 * 100);
	lpl_simulator_close(simulator);
	stream_free(&in);
}

/* ---- cases worked out by hand ---- */

static void expect(const char *policy, const char *pages, uint64_t size, uint64_t faults)
{
	struct stream in = {0};
	struct lpl_simulator *simulator;
	uint64_t counted;
	char sizes[32];
	size_t count;

	for (const char *page = pages; *page != '\0'; page++) {	/* lower case: another space */
		stream_add_page(&in, (uint64_t)(*page | 0x20), LPL_READ);
		in.item[in.count - 1].ref.space = *page >= 'a' ? 8 : 7;
	}
	(void)snprintf(sizes, sizeof(sizes), "%llu", (unsigned long long)size);
	simulator = simulate(policy, sizes, &in, 7);
	counted = lpl_simulator_results(simulator, 0, &count)->faults;
	if (counted != faults)
		fail_msg("%s of %s, size %s: %llu faults", policy, pages, sizes,
			 (unsigned long long)counted);
	lpl_simulator_close(simulator);
	stream_free(&in);
}

static void test_by_hand(void **state)
{
	(void)state;
	/*
	 * Three pages of memory.  A, B, C come in.  At D the sequence is A to D, and the page at
	 * distance 1, C, goes; at E it is D: A, B and E are left, A and B are hit.  C is
	 * within the sequence, which ends; without one it is E, least recently used, that goes.
	 */
	expect("seq:length=2:distance=1:faults=2", "ABCDEAB", 3, 5);
	expect("seq:length=2:distance=1:faults=2", "ABCDEABC", 3, 6);
	/* C and D are two pages, no more than the length: A goes, then B was hit, and C goes */
	expect("seq:length=2:distance=1:faults=2", "ABCDEABCDBA", 3, 8);
	/* and down */
	expect("seq:length=2:distance=1:faults=2", "EDCBAED", 3, 5);
	/* At distance 2: B goes for D, and C for E; with A and E, D is left, which with 1 it is not. */
	expect("seq:length=2:distance=2:faults=2", "ABCDEAD", 3, 5);
	expect("seq:length=2:distance=2:faults=2", "ABCDEADB", 3, 6);
	expect("seq:length=2:distance=1:faults=2", "ABCDEAD", 3, 6);
	/* the fault on D is the fourth of its sequence: with five to be had, A goes */
	expect("seq:length=2:distance=1:faults=4", "ABCDA", 3, 4);
	expect("seq:length=2:distance=1:faults=5", "ABCDA", 3, 5);
	/* the same pages of two spaces are no sequence */
	expect("seq:length=2:distance=1:faults=2", "AbCDA", 3, 5);
	/*
	 * A and B fault at 1 and 4, X and Y at 2 and 3.  The last fault but one of the latter
	 * is more recent, so for F it is X that goes, and A is kept.
	 */
	expect("seq:length=1:distance=1:faults=2", "AXYBFX", 4, 6);
	expect("seq:length=1:distance=1:faults=2", "AXYBFA", 4, 5);
	/*
	 * X to Z is the one to look at.  It has no page at distance 3; A to D has one, A, but it is
	 * B that goes, by LRU.  At distance 2 it is X.
	 */
	expect("seq:length=2:distance=3:faults=2", "ABCDXYZAFB", 7, 9);
	expect("seq:length=2:distance=2:faults=2", "ABCDXYZAFB", 7, 8);
	/*
	 * B is next to both A and C.  C was later, so that sequence becomes C to B, down.  X
	 * goes for B, then A for X, by LRU.  A extends it again, and C goes, at distance 2,
	 * although it was hit after B.
	 */
	expect("seq:length=2:distance=2:faults=1", "XACBCXAB", 3, 6);
	expect("seq:length=2:distance=2:faults=1", "XACBCXAC", 3, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_loop),
		cmocka_unit_test(test_sweeps),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
