/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * LRU at every size in one pass.
 *
 * The depth of a reference is the number of pages referenced since the page's last reference,
 * itself included.  Time is a line of slots: each page has the slot of its last reference,
 * marked by a bit, and its depth is the number of marks from there on.  They are counted with
 * a Fenwick tree (P. M. Fenwick: "A new data structure for cumulative frequency tables", 1994)
 * over words of 64 slots: O(log pages).  But most references are to one of the few most recent
 * pages: these are in an array before the line, in order, and are looked through first; a page
 * that drops out of the array gets the next slot of the line.  When the line is full the marks
 * are moved together, in order, so memory is O(pages), and as at least half of the line is then
 * empty, moving costs O(1) a reference.
 */
#include "base/array.h"
#include "base/try.h"
#include "lru.h"

#include <assert.h>
#include <stdlib.h>

enum { WORD = 64, FIRST_WORDS = 16, FRONT = LPL_LRU_FRONT };

static void add_to_word(struct lru *lru, size_t word, uint32_t change)
{
	for (size_t i = word + 1; i <= lru->words; i += i & -i)
		lru->sum[i] += change;
}

/* Marks at `slot` and before it. */
static uint32_t marks_to(const struct lru *lru, size_t slot)
{
	uint64_t upper = lru->mark[slot / WORD] << (WORD - 1 - slot % WORD);
	uint32_t count = (uint32_t)__builtin_popcountll(upper);

	for (size_t i = slot / WORD; i != 0; i &= i - 1)
		count += lru->sum[i];
	return count;
}

static void set_mark(struct lru *lru, size_t slot, uint32_t page)
{
	assert(slot < lru->words * WORD);
	lru->mark[slot / WORD] |= UINT64_C(1) << slot % WORD;
	lru->page[slot] = page;
	lru->slot[page] = (uint32_t)slot;
}

/* Another line of `words` words, with the marks moved to its beginning. */
static bool move_together(struct lru *lru, size_t words)
{
	struct lru moved = *lru;

	moved.words = words;
	moved.mark = calloc(words, sizeof(*moved.mark));
	moved.sum = calloc(words + 1, sizeof(*moved.sum));
	moved.page = malloc(words * WORD * sizeof(*moved.page));
	moved.next = 0;
	if (moved.mark == NULL || moved.sum == NULL || moved.page == NULL) {
		free(moved.mark);
		free(moved.sum);
		free(moved.page);
		return false;
	}
	for (size_t word = 0; word < lru->words; word++)
		for (uint64_t left = lru->mark[word]; left != 0; left &= left - 1) {
			size_t slot = word * WORD + (size_t)__builtin_ctzll(left);

			set_mark(&moved, moved.next++, lru->page[slot]);
		}
	for (size_t i = 1; i <= words; i++) {
		size_t parent = i + (i & -i);

		moved.sum[i] += (uint32_t)__builtin_popcountll(moved.mark[i - 1]);
		if (parent <= words)
			moved.sum[parent] += moved.sum[i];
	}
	free(lru->mark);
	free(lru->sum);
	free(lru->page);
	*lru = moved;
	return true;
}

static enum lpl_error no_memory(const struct lru *lru, struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "lru: no memory for %u distinct pages",
			lru->pages);
}

/* The line is full. */
static enum lpl_error make_room(struct lru *lru, struct lpl_report *report)
{
	/* it is always at least twice as long as there are pages to mark */
	bool longer = lru->pages > lru->next / 4;

	if (lru->next > UINT32_MAX / 2)
		return lpl_fail(report, LPL_ERR_UNSUPPORTED,
				"lru: more distinct pages than 2^29");
	return move_together(lru, longer ? lru->words * 2 : lru->words) ? LPL_OK :
		no_memory(lru, report);
}

static bool add_page(struct lru *lru, uint32_t page)
{
	assert(page == lru->pages + 1);	/* numbered by first reference */
	if (!lpl_reach(lru->slot, lru->slot_room, page))
		return false;
	lru->pages++;
	return true;
}

/* Take a page out of the line; its depth. */
static uint32_t leave_line(struct lru *lru, uint32_t page)
{
	size_t slot = lru->slot[page];
	uint32_t depth = lru->pages - marks_to(lru, slot) + 1;	/* those in front have no mark */

	assert(lru->page[slot] == page && (lru->mark[slot / WORD] >> slot % WORD & 1) != 0);
	assert(depth > lru->fronts && depth <= lru->pages);
	lru->mark[slot / WORD] &= ~(UINT64_C(1) << slot % WORD);
	add_to_word(lru, slot / WORD, UINT32_MAX);	/* less 1 */
	return depth;
}

/*
 * The page was not in front, where `dropped` had to make room for it (the page itself
 * when there was none in front).
 */
static enum lpl_error from_line(struct lru *lru, uint32_t page, uint32_t dropped,
				uint32_t *depth, struct lpl_report *report)
{
	*depth = LPL_DEPTH_NONE;
	if (page <= lru->pages)
		*depth = leave_line(lru, page);
	else if (!add_page(lru, page))
		return no_memory(lru, report);
	if (lru->fronts < FRONT) {
		lru->front[lru->fronts++] = dropped;
		return LPL_OK;
	}
	if (lru->next == lru->words * WORD)
		LPL_TRY(make_room(lru, report));
	set_mark(lru, lru->next, dropped);
	add_to_word(lru, lru->next / WORD, 1);
	lru->next++;
	return LPL_OK;
}

enum lpl_error lpl_lru_reference(struct lru *lru, uint32_t page, bool write, struct lpl_report *report)
{
	uint32_t moving = page;
	uint32_t depth = 0;
	bool found = false;

	/* each page in front moves back by one, until where the page was */
	while (depth < lru->fronts && !found) {
		uint32_t here = lru->front[depth];

		lru->front[depth++] = moving;
		found = here == page;
		moving = here;
	}
	if (!found)
		LPL_TRY(from_line(lru, page, moving, &depth, report));
	return lpl_curve_reference(&lru->curve, page, depth, write) ? LPL_OK :
		no_memory(lru, report);
}

static enum lpl_error lru_run(struct lpl_simulation *simulation, const struct lpl_page_ref *ref,
			      size_t count, struct lpl_report *report)
{
	struct lru *lru = (struct lru *)simulation;

	for (size_t i = 0; i < count; i++)
		LPL_TRY(lpl_lru_reference(lru, ref[i].page, ref[i].write != 0, report));
	return LPL_OK;
}

static enum lpl_error lru_finish(struct lpl_simulation *simulation, struct lpl_report *report)
{
	struct lru *lru = (struct lru *)simulation;
	uint32_t depth = 0;

	while (depth < lru->fronts) {
		uint32_t page = lru->front[depth];

		if (!lpl_curve_end(&lru->curve, page, ++depth))
			return no_memory(lru, report);
	}
	for (size_t slot = lru->next; slot-- > 0;) {
		if ((lru->mark[slot / WORD] >> slot % WORD & 1) == 0)
			continue;
		if (!lpl_curve_end(&lru->curve, lru->page[slot], ++depth))
			return no_memory(lru, report);
	}
	assert(depth == lru->pages);
	simulation->result = lpl_curve_results(&lru->curve, lru->sizes, &simulation->results);
	return simulation->result != NULL ? LPL_OK : no_memory(lru, report);
}

static void lru_close(struct lpl_simulation *simulation)
{
	struct lru *lru = (struct lru *)simulation;

	lpl_curve_free(&lru->curve);
	free(simulation->result);
	free(lru->mark);
	free(lru->sum);
	free(lru->page);
	free(lru->slot);
	free(lru);
}

static struct lpl_simulation *lru_new(const struct lpl_sizes *sizes, uint32_t largest)
{
	struct lru *lru = calloc(1, sizeof(*lru));

	(void)largest;	/* all sizes cost no more than one */
	if (lru == NULL)
		return NULL;
	lru->simulation.run = lru_run;
	lru->simulation.finish = lru_finish;
	lru->simulation.close = lru_close;
	lru->sizes = sizes;
	lpl_curve_init(&lru->curve);
	lru->simulation.curve = &lru->curve;
	if (!move_together(lru, FIRST_WORDS)) {
		lru_close(&lru->simulation);
		return NULL;
	}
	return &lru->simulation;
}

const struct lpl_one_pass_policy lpl_policy_lru = {"lru", LPL_EXACT_AS_LRU, lru_new};
