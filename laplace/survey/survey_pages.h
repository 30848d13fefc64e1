/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A survey's pages: which are alive, which processes reference them, and the survey's sums. */
#ifndef LAPLACE_SURVEY_SURVEY_PAGES_H
#define LAPLACE_SURVEY_SURVEY_PAGES_H

#include "survey_files.h"
#include "survey_hottest.h"
#include "survey_page_times.h"
#include "survey_processes.h"
#include "survey_time.h"

struct survey_pages {
	struct lpl_survey_pages result;
	struct survey_files files;
	struct survey_hottest hottest;
	struct survey_page_times times;
	struct page_leaf **leaf;	/* records of pages, by their numbers' upper bits */
	size_t leaves;
	/* not its own: */
	const struct survey_time *time;
	struct survey_processes *processes;
};

/*
 * `pages` is all 0, for it is large; `hottest`: how many of them are kept.  false: no memory;
 * lpl_survey_pages_free() may be called all the same.
 */
bool lpl_survey_pages_init(struct survey_pages *pages, size_t hottest,
			   const struct survey_time *time, struct survey_processes *processes);
void lpl_survey_pages_free(struct survey_pages *pages);

/* There is a new page, which will be referenced. */
enum lpl_error lpl_survey_pages_add(struct survey_pages *pages, const struct lpl_merge_page *page,
				    struct lpl_report *report);
/* It is referenced now, as `kind`, by the process that runs, in its task `task`. */
enum lpl_error lpl_survey_pages_reference(struct survey_pages *pages, uint64_t page,
					  enum lpl_page_kind kind, uint64_t task,
					  struct lpl_report *report);
/* So many walks were made for a reference to it, in user mode or not. */
void lpl_survey_pages_walked(struct survey_pages *pages, uint64_t page, bool user, uint64_t walks);
/* It left memory: to come back when it is referenced, or for ever. */
void lpl_survey_pages_leave(struct survey_pages *pages, uint64_t page, bool for_ever);

/* A process is over: count its pages, before lpl_survey_process_end(). */
void lpl_survey_pages_count(const struct survey_pages *pages, struct survey_process *process);

/* The bin is over.  false: no memory. */
bool lpl_survey_pages_close_bin(struct survey_pages *pages);
/* Two bins become one. */
void lpl_survey_pages_fold(struct survey_pages *pages);
/* The trace is over: sum all pages that are still there. */
void lpl_survey_pages_finish(struct survey_pages *pages);

/* Which of LPL_SURVEY_SHARINGS so many are. */
unsigned int lpl_survey_sharing_of(uint64_t sharers);

#endif
