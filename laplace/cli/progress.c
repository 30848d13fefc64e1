/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The line of progress; see progress.h. */
#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/host.h"
#include "progress.h"

#define LINE_SIZE 256

void cli_progress_start(struct cli_progress *progress, enum cli_when when)
{
	progress->terminal = isatty(STDERR_FILENO) == 1;
	progress->on = when == CLI_ALWAYS || (when == CLI_AUTO && progress->terminal);
	progress->start_ns = progress->last_ns = lpl_now_ns();
	progress->width = 0;
}

bool cli_progress_due(struct cli_progress *progress)
{
	/* a log is not flooded */
	const uint64_t interval = progress->terminal ? 250000000U : 2000000000U;
	uint64_t now;

	if (!progress->on)
		return false;
	now = lpl_now_ns();
	if (now - progress->last_ns < interval)
		return false;
	progress->last_ns = now;
	return true;
}

int cli_progress_columns(const struct cli_progress *progress)
{
	struct winsize window;

	/* in the last column some terminals begin a new line */
	if (progress->terminal && ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 &&
	    window.ws_col > 1)
		return window.ws_col < LINE_SIZE ? window.ws_col - 1 : LINE_SIZE - 1;
	return LINE_SIZE - 1;
}

void cli_progress_line(struct cli_progress *progress, const char *format, ...)
{
	char line[LINE_SIZE];
	va_list args;
	int width, most;

	if (!progress->on)
		return;
	most = cli_progress_columns(progress);
	va_start(args, format);
	width = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (width > most) {
		width = most;
		line[width] = '\0';
	}
	if (progress->terminal)
		fprintf(stderr, "\r%-*s", progress->width < most ? progress->width : most, line);
	else
		fprintf(stderr, "%s\n", line);
	fflush(stderr);
	progress->width = width;
}

void cli_progress_clear(struct cli_progress *progress)
{
	if (progress->on && progress->terminal && progress->width) {
		fprintf(stderr, "\r%*s\r", progress->width, "");
		fflush(stderr);
		progress->width = 0;
	}
}
