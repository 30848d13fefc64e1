/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When: moments and intervals, in the words that every option takes which says when something is done.
 * when.c has the grammar, docs/moments.md what each word means where.  C++ may include this header.
 *
 * Parsers return LPL_ERR_USAGE where the specification is none, is too long, or has what is of no use
 * here; the report lists what is.
 */
#ifndef LAPLACE_SELECT_WHEN_H
#define LAPLACE_SELECT_WHEN_H

#include <laplace/select.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LPL_WHEN_SIZE 384	/* of the longest specification, its 0 included */
#define LPL_MOMENT_KINDS (LPL_MOMENT_BYTES + 1)

/* What is done then. */
enum lpl_when_use {
	LPL_TO_START, LPL_TO_STOP,	/* recording */
	LPL_TO_END,			/* the run */
	LPL_TO_CUT,			/* a trace into segments */
	LPL_TO_RECORD,			/* in windows of time */
	LPL_TO_SAVE,			/* checkpoints */
	LPL_TO_CHOOSE,			/* references of a trace */
	LPL_WHEN_USES
};

/* ---- a moment ---- */

/* One, with its text within `spec`; and the other way, with a whole number. */
enum lpl_error lpl_moment_parse(struct lpl_moment *moment, const char *spec, enum lpl_when_use use,
				struct lpl_report *report);
enum lpl_error lpl_moment_say(char spec[LPL_WHEN_SIZE], const struct lpl_moment *moment,
			      struct lpl_report *report);
/* Does an event bring it?  And does this one, of that tag and text? */
bool lpl_moment_is_event(enum lpl_moment_kind kind);
bool lpl_moment_comes(const struct lpl_moment *moment, uint32_t tag, const char *text,
		      size_t length);

/* ---- conditions: moments of which the first counts ---- */

/*
 * Those of a recording, which is given numbers and the kernel's events.  A condition is named by
 * its kind of moment; LPL_MOMENT_TIME is of the host's time here.
 */
#define LPL_NEVER UINT64_MAX
struct lpl_conditions {
	char spec[LPL_WHEN_SIZE];	/* with plus signs and whole numbers; "": there are none */
	uint64_t number[LPL_MOMENT_KINDS];	/* of those that have one, else LPL_NEVER */
	char text[LPL_MOMENT_KINDS][LPL_WHEN_SIZE];	/* of the others; "": not given */
};
/* None: nothing ever holds.  That is what an error leaves, too. */
void lpl_conditions_clear(struct lpl_conditions *conditions);
enum lpl_error lpl_conditions_parse(struct lpl_conditions *conditions, const char *spec,
				    enum lpl_when_use use, struct lpl_report *report);
/* Do they depend on what the guest's kernel reports? */
bool lpl_conditions_need_kernel(const struct lpl_conditions *conditions);
/* Does this one hold, which counts instructions, references, bytes or time, at `now`? */
bool lpl_condition_holds(const struct lpl_conditions *conditions, enum lpl_moment_kind which,
			 uint64_t now);
/* The condition that this record makes true, of those that wait for the kernel; or none. */
enum lpl_moment_kind lpl_conditions_take(const struct lpl_conditions *conditions,
					 const struct kernel_trace_record *record);
/* "instructions:5000000" or "mark:X", for a message; in `said`, which is returned. */
char *lpl_condition_say(const struct lpl_conditions *conditions, enum lpl_moment_kind which,
			char said[LPL_WHEN_SIZE]);

/* ---- intervals ---- */

/* From a moment until another, or as long as something runs; once, or again and again. */
struct lpl_interval {
	struct lpl_moment from, until;	/* LPL_MOMENT_NONE: the beginning, the end */
	uint64_t length;		/* instructions, in place of `until`; 0: not given */
	uint64_t every, count;		/* begins every so many instructions; so often; 0: not given */
	const char *task, *syscall;	/* while these run, in place of moments; NULL: not given */
	char spec[LPL_WHEN_SIZE];	/* with plus signs and whole numbers */
	char words[LPL_WHEN_SIZE];	/* what texts are in */
};
enum lpl_error lpl_interval_parse(struct lpl_interval *interval, const char *spec,
				  enum lpl_when_use use, struct lpl_report *report);

#ifdef __cplusplus
}
#endif

#endif
