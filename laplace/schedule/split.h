/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Taking a trace apart: what a merge knows of it, task by task. */
#ifndef LAPLACE_SCHEDULE_SPLIT_H
#define LAPLACE_SCHEDULE_SPLIT_H

#include "parts.h"

/* An output of a merge, which fills `parts` (not owned, with a spool and nothing else). */
enum lpl_error lpl_split_open(struct lpl_merge_output **output, struct lpl_parts *parts,
			      struct lpl_report *report);
void lpl_split_close(struct lpl_merge_output *output);	/* NULL is fine */

#endif
