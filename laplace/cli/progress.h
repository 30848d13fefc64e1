/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The line of progress on a terminal, or now and then a line in a log.
 */
#ifndef LAPLACE_CLI_PROGRESS_H
#define LAPLACE_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "options.h"

struct cli_progress {
	bool on, terminal;
	uint64_t start_ns, last_ns;
	int width;		/* of the line now standing */
};

void cli_progress_start(struct cli_progress *progress, enum cli_when when);
/* Is a line due?  (Never when progress is off.) */
bool cli_progress_due(struct cli_progress *progress);
void cli_progress_line(struct cli_progress *progress, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* How long a line may be: on a terminal, as long as that is wide. */
int cli_progress_columns(const struct cli_progress *progress);
/* Remove the line from a terminal. */
void cli_progress_clear(struct cli_progress *progress);

#endif
