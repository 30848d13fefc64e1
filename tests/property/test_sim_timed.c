/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* WS and VMIN, every tau in one pass, against memories watched at each reference time. */
#include "play.h"

#include "oracle_sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct policy {
	const char *name;
	struct timed (*oracle)(const struct trace *trace, const uint64_t *time, uint64_t tau);
} policies[] = {{"ws", oracle_ws}, {"vmin", oracle_vmin}};
enum { POLICIES = sizeof(policies) / sizeof(policies[0]) };

struct trial {
	const struct policy *policy;
	const char *taus;
	size_t batch;
};

static bool result_differs(const struct lpl_result *result, const struct timed *expected)
{
	return !result_equal(result, &expected->counts) || !result->timed ||
	       result->space_time != expected->space_time ||
	       result->mean_resident < expected->mean_resident * (1 - 1e-12) ||
	       result->mean_resident > expected->mean_resident * (1 + 1e-12);
}

static bool trial_differs(const struct stream *in, void *context)
{
	const struct trial *trial = context;
	struct lpl_simulator *simulator = simulate(trial->policy->name, trial->taus, in,
						   trial->batch);
	uint64_t *time = times_of(in);
	struct trace trace;
	size_t count;
	const struct lpl_result *result = lpl_simulator_results(simulator, 0, &count);
	bool differs = count == 0;

	trace_of(in, &trace);
	for (size_t i = 0; i < count && !differs; i++) {
		struct timed expected = trial->policy->oracle(&trace, time, result[i].size);

		differs = result_differs(&result[i], &expected);
	}
	trace_free(&trace);
	free(time);
	lpl_simulator_close(simulator);
	return differs;
}

/* As reducers leave times: far apart in places; and where they put references in. */
static void spread_times(struct random *random, struct stream *in, bool synthetic)
{
	uint64_t time = random_below(random, 100);

	for (size_t i = 0; i < in->count; i++) {
		struct lpl_ref *ref = &in->item[i].ref;

		if (in->item[i].is_event)
			continue;
		if (synthetic && i > 0 && random_below(random, 4) == 0)
			ref->flags |= LPL_SYNTHETIC;
		else
			time += 1 + random_below(random, random_below(random, 8) == 0 ? 60 : 2);
		ref->ref = time;
	}
}

static void test_random(void **state)
{
	static const char *const taus[] = {
		"1", "2", "1:40:1", "3,7", "5", "1,100,100000", "10:200:10",
		"4,18446744073709551615", "1:4611686018427387904:*2",
	};
	uint64_t seed = random_seed();
	struct random random = {seed + 10};
	struct stream in = {0};

	(void)state;
	for (unsigned int number = 0; number < 3000; number++) {
		uint32_t pages = 1 + random_below(&random, 8);

		stream_clear(&in);
		random_stream(&random, number % SHAPES, pages, random_below(&random, 120),
			      number % 3 == 0, &in);
		if (number % 4 != 0)
			spread_times(&random, &in, number % 4 == 1);
		for (size_t i = 0; i < POLICIES; i++) {
			struct trial trial = {&policies[i],
				taus[random_below(&random, sizeof(taus) / sizeof(taus[0]))],
				1 + random_below(&random, 50)};

			if (!trial_differs(&in, &trial))
				continue;
			stream_shrink(&in, trial_differs, &trial);
			(void)fprintf(stderr, "LAPLACE_TEST_SEED=%llu, case %u, %s, taus %s:\n",
				      (unsigned long long)seed, number, policies[i].name,
				      trial.taus);
			stream_print("not simulated rightly", &in);
			fail();
		}
	}
	stream_free(&in);
}

/* Beside policies that do not look at times, which are dealt shorter runs then. */
static void test_beside_others(void **state)
{
	uint64_t seed = random_seed();
	struct random random = {seed + 11};
	struct stream in = {0};

	(void)state;
	for (unsigned int number = 0; number < 200; number++) {
		static const char *const others[] = {"lru", "opt", "clock", "segq", "fbr", "eelru"};
		struct lpl_simulator *simulator = new_simulator(1, NULL);

		stream_clear(&in);
		random_stream(&random, number % 2 != 0 ? SHAPE_RUNS : SHAPE_MIXED, 6, 200, false,
			      &in);
		spread_times(&random, &in, false);
		add_policy(simulator, "ws", "1,7");
		for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
			add_policy(simulator, others[i], "1:8:1");
		send_all(simulator, &in, 64);
		for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
			struct lpl_simulator *alone = simulate(others[i], "1:8:1", &in, 64);
			size_t count;
			const struct lpl_result *expected = lpl_simulator_results(alone, 0, &count);
			const struct lpl_result *result =
				lpl_simulator_results(simulator, i + 1, &count);

			if (memcmp(result, expected, count * sizeof(*result)) != 0)
				fail_msg("LAPLACE_TEST_SEED=%llu, case %u: %s differs beside ws",
					 (unsigned long long)seed, number, others[i]);
			lpl_simulator_close(alone);
		}
		lpl_simulator_close(simulator);
	}
	stream_free(&in);
}

/* ---- cases worked out by hand ---- */

struct expected {
	uint64_t tau, faults, evictions, dirty_evictions, space_time;
	double mean_resident;
};

/* Pages at their times, in pairs "A1b4": a page (lower case: a write), a one-digit time. */
static void expect(const char *policy, const char *pages, const struct expected *expected)
{
	struct lpl_report report = {0};
	struct lpl_simulator *simulator = new_simulator(1, NULL);
	struct lpl_sizes taus = {.size = (uint64_t[]){expected->tau}, .count = 1};
	const struct lpl_result *result;
	struct stream in = {0};
	struct timed timed = {
		{strlen(pages) / 2, expected->faults, expected->evictions,
		 expected->dirty_evictions}, expected->space_time, expected->mean_resident,
	};
	size_t count;

	for (const char *page = pages; *page != '\0'; page += 2) {
		stream_add_page(&in, (uint64_t)(*page | 0x20),
				*page >= 'a' ? LPL_WRITE : LPL_READ);
		in.item[in.count - 1].ref.ref = (uint64_t)(page[1] - '0');
	}
	assert_int_equal(lpl_simulator_add(simulator, policy, &taus, &report), LPL_OK);
	send_all(simulator, &in, 3);
	result = lpl_simulator_results(simulator, 0, &count);
	assert_int_equal(count, 1);
	assert_int_equal(result->size, expected->tau);
	if (result_differs(result, &timed))
		fail_msg("%s of %s, tau %llu: %llu faults, %llu evictions, %llu dirty, "
			 "space-time %llu, mean %f", policy, pages,
			 (unsigned long long)expected->tau, (unsigned long long)result->faults,
			 (unsigned long long)result->evictions,
			 (unsigned long long)result->dirty_evictions,
			 (unsigned long long)result->space_time, result->mean_resident);
	lpl_simulator_close(simulator);
	stream_free(&in);
}

static void test_by_hand(void **state)
{
	(void)state;
	for (size_t i = 0; i < POLICIES; i++)
		expect(policies[i].name, "", &(struct expected){7, 0, 0, 0, 0, 0});
	expect("ws", "a5", &(struct expected){3, 1, 0, 0, 1, 1});
	expect("vmin", "a5", &(struct expected){3, 1, 1, 1, 1, 1});
	/* a gap of exactly tau does not fault; one more does */
	expect("ws", "A1A4", &(struct expected){3, 1, 0, 0, 4, 1});
	expect("ws", "A1A4", &(struct expected){2, 2, 1, 0, 3, 0.75});
	expect("vmin", "A1A4", &(struct expected){3, 1, 1, 0, 4, 1});
	expect("vmin", "A1A4", &(struct expected){2, 2, 2, 0, 2, 0.5});
	/*
	 * WS(2): A at 1 2, out at 3; B at 2 3, out at 4; C at 3 4, out at 5; A at 5 6, out
	 * at 7; D at 7.  In 7 times 9 pages; A was dirty at first.
	 */
	expect("ws", "a1B2C3A5D7", &(struct expected){2, 5, 4, 1, 9, 9.0 / 7});
	/* the end at 7 is when A is to go; at 6 it would stay */
	expect("ws", "A5D7", &(struct expected){2, 2, 1, 0, 3, 1});
	expect("ws", "A5D6", &(struct expected){2, 2, 0, 0, 3, 1.5});
	/* VMIN(2): A leaves at once, but is kept from 5 to 7 */
	expect("vmin", "a1B2C3A5A7", &(struct expected){2, 4, 4, 1, 6, 6.0 / 7});
}

/* ---- times that do not rise ---- */

static void test_order(void **state)
{
	static const struct {
		const char *policy;
		uint64_t second;	/* the first reference is number 5 */
		bool synthetic;
		enum lpl_error error;
	} cases[] = {
		{"ws", 6, false, LPL_OK},
		{"ws", 5, false, LPL_ERR_ORDER},
		{"ws", 5, true, LPL_OK},
		{"ws", 4, false, LPL_ERR_ORDER},
		{"ws", 4, true, LPL_ERR_ORDER},
		{"vmin", 5, false, LPL_ERR_ORDER},
		{"lru", 4, false, LPL_OK},
		{"clock", 5, false, LPL_OK},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lpl_report report = {0};
		struct lpl_simulator *simulator = new_simulator(1, NULL);
		struct stream in = {0};

		stream_add_page(&in, 1, LPL_READ);
		stream_add_page(&in, 2, LPL_READ);
		in.item[0].ref.ref = 5;
		in.item[1].ref.ref = cases[i].second;
		if (cases[i].synthetic)
			in.item[1].ref.flags |= LPL_SYNTHETIC;
		add_policy(simulator, cases[i].policy, "3");
		assert_int_equal(stream_send(&in, lpl_simulator_sink(simulator), 9, &report),
				 cases[i].error);
		lpl_simulator_close(simulator);
		stream_free(&in);
	}
}

/* Sums that 64 bits do not hold are reported, not printed. */
static void test_overflow(void **state)
{
	static const uint64_t times[] = {1, UINT64_C(1) << 62, UINT64_C(3) << 62, UINT64_MAX - 9};
	struct lpl_report report = {0};
	struct lpl_simulator *simulator = new_simulator(1, NULL);
	struct stream in = {0};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		for (uint64_t page = 1; page <= 3; page++) {
			stream_add_page(&in, page, LPL_READ);
			in.item[in.count - 1].ref.ref = times[i] + page;
		}
	}
	add_policy(simulator, "ws", "18446744073709551615");
	assert_int_equal(stream_send(&in, lpl_simulator_sink(simulator), 9, &report),
			 LPL_ERR_UNSUPPORTED);
	assert_non_null(strstr(report.text, "space-time"));
	lpl_simulator_close(simulator);
	stream_free(&in);
}

/* Our own choice of taus ends where only first references fault. */
static void test_chosen_taus(void **state)
{
	struct stream in = {0};
	struct lpl_simulator *simulator;
	const struct lpl_result *result;
	size_t count;

	(void)state;
	stream_add_page(&in, 1, LPL_READ);
	stream_add_page(&in, 2, LPL_READ);
	stream_add_page(&in, 1, LPL_READ);
	in.item[2].ref.ref = in.item[0].ref.ref + 9;
	for (size_t i = 0; i < POLICIES; i++) {
		simulator = simulate(policies[i].name, NULL, &in, 9);
		result = lpl_simulator_results(simulator, 0, &count);
		assert_int_equal(count, 5);
		for (size_t j = 0; j < count; j++) {
			assert_int_equal(result[j].size, UINT64_C(1) << j);
			assert_int_equal(result[j].faults, j == 4 ? 2 : 3);
		}
		lpl_simulator_close(simulator);
	}
	stream_free(&in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_chosen_taus),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_beside_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
