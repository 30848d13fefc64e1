/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * LRU at every size in one pass.
 *
 * The depth of a reference is the number of pages referenced since the page's
 * last reference, itself included.  Each page owns a slot of a line of time, the
 * one of its last reference, marked by a bit; its depth is the number of marks
 * from there on.  They are counted with a Fenwick tree over words of 64 slots:
 * O(log pages).  When the line is full the marks are moved together, in order, so
 * memory is O(pages), and as at least half of the line is then empty, moving
 * costs O(1) a reference.
 */
#include "policy.h"

#include "../reduce/pages.h"

#include <stdlib.h>

enum { WORD = 64, FIRST_WORDS = 16 };

struct lru {
	struct lpl_policy policy;
	uint64_t *mark;		/* by word: its slots' bits */
	uint32_t *sum;		/* Fenwick tree: [i] sums words (i - (i & -i), i] from 1 */
	uint32_t *page;		/* by slot: who owns it, if marked */
	size_t words;
	size_t next;		/* the first slot not used yet */
	uint32_t *slot;		/* by page */
	size_t slot_capacity;
	uint32_t pages;
};

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

static enum lpl_error lru_reference(struct lpl_policy *policy, uint32_t page, bool write,
				    struct lpl_report *report)
{
	struct lru *lru = (struct lru *)policy;
	uint32_t depth = LPL_DEPTH_NONE;

	if (lru->next == lru->words * WORD) {
		/* the line stays at least twice as long as there are pages */
		bool longer = lru->pages > lru->next / 4;

		if (lru->next > UINT32_MAX / 2)
			return lpl_fail(report, LPL_ERR_UNSUPPORTED,
					"lru: more distinct pages than 2^29");
		if (!move_together(lru, longer ? lru->words * 2 : lru->words))
			goto no_memory;
	}
	if (page > lru->pages) {
		uint32_t *slot = lpl_array_reach(lru->slot, &lru->slot_capacity, page,
						 sizeof(*slot));

		if (slot == NULL)
			goto no_memory;
		lru->slot = slot;
		lru->pages++;
	} else {
		size_t slot = lru->slot[page];

		depth = lru->pages - marks_to(lru, slot) + 1;
		lru->mark[slot / WORD] &= ~(UINT64_C(1) << slot % WORD);
		add_to_word(lru, slot / WORD, UINT32_MAX);	/* less 1 */
	}
	set_mark(lru, lru->next, page);
	add_to_word(lru, lru->next / WORD, 1);
	lru->next++;
	if (lpl_curve_reference(&policy->curve, page, depth, write))
		return LPL_OK;
no_memory:
	return lpl_fail(report, LPL_ERR_MEMORY, "lru: no memory for %u distinct pages",
			lru->pages);
}

static enum lpl_error lru_finish(struct lpl_policy *policy, struct lpl_report *report)
{
	struct lru *lru = (struct lru *)policy;
	uint32_t depth = 0;

	for (size_t slot = lru->next; slot-- > 0;) {
		if ((lru->mark[slot / WORD] >> slot % WORD & 1) == 0)
			continue;
		if (!lpl_curve_end(&policy->curve, lru->page[slot], ++depth))
			return lpl_fail(report, LPL_ERR_MEMORY,
					"lru: no memory for %u distinct pages", lru->pages);
	}
	return LPL_OK;
}

static void lru_close(struct lpl_policy *policy)
{
	struct lru *lru = (struct lru *)policy;

	lpl_curve_free(&policy->curve);
	free(lru->mark);
	free(lru->sum);
	free(lru->page);
	free(lru->slot);
	free(lru);
}

struct lpl_policy *lpl_lru_new(uint32_t largest)
{
	struct lru *lru = calloc(1, sizeof(*lru));

	(void)largest;	/* all sizes cost no more than one */
	if (lru == NULL)
		return NULL;
	lru->policy.reference = lru_reference;
	lru->policy.finish = lru_finish;
	lru->policy.close = lru_close;
	lpl_curve_init(&lru->policy.curve);
	if (!move_together(lru, FIRST_WORDS)) {
		lru_close(&lru->policy);
		return NULL;
	}
	return &lru->policy;
}
