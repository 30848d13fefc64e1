/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What each reference to a page table was: of which table, by an entry that maps a large page or not,
 * for what the tables were walked, and which bits it set.
 *
 * A trace recorded with `walks=on` has the purpose and the bits in the references' flags
 * (LPL_META_WALKS is "described"), and events where a frame is first walked as a table of another
 * number, or an entry begins to map a large page, or ends to (docs/format.md, section 14).  This map
 * follows them:
 *
 *	lpl_walks_open(&walks, &report);
 *	(at each event) lpl_walks_follow(walks, event, &report);
 *	(at each reference) if (lpl_walk_of(walks, ref, &walk)) ...
 *
 * Reductions that make pages of references leave of this only the table.
 *
 * Memory: some 40 bytes for each table, and for each entry that maps a large page.  A recording forgets all
 * of them, and reports them again as they are used, before they are more than LPL_TABLES_MAX.
 */
#ifndef LAPLACE_WALK_H
#define LAPLACE_WALK_H

#include <laplace/error.h>
#include <laplace/record.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define LPL_TABLES_MAX	(1U << 18)	/* frames, and entries for large pages, that are known at a time */
#define LPL_TABLE_MAX	5		/* tables are numbered from 1, the last one, to this */

enum lpl_purpose {
	LPL_PURPOSE_UNKNOWN = 0,	/* or to load CR3, which reads four entries of table 3 with PAE */
	LPL_PURPOSE_READ = 1,
	LPL_PURPOSE_WRITE = 2,
	LPL_PURPOSE_FETCH = 3,
	LPL_PURPOSES = 4
};

/* "unknown", "read", "write", "fetch" */
const char *lpl_purpose_name(enum lpl_purpose purpose);

struct lpl_walk {
	unsigned int table;		/* 1 to LPL_TABLE_MAX; 0: not known */
	bool large;			/* the entry maps a page of more than 4096 bytes */
	enum lpl_purpose purpose;	/* a write has that of the read before */
	bool accessed, dirty;		/* of a write: the bits that it sets */
};

struct lpl_walks;
/* LPL_ERR_MEMORY. */
enum lpl_error lpl_walks_open(struct lpl_walks **walks, struct lpl_report *report);
void lpl_walks_close(struct lpl_walks *walks);	/* NULL is fine */

/*
 * Each event of a stream in turn; those that say nothing of page tables are left alone.  After
 * LPL_EVENT_GAP with events missing nothing is known.  LPL_ERR_DAMAGED: what format.md does not allow;
 * LPL_ERR_MEMORY.
 */
enum lpl_error lpl_walks_follow(struct lpl_walks *walks, const struct lpl_event *event,
				struct lpl_report *report);

/* Each reference of a stream in turn; false: it is none of a walk. */
bool lpl_walk_of(struct lpl_walks *walks, const struct lpl_ref *ref, struct lpl_walk *walk);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
