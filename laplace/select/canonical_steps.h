/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The steps of a stream on its canonical pages. */
#ifndef LAPLACE_SELECT_CANONICAL_STEPS_H
#define LAPLACE_SELECT_CANONICAL_STEPS_H

#include <laplace/trace.h>

#include "canonical_pages.h"

struct canonical_steps;

struct canonical_steps *lpl_canonical_steps_new(void);		/* NULL: no memory */
void lpl_canonical_steps_free(struct canonical_steps *steps);	/* NULL is fine */

/*
 * The next steps of the stream: `*out` is what they are on canonical pages, until the next call.  All that stands between
 * two calls, events, has taken effect on `pages`.
 */
enum lpl_error lpl_canonical_steps_take(struct canonical_steps *steps, struct canonical_pages *pages,
					const struct lpl_page_steps *in, struct lpl_page_steps *out,
					struct lpl_report *report);

#endif
