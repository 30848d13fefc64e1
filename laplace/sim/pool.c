/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The pool of players.  One lock guards everything but the touches of a batch: these
 * are the filler's until the batch is dealt and the players' until all have played it.
 */
#include "pool.h"

#include <pthread.h>
#include <stdlib.h>

enum { BATCHES = 4 };

/* A player, and how far it is. */
struct seat {
	struct lpl_player *player;
	uint64_t played;	/* batches; one more when it has finished */
	bool busy;
};

struct batch {
	struct lpl_touch *touch;
	size_t count;
	size_t left;		/* players still to play it */
};

struct lpl_pool {
	size_t seats;
	struct seat *seat;
	struct batch batch[BATCHES];
	unsigned int jobs, threads;	/* wanted, and there */
	pthread_t *thread;
	pthread_mutex_t lock;
	pthread_cond_t work;		/* there may be some */
	pthread_cond_t room;		/* a batch has been played, or all has */
	/* under the lock */
	uint64_t dealt;			/* batches */
	bool ended;			/* finish comes after the last batch */
	size_t unfinished;		/* players */
	bool stopping;
	struct lpl_report failure;	/* the first one */
};

/* Batch number `number` of this player, or its end. */
static enum lpl_error play(struct lpl_pool *pool, struct lpl_player *player, uint64_t number,
			   bool ending, struct lpl_report *report)
{
	const struct batch *batch = &pool->batch[number % BATCHES];

	return ending ? player->finish(player, report) :
		player->play(player, batch->touch, batch->count, report);
}

/* ---- the threads ---- */

/* The seat furthest behind that nobody works for; NULL: there is nothing to do. */
static struct seat *next_seat(const struct lpl_pool *pool)
{
	uint64_t until = pool->dealt + (pool->ended ? 1 : 0);
	struct seat *next = NULL;

	for (size_t i = 0; i < pool->seats; i++) {
		struct seat *seat = &pool->seat[i];

		if (!seat->busy && seat->played < until &&
		    (next == NULL || seat->played < next->played))
			next = seat;
	}
	return next;
}

static void note(struct lpl_pool *pool, struct seat *seat, bool ending, enum lpl_error error,
		 const struct lpl_report *report)
{
	size_t *left = ending ? &pool->unfinished :
		&pool->batch[seat->played % BATCHES].left;

	seat->busy = false;
	seat->played++;
	if (error != LPL_OK) {
		if (!pool->stopping) {
			pool->failure = *report;
			pool->failure.error = error;
		}
		pool->stopping = true;
		pthread_cond_broadcast(&pool->work);
		pthread_cond_signal(&pool->room);
	} else if (--*left == 0) {
		pthread_cond_signal(&pool->room);
	}
}

static void *work(void *argument)
{
	struct lpl_pool *pool = argument;

	pthread_mutex_lock(&pool->lock);
	while (!pool->stopping) {
		struct seat *seat = next_seat(pool);
		struct lpl_report report = {0};
		enum lpl_error error;
		bool ending;

		if (seat == NULL) {
			pthread_cond_wait(&pool->work, &pool->lock);
			continue;
		}
		seat->busy = true;
		ending = seat->played == pool->dealt;
		pthread_mutex_unlock(&pool->lock);
		error = play(pool, seat->player, seat->played, ending, &report);
		pthread_mutex_lock(&pool->lock);
		note(pool, seat, ending, error, &report);
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

/* As many as can be had; the caller's own does the work when that is none. */
static void start_threads(struct lpl_pool *pool)
{
	size_t wanted = pool->jobs < pool->seats ? pool->jobs : pool->seats;

	pool->thread = pool->jobs > 1 && wanted != 0 ? calloc(wanted, sizeof(*pool->thread)) : NULL;
	if (pool->thread == NULL)
		return;
	while (pool->threads < wanted &&
	       pthread_create(&pool->thread[pool->threads], NULL, work, pool) == 0)
		pool->threads++;
}

/* ---- the filler's side ---- */

static enum lpl_error failure(const struct lpl_pool *pool, struct lpl_report *report)
{
	return lpl_fail(report, pool->failure.error, "%s", pool->failure.text);
}

/* Without threads: everybody plays the batch, or finishes. */
static enum lpl_error play_all(struct lpl_pool *pool, uint64_t number, bool ending,
			       struct lpl_report *report)
{
	for (size_t i = 0; i < pool->seats; i++) {
		enum lpl_error error = play(pool, pool->seat[i].player, number, ending, report);

		if (error != LPL_OK)
			return error;
	}
	return LPL_OK;
}

struct lpl_touch *lpl_pool_room(struct lpl_pool *pool)
{
	struct batch *batch = &pool->batch[pool->dealt % BATCHES];

	if (pool->threads != 0) {
		pthread_mutex_lock(&pool->lock);
		while (batch->left != 0 && !pool->stopping)
			pthread_cond_wait(&pool->room, &pool->lock);
		pthread_mutex_unlock(&pool->lock);
	}
	return batch->touch;
}

enum lpl_error lpl_pool_deal(struct lpl_pool *pool, size_t touches, struct lpl_report *report)
{
	struct batch *batch = &pool->batch[pool->dealt % BATCHES];
	enum lpl_error error = LPL_OK;

	batch->count = touches;
	if (pool->dealt == 0 && touches == LPL_BATCH)
		start_threads(pool);
	if (pool->threads == 0)
		return play_all(pool, pool->dealt++, false, report);
	pthread_mutex_lock(&pool->lock);
	batch->left = pool->seats;
	pool->dealt++;
	if (pool->stopping)
		error = failure(pool, report);
	pthread_cond_broadcast(&pool->work);
	pthread_mutex_unlock(&pool->lock);
	return error;
}

enum lpl_error lpl_pool_finish(struct lpl_pool *pool, struct lpl_report *report)
{
	enum lpl_error error = LPL_OK;

	if (pool->threads == 0)
		return play_all(pool, pool->dealt, true, report);
	pthread_mutex_lock(&pool->lock);
	pool->ended = true;
	pthread_cond_broadcast(&pool->work);
	while (pool->unfinished != 0 && !pool->stopping)
		pthread_cond_wait(&pool->room, &pool->lock);
	if (pool->stopping)
		error = failure(pool, report);
	pthread_mutex_unlock(&pool->lock);
	return error;
}

struct lpl_pool *lpl_pool_new(struct lpl_player *const *players, size_t count,
			      unsigned int jobs)
{
	struct lpl_pool *pool = calloc(1, sizeof(*pool));
	bool whole;

	if (pool == NULL)
		return NULL;
	pool->seat = calloc(count != 0 ? count : 1, sizeof(*pool->seat));
	whole = pool->seat != NULL;
	for (size_t i = 0; i < BATCHES; i++) {
		pool->batch[i].touch = malloc(LPL_BATCH * sizeof(struct lpl_touch));
		whole = whole && pool->batch[i].touch != NULL;
	}
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->work, NULL);
	pthread_cond_init(&pool->room, NULL);
	if (!whole) {
		lpl_pool_close(pool);
		return NULL;
	}
	for (size_t i = 0; i < count; i++)
		pool->seat[i].player = players[i];
	pool->seats = count;
	pool->unfinished = count;
	pool->jobs = jobs;
	return pool;
}

void lpl_pool_close(struct lpl_pool *pool)
{
	if (pool == NULL)
		return;
	if (pool->threads != 0) {
		pthread_mutex_lock(&pool->lock);
		pool->stopping = true;
		pthread_cond_broadcast(&pool->work);
		pthread_mutex_unlock(&pool->lock);
	}
	while (pool->threads != 0)
		pthread_join(pool->thread[--pool->threads], NULL);
	pthread_cond_destroy(&pool->work);
	pthread_cond_destroy(&pool->room);
	pthread_mutex_destroy(&pool->lock);
	for (size_t i = 0; i < BATCHES; i++)
		free(pool->batch[i].touch);
	free(pool->thread);
	free(pool->seat);
	free(pool);
}
