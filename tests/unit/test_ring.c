/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ring between two threads: every record arrives once, whole and in order,
 * whatever the batches; waiting is counted; both ends come to an end.  Built with
 * ThreadSanitizer where the compiler has it, which looks for races meanwhile.
 *
 * Only the main thread asserts: other threads leave what they saw in structs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "ring/ring.h"

#define SMALLEST 1024

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static void fill(struct lpl_ring_record *record, uint64_t n)
{
	for (unsigned i = 0; i < 4; i++)
		record->word[i] = n * 4 + i + (n << 32);
}

static bool is(const struct lpl_ring_record *record, uint64_t n)
{
	for (unsigned i = 0; i < 4; i++)
		if (record->word[i] != n * 4 + i + (n << 32))
			return false;
	return true;
}

/* Records first to first + count - 1, from the main thread. */
static void put(struct lpl_ring *ring, uint64_t first, uint64_t count)
{
	for (uint64_t n = first; n < first + count; n++) {
		struct lpl_ring_record *record = lpl_ring_reserve(ring);

		assert_non_null(record);
		fill(record, n);
		lpl_ring_commit(ring);
	}
}

/* Take exactly `count` records, which begin with `first`. */
static void get(struct lpl_ring *ring, uint64_t first, uint64_t count)
{
	while (count > 0) {
		const struct lpl_ring_record *records;
		size_t ready = lpl_ring_peek(ring, LPL_RING_FOREVER, &records);

		assert_true(ready > 0);
		if (ready > count)
			ready = count;
		for (size_t i = 0; i < ready; i++)
			assert_true(is(&records[i], first + i));
		lpl_ring_release(ring, ready);
		first += ready;
		count -= ready;
	}
}

static void assert_ended(struct lpl_ring *ring)
{
	const struct lpl_ring_record *records;

	assert_int_equal(lpl_ring_peek(ring, LPL_RING_FOREVER, &records), 0);
	assert_int_equal(lpl_ring_peek(ring, LPL_RING_FOREVER, &records), 0);
}

struct producer {
	struct lpl_ring *ring;
	uint64_t seed, records;
	uint64_t sent;			/* when it returned */
	_Atomic bool started;
};

static void *produce(void *argument)
{
	struct producer *p = argument;
	uint64_t random = p->seed, until_publish = 1 + next_random(&random) % 600;

	atomic_store(&p->started, true);
	for (p->sent = 0; p->sent < p->records;) {
		struct lpl_ring_record *record, many[700];
		uint64_t count = 1;

		if (next_random(&random) % 8 == 0) {	/* many at once */
			count = next_random(&random) % 700;
			count = count < p->records - p->sent ? count : p->records - p->sent;
			for (uint64_t i = 0; i < count; i++)
				fill(&many[i], p->sent + i);
			if (!lpl_ring_put(p->ring, many, count))
				return NULL;
		} else {
			record = lpl_ring_reserve(p->ring);
			if (!record)
				return NULL;
			fill(record, p->sent);
			lpl_ring_commit(p->ring);
		}
		p->sent += count;
		until_publish -= count < until_publish ? count : until_publish;
		if (until_publish == 0) {
			lpl_ring_publish(p->ring);
			until_publish = 1 + next_random(&random) % 600;
			if (next_random(&random) % 8 == 0)
				sched_yield();
		}
	}
	lpl_ring_end(p->ring);
	return NULL;
}

static void every_record_arrives_once_in_order(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 24; seed++) {
		uint64_t random = seed * 977, next = 0;
		struct producer p = {
			.ring = lpl_ring_new(seed % 3 ? SMALLEST : 5000),
			.seed = seed,
			.records = next_random(&random) % 40000,
		};
		const struct lpl_ring_record *records;
		pthread_t thread;
		size_t ready;

		assert_non_null(p.ring);
		assert_int_equal(pthread_create(&thread, NULL, produce, &p), 0);
		while ((ready = lpl_ring_peek(p.ring, LPL_RING_FOREVER, &records)) > 0) {
			/* some of them, so that the same are seen again */
			size_t some = 1 + next_random(&random) % ready;

			for (size_t i = 0; i < ready; i++)
				if (!is(&records[i], next + i))
					fail_msg("seed %llu: record %llu is another",
						 (unsigned long long)seed,
						 (unsigned long long)(next + i));
			lpl_ring_release(p.ring, some);
			next += some;
			if (next_random(&random) % 16 == 0)
				sched_yield();
		}
		assert_int_equal(pthread_join(thread, NULL), 0);
		assert_int_equal(p.sent, p.records);
		assert_int_equal(next, p.records);
		assert_ended(p.ring);
		lpl_ring_free(p.ring);
	}
}

static void size_is_rounded_up(void **state)
{
	static const size_t asked[] = { 0, 1, 1024, 1025, 3000 };
	static const uint64_t holds[] = { 1024, 1024, 1024, 2048, 4096 };

	(void)state;
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		struct lpl_ring *ring = lpl_ring_new(asked[i]);

		assert_non_null(ring);
		put(ring, 0, holds[i]);		/* waits for ever if it is smaller */
		assert_int_equal(lpl_ring_waits(ring), 0);
		assert_int_equal(lpl_ring_wait_ns(ring), 0);
		lpl_ring_end(ring);
		get(ring, 0, holds[i]);
		assert_ended(ring);
		lpl_ring_free(ring);
	}
}

static void publish_shows_what_is_committed(void **state)
{
	struct lpl_ring *ring = lpl_ring_new(SMALLEST);

	(void)state;
	assert_non_null(ring);
	for (uint64_t n = 0, count = 1; n < 5000; n += count, count = count * 2 % 509) {
		const struct lpl_ring_record *records;

		put(ring, n, count);
		lpl_ring_publish(ring);
		/* what there is may come in two parts: the ring's end is between them */
		size_t ready = lpl_ring_peek(ring, LPL_RING_FOREVER, &records);
		assert_true(ready > 0 && ready <= count);
		get(ring, n, count);
	}
	lpl_ring_end(ring);
	assert_ended(ring);
	lpl_ring_free(ring);
}

static void nap(unsigned milliseconds)
{
	struct timespec t = { milliseconds / 1000, milliseconds % 1000 * 1000000L };

	nanosleep(&t, NULL);
}

/*
 * From outside it cannot be seen that a thread has begun to wait; so the consumer
 * hesitates, longer each time, until it was long enough once.
 */
static void waiting_for_room_is_counted(void **state)
{
	bool counted = false;

	(void)state;
	for (unsigned pause = 1; !counted && pause <= 1u << 15; pause *= 2) {
		struct producer p = { .ring = lpl_ring_new(SMALLEST), .records = SMALLEST + 1 };
		pthread_t thread;

		assert_non_null(p.ring);
		assert_int_equal(pthread_create(&thread, NULL, produce, &p), 0);
		while (!atomic_load(&p.started))
			sched_yield();
		nap(pause);
		get(p.ring, 0, SMALLEST + 1);	/* none was overwritten meanwhile */
		assert_ended(p.ring);
		assert_int_equal(pthread_join(thread, NULL), 0);
		counted = lpl_ring_waits(p.ring) == 1;
		assert_true(lpl_ring_waits(p.ring) <= 1);
		assert_true((lpl_ring_wait_ns(p.ring) > 0) == counted);
		lpl_ring_free(p.ring);
	}
	assert_true(counted);
}

/* While it goes on, too. */
static void waiting_is_counted_as_it_passes(void **state)
{
	struct producer p = { .ring = lpl_ring_new(SMALLEST), .records = SMALLEST + 1 };
	uint64_t before = 0;
	pthread_t thread;

	(void)state;
	assert_non_null(p.ring);
	assert_int_equal(pthread_create(&thread, NULL, produce, &p), 0);
	for (int times = 0; times < 3; times++) {
		while (lpl_ring_wait_ns(p.ring) <= before)	/* for ever, if not counted */
			nap(1);
		before = lpl_ring_wait_ns(p.ring);
		assert_int_equal(lpl_ring_waits(p.ring), 1);
	}
	get(p.ring, 0, SMALLEST + 1);
	assert_ended(p.ring);
	assert_int_equal(pthread_join(thread, NULL), 0);
	lpl_ring_free(p.ring);
}

static void abort_wakes_the_producer(void **state)
{
	(void)state;
	for (unsigned pause = 0; pause < 20; pause += 4) {
		struct producer p = { .ring = lpl_ring_new(SMALLEST), .records = UINT64_MAX };
		pthread_t thread;

		assert_non_null(p.ring);
		assert_int_equal(pthread_create(&thread, NULL, produce, &p), 0);
		nap(pause);
		get(p.ring, 0, pause);
		lpl_ring_abort(p.ring);
		assert_int_equal(pthread_join(thread, NULL), 0);
		/* it went on for as long as it knew of room, and no longer */
		assert_true(p.sent >= pause && p.sent <= 2 * SMALLEST);
		assert_null(lpl_ring_reserve(p.ring));
		assert_null(lpl_ring_reserve(p.ring));
		lpl_ring_end(p.ring);
		lpl_ring_free(p.ring);
	}
}

/* What fills batches need not be published, however it was put. */
static void batches_become_visible(void **state)
{
	const struct lpl_ring_record some[100] = { 0 };
	const struct lpl_ring_record *records;
	struct lpl_ring *ring = lpl_ring_new(SMALLEST);

	(void)state;
	assert_non_null(ring);
	for (size_t sent = 0; sent + 100 <= SMALLEST; sent += 100)
		assert_true(lpl_ring_put(ring, some, 100));
	assert_true(lpl_ring_peek(ring, 0, &records) > 0);
	lpl_ring_end(ring);
	lpl_ring_free(ring);
}

/* The producer learns of it when it has to look for room, and until then nothing is lost by it. */
static void an_aborted_ring_takes_what_it_has_room_for(void **state)
{
	struct lpl_ring *ring = lpl_ring_new(SMALLEST);

	(void)state;
	assert_non_null(ring);
	put(ring, 0, 1);
	lpl_ring_abort(ring);
	put(ring, 1, SMALLEST - 1);
	assert_null(lpl_ring_reserve(ring));
	assert_null(lpl_ring_reserve(ring));
	assert_false(lpl_ring_put(ring, &(struct lpl_ring_record){ { 0 } }, 1));
	assert_true(lpl_ring_put(ring, NULL, 0));
	lpl_ring_end(ring);
	lpl_ring_free(ring);
}

static void an_empty_stream_ends(void **state)
{
	struct producer p = { .ring = lpl_ring_new(0), .records = 0 };
	pthread_t thread;

	(void)state;
	assert_non_null(p.ring);
	assert_int_equal(pthread_create(&thread, NULL, produce, &p), 0);
	assert_ended(p.ring);
	assert_int_equal(pthread_join(thread, NULL), 0);
	lpl_ring_free(p.ring);
	lpl_ring_free(NULL);
}

/* ---- blocks ---- */

#define BLOCK_WORDS 512

static void *produce_blocks(void *argument)
{
	struct producer *p = argument;

	for (p->sent = 0; p->sent < p->records; p->sent++) {
		uint64_t *block = lpl_ring_reserve_block(p->ring);

		if (!block)
			return NULL;
		for (unsigned i = 0; i < BLOCK_WORDS; i++)
			block[i] = p->sent * BLOCK_WORDS + i;
		lpl_ring_commit(p->ring);
	}
	lpl_ring_end(p->ring);
	return NULL;
}

static void every_block_arrives_once_in_order(void **state)
{
	struct producer p = { .ring = lpl_ring_new_blocks(4, BLOCK_WORDS * sizeof(uint64_t)),
			      .records = 5000 };
	const uint64_t *block;
	pthread_t thread;
	uint64_t next = 0;

	(void)state;
	assert_non_null(p.ring);
	assert_int_equal(pthread_create(&thread, NULL, produce_blocks, &p), 0);
	while ((block = lpl_ring_peek_block(p.ring, LPL_RING_FOREVER))) {
		for (unsigned i = 0; i < BLOCK_WORDS; i++)
			assert_int_equal(block[i], next * BLOCK_WORDS + i);
		lpl_ring_release(p.ring, 1);
		next++;
	}
	assert_true(lpl_ring_over(p.ring));
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(next, p.records);
	assert_true(lpl_ring_drained(p.ring));
	lpl_ring_free(p.ring);
}

/* A block is seen when it is committed, and it is drained when it was given back. */
static void a_block_is_published_at_once(void **state)
{
	struct lpl_ring *ring = lpl_ring_new_blocks(2, 64);

	(void)state;
	assert_non_null(ring);
	assert_true(lpl_ring_drained(ring));
	for (uint64_t n = 0; n < 5; n++) {
		*(uint64_t *)lpl_ring_reserve_block(ring) = n;
		lpl_ring_commit(ring);
		assert_false(lpl_ring_drained(ring));
		const uint64_t *block = lpl_ring_peek_block(ring, LPL_RING_FOREVER);
		assert_non_null(block);
		assert_int_equal(*block, n);
		lpl_ring_release(ring, 1);
		assert_true(lpl_ring_drained(ring));
	}
	assert_non_null(lpl_ring_reserve_block(ring));
	lpl_ring_commit(ring);
	assert_non_null(lpl_ring_reserve_block(ring));
	lpl_ring_commit(ring);
	lpl_ring_abort(ring);
	assert_null(lpl_ring_reserve_block(ring));
	lpl_ring_end(ring);
	lpl_ring_free(ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_record_arrives_once_in_order),
		cmocka_unit_test(size_is_rounded_up),
		cmocka_unit_test(publish_shows_what_is_committed),
		cmocka_unit_test(waiting_for_room_is_counted),
		cmocka_unit_test(waiting_is_counted_as_it_passes),
		cmocka_unit_test(abort_wakes_the_producer),
		cmocka_unit_test(batches_become_visible),
		cmocka_unit_test(an_aborted_ring_takes_what_it_has_room_for),
		cmocka_unit_test(an_empty_stream_ends),
		cmocka_unit_test(every_block_arrives_once_in_order),
		cmocka_unit_test(a_block_is_published_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
