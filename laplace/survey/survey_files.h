/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A survey's files: those that pages are of. */
#ifndef LAPLACE_SURVEY_SURVEY_FILES_H
#define LAPLACE_SURVEY_SURVEY_FILES_H

#include <laplace/survey.h>

#include "base/map.h"

struct survey_files {
	struct lpl_survey_files result;
	size_t room;			/* in result.file */
	/* from (device, inode, generation) to the index + 1 of the last such file ... */
	struct lpl_map last;
	/* ... and from each to that of the one before it; 0: there is none */
	uint32_t *before;
	size_t before_room;
};

void lpl_survey_files_init(struct survey_files *files);
void lpl_survey_files_free(struct survey_files *files);

/* The index + 1 of the file that a page is of; 0: no memory. */
uint32_t lpl_survey_files_find(struct survey_files *files, const struct lpl_merge_page *page);

#endif
