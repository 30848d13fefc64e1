/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Some of a stream's steps, as a stream of their own.
 *
 * Whoever takes steps is given patterns in the order in which they come for the first time (laplace/trace.h).
 * Where steps are left out that is another order, and some patterns do not come at all; so
 * those that do are numbered anew.
 */
#ifndef LAPLACE_SELECT_CHOSEN_STEPS_H
#define LAPLACE_SELECT_CHOSEN_STEPS_H

#include <laplace/trace.h>

#include <stdbool.h>

/* Starts as zeros; the arrays are owned. */
struct chosen_steps {
	uint32_t *number;		/* by the stream's: plus 1; 0: it has not been chosen */
	struct lpl_pattern *pattern;
	uint32_t *step;
	uint32_t patterns;
	size_t number_room, pattern_room, step_room;
	bool afresh;			/* what was passed before has other numbers */
};

void lpl_chosen_steps_free(struct chosen_steps *chosen);

/*
 * The next steps of the stream, in place of which is put what is passed of them: all if they are `wanted`, or none.
 * They stay until the next call.  false: no memory.
 */
bool lpl_chosen_steps_take(struct chosen_steps *chosen, struct lpl_page_steps *steps, bool wanted);

#endif
