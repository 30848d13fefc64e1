/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The control socket (collect/control.h) of this simulator.
 *
 * The socket's thread has its requests taken by laplace_request_look(), and asks the collector how
 * the run is, which any thread may; nothing else here is on that thread.
 */
#include "bochs.h"
#include "cpu/cpu.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

#include "collect/control.h"

#include "checkpoint.h"
#include "control.h"
#include "duties.h"
#include "option.h"
#include "recorder.h"
#include "report.h"
#include "segment.h"
#include "stream.h"
#include "time_windows.h"

static struct lpl_control *control;	/* NULL: there is no socket */
static int listening = -1;		/* the socket, before there is a `control` */
static const char LEFT[] = "LAPLACE_CONTROL_FD";	/* it, from one program to the next */
static bool checkpoint_asked;		/* that request is not answered yet */
static std::atomic<bool> serves;	/* there is a `control`, for other threads */

/* ---- the socket's thread ---- */

static void ask(void *)
{
	laplace_request_look();
}

static char *write_status(void *collector)
{
	static struct lpl_pace pace;

	char *line = lpl_collector_status_line((struct lpl_collector *)collector, &pace);

	if (line)
		line[strcspn(line, "\n")] = '\0';
	return line;
}

static uint64_t count_flushes(void *collector)
{
	struct lpl_collector_status s;

	lpl_collector_status((const struct lpl_collector *)collector, &s);
	return s.flushes;
}

/* ---- the simulator's thread ---- */

/* A run that goes on from a checkpoint does without, rather than not at all. */
static void give_up(const char *path, const struct lpl_report *report)
{
	if (!laplace_resumes())
		laplace_die("control=%s: %s", path, report->text);
	laplace_complain("control=%s: %s; the run cannot be steered any more", path, report->text);
}

void laplace_control_listen(const char *path)
{
	const char *left = getenv(LEFT);
	struct lpl_report report;

	listening = left ? atoi(left) : -1;
	unsetenv(LEFT);
	memset(&report, 0, sizeof(report));
	/* somebody may have removed what was left */
	if (listening < 0 || access(path, F_OK)) {
		if (listening >= 0)
			close(listening);
		listening = lpl_control_listen(path, &report);
		if (listening < 0)
			give_up(path, &report);
	}
}

void laplace_control_open(const char *path)
{
	const struct lpl_control_hooks hooks = {
		laplace.collector, ask, write_status, count_flushes
	};
	struct lpl_report report;

	memset(&report, 0, sizeof(report));
	if (listening >= 0 &&
	    lpl_control_take_over(&control, path, listening, &hooks, &report))
		give_up(path, &report);
	listening = -1;
	serves = control != NULL;
}

bool laplace_control_ends(void)
{
	return serves && lpl_control_end_asked(control);
}

/* Returns why it was not done, or NULL; *flushes: it is done when there were so many. */
static const char *carry_out(const struct lpl_control_request *request, uint64_t *flushes)
{
	const char *why;

	switch (request->what) {
	case LPL_REQUEST_start:
	case LPL_REQUEST_stop:
		laplace_want(request->what == LPL_REQUEST_start);
		laplace_flush();	/* the status shows it when the collector knows */
		*flushes = laplace.flushes;
		return NULL;
	case LPL_REQUEST_mark:
		laplace_mark(request->text);
		return NULL;
	case LPL_REQUEST_flush:
		if (laplace_option.stage != LPL_STAGE_FILE)
			return "nothing is written, a stage is measured";
		laplace_flush();
		*flushes = laplace.flushes;
		return NULL;
	case LPL_REQUEST_rotate:
		why = laplace_next_segment();
		*flushes = laplace.flushes;
		return why;
	case LPL_REQUEST_checkpoint:
		return laplace_ask_checkpoint();
	case LPL_REQUEST_quit:
		/* answered when the trace is closed */
		laplace_end_run("quit", "by a request at the control socket");
	default:
		return "that is no request for the simulator";
	}
}

void laplace_control_attend(void)
{
	struct lpl_control_request request;
	uint64_t flushes = 0;

	if (!control || !lpl_control_take(control, &request))
		return;
	const char *refusal = carry_out(&request, &flushes);
	if (refusal)
		lpl_control_refuse(control, refusal);
	else if (request.what == LPL_REQUEST_checkpoint)
		checkpoint_asked = true;	/* answered when another process goes on from it */
	else
		lpl_control_done(control, flushes);
}

void laplace_control_checkpointed(const char *problem)
{
	if (checkpoint_asked)
		lpl_control_refuse(control, problem);
	checkpoint_asked = false;
}

int laplace_control_leave(void)
{
	char number[16];

	if (!control)
		return -1;
	lpl_control_leaving(control);
	if (checkpoint_asked)
		lpl_control_done(control, 0);
	checkpoint_asked = false;
	const int left = lpl_control_leave(control);

	control = NULL;
	snprintf(number, sizeof(number), "%d", left);
	setenv(LEFT, number, 1);
	return left;
}

void laplace_control_ending(void)
{
	if (control)
		lpl_control_ending(control);
}

void laplace_control_closed(const char *problem)
{
	if (listening >= 0)		/* there was never anything to steer */
		unlink(laplace_option.control);
	lpl_control_close(control, problem);
	control = NULL;
}
