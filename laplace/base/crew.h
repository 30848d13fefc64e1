/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The crew: threads that work on pieces of a stream (chunks, buffers), several at once,
 * while their order is kept.
 *
 * There are a few places, numbered from 0 and used in turn.  Whoever has the stream fills
 * the next one and puts it up; the crew works on what was put up, in any order; and the
 * oldest is taken when its turn has come.  So memory is that of the places, and no result
 * depends on the threads.  All functions are the owner's: one thread calls them.
 *
 * The owner's thread is one of the jobs: while it would have to wait it works, too.
 * Other threads begin with the second piece: a stream of one needs none.
 */
#ifndef LAPLACE_BASE_CREW_H
#define LAPLACE_BASE_CREW_H

#include <stdbool.h>

/* More would wait for the one that has the stream. */
#define LPL_CREW_JOBS_MAX 8

struct lpl_crew;

/*
 * `jobs` threads at most, the owner's included; 0: one for each processor.  `work` is
 * called once for each place put up, on any thread.  NULL: no memory.
 */
struct lpl_crew *lpl_crew_new(unsigned int jobs, void (*work)(void *context, unsigned int place),
			      void *context);
/* Ends the threads; what was put up and not begun is not worked on.  NULL is fine. */
void lpl_crew_free(struct lpl_crew *crew);

/* How many jobs and places that makes, to be asked before there is a crew. */
unsigned int lpl_crew_jobs(unsigned int jobs);
unsigned int lpl_crew_places(unsigned int jobs);

/* Is there no free place, or none in use? */
bool lpl_crew_full(const struct lpl_crew *crew);
bool lpl_crew_empty(const struct lpl_crew *crew);
/* The place to be filled next, unless it is full; and: it is filled. */
unsigned int lpl_crew_next(const struct lpl_crew *crew);
void lpl_crew_put(struct lpl_crew *crew);
/* The oldest place in use, when the work on it is done; and: it is free again. */
unsigned int lpl_crew_oldest(struct lpl_crew *crew);
void lpl_crew_drop(struct lpl_crew *crew);

#endif
