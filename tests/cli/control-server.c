/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * control-server SOCKET [deaf]: a run without a machine, for `laplace ctl`: the control socket that
 * runs have, and in the place of the simulator a loop that prints what it is asked for and
 * does it, but for `rotate`; a deaf one takes no request.  It ends when asked to quit.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "collect/control.h"

static void poked(void *context)
{
	(void)context;
}

static char *status(void *tracing)
{
	return strdup(*(bool *)tracing ? "{\"tracing\":true,\"instructions\":1500000,\"kept\":7}" :
					 "{\"tracing\":false,\"instructions\":1500000,\"kept\":7}");
}

static uint64_t flushes(void *context)
{
	(void)context;
	return 1;
}

static const char *const verbs[LPL_REQUEST_COUNT] = {
#define VERB(name, text, summary) #name,
	LPL_REQUESTS(VERB)
#undef VERB
};

int main(int argc, char **argv)
{
	static bool tracing = true;
	const struct lpl_control_hooks hooks = { &tracing, poked, status, flushes };
	const struct timespec nap = { 0, 1000000 };
	struct lpl_control_request request = { .what = LPL_REQUEST_COUNT };
	struct lpl_report report = { 0 };
	struct lpl_control *control;

	if (argc < 2 || lpl_control_open(&control, argv[1], &hooks, &report)) {
		fprintf(stderr, "control-server: %s\n", argc < 2 ? "where?" : report.text);
		return 1;
	}
	while (request.what != LPL_REQUEST_quit) {
		nanosleep(&nap, NULL);
		if (argc > 2 || !lpl_control_take(control, &request))
			continue;
		printf("%s%s%s\n", verbs[request.what], *request.text ? " " : "", request.text);
		fflush(stdout);
		if (request.what == LPL_REQUEST_start || request.what == LPL_REQUEST_stop)
			tracing = request.what == LPL_REQUEST_start;
		if (request.what == LPL_REQUEST_rotate)
			lpl_control_refuse(control, "the trace is not recorded in segments");
		else if (request.what != LPL_REQUEST_quit)
			lpl_control_done(control, request.what == LPL_REQUEST_flush);
	}
	lpl_control_ending(control);
	lpl_control_close(control, NULL);
	return 0;
}
