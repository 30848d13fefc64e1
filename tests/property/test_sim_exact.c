/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is called exact is: on a trace reduced in any way, a result that the simulator calls
 * exact is the one of the trace as it was.  And what ought to be is called so.
 */
#include "play.h"

#include <laplace/reducer.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `spec` of a stream, and what its header would say. */
static void reduce(const char *spec, const struct stream *in, struct stream *out,
		   char *reduction)
{
	struct lpl_report report = {0};
	struct lpl_reducer *reducer;
	struct collector collector;
	char exact[LPL_SPEC_SIZE];

	stream_clear(out);
	collector_init(&collector, out);
	assert_int_equal(lpl_reducer_open(&reducer, NULL, spec, &collector.sink, &report), LPL_OK);
	assert_int_equal(stream_send(in, lpl_reducer_sink(reducer), 64, &report), LPL_OK);
	lpl_reducer_close(reducer);
	assert_int_equal(lpl_reducer_describe(NULL, spec, reduction, exact, &report), LPL_OK);
}

static const char *const specs[] = {
	"none", "block", "window:3", "sad:1", "sad:2", "sad:3", "sad:5", "sad:9", "sad2:3",
	"block+window:2+sad:4", "sad-ws:1", "sad-ws:2", "sad-ws:5", "sad-ws:20", "sad-ws:6+sad:3",
	"olr:2", "olr:4", "sad:3+olr:3", "lrubs:2", "lrubs:4", "block+lrubs:3", "sd:3", "irg:4",
	"glass-cao:7", "fence+sad:4",
};
enum { SPECS = sizeof(specs) / sizeof(specs[0]) };

static const char *const policies[] = {
	"lru", "opt", "ws", "vmin", "clock", "segq", "segq:fifo=1", "fbr", "fbr:new=60:old=30:amax=2",
	"glru", "glru:early=70:late=150", "eelru", "eelru:early=50:points=2",
	"seq:length=2:distance=1:faults=2", "sieve", "s3fifo:small=30", "arc",
	"lirs:hir=30",
};
enum { POLICIES = sizeof(policies) / sizeof(policies[0]) };

static const char some_sizes[] = "1:16:1,20,25,30,40";

static struct lpl_simulator *simulate_all(const struct stream *in, const char *reduction)
{
	struct lpl_simulator *simulator = new_simulator(1, reduction);

	for (size_t i = 0; i < POLICIES; i++)
		add_policy(simulator, policies[i], some_sizes);
	send_all(simulator, in, 64);
	return simulator;
}

struct tally {
	unsigned int exact[SPECS][POLICIES], inexact[SPECS][POLICIES];
};

static bool equal(const struct lpl_result *a, const struct lpl_result *b)
{
	return a->faults == b->faults && a->evictions == b->evictions &&
	       a->dirty_evictions == b->dirty_evictions && a->space_time == b->space_time &&
	       a->mean_resident == b->mean_resident;
}

/* Compare; what is inexact and differs is counted, for that shows that a claim was needed. */
static void compare(const struct lpl_simulator *raw, const struct lpl_simulator *reduced,
		    size_t spec, struct tally *tally, unsigned int number)
{
	for (size_t i = 0; i < POLICIES; i++) {
		size_t count;
		const struct lpl_result *expected = lpl_simulator_results(raw, i, &count);
		const struct lpl_result *result = lpl_simulator_results(reduced, i, &count);

		for (size_t j = 0; j < count; j++) {
			if (!result[j].exact) {
				tally->inexact[spec][i] += equal(&result[j], &expected[j]) ? 0 : 1;
				continue;
			}
			tally->exact[spec][i]++;
			if (!equal(&result[j], &expected[j]))
				fail_msg("LAPLACE_TEST_SEED=%llu, case %u: %s of %llu on %s: %llu faults, "
					 "not %llu; %llu evictions, not %llu; %llu dirty, not %llu",
					 (unsigned long long)random_seed(), number, policies[i],
					 (unsigned long long)result[j].size, specs[spec],
					 (unsigned long long)result[j].faults,
					 (unsigned long long)expected[j].faults,
					 (unsigned long long)result[j].evictions,
					 (unsigned long long)expected[j].evictions,
					 (unsigned long long)result[j].dirty_evictions,
					 (unsigned long long)expected[j].dirty_evictions);
		}
	}
}

static size_t index_of(const char *const *list, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i], name) == 0)
			return i;
	fail_msg("%s is not in the list", name);
	return 0;
}

static void test_exact(void **state)
{
	/* results that differ there, so that being exact elsewhere is no accident */
	static const char *const differ[][2] = {
		{"sad:9", "lru"}, {"sad:9", "opt"}, {"sad:5", "clock"}, {"sad:5", "segq"},
		{"sad:9", "fbr"}, {"sad:9", "glru"}, {"sad:9", "eelru"}, {"sad:9", "ws"},
		{"block", "ws"}, {"sad-ws:20", "ws"}, {"sad-ws:20", "vmin"}, {"olr:4", "opt"},
		{"olr:4", "lru"}, {"sd:3", "lru"}, {"irg:4", "ws"},
		{"sad:5", "seq:length=2:distance=1:faults=2"}, {"sad:5", "sieve"},
		{"sad:5", "s3fifo:small=30"}, {"sad:5", "arc"}, {"sad:5", "lirs:hir=30"},
	};
	/* and results that are called exact */
	static const char *const same[][2] = {
		{"none", "ws"}, {"none", "eelru"}, {"block", "clock"}, {"block", "segq"},
		{"block", "fbr"}, {"sad:5", "lru"}, {"sad:5", "opt"}, {"sad:5", "fbr"},
		{"sad:5", "glru"}, {"sad:5", "eelru"}, {"sad-ws:5", "ws"}, {"sad-ws:5", "vmin"},
		{"olr:4", "lru"}, {"olr:4", "eelru"}, {"lrubs:4", "lru"}, {"lrubs:4", "glru"},
		{"block", "seq:length=2:distance=1:faults=2"}, {"block", "sieve"}, {"block", "arc"},
	};
	static struct tally tally;
	struct random random = {random_seed() + 12};
	struct stream in = {0};
	struct stream out = {0};

	(void)state;
	for (unsigned int number = 0; number < 250; number++) {
		struct lpl_simulator *raw;

		stream_clear(&in);
		random_stream(&random, number % SHAPES, 1 + random_below(&random, 14),
			      random_below(&random, 250), number % 4 == 0, &in);
		/* all references in reference time, as in a raw trace */
		for (size_t i = 0, time = 0; i < in.count; i++)
			if (!in.item[i].is_event)
				in.item[i].ref.ref = ++time;
		raw = simulate_all(&in, NULL);
		for (size_t i = 0; i < SPECS; i++) {
			char reduction[LPL_SPEC_SIZE];
			struct lpl_simulator *reduced;

			reduce(specs[i], &in, &out, reduction);
			reduced = simulate_all(&out, reduction);
			compare(raw, reduced, i, &tally, number);
			lpl_simulator_close(reduced);
		}
		lpl_simulator_close(raw);
	}
	for (size_t i = 0; i < sizeof(differ) / sizeof(differ[0]); i++)
		if (tally.inexact[index_of(specs, SPECS, differ[i][0])]
				 [index_of(policies, POLICIES, differ[i][1])] == 0)
			fail_msg("%s on %s never differs", differ[i][1], differ[i][0]);
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		if (tally.exact[index_of(specs, SPECS, same[i][0])]
			       [index_of(policies, POLICIES, same[i][1])] == 0)
			fail_msg("%s on %s is never called exact", same[i][1], same[i][0]);
	stream_free(&in);
	stream_free(&out);
}

/* The smallest sizes, from the definitions. */
static void test_exact_from(void **state)
{
	static const struct {
		const char *reduction, *policy;
		uint64_t from;
	} cases[] = {
		{NULL, "lru", 1}, {NULL, "clock", 1}, {NULL, "ws", 1}, {"none", "eelru", 1},
		{"block", "lru", 1}, {"block", "clock", 1}, {"block", "fbr", 1}, {"block", "ws", 0},
		{"sad:64", "lru", 64}, {"sad:64", "opt", 64}, {"sad:64", "clock", 0},
		{"sad:64", "segq", 0}, {"sad:64", "ws", 0}, {"sad:64", "seq", 0}, {"block", "seq", 1},
		/* 25 % of 256 pages are 64; 40 % of 160; 10 % of 640; 99 % of 65 */
		{"sad:64", "fbr", 256}, {"sad:64", "glru", 160}, {"sad:64", "eelru", 160},
		{"sad:64", "eelru:early=10", 640}, {"sad:64", "fbr:new=99:old=1", 65},
		{"sad:64", "glru:early=100", 64},
		{"sad:1", "fbr", 1}, {"sad:1", "eelru", 1},
		{"sad-ws:100", "ws", 100}, {"sad-ws:100", "vmin", 100}, {"sad-ws:100", "clock", 0},
		{"olr:64", "lru", 64}, {"olr:64", "opt", 0}, {"olr:64", "glru", 160},
		{"lrubs:64", "lru", 64}, {"lrubs:64", "opt", 0}, {"lrubs:64", "glru", 160},
		{"sd:64", "lru", 0}, {"magic:64", "lru", 0}, {"magic:64", "clock", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lpl_simulator *simulator = new_simulator(1, cases[i].reduction);

		add_policy(simulator, cases[i].policy, "7");
		if (lpl_simulator_exact_from(simulator, 0) != cases[i].from)
			fail_msg("%s on %s is exact from %llu, not %llu", cases[i].policy,
				 cases[i].reduction,
				 (unsigned long long)lpl_simulator_exact_from(simulator, 0),
				 (unsigned long long)cases[i].from);
		lpl_simulator_close(simulator);
	}
}

/* Sizes of our choosing begin at the first power of two that is exact. */
static void test_chosen_sizes(void **state)
{
	static const struct {
		const char *reduction, *policy;
		uint64_t first;
		size_t count;	/* to 128, which holds the 100 pages */
	} cases[] = {
		{NULL, "lru", 1, 8}, {NULL, "clock", 1, 8}, {"block", "eelru", 1, 8},
		{"sad:20", "lru", 32, 3}, {"sad:20", "opt", 32, 3}, {"sad:20", "fbr", 128, 1},
		{"sad:20", "glru", 64, 2}, {"sad:20", "clock", 32, 3}, {NULL, "segq:fifo=33", 64, 2},
		{"sad:1000", "lru", 1024, 1}, {"sd:20", "lru", 1, 8}, {"magic", "segq", 1, 8},
	};
	struct stream in = {0};

	(void)state;
	for (uint64_t page = 0; page < 100; page++)
		stream_add_page(&in, page, LPL_READ);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lpl_simulator *simulator = new_simulator(1, cases[i].reduction);
		const struct lpl_result *result;
		size_t count;

		add_policy(simulator, cases[i].policy, NULL);
		send_all(simulator, &in, 64);
		result = lpl_simulator_results(simulator, 0, &count);
		assert_int_equal(count, cases[i].count);
		for (size_t j = 0; j < count; j++)
			assert_int_equal(result[j].size, cases[i].first << j);
		assert_int_equal(result[count - 1].faults, 100);
		lpl_simulator_close(simulator);
	}
	stream_free(&in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_exact_from),
		cmocka_unit_test(test_chosen_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
