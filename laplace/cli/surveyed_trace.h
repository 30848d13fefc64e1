/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A trace and its survey (laplace/survey.h), read and put in order: what `laplace report` shows
 * (report/report.h) and `laplace plot` draws (draw/chart.h).
 */
#ifndef LAPLACE_CLI_SURVEYED_TRACE_H
#define LAPLACE_CLI_SURVEYED_TRACE_H

#include <laplace/survey.h>
#include <laplace/trace.h>

#include "options.h"
#include "trace_kind.h"

struct function_faults;
struct symbols;

struct surveyed_trace_options {
	const char *path;
	enum cli_when progress;
	struct lpl_choice_options choice;	/* which references are surveyed */
	struct lpl_survey_options survey;
	uint64_t top;			/* how many lines a table, or a picture, has at most */
	bool by_frame;			/* of a heat map: by frames of physical memory */
};

/* Processes of one name. */
struct surveyed_program {
	const char *name;
	uint64_t processes;
	struct lpl_survey_walked walked;
};

struct surveyed_trace {
	const char *path;
	struct lpl_reader *reader;
	const struct lpl_meta *meta;	/* the reader's ... */
	struct cli_trace_kind kind;	/* ... and what it says that the trace is */
	uint64_t references_made;	/* before reduction; 0: not known */
	uint64_t bytes;
	bool is_damaged;
	struct lpl_survey *survey;	/* of what could be read; NULL: nothing is to be shown */
	uint64_t top;
	bool by_frame;
	const struct lpl_survey_heatmap *heatmap;	/* of pages, or of frames */
	const struct symbols *symbols;	/* the kernel's (code/symbols.h); NULL: not known */
	const struct function_faults *functions;	/* NULL: not asked for */
	/* what the survey has, in the order in which it is shown: */
	const struct lpl_survey_task **task;		/* by time on the processor */
	const struct lpl_survey_process **process;	/* by pages */
	const struct lpl_survey_call **call;		/* by number of calls */
	const struct lpl_survey_file **file;		/* by references */
	size_t tasks, processes, calls, files;
	/* of a trace with page walks, by how many: */
	struct surveyed_program *program;		/* without the processes that have no record */
	const struct lpl_survey_file **walked_file;	/* for which there were any */
	size_t programs, walked_files;
};

/* Page walks in a trace of which it can be said what they were made for. */
static inline bool surveyed_walks(const struct surveyed_trace *trace)
{
	const uint64_t *type = trace->survey->references->by_type;

	return trace->kind.is_whole && type[LPL_WALK_READ] + type[LPL_WALK_WRITE] > 0;
}

/* Returns an exit status, after reporting all; close the trace in any case. */
int surveyed_trace_read(struct surveyed_trace *trace,
			const struct surveyed_trace_options *options);
void surveyed_trace_close(struct surveyed_trace *trace);

/* As many of all as a table for people, or a picture, has. */
static inline uint64_t trace_shown(const struct surveyed_trace *trace, uint64_t all)
{
	return all < trace->top ? all : trace->top;
}

/* The row of a table for --clock: enum lpl_survey_clock */
#define CLI_CLOCK(config, member, in_group) { "clock", CLI_WORD, CLI_INTO(config, member), \
	.argument = "CLOCK", .group = (in_group), .words = "cycles instructions references", \
	.help = "What time is counted in: %c (cycles)" }

static inline double share_of(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

#endif
