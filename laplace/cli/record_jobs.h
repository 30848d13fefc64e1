/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A recording that several processes make (record --jobs); see record_jobs.c. */
#ifndef LAPLACE_CLI_RECORD_JOBS_H
#define LAPLACE_CLI_RECORD_JOBS_H

#include "record.h"

/* May it be made so?  Complains.  Returns a status. */
int record_jobs_check(const struct record_options *options);
/*
 * Run `bochs` for each part of `trace`, an absolute path, options->jobs at a time.  Reports on it, and returns an exit
 * status.
 */
int record_jobs(const struct record_options *options, const char *bochs, const char *trace);
/* Go on with the one that options->resume names, as it was begun. */
int record_jobs_resume(struct record_options *options);

#endif
