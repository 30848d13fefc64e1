/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What `laplace regret` prints: text, HTML, JSON, and CSV. */
#ifndef LAPLACE_CLI_REGRET_OUTPUT_H
#define LAPLACE_CLI_REGRET_OUTPUT_H

#include <stdio.h>

#include <laplace/regret.h>

struct regret_shown {
	const char *path, *title;	/* for messages; of a page */
	const struct lpl_regret_results *results;
	uint64_t cycles_a_second;	/* 0: not known */
	uint64_t top;			/* how many lines a table has at most */
	bool is_damaged;
};

/* Each returns an exit status. */
int regret_text(const struct regret_shown *shown, FILE *out);
int regret_html(const struct regret_shown *shown, FILE *out);
int regret_json(const struct regret_shown *shown, FILE *out);

/* A line for each eviction. */
void regret_csv_heading(FILE *out);
void regret_csv_line(FILE *out, const struct lpl_regret_eviction *eviction,
		     const struct lpl_regret_results *results);

/* The i-th of the worst evictions, in lines of text. */
void regret_story(const struct regret_shown *shown, size_t i, FILE *out);

/* ---- what the forms share (regret_parts.c) ---- */

/* Files and processes with evicted pages, those with the most first; to be freed, NULL: no memory. */
const struct lpl_regret_file **regret_files(const struct lpl_regret_results *results, size_t *count);
const struct lpl_regret_process **regret_processes(const struct lpl_regret_results *results,
						   size_t *count);
/* "page 5 of /bin/cat" in buf, which is returned. */
#define REGRET_PAGE_SIZE 1400
char *regret_page(char buf[REGRET_PAGE_SIZE], const struct lpl_regret_page *page,
		  const struct lpl_regret_results *results);
const char *regret_process_name(const struct lpl_regret_process *process);

/* Numbers of evicted pages, each with what they have in common. */
#define REGRET_BARS 65
struct regret_bars {
	unsigned int count;		/* 0: there is nothing to be shown */
	uint64_t most;
	struct regret_bar {
		char name[32];
		uint64_t value;
	} bar[REGRET_BARS];
};
/* Pages that were used again, by how many others would have been better, ... */
void regret_ranks(struct regret_bars *bars, const struct lpl_regret_results *results);
/* ... and by the references to that use. */
void regret_distances(struct regret_bars *bars, const struct lpl_regret_results *results);

#endif
