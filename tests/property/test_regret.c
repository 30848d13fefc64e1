/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * <laplace/regret.h> against its definitions, by brute force (oracle_regret.h), for guests at random
 * (regret_guest.h); and workloads of which the regret is known by construction.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "regret_guest.h"

#define WORST	5

static enum lpl_error hear(void *context, const struct lpl_regret_eviction *eviction,
			   struct lpl_report *report)
{
	struct trial *trial = context;

	(void)report;
	assert_in_range(eviction->number, 1, LOG_LINES);
	assert_int_equal(trial->heard[eviction->number - 1].number, 0);
	trial->heard[eviction->number - 1] = *eviction;
	trial->heards++;
	return LPL_OK;
}

static struct trial *open_trial(uint64_t seed)
{
	struct trial *trial = calloc(1, sizeof(*trial));
	struct lpl_report report = { 0 };
	struct lpl_regret_options options = { .eviction = hear, .worst = WORST };

	assert_non_null(trial);
	trial->heard = calloc(LOG_LINES, sizeof(*trial->heard));
	assert_non_null(trial->heard);
	trial->state = seed;
	options.context = trial;
	assert_int_equal(lpl_regret_open(&trial->regret, &options, &report), LPL_OK);
	trial->sink = lpl_regret_sink(trial->regret);
	for (unsigned int i = 0; i < FILES; i++) {
		trial->file[i] = (struct guest_file){
			.device = i == SHARED ? 5 : i == 2 ? 20 : UINT64_C(0x800001), .inode = 40 + i
		};
		for (unsigned int j = 0; j < OFFSETS; j++)
			trial->file[i].page[j] = NONE;
		SEND(trial, KTR_FILE, trial->file[i].device, trial->file[i].inode, 0, 0);
	}
	memset(trial->of, 0xff, sizeof(trial->of));
	return trial;
}

static void close_trial(struct trial *trial)
{
	lpl_regret_close(trial->regret);
	free(trial->heard);
	free(trial);
}

/* ---- what was reported ---- */

static void check_place(const struct trial *trial, uint32_t page, const struct lpl_regret_page *heard)
{
	for (unsigned int i = 0; i < FILES; i++)
		for (unsigned int j = 0; j < OFFSETS; j++)
			if (trial->file[i].page[j] == page) {
				assert_int_equal(heard->inode, trial->file[i].inode);
				assert_int_equal(heard->device, trial->file[i].device);
				assert_int_equal(heard->offset, j);
				/* until it is referenced, shared memory is any file */
				assert_true(heard->kind == LPL_PAGE_FILE ||
					    (i == SHARED && heard->kind == LPL_PAGE_SHM));
			}
	for (unsigned int i = 0; i < SPACES; i++)
		for (unsigned int j = 0; j < ANONYMOUS; j++)
			if (trial->of[i][j] == page) {
				assert_int_equal(heard->kind, LPL_PAGE_ANONYMOUS);
				assert_int_equal(heard->virtual_page, (AT_ANONYMOUS >> 12) + j);
			}
}

static void check_eviction(const struct trial *trial, const struct regret_answer *answer,
			   const struct lpl_regret_eviction *heard)
{
	assert_int_equal(heard->outcome, answer->outcome);
	assert_int_equal(heard->resident, answer->resident);
	assert_int_equal(heard->rank, answer->rank);
	assert_int_equal(heard->evicted.ref, answer->evicted);
	assert_int_equal(heard->last.ref, answer->last);
	assert_int_equal(heard->next.ref, answer->next);
	assert_int_equal(heard->next.cycle, 3 * answer->next);
	assert_int_equal(heard->is_back, answer->is_back);
	assert_int_equal(heard->unused, answer->unused);
	check_place(trial, answer->page, &heard->page);
}

static const struct regret_answer *choose_worst(const struct regret_answer *answer, size_t count,
						bool *chosen)
{
	const struct regret_answer *worst = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct regret_answer *it = &answer[i];

		if (chosen[i] || it->rank == 0)
			continue;
		if (!worst || it->rank > worst->rank ||
		    (it->rank == worst->rank &&
		     it->next - it->evicted < worst->next - worst->evicted))
			worst = it;
	}
	if (worst)
		chosen[worst - answer] = true;
	return worst;
}

static void check_worst(const struct trial *trial, const struct lpl_regret_results *results,
			const struct regret_answer *answer, size_t count, bool cuts)
{
	bool *chosen = calloc(count + 1, sizeof(*chosen));
	size_t i;

	assert_non_null(chosen);
	for (i = 0; i < WORST; i++) {
		const struct regret_answer *worst = choose_worst(answer, count, chosen);

		if (!worst)
			break;
		assert_true(i < results->worsts);
		assert_int_equal(results->worst[i].eviction.number, worst - answer + 1);
		if (cuts)
			continue;
		/* of those that are never used again, it may be that all ended before this was known */
		assert_true(results->worst[i].best_known || worst->best_next == 0);
		assert_int_equal(results->worst[i].best_next.ref, worst->best_next);
		if (worst->best_next)
			check_place(trial, worst->best, &results->worst[i].best);
	}
	assert_int_equal(results->worsts, i);
	free(chosen);
}

static void check_sums(const struct lpl_regret_results *results)
{
	uint64_t evicted = 0, optimal = 0, returned = 0, by_bin = 0, optimal_by_bin = 0, outcomes = 0;
	uint64_t brought = results->by_kind[LPL_PAGE_ANONYMOUS].brought, brought_by_bin = 0;

	for (size_t i = 0; i < results->files; i++) {
		evicted += results->file[i].counts.evicted;
		optimal += results->file[i].counts.optimal;
		returned += results->file[i].counts.returned;
		brought += results->file[i].counts.brought;
	}
	evicted += results->by_kind[LPL_PAGE_ANONYMOUS].evicted;
	optimal += results->by_kind[LPL_PAGE_ANONYMOUS].optimal;
	returned += results->by_kind[LPL_PAGE_ANONYMOUS].returned;
	for (unsigned int i = 0; i < LPL_REGRET_BINS; i++) {
		by_bin += results->bin[i].evicted;
		optimal_by_bin += results->bin[i].optimal;
		brought_by_bin += results->bin[i].brought;
		assert_true(i < results->bins || results->bin[i].evicted == 0);
	}
	for (int i = 0; i < LPL_REGRET_OUTCOMES; i++)
		outcomes += results->all.outcome[i];
	assert_int_equal(evicted, results->all.evicted);
	assert_int_equal(optimal, results->all.optimal);
	assert_int_equal(returned, results->all.returned);
	assert_int_equal(by_bin, evicted);
	assert_int_equal(optimal_by_bin, optimal);
	assert_int_equal(brought, results->all.brought);
	assert_int_equal(brought_by_bin, brought);
	assert_true(results->all.unused <= brought);
	assert_int_equal(outcomes, evicted);
	assert_int_equal(results->evictions, evicted);
	assert_int_equal(results->reclaimed, evicted + results->unknown);
	assert_true(optimal <= returned);
}

static void finish(struct trial *trial, bool cuts)
{
	const struct lpl_regret_results *results;
	struct lpl_report report = { 0 };
	struct regret_answer *answer;
	size_t count;
	uint64_t exhaustive, returned = 0, unused = 0;

	send_references(trial);
	/* that the last window ends before the trace does is no reason to know less */
	if (cuts) {
		const struct lpl_event off = { .tag = LPL_EVENT_TRACING };

		assert_int_equal(trial->sink->event(trial->sink, &off, &report), LPL_OK);
	}
	assert_int_equal(trial->sink->finish(trial->sink, &report), LPL_OK);
	results = lpl_regret_results(trial->regret);
	answer = regret_oracle(&trial->log, &count);
	assert_non_null(answer);
	assert_int_equal(trial->heards, count);
	for (size_t i = 0; i < count; i++) {
		check_eviction(trial, &answer[i], &trial->heard[i]);
		returned += answer[i].is_back;
		unused += answer[i].unused;
	}
	assert_int_equal(results->all.returned, returned);
	assert_int_equal(results->all.unused, unused);
	assert_int_equal(results->all.brought, trial->log.brought);
	check_sums(results);
	check_worst(trial, results, answer, count, cuts);
	assert_int_equal(results->all.optimal, regret_oracle_belady(&trial->log));
	exhaustive = regret_oracle_exhaustive(&trial->log);
	if (exhaustive != UINT64_MAX)
		assert_int_equal(results->all.optimal, exhaustive);
	free(answer);
}

static uint64_t running;	/* the seed; 0: none */

static int show_seed(void **state)
{
	(void)state;
	if (running)
		print_message("seed %llu\n", (unsigned long long)running);
	running = 0;
	return 0;
}

static void many_guests(unsigned int guests, unsigned int steps, unsigned int cuts)
{
	for (uint64_t seed = 1; seed <= guests; seed++) {
		struct trial *trial = open_trial(seed * UINT64_C(0x9e3779b97f4a7c15));

		running = seed;
		for (unsigned int i = 0; i < steps; i++)
			act(trial, cuts);
		finish(trial, cuts != 0);
		close_trial(trial);
	}
	running = 0;
}

/* So short that all choices of OPT can be tried. */
static void test_short_guests(void **state)
{
	(void)state;
	many_guests(1500, 40, 0);
}

/* So long that moments are compacted, several times. */
static void test_long_guests(void **state)
{
	(void)state;
	many_guests(12, 1500, 0);
	many_guests(150, 300, 0);
}

static void test_cut_guests(void **state)
{
	(void)state;
	many_guests(200, 150, 4);
}

/* ---- workloads of which the regret is known ---- */

#define RIGGED 77	/* the inode */

struct rigged {
	struct trial *trial;
	uint32_t page[64];
};

static struct rigged open_rigged(void)
{
	struct rigged rigged = { .trial = open_trial(1) };

	for (unsigned int i = 0; i < 64; i++)
		rigged.page[i] = new_page(rigged.trial, 0);
	SEND(rigged.trial, KTR_FILE, 0x800001, RIGGED);
	return rigged;
}

/* Read into memory, and used, at the kernel's address. */
static void rig_read(struct rigged *rigged, unsigned int at)
{
	SEND(rigged->trial, KTR_CACHE_ADD, 0x800001, RIGGED, at, 1000 + at, 1,
	     ALIAS + ((1000 + at) << 12));
	write_page(rigged->trial, DEED_BRING, rigged->page[at]);
}

static void rig_use(struct rigged *rigged, unsigned int at)
{
	refer(rigged->trial, 1, ALIAS + ((1000 + at) << 12), LPL_READ);
	write_page(rigged->trial, DEED_USE, rigged->page[at]);
}

static void rig_reclaim(struct rigged *rigged, unsigned int at)
{
	SEND(rigged->trial, KTR_CACHE_REMOVE, 0x800001, RIGGED, at, 1000 + at, 1);
	write_page(rigged->trial, DEED_LEAVE, rigged->page[at]);
	SEND(rigged->trial, KTR_RECLAIM, 0x800001, RIGGED, at, 1000 + at, 1, KTR_NONE, 0, 0);
	write_page(rigged->trial, DEED_RECLAIM, rigged->page[at]);
}

/* LRU and a loop of one page more than memory has: what is evicted is what is used next. */
static void test_loop(void **state)
{
	enum { MEMORY = 8, ROUNDS = 20, ACCESSES = ROUNDS * (MEMORY + 1) };
	struct rigged rigged = open_rigged();
	const struct lpl_regret_results *results;

	(void)state;
	for (unsigned int i = 0; i < ACCESSES; i++) {
		const unsigned int at = i % (MEMORY + 1);

		if (i >= MEMORY)
			rig_reclaim(&rigged, (at + 1) % (MEMORY + 1));
		rig_read(&rigged, at);
		rig_use(&rigged, at);
	}
	finish(rigged.trial, false);
	results = lpl_regret_results(rigged.trial->regret);
	assert_int_equal(results->all.evicted, ACCESSES - MEMORY);
	assert_int_equal(results->all.returned, ACCESSES - MEMORY - 1);
	/* each of the others would have been better, but for the one that never comes again */
	assert_int_equal(results->all.better, ACCESSES - MEMORY - 1);
	assert_int_equal(results->by_rank[LPL_REGRET_RANKS - 1], ACCESSES - MEMORY - 1);
	for (size_t i = 0; i < rigged.trial->heards; i++)
		if (rigged.trial->heard[i].outcome == LPL_REGRET_USED) {
			assert_int_equal(rigged.trial->heard[i].rank, MEMORY - 1);
			assert_int_equal(rigged.trial->heard[i].next.ref -
					 rigged.trial->heard[i].evicted.ref, 2);
		}
	/*
	 * The kernel evicts at every access, so that MEMORY - 1 pages are kept over each, and in each round
	 * but the first the other two of the loop are read.
	 */
	assert_int_equal(results->all.optimal, (ROUNDS - 1) * 2);
	close_trial(rigged.trial);
}

/* Hot pages, and a scan: a kernel that evicts what was scanned has nothing to regret. */
static void scan_beside_hot(bool evict_hot)
{
	enum { HOT = 4, SCANNED = 40, KEPT = 6 };
	struct rigged rigged = open_rigged();
	const struct lpl_regret_results *results;

	for (unsigned int i = 0; i < HOT; i++)
		rig_read(&rigged, i);
	for (unsigned int i = HOT; i < HOT + SCANNED; i++) {
		const unsigned int hot = i % HOT;

		if (i >= HOT + KEPT && !evict_hot)
			rig_reclaim(&rigged, i - KEPT);
		rig_read(&rigged, i);
		rig_use(&rigged, i);
		for (unsigned int j = 0; j < HOT; j++)
			rig_use(&rigged, (hot + j) % HOT);
		if (evict_hot && i >= HOT + KEPT) {
			rig_reclaim(&rigged, (hot + 1) % HOT);
			rig_read(&rigged, (hot + 1) % HOT);
		}
	}
	finish(rigged.trial, false);
	results = lpl_regret_results(rigged.trial->regret);
	assert_int_equal(results->all.evicted, SCANNED - KEPT);
	if (!evict_hot) {
		assert_int_equal(results->all.outcome[LPL_REGRET_NEVER], SCANNED - KEPT);
		assert_int_equal(results->all.better, 0);
		assert_int_equal(results->all.returned, 0);
	} else {
		/* but for the last one, each is used while all that was scanned is not */
		assert_int_equal(results->all.better, SCANNED - KEPT - 1);
		assert_int_equal(results->all.returned, SCANNED - KEPT);
		for (size_t i = 0; i + 1 < rigged.trial->heards; i++)
			assert_true(rigged.trial->heard[i].rank > KEPT);
	}
	assert_int_equal(results->all.optimal, 0);
	close_trial(rigged.trial);
}

static void test_scan(void **state)
{
	(void)state;
	scan_beside_hot(false);
	scan_beside_hot(true);
}

/* Used just before, and just after: every other page would have been better. */
static void test_just_used(void **state)
{
	struct rigged rigged = open_rigged();
	const struct lpl_regret_results *results;

	(void)state;
	for (unsigned int i = 0; i < 10; i++) {
		rig_read(&rigged, i);
		rig_use(&rigged, i);
	}
	rig_reclaim(&rigged, 9);
	rig_read(&rigged, 9);
	rig_use(&rigged, 9);
	rig_use(&rigged, 5);
	finish(rigged.trial, false);
	results = lpl_regret_results(rigged.trial->regret);
	assert_int_equal(results->all.evicted, 1);
	assert_int_equal(results->worsts, 1);
	assert_int_equal(results->worst[0].eviction.rank, 9);
	assert_int_equal(results->worst[0].eviction.resident, 9);
	assert_int_equal(results->worst[0].eviction.last.ref, 10);
	assert_int_equal(results->worst[0].eviction.next.ref, 11);
	assert_int_equal(results->worst[0].best.offset, 0);
	assert_int_equal(results->worst[0].best_next.ref, 0);
	assert_int_equal(results->all.returned - results->all.optimal, 1);
	close_trial(rigged.trial);
}

/* Of eleven pages two are used later: 18 %, which is more than 10, and less than 20. */
static void test_share(void **state)
{
	struct rigged rigged = open_rigged();

	(void)state;
	for (unsigned int i = 0; i < 12; i++) {
		rig_read(&rigged, i);
		rig_use(&rigged, i);
	}
	rig_reclaim(&rigged, 11);
	for (unsigned int i = 0; i < 9; i++)
		rig_use(&rigged, i);
	rig_read(&rigged, 11);
	rig_use(&rigged, 11);
	finish(rigged.trial, false);
	assert_int_equal(rigged.trial->heard[0].rank, 2);
	assert_int_equal(rigged.trial->heard[0].resident, 11);
	assert_int_equal(lpl_regret_results(rigged.trial->regret)->by_rank[2], 1);
	close_trial(rigged.trial);
}

/* Segments are on the device of other shared memory, which events of their pages have, though their names do not. */
static void segments_beside_shared(bool segment_first)
{
	enum { DEVICE = 5, SHARED_INODE = 43, FRAME = 500 };
	const uint64_t inode[] = { SHARED_INODE, KTR_INODE_SYSV | SHARED_INODE };
	const uint64_t first = inode[segment_first], second = inode[!segment_first];
	struct trial *trial = open_trial(1);
	const struct lpl_regret_results *results = lpl_regret_results(trial->regret);

	SEND(trial, KTR_CACHE_ADD, DEVICE, first, 0, FRAME, 1, KTR_NONE);
	SEND(trial, KTR_CACHE_ADD, DEVICE, second, 0, FRAME + 1, 1, KTR_NONE);
	assert_int_equal(results->resident, 0);
	SEND(trial, KTR_CACHE_REMOVE, DEVICE, first, 0, FRAME, 1);
	SEND(trial, KTR_SWAP_OUT, 0, 0, 900, FRAME, 1, DEVICE, first, 0);
	assert_int_equal(results->resident, 2);
	SEND(trial, KTR_CACHE_ADD, DEVICE, second, 1, FRAME + 2, 1, KTR_NONE);
	assert_int_equal(results->resident, 3);
	close_trial(trial);
	/* the first segment comes later */
	trial = open_trial(1);
	results = lpl_regret_results(trial->regret);
	SEND(trial, KTR_CACHE_ADD, DEVICE, inode[0], 0, FRAME, 1, KTR_NONE);
	SEND(trial, KTR_SWAP_OUT, 0, 0, 900, FRAME, 1, DEVICE, inode[0], 0);
	SEND(trial, KTR_CACHE_ADD, DEVICE, inode[1], 0, FRAME + 1, 1, KTR_NONE);
	assert_int_equal(results->resident, 2);
	close_trial(trial);
}

static void test_segments(void **state)
{
	(void)state;
	segments_beside_shared(false);
	segments_beside_shared(true);
}

/*
 * A program that ends is cleared away while its pages go on to swap.  They are known no more; so an entry that one of
 * them has now is not that of the page that had it before.
 */
static void test_ended_program(void **state)
{
	enum { SPACE = 40, ENDED = 41, AT = 0x10000, SLOT = 900, LATER = 901 };
	struct trial *trial = open_trial(1);
	struct lpl_report report = { 0 };
	const struct lpl_regret_results *results;

	(void)state;
	SEND(trial, KTR_MAP, SPACE, AT, AT + 2 * 4096, 3, KTR_MAP_ANONYMOUS, 0, KTR_NONE);
	refer(trial, SPACE, AT, LPL_WRITE);
	SEND(trial, KTR_SWAP_OUT, SPACE, AT, SLOT, 7, 1, 0, KTR_NONE);
	SEND(trial, KTR_RECLAIM, 0, KTR_NONE, 0, 7, 1, SLOT, 0, 1);
	SEND(trial, KTR_SWAP_IN, SPACE, AT, SLOT, 8, 1, 0, KTR_NONE);
	refer(trial, SPACE, AT, LPL_WRITE);
	/* the entry is free again, and one of another page */
	SEND(trial, KTR_SWAP_OUT, ENDED, AT, SLOT, 9, 1, 0, KTR_NONE);
	SEND(trial, KTR_RECLAIM, 0, KTR_NONE, 0, 9, 1, SLOT, 0, 1);
	/* what both programs have goes to swap, in either order */
	SEND(trial, KTR_SWAP_OUT, ENDED, AT, LATER, 8, 1, 0, KTR_NONE);
	SEND(trial, KTR_SWAP_OUT, SPACE, AT, LATER, 8, 1, 0, KTR_NONE);
	SEND(trial, KTR_SWAP_OUT, ENDED, AT, LATER, 8, 1, 0, KTR_NONE);
	SEND(trial, KTR_RECLAIM, 0, KTR_NONE, 0, 8, 1, LATER, 0, 1);
	send_references(trial);
	assert_int_equal(trial->sink->finish(trial->sink, &report), LPL_OK);
	results = lpl_regret_results(trial->regret);
	assert_int_equal(results->reclaimed, 3);
	assert_int_equal(results->unknown, 1);
	assert_int_equal(results->all.evicted, 2);
	close_trial(trial);
}

static void schedule(struct trial *trial, uint64_t tid, uint64_t space)
{
	SEND(trial, KTR_SCHEDULE, 50, 0, tid, tid, space);
}

/* What is at a place goes to swap, and is reclaimed. */
static void swap_and_reclaim(struct trial *trial, uint64_t space, uint64_t at, uint64_t slot)
{
	SEND(trial, KTR_SWAP_OUT, space, at, slot, slot, 1, 0, KTR_NONE);
	SEND(trial, KTR_RECLAIM, 0, KTR_NONE, 0, slot, 1, slot, 0, 1);
}

/*
 * After vfork() a space is of two processes, until the child executes a program: what is touched first then is of
 * that which runs, and what is not touched at all of that which had the space first.
 */
static void test_processes(void **state)
{
	enum { SPACE = 40, OTHER = 41, PARENT = 60, CHILD = 61, AT = 0x10000, UNTOUCHED = AT + 4096, SLOT = 900 };
	const uint64_t evicted[] = { PARENT, CHILD, PARENT, CHILD, PARENT };
	struct trial *trial = open_trial(1);
	struct lpl_report report = { 0 };
	const struct lpl_regret_results *results;

	(void)state;
	SEND(trial, KTR_TASK_CREATE, PARENT, PARENT, SPACE);
	SEND(trial, KTR_MAP, SPACE, AT, AT + 4 * 4096, 3, KTR_MAP_ANONYMOUS, 0, KTR_NONE);
	SEND(trial, KTR_TASK_CREATE, CHILD, CHILD, SPACE);
	schedule(trial, CHILD, SPACE);
	refer(trial, SPACE, AT + 2 * 4096, LPL_WRITE);
	SEND(trial, KTR_SPACE_ASSIGN, CHILD, CHILD, OTHER);
	schedule(trial, PARENT, SPACE);
	refer(trial, SPACE, AT, LPL_WRITE);
	schedule(trial, CHILD, OTHER);
	swap_and_reclaim(trial, SPACE, AT, SLOT);
	swap_and_reclaim(trial, SPACE, AT + 2 * 4096, SLOT + 1);
	swap_and_reclaim(trial, SPACE, UNTOUCHED, SLOT + 2);
	/* the number is given to a space of the child's */
	SEND(trial, KTR_SPACE_END, SPACE);
	SEND(trial, KTR_EXIT, PARENT, PARENT, 0, 1);
	SEND(trial, KTR_SPACE_ASSIGN, CHILD, CHILD, SPACE);
	SEND(trial, KTR_MAP, SPACE, AT, AT + 4 * 4096, 3, KTR_MAP_ANONYMOUS, 0, KTR_NONE);
	schedule(trial, 0, 0);
	swap_and_reclaim(trial, SPACE, UNTOUCHED, SLOT + 3);
	/* so it is where that is not reported */
	SEND(trial, LPL_EVENT_GAP, 1, 1);
	SEND(trial, KTR_TASK_CREATE, PARENT, PARENT, SPACE);
	SEND(trial, KTR_MAP, SPACE, AT, AT + 4 * 4096, 3, KTR_MAP_ANONYMOUS, 0, KTR_NONE);
	swap_and_reclaim(trial, SPACE, UNTOUCHED, SLOT + 4);
	send_references(trial);
	assert_int_equal(trial->sink->finish(trial->sink, &report), LPL_OK);
	results = lpl_regret_results(trial->regret);
	assert_int_equal(trial->heards, 5);
	for (unsigned int i = 0; i < 5; i++) {
		const uint64_t process = trial->heard[i].page.process;

		assert_true(process < results->processes);
		assert_int_equal(results->process[process].tgid, evicted[i]);
	}
	close_trial(trial);
}

/* Of pages that are never used again the best is that which was used last the longest ago, also if it ends later. */
static void best_of(bool ends, bool unused)
{
	enum { SPACE = 40, AT = 0x10000 };
	struct rigged rigged = open_rigged();
	struct trial *trial = rigged.trial;
	struct lpl_report report = { 0 };
	const struct lpl_regret_results *results;

	SEND(trial, KTR_MAP, SPACE, AT, AT + 2 * 4096, 3, KTR_MAP_ANONYMOUS, 0, KTR_NONE);
	if (!unused) {
		refer(trial, SPACE, AT, LPL_WRITE);
		refer(trial, SPACE, AT + 4096, LPL_WRITE);
	}
	for (unsigned int i = 3; i-- > 0; ) {
		rig_read(&rigged, i);
		if (i == 2 || !unused)
			rig_use(&rigged, i);
	}
	rig_reclaim(&rigged, 2);
	rig_read(&rigged, 2);
	rig_use(&rigged, 2);
	send_references(trial);
	if (ends)
		SEND(trial, KTR_UNMAP, SPACE, AT, AT + 2 * 4096);
	assert_int_equal(trial->sink->finish(trial->sink, &report), LPL_OK);
	results = lpl_regret_results(trial->regret);
	assert_int_equal(results->worsts, 1);
	assert_true(results->worst[0].best_known);
	if (unused) {
		assert_int_equal(results->worst[0].best.offset, 0);
		assert_int_equal(results->worst[0].best_last.ref, 0);
	} else {
		assert_int_equal(results->worst[0].best.virtual_page, AT >> 12);
		assert_int_equal(results->worst[0].best_last.ref, 1);
	}
	close_trial(trial);
}

static void test_best(void **state)
{
	(void)state;
	best_of(false, false);
	best_of(true, false);
	best_of(false, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_short_guests, show_seed),
		cmocka_unit_test_teardown(test_long_guests, show_seed),
		cmocka_unit_test_teardown(test_cut_guests, show_seed),
		cmocka_unit_test(test_loop),
		cmocka_unit_test(test_scan),
		cmocka_unit_test(test_just_used),
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_segments),
		cmocka_unit_test(test_ended_program),
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_best),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
