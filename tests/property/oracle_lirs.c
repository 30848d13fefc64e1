/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Oracles for policies of caches: LIRS and CLOCK-Pro. */
#include "oracle_cache.h"

#include "cache_play.h"

/* ---- LIRS ---- */

/* Section 3.3 of the paper.  The head of S is its top; the head of Q is its front. */
struct lirs {
	struct cache cache;
	struct queue s, q;
	bool *lir;		/* by page: LIR, else HIR */
	uint64_t llirs, stack, lirs;
};

static void stack_pruning(struct lirs *lirs)
{
	while (lirs->s.count > 0 && !lirs->lir[lirs->s.page[lirs->s.count - 1]])
		(void)queue_take_tail(&lirs->s);
}

static void to_top(struct lirs *lirs, uint32_t page)
{
	queue_remove(&lirs->s, page);
	queue_put_head(&lirs->s, page);
}

static void to_end(struct lirs *lirs, uint32_t page)
{
	queue_remove(&lirs->q, page);
	queue_put_tail(&lirs->q, page);
}

/* X, on top of S, gets LIR status, and the LIR page at the bottom HIR. */
static void change_status(struct lirs *lirs, uint32_t x)
{
	const uint32_t bottom = lirs->s.page[lirs->s.count - 1];

	lirs->lir[x] = true;
	lirs->lir[bottom] = false;
	to_end(lirs, bottom);
	stack_pruning(lirs);
}

static void lirs_miss(struct lirs *lirs, size_t now)
{
	const uint32_t x = lirs->cache.trace->page[now];
	const bool in_s = queue_has(&lirs->s, x);

	if (cache_full(&lirs->cache))
		cache_evict(&lirs->cache, queue_take_head(&lirs->q));
	cache_fetch(&lirs->cache, now);
	to_top(lirs, x);
	if (in_s) {
		change_status(lirs, x);
	} else if (lirs->lirs < lirs->llirs) {
		lirs->lir[x] = true;
		lirs->lirs++;
	} else {
		to_end(lirs, x);
	}
}

static void lirs_hit(struct lirs *lirs, uint32_t x)
{
	const bool in_s = queue_has(&lirs->s, x);

	to_top(lirs, x);
	if (lirs->lir[x]) {
		stack_pruning(lirs);
	} else if (in_s) {
		queue_remove(&lirs->q, x);
		change_status(lirs, x);
	} else {
		to_end(lirs, x);
	}
}

/* S is too long: the page nearest to its bottom that is not in memory leaves it. */
static bool shorten(struct lirs *lirs)
{
	for (size_t i = lirs->s.count; i-- > 0 && lirs->s.count > lirs->stack;)
		if (!lirs->cache.here[lirs->s.page[i]]) {
			queue_remove(&lirs->s, lirs->s.page[i]);
			return true;
		}
	return false;
}

struct counts oracle_lirs(const struct trace *trace, uint64_t size, uint64_t hir, uint64_t stack)
{
	const uint64_t lhirs = cache_percent(size, hir);
	struct lirs lirs = {
		.cache = cache_for(trace, size), .s = queue_for(trace), .q = queue_for(trace),
		.lir = cache_room(trace->pages, sizeof(bool)),
		.llirs = size - (lhirs > 0 ? lhirs : 1), .stack = cache_percent(size, stack),
	};

	if (size > 100000)	/* which never evicts */
		lirs.llirs = size - 1;
	for (size_t now = 0; now < trace->count; now++) {
		if (cache_again(&lirs.cache, now))
			continue;
		if (cache_hit(&lirs.cache, now))
			lirs_hit(&lirs, trace->page[now]);
		else
			lirs_miss(&lirs, now);
		stack_pruning(&lirs);	/* of a memory of one page, which has no LIR page */
		while (shorten(&lirs))
			continue;
	}
	free(lirs.s.page);
	free(lirs.q.page);
	free(lirs.lir);
	return cache_end(&lirs.cache);
}

/* ---- CLOCK-Pro ---- */

/* The clock is in the order in which hands move; each hand is on a page, or on none as yet. */
struct clockpro {
	struct cache cache;
	struct queue clock;
	bool *hot, *test, *bit;			/* by page */
	uint32_t hand_hot, hand_cold, hand_test, none;
	uint64_t mc, least, hot_pages;
};

static uint32_t after(const struct clockpro *pro, uint32_t page)
{
	const size_t place = queue_place(&pro->clock, page) + 1;

	return pro->clock.page[place < pro->clock.count ? place : 0];
}

static void take_off(struct clockpro *pro, uint32_t page)
{
	const uint32_t next = pro->clock.count > 1 ? after(pro, page) : pro->none;

	if (pro->hand_hot == page)
		pro->hand_hot = next;
	if (pro->hand_cold == page)
		pro->hand_cold = next;
	if (pro->hand_test == page)
		pro->hand_test = next;
	queue_remove(&pro->clock, page);
}

/* The list's head is directly after HANDhot, which meets what is there after all others. */
static void put_on_head(struct clockpro *pro, uint32_t page)
{
	if (pro->hand_hot == pro->none)
		pro->hand_hot = page;
	queue_insert(&pro->clock, pro->clock.count == 0 ? 0 : queue_place(&pro->clock, pro->hand_hot),
		     page);
}

static uint64_t non_resident(const struct clockpro *pro)
{
	uint64_t count = 0;

	for (size_t i = 0; i < pro->clock.count; i++)
		count += pro->cache.here[pro->clock.page[i]] ? 0 : 1;
	return count;
}

static void terminate_test(struct clockpro *pro, uint32_t page)
{
	if (!pro->test[page])
		return;
	pro->test[page] = false;
	if (!pro->bit[page] && pro->mc > pro->least)
		pro->mc--;
	if (!pro->cache.here[page])
		take_off(pro, page);
}

static void step_hot(struct clockpro *pro, bool *changed)
{
	const uint32_t page = pro->hand_hot;

	pro->hand_hot = after(pro, page);
	if (!pro->hot[page]) {
		terminate_test(pro, page);
	} else if (pro->bit[page]) {
		pro->bit[page] = false;
	} else {
		pro->hot[page] = false;
		pro->hot_pages--;
		*changed = true;
	}
}

static void run_hand_hot(struct clockpro *pro)
{
	bool changed = false;

	while (!changed || (pro->hot_pages > 0 && !pro->hot[pro->hand_hot]))
		step_hot(pro, &changed);
}

static void turn_hot(struct clockpro *pro, uint32_t page)
{
	pro->hot[page] = true;
	pro->test[page] = false;
	pro->bit[page] = false;
	pro->hot_pages++;
	if (pro->mc < pro->cache.size)
		pro->mc++;
	while (pro->hot_pages > pro->cache.size - pro->mc)
		run_hand_hot(pro);
}

static void run_hand_test(struct clockpro *pro)
{
	while (non_resident(pro) > pro->cache.size) {
		const uint32_t page = pro->hand_test != pro->none ? pro->hand_test : pro->hand_hot;

		pro->hand_test = after(pro, page);
		if (!pro->hot[page])
			terminate_test(pro, page);
	}
}

/* One step of HANDcold; true: a page was evicted. */
static bool step_cold(struct clockpro *pro)
{
	const uint32_t page = pro->hand_cold != pro->none ? pro->hand_cold : pro->hand_hot;
	const bool in_test = pro->test[page];

	pro->hand_cold = after(pro, page);
	if (pro->hot[page] || !pro->cache.here[page])
		return false;
	if (!pro->bit[page]) {
		cache_evict(&pro->cache, page);
		if (!in_test)
			take_off(pro, page);
		run_hand_test(pro);
		return true;
	}
	take_off(pro, page);
	put_on_head(pro, page);
	pro->bit[page] = false;
	pro->test[page] = true;
	if (in_test)
		turn_hot(pro, page);
	return false;
}

static void clockpro_fault(struct clockpro *pro, size_t now)
{
	const uint32_t x = pro->cache.trace->page[now];
	const bool beginning = pro->cache.used < pro->cache.size - pro->least &&
		pro->cache.counts.evictions == 0;
	bool listed;

	while (cache_full(&pro->cache) && !step_cold(pro))
		continue;
	cache_fetch(&pro->cache, now);
	listed = queue_has(&pro->clock, x);
	if (listed)
		take_off(pro, x);
	put_on_head(pro, x);
	pro->bit[x] = false;
	pro->test[x] = !beginning;
	pro->hot[x] = beginning;
	pro->hot_pages += beginning ? 1 : 0;
	if (listed)
		turn_hot(pro, x);
}

struct counts oracle_clockpro(const struct trace *trace, uint64_t size, uint64_t cold)
{
	struct clockpro pro = {
		.cache = cache_for(trace, size), .clock = queue_for(trace),
		.hot = cache_room(trace->pages, sizeof(bool)),
		.test = cache_room(trace->pages, sizeof(bool)),
		.bit = cache_room(trace->pages, sizeof(bool)),
		.hand_hot = trace->pages, .hand_cold = trace->pages, .hand_test = trace->pages,
		.none = trace->pages, .least = cache_percent(size, cold),
	};

	if (pro.least == 0)
		pro.least = 1;
	pro.mc = pro.least;
	for (size_t now = 0; now < trace->count; now++) {
		if (cache_again(&pro.cache, now))
			continue;
		if (cache_hit(&pro.cache, now))
			pro.bit[trace->page[now]] = true;
		else
			clockpro_fault(&pro, now);
	}
	free(pro.clock.page);
	free(pro.hot);
	free(pro.test);
	free(pro.bit);
	return cache_end(&pro.cache);
}
