/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Errors are values.
 *
 * A function that can fail returns an `enum lpl_error` (0 is success) and, when
 * it was given a `struct lpl_report`, leaves there one sentence that names the
 * file, the place in it, the cause and what to do.  Whoever receives an error
 * either handles it or passes it on unchanged; only the program's top prints.
 */
#ifndef LAPLACE_ERROR_H
#define LAPLACE_ERROR_H

#include <stdarg.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum lpl_error {
	LPL_OK = 0,
	/* the caller's fault */
	LPL_ERR_USAGE = 10,	/* an argument is out of its range or malformed */
	LPL_ERR_UNSUPPORTED,	/* a valid wish that this build or trace cannot grant */
	/* the machine's fault */
	LPL_ERR_MEMORY = 20,
	LPL_ERR_IO,		/* a system call on a file failed; errno is in the report */
	LPL_ERR_FULL,		/* no space left on the device */
	/* the input's fault */
	LPL_ERR_FORMAT = 30,	/* not a trace, or a version we do not know */
	LPL_ERR_DAMAGED,	/* a checksum or an invariant does not hold */
	LPL_ERR_TRUNCATED,	/* ends within a chunk; what precedes it is whole */
	LPL_ERR_ORDER,		/* records with times that run backwards */
	/* ours */
	LPL_ERR_INTERNAL = 40	/* a promise of this library was broken: report it */
};

/* A short constant name ("damaged") for an error; never NULL. */
const char *lpl_error_name(enum lpl_error error);

#define LPL_REPORT_SIZE 512

/* One error, reported once.  Zero-initialise; no destructor. */
struct lpl_report {
	enum lpl_error error;
	int system_errno;	/* errno at the time, 0 when none was involved */
	char text[LPL_REPORT_SIZE];
};

/*
 * Fill `report` (may be NULL) and return `error`, so that a failing function
 * ends with `return lpl_fail(report, LPL_ERR_IO, "%s: ...", path);`.  With
 * LPL_ERR_IO and LPL_ERR_FULL the text of errno is appended.  The first error
 * is kept: a report that already holds one is not overwritten.
 */
enum lpl_error lpl_fail(struct lpl_report *report, enum lpl_error error,
			const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The exit status of the `laplace` command for an error: 0, 1, 2 or 3. */
int lpl_error_status(enum lpl_error error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
