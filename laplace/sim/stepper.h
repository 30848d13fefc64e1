/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A stream that comes to the simulator as steps (trace.h: struct lpl_page_steps). */
#ifndef LAPLACE_SIM_STEPPER_H
#define LAPLACE_SIM_STEPPER_H

#include <laplace/error.h>
#include <laplace/record.h>

struct lpl_simulator;
struct lpl_stepper;

/*
 * Of a simulator that has all its requests, and has not begun.  `whole` false: it has, so that what
 * goes by sizes alone will not do.  NULL: no memory.
 */
struct lpl_stepper *lpl_stepper_new(struct lpl_simulator *simulator);
void lpl_stepper_free(struct lpl_stepper *stepper);	/* NULL is fine */

/* References come, or the end: what was kept back of the steps so far goes to the simulations. */
enum lpl_error lpl_stepper_end(struct lpl_stepper *stepper, struct lpl_simulator *simulator,
			       struct lpl_report *report);

#endif
