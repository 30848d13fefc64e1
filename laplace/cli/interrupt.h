/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is being made when Ctrl-C (SIGINT), SIGTERM or SIGHUP comes is removed before the program ends by it.
 *
 * The signals are held back; a stream on its way into a sink ends where one is found to have come, as by an error, so
 * that whoever makes something of the stream discards it.
 */
#ifndef LAPLACE_CLI_INTERRUPT_H
#define LAPLACE_CLI_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

#include <laplace/record.h>

struct cli_interrupt {
	struct lpl_sink sink;
	struct lpl_sink *next;
	sigset_t held;		/* those that are; and what was before */
	sigset_t before;
};

/* From here on, if `holds`; before other threads begin.  (What may wait for another program is better not.) */
void cli_interrupt_hold(struct cli_interrupt *interrupt, bool holds);
/* The sink that sends on to `next`. */
struct lpl_sink *cli_interrupt_sink(struct cli_interrupt *interrupt, struct lpl_sink *next);
/* Nothing is left to be removed.  One that has come now has its usual effect. */
void cli_interrupt_release(const struct cli_interrupt *interrupt);

#endif
