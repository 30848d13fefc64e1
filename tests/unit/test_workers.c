/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Worker threads: a queue keeps the order and works on everything once; a broadcast gives
 * every consumer the whole stream, in order, on one thread at a time; errors end it.  Built
 * with ThreadSanitizer where the compiler has it, which sees what is not under the lock.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/broadcast.h"
#include "base/work_queue.h"

static const unsigned int jobs_of[] = { 1, 2, 3, 8 };
#define WAYS (sizeof(jobs_of) / sizeof(jobs_of[0]))

/* ---- the queue ---- */

#define PIECES 500

struct squares {
	uint64_t number[LPL_QUEUE_MOST_SLOTS];
	unsigned int worked[LPL_QUEUE_MOST_SLOTS];
};

static void square(void *context, unsigned int slot)
{
	struct squares *squares = context;

	squares->number[slot] *= squares->number[slot];
	squares->worked[slot]++;
}

static void a_queue_keeps_the_order(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < WAYS; i++) {
		struct squares squares = { .number = { 0 } };
		struct lpl_work_queue *queue = lpl_work_queue_new(jobs_of[i], square, &squares);
		uint64_t put = 0, taken = 0;

		assert_non_null(queue);
		assert_true(lpl_work_queue_empty(queue));
		while (taken < PIECES) {
			unsigned int slot;

			for (; put < PIECES && !lpl_work_queue_full(queue); put++) {
				slot = lpl_work_queue_next(queue);
				assert_true(slot < lpl_work_queue_slots(jobs_of[i]));
				squares.number[slot] = put;
				squares.worked[slot] = 0;
				lpl_work_queue_put(queue);
			}
			slot = lpl_work_queue_oldest(queue);
			assert_int_equal(squares.number[slot], taken * taken);
			assert_int_equal(squares.worked[slot], 1);
			lpl_work_queue_take(queue);
			taken++;
		}
		assert_true(lpl_work_queue_empty(queue));
		lpl_work_queue_free(queue);
	}
}

/* With pieces in it that are not taken any more. */
static void a_queue_ends_early(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < WAYS; i++) {
		struct squares squares = { .number = { 0 } };
		struct lpl_work_queue *queue = lpl_work_queue_new(jobs_of[i], square, &squares);

		assert_non_null(queue);
		while (!lpl_work_queue_full(queue))
			lpl_work_queue_put(queue);
		lpl_work_queue_free(queue);
		for (size_t slot = 0; slot < LPL_QUEUE_MOST_SLOTS; slot++)
			assert_true(squares.worked[slot] <= 1);
	}
}

/* ---- the broadcast ---- */

enum { CONSUMERS = 5, ITEMS = 64, BATCHES = 200 };

struct consumer {
	uint64_t next;		/* the item expected */
	uint64_t sum;		/* slow enough for threads to meet */
	unsigned int wrong, ends;
	uint64_t fails_at;	/* a batch; 0: none */
	uint64_t batches;
};

static enum lpl_error consume(void *context, size_t i, const void *items, size_t count, bool last,
			      struct lpl_report *report)
{
	struct consumer *consumer = &((struct consumer *)context)[i];
	const uint64_t *item = items;

	if (++consumer->batches == consumer->fails_at)
		return lpl_fail(report, LPL_ERR_FULL, "consumer %zu is full", i);
	for (size_t j = 0; j < count; j++) {
		consumer->wrong += item[j] != consumer->next++;
		for (size_t k = 0; k < 20 * i; k++)
			consumer->sum += item[j] ^ k;
	}
	consumer->ends += last ? 1 : 0;
	return LPL_OK;
}

/* Full batches, and `rest` items more. */
static enum lpl_error send_all(struct lpl_broadcast *broadcast, size_t batches, size_t rest,
			       struct lpl_report *report)
{
	uint64_t number = 0;
	uint64_t *item = NULL;

	for (size_t i = 0; i <= batches; i++) {
		enum lpl_error error;
		size_t count = i < batches ? ITEMS : rest;

		item = lpl_broadcast_batch(broadcast);
		for (size_t j = 0; j < count; j++)
			item[j] = number++;
		error = i < batches ? lpl_broadcast_send(broadcast, count, report) :
			lpl_broadcast_send_last(broadcast, count, report);
		if (error != LPL_OK)
			return error;
	}
	return LPL_OK;
}

static void every_consumer_gets_all_in_order(void **unused)
{
	static const size_t batches_of[] = { 0, 1, BATCHES }, rest_of[] = { 0, 17, ITEMS };

	(void)unused;
	for (size_t i = 0; i < WAYS * 9; i++) {
		struct consumer consumer[CONSUMERS] = { { .next = 0 } };
		size_t batches = batches_of[i / WAYS % 3], rest = rest_of[i / WAYS / 3];
		struct lpl_report report = { .error = LPL_OK };
		struct lpl_broadcast *broadcast =
			lpl_broadcast_new(CONSUMERS, consume, consumer,
					  ITEMS * sizeof(uint64_t), jobs_of[i % WAYS]);

		assert_non_null(broadcast);
		assert_int_equal(send_all(broadcast, batches, rest, &report), LPL_OK);
		/* they stand already, though the threads are still there */
		for (size_t j = 0; j < CONSUMERS; j++) {
			assert_int_equal(consumer[j].next, batches * ITEMS + rest);
			assert_int_equal(consumer[j].wrong, 0);
			assert_int_equal(consumer[j].ends, 1);
		}
		lpl_broadcast_free(broadcast);
	}
}

static void without_consumers_all_is_well(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < WAYS; i++) {
		struct lpl_broadcast *broadcast =
			lpl_broadcast_new(0, consume, NULL, ITEMS * sizeof(uint64_t), jobs_of[i]);

		assert_non_null(broadcast);
		assert_int_equal(send_all(broadcast, 10, 3, NULL), LPL_OK);
		lpl_broadcast_free(broadcast);
	}
}

/*
 * The error reaches the owner at a later batch, or at the end.  What it fills until then is
 * not looked at.
 */
static void an_error_ends_it(void **unused)
{
	static const uint64_t at[] = { 1, 2, 3, 5, 8, 13, 21, 34, 50, BATCHES, BATCHES + 1 };

	(void)unused;
	for (size_t i = 0; i < WAYS * sizeof(at) / sizeof(at[0]); i++) {
		struct consumer consumer[CONSUMERS] = { { .next = 0 } };
		struct lpl_report report = { .error = LPL_OK };
		struct lpl_broadcast *broadcast =
			lpl_broadcast_new(CONSUMERS, consume, consumer,
					  ITEMS * sizeof(uint64_t), jobs_of[i % WAYS]);

		assert_non_null(broadcast);
		consumer[3].fails_at = at[i / WAYS];
		assert_int_equal(send_all(broadcast, BATCHES, 1, &report), LPL_ERR_FULL);
		assert_int_equal(report.error, LPL_ERR_FULL);
		assert_string_equal(report.text, "consumer 3 is full");
		lpl_broadcast_free(broadcast);
		assert_int_equal(consumer[3].batches, at[i / WAYS]);
		assert_int_equal(consumer[3].ends, 0);
		for (size_t j = 0; j < CONSUMERS; j++)
			assert_int_equal(consumer[j].wrong, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_queue_keeps_the_order),
		cmocka_unit_test(a_queue_ends_early),
		cmocka_unit_test(every_consumer_gets_all_in_order),
		cmocka_unit_test(without_consumers_all_is_well),
		cmocka_unit_test(an_error_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
