/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The crew.  Places are counted, never moved: `put` and `dropped` are the owner's,
 * `begun` is whose turn it is; a place's content is the owner's before it is put up and
 * after it is done, and between the two that of the thread that began it.  One lock
 * guards the counts; it is taken a few times for each chunk, which costs nothing.
 */
#include "crew.h"

#include "host.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

struct lpl_crew {
	void (*work)(void *context, unsigned int place);
	void *context;
	unsigned int jobs, places;
	unsigned int threads;		/* besides the owner's */
	pthread_t thread[LPL_CREW_JOBS_MAX - 1];
	pthread_mutex_t lock;
	pthread_cond_t begin;		/* there is work, or none will ever be */
	pthread_cond_t end;		/* some was done */
	/* under the lock */
	uint64_t put, begun, dropped;
	bool done[LPL_CREW_JOBS_MAX + 1];
	bool stopping;
};

unsigned int lpl_crew_jobs(unsigned int jobs)
{
	if (jobs == 0)
		jobs = lpl_processors();
	return jobs < LPL_CREW_JOBS_MAX ? jobs : LPL_CREW_JOBS_MAX;
}

/* One more than are worked on, which the owner fills or has taken. */
unsigned int lpl_crew_places(unsigned int jobs)
{
	jobs = lpl_crew_jobs(jobs);
	return jobs == 1 ? 1 : jobs + 1;
}

struct lpl_crew *lpl_crew_new(unsigned int jobs, void (*work)(void *context, unsigned int place),
			      void *context)
{
	struct lpl_crew *crew = calloc(1, sizeof(*crew));

	if (!crew)
		return NULL;
	crew->work = work;
	crew->context = context;
	crew->jobs = lpl_crew_jobs(jobs);
	crew->places = lpl_crew_places(jobs);
	pthread_mutex_init(&crew->lock, NULL);
	pthread_cond_init(&crew->begin, NULL);
	pthread_cond_init(&crew->end, NULL);
	return crew;
}

/* Work on the place whose turn it is.  The lock is held, but not meanwhile. */
static void work_on_next(struct lpl_crew *crew)
{
	unsigned int place = (unsigned int)(crew->begun++ % crew->places);

	pthread_mutex_unlock(&crew->lock);
	crew->work(crew->context, place);
	pthread_mutex_lock(&crew->lock);
	crew->done[place] = true;
	pthread_cond_signal(&crew->end);
}

static void *labour(void *argument)
{
	struct lpl_crew *crew = argument;

	pthread_mutex_lock(&crew->lock);
	while (!crew->stopping) {
		if (crew->begun < crew->put)
			work_on_next(crew);
		else
			pthread_cond_wait(&crew->begin, &crew->lock);
	}
	pthread_mutex_unlock(&crew->lock);
	return NULL;
}

/* As many as can be had; the owner's own does the work when that is none. */
static void start_threads(struct lpl_crew *crew)
{
	while (crew->threads < crew->jobs - 1 &&
	       pthread_create(&crew->thread[crew->threads], NULL, labour, crew) == 0)
		crew->threads++;
}

bool lpl_crew_full(const struct lpl_crew *crew)
{
	return crew->put - crew->dropped == crew->places;
}

bool lpl_crew_empty(const struct lpl_crew *crew)
{
	return crew->put == crew->dropped;
}

unsigned int lpl_crew_next(const struct lpl_crew *crew)
{
	return (unsigned int)(crew->put % crew->places);
}

void lpl_crew_put(struct lpl_crew *crew)
{
	pthread_mutex_lock(&crew->lock);
	crew->done[lpl_crew_next(crew)] = false;
	crew->put++;
	if (crew->put == 2)
		start_threads(crew);
	pthread_cond_signal(&crew->begin);
	pthread_mutex_unlock(&crew->lock);
}

unsigned int lpl_crew_oldest(struct lpl_crew *crew)
{
	unsigned int place = (unsigned int)(crew->dropped % crew->places);

	pthread_mutex_lock(&crew->lock);
	while (!crew->done[place]) {
		if (crew->begun < crew->put)
			work_on_next(crew);
		else
			pthread_cond_wait(&crew->end, &crew->lock);
	}
	pthread_mutex_unlock(&crew->lock);
	return place;
}

void lpl_crew_drop(struct lpl_crew *crew)
{
	pthread_mutex_lock(&crew->lock);
	crew->dropped++;
	pthread_mutex_unlock(&crew->lock);
}

void lpl_crew_free(struct lpl_crew *crew)
{
	if (!crew)
		return;
	pthread_mutex_lock(&crew->lock);
	crew->stopping = true;
	pthread_cond_broadcast(&crew->begin);
	pthread_mutex_unlock(&crew->lock);
	while (crew->threads > 0)
		pthread_join(crew->thread[--crew->threads], NULL);
	pthread_cond_destroy(&crew->begin);
	pthread_cond_destroy(&crew->end);
	pthread_mutex_destroy(&crew->lock);
	free(crew);
}
