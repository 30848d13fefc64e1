/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a run was made of, as `laplace run' leaves it in its trace's header: comments in the machine's
 * bochsrc, `#: KEY VALUE...', what is longer than a line after `#:+ ' (guest-program/recipe.sh).
 * Whoever made the trace made this, too: it is to be shown, not to be obeyed.
 */
#ifndef LAPLACE_CLI_RECIPE_H
#define LAPLACE_CLI_RECIPE_H

#include <stdbool.h>

#include <laplace/trace.h>

/*
 * Its lines, whole, without what marks them, values with their %XX; to be freed.  NULL: there is
 * none, or no memory for it.
 */
char *recipe_text(const struct lpl_meta *meta);

/* Was the trace made from the one that its recipe makes, by laplace reduce or laplace merge? */
bool recipe_was_derived(const struct lpl_meta *meta);

/* A value's %XX become bytes, in place; a null byte ends it, and what is no %XX is kept. */
void recipe_decode(char *value);

#endif
