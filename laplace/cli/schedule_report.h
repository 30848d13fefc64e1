/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What `laplace schedule' prints of a run. */
#ifndef LAPLACE_CLI_SCHEDULE_REPORT_H
#define LAPLACE_CLI_SCHEDULE_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include <laplace/schedule.h>

#include "schedule_alone.h"

enum cli_schedule_unit { CLI_SCHEDULE_PROCESS, CLI_SCHEDULE_TASK };

struct cli_schedule_report {
	const struct lpl_schedule *schedule;
	const struct lpl_machine *machine;
	enum cli_schedule_unit unit;
	const struct cli_alone *alone;	/* of its processes; NULL: not wanted */
	uint64_t cycles_a_second;	/* 0: not known */
	bool json;
	bool aside;			/* standard output has something else */
};

/*
 * A line for each process or task, as CSV, on standard output, and what the machine did on standard
 * error; or all of it as JSON; all on standard error if it is `aside`.  Returns an exit status.
 */
int cli_schedule_print(const struct cli_schedule_report *report);

#endif
