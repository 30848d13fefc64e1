/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the segments of a recording begin with (container/keeper.h): the state of the guest
 * (merge/guest_state.h), where its pages are (translation.h) and its page tables (walk.h), kept as the events go
 * by; and in a file, for a run that is taken up.
 */
#ifndef LAPLACE_COLLECT_STATE_KEEPER_H
#define LAPLACE_COLLECT_STATE_KEEPER_H

#include <laplace/translation.h>
#include <laplace/walk.h>

#include "container/keeper.h"
#include "merge/guest_state.h"

struct lpl_guest_keeper {
	struct lpl_state_keeper keeper;	/* first: a keeper is found from it */
	struct lpl_state *state;
	struct lpl_translations *translations;
	struct lpl_walks *walks;
	struct lpl_blocks *code;
};

/* Nothing is known yet. */
enum lpl_error lpl_guest_keeper_open(struct lpl_guest_keeper *keeper, struct lpl_report *report);
void lpl_guest_keeper_close(struct lpl_guest_keeper *keeper);	/* one of zeros is fine */

/* Write what is known as a trace of events; a file that is there is replaced. */
enum lpl_error lpl_guest_keeper_save(struct lpl_guest_keeper *keeper, const char *path,
				     struct lpl_report *report);
/* Know what is in such a trace. */
enum lpl_error lpl_guest_keeper_load(struct lpl_guest_keeper *keeper, const char *path,
				     struct lpl_report *report);

#endif
