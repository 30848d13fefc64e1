/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sums over evictions, which are counted when their outcome is known: in all, by kind, reclaimer, file,
 * process and time.
 *
 * Of time there is a fixed number of bins, which become twice as long whenever the trace lasts longer
 * than all of them; two become one exactly.
 */
#include "state.h"

#include "merge/pages.h"

/* ---- time ---- */

static unsigned int bin_of(const struct lpl_regret *regret, uint64_t cycle)
{
	const uint64_t first = regret->results.first.cycle;

	return cycle > first ? (unsigned int)((cycle - first) >> regret->results.bin_shift) : 0;
}

static void add(struct lpl_regret_counts *sum, const struct lpl_regret_counts *what)
{
	sum->evicted += what->evicted;
	for (int i = 0; i < LPL_REGRET_OUTCOMES; i++)
		sum->outcome[i] += what->outcome[i];
	sum->returned += what->returned;
	sum->optimal += what->optimal;
	sum->written += what->written;
	sum->better += what->better;
	sum->brought += what->brought;
	sum->unused += what->unused;
}

void lpl_regret_advance(struct lpl_regret *regret, struct lpl_regret_clocks now)
{
	struct lpl_regret_results *results = &regret->results;

	if (!regret->begun)
		results->first = now;
	regret->begun = true;
	regret->now = now;
	/* clocks that run backwards are the audit's affair */
	if (now.cycle < results->last.cycle)
		now.cycle = results->last.cycle;
	results->last = now;
	while ((now.cycle - results->first.cycle) >> results->bin_shift >= LPL_REGRET_BINS) {
		for (unsigned int i = 0; i < LPL_REGRET_BINS / 2; i++) {
			struct lpl_regret_counts both = results->bin[2 * i];

			add(&both, &results->bin[2 * i + 1]);
			results->bin[i] = both;
		}
		for (unsigned int i = LPL_REGRET_BINS / 2; i < LPL_REGRET_BINS; i++)
			results->bin[i] = (struct lpl_regret_counts){ .evicted = 0 };
		results->bin_shift++;
	}
	results->bins = bin_of(regret, now.cycle) + 1;
}

/* ---- evictions ---- */

/* To all sums that a page is counted in, and to that of the interval which has the cycle. */
static void add_of_page(struct lpl_regret *regret, const struct page *page, uint64_t cycle,
			const struct lpl_regret_counts *what)
{
	struct lpl_regret_results *results = &regret->results;

	add(&results->all, what);
	add(&results->by_kind[page->kind == LPL_PAGE_ANONYMOUS ? LPL_PAGE_ANONYMOUS : regret->file[page->owner].kind],
	    what);
	add(&results->bin[bin_of(regret, cycle)], what);
	if (page->owner == NO_OWNER)
		return;
	add(page->kind == LPL_PAGE_ANONYMOUS ? &regret->process[page->owner].counts :
					       &regret->file[page->owner].counts, what);
}

static unsigned int rank_class(uint64_t rank, uint64_t resident)
{
	if (rank == 0)
		return 0;
	/* up to 10 % is 1; there are fewer than 2^32 pages */
	return rank >= resident ? LPL_REGRET_RANKS - 1 : 1 + (unsigned int)((rank * 10 - 1) / resident);
}

static unsigned int bits_of(uint64_t number)
{
	return number ? 64 - (unsigned int)__builtin_clzll(number) : 0;
}

static void count(struct lpl_regret *regret, const struct page *page,
		  const struct lpl_regret_eviction *eviction)
{
	struct lpl_regret_results *results = &regret->results;
	struct lpl_regret_counts what = {
		.evicted = 1, .returned = eviction->is_back, .written = eviction->dirty == 1,
		.better = eviction->rank > 0, .unused = eviction->unused
	};
	const uint64_t reclaimer = eviction->reclaimer < KTR_RECLAIM_OTHER ? eviction->reclaimer :
								    KTR_RECLAIM_OTHER;

	what.outcome[eviction->outcome] = 1;
	add_of_page(regret, page, eviction->evicted.cycle, &what);
	add(&results->by_reclaimer[reclaimer], &what);
	if (eviction->outcome != LPL_REGRET_USED)
		return;
	results->by_rank[rank_class(eviction->rank, eviction->resident)]++;
	results->by_distance[bits_of(eviction->next.ref - eviction->evicted.ref)]++;
}

void lpl_regret_count_optimal(struct lpl_regret *regret, const struct page *page)
{
	add_of_page(regret, page, regret->now.cycle, &(struct lpl_regret_counts){ .optimal = 1 });
}

void lpl_regret_count_brought(struct lpl_regret *regret, const struct page *page)
{
	add_of_page(regret, page, regret->now.cycle, &(struct lpl_regret_counts){ .brought = 1 });
}

/* Which processes have to do with it. */
static bool count_processes(struct lpl_regret *regret, const struct eviction *eviction,
			    enum lpl_regret_outcome outcome)
{
	const struct lpl_merge_task *running = lpl_merge_running(regret->merge);
	uint32_t process;

	regret->process[regret->task[eviction->task].process].reclaimed++;
	if (outcome != LPL_REGRET_USED)
		return true;
	process = lpl_regret_process(regret, running->process, running->tgid);
	if (!process)
		return false;
	regret->process[process - 1].missed++;
	return true;
}

enum lpl_error lpl_regret_report(struct lpl_regret *regret, const struct page *page,
				 const struct stay *stay, enum lpl_regret_outcome outcome,
				 uint64_t rank, struct lpl_report *report)
{
	const struct eviction *from = &stay->eviction;
	const struct task *task = &regret->task[from->task];
	const struct lpl_regret_eviction eviction = {
		.number = from->number, .moment = from->moment,
		.page = lpl_regret_describe(regret, page), .outcome = outcome,
		.evicted = from->when,
		.last = page->canonical && !from->blind ? clocks_of_latest(&regret->latest[page->canonical]) :
							  (struct lpl_regret_clocks){ .ref = 0 },
		.next = outcome == LPL_REGRET_USED ? regret->now :
						     (struct lpl_regret_clocks){ .ref = 0 },
		.is_back = from->is_back, .returned = from->returned, .rank = rank,
		.resident = from->resident, .reclaimer = from->reclaimer, .tid = task->tid,
		.tgid = task->tgid, .by = task->name, .dirty = from->dirty,
		.unused = from->unused
	};

	count(regret, page, &eviction);
	if (!count_processes(regret, from, outcome))
		return lpl_regret_no_memory(report);
	if (rank > 0)
		lpl_regret_worst_add(regret, &eviction, page, stay);
	return regret->options.eviction ?
		regret->options.eviction(regret->options.context, &eviction, report) : LPL_OK;
}
