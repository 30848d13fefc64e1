/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A sink that counts what comes by: for info, verify and summaries.
 */
#ifndef LAPLACE_SURVEY_TALLY_H
#define LAPLACE_SURVEY_TALLY_H

#include <stdio.h>

#include <laplace/error.h>
#include <laplace/record.h>

#define TALLY_TAGS 32	/* counted one by one; others as one */

struct tally {
	struct lpl_sink sink;
	uint64_t refs[LPL_TYPES], all_refs, user_refs;
	uint64_t events;
	uint64_t tag[TALLY_TAGS];		/* kernel tags, by number */
	uint64_t tracing, mark, evicted, page, gap, other_tag;	/* our own; unknown ones */
	struct lpl_ref first, last;		/* when all_refs > 0 */
	/* the distinct spaces: an open table, 0 is free */
	uint64_t *space;			/* stored as space + 1 */
	size_t space_room, spaces;
};

void tally_init(struct tally *tally);
void tally_free(struct tally *tally);

/* Call `each` for every kind of event that came by. */
void tally_each_event(const struct tally *tally,
		      void (*each)(void *context, const char *name, uint64_t count),
		      void *context);

#endif
