/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The worst evictions, and for each the best page that could have been evicted instead: of the pages
 * that would have been better, that which is used last.
 *
 * How many would have been better is known when the evicted page is used; which of them is the best is
 * known only when all others were used, or at the end.  So those evictions are followed: each page that
 * is used, and was resident and unused since such a moment, is one less, and the last one is the best.
 * If some are never used, all of these are equally good; named is that which was used last the longest ago.
 */
#include "state.h"

#include <stdlib.h>

bool lpl_regret_worst_init(struct lpl_regret *regret)
{
	const size_t worst = regret->options.worst;

	regret->worst = calloc(worst + 1, sizeof(*regret->worst));
	regret->shown = calloc(worst + 1, sizeof(*regret->shown));
	return regret->worst && regret->shown;
}

static bool is_worse(const struct lpl_regret_eviction *one, const struct lpl_regret_eviction *other)
{
	const uint64_t soon = one->next.ref - one->evicted.ref;
	const uint64_t other_soon = other->next.ref - other->evicted.ref;

	if (one->rank != other->rank)
		return one->rank > other->rank;
	return soon != other_soon ? soon < other_soon : one->number < other->number;
}

void lpl_regret_worst_add(struct lpl_regret *regret, const struct lpl_regret_eviction *eviction,
			  const struct page *page, const struct stay *stay)
{
	size_t *const count = &regret->results.worsts;
	size_t place = *count;

	if (*count == regret->options.worst) {
		if (place == 0 || !is_worse(eviction, &regret->worst[place - 1].result.eviction))
			return;
		place--;
	} else {
		++*count;
	}
	for (; place > 0 && is_worse(eviction, &regret->worst[place - 1].result.eviction); place--)
		regret->worst[place] = regret->worst[place - 1];
	regret->worst[place] = (struct tracked){
		.result.eviction = *eviction, .task = stay->eviction.task,
		.owner = page->owner, .moment = stay->moment, .unused = eviction->rank, .open = true
	};
}

static struct lpl_regret_clocks last_use(const struct lpl_regret *regret, const struct page *page)
{
	return page->canonical ? clocks_of_latest(&regret->latest[page->canonical]) :
				 (struct lpl_regret_clocks){ .ref = 0 };
}

/* In the order of their names, so that it does not matter which of several is looked at first. */
static bool is_before(const struct lpl_regret *regret, const struct page *page, const struct page *other)
{
	const struct lpl_regret_page a = lpl_regret_describe(regret, page), b = lpl_regret_describe(regret, other);
	const uint64_t one[] = { a.device, a.inode, a.generation, a.offset, a.space, a.virtual_page };
	const uint64_t two[] = { b.device, b.inode, b.generation, b.offset, b.space, b.virtual_page };
	size_t i = 0;

	while (i < sizeof(one) / sizeof(one[0]) - 1 && one[i] == two[i])
		i++;
	return one[i] < two[i];
}

static bool is_better(const struct lpl_regret *regret, const struct tracked *tracked,
		      const struct page *page)
{
	const uint64_t last = last_use(regret, page).ref, best_last = tracked->result.best_last.ref;

	if (!tracked->result.best_known)
		return true;
	return last != best_last ? last < best_last : is_before(regret, page, &tracked->best);
}

static void set_best(const struct lpl_regret *regret, struct tracked *tracked, const struct page *page)
{
	tracked->best = *page;
	tracked->result.best_known = true;
	tracked->result.best_last = last_use(regret, page);
}

void lpl_regret_worst_used(struct lpl_regret *regret, const struct page *page, uint32_t first,
			   uint32_t last)
{
	for (size_t i = 0; i < regret->results.worsts && first < last; i++) {
		struct tracked *tracked = &regret->worst[i];

		if (!tracked->open || tracked->moment <= first || tracked->moment > last ||
		    --tracked->unused > 0)
			continue;
		set_best(regret, tracked, page);
		tracked->result.best_next = regret->now;
		tracked->open = false;
	}
}

void lpl_regret_worst_ended(struct lpl_regret *regret, const struct page *page, uint32_t first,
			    uint32_t last)
{
	for (size_t i = 0; i < regret->results.worsts && first < last; i++) {
		struct tracked *tracked = &regret->worst[i];

		if (tracked->open && tracked->moment > first && tracked->moment <= last &&
		    is_better(regret, tracked, page))
			set_best(regret, tracked, page);
	}
}

/* ---- the end ---- */

static bool was_there(const struct lpl_regret *regret, const struct page *page, uint32_t moment)
{
	for (const struct stay *stay = page->stay; stay; stay = stay->next)
		if (moment > stay->first && moment <= stay->last)
			return true;
	return page->resident && moment > page->since && moment <= regret->moments.count;
}

void lpl_regret_worst_close(struct lpl_regret *regret, bool known)
{
	for (size_t i = 1; i < regret->pages && known; i++) {
		const struct page *page = &regret->page[i];

		if (page->kind == LPL_PAGE_KINDS || !page->counted)
			continue;
		for (size_t j = 0; j < regret->results.worsts; j++) {
			struct tracked *tracked = &regret->worst[j];

			if (tracked->open && was_there(regret, page, tracked->moment) &&
			    is_better(regret, tracked, page))
				set_best(regret, tracked, page);
		}
	}
	for (size_t i = 0; i < regret->results.worsts; i++) {
		if (regret->worst[i].open && !known)
			regret->worst[i].result.best_known = false;
		regret->worst[i].open = false;
	}
}

/* Names may have changed since. */
void lpl_regret_worst_finish(struct lpl_regret *regret)
{
	for (size_t i = 0; i < regret->results.worsts; i++) {
		struct tracked *tracked = &regret->worst[i];
		struct lpl_regret_eviction *eviction = &tracked->result.eviction;

		eviction->by = regret->task[tracked->task].name;
		if (eviction->page.kind != LPL_PAGE_ANONYMOUS)
			eviction->page.name = regret->file[tracked->owner].name;
		if (tracked->result.best_known)
			tracked->result.best = lpl_regret_describe(regret, &tracked->best);
		regret->shown[i] = tracked->result;
	}
	regret->results.worst = regret->shown;
}
