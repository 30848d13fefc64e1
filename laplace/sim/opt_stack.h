/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The line of the future: OPT's stack, its pages in the order of their next uses.
 * line.c tells why this is a stack and how it is kept.
 */
#ifndef LAPLACE_SIM_OPT_STACK_H
#define LAPLACE_SIM_OPT_STACK_H

#include <stdbool.h>
#include <stdint.h>

struct lpl_line;

/*
 * An empty line of positions 1 to `positions`, at most 2^31; depths above `deepest` are told
 * as deepest + 1.  NULL: no memory.
 */
struct lpl_line *lpl_line_new(uint32_t positions, uint32_t deepest);
void lpl_line_free(struct lpl_line *line);	/* NULL is fine */

/*
 * Go on to the next position: the depth in the stack of the page that stands there, which
 * leaves the line; 0 when there is none.  false: no memory.
 */
bool lpl_line_next(struct lpl_line *line, uint32_t *depth);

/*
 * The page at the position just left is referenced, or one that is new: it is put on top of
 * the stack, and on the line at `position`, ahead.  `depth` is what next() told, 0 for a
 * new page.  false: no memory.
 */
bool lpl_line_reference(struct lpl_line *line, uint32_t depth, uint32_t position);

#endif
