/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The forms of a report, each made of one trace and its survey. */
#ifndef LAPLACE_CLI_REPORT_REPORT_H
#define LAPLACE_CLI_REPORT_REPORT_H

#include "cli/surveyed_trace.h"

void report_text(const struct surveyed_trace *trace, FILE *out);
void report_html(const struct surveyed_trace *trace, FILE *out);
/* Returns an exit status. */
int report_json(const struct surveyed_trace *trace, FILE *out);

/* ---- what the forms share (report_facts.c) ---- */

/* "canonical", or, where no event says what is mapped, "virtual": what its pages are. */
const char *report_addresses(const struct surveyed_trace *trace);

/* Call `note` with each thing that a reader of the numbers has to know. */
void report_notes(const struct surveyed_trace *trace,
		  void (*note)(void *context, const char *text), void *context);

#define REPORT_PLACE_TEXT 1400
/* "/lib/libc.so.6", "segment 3" ... in buf, which is returned. */
char *report_file_text(const struct lpl_survey_file *file, char buf[REPORT_PLACE_TEXT]);
/* "/lib/libc.so.6, page 12", "7ffe1000 of sh (61)", "ffffffff81a18000 memcpy+1f0" ... likewise. */
char *report_place_text(const struct surveyed_trace *trace,
			const struct lpl_survey_hot_page *page, char buf[REPORT_PLACE_TEXT]);

/* Events of a kind. */
static inline uint64_t report_events(const struct lpl_survey *survey, uint32_t tag)
{
	return lpl_event_counts_of(&survey->events->counts, tag);
}

/* Pages that several threads of one program referenced, and no other, without the kernel's. */
uint64_t report_within_program(const struct lpl_survey *survey);

/* Pages of the kernel's that a process referenced. */
static inline uint64_t report_kernel_pages(const struct lpl_survey_process *process)
{
	return process->footprint.pages[LPL_PAGE_KERNEL] +
	       process->footprint.pages[LPL_PAGE_PHYSICAL];
}

#endif
