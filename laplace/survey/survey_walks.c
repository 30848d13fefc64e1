/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A survey's page walks.  They stand before the reference that they were made for, so they are counted up to
 * the next one that is no walk, and are then that one's: its program's, its mode's and its page's.
 */
#include "survey_walks.h"

void lpl_survey_walks_reference(struct survey_walks *walks, const struct lpl_merged *merged,
				struct survey_tasks *tasks, struct survey_pages *pages)
{
	const struct lpl_ref *ref = merged->ref;
	const bool user = (ref->flags & LPL_USER) != 0;
	struct lpl_survey_walked *kind = &walks->result.by_kind[merged->kind];

	if (ref->type == LPL_WALK_READ || ref->type == LPL_WALK_WRITE) {
		walks->pending++;
		tasks->new_walks[user]++;
		return;
	}
	kind->references[user]++;
	if (walks->pending == 0)
		return;
	kind->walks[user] += walks->pending;
	tasks->processes->running->result.walked.walks[user] += walks->pending;
	lpl_survey_pages_walked(pages, merged->page, user, walks->pending);
	walks->pending = 0;
}

void lpl_survey_walks_break(struct survey_walks *walks)
{
	walks->result.unknown += walks->pending;
	walks->pending = 0;
}
