/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * OPT (Belady's MIN) at every size in one pass over the stored page sequence:
 * Mattson's priority stack, a page's priority being its next use.  The sequence, and by reference
 * the next use, are as long as the trace: they are in temporary files, but for a block of each.
 *
 * The tie.  A full memory evicts the page with the furthest next use; among pages
 * never used again it evicts the one least recently used.  Faults do not depend
 * on that choice, dirty evictions do.  It makes priority one order, independent of
 * the size, as the stack needs it.
 *
 * With it a trace reduced with K pages (block, window, SAD) has the dirty evictions
 * of its original at every size from K on.  A reduction keeps every page's last
 * reference (block: its run's first, which has the same neighbours): whenever a
 * page is evicted, the same pages are never used again, last used in the same
 * order.  Only a page between two kept references with fewer than K others
 * between them has another next use than in the original, and such a page is not
 * evicted: one of the others in memory is used later, or never.  So the same page
 * goes at the same reference, and a dropped write has moved to a reference before
 * that.  (Any tie by the order of last, or of first, references would do.)
 *
 * The stack.  Referencing the page at depth d puts it on top; the former top goes
 * down, and wherever it meets a page used later than itself, within the first
 * d - 1 places, it takes that page's place and the other goes on down, until one arrives at
 * place d.  Hundreds of pages move in a deep stack, all of them in the trace ABC...CBA.
 * So the stack is not kept as such, but as a line in the order of next uses, where
 * O(log references) steps do for a reference (opt_stack.c).
 */
#include "base/array.h"
#include "base/try.h"
#include "curve.h"
#include "long_array.h"
#include "opt_stack.h"
#include "simulation.h"

#include <assert.h>
#include <stdlib.h>

/* Two positions on the line each: one for its own time, one for its page's if it is the last. */
#define MOST_REFERENCES ((UINT32_C(1) << 30) - 1)

/* Which owner the references have, from one on. */
struct mark {
	size_t from;
	uint32_t owner;
};

struct opt {
	struct lpl_simulation simulation;
	struct lpl_curve curve;
	const struct lpl_sizes *sizes;
	uint32_t largest;	/* depths above it need not be distinguished */
	uint32_t pages;
	struct lpl_long_array sequence;	/* the trace: page << 1 | write */
	struct lpl_long_array position;	/* by reference, from 0: where its page stands on the line then */
	size_t count;
	struct mark *mark;	/* where faults are charged to owners */
	size_t marks, mark_room;
};

static enum lpl_error no_memory(const struct opt *opt, struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "opt: no memory for %zu references to %u pages",
			opt->count, opt->pages);
}

static enum lpl_error store(struct opt *opt, uint32_t page, bool write,
			    struct lpl_report *report)
{
	uint32_t *at;

	if (opt->count != 0) {
		LPL_TRY(lpl_long_array_at(&opt->sequence, opt->count - 1, &at, report));
		if (*at >> 1 == page) {
			lpl_long_array_set(&opt->sequence, at, *at | (write ? 1U : 0U));
			return LPL_OK;
		}
	}
	if (opt->count == MOST_REFERENCES)
		return lpl_fail(report, LPL_ERR_UNSUPPORTED,
				"opt: more than %u references; reduce the trace first",
				MOST_REFERENCES);
	LPL_TRY(lpl_long_array_at(&opt->sequence, opt->count, &at, report));
	assert(page >= 1 && page <= opt->pages + 1);	/* numbered by first reference */
	if (page > opt->pages)
		opt->pages = page;
	lpl_long_array_set(&opt->sequence, at, page << 1 | (write ? 1U : 0U));
	opt->count++;
	return LPL_OK;
}

static enum lpl_error opt_run(struct lpl_simulation *simulation, const struct lpl_page_ref *ref,
			      size_t count, struct lpl_report *report)
{
	struct opt *opt = (struct opt *)simulation;

	for (size_t i = 0; i < count; i++)
		LPL_TRY(store(opt, ref[i].page, ref[i].write != 0, report));
	return LPL_OK;
}

/* Faults are known in the end, so their owners are stored, too. */
static bool opt_charge(struct lpl_simulation *simulation, uint32_t owner)
{
	struct opt *opt = (struct opt *)simulation;

	if (opt->marks != 0 && opt->mark[opt->marks - 1].from == opt->count)
		opt->marks--;	/* that owner made no reference */
	if (!lpl_reach(opt->mark, opt->mark_room, opt->marks))
		return false;
	opt->mark[opt->marks++] = (struct mark){ .from = opt->count, .owner = owner };
	return true;
}

/*
 * Where its page stands on the line, for each reference.  That is the number, from 1,
 * of its next reference; of a page never used again it is beyond all of these, and the
 * further the longer ago its last reference was.
 */
static enum lpl_error find_positions(struct opt *opt, struct lpl_report *report)
{
	uint32_t *seen = calloc((size_t)opt->pages + 1, sizeof(*seen)), *at, *position;
	enum lpl_error error = seen != NULL ? LPL_OK : no_memory(opt, report);

	for (size_t i = opt->count; error == LPL_OK && i-- > 0;) {
		const uint32_t number = (uint32_t)i + 1;

		error = lpl_long_array_at(&opt->sequence, i, &at, report);
		if (error == LPL_OK)
			error = lpl_long_array_at(&opt->position, i, &position, report);
		if (error == LPL_OK) {
			uint32_t *next = &seen[*at >> 1];

			assert(*next == 0 || *next > number);
			lpl_long_array_set(&opt->position, position,
					   *next != 0 ? *next : 2 * (uint32_t)opt->count + 1 - number);
			*next = number;
		}
	}
	free(seen);
	return error;
}

static bool reference(struct opt *opt, struct lpl_opt_stack *stack, uint32_t ref, uint32_t position)
{
	uint32_t depth;

	return lpl_opt_stack_next(stack, &depth) &&
	       lpl_curve_reference(&opt->curve, ref >> 1, depth != 0 ? depth : LPL_DEPTH_NONE, ref & 1) &&
	       lpl_opt_stack_reference(stack, depth, position);
}

static enum lpl_error simulate(struct opt *opt, struct lpl_opt_stack *stack, struct lpl_report *report)
{
	uint32_t *at, *position, depth;
	size_t mark = 0;

	for (size_t i = 0; i < opt->count; i++) {
		LPL_TRY(lpl_long_array_at(&opt->sequence, i, &at, report));
		LPL_TRY(lpl_long_array_at(&opt->position, i, &position, report));
		if ((mark < opt->marks && opt->mark[mark].from == i &&
		     !lpl_shares_charge(opt->simulation.shares, opt->mark[mark++].owner)) ||
		    !reference(opt, stack, *at, *position))
			return no_memory(opt, report);
	}
	for (size_t i = opt->count; i-- > 0;) {
		LPL_TRY(lpl_long_array_at(&opt->sequence, i, &at, report));
		if (!lpl_opt_stack_next(stack, &depth) ||
		    (depth != 0 && !lpl_curve_end(&opt->curve, *at >> 1, depth)))
			return no_memory(opt, report);
	}
	return LPL_OK;
}

static enum lpl_error opt_finish(struct lpl_simulation *simulation, struct lpl_report *report)
{
	struct opt *opt = (struct opt *)simulation;
	struct lpl_opt_stack *stack = lpl_opt_stack_new(2 * (uint32_t)opt->count, opt->largest);
	enum lpl_error error = stack != NULL ? find_positions(opt, report) : no_memory(opt, report);

	if (error == LPL_OK)
		error = simulate(opt, stack, report);
	lpl_opt_stack_free(stack);
	if (error == LPL_OK) {
		simulation->result = lpl_curve_results(&opt->curve, opt->sizes, &simulation->results);
		error = simulation->result != NULL ? LPL_OK : no_memory(opt, report);
	}
	return error;
}

static void opt_close(struct lpl_simulation *simulation)
{
	struct opt *opt = (struct opt *)simulation;

	lpl_curve_free(&opt->curve);
	free(simulation->result);
	lpl_long_array_free(&opt->sequence);
	lpl_long_array_free(&opt->position);
	free(opt->mark);
	free(opt);
}

static struct lpl_simulation *opt_new(const struct lpl_sizes *sizes, uint32_t largest)
{
	struct opt *opt = calloc(1, sizeof(*opt));

	if (opt == NULL)
		return NULL;
	opt->simulation.run = opt_run;
	opt->simulation.finish = opt_finish;
	opt->simulation.close = opt_close;
	opt->simulation.charge = opt_charge;
	opt->sizes = sizes;
	lpl_curve_init(&opt->curve);
	opt->simulation.curve = &opt->curve;
	opt->largest = largest;
	return &opt->simulation;
}

const struct lpl_one_pass_policy lpl_policy_opt = {"opt", LPL_EXACT_AS_OPT, opt_new};
