/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Complaints, and the end of a run; see report.h. */
#include "report.h"

#include <cstdarg>
#include <cstdio>
#include <unistd.h>

static const unsigned COMPLAINTS_MAX = 20;

struct laplace_outcome laplace_outcome;

static const struct laplace_leaving *leaving;

void laplace_report_begin(const struct laplace_leaving *what)
{
	leaving = what;
}

/* ---- complaints ---- */

void laplace_complain(const char *format, ...)
{
	static unsigned complaints;
	va_list arguments;

	if (++complaints > COMPLAINTS_MAX)
		return;
	fputs("laplace: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputs(complaints == COMPLAINTS_MAX ? " (no more of these are shown)\n" : "\n", stderr);
}

/* ---- the end ---- */

int laplace_exit_status(void)
{
	return laplace_outcome.good ? 0 : 1;
}

/*
 * exit() would run the destructors of Bochs' global objects, which log through a mutex that has
 * been destroyed by then.
 */
void laplace_leave(void)
{
	static bool leaves;

	if (!leaves) {
		leaves = true;
		leaving->close();
	}
	fflush(NULL);
	_exit(laplace_exit_status());
}

void laplace_die(const char *format, ...)
{
	struct laplace_outcome *outcome = &laplace_outcome;
	va_list arguments;

	if (!leaving->cause(outcome->problem, sizeof(outcome->problem))) {
		va_start(arguments, format);
		vsnprintf(outcome->problem, sizeof(outcome->problem), format, arguments);
		va_end(arguments);
	}
	fprintf(stderr, "laplace: %s\n", outcome->problem);
	outcome->printed = true;
	laplace_leave();
}

void laplace_end_run(const char *end, const char *why)
{
	laplace_outcome.end = end;
	snprintf(laplace_outcome.why, sizeof(laplace_outcome.why), "the run was ended %s", why);
	laplace_leave();
}
