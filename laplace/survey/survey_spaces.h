/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A survey's address spaces, of a trace with translations: which pages each of them has used and in which
 * frames, what a fork leaves shared of them, and how far their frames lie as their pages do.
 *
 * The pages of a space are kept until it has ended, and so have all spaces that were made of it.
 */
#ifndef LAPLACE_SURVEY_SURVEY_SPACES_H
#define LAPLACE_SURVEY_SURVEY_SPACES_H

#include <laplace/survey.h>
#include <laplace/translation.h>

#include "base/map.h"

struct survey_space;
struct survey_used_page;

struct survey_spaces {
	struct lpl_survey_forks forks;
	struct lpl_survey_contiguity contiguity;
	uint64_t moved;			/* pages that were in another frame than when they were used last */
	struct lpl_map index;		/* number -> its place in `space` + 1, of those that have not ended */
	struct survey_space *space;
	size_t count, room, free;	/* free: the first place to be used again, + 1 */
	struct lpl_map pages;		/* place of the space, page, shift -> place in `page` + 1 */
	struct survey_used_page *page;
	size_t used, page_room, free_page;
	uint64_t forked;		/* forks so far */
};

void lpl_survey_spaces_init(struct survey_spaces *spaces);
void lpl_survey_spaces_free(struct survey_spaces *spaces);

/*
 * A space (KTR_NONE: all, by a global page) uses the page that was found, the first byte of which is in `frame`.
 * *is_new: it did not before.  false: no memory.
 */
bool lpl_survey_spaces_use(struct survey_spaces *spaces, uint64_t number,
			   const struct lpl_translation *found, uint64_t frame, bool *is_new);
/* KTR_SPACE_DUPLICATE, KTR_SPACE_END and others, which are left alone; not those of a state.  false: no memory. */
bool lpl_survey_spaces_follow(struct survey_spaces *spaces, const struct lpl_event *event);
/* The class of a length, other than 0. */
unsigned int lpl_survey_run_class(uint64_t length);
/* All spaces end.  false: no memory. */
bool lpl_survey_spaces_finish(struct survey_spaces *spaces);

#endif
