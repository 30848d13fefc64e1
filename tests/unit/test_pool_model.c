/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The model that kVMTrace's pool is held against (tests/legacy/kvmtrace/pool_model.h):
 * examples by hand, and random runs against the textbooks' other way to describe FIFO (a
 * page is kept for as many arrivals as the pool has places) and CLOCK (a ring with a
 * hand, and a bit at each place).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../legacy/kvmtrace/pool_model.h"

#define SPACE 7

/* A reference as a program makes it: what is in the pool is touched, else it enters. */
static bool reference(struct pool_model *pool, uint32_t page, uint32_t *leaves)
{
	struct pool_page *known = pool_model_find(pool, SPACE, page), victim = { .page = 0 };

	*leaves = 0;
	if (known) {
		known->referenced = true;
		return true;
	}
	if (pool_model_enter(pool, SPACE, page, 0, &victim))
		*leaves = victim.page;
	return false;
}

static void expect(bool clock, const uint32_t *pages, const char *hits, const uint32_t *leaves)
{
	struct pool_model pool;
	uint32_t left;

	assert_true(pool_model_init(&pool, 3, clock));
	for (size_t i = 0; hits[i]; i++) {
		assert_int_equal(reference(&pool, pages[i], &left), hits[i] == 'h');
		assert_int_equal(left, leaves[i]);
	}
	pool_model_free(&pool);
}

static void test_examples(void **state)
{
	/* 1 is used again and goes first all the same */
	static const uint32_t fifo[] = { 1, 2, 3, 1, 4, 1, 2 };
	static const uint32_t fifo_leaves[] = { 0, 0, 0, 0, 1, 2, 3 };
	/* all were referenced: each is passed once, and 1 goes; 2, which is used, is passed again */
	static const uint32_t clock[] = { 1, 2, 3, 1, 4, 2, 5, 3, 6 };
	static const uint32_t clock_leaves[] = { 0, 0, 0, 0, 1, 0, 3, 2, 4 };

	(void)state;
	expect(false, fifo, "mmmhmmm", fifo_leaves);
	expect(true, clock, "mmmhmhmmm", clock_leaves);
}

static void test_leave(void **state)
{
	struct pool_model pool;
	struct pool_page leaves;

	(void)state;
	assert_true(pool_model_init(&pool, 2, false));
	assert_false(pool_model_enter(&pool, 1, 10, 0, &leaves));
	assert_false(pool_model_enter(&pool, 2, 10, 5, &leaves));
	/* the same page of another space is another page */
	pool_model_leave(&pool, pool_model_find(&pool, 1, 10));
	assert_null(pool_model_find(&pool, 1, 10));
	assert_int_equal(pool_model_find(&pool, 2, 10)->tag, 5);
	assert_false(pool_model_enter(&pool, 1, 11, 0, &leaves));
	assert_true(pool_model_enter(&pool, 1, 12, 0, &leaves));
	assert_int_equal(leaves.space, 2);
	pool_model_free(&pool);
}

#define PLACES 12
#define PAGES 30

struct ring {
	uint32_t page[PLACES];
	bool bit[PLACES];
	size_t count, size, hand;
};

static bool ring_reference(struct ring *ring, uint32_t page, uint32_t *leaves)
{
	*leaves = 0;
	for (size_t i = 0; i < ring->count; i++) {
		if (ring->page[i] == page) {
			ring->bit[i] = true;
			return true;
		}
	}
	if (ring->count < ring->size) {
		ring->page[ring->count] = page;
		ring->bit[ring->count++] = true;
		return false;
	}
	while (ring->bit[ring->hand]) {
		ring->bit[ring->hand] = false;
		ring->hand = (ring->hand + 1) % ring->size;
	}
	*leaves = ring->page[ring->hand];
	ring->page[ring->hand] = page;
	ring->bit[ring->hand] = true;
	ring->hand = (ring->hand + 1) % ring->size;
	return false;
}

static void test_clock_is_a_ring(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed <= 300; seed++) {
		struct ring ring = { .size = 1 + seed % PLACES };
		struct pool_model pool;
		uint32_t leaves, by_ring;

		srand(seed);
		assert_true(pool_model_init(&pool, ring.size, true));
		for (int i = 0; i < 400; i++) {
			uint32_t page = 1 + (uint32_t)rand() % PAGES;

			if (reference(&pool, page, &leaves) !=
				    ring_reference(&ring, page, &by_ring) ||
			    leaves != by_ring)
				fail_msg("seed %u, reference %d: %u goes, by the ring %u", seed, i,
					 leaves, by_ring);
		}
		pool_model_free(&pool);
	}
}

static void test_fifo_is_arrivals(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed <= 300; seed++) {
		const size_t size = 1 + seed % PLACES;
		size_t arrivals = 0, arrived[PAGES + 1] = { 0 };	/* from 1; 0: never */
		struct pool_model pool;
		uint32_t leaves;

		srand(seed);
		assert_true(pool_model_init(&pool, size, false));
		for (int i = 0; i < 400; i++) {
			uint32_t page = 1 + (uint32_t)rand() % PAGES;
			bool there = arrived[page] && arrivals - arrived[page] < size;

			if (reference(&pool, page, &leaves) != there)
				fail_msg("seed %u, reference %d: page %u, by arrivals %d", seed, i, page,
					 there);
			if (!there)
				arrived[page] = ++arrivals;
		}
		pool_model_free(&pool);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples),
		cmocka_unit_test(test_leave),
		cmocka_unit_test(test_clock_is_a_ring),
		cmocka_unit_test(test_fifo_is_arrivals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
