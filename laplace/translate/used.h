/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which translations have to be reported: for whoever makes a trace, and knows the processor's TLB.
 *
 * The map here is what a reader of the trace will have.  Whenever the processor begins to use a
 * translation, it is compared with what that reader would say, and reported if that is anything else;
 * so readers say what the processor used, always, with as few reports as there can be.
 *
 * The report is a fence (LPL_EVENT_RETRANSLATION) unless no reference can have been made to another
 * frame by these addresses: unless nothing was known of the page, which is one of 4096 bytes, in this
 * space; or, if it is global, in any.
 */
#ifndef LAPLACE_TRANSLATE_USED_H
#define LAPLACE_TRANSLATE_USED_H

#include <laplace/kernel_trace_record.h>
#include <laplace/translation.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lpl_used;
/* LPL_ERR_MEMORY. */
enum lpl_error lpl_used_open(struct lpl_used **used, struct lpl_report *report);
void lpl_used_close(struct lpl_used *used);	/* NULL is fine */

/*
 * The processor uses `now` for an address of the page `now->page` in this space, the 4096 bytes of which
 * are in `now->frame`.  *news: that has to be reported, by `record`, all of which but the task is
 * filled; the map has it already.
 */
enum lpl_error lpl_used_note(struct lpl_used *used, uint64_t space, uint64_t address,
			     const struct lpl_translation *now, struct kernel_trace_record *record,
			     bool *news, struct lpl_report *report);

/* What readers know. */
struct lpl_translations *lpl_used_map(struct lpl_used *used);

/* There are as many as may be: all are to be forgotten, and `record` says that. */
bool lpl_used_full(const struct lpl_used *used);
void lpl_used_forget(struct lpl_used *used, struct kernel_trace_record *record);

#ifdef __cplusplus
}
#endif

#endif
