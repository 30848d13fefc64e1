/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * OPT's stack, its pages in the order of their next uses.  policy_opt.c says why this is a
 * stack, opt_stack.c how it is kept.
 */
#ifndef LAPLACE_SIM_OPT_STACK_H
#define LAPLACE_SIM_OPT_STACK_H

#include <stdbool.h>
#include <stdint.h>

struct lpl_opt_stack;

/*
 * An empty stack for positions 1 to `positions`, at most 2^31; depths above `deepest` are given
 * as deepest + 1.  NULL: no memory.
 */
struct lpl_opt_stack *lpl_opt_stack_new(uint32_t positions, uint32_t deepest);
void lpl_opt_stack_free(struct lpl_opt_stack *stack);	/* NULL is fine */

/*
 * Go on to the next position: the depth in the stack of the page that stands there, which is
 * taken out; 0 when there is none.  false: no memory.
 */
bool lpl_opt_stack_next(struct lpl_opt_stack *stack, uint32_t *depth);

/*
 * The page at the position just left is referenced, or one that is new: it is put on top of the
 * stack, at `position`, which is ahead.  `depth` is what next() gave, 0 for a new page.  false:
 * no memory.
 */
bool lpl_opt_stack_reference(struct lpl_opt_stack *stack, uint32_t depth, uint32_t position);

#endif
