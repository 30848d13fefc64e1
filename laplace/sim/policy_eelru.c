/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * EELRU, early eviction LRU (Y. Smaragdakis, S. F. Kaplan, P. R. Wilson: "EELRU: simple
 * and effective adaptive page replacement", SIGMETRICS 1999), the variant of section
 * 3.2 with several pairs of early and late points, as it is used in section 4.
 *
 * GLRU (policy_glru.c) profits where more references are to places e to l on the recency axis
 * than LRU's first M would catch.  When it is in its steady state, a page between e and l
 * is in memory with the probability (M - e) / (l - e).  So of recent references `total`
 * to places in (e, l], and among them `early` to places in (e, M],
 *
 *	benefit = total * (M - e) / (l - e) - early
 *
 * is what evicting at e would have saved.  At a fault the pair with the largest benefit
 * decides (the first of equals).  The least recently used page goes when that benefit is
 * not above 0; or when a page beyond l is in memory; or when the page at l is, and the
 * fault is on a less recent one.  Otherwise the page at e goes.
 *
 * Recent: each pair has a time of its own, the references to its places (e, l], for only
 * these matter to it.  As it goes on, what was counted fades, such that the M-th most
 * recent counts `weight` percent of the most recent.  A fault counts before it is
 * decided on.
 *
 * All of this is in integers, so that there is one right result: in binary floating point two
 * benefits that are equal, or one that is 0, may come out either way, and pow() is not the same
 * everywhere.  A reference counts 2^56.  What was counted is multiplied by a factor of 64 binary
 * places and rounded down; the benefit's first term is rounded down, too.  docs/simulation.md
 * defines each number.
 *
 * A memory of one page has no places between its page and its end: it is LRU.
 *
 * What the paper leaves open.  With several early points the page at e may have been evicted
 * already, at a smaller one; then the next in memory after e is evicted.  The memory still keeps
 * everything up to the smallest early point.
 *
 * The points (section 4.1): early ones at 40, 60 and 80 percent of memory; for each the
 * late ones with which (M - e) / (l - e) is 2/3, 1/2, 1/3 and 1/4.  Places are rounded
 * down for e, which is 1 at least, and up for l.
 */
#include "history.h"
#include "simulation.h"

enum { OPTION_EARLY, OPTION_POINTS, OPTION_WEIGHT };

static const struct lpl_policy_option eelru_options[] = {
	[OPTION_EARLY] = {"early", 1, 99, 40},
	[OPTION_POINTS] = {"points", 1, LPL_MOST_EARLY, 3},
	[OPTION_WEIGHT] = {"weight", 1, 100, 30},
	{NULL, 0, 0, 0},
};

/* How much longer than the early region, from e to M, the way from e to l is; in halves. */
static const unsigned int reaches[] = {3, 4, 6, 8};
enum { REACHES = sizeof(reaches) / sizeof(reaches[0]), MOST_PAIRS = LPL_MOST_EARLY * REACHES };

typedef unsigned __int128 counter;	/* below 2^96 */

static const counter one = (counter)1 << 56;	/* what a reference counts */
static const counter most_counted = (counter)1 << 96;

struct pair {
	uint32_t early_boundary, late_boundary;
	uint32_t early_point;	/* its index in the history */
	uint64_t in_memory, in_all;	/* M - e and l - e */
	counter total, early;
};

struct eelru {
	struct lpl_history history;
	uint32_t memory_boundary;	/* at M */
	bool fades;
	uint64_t fading;		/* from one reference to the next, divided by 2^64 */
	uint32_t pairs;
	struct pair pair[MOST_PAIRS];
};

/* The i-th early point of a memory of `size` pages. */
static uint64_t early_point(const struct lpl_memory *memory, uint64_t size, uint64_t i)
{
	uint64_t first = memory->option[OPTION_EARLY];
	uint64_t points = memory->option[OPTION_POINTS];
	uint64_t place = lpl_percent(size, first + i * (100 - first) / points);

	return place != 0 ? place : 1;
}

static uint64_t late_point(uint64_t size, uint64_t early, unsigned int reach)
{
	return early + ((size - early) * reach + 1) / 2;
}

static enum lpl_error no_memory(const struct lpl_memory *memory, struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "eelru: no memory for %u frames", memory->used);
}

/* The product of two fractions of 2^64, rounded down. */
static uint64_t product(uint64_t a, uint64_t b)
{
	return (uint64_t)((counter)a * b >> 64);
}

/* A fraction to the power of n, from 1 on: n's binary digits after the first square, or more. */
static uint64_t power(uint64_t fraction, uint32_t n)
{
	uint64_t result = fraction;

	for (uint32_t digit = UINT32_C(1) << (31 - __builtin_clz(n)); digit > 1;) {
		digit >>= 1;
		result = product(result, result);
		if (n & digit)
			result = product(result, fraction);
	}
	return result;
}

/* The largest fraction of which the power is at most so many percent. */
static uint64_t root(uint64_t percent, uint32_t n)
{
	const uint64_t most = (uint64_t)(((counter)percent << 64) / 100);
	uint64_t found = 0;

	for (uint64_t bit = UINT64_C(1) << 63; bit != 0; bit >>= 1)
		if (power(found | bit, n) <= most)
			found |= bit;
	return found;
}

static void add_pair(struct eelru *eelru, uint64_t size, uint64_t early, uint64_t late)
{
	const struct lpl_lru_list *list = &eelru->history.list;

	eelru->pair[eelru->pairs++] = (struct pair){
		.early_boundary = lpl_lru_list_boundary(list, early),
		.late_boundary = lpl_lru_list_boundary(list, late),
		.early_point = lpl_history_add_early(&eelru->history, early),
		.in_memory = size - early,
		.in_all = late - early,
	};
}

static enum lpl_error eelru_open(struct lpl_memory *memory, struct lpl_report *report)
{
	struct eelru *eelru = memory->state;
	/* a memory that holds more than there can be never evicts */
	uint64_t size = memory->size < UINT32_MAX ? memory->size : UINT32_MAX;
	uint64_t points = memory->option[OPTION_POINTS];

	if (!lpl_history_init(&eelru->history))
		return no_memory(memory, report);
	lpl_lru_list_cut(&eelru->history.list, size);
	for (uint64_t i = 0; i < points && size > 1; i++) {
		uint64_t early = early_point(memory, size, i);

		lpl_lru_list_cut(&eelru->history.list, early);
		for (unsigned int j = 0; j < REACHES; j++)
			lpl_lru_list_cut(&eelru->history.list,
					 late_point(size, early, reaches[j]));
	}
	for (uint64_t i = 0; i < points && size > 1; i++) {
		uint64_t early = early_point(memory, size, i);

		for (unsigned int j = 0; j < REACHES; j++)
			add_pair(eelru, size, early, late_point(size, early, reaches[j]));
	}
	eelru->memory_boundary = lpl_lru_list_boundary(&eelru->history.list, size);
	eelru->fades = size > 1 && memory->option[OPTION_WEIGHT] < 100;
	if (eelru->fades)
		eelru->fading = root(memory->option[OPTION_WEIGHT], (uint32_t)(size - 1));
	return LPL_OK;
}

/* What was counted, at the next reference: rounded down, though it has more than 64 bits. */
static counter fade(const struct eelru *eelru, counter counted)
{
	return !eelru->fades ? counted : (counted >> 64) * eelru->fading +
		product((uint64_t)counted, eelru->fading);
}

/* A page in `region` is referenced. */
static void count(struct eelru *eelru, uint32_t region)
{
	for (uint32_t i = 0; i < eelru->pairs; i++) {
		struct pair *pair = &eelru->pair[i];

		if (region <= pair->early_boundary || region > pair->late_boundary)
			continue;
		pair->total = fade(eelru, pair->total);
		pair->early = fade(eelru, pair->early);
		if (pair->total > most_counted - one)
			continue;	/* nothing fades, after 2^40 references */
		pair->total += one;
		if (region <= eelru->memory_boundary)
			pair->early += one;
	}
}

static void eelru_hit(struct lpl_memory *memory, uint32_t frame)
{
	struct eelru *eelru = memory->state;
	uint32_t node = ((uint32_t *)memory->frame)[frame];
	uint32_t region = eelru->history.node[node].place.region;

	if (region != 0)
		count(eelru, region);
	lpl_history_hit(&eelru->history, node);
}

/* The pair with the largest benefit, if that is above 0; else NULL. */
static const struct pair *best_pair(const struct eelru *eelru)
{
	const struct pair *best = NULL;
	counter most = 0;

	for (uint32_t i = 0; i < eelru->pairs; i++) {
		const struct pair *pair = &eelru->pair[i];
		const counter saved = pair->total * pair->in_memory / pair->in_all;

		if (saved > pair->early && saved - pair->early > most) {
			most = saved - pair->early;
			best = pair;
		}
	}
	return best;
}

static uint32_t eelru_evict(struct lpl_memory *memory, uint32_t page)
{
	struct eelru *eelru = memory->state;
	struct lpl_history *history = &eelru->history;
	uint32_t region = lpl_history_region(history, page);
	const struct pair *pair;

	count(eelru, region);
	pair = best_pair(eelru);
	if (pair == NULL || lpl_history_oldest_region(history) > pair->late_boundary ||
	    (lpl_history_is_here(history, pair->late_boundary) && region > pair->late_boundary))
		return lpl_history_evict_oldest(history);
	return lpl_history_evict_early(history, pair->early_point);
}

static enum lpl_error eelru_admit(struct lpl_memory *memory, uint32_t frame, uint32_t page,
				  struct lpl_report *report)
{
	struct eelru *eelru = memory->state;
	uint32_t node = lpl_history_admit(&eelru->history, page, frame);

	((uint32_t *)memory->frame)[frame] = node;
	return node != LPL_NO_NODE ? LPL_OK : no_memory(memory, report);
}

static void eelru_close(struct lpl_memory *memory)
{
	lpl_history_free(&((struct eelru *)memory->state)->history);
}

static uint64_t eelru_lru_part(const struct lpl_memory *memory)
{
	return early_point(memory, memory->size, 0);
}

const struct lpl_policy lpl_policy_eelru = {
	.name = "eelru",
	.options = eelru_options,
	.state_size = sizeof(struct eelru),
	.frame_size = sizeof(uint32_t),	/* the page's node */
	.open = eelru_open,
	.hit = eelru_hit,
	.evict = eelru_evict,
	.admit = eelru_admit,
	.close = eelru_close,
	.lru_part = eelru_lru_part,
};
