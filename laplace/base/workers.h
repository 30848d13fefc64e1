/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Worker threads: they and their owner share work, and one lock.
 *
 * Whoever uses them says what the work is, in three functions:
 *
 *	next	chooses something that can be begun now, and notes that it has begun
 *	work	does it
 *	done	notes that it is done
 *
 * `next` and `done` are called with the lock held, `work` without it, on any thread.  What they
 * share is changed with the lock held, and the owner wakes threads when there is more to do.
 * While the owner has to wait it works, too:
 *
 *	lpl_workers_lock(workers);
 *	while (!what_is_waited_for)
 *		lpl_workers_help(workers);
 *	lpl_workers_unlock(workers);
 *
 * So nothing depends on whether threads could be had.  work_queue.h and broadcast.h are the
 * two kinds of work there are.
 */
#ifndef LAPLACE_BASE_WORKERS_H
#define LAPLACE_BASE_WORKERS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define LPL_NO_WORK ((size_t)-1)

struct lpl_work {
	size_t (*next)(void *context);		/* any number but LPL_NO_WORK, which means: nothing */
	void (*work)(void *context, size_t number);
	void (*done)(void *context, size_t number);
};

struct lpl_workers {
	const struct lpl_work *work;
	void *context;
	pthread_t *thread;
	unsigned int threads;
	pthread_mutex_t lock;
	pthread_cond_t more;		/* there may be work, or none will ever be */
	pthread_cond_t less;		/* some was done */
	bool stopping;			/* under the lock */
};

/* No threads yet.  `work` and `context` stay as long as the workers. */
void lpl_workers_init(struct lpl_workers *workers, const struct lpl_work *work, void *context);
/* Start so many threads, or as many as can be had; once, and without the lock. */
void lpl_workers_start(struct lpl_workers *workers, unsigned int threads);
/* Ends the threads: what they have begun they do, what is not begun is not done. */
void lpl_workers_stop(struct lpl_workers *workers);

void lpl_workers_lock(struct lpl_workers *workers);
void lpl_workers_unlock(struct lpl_workers *workers);
/* With the lock held: there is one thing more to do; or there may be several. */
void lpl_workers_wake_one(struct lpl_workers *workers);
void lpl_workers_wake_all(struct lpl_workers *workers);
/* With the lock held: do what is next, or, if nothing is, wait until something was done. */
void lpl_workers_help(struct lpl_workers *workers);

#endif
