/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is reported to whoever runs the simulator, and how it is left from the middle of a run.  All
 * of this directory may complain and end, so this includes nothing of it: whoever has opened the
 * trace says here what has to be done first.
 */
#ifndef LAPLACE_INSTRUMENT_REPORT_H
#define LAPLACE_INSTRUMENT_REPORT_H

#include <cstddef>

/* A line on stderr, unless there were too many. */
void laplace_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same as the reason why the run cannot go on: what was recorded is closed; status 1. */
[[noreturn]] void laplace_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Close the trace and leave, with status 0 unless something is wrong with the run.  `end` is what
 * lpl_collector_close() takes, or NULL: what it is where the machine ends by itself.  `why` follows
 * "the run was ended".
 */
[[noreturn]] void laplace_end_run(const char *end, const char *why);
/* Leave with what is known of the outcome. */
[[noreturn]] void laplace_leave(void);

/* How the run ends, as far as that is known; judged when the trace is closed. */
struct laplace_outcome {
	const char *end;	/* asked for: as what it is reported; NULL: it was not */
	char why[512];		/* ... and by whom */
	char problem[2048];	/* why the end is not clean; it may name a path or two */
	bool printed;		/* ... and the user has read it */
	bool good;		/* else the exit status is 1 */
};
extern struct laplace_outcome laplace_outcome;

/* The exit status that it comes to. */
int laplace_exit_status(void);

/* What has to be done before the program ends. */
struct laplace_leaving {
	/* Why a run cannot go on, where that is known better than by whoever noticed; or false. */
	bool (*cause)(char *text, size_t size);
	void (*close)(void);
};
void laplace_report_begin(const struct laplace_leaving *leaving);

#endif
