/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which addresses the references of a trace are given: --addresses, for commands that count pages.
 */
#ifndef LAPLACE_CLI_ADDRESSES_H
#define LAPLACE_CLI_ADDRESSES_H

#include <stdbool.h>

#include <laplace/convert.h>
#include <laplace/reducer.h>
#include <laplace/select.h>
#include <laplace/trace.h>

#include "option_table.h"

/* --addresses=auto|virtual|canonical|physical, for CLI_WITH() */
enum cli_addresses {
	CLI_ADDRESSES_AUTO,
	CLI_ADDRESSES_VIRTUAL,
	CLI_ADDRESSES_CANONICAL,
	CLI_ADDRESSES_PHYSICAL,
	CLI_ADDRESSES_KEPT,	/* no option: whatever the trace has */
	CLI_ADDRESSES_FRAMES	/* no option: physical, because the format is for them */
};
extern const struct cli_option cli_addresses_options[];

/* What was decided for a trace. */
struct cli_addressing {
	enum lpl_addresses convert;	/* what its virtual pages are made as it is read, if anything */
	const char *name;		/* "virtual", "canonical" or "physical": what the result counts */
	bool is_named;			/* its reduction: in the header; and that of what is read then: */
	char reduction[LPL_SPEC_SIZE];
};

/*
 * What is wanted for this format, where nothing else was.  One for simulators of memory gets physical
 * addresses; one that has each reference's space has all that makes its pages different ones, and gets the
 * addresses as they were used, and so does one that has instructions; one that has evictions gets those of the
 * pages in the trace.
 */
enum cli_addresses cli_addresses_for(const struct lpl_format *format, enum cli_addresses otherwise);

/*
 * Canonical pages if they can be had and are exact, unless something else is wanted; why not, where
 * one might expect them, is said.  Returns an exit status: canonical pages may be wanted in vain.
 */
int cli_addresses_decide(struct cli_addressing *addressing, enum cli_addresses wanted,
			 const char *path, const struct lpl_meta *meta);

/* The reduction of what is read, for lpl_simulator_open() and the like; NULL: not known. */
const char *cli_addresses_reduction(const struct cli_addressing *addressing);

#endif
