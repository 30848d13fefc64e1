/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Arrays longer than memory should hold (sim/long_array.h): what is set is there, in whichever order
 * it is looked at, and what cannot be kept is an error; and OPT's faults where its sequence has several blocks, against
 * OPT by its definition (Belady, "A study of replacement algorithms for a virtual-storage computer", 1966).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <laplace/simulator.h>

#include "sim/long_array.h"

#define NUMBERS (3 * LPL_LONG_BLOCK + 5)

static uint32_t random_number(uint64_t *state)
{
	*state = *state * 6364136223846793005U + 1442695040888963407U;
	return (uint32_t)(*state >> 33);
}

/* ---- arrays ---- */

static uint32_t *at(struct lpl_long_array *array, size_t index)
{
	struct lpl_report report = { .error = LPL_OK };
	uint32_t *number = NULL;

	assert_int_equal(lpl_long_array_at(array, index, &number, &report), LPL_OK);
	return number;
}

static void there_and_back(void **unused)
{
	struct lpl_long_array array = { 0 }, backwards = { 0 };
	uint64_t state = 1;

	(void)unused;
	for (size_t i = 0; i < NUMBERS; i++)
		lpl_long_array_set(&array, at(&array, i), (uint32_t)i * 2654435761U);
	for (size_t i = NUMBERS; i-- > 0;) {
		if (*at(&array, i) != (uint32_t)i * 2654435761U)
			fail_msg("number %zu was lost", i);
		lpl_long_array_set(&backwards, at(&backwards, i), ~*at(&array, i));
	}
	for (size_t i = 0; i < NUMBERS; i++) {
		if (*at(&backwards, i) != ~((uint32_t)i * 2654435761U))
			fail_msg("number %zu of those set backwards was lost", i);
	}
	/* here and there, by turns */
	for (int i = 0; i < 100; i++) {
		const size_t index = random_number(&state) % NUMBERS;

		lpl_long_array_set(&array, at(&array, index), (uint32_t)index);
		(void)at(&array, (index + LPL_LONG_BLOCK) % NUMBERS);
		assert_int_equal(*at(&array, index), (uint32_t)index);
	}
	lpl_long_array_free(&array);
	lpl_long_array_free(&backwards);
}

/* One block needs no file; more than one cannot be kept. */
static void no_directory(void **unused)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_long_array array = { 0 };
	uint32_t *number;

	(void)unused;
	assert_int_equal(setenv("TMPDIR", "/there/is/no/such/place", 1), 0);
	lpl_long_array_set(&array, at(&array, 0), 1);
	lpl_long_array_set(&array, at(&array, LPL_LONG_BLOCK - 1), 2);
	assert_int_equal(lpl_long_array_at(&array, LPL_LONG_BLOCK, &number, &report), LPL_ERR_IO);
	assert_non_null(strstr(report.text, "/there/is/no/such/place"));
	/* nothing was lost */
	assert_int_equal(*at(&array, LPL_LONG_BLOCK - 1), 2);
	lpl_long_array_free(&array);
	assert_int_equal(unsetenv("TMPDIR"), 0);
}

/* ---- OPT ---- */

/* more than two blocks, though references to one page in a row are one */
enum { PAGES = 12, SIZES = 6, REFS = 3 << LPL_LONG_BLOCK_BITS };

/* Some pages are used more often than others. */
static void make_pages(uint8_t *page)
{
	uint64_t state = 2;

	for (size_t i = 0; i < REFS; i++) {
		const uint32_t random = random_number(&state);

		page[i] = (uint8_t)(random % PAGES * (random / PAGES % PAGES) / PAGES);
	}
}

/* A full memory evicts the page that is used last of all. */
static uint64_t faults_by_definition(const uint8_t *page, const uint32_t *next, unsigned int size)
{
	uint32_t use[PAGES] = { 0 };	/* of a page in memory the next use, from 1 on; 0: it is not */
	unsigned int resident = 0;
	uint64_t faults = 0;

	for (size_t i = 0; i < REFS; i++) {
		if (use[page[i]] == 0) {
			unsigned int victim = 0;

			faults++;
			for (unsigned int p = 1; p < PAGES; p++)
				victim = use[p] > use[victim] ? p : victim;
			if (resident == size)
				use[victim] = 0;
			else
				resident++;
		}
		use[page[i]] = next[i];
	}
	return faults;
}

static void opt_over_blocks(void **unused)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_sizes sizes;
	struct lpl_simulator *simulator;
	const struct lpl_result *result;
	struct lpl_sink *sink;
	uint8_t *page = malloc(REFS);
	uint32_t *next = malloc(REFS * sizeof(*next)), latest[PAGES];
	size_t count;

	(void)unused;
	assert_non_null(page);
	assert_non_null(next);
	make_pages(page);
	for (unsigned int p = 0; p < PAGES; p++)
		latest[p] = REFS + 1;
	for (size_t i = REFS; i-- > 0; latest[page[i]] = (uint32_t)i + 1)
		next[i] = latest[page[i]];
	assert_int_equal(lpl_sizes_parse(&sizes, "all", &report), LPL_OK);
	assert_int_equal(lpl_simulator_open(&simulator, NULL, &report), LPL_OK);
	assert_int_equal(lpl_simulator_add(simulator, "opt", &sizes, &report), LPL_OK);
	sink = lpl_simulator_sink(simulator);
	for (size_t i = 0; i < REFS; i++) {
		const struct lpl_ref ref = { .ref = i + 1, .instr = i, .cycle = i, .type = LPL_READ, .length = 8,
					     .address = (uint64_t)page[i] << 12 };

		assert_int_equal(sink->refs(sink, &ref, 1, &report), LPL_OK);
	}
	assert_int_equal(sink->finish(sink, &report), LPL_OK);
	result = lpl_simulator_results(simulator, 0, &count);
	assert_true(count >= SIZES);
	for (unsigned int i = 0; i < SIZES; i++) {
		assert_int_equal(result[i].size, i + 1);
		assert_int_equal(result[i].faults, faults_by_definition(page, next, i + 1));
	}
	lpl_simulator_close(simulator);
	lpl_sizes_free(&sizes);
	free(page);
	free(next);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(no_directory),
		cmocka_unit_test(opt_over_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
