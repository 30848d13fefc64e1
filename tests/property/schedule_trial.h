/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Random traces for random machines, and the library that runs them; whatever fails there fails the test. */
#ifndef LAPLACE_TESTS_SCHEDULE_TRIAL_H
#define LAPLACE_TESTS_SCHEDULE_TRIAL_H

#include "play.h"

#include <laplace/schedule.h>

#include "oracle_schedule.h"

struct trial {
	struct stream in;
	struct stream canonical;	/* which may be what comes in */
	struct oracle_machine machine;
	uint64_t scale;		/* the library gets all times so many times as long */
	size_t batch;
};

/* Each case by itself, so that it can be tried alone. */
struct random random_of(uint64_t seed, unsigned int number);
/* A trace and a machine, in place of those that were there. */
void random_trial(struct random *random, struct trial *trial);
/* Another machine for the same trace. */
void next_machine(struct random *random, struct trial *trial);

/* What `merge --format canonical` makes of a stream, in place of what was in `out`. */
void make_canonical(const struct stream *in, struct stream *out);

void trial_free(struct trial *trial);

/* The trace in the library; and the machine in its words. */
struct lpl_schedule *schedule_of(const struct trial *trial);
struct lpl_machine machine_of(struct oracle_machine *like);

/*
 * The time in a trace that a machine wrote, as one sees that takes it apart again and runs it in its own
 * order, with all pages there at once.
 */
struct written_time {
	uint64_t end;
	uint64_t idle;
	uint64_t taken;			/* by all other tasks */
};
struct written_time time_of_written(const struct stream *written);

void print_machine(const struct oracle_machine *machine);	/* on stderr */

#endif
