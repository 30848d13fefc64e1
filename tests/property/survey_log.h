/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The survey of `laplace report` on trial: made-up guests are surveyed, and what a second merge
 * of the same stream reports is written down in a log, in which every number of the survey can be
 * found by its definition (docs/report.md), by going through all of it.
 */
#ifndef LAPLACE_TESTS_SURVEY_LOG_H
#define LAPLACE_TESTS_SURVEY_LOG_H

#include <laplace/survey.h>

#define RECORDS 3000
#define PAGES 4096		/* canonical: more than there are references */
#define TASKS 512

/* What the merge reports, in its order. */
enum line_kind { REFERENCE, EVENT, BEGIN, END, LEAVE, LEAVE_FOR_EVER, MOVE };

struct line {
	enum line_kind is;
	uint64_t time, task, process, page;
	uint64_t before;		/* MOVE: from this process to the other */
	enum lpl_page_kind kind;	/* of the reference */
	bool user;			/* it was made in user mode */
	bool walks;			/* it is to a page table */
	bool schedules;			/* the event is a KTR_SCHEDULE ... */
	bool blocks;			/* ... that leaves the task unable to run */
};

struct log {
	struct lpl_merge_output output;
	struct lpl_survey *survey;
	size_t records;			/* that were asked for; 0: not */
	struct line line[4 * RECORDS + PAGES];
	size_t lines;
	uint64_t now, pages;
	enum lpl_page_kind kind[PAGES];
	struct file {			/* that the page is of; device, inode and name 0: none */
		uint64_t device, inode, generation;
		char name[8];
	} file[PAGES];
	bool begun[TASKS];
	uint64_t process[TASKS];	/* of each, now */
	uint64_t state;			/* of the generator */
};

/* The bin of the survey that has this time. */
uint64_t bin_of(const struct lpl_survey *survey, uint64_t time);
uint64_t at_bin(const struct lpl_time_series *series, unsigned int bin);

typedef void survey_check(const struct log *log);

/* What gets the log of each guest at its end, by how many there were. */
struct survey_checks {
	survey_check *recorded;		/* no more live at once than may have records */
	survey_check *summed;		/* more do */
};

/* The tests: guests, from seeds.  Returns how many failed. */
int survey_tests(struct survey_checks *checks);

#endif
