/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The debugger's command `laplace`.
 */
#define NEED_CPU_REG_SHORTCUTS 1
#include "bochs.h"
#include "cpu/cpu.h"
#include "bx_debug/debug.h"

#include <cstring>
#include <unistd.h>

#include "option.h"
#include "recorder.h"
#include "signals.h"
#include "stream.h"
#include "time_windows.h"

static void print_status(void)
{
	struct lpl_collector_status s;

	if (!laplace.collector) {
		dbg_printf("laplace: no collection (no laplace option in the bochsrc)\n");
		return;
	}
	const uint64_t references = laplace_references();

	lpl_collector_status(laplace.collector, &s);
	dbg_printf("laplace: tracing %s, reduction %s, trace %s\n"
		   "  references %llu, kept %llu, events %llu, bytes %llu\n"
		   "  left out as the tracer's own %llu, waited %.3f s of %.3f s\n",
		   laplace.state == LAPLACE_OFF ? "off" : "on", laplace_option.reduce,
		   laplace_option.trace,
		   (unsigned long long)references, (unsigned long long)s.kept,
		   (unsigned long long)s.events, (unsigned long long)s.bytes,
		   (unsigned long long)laplace.tracer_refs, s.wait_ns / 1e9,
		   s.elapsed_ns / 1e9);
}

static void print_help(void)
{
	dbg_printf("laplace on - trace from here, in the same file\n"
		   "laplace off - and no further\n"
		   "laplace status - what was recorded so far\n"
		   "laplace mark TEXT - put TEXT into the trace as an event\n"
		   "laplace flush - make all that happened so far readable in the file\n");
}

static void switch_tracing(bool on)
{
	bool was = laplace.state != LAPLACE_OFF, is;

	laplace_want(on);
	is = laplace.state != LAPLACE_OFF;
	dbg_printf("laplace: tracing is %s%s, after %llu references%s\n", is ? "on" : "off",
		   was == on ? " already" : "", (unsigned long long)laplace_references(),
		   is == on ? "" : "; it will be on in its next window");
}

/* Whoever flushes by hand wants to look at the file now. */
static void flush_and_wait(void)
{
	struct lpl_collector *collector = laplace.collector;
	struct lpl_collector_status s;

	if (laplace_option.stage != LPL_STAGE_FILE) {
		dbg_printf("laplace: nothing is written, a stage is measured\n");
		return;
	}
	laplace_flush();
	do {
		usleep(1000);
		lpl_collector_status(collector, &s);
	} while (s.flushes < laplace.flushes && !lpl_collector_failure(collector, NULL) &&
		 !laplace_signals_stop());
	lpl_collector_status(collector, &s);	/* all of it is of after the flush */
	dbg_printf("laplace: all %llu references so far can be read, %llu of them kept\n",
		   (unsigned long long)laplace_references(), (unsigned long long)s.kept);
}

/* The debugger has stopped the processor: the coming instruction was not fetched yet. */
void laplace_debug_prompt(void)
{
	BX_CPU(0)->laplace.between = true;
	laplace_time_jumps();
}

void laplace_debug_command(const char *command)
{
	char text[512];
	size_t length;

	while (*command == ' ' || *command == '\t')
		command++;
	snprintf(text, sizeof(text), "%s", command);
	for (length = strlen(text); length && strchr(" \t\r\n", text[length - 1]); length--)
		text[length - 1] = '\0';

	if (!strcmp(text, "status") || !laplace.collector)
		print_status();
	else if (!strcmp(text, "on"))
		switch_tracing(true);
	else if (!strcmp(text, "off"))
		switch_tracing(false);
	else if (!strcmp(text, "flush"))
		flush_and_wait();
	else if (!strncmp(text, "mark ", 5)) {
		laplace_mark(text + 5);
		dbg_printf("laplace: marked\n");
	} else
		dbg_printf("usage: laplace on|off|status|mark TEXT|flush\n");
}

/* A line for the debugger: is it for us? */
bool laplace_debug_line(const char *line)
{
	char word[2][16] = { "", "" };

	sscanf(line, "%15s %15s", word[0], word[1]);
	if (!strcmp(word[0], "laplace"))
		laplace_debug_command(line + strlen("laplace"));
	else if ((!strcmp(word[0], "help") || !strcmp(word[0], "h")) && !strcmp(word[1], "laplace"))
		print_help();
	else
		return false;
	return true;
}
