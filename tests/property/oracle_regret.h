/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What <laplace/regret.h> defines, by brute force: everything that happens is kept, and every answer
 * is found by going through all of it.
 */
#ifndef LAPLACE_TESTS_ORACLE_REGRET_H
#define LAPLACE_TESTS_ORACLE_REGRET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOG_LINES 6000
#define LOG_PAGES 4000
#define AT_ONCE 4		/* pages of a moment */

/* What happens to a page, whatever its name is then: it is given a number once, and keeps it. */
enum deed {
	DEED_USE,
	DEED_ENTER,	/* an event says that it has a frame */
	DEED_BRING,	/* ... that it gets one, unless it has one */
	DEED_LEAVE,	/* ... that it has left the page cache */
	DEED_KEEP,	/* ... that it goes to swap, and has its frame still */
	DEED_RECLAIM,	/* `pages`: a moment */
	DEED_END,
	DEED_CUT,	/* of all pages nothing is known any more; `forget`: nor where they are */
	DEED_TAKES	/* of a device: reclaim takes its pages */
};

struct log_line {
	enum deed is;
	bool forget;
	uint64_t ref;
	size_t pages;
	uint32_t page[AT_ONCE];
	uint64_t device;
};

struct regret_log {
	struct log_line line[LOG_LINES];
	size_t lines;
	uint64_t device[LOG_PAGES];	/* that the page is on, if only DEED_TAKES shows that it can be taken; or 0 */
	uint32_t pages;
	/* for the oracle's own use */
	bool resident[LOG_PAGES], held[LOG_PAGES], anchored[LOG_PAGES];
	uint64_t brought;		/* how often, of those that may be evicted then */
};

struct regret_answer {
	size_t line;
	uint32_t page;
	int outcome;			/* enum lpl_regret_outcome */
	uint64_t rank, resident, evicted, last, next;	/* the last three: references */
	bool is_back, unused;
	/* of the pages that would have been better; the one that is used last, and when; 0: never */
	uint32_t best;
	uint64_t best_next;
};

/* All evictions, in their order; to be freed. */
struct regret_answer *regret_oracle(struct regret_log *log, size_t *count);
/* The reads that OPT needs: by Belady's algorithm, and by trying all choices (UINT64_MAX: too many). */
uint64_t regret_oracle_belady(struct regret_log *log);
uint64_t regret_oracle_exhaustive(struct regret_log *log);

#endif
