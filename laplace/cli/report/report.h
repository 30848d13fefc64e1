/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The forms of a report, each made of one survey.
 */
#ifndef LAPLACE_CLI_REPORT_REPORT_H
#define LAPLACE_CLI_REPORT_REPORT_H

#include "survey/survey.h"

struct report {
	const struct survey *survey;
	const struct survey_trace *trace;
	uint64_t top;			/* lines of each table */
	/* by time, by pages, by number: the first is the most */
	struct survey_task **task;
	uint64_t tasks;
	struct survey_process **process;
	uint64_t processes;
	struct survey_call **call;
	size_t calls;
	struct survey_file **file;
	size_t files;
};

/* Sort.  Returns an exit status. */
int report_make(struct report *report, const struct survey *survey,
		const struct survey_trace *trace, uint64_t top);
void report_free(struct report *report);

void report_text(const struct report *report, FILE *out);
void report_html(const struct report *report, FILE *out);
int report_json(const struct report *report, FILE *out);

/* ---- what the forms share (report_facts.c) ---- */

/* Call `note` with each thing that a reader of the numbers has to know. */
void report_notes(const struct report *report, void (*note)(void *context, const char *text),
		  void *context);

/* Cycles a second of the guest's time, as its machine's description has it; 0: not known. */
uint64_t report_cycles_a_second(const struct survey_trace *trace);

/* "exited 0", "alive", "lost" in buf, which is returned. */
char *report_end_text(const struct survey_task *task, char buf[32]);
uint64_t report_kernel_pages(const struct survey_process *process);
/* References by mode of reaching: all of one kind. */
uint64_t report_kind_references(const struct survey *survey, enum lpl_page_kind kind);
/* Events of a kind. */
uint64_t report_events(const struct survey *survey, uint32_t tag);
static inline double report_share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}
/* The time that tasks had; what is before the first one is known is boot's. */
uint64_t report_time(const struct survey *survey);
bool report_tells_tasks(const struct survey *survey);

#endif
