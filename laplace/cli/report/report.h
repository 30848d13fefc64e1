/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The forms of a report, each made of one trace and its survey. */
#ifndef LAPLACE_CLI_REPORT_REPORT_H
#define LAPLACE_CLI_REPORT_REPORT_H

#include "table.h"

int report_text(const struct surveyed_trace *trace, FILE *out);
int report_html(const struct surveyed_trace *trace, FILE *out);
/* Parts of it, and pages alive by process, which `laplace plot` draws. */
void report_text_timeline(const struct surveyed_trace *trace, FILE *out);
void report_text_kinds(const struct surveyed_trace *trace, FILE *out);
void report_text_processes(const struct surveyed_trace *trace, FILE *out);
int report_json(const struct surveyed_trace *trace, FILE *out);

/* The parts of text and HTML that have tables (report_page.c). */
void report_parts(const struct surveyed_trace *trace, enum table_form form, FILE *out);

/* ---- tables (trace_tables.c): those for people show the first trace->top lines, JSON has all ---- */

void trace_tasks(struct table *table, const struct surveyed_trace *trace);
void trace_kinds(struct table *table, const struct surveyed_trace *trace);
/* Pages by how many programs, or threads, referenced them; not for JSON. */
void trace_sharing(struct table *table, const struct surveyed_trace *trace,
		   const uint64_t pages[][LPL_SURVEY_SHARINGS]);
void trace_files(struct table *table, const struct surveyed_trace *trace);
void trace_processes(struct table *table, const struct surveyed_trace *trace);
void trace_hottest(struct table *table, const struct surveyed_trace *trace);
void trace_hottest_of_kernel(struct table *table, const struct surveyed_trace *trace);
/* Of a trace with page walks (walk_tables.c). */
void trace_walks_by_program(struct table *table, const struct surveyed_trace *trace);
void trace_walks_by_kind(struct table *table, const struct surveyed_trace *trace);
void trace_walks_by_table(struct table *table, const struct surveyed_trace *trace);
void trace_walks_by_file(struct table *table, const struct surveyed_trace *trace);
/* If they are asked for (function_tables.c). */
void trace_functions(struct table *table, const struct surveyed_trace *trace);
/* Of a trace with translations. */
void trace_mapped(struct table *table, const struct surveyed_trace *trace);
void trace_frames_by_spaces(struct table *table, const struct surveyed_trace *trace);
void trace_frames_by_run(struct table *table, const struct surveyed_trace *trace);
/* The file's name, or number, in buf, which is returned. */
#define PLACE_SIZE 1400
char *trace_file_name(const struct lpl_survey_file *file, char buf[PLACE_SIZE]);
void trace_calls(struct table *table, const struct surveyed_trace *trace);
void trace_calls_of_tasks(struct table *table, const struct surveyed_trace *trace);

/* Names for numbers of each kind of page, and of each reason to leave the processor. */
const char *trace_kind_name(unsigned int kind);
const char *trace_reason_name(unsigned int reason);

/* ---- what the forms share (report_facts.c) ---- */

/* "canonical", or, where no event says what is mapped, "virtual": what its pages are. */
const char *report_addresses(const struct surveyed_trace *trace);

/* Call `note` with each thing that a reader of the numbers has to know. */
void report_notes(const struct surveyed_trace *trace,
		  void (*note)(void *context, const char *text), void *context);

/* Events of a kind. */
static inline uint64_t report_events(const struct lpl_survey *survey, uint32_t tag)
{
	return lpl_event_counts_of(&survey->events->counts, tag);
}

/* References to mapped pages of files and of shared memory. */
static inline uint64_t report_mapped(const struct lpl_survey *survey)
{
	return survey->references->by_kind[LPL_PAGE_FILE] + survey->references->by_kind[LPL_PAGE_SHM];
}

#endif
