/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A recording of only some of the references (laplace/select.h): they are chosen before they are
 * reduced, so that what is reduced is as exact as if there were no others.
 *
 *	stream ──► choice ──► this ──► reducer ──► writer
 *
 * The stream counts all references, but the totals of the trace are of those that were chosen, and
 * so the writer gets them here.
 */
#ifndef LAPLACE_COLLECT_ONLY_H
#define LAPLACE_COLLECT_ONLY_H

#include <laplace/select.h>
#include <laplace/trace.h>

struct lpl_only {
	struct lpl_sink sink;
	struct lpl_choice *choice;	/* NULL: everything is recorded */
	char spec[LPL_CHOICE_SIZE];	/* as the header says it */
	bool every;			/* it gets every reference, and not windows */
	/* set by the caller */
	struct lpl_sink *next;
	struct lpl_writer *writer;	/* NULL: there is none */
	const struct lpl_totals *all;	/* the stream's */
	/* what was passed on */
	struct lpl_totals totals;
};

/* `every`: of every reference; else of windows that end at each event.  Errors of lpl_choice_*(). */
enum lpl_error lpl_only_open(struct lpl_only *only, const char *spec, bool every,
			     uint64_t cycles_a_second, struct lpl_report *report);
/* Where the stream goes. */
struct lpl_sink *lpl_only_sink(struct lpl_only *only);
/* At its end: of the totals of the stream, those of the chosen references. */
void lpl_only_end(const struct lpl_only *only, struct lpl_totals *totals);
void lpl_only_close(struct lpl_only *only);

#endif
