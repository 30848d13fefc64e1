/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Simulators, which do every size in one pass, against policies played out size
 * by size.
 */
#include "play.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct policy {
	const char *name;
	struct counts (*oracle)(const struct trace *trace, uint64_t size);
};

static const struct policy policies[] = {{"lru", oracle_lru}, {"opt", oracle_opt}};
enum { POLICIES = sizeof(policies) / sizeof(policies[0]) };

static bool result_differs(const struct lpl_result *result, const struct policy *policy,
			   const struct trace *trace)
{
	struct counts expected = policy->oracle(trace, result->size);

	return !result_equal(result, &expected);
}

struct trial {
	const struct policy *policy;
	const char *sizes;
	size_t batch;
};

static bool differs_from_oracle(const struct stream *in, void *context)
{
	const struct trial *trial = context;
	struct lpl_simulator *simulator = simulate(trial->policy->name, trial->sizes, in,
						   trial->batch);
	const struct lpl_result *results;
	struct trace trace;
	bool differs;
	size_t count;

	trace_of(in, &trace);
	results = lpl_simulator_results(simulator, 0, &count);
	differs = lpl_simulator_pages(simulator) != trace.pages || count == 0;
	for (size_t i = 0; i < count && !differs; i++)
		differs = result_differs(&results[i], trial->policy, &trace);
	if (strcmp(trial->sizes, "all") == 0)
		for (size_t i = 0; i < count && !differs; i++)
			/* up to the first at which only first references fault */
			differs = results[i].size != i + 1 ||
				(results[i].faults == trace.pages) != (i == count - 1);
	trace_free(&trace);
	lpl_simulator_close(simulator);
	return differs;
}

static void expect_equal(struct stream *in, struct trial *trial, uint64_t seed,
			 unsigned int number)
{
	if (!differs_from_oracle(in, trial))
		return;
	stream_shrink(in, differs_from_oracle, trial);
	(void)fprintf(stderr, "LAPLACE_TEST_SEED=%llu, case %u, %s, sizes %s:\n",
		      (unsigned long long)seed, number, trial->policy->name, trial->sizes);
	stream_print("not simulated rightly", in);
	fail();
}

static void test_small(void **state)
{
	static const char *const sizes[] = {
		"all", "1:40:1", "1", "2", "3", "1,2", "2,5", "4,7,4294967295,18446744073709551615",
	};
	uint64_t seed = random_seed();
	struct random random = {seed + 2};
	struct stream in = {0};

	(void)state;
	for (unsigned int number = 0; number < 4000; number++) {
		uint32_t pages = 1 + random_below(&random, 10);
		enum shape shape = number % SHAPES;

		stream_clear(&in);
		random_stream(&random, shape, pages, random_below(&random, 150),
			      number % 3 == 0, &in);
		for (size_t i = 0; i < POLICIES; i++) {
			const char *some = sizes[random_below(&random, sizeof(sizes) /
							      sizeof(sizes[0]))];
			struct trial trial = {&policies[i], "all", 1 + random_below(&random, 99)};

			expect_equal(&in, &trial, seed, number);
			trial.sizes = some;
			expect_equal(&in, &trial, seed, number);
		}
	}
	stream_free(&in);
}

/* Past every block, group and line of the data structures within. */
static void test_large(void **state)
{
	static const char *const sizes[] = {"63:65:1,127:129:1", "10,1000,4095:4097:1,4700,5500", "4096",
					    "17:1100:97"};
	static const struct {
		enum shape shape;
		uint32_t pages;
		size_t count;
	} cases[] = {
		{SHAPE_UNIFORM, 100, 6000},	/* twice as many pages */
		{SHAPE_UNIFORM, 200, 6000},
		{SHAPE_UNIFORM, 500, 6000},
		{SHAPE_PALINDROME, 300, 6000},
		{SHAPE_MIXED, 500, 6000},
		{SHAPE_UNIFORM, 3000, 30000},
		{SHAPE_LOOP_K1, 130, 3000},
		{SHAPE_PALINDROME, 2400, 22000},
		{SHAPE_DISTINCT, 1, 9000},
		{SHAPE_PHASES, 700, 20000},
		{SHAPE_MIXED, 90, 20000},
	};
	uint64_t seed = random_seed();
	struct random random = {seed + 3};
	struct stream in = {0};

	(void)state;
	for (unsigned int number = 0; number < sizeof(cases) / sizeof(cases[0]); number++) {
		stream_clear(&in);
		random_stream(&random, cases[number].shape, cases[number].pages,
			      cases[number].count, false, &in);
		for (size_t i = 0; i < POLICIES; i++) {
			for (size_t j = 0; j < sizeof(sizes) / sizeof(sizes[0]); j++) {
				struct trial trial = {&policies[i], sizes[j], 1000};

				if (differs_from_oracle(&in, &trial)) {
					(void)fprintf(stderr,
						      "LAPLACE_TEST_SEED=%llu, large case %u, %s, "
						      "sizes %s\n", (unsigned long long)seed, number,
						      trial.policy->name, trial.sizes);
					fail();
				}
			}
		}
	}
	stream_free(&in);
}

/* Specific sizes read off the same numbers as all of them do. */
static void test_all_and_some(void **state)
{
	uint64_t seed = random_seed();
	struct random random = {seed + 4};
	struct stream in = {0};

	(void)state;
	random_stream(&random, SHAPE_UNIFORM, 2500, 20000, false, &in);
	for (size_t i = 0; i < POLICIES; i++) {
		struct lpl_simulator *all = simulate(policies[i].name, "all", &in, 512);
		struct lpl_simulator *some = simulate(policies[i].name, "100:4900:100", &in, 512);
		size_t all_count;
		size_t some_count;
		const struct lpl_result *every = lpl_simulator_results(all, 0, &all_count);
		const struct lpl_result *result = lpl_simulator_results(some, 0, &some_count);

		assert_int_equal(some_count, 49);
		for (size_t j = 0; j < some_count && result[j].size <= all_count; j++)
			assert_memory_equal(&result[j], &every[result[j].size - 1], sizeof(*result));
		lpl_simulator_close(all);
		lpl_simulator_close(some);
	}
	stream_free(&in);
}

/* ---- cases worked out by hand ---- */

static void expect(const char *policy, const char *pages, uint64_t size, uint64_t faults,
		   uint64_t evictions, uint64_t dirty_evictions)
{
	struct stream in = {0};
	struct lpl_simulator *simulator;
	const struct lpl_result *result;
	char sizes[32];
	size_t count;

	for (const char *page = pages; *page != '\0'; page++)	/* lower case: a write */
		stream_add_page(&in, (uint64_t)(*page | 0x20),
				*page >= 'a' ? LPL_WRITE : LPL_READ);
	(void)snprintf(sizes, sizeof(sizes), "%llu", (unsigned long long)size);
	simulator = simulate(policy, sizes, &in, 7);
	result = lpl_simulator_results(simulator, 0, &count);
	assert_int_equal(count, 1);
	assert_int_equal(result->size, size);
	assert_int_equal(result->references, strlen(pages));
	assert_int_equal(result->faults, faults);
	assert_int_equal(result->evictions, evictions);
	assert_int_equal(result->dirty_evictions, dirty_evictions);
	lpl_simulator_close(simulator);
	stream_free(&in);
}

static void test_by_hand(void **state)
{
	(void)state;
	/* nothing, and one page */
	for (size_t i = 0; i < POLICIES; i++) {
		expect(policies[i].name, "", 1, 0, 0, 0);
		expect(policies[i].name, "A", 1, 1, 0, 0);
		expect(policies[i].name, "aAaA", 1, 1, 0, 0);
		expect(policies[i].name, "aAaA", 1000, 1, 0, 0);
	}
	/* written, evicted, fetched clean, evicted, written again, evicted */
	expect("lru", "aBABaB", 1, 6, 5, 2);
	/* the write goes with the page, whenever it was made */
	expect("lru", "AaAB", 1, 2, 1, 1);
	expect("lru", "ABCABC", 2, 6, 4, 0);
	expect("opt", "ABCABC", 2, 4, 2, 0);
	/* Belady's own anomaly is FIFO's; LRU and OPT on that string */
	expect("lru", "ABCDABEABCDE", 3, 10, 7, 0);
	expect("lru", "ABCDABEABCDE", 4, 8, 4, 0);
	expect("opt", "ABCDABEABCDE", 3, 7, 4, 0);
	expect("opt", "ABCDABEABCDE", 4, 6, 2, 0);
	/* the tie: neither A nor B is used again when C comes; A goes, b is kept */
	expect("opt", "AbC", 2, 3, 1, 0);
	expect("opt", "aBC", 2, 3, 1, 1);
	/* but least recently used, not first come: A was used after b */
	expect("opt", "AbAC", 2, 3, 1, 1);
	/* the ten references of sim/opt_stack.c: depths 2 2 2 3 3 4 after four first ones */
	expect("opt", "ABCADBCADC", 1, 10, 9, 0);
	expect("opt", "ABCADBCADC", 2, 7, 5, 0);
	expect("opt", "ABCADBCADC", 3, 5, 2, 0);
	expect("opt", "ABCADBCADC", 4, 4, 0, 0);
}

static void test_all_on_nothing(void **state)
{
	struct stream in = {0};

	(void)state;
	for (size_t i = 0; i < POLICIES; i++) {
		struct lpl_simulator *simulator = simulate(policies[i].name, "all", &in, 1);
		size_t count;
		const struct lpl_result *result = lpl_simulator_results(simulator, 0, &count);

		/* at one page already only first references fault: none */
		assert_int_equal(count, 1);
		assert_int_equal(result->size, 1);
		assert_int_equal(result->faults, 0);
		assert_int_equal(lpl_simulator_pages(simulator), 0);
		lpl_simulator_close(simulator);
	}
}

static void test_bad_policy(void **state)
{
	static const struct {
		const char *spec, *sizes, *expected;
	} bad[] = {
		{"", "4", "lru, opt"},
		{"LRU", "4", "lru, opt"},
		{"lru ", "4", "lru, opt"},
		{"lr", "4", "lru, opt"},
		{"lru:", "4", "no options"},
		{"opt:fifo=1", "4", "no options"},
		{"clock:fifo=1", "4", "no options"},
		{"clock", "all", "all sizes"},
		{"ws", "all", "all sizes"},
		{"clock", "1:4097:1", "4097 sizes"},
		{"segq:", "4", "fifo=N"},
		{"segq:fif=1", "4", "fifo=N"},
		{"segq:fifo", "4", "fifo is a number"},
		{"segq:fifo=", "4", "fifo is a number"},
		{"segq:fifo=0", "4", "fifo is a number"},
		{"segq:fifo=-1", "4", "fifo is a number"},
		{"segq:fifo=1x", "4", "fifo is a number"},
		{"segq:fifo=18446744073709551616", "4", "fifo is a number"},
		{"segq:fifo=5", "4,8", "5 pages is larger than a memory of 4"},
		{"fbr:new=50:old=51", "4", "50 and 51 percent"},
		{"fbr:cmax=65537", "4", "from 1 to 65536"},
		{"glru:late=99", "4", "from 100 "},
		{"eelru:points=9", "4", "from 1 to 8"},
		{"seq:faults=33", "4", "from 1 to 32"},
		{"seq:distance=0", "4", "from 1 to"},
	};
	struct lpl_simulator *simulator = new_simulator(1, NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct lpl_report report = {0};
		struct lpl_sizes sizes;

		assert_int_equal(lpl_sizes_parse(&sizes, bad[i].sizes, &report), LPL_OK);
		assert_int_equal(lpl_simulator_add(simulator, bad[i].spec, &sizes, &report),
				 LPL_ERR_USAGE);
		if (strstr(report.text, bad[i].expected) == NULL)
			fail_msg("'%s' does not contain '%s'", report.text, bad[i].expected);
		lpl_sizes_free(&sizes);
	}
	/* what was refused has left nothing */
	assert_int_equal(lpl_simulator_count(simulator), 0);
	add_policy(simulator, "clock", "1:4000:1");
	assert_int_equal(lpl_simulator_count(simulator), 1);
	assert_string_equal(lpl_simulator_policy(simulator, 0), "clock");
	lpl_simulator_close(simulator);
	lpl_simulator_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_all_on_nothing),
		cmocka_unit_test(test_bad_policy),
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_all_and_some),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
