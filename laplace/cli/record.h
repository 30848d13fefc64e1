/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A recording: what is asked for (record.c), and its run, from the start to what is said of it
 * (record_run.c). */
#ifndef LAPLACE_CLI_RECORD_H
#define LAPLACE_CLI_RECORD_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <laplace/select.h>

#include "collect/windows.h"
#include "progress.h"

struct record_options {
	const char *output, *reduce, *bochs;
	const char *title, *guest, *workload, *kernel, *flush, *sync, *on_full, *segment, *images;
	char windows[LPL_WHEN_SIZE];	/* "": none */
	char only[LPL_CHOICE_SIZE];	/* "": everything */
	char start[LPL_WHEN_SIZE];	/* on, off, mark or conditions */
	char stop[LPL_WHEN_SIZE], end[LPL_WHEN_SIZE];	/* "": none */
	char control[PATH_MAX];		/* "": none; absolute */
	char snapshot[PATH_MAX], from[PATH_MAX];	/* likewise */
	const char *checkpoint, *resume;	/* NULL: neither */
	const char *status_file;
	char status_path[PATH_MAX];	/* that, absolute */
	const char *status_every, *level;	/* as they were given; NULL: the defaults */
	bool walks, physical, code, dry_run;
	uint64_t instructions;		/* expected; 0: not known */
	unsigned int jobs;		/* 0: one process records */
	const char *launcher;		/* of those that write segments; NULL: they run here */
	bool overwrite, json;
	enum cli_when progress;
	char **words;		/* all that is no option: */
	const char *machine;
	char **extra;			/* for Bochs, until NULL */
	bool debugger;			/* among them */
};

/* Is there no file, as the trace goes to standard output while it is made? */
bool record_streams(const struct record_options *options);

/* `reduce=..., start=..., ...': what the bochsrc's line has of these. */
void record_print_parameters(const struct record_options *options, FILE *out);

/* What follows MACHINE: is it for Bochs, and does it ask for its debugger?  Complains.  Returns a status. */
int record_check_extra(struct record_options *options);

/* `laplace: trace="...", ...`: the line that is added to the bochsrc, to be freed; NULL: no memory. */
char *record_line(const struct record_options *options, const char *trace);
/* PATH -q -f MACHINE EXTRA... [-r SNAPSHOT] LINE, to be freed without its words; NULL: no memory. */
char **record_argv(const struct record_options *options, char *bochs, char *line);

/* After the end: say what became of the trace, which is there, and how its machine ended.  Returns an exit status. */
struct machine;
int record_conclude(const struct record_options *options, const struct machine *machine, const char *trace);
/*
 * Run `bochs`, which writes `trace`, an absolute path (not used where the trace streams); from
 * `checkpoint` on, if it is not NULL.  Reports on it, and returns an exit status.
 */
int record_run(const struct record_options *options, char *bochs, const char *trace,
	       char *checkpoint);

/*
 * A recording that several processes make, which are forked (--jobs, without checkpoints; record_forks.c): before the
 * simulator is started, and when it has ended, whether it had begun or not; *lock is what is held meanwhile.  Each returns a
 * status.
 */
bool record_is_forked(const struct record_options *options);
int record_forks_begin(const struct record_options *options, const char *trace, int *lock);
int record_forks_end(const struct record_options *options, const char *trace, bool began, int lock);
/* What was left by one that was killed becomes a trace. */
int record_forks_resume(const struct record_options *options, const char *trace);

/* A recording that several processes make from checkpoints (--jobs; record_jobs.c).  May it be made so?  Complains.  Returns a status. */
int record_jobs_check(const struct record_options *options);
/*
 * Run `bochs` for each part of `trace`, an absolute path, options->jobs at a time.  Reports on it, and returns an exit
 * status.
 */
int record_jobs(const struct record_options *options, const char *bochs, const char *trace);
/* Go on with the one that options->resume names, as it was begun. */
int record_jobs_resume(struct record_options *options);

#endif
