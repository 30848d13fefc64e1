/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* LRU of every size, pattern by pattern instead of visit by visit: lru_patterns.c. */
#ifndef LAPLACE_SIM_LRU_PATTERNS_H
#define LAPLACE_SIM_LRU_PATTERNS_H

#include <laplace/trace.h>

#include "lru.h"

/* A page of a pattern, in the order of first visits. */
struct lpl_lru_page {
	uint32_t page;
	uint32_t recent;	/* at this place, the page that is the most recent but so many when the pattern is done */
	uint8_t reach;		/* the deepest later visit, up to the first write; 0: there is none, or the first visit writes */
	uint8_t clean_below;	/* M after the pattern (curve.h), if it writes to the page; else 0 */
	bool write;		/* the first visit does */
};

struct lpl_lru_visit {
	uint8_t place;		/* of the page, in its pattern's */
	bool write;
	uint16_t again;		/* as in struct lpl_visit */
};

struct lpl_lru_pattern {
	uint64_t times;		/* that it came, and is not counted yet */
	size_t page, visit;	/* indices of its first ones */
	uint32_t visits;
	uint32_t pages;		/* 0: too many */
};

/* Starts as zeros; the arrays are owned. */
struct lpl_lru_patterns {
	struct lpl_lru_pattern *pattern;
	struct lpl_lru_page *page;
	struct lpl_lru_visit *visit;
	size_t patterns, pages, visits;
	size_t pattern_room, page_room, visit_room;
	bool came;		/* not all is counted */
};

void lpl_lru_patterns_free(struct lpl_lru_patterns *patterns);

/* The next pattern: its visits are to these pages, and write or not.  false: no memory. */
bool lpl_lru_patterns_learn(struct lpl_lru_patterns *patterns, const uint32_t *page, const struct lpl_visit *visit,
			    uint32_t visits);

/* Has it few enough pages for step()? */
static inline bool lpl_lru_patterns_takes(const struct lpl_lru_patterns *patterns, uint32_t number)
{
	return patterns->pattern[number].pages != 0;
}

/* It comes. */
enum lpl_error lpl_lru_patterns_step(struct lpl_lru_patterns *patterns, uint32_t number, struct lru *lru,
				     struct lpl_report *report);

/* What came so far is counted, which it has to be before the curve is looked at.  false: no memory. */
bool lpl_lru_patterns_count(struct lpl_lru_patterns *patterns, struct lpl_curve *curve);
/* The same, and numbers will mean others. */
bool lpl_lru_patterns_forget(struct lpl_lru_patterns *patterns, struct lpl_curve *curve);

#endif
