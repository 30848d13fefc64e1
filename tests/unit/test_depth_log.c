/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * OPT's depth logs: the example of sim/depth_log.c, and logs of random depths, halved, against
 * depths that are carried past one page after the other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "sim/depth_log.h"

static void arrive(struct lpl_depth_log *log, uint32_t depth, struct lpl_halving *halving)
{
	assert_true(lpl_depth_log_arrive(log, depth, halving));
}

static void assert_events(const struct lpl_depth_log *log, const uint32_t *event, size_t count)
{
	assert_int_equal(log->events, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(log->event[i], event[i]);
}

static void the_example(void **unused)
{
	static const uint32_t on_left[] = { 8, LPL_ARRIVAL | 4, 9, LPL_ARRIVAL | 3, 10 };
	static const uint32_t on_right[] = { 15, LPL_ARRIVAL | 2 };
	struct lpl_depth_log log = { 0 }, left = { 0 }, right = { 0 };
	struct lpl_halving halving = { 0 };

	(void)unused;
	assert_int_equal(lpl_depth_log_least(&log), LPL_NO_DEPTH);
	assert_true(lpl_depth_log_insert(&log, 8));
	assert_int_equal(lpl_depth_log_least(&log), 1);
	arrive(&log, 4, &halving);
	assert_int_equal(lpl_depth_log_least(&log), 4);
	assert_true(lpl_depth_log_insert(&log, 9));
	arrive(&log, 3, &halving);
	assert_true(lpl_depth_log_insert(&log, 15));
	arrive(&log, 2, &halving);
	assert_true(lpl_depth_log_insert(&log, 10));
	assert_true(lpl_depth_log_halve(&halving, &log, 12, &left, &right));
	assert_int_equal(log.events, 0);
	assert_events(&left, on_left, sizeof(on_left) / sizeof(on_left[0]));
	assert_events(&right, on_right, sizeof(on_right) / sizeof(on_right[0]));
	assert_int_equal(lpl_depth_log_least(&right), 2);
	lpl_depth_log_free(&log);
	lpl_depth_log_free(&left);
	lpl_depth_log_free(&right);
	lpl_halving_free(&halving);
}

/* ---- random logs ---- */

enum { POSITIONS = 256, STEPS = 180 };

/* Depths by position, 0: no page. */
static uint32_t carry(uint32_t depth[POSITIONS], uint32_t carried)
{
	for (size_t i = POSITIONS; i-- > 0;) {
		uint32_t met = depth[i];

		if (met == 0 || met >= carried)
			continue;
		depth[i] = carried;
		carried = met;
	}
	return carried;
}

/* What a log says, played from its beginning. */
static void play(const struct lpl_depth_log *log, uint32_t depth[POSITIONS])
{
	for (uint32_t i = 0; i < log->events; i++) {
		if (log->event[i] >= LPL_ARRIVAL)
			(void)carry(depth, log->event[i] - LPL_ARRIVAL);
		else if (log->event[i] != LPL_ERASED)
			depth[log->event[i]] = 1;
	}
}

/*
 * Depths arrive that are greater than the least, and no depth but 1 is there twice; pages are
 * inserted where there are none, as OPT's stack does it: after an arrival.
 */
static void halves_have_the_depths_of_the_whole(void **unused)
{
	(void)unused;
	for (unsigned int seed = 1; seed <= 300; seed++) {
		struct lpl_depth_log log = { 0 }, left = { 0 }, right = { 0 };
		struct lpl_halving halving = { 0 };
		uint32_t depth[POSITIONS] = { 0 };
		uint32_t on_left[POSITIONS] = { 0 }, on_right[POSITIONS] = { 0 };
		uint32_t middle = 1 + seed * 37 % (POSITIONS - 1), next = 2;
		unsigned int state = seed;

		for (int step = 0; step < STEPS; step++) {
			uint32_t position = 1 + (uint32_t)rand_r(&state) % (POSITIONS - 1);
			uint32_t arrives = next + (uint32_t)rand_r(&state) % 3 *
				((uint32_t)rand_r(&state) % 1000 + 1) * STEPS;

			next++;
			if (lpl_depth_log_least(&log) < arrives && rand_r(&state) % 3 != 0) {
				uint32_t least = lpl_depth_log_least(&log);

				assert_int_equal(carry(depth, arrives), least);
				arrive(&log, arrives, &halving);
			}
			if (depth[position] == 0 && lpl_depth_log_least(&log) != 1) {
				depth[position] = 1;
				assert_true(lpl_depth_log_insert(&log, position));
			}
		}
		assert_true(lpl_depth_log_halve(&halving, &log, middle, &left, &right));
		play(&left, on_left);
		play(&right, on_right);
		for (size_t i = 0; i < POSITIONS; i++) {
			if (on_left[i] != (i < middle ? depth[i] : 0) ||
			    on_right[i] != (i < middle ? 0 : depth[i]))
				fail_msg("seed %u, cut at %u: other depths at %zu", seed, middle,
					 i);
		}
		lpl_depth_log_free(&log);
		lpl_depth_log_free(&left);
		lpl_depth_log_free(&right);
		lpl_halving_free(&halving);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_example),
		cmocka_unit_test(halves_have_the_depths_of_the_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
