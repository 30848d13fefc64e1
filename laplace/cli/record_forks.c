/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A recording that several processes make, which the simulator forks (bochs/instrument/forks.cc): record --jobs N
 * without checkpoints.  Each of them leaves a segment in TRACE.jobs; in the end those are joined that follow each other
 * from the first one on, whatever has ended the run.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record.h"
#include "record_parts.h"
#include "say.h"

bool record_is_forked(const struct record_options *options)
{
	return options->jobs && !options->checkpoint && !options->resume;
}

int record_forks_begin(const struct record_options *options, const char *trace, int *lock)
{
	char *line = record_line(options, trace), *command[] = { line, NULL };
	int status = line ? record_parts_begin(trace, command) : cli_complain(CLI_FAILED, "no memory");

	if (!status)
		status = record_parts_lock(trace, lock);
	/* it is ours for as long as any of them runs */
	if (!status)
		(void)fcntl(*lock, F_SETFD, 0);
	free(line);
	return status;
}

static int join(const char *trace, bool overwrite, uint64_t *segments)
{
	int status = record_parts_take(trace, segments);

	return status || *segments == 0 ? status : record_parts_join(trace, *segments, NULL, overwrite);
}

int record_forks_end(const struct record_options *options, const char *trace, bool began, int lock)
{
	uint64_t segments = 0;
	int status = join(trace, options->overwrite, &segments);

	if (!status && segments == 0)
		record_parts_give_up(trace, began);
	if (lock >= 0)
		(void)close(lock);
	return status;
}

int record_forks_resume(const struct record_options *options, const char *trace)
{
	uint64_t segments = 0;
	int lock = -1, status = record_parts_lock(trace, &lock);

	if (!status)
		status = join(trace, false, &segments);
	if (!status && segments == 0)
		status = cli_complain(CLI_FAILED, "%s: no segment of it is whole; record it again, with --overwrite",
				      options->resume);
	else if (!status)
		status = cli_complain(CLI_FAILED, "%s: has its first %" PRIu64 " segments, which were whole; without "
				      "checkpoints there is nothing to go on with", options->resume, segments);
	if (lock >= 0)
		(void)close(lock);
	return status;
}
