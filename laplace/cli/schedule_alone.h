/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How much slower processes are for one another: what each of them takes if it is alone on the machine. */
#ifndef LAPLACE_CLI_SCHEDULE_ALONE_H
#define LAPLACE_CLI_SCHEDULE_ALONE_H

#include <stdbool.h>
#include <stdint.h>

#include <laplace/schedule.h>

/* Of one process, among others and alone; not of the kernel, nor of one without references. */
struct cli_alone {
	bool known;
	uint64_t among, alone;		/* cycles from its begin to its end */
};

/*
 * Of each lpl_schedule_process() of the last run, on the same machine; to be freed.  Complains;
 * returns an exit status.
 */
int cli_alone_run(struct cli_alone **alone, struct lpl_schedule *schedule,
		  const struct lpl_machine *machine);

/* among / alone in thousandths, rounded, half up.  false: there is no such number. */
bool cli_slowdown(const struct cli_alone *alone, uint64_t *thousandths);

/*
 * Jain's index of fairness of the processes that are known, in ten-thousandths, rounded, half up: of
 * x = alone / among, which is the part of its speed that each has, (sum of x)^2 / (n * sum of x^2).
 * 0: of no process.
 */
uint64_t cli_fairness(const struct cli_alone *alone, size_t count);

#endif
