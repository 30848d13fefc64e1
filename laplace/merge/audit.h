/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The audit: do the books of a merge balance?  All but lpl_audit_open() and lpl_audit_free()
 * want merge->audit, and are called when it is there.
 */
#ifndef LAPLACE_MERGE_AUDIT_H
#define LAPLACE_MERGE_AUDIT_H

#include "state.h"

struct audit {
	struct lpl_merge_audit books;
	bool closed;
	uint64_t last_ref, last_instr, last_cycle;
	uint64_t user_anomalies;	/* programs' references that did not fit */
	bool snapshot_begun, snapshot_ended;
	uint32_t epoch;			/* of the page cache; from 1 */
	struct lpl_map ended;		/* numbers of spaces that have ended -> 1 */
	uint32_t limit;			/* of each kind of problem */
	size_t kept[LPL_ANOMALIES];
	struct lpl_merge_problem *problem;	/* `limit` places for each kind */
	size_t problems;		/* once closed: all, packed together */
};

/* `problems` of each kind are kept.  NULL: no memory. */
struct audit *lpl_audit_open(uint32_t problems);
void lpl_audit_free(struct audit *audit);	/* NULL is fine */

/* An event that does not fit is to be kept. */
void lpl_audit_anomaly(struct lpl_merge *merge, enum lpl_merge_anomaly kind,
		       const struct lpl_event *event);
/*
 * A reference with its translation, which is in the cache of translations.  Where a page is
 * looked for in the page cache, `cached` in it is set.  `implied_break`: see struct effect.
 */
void lpl_audit_reference(struct lpl_merge *merge, const struct lpl_ref *ref,
			 struct translation *translation, bool implied_break);
void lpl_audit_event(struct lpl_merge *merge, const struct lpl_event *event);
/* A snapshot begins, or is complete. */
void lpl_audit_snapshot(struct lpl_merge *merge, bool begins);
/* A state is complete; how far a snapshot of the guest's own had come (LPL_STATE_*). */
void lpl_audit_state(struct lpl_merge *merge, uint64_t snapshot);
void lpl_audit_task_over(struct lpl_merge *merge, const struct lpl_merge_task *task);
/* A space's number is used (again), and no longer.  false: no memory. */
void lpl_audit_space_begins(struct lpl_merge *merge, uint64_t number);
bool lpl_audit_space_over(struct lpl_merge *merge, uint64_t number, bool used,
			  const struct lpl_event *event);

/* ---- the page cache (audit_cache.c) ---- */

enum cache_change {
	CACHE_ADDED,
	CACHE_AGAIN,		/* they were there, and will be added anew */
	CACHE_DISPLACED,
	CACHE_REMOVED
};

/* What happened to frames that hold, or held, pages by this mapping.  false: no memory. */
bool lpl_audit_cache(struct lpl_merge *merge, enum cache_change change, struct range frames,
		     struct mapping *mapping, const struct lpl_event *event);
/* Is the file's page that the reference resolved to in the page cache? */
bool lpl_audit_is_cached(struct lpl_merge *merge, const struct lpl_ref *ref);
/* How many pages there are in frames. */
uint64_t lpl_audit_cached_pages(const struct lpl_merge *merge);

/* ---- gaps, the end ---- */

/* It is not known any more what is in the page cache.  Called while it is still there. */
void lpl_audit_gap(struct lpl_merge *merge);
/* The stream is over. */
void lpl_audit_close(struct lpl_merge *merge);

#endif
