/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The faults of LRU by function, of a trace in a file: what a report shows of them. */
#ifndef LAPLACE_CLI_FUNCTION_FAULTS_H
#define LAPLACE_CLI_FUNCTION_FAULTS_H

#include <laplace/select.h>
#include <laplace/simulator.h>

#include "code/function_shares.h"
#include "code/functions.h"
#include "options.h"

/* As many memories as a line of text has room for. */
enum { FUNCTION_FAULTS_SIZES = 4 };

struct function_faults_options {
	const char *path, *sizes;
	struct functions_options code;
	const struct lpl_choice_options *choice;
	enum cli_when progress;
};

struct function_faults {
	struct functions *functions;
	struct lpl_simulator *simulator;
	const struct lpl_result *result;	/* by size */
	size_t results;
	struct function_share *share; /* by the faults at the first size; after them all */
	size_t count;
};

/* In a pass of its own.  Returns an exit status, after complaining; close it in any case. */
int function_faults_read(struct function_faults *faults,
			 const struct function_faults_options *options);
void function_faults_close(struct function_faults *faults);

#endif
