/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A survey's page walks.  They stand before the reference that they were made for, so they are counted up to
 * the next one that is no walk, and are then that one's: its program's, its mode's and its page's.
 */
#include "survey_walks.h"

enum lpl_error lpl_survey_walks_init(struct survey_walks *walks, struct lpl_report *report)
{
	return lpl_walks_open(&walks->described, report);
}

void lpl_survey_walks_free(struct survey_walks *walks)
{
	lpl_walks_close(walks->described);
}

enum lpl_error lpl_survey_walks_follow(struct survey_walks *walks, const struct lpl_event *event,
				       struct lpl_report *report)
{
	return lpl_walks_follow(walks->described, event, report);
}

static void count(struct lpl_survey_table *table, const struct lpl_walk *walk, enum lpl_type type)
{
	table->accessed += walk->accessed;
	table->dirty += walk->dirty;
	if (type == LPL_WALK_WRITE)
		return;
	table->reads[walk->purpose]++;
	table->large += walk->large;
}

void lpl_survey_walks_reference(struct survey_walks *walks, const struct lpl_merged *merged,
				struct survey_tasks *tasks, struct survey_pages *pages)
{
	const struct lpl_ref *ref = merged->ref;
	const bool user = (ref->flags & LPL_USER) != 0;
	struct lpl_survey_walked *kind = &walks->result.by_kind[merged->kind];
	struct lpl_walk walk;

	if (lpl_walk_of(walks->described, ref, &walk)) {
		count(&walks->result.table[walk.table], &walk, ref->type);
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
