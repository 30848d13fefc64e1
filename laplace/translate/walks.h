/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which page tables have to be reported, for whoever makes a trace and sees the processor's walks; and what is
 * known of them as events, for a reader that begins in the middle of a trace.  See walk.h.
 */
#ifndef LAPLACE_TRANSLATE_WALKS_H
#define LAPLACE_TRANSLATE_WALKS_H

#include <laplace/kernel_trace_record.h>
#include <laplace/walk.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { LPL_WALK_NEWS_MAX = 2 };

/*
 * The processor is about to refer to the entry at `address`, of a table of this number (1 to
 * LPL_TABLE_MAX), which maps a large page or does not.  `record` gets `*news` events that have to be in the
 * trace before that reference; their task is not filled.  The map has them already.
 */
enum lpl_error lpl_walks_note(struct lpl_walks *walks, uint64_t address, unsigned int table, bool large,
			      struct kernel_trace_record record[LPL_WALK_NEWS_MAX], unsigned int *news,
			      struct lpl_report *report);

/* There are as many as may be: all are to be forgotten, and `record` says that. */
bool lpl_walks_full(const struct lpl_walks *walks);
void lpl_walks_forget(struct lpl_walks *walks, struct kernel_trace_record *record);

/* Send `sink` an event for each table and entry that is known; a map that follows these is the same. */
enum lpl_error lpl_walks_send(const struct lpl_walks *walks, struct lpl_sink *sink, struct lpl_report *report);

#ifdef __cplusplus
}
#endif

#endif
