/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The work queue.  Pieces are counted, never moved: piece n is in slot n modulo their number.
 * What a slot holds is the owner's before it is put into the queue and after it is done; between
 * the two it is that of the thread that began it.
 */
#include "work_queue.h"

#include "host.h"
#include "workers.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

struct lpl_work_queue {
	struct lpl_workers workers;
	void (*work)(void *context, unsigned int slot);
	void *context;
	unsigned int jobs, slots;
	uint64_t taken;			/* pieces; used by no other */
	/* under the lock */
	uint64_t put, begun;
	bool done[LPL_QUEUE_MOST_SLOTS];
};

unsigned int lpl_work_queue_jobs(unsigned int jobs)
{
	if (jobs == 0)
		jobs = lpl_processors();
	return jobs < LPL_QUEUE_MOST_JOBS ? jobs : LPL_QUEUE_MOST_JOBS;
}

/* One more than are worked on, which the owner fills or has taken. */
unsigned int lpl_work_queue_slots(unsigned int jobs)
{
	jobs = lpl_work_queue_jobs(jobs);
	return jobs == 1 ? 1 : jobs + 1;
}

/* ---- the work ---- */

static size_t next(void *context)
{
	struct lpl_work_queue *queue = context;

	return queue->begun < queue->put ? queue->begun++ % queue->slots : LPL_NO_WORK;
}

static void work(void *context, size_t slot)
{
	struct lpl_work_queue *queue = context;

	queue->work(queue->context, (unsigned int)slot);
}

static void done(void *context, size_t slot)
{
	struct lpl_work_queue *queue = context;

	queue->done[slot] = true;
}

static const struct lpl_work queue_work = { next, work, done };

/* ---- the owner's side ---- */

struct lpl_work_queue *lpl_work_queue_new(unsigned int jobs,
					  void (*work)(void *context, unsigned int slot),
					  void *context)
{
	struct lpl_work_queue *queue = calloc(1, sizeof(*queue));

	if (queue == NULL)
		return NULL;
	queue->work = work;
	queue->context = context;
	queue->jobs = lpl_work_queue_jobs(jobs);
	queue->slots = lpl_work_queue_slots(jobs);
	lpl_workers_init(&queue->workers, &queue_work, queue);
	return queue;
}

void lpl_work_queue_free(struct lpl_work_queue *queue)
{
	if (queue == NULL)
		return;
	lpl_workers_stop(&queue->workers);
	free(queue);
}

/* `put` is changed by the owner alone, so that it needs no lock to read it. */
bool lpl_work_queue_full(const struct lpl_work_queue *queue)
{
	return queue->put - queue->taken == queue->slots;
}

bool lpl_work_queue_empty(const struct lpl_work_queue *queue)
{
	return queue->put == queue->taken;
}

unsigned int lpl_work_queue_next(const struct lpl_work_queue *queue)
{
	return (unsigned int)(queue->put % queue->slots);
}

void lpl_work_queue_put(struct lpl_work_queue *queue)
{
	assert(!lpl_work_queue_full(queue));
	lpl_workers_lock(&queue->workers);
	queue->done[lpl_work_queue_next(queue)] = false;
	queue->put++;
	lpl_workers_wake_one(&queue->workers);
	lpl_workers_unlock(&queue->workers);
	if (queue->put == 2)
		lpl_workers_start(&queue->workers, queue->jobs - 1);
}

unsigned int lpl_work_queue_oldest(struct lpl_work_queue *queue)
{
	unsigned int slot = (unsigned int)(queue->taken % queue->slots);

	assert(!lpl_work_queue_empty(queue));
	lpl_workers_lock(&queue->workers);
	while (!queue->done[slot])
		lpl_workers_help(&queue->workers);
	lpl_workers_unlock(&queue->workers);
	return slot;
}

void lpl_work_queue_take(struct lpl_work_queue *queue)
{
	assert(!lpl_work_queue_empty(queue));
	queue->taken++;
}
