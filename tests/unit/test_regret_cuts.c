/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * <laplace/regret.h> where tracing is off, where events are missing, and where an event says less than others, or makes
 * no sense.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include <laplace/regret.h>

#define EVICTIONS 8

enum { DEVICE = 0x800001, MEMORY = 5, INODE = 7, SPACE = 0x100, PROCESS = 42, AT = 0x400000, SLOT = 900 };

static struct lpl_regret *regret;
static struct lpl_regret_eviction heard[EVICTIONS];
static uint64_t reference, clock;
static uint32_t runs;	/* this task */

static enum lpl_error hear(void *context, const struct lpl_regret_eviction *eviction, struct lpl_report *report)
{
	(void)context;
	(void)report;
	assert_in_range(eviction->number, 1, EVICTIONS);
	heard[eviction->number - 1] = *eviction;
	return LPL_OK;
}

static void send(uint32_t tag, const uint64_t arg[8])
{
	struct lpl_sink *sink = lpl_regret_sink(regret);
	struct lpl_event event = { .tag = tag, .ref = reference, .instr = clock, .cycle = clock, .space = SPACE,
				   .tid = runs, .tgid = runs };
	struct lpl_report report = { 0 };

	clock++;
	memcpy(event.arg, arg, 8 * sizeof(*arg));
	assert_int_equal(sink->event(sink, &event, &report), LPL_OK);
}
#define SEND(tag, ...) send(tag, (const uint64_t[8]){ __VA_ARGS__ })

static void read_at(uint64_t address)
{
	struct lpl_sink *sink = lpl_regret_sink(regret);
	const struct lpl_ref ref = { .ref = ++reference, .instr = clock, .cycle = clock, .address = address,
				     .space = SPACE, .type = LPL_READ, .length = 4, .flags = LPL_USER };
	struct lpl_report report = { 0 };

	clock++;
	assert_int_equal(sink->refs(sink, &ref, 1, &report), LPL_OK);
}

static int begin(void **state)
{
	const struct lpl_regret_options options = { .eviction = hear };
	struct lpl_report report = { 0 };

	(void)state;
	reference = clock = 0;
	runs = PROCESS;
	memset(heard, 0, sizeof(heard));
	assert_int_equal(lpl_regret_open(&regret, &options, &report), LPL_OK);
	SEND(KTR_TASK_CREATE, PROCESS, PROCESS, SPACE);
	SEND(KTR_MAP, SPACE, AT, AT + 16 * 4096, 3, KTR_MAP_FILE_SHARED, DEVICE, INODE, 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	lpl_regret_close(regret);
	return 0;
}

static const struct lpl_regret_results *finish(void)
{
	struct lpl_sink *sink = lpl_regret_sink(regret);
	struct lpl_report report = { 0 };

	assert_int_equal(sink->finish(sink, &report), LPL_OK);
	return lpl_regret_results(regret);
}

static void switch_tracing(bool on)
{
	SEND(LPL_EVENT_TRACING, on);
}

static void bring(uint64_t at)
{
	SEND(KTR_CACHE_ADD, DEVICE, INODE, at, 10 + at, 1, KTR_NONE);
}

static void take(uint64_t at)
{
	SEND(KTR_CACHE_REMOVE, DEVICE, INODE, at, 10 + at, 1);
	SEND(KTR_RECLAIM, DEVICE, INODE, at, 10 + at, 1, KTR_NONE, KTR_RECLAIM_KSWAPD, 0);
}

/* What is evicted before the first window may be used before it. */
static void test_before(void **state)
{
	(void)state;
	bring(0);
	take(0);
	switch_tracing(true);
	bring(0);
	read_at(AT);
	assert_int_equal(finish()->cuts, 1);
	assert_int_equal(heard[0].outcome, LPL_REGRET_CUT);
}

/* That it begins cuts nothing otherwise, but what was brought in before may have been used. */
static void test_beginning(void **state)
{
	(void)state;
	bring(0);
	bring(1);
	switch_tracing(true);
	take(0);
	bring(2);
	take(2);
	switch_tracing(false);
	assert_int_equal(finish()->cuts, 0);
	assert_int_equal(heard[0].outcome, LPL_REGRET_NEVER);
	assert_false(heard[0].unused);
	assert_true(heard[1].unused);
}

/* What is evicted while it is off may have been used since the last use that was seen, and may be used again. */
static void test_off(void **state)
{
	(void)state;
	switch_tracing(true);
	bring(0);
	read_at(AT);
	bring(1);
	take(0);
	switch_tracing(false);
	bring(0);
	take(0);
	bring(2);
	take(2);
	take(1);
	SEND(KTR_CACHE_ADD, DEVICE, INODE, 1, 11, 1, KTR_NONE);
	SEND(KTR_CACHE_REMOVE, DEVICE, INODE, 1, 11, 1);
	finish();
	assert_int_equal(heard[0].outcome, LPL_REGRET_NEVER);
	assert_int_equal(heard[0].last.ref, 1);
	assert_true(heard[0].is_back);
	assert_int_equal(heard[1].outcome, LPL_REGRET_CUT);
	assert_int_equal(heard[1].last.ref, 0);
	assert_int_equal(heard[2].outcome, LPL_REGRET_CUT);
	assert_false(heard[2].unused);
	/* that it ends is known */
	assert_int_equal(heard[3].outcome, LPL_REGRET_ENDED);
}

/* An entry of swap may be another page's when events are missing, also where that is one of shared memory. */
static void test_entry(void **state)
{
	(void)state;
	SEND(KTR_CACHE_ADD, MEMORY, INODE, 0, 10, 1, KTR_NONE);
	SEND(KTR_CACHE_REMOVE, MEMORY, INODE, 0, 10, 1);
	SEND(KTR_SWAP_OUT, 0, 0, SLOT, 10, 1, MEMORY, INODE, 0);
	SEND(LPL_EVENT_GAP, 0, 1);
	SEND(KTR_RECLAIM, 0, KTR_NONE, 0, 10, 1, SLOT, KTR_RECLAIM_KSWAPD, 1);
	assert_int_equal(finish()->unknown, 1);
	assert_int_equal(finish()->all.evicted, 0);
}

/* It is shared memory from when it is mapped as such, before it is referenced. */
static void test_kind(void **state)
{
	(void)state;
	SEND(KTR_MAP, SPACE, AT, AT + 4096, 3, KTR_MAP_ANONYMOUS_SHARED, MEMORY, INODE, 0);
	SEND(KTR_CACHE_ADD, MEMORY, INODE, 0, 10, 1, KTR_NONE);
	SEND(KTR_CACHE_REMOVE, MEMORY, INODE, 0, 10, 1);
	SEND(KTR_SWAP_OUT, 0, 0, SLOT, 10, 1, MEMORY, INODE, 0);
	SEND(KTR_RECLAIM, 0, KTR_NONE, 0, 10, 1, SLOT, KTR_RECLAIM_KSWAPD, 1);
	assert_int_equal(finish()->by_kind[LPL_PAGE_SHM].evicted, 1);
}

/* The first segment has the number 0, and no mark any more when it is removed. */
static void test_segment(void **state)
{
	(void)state;
	SEND(KTR_CACHE_ADD, MEMORY, KTR_INODE_SYSV, 0, 10, 1, KTR_NONE);
	SEND(KTR_CACHE_REMOVE, MEMORY, KTR_INODE_SYSV, 0, 10, 1);
	SEND(KTR_SWAP_OUT, 0, 0, SLOT, 10, 1, MEMORY, KTR_INODE_SYSV, 0);
	SEND(KTR_RECLAIM, 0, KTR_NONE, 0, 10, 1, SLOT, KTR_RECLAIM_KSWAPD, 1);
	SEND(KTR_CACHE_ADD, MEMORY, KTR_INODE_SYSV, 0, 11, 1, KTR_NONE);
	SEND(KTR_CACHE_REMOVE, MEMORY, 0, 0, 11, 1);
	finish();
	assert_int_equal(heard[0].outcome, LPL_REGRET_ENDED);
}

/* A page that no program touches is of the process that is seen with its space, which had it before the gap, too. */
static void test_owner(void **state)
{
	const struct lpl_regret_results *results;

	(void)state;
	SEND(LPL_EVENT_GAP, 0, 1);
	SEND(KTR_MAP, SPACE, AT, AT + 4096, 3, KTR_MAP_ANONYMOUS, 0, KTR_NONE, 0);
	SEND(KTR_SCHEDULE, PROCESS, 0, 0, 0, 0);
	runs = 0;
	SEND(KTR_SWAP_OUT, SPACE, AT, SLOT, 10, 1, 0, KTR_NONE, 0);
	SEND(KTR_RECLAIM, 0, KTR_NONE, 0, 10, 1, SLOT, KTR_RECLAIM_KSWAPD, 1);
	results = finish();
	assert_int_equal(results->all.evicted, 1);
	assert_true(heard[0].page.process < results->processes);
	assert_int_equal(results->process[heard[0].page.process].tgid, PROCESS);
}

/* As if it were not there: what it would have displaced from its frames is still known by the kernel's addresses. */
static void test_odd(void **state)
{
	const uint64_t alias = UINT64_C(0xffff888000000000);

	(void)state;
	SEND(KTR_CACHE_ADD, DEVICE, INODE, 0, 10, 1, alias);
	read_at(alias);
	SEND(KTR_CACHE_ADD, DEVICE, INODE, 100, 0, (UINT64_C(1) << 18) + 1, KTR_NONE);
	SEND(KTR_CACHE_REMOVE, DEVICE, INODE, 0, 10, 0);
	read_at(alias);
	take(0);
	assert_int_equal(finish()->odd, 2);
	assert_int_equal(heard[0].last.ref, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_before), TEST(test_beginning), TEST(test_off), TEST(test_entry), TEST(test_kind), TEST(test_segment),
		TEST(test_owner), TEST(test_odd)
	};

	return cmocka_run_group_tests_name("regret_cuts", tests, NULL, NULL);
}
