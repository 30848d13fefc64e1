/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Worker threads; see workers.h. */
#include "workers.h"

#include <stdlib.h>

void lpl_workers_init(struct lpl_workers *workers, const struct lpl_work *work, void *context)
{
	*workers = (struct lpl_workers){ .work = work, .context = context };
	pthread_mutex_init(&workers->lock, NULL);
	pthread_cond_init(&workers->more, NULL);
	pthread_cond_init(&workers->less, NULL);
}

/* Do what is next; the lock is held, but not meanwhile.  false: there is nothing to do. */
static bool work_once(struct lpl_workers *workers)
{
	size_t number = workers->work->next(workers->context);

	if (number == LPL_NO_WORK)
		return false;
	pthread_mutex_unlock(&workers->lock);
	workers->work->work(workers->context, number);
	pthread_mutex_lock(&workers->lock);
	workers->work->done(workers->context, number);
	return true;
}

static void *run(void *argument)
{
	struct lpl_workers *workers = argument;

	pthread_mutex_lock(&workers->lock);
	while (!workers->stopping) {
		if (work_once(workers))
			pthread_cond_signal(&workers->less);	/* only the owner waits for that */
		else
			pthread_cond_wait(&workers->more, &workers->lock);
	}
	pthread_mutex_unlock(&workers->lock);
	return NULL;
}

void lpl_workers_start(struct lpl_workers *workers, unsigned int threads)
{
	workers->thread = threads != 0 ? calloc(threads, sizeof(*workers->thread)) : NULL;
	if (workers->thread == NULL)
		return;
	while (workers->threads < threads &&
	       pthread_create(&workers->thread[workers->threads], NULL, run, workers) == 0)
		workers->threads++;
}

void lpl_workers_stop(struct lpl_workers *workers)
{
	pthread_mutex_lock(&workers->lock);
	workers->stopping = true;
	pthread_cond_broadcast(&workers->more);
	pthread_mutex_unlock(&workers->lock);
	while (workers->threads > 0)
		pthread_join(workers->thread[--workers->threads], NULL);
	free(workers->thread);
	pthread_cond_destroy(&workers->more);
	pthread_cond_destroy(&workers->less);
	pthread_mutex_destroy(&workers->lock);
}

void lpl_workers_lock(struct lpl_workers *workers)
{
	pthread_mutex_lock(&workers->lock);
}

void lpl_workers_unlock(struct lpl_workers *workers)
{
	pthread_mutex_unlock(&workers->lock);
}

void lpl_workers_wake_one(struct lpl_workers *workers)
{
	pthread_cond_signal(&workers->more);
}

void lpl_workers_wake_all(struct lpl_workers *workers)
{
	pthread_cond_broadcast(&workers->more);
}

void lpl_workers_help(struct lpl_workers *workers)
{
	if (work_once(workers))
		/* a thread takes what this may have made possible; the owner goes its way */
		pthread_cond_signal(&workers->more);
	else
		pthread_cond_wait(&workers->less, &workers->lock);
}
