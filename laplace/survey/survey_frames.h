/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A survey's frames of physical memory, of a trace with translations (translation.h). */
#ifndef LAPLACE_SURVEY_SURVEY_FRAMES_H
#define LAPLACE_SURVEY_SURVEY_FRAMES_H

#include <laplace/survey.h>
#include <laplace/translation.h>

#include "base/map.h"
#include "survey_spaces.h"

struct survey_frame;

struct survey_frames {
	struct lpl_survey_frames result;
	struct lpl_translations *translations;	/* NULL: not asked for */
	struct lpl_map index;		/* frame + 1 -> index + 1 */
	struct survey_frame *frame;
	size_t count, room;
	struct lpl_map used_by;		/* frame, space -> 1 */
	struct survey_spaces spaces;
	/* the page of each type's last reference: nothing of it has changed since */
	struct survey_frames_last {
		uint64_t space, page;
		uint64_t *references;	/* NULL: there is none */
		uint64_t frame;		/* KTR_NONE: it is in no row of the heat map */
	} last[LPL_TYPES];
};

/* `asked`: is there anything to be counted? */
enum lpl_error lpl_survey_frames_init(struct survey_frames *frames, bool asked,
				      struct lpl_report *report);
void lpl_survey_frames_free(struct survey_frames *frames);
enum lpl_error lpl_survey_frames_follow(struct survey_frames *frames, const struct lpl_event *event,
					struct lpl_report *report);
/* false: no memory. */
bool lpl_survey_frames_reference(struct survey_frames *frames, const struct lpl_ref *ref,
				 enum lpl_page_kind kind, unsigned int bin);
/* Results that are known at the end.  false: no memory. */
bool lpl_survey_frames_finish(struct survey_frames *frames);

#endif
