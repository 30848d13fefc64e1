/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The broadcast.  Batches are counted; batch n is in slot n modulo their number.  Its items are
 * the owner's until it is sent and the consumers' until all have had it; everything else is
 * guarded by the workers' lock.
 */
#include "broadcast.h"

#include "workers.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

enum { SLOTS = 4 };	/* so that neither side waits at once when the other is late */

struct consumer {
	uint64_t consumed;	/* batches */
	bool busy;
};

struct batch {
	void *items;
	size_t count;
	bool last;
	size_t waiting;		/* consumers that have not had it */
};

struct lpl_broadcast {
	struct lpl_workers workers;
	lpl_consume *consume;
	void *context;
	unsigned int jobs, slots;
	size_t consumers;
	struct consumer *consumer;
	struct batch batch[SLOTS];
	uint64_t sent;
	size_t busy;			/* consumers that are */
	struct lpl_report failure;	/* the first; no batch is begun after it */
};

static struct batch *batch_of(struct lpl_broadcast *broadcast, uint64_t number)
{
	return &broadcast->batch[number % broadcast->slots];
}

/* ---- the work ---- */

/* The consumer furthest behind that no thread works for. */
static size_t next(void *context)
{
	struct lpl_broadcast *broadcast = context;
	uint64_t consumed = broadcast->sent;
	size_t found = LPL_NO_WORK;

	if (broadcast->failure.error != LPL_OK)
		return LPL_NO_WORK;
	for (size_t i = 0; i < broadcast->consumers; i++) {
		const struct consumer *consumer = &broadcast->consumer[i];

		if (!consumer->busy && consumer->consumed < consumed) {
			consumed = consumer->consumed;
			found = i;
		}
	}
	if (found != LPL_NO_WORK) {
		broadcast->consumer[found].busy = true;
		broadcast->busy++;
	}
	return found;
}

static void work(void *context, size_t i)
{
	struct lpl_broadcast *broadcast = context;
	const struct batch *batch = batch_of(broadcast, broadcast->consumer[i].consumed);
	struct lpl_report report = { .error = LPL_OK };
	enum lpl_error error = broadcast->consume(broadcast->context, i, batch->items,
						  batch->count, batch->last, &report);

	if (error == LPL_OK)
		return;
	report.error = error;
	lpl_workers_lock(&broadcast->workers);
	if (broadcast->failure.error == LPL_OK)
		broadcast->failure = report;
	lpl_workers_unlock(&broadcast->workers);
}

static void done(void *context, size_t i)
{
	struct lpl_broadcast *broadcast = context;
	struct consumer *consumer = &broadcast->consumer[i];

	assert(consumer->busy && consumer->consumed < broadcast->sent);
	assert(batch_of(broadcast, consumer->consumed)->waiting > 0 && broadcast->busy > 0);
	batch_of(broadcast, consumer->consumed)->waiting--;
	consumer->consumed++;
	consumer->busy = false;
	broadcast->busy--;
}

static const struct lpl_work broadcast_work = { next, work, done };

/* ---- the owner's side ---- */

/*
 * With the lock held: return when all consumers have had the batch; or one has failed, and
 * none looks at it any more.
 */
static void wait_for(struct lpl_broadcast *broadcast, const struct batch *batch)
{
	while (broadcast->failure.error == LPL_OK ? batch->waiting != 0 : broadcast->busy != 0)
		lpl_workers_help(&broadcast->workers);
}

static enum lpl_error send_batch(struct lpl_broadcast *broadcast, size_t count, bool last,
				 struct lpl_report *report)
{
	struct batch *batch = batch_of(broadcast, broadcast->sent);
	enum lpl_error error;

	lpl_workers_lock(&broadcast->workers);
	batch->count = count;
	batch->last = last;
	batch->waiting = broadcast->consumers;
	broadcast->sent++;
	lpl_workers_wake_all(&broadcast->workers);
	if (last)
		for (unsigned int i = 0; i < broadcast->slots; i++)
			wait_for(broadcast, &broadcast->batch[i]);
	else if (broadcast->jobs == 1)
		wait_for(broadcast, batch);	/* while it is in the processor's cache */
	error = broadcast->failure.error;
	if (error != LPL_OK && report != NULL && report->error == LPL_OK)
		*report = broadcast->failure;
	lpl_workers_unlock(&broadcast->workers);
	return error;
}

/* No more threads than can be busy: the owner's is there already, and fills batches. */
static void start_threads(struct lpl_broadcast *broadcast)
{
	unsigned int threads = broadcast->jobs - 1;

	lpl_workers_start(&broadcast->workers, threads < broadcast->consumers ? threads :
			  (unsigned int)broadcast->consumers);
}

void *lpl_broadcast_batch(struct lpl_broadcast *broadcast)
{
	struct batch *batch = batch_of(broadcast, broadcast->sent);

	lpl_workers_lock(&broadcast->workers);
	wait_for(broadcast, batch);
	lpl_workers_unlock(&broadcast->workers);
	return batch->items;
}

enum lpl_error lpl_broadcast_send(struct lpl_broadcast *broadcast, size_t count,
				  struct lpl_report *report)
{
	if (broadcast->sent == 0)
		start_threads(broadcast);
	return send_batch(broadcast, count, false, report);
}

enum lpl_error lpl_broadcast_send_last(struct lpl_broadcast *broadcast, size_t count,
				       struct lpl_report *report)
{
	return send_batch(broadcast, count, true, report);
}

struct lpl_broadcast *lpl_broadcast_new(size_t consumers, lpl_consume *consume, void *context,
					size_t bytes, unsigned int jobs)
{
	struct lpl_broadcast *broadcast = calloc(1, sizeof(*broadcast));
	bool whole;

	if (broadcast == NULL)
		return NULL;
	broadcast->consume = consume;
	broadcast->context = context;
	broadcast->jobs = jobs;
	broadcast->slots = jobs == 1 ? 1 : SLOTS;
	broadcast->consumers = consumers;
	lpl_workers_init(&broadcast->workers, &broadcast_work, broadcast);
	broadcast->consumer = calloc(consumers + 1, sizeof(*broadcast->consumer));
	whole = broadcast->consumer != NULL;
	for (unsigned int i = 0; i < broadcast->slots; i++) {
		broadcast->batch[i].items = malloc(bytes);
		whole = whole && broadcast->batch[i].items != NULL;
	}
	if (!whole) {
		lpl_broadcast_free(broadcast);
		return NULL;
	}
	return broadcast;
}

void lpl_broadcast_free(struct lpl_broadcast *broadcast)
{
	if (broadcast == NULL)
		return;
	lpl_workers_stop(&broadcast->workers);
	for (unsigned int i = 0; i < SLOTS; i++)
		free(broadcast->batch[i].items);
	free(broadcast->consumer);
	free(broadcast);
}
