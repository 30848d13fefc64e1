/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The demand-paging policies, many at many sizes in one pass, against policies played out
 * one by one.
 */
#include "demand_trial.h"
#include "oracle_sim.h"
#include "play.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct counts clock_as_is(const struct trace *trace, uint64_t size)
{
	return oracle_clock(trace, size);
}

static struct counts segq_half(const struct trace *trace, uint64_t size)
{
	return oracle_segq(trace, size, 0);
}

static struct counts segq_1(const struct trace *trace, uint64_t size)
{
	return oracle_segq(trace, size, 1);
}

static struct counts segq_5(const struct trace *trace, uint64_t size)
{
	return oracle_segq(trace, size, 5);
}

static struct counts fbr_as_is(const struct trace *trace, uint64_t size)
{
	return oracle_fbr(trace, size, &(struct fbr_options){25, 60, 100, 100});
}

static struct counts fbr_ages(const struct trace *trace, uint64_t size)
{
	return oracle_fbr(trace, size, &(struct fbr_options){10, 90, 2, 2});
}

static struct counts fbr_ages_at_once(const struct trace *trace, uint64_t size)
{
	return oracle_fbr(trace, size, &(struct fbr_options){40, 30, 3, 1});
}

static struct counts glru_as_is(const struct trace *trace, uint64_t size)
{
	return oracle_glru(trace, size, 40, 160);
}

static struct counts glru_far(const struct trace *trace, uint64_t size)
{
	return oracle_glru(trace, size, 1, 250);
}

static struct counts glru_is_lru(const struct trace *trace, uint64_t size)
{
	return oracle_lru(trace, size);
}

static struct counts eelru_as_is(const struct trace *trace, uint64_t size)
{
	return oracle_eelru(trace, size, &(struct eelru_options){40, 3, 30});
}

static struct counts eelru_early(const struct trace *trace, uint64_t size)
{
	return oracle_eelru(trace, size, &(struct eelru_options){1, 8, 80});
}

static struct counts eelru_lasting(const struct trace *trace, uint64_t size)
{
	return oracle_eelru(trace, size, &(struct eelru_options){40, 3, 100});
}

static struct counts eelru_fleeting(const struct trace *trace, uint64_t size)
{
	return oracle_eelru(trace, size, &(struct eelru_options){99, 2, 1});
}

static const struct demand_policy policies[] = {
	{"clock", 1, clock_as_is},
	{"segq", 1, segq_half},
	{"segq:fifo=1", 1, segq_1},
	{"segq:fifo=5", 5, segq_5},
	{"fbr", 1, fbr_as_is},
	{"fbr:new=10:old=90:cmax=2:amax=2", 1, fbr_ages},
	{"fbr:amax=1:cmax=3:new=40:old=30", 1, fbr_ages_at_once},
	{"glru", 1, glru_as_is},
	{"glru:early=1:late=250", 1, glru_far},
	{"glru:early=100:late=300", 1, glru_is_lru},
	{"glru:early=50:late=100", 1, glru_is_lru},
	{"eelru", 1, eelru_as_is},
	{"eelru:early=1:points=8:weight=80", 1, eelru_early},
	{"eelru:weight=100", 1, eelru_lasting},
	{"eelru:early=99:points=2:weight=1", 1, eelru_fleeting},
};
enum { POLICIES = sizeof(policies) / sizeof(policies[0]) };

static void test_small(void **state)
{
	uint64_t seed = random_seed();
	struct random random = {seed + 5};
	struct stream in = {0};

	(void)state;
	for (unsigned int number = 0; number < 700; number++) {
		uint32_t pages = 1 + random_below(&random, 10);

		stream_clear(&in);
		random_stream(&random, number % SHAPES, pages, random_below(&random, 150),
			      number % 3 == 0, &in);
		demand_compare(policies, POLICIES, &in, &random, seed, number);
	}
	stream_free(&in);
}

/* More references, more pages, more than one batch for the threads. */
static void test_large(void **state)
{
	static const struct {
		enum shape shape;
		uint32_t pages;
		size_t count;
		const char *sizes;
	} cases[] = {
		{SHAPE_UNIFORM, 60, 9000, "5,17,60,100,120"},
		{SHAPE_PHASES, 100, 12000, "10,50,99,100,101,200"},
		{SHAPE_LOOP_K1, 64, 9000, "32,48,60,63,64,65"},
		{SHAPE_MIXED, 40, 10000, "16,39,64,256"},
		{SHAPE_DISTINCT, 1, 5000, "7,4096,4999,5000"},
	};
	uint64_t seed = random_seed();
	struct random random = {seed + 6};
	struct stream in = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lpl_simulator *simulator = new_simulator(3, NULL);
		struct trace trace;

		stream_clear(&in);
		random_stream(&random, cases[i].shape, cases[i].pages, cases[i].count, false, &in);
		trace_of(&in, &trace);
		/* the oracle of EELRU takes the square of the time */
		for (size_t j = 0; j < POLICIES; j++)
			if (strncmp(policies[j].spec, "eelru", 5) != 0)
				add_policy(simulator, policies[j].spec, cases[i].sizes);
		send_all(simulator, &in, 700);
		for (size_t j = 0, index = 0; j < POLICIES; j++) {
			if (strncmp(policies[j].spec, "eelru", 5) == 0)
				continue;
			if (demand_differs(simulator, index++, &policies[j], &trace)) {
				(void)fprintf(stderr, "LAPLACE_TEST_SEED=%llu, large case %zu, %s\n",
					      (unsigned long long)seed, i, policies[j].spec);
				fail();
			}
		}
		trace_free(&trace);
		lpl_simulator_close(simulator);
	}
	stream_free(&in);
}

/* EELRU where it matters: loops larger than memory, which go away again. */
static void test_eelru_loops(void **state)
{
	uint64_t seed = random_seed();
	struct random random = {seed + 7};
	struct stream in = {0};
	uint64_t saved = 0;

	(void)state;
	for (unsigned int number = 0; number < 60; number++) {
		struct demand_trial trial = {&policies[POLICIES - 2 + number % 2], "5,10,14,20", 50};
		size_t count;
		struct lpl_simulator *eelru;
		struct lpl_simulator *lru;
		uint32_t loop = 11 + random_below(&random, 20);

		stream_clear(&in);
		random_stream(&random, SHAPE_LOOP_K, loop, 8 * (size_t)loop, false, &in);
		random_stream(&random, SHAPE_UNIFORM, 5, 100, false, &in);
		random_stream(&random, SHAPE_LOOP_K, loop, 4 * (size_t)loop, false, &in);
		if (demand_trial_differs(&in, &trial)) {
			(void)fprintf(stderr, "LAPLACE_TEST_SEED=%llu, case %u, %s, sizes %s:\n",
				      (unsigned long long)seed, number, trial.policy->spec,
				      trial.sizes);
			stream_shrink(&in, demand_trial_differs, &trial);
			stream_print("not simulated rightly", &in);
			fail();
		}
		eelru = simulate("eelru", "10", &in, 50);
		lru = simulate("lru", "10", &in, 50);
		saved += lpl_simulator_results(eelru, 0, &count)->faults <
			lpl_simulator_results(lru, 0, &count)->faults ? 1 : 0;
		lpl_simulator_close(eelru);
		lpl_simulator_close(lru);
	}
	/* what it is made for */
	assert_true(saved > 50);
	stream_free(&in);
}

/* ---- cases worked out by hand ---- */

static void test_by_hand(void **state)
{
	(void)state;
	for (size_t i = 0; i < POLICIES; i++) {
		if (policies[i].least > 1)
			continue;
		demand_expect(policies[i].spec, "", 1, 0, 0, 0);
		demand_expect(policies[i].spec, "A", 1, 1, 0, 0);
		demand_expect(policies[i].spec, "aAaA", 1, 1, 0, 0);
		demand_expect(policies[i].spec, "aBABaB", 1, 6, 5, 2);
		demand_expect(policies[i].spec, "aAaA", 1000, 1, 0, 0);
	}
	/*
	 * CLOCK, bits as primary secondary.  A and B come in with 10 each.  At C the hand
	 * makes them 01, then 00, and evicts A; C is in A's place with 10, the hand at B,
	 * which is 00.  So at A it is B that goes: C is kept, and hit.
	 */
	demand_expect("clock", "ABCAC", 2, 4, 2, 0);
	/* The same, but B is hit while it is 00, hence 10: the hand goes round twice, and
	 * stops at B all the same */
	demand_expect("clock", "ABCBAC", 2, 4, 2, 0);
	demand_expect("clock", "ABCBAB", 2, 5, 3, 0);
	/* With three pages: after D all but D are 00, the hand at B; B is hit; E finds
	 * B 10, makes it 01, and takes C. */
	demand_expect("clock", "ABCDBEBC", 3, 6, 3, 0);
	/* Written in memory, evicted dirty; fetched again and only read, evicted clean. */
	demand_expect("clock", "aBCAB", 2, 5, 3, 1);
	/*
	 * SEGQ, a FIFO of one page before an LRU segment of two, [F|L L].  ABC: [C|B A].  A
	 * hit in the LRU segment: [A|C B].  D: [D|A C], B goes.
	 */
	demand_expect("segq:fifo=1", "ABCADB", 3, 5, 2, 0);
	demand_expect("segq:fifo=1", "ABCADA", 3, 4, 1, 0);
	demand_expect("segq:fifo=1", "ABCADC", 3, 4, 1, 0);
	/* [F F|L]: ABC is [C B|A]; a hit on B changes nothing; D: [D C|B], A goes; with B
	 * hit [B D|C]; E: [E B|D], C goes. */
	demand_expect("segq:fifo=2", "ABCBDBEC", 3, 6, 3, 0);
	demand_expect("segq:fifo=2", "ABCBDBED", 3, 5, 2, 0);
	/* all of it FIFO: hits keep no page */
	demand_expect("segq:fifo=2", "aAABACA", 2, 4, 2, 1);
	/* the default is half, rounded up: [C B|A] */
	demand_expect("segq", "ABCBD", 3, 4, 1, 0);
	demand_expect("segq", "ABCADB", 3, 5, 2, 0);
	/*
	 * FBR with four pages: one is new, two are old.  A, B, C, D come in; A is hit outside
	 * the new section, count 2; order A D C B.  E: old are C and B with 1 each, and B goes,
	 * less recently used.  E A D C: B comes back, D and C are old, C goes.
	 * B E A D: F takes D of A (2) and D (1).  A is still there.
	 */
	demand_expect("fbr:new=25:old=50", "ABCDAEBFA", 4, 7, 3, 0);
	/*
	 * GLRU with four pages, e = 2, l = 6.  ABCD; E: there is no place 6, so C goes, the
	 * second; E D (C) B A.  F takes D: F E (D C) B A.  G takes A, at place 6, being new
	 * itself: G F E (D C) B.  A again, not on a place: B at 6: A G F E.
	 */
	demand_expect("glru:early=50:late=150", "ABCDEF", 4, 6, 2, 0);
	demand_expect("glru:early=50:late=150", "ABCDEFB", 4, 6, 2, 0);
	demand_expect("glru:early=50:late=150", "ABCDEFA", 4, 6, 2, 0);
	demand_expect("glru:early=50:late=150", "ABCDEFGB", 4, 7, 3, 0);
	demand_expect("glru:early=50:late=150", "ABCDEFGA", 4, 8, 4, 0);
	demand_expect("glru:early=50:late=150", "ABCDEFGAE", 4, 8, 4, 0);
	/* a loop of five pages with four: LRU misses always, GLRU with e = 1, l = 5 once a
	 * round at most */
	demand_expect("glru:early=1:late=125", "ABCDEABCDEABCDE", 4, 7, 3, 0);
}

/* ---- threads ---- */

static void test_jobs(void **state)
{
	static const unsigned int jobs[] = {1, 2, 5, 0};
	static const char *const specs[] = {
		"lru", "clock", "opt", "ws", "segq", "fbr", "vmin", "glru", "eelru", "seq",
		"2q", "arc", "car", "lirs", "clockpro", "sieve", "s3fifo", "lfu", "mru", "random", "fifo",
	};
	enum { SPECS = sizeof(specs) / sizeof(specs[0]) };
	uint64_t seed = random_seed();
	struct random random = {seed + 8};
	struct stream in = {0};
	struct lpl_simulator *first = NULL;

	(void)state;
	random_stream(&random, SHAPE_MIXED, 300, 70000, true, &in);
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		struct lpl_simulator *simulator = new_simulator(jobs[i], NULL);

		for (size_t j = 0; j < SPECS; j++)
			add_policy(simulator, specs[j], "1,2,30:600:70,100000");
		send_all(simulator, &in, 3000);
		if (first == NULL) {
			first = simulator;
			continue;
		}
		for (size_t j = 0; j < SPECS; j++) {
			size_t count;
			size_t count_of_first;
			const struct lpl_result *result =
				lpl_simulator_results(simulator, j, &count);
			const struct lpl_result *expected =
				lpl_simulator_results(first, j, &count_of_first);

			assert_int_equal(count, count_of_first);
			assert_memory_equal(result, expected, count * sizeof(*result));
		}
		lpl_simulator_close(simulator);
	}
	lpl_simulator_close(first);
	stream_free(&in);
}

/* Left before the end, whatever the threads are doing. */
static void test_abandoned(void **state)
{
	struct random random = {random_seed() + 9};
	struct stream in = {0};

	(void)state;
	random_stream(&random, SHAPE_UNIFORM, 900, 30000, false, &in);
	for (unsigned int jobs = 1; jobs <= 4; jobs++) {
		struct lpl_simulator *simulator = new_simulator(jobs, NULL);
		struct lpl_sink *sink;
		struct lpl_report report = {0};

		add_policy(simulator, "clock", "10:1000:10");
		add_policy(simulator, "opt", "all");
		sink = lpl_simulator_sink(simulator);
		for (size_t i = 0; i < in.count; i++)
			assert_int_equal(sink->refs(sink, &in.item[i].ref, 1, &report), LPL_OK);
		lpl_simulator_close(simulator);
	}
	stream_free(&in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_eelru_loops),
		cmocka_unit_test(test_jobs),
		cmocka_unit_test(test_abandoned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
