/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* laplace plot faults: a simulation, and when its faults are taken. */
#ifndef LAPLACE_CLI_PLOT_PLOT_FAULTS_H
#define LAPLACE_CLI_PLOT_PLOT_FAULTS_H

#include <stdio.h>

#include "cli/addresses.h"
#include "cli/draw/picture.h"
#include "cli/surveyed_trace.h"

struct plot_faults {
	const struct surveyed_trace_options *trace;	/* path, progress, choice and clock count */
	char *policies;			/* a list, cut at its commas */
	const char *sizes;
	enum cli_addresses addresses;
	enum picture_format format;
};

/* Complains; returns an exit status.  false in `drawn`: there is nothing to keep in `out`. */
int plot_faults(const struct plot_faults *options, FILE *out, bool *drawn);

#endif
