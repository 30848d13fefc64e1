/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Policies of one's own: the example, and what the library promises a policy and asks of it.
 */
#include "play.h"

#include "oracle_sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* the example itself, its program aside */
#define main gclock_main
int gclock_main(int argc, char **argv);
#include "../../examples/gclock.c"	/* NOLINT(bugprone-suspicious-include) */
#undef main

static void add_own(struct lpl_simulator *simulator, const struct lpl_policy *policy,
		    const char *own_options, const char *sizes)
{
	struct lpl_report report = {0};
	struct lpl_sizes parsed;

	assert_int_equal(lpl_sizes_parse(&parsed, sizes, &report), LPL_OK);
	assert_int_equal(lpl_simulator_add_policy(simulator, policy, own_options, &parsed, &report),
			 LPL_OK);
	lpl_sizes_free(&parsed);
}

/* ---- the example ---- */

/* GCLOCK from its description: a circle of pages with lives. */
static struct counts oracle_gclock(const struct trace *trace, uint64_t size, unsigned int most)
{
	struct counts counts = {.references = trace->count};
	struct {
		uint32_t page;
		unsigned int lives;
		bool dirty;
	} circle[64] = {0};
	size_t used = 0;
	size_t hand = 0;

	for (size_t now = 0; now < trace->count; now++) {
		/* references in a row are one */
		bool again = now > 0 && trace->page[now - 1] == trace->page[now];
		size_t i = 0;

		while (i < used && circle[i].page != trace->page[now])
			i++;
		if (i < used) {
			circle[i].dirty |= trace->write[now];
			if (!again && circle[i].lives < most)
				circle[i].lives++;
			continue;
		}
		counts.faults++;
		if (used < size) {
			i = used++;
		} else {
			for (; circle[hand].lives > 0; hand = hand + 1 < used ? hand + 1 : 0)
				circle[hand].lives--;
			i = hand;
			hand = hand + 1 < used ? hand + 1 : 0;
			counts.evictions++;
			counts.dirty_evictions += circle[i].dirty ? 1 : 0;
		}
		circle[i].page = trace->page[now];
		circle[i].lives = 0;
		circle[i].dirty = trace->write[now];
	}
	return counts;
}

static void test_example(void **state)
{
	struct random random = {random_seed() + 13};
	struct stream in = {0};

	(void)state;
	for (unsigned int number = 0; number < 500; number++) {
		static const char *const own_options[] = {NULL, "most=1", "most=7"};
		static const unsigned int most[] = {3, 1, 7};
		struct lpl_simulator *simulator = new_simulator(1 + number % 2, NULL);
		struct trace trace;

		stream_clear(&in);
		random_stream(&random, number % SHAPES == SHAPE_DISTINCT ? SHAPE_RUNS :
			      number % SHAPES, 1 + random_below(&random, 9), 150, true, &in);
		trace_of(&in, &trace);
		for (size_t i = 0; i < 3; i++)
			add_own(simulator, &gclock, own_options[i], "1:12:1,60");
		send_all(simulator, &in, 50);
		for (size_t i = 0; i < 3; i++) {
			size_t count;
			const struct lpl_result *result =
				lpl_simulator_results(simulator, i, &count);

			for (size_t j = 0; j < count; j++) {
				struct counts expected = oracle_gclock(&trace, result[j].size, most[i]);

				if (!result_equal(&result[j], &expected))
					fail_msg("LAPLACE_TEST_SEED=%llu, case %u: gclock of %llu differs",
						 (unsigned long long)random_seed(), number,
						 (unsigned long long)result[j].size);
			}
		}
		assert_string_equal(lpl_simulator_policy(simulator, 0), "gclock");
		assert_string_equal(lpl_simulator_policy(simulator, 2), "gclock:most=7");
		trace_free(&trace);
		lpl_simulator_close(simulator);
	}
	stream_free(&in);
}

/* ---- a policy that checks its calls ---- */

/* What happened to a memory, and what ought to be in it. */
struct witness {
	uint32_t used, last;	/* the page of the last call; 0: none */
	uint32_t evicted;	/* a frame + 1, between evict and admit; else 0 */
	uint32_t next;		/* to go */
	uint32_t faulted;	/* 1 between fault and admit */
	uint32_t reserved;
	uint64_t space, number;	/* of the page that faulted last */
	char *own;		/* to be freed by close() */
};

struct seat {
	uint32_t page, reserved;
	uint64_t admissions;	/* of this frame; at first 0 */
};

static const struct lpl_policy_option witness_options[] = {
	{"fail-at", 1, 1000, 0},	/* the page that it fails to admit */
	{"wild-at", 1, 1000, 0},	/* ... that it evicts from nowhere */
	{"least", 1, UINT64_MAX, 7},	/* size */
	{NULL, 0, 0, 0},
};

static unsigned int opened;	/* memories that were, and not closed */
static const struct lpl_ref *named;	/* references to page 1, 2 and so on; NULL: not known */
static unsigned int name_shift;	/* by what an address is divided */

static void holds(bool what, const char *text)
{
	if (!what) {
		(void)fprintf(stderr, "not so: %s\n", text);
		abort();
	}
}

static enum lpl_error witness_open(struct lpl_memory *memory, struct lpl_report *report)
{
	static const struct witness nothing;
	struct witness *witness = memory->state;

	holds(memory->used == 0, "a memory begins empty");
	holds(memcmp(witness, &nothing, sizeof(nothing)) == 0, "state is zeroed");
	if (memory->option[2] != 7 && memory->size < memory->option[2])
		return lpl_fail(report, LPL_ERR_USAGE, "witness: too small");
	witness->own = malloc(100);
	holds(witness->own != NULL, "memory");
	opened++;
	return LPL_OK;
}

static void witness_fault(struct lpl_memory *memory, uint64_t space, uint64_t number)
{
	struct witness *witness = memory->state;

	holds(witness->faulted == 0, "one fault, one admission");
	witness->faulted = 1;
	witness->space = space;
	witness->number = number;
}

/* Is the page that faulted last the one with that number? */
static bool is_named(const struct witness *witness, uint32_t page)
{
	const struct lpl_ref *ref = named != NULL ? &named[page - 1] : NULL;

	return ref == NULL || (witness->number == ref->address >> name_shift && witness->space ==
			       (ref->type >= LPL_WALK_READ ? UINT64_MAX : ref->space));
}

static void witness_hit(struct lpl_memory *memory, uint32_t frame)
{
	struct witness *witness = memory->state;

	holds(witness->faulted == 0, "a hit is no fault");
	holds(frame < memory->used, "a hit is on a frame in use");
	holds(((struct seat *)memory->frame)[frame].page == memory->page[frame], "and its page");
	holds(memory->page[frame] != witness->last, "references in a row are one");
	witness->last = memory->page[frame];
}

static uint32_t witness_evict(struct lpl_memory *memory, uint32_t page)
{
	struct witness *witness = memory->state;

	holds(memory->used != 0 && memory->used == memory->size, "memory is full");
	holds(witness->evicted == 0, "one eviction, one admission");
	holds(witness->faulted != 0, "a fault comes before its eviction");
	holds(is_named(witness, page), "and is of the page that is wanted");
	for (uint32_t i = 0; i < memory->used; i++)
		holds(memory->page[i] != page, "what is wanted is not in memory");
	if (page == memory->option[1])
		return memory->used;
	for (witness->next += 3; witness->next >= memory->used;)
		witness->next -= memory->used;
	witness->evicted = witness->next + 1;
	return witness->next;
}

static enum lpl_error witness_admit(struct lpl_memory *memory, uint32_t frame, uint32_t page,
				    struct lpl_report *report)
{
	struct witness *witness = memory->state;
	struct seat *seat = (struct seat *)memory->frame + frame;

	holds(memory->page[frame] == page, "the page is in its frame");
	holds(witness->faulted != 0 && is_named(witness, page), "and faulted");
	witness->faulted = 0;
	if (witness->evicted != 0) {
		holds(frame == witness->evicted - 1, "it is the evicted one's");
		holds(seat->admissions > 0, "which kept its data");
	} else {
		holds(frame == witness->used && frame + 1 == memory->used, "the next free one");
		holds(seat->page == 0 && seat->admissions == 0, "which is zeroed");
		witness->used++;
	}
	witness->evicted = 0;
	witness->last = page;
	seat->page = page;
	seat->admissions++;
	return page == memory->option[0] ?
		lpl_fail(report, LPL_ERR_MEMORY, "witness: page %u is too much", page) : LPL_OK;
}

static void witness_close(struct lpl_memory *memory)
{
	struct witness *witness = memory->state;

	free(witness->own);
	opened--;
}

static uint64_t witness_lru_part(const struct lpl_memory *memory)
{
	return memory->size / 3 + memory->option[2];
}

static const struct lpl_policy witness_policy = {
	.name = "witness",
	.options = witness_options,
	.state_size = sizeof(struct witness),
	.frame_size = sizeof(struct seat),
	.open = witness_open,
	.fault = witness_fault,
	.hit = witness_hit,
	.evict = witness_evict,
	.admit = witness_admit,
	.close = witness_close,
	.lru_part = witness_lru_part,
};

static void test_promises(void **state)
{
	struct random random = {random_seed() + 14};
	struct stream in = {0};

	(void)state;
	for (unsigned int number = 0; number < 4 * SHAPES; number++) {
		const bool large = number % 5 == 4;
		struct lpl_simulator *simulator = new_simulator(1 + number % 3,
								large ? "block:16384" : NULL);
		struct trace trace;

		stream_clear(&in);
		random_stream(&random, number % SHAPES, 40, 6000, true, &in);
		for (size_t i = 0; i < in.count && large; i++)
			in.item[i].ref.address &= ~UINT64_C(16383);
		trace_of(&in, &trace);
		named = trace.of;
		name_shift = large ? 14 : 12;
		/* the taus make runs short */
		if (number % 2 != 0)
			add_policy(simulator, "ws", "1");
		add_own(simulator, &witness_policy, NULL, "1,2,3,10:90:10,500,7000,100000000000");
		send_all(simulator, &in, 500);
		lpl_simulator_close(simulator);
		assert_int_equal(opened, 0);
		named = NULL;
		trace_free(&trace);
	}
	stream_free(&in);
}

/* ---- what goes wrong ---- */

static void test_failures(void **state)
{
	static const struct {
		const char *own_options;
		unsigned int jobs;
		enum lpl_error error;
		const char *expected;
	} cases[] = {
		{"fail-at=7", 1, LPL_ERR_MEMORY, "witness: page 7 is too much"},
		{"fail-at=900", 1, LPL_ERR_MEMORY, "witness: page 900 is too much"},
		{"fail-at=900", 3, LPL_ERR_MEMORY, "witness: page 900 is too much"},
		{"wild-at=900", 1, LPL_ERR_INTERNAL, "'witness': evicts from frame 20 of a memory of 20"},
		{"wild-at=900", 3, LPL_ERR_INTERNAL, "'witness': evicts from frame 20 of a memory of 20"},
		{"wild-at=999:fail-at=1000", 2, LPL_ERR_INTERNAL, "evicts from frame"},
	};
	struct random random = {random_seed() + 15};
	struct stream in = {0};

	(void)state;
	/* page 1000 comes some batches before the end, page 7 at the beginning */
	random_stream(&random, SHAPE_DISTINCT, 1, 899, false, &in);
	random_stream(&random, SHAPE_LOOP_K, 31, 9000, false, &in);
	random_stream(&random, SHAPE_DISTINCT, 1, 2000, false, &in);
	random_stream(&random, SHAPE_UNIFORM, 500, 30000, false, &in);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lpl_simulator *simulator = new_simulator(cases[i].jobs, NULL);
		struct lpl_report report = {0};

		add_policy(simulator, "clock", "5,50,500");
		add_own(simulator, &witness_policy, cases[i].own_options, "20");
		add_policy(simulator, "lru", "all");
		assert_int_equal(stream_send(&in, lpl_simulator_sink(simulator), 600, &report),
				 cases[i].error);
		assert_int_equal(report.error, cases[i].error);
		if (strstr(report.text, cases[i].expected) == NULL)
			fail_msg("'%s' does not contain '%s'", report.text, cases[i].expected);
		lpl_simulator_close(simulator);
		assert_int_equal(opened, 0);
	}
	stream_free(&in);
}

/* A size that `open` refuses: nothing is added, and what was opened is closed. */
static void test_refusals(void **state)
{
	struct lpl_simulator *simulator = new_simulator(1, "sad:9");
	struct lpl_sizes sizes = {.size = (uint64_t[]){40, 50, 8}, .count = 3};
	struct lpl_report report = {0};
	struct stream in = {0};

	(void)state;
	assert_int_equal(lpl_simulator_add_policy(simulator, &witness_policy, "least=45", &sizes,
						  &report), LPL_ERR_USAGE);
	assert_string_equal(report.text, "witness: too small");
	assert_int_equal(opened, 0);
	assert_int_equal(lpl_simulator_count(simulator), 0);
	/* of sizes that were not asked for, only those that are too small go */
	report = (struct lpl_report){0};
	assert_int_equal(lpl_simulator_add_policy(simulator, &witness_policy, "least=45", NULL,
						  &report), LPL_OK);
	assert_true(opened > 10);
	/* size / 3 + 7 >= 9 from 6 on */
	report = (struct lpl_report){0};
	assert_int_equal(lpl_simulator_add_policy(simulator, &witness_policy, "", NULL, &report),
			 LPL_OK);
	assert_int_equal(lpl_simulator_exact_from(simulator, 1), 6);
	for (uint64_t page = 0; page < 100; page++)
		stream_add_page(&in, page, LPL_READ);
	send_all(simulator, &in, 10);
	for (size_t i = 0; i < 2; i++) {
		size_t count;
		const struct lpl_result *result = lpl_simulator_results(simulator, i, &count);

		assert_int_equal(count, i == 0 ? 2 : 5);
		assert_int_equal(result[0].size, i == 0 ? 64 : 8);
		assert_int_equal(result[count - 1].size, 128);
	}
	report = (struct lpl_report){0};
	assert_int_equal(lpl_simulator_add(simulator, "lru", NULL, &report), LPL_ERR_USAGE);
	assert_non_null(strstr(report.text, "has begun"));
	lpl_simulator_close(simulator);
	assert_int_equal(opened, 0);
	stream_free(&in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_example),
		cmocka_unit_test(test_promises),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
