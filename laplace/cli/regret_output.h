/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What `laplace regret` prints: text, JSON, and CSV. */
#ifndef LAPLACE_CLI_REGRET_OUTPUT_H
#define LAPLACE_CLI_REGRET_OUTPUT_H

#include <stdio.h>

#include <laplace/regret.h>

struct regret_shown {
	const char *path;
	const struct lpl_regret_results *results;
	uint64_t cycles_a_second;	/* 0: not known */
	uint64_t top;			/* how many lines a table has at most */
	bool is_damaged;
};

/* Each returns an exit status. */
int regret_text(const struct regret_shown *shown, FILE *out);
int regret_json(const struct regret_shown *shown, FILE *out);

/* A line for each eviction. */
void regret_csv_heading(FILE *out);
void regret_csv_line(FILE *out, const struct lpl_regret_eviction *eviction,
		     const struct lpl_regret_results *results);

/* Files and processes with evicted pages, those with the most first; to be freed, NULL: no memory. */
const struct lpl_regret_file **regret_files(const struct lpl_regret_results *results, size_t *count);
const struct lpl_regret_process **regret_processes(const struct lpl_regret_results *results,
						   size_t *count);
/* "page 5 of /bin/cat" in buf, which is returned. */
#define REGRET_PAGE_SIZE 1400
char *regret_page(char buf[REGRET_PAGE_SIZE], const struct lpl_regret_page *page,
		  const struct lpl_regret_results *results);

#endif
