/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Conditions: when recording starts, when it stops, when the run ends.
 *
 *	instructions:N	so many instructions were executed since power-on	start stop end
 *	references:N	so many references were recorded			      stop end
 *	bytes:N		the trace has grown so long					   end
 *	seconds:N	so much of the host's time has passed				   end
 *	mark:TEXT	the guest's mark of that text				start stop end
 *	exec:NAME	a task executes an image of that name: the last part of	start stop end
 *			its path, or all of it if NAME has a slash
 *
 * Several are joined by plus signs (or commas); whichever holds first counts.  N is from 1 on,
 * and k, M, G and T stand for thousands.
 *
 * This knows nothing of a simulator: it is given numbers and the kernel's events.  What holds by
 * instructions, references, marks and images is the same in every run of a machine; bytes and
 * seconds are the host's.  C++ may include this header.
 */
#ifndef LAPLACE_COLLECT_CONDITIONS_H
#define LAPLACE_COLLECT_CONDITIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <laplace/error.h>
#include <laplace/kernel_trace_record.h>

#ifdef __cplusplus
extern "C" {
#endif

enum lpl_condition {
	LPL_AT_INSTRUCTIONS,
	LPL_AT_REFERENCES,
	LPL_AT_BYTES,
	LPL_AT_SECONDS,
	LPL_AT_MARK,
	LPL_AT_EXEC,
	LPL_CONDITIONS		/* their number; also "none of them" */
};

enum lpl_conditions_use { LPL_TO_START, LPL_TO_STOP, LPL_TO_END };

/* The longest specification, its 0 included. */
#define LPL_CONDITIONS_SIZE 384
/* The number of a condition that was not given. */
#define LPL_NEVER UINT64_MAX

struct lpl_conditions {
	char spec[LPL_CONDITIONS_SIZE];	/* with plus signs and whole numbers; "": there are none */
	uint64_t number[LPL_CONDITIONS];	/* of those that have one, else LPL_NEVER */
	char text[LPL_CONDITIONS][LPL_CONDITIONS_SIZE];	/* of the others; "": not given */
};

/* None: nothing ever holds. */
void lpl_conditions_clear(struct lpl_conditions *conditions);

/* LPL_ERR_USAGE: `spec` is no such specification, or not for this use; then there are none. */
enum lpl_error lpl_conditions_parse(struct lpl_conditions *conditions, const char *spec,
				    enum lpl_conditions_use use, struct lpl_report *report);

/* Do they depend on what the guest's kernel reports? */
bool lpl_conditions_need_kernel(const struct lpl_conditions *conditions);

/* Does this one hold, whose number is `now` by now? */
bool lpl_condition_holds(const struct lpl_conditions *conditions, enum lpl_condition which,
			 uint64_t now);

/* The condition that this record makes true, of those that wait for the kernel. */
enum lpl_condition lpl_conditions_take(const struct lpl_conditions *conditions,
				       const struct kernel_trace_record *record);

/* "instructions:5000000" or "mark:X", for a message; in `said`, which is returned. */
char *lpl_condition_say(const struct lpl_conditions *conditions, enum lpl_condition which,
			char said[LPL_CONDITIONS_SIZE]);

#ifdef __cplusplus
}
#endif

#endif
