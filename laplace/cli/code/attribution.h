/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which function makes each reference: the one of the instruction that was fetched last before it.
 * Two sinks, as what comes between them may choose references and change their pages:
 *
 *	stream ─► attribution_front() ─► (a choice) ─► attribution_back() ─► simulator
 *
 * Consecutive references of one function go on together, before any of another, so that whatever
 * arrives at the back is that function's.  There the simulator is asked to charge it with their
 * faults, and they and their pages are counted.
 */
#ifndef LAPLACE_CLI_CODE_ATTRIBUTION_H
#define LAPLACE_CLI_CODE_ATTRIBUTION_H

#include <laplace/record.h>
#include <laplace/simulator.h>

#include "functions.h"

struct attribution;

/*
 * All but `functions` and `simulator` are copied; the simulator has its policies, and pages of so
 * many bytes. `by_events`: what the stream has are not all references, but before each an event
 * that says what instruction made it (LPL_EVENT_PROGRAM_COUNTER).
 */
struct attribution_options {
	struct functions *functions;
	struct lpl_simulator *simulator;
	uint64_t page_size;
	bool by_events;
};
/* Errors as lpl_simulator_charge(). */
enum lpl_error attribution_open(struct attribution **attribution,
				const struct attribution_options *options,
				struct lpl_report *report);
void attribution_close(struct attribution *attribution);	/* NULL is fine */

struct lpl_sink *attribution_back(struct attribution *attribution);
/* To be asked for once, with what comes next. */
struct lpl_sink *attribution_front(struct attribution *attribution, struct lpl_sink *next);

#endif
