/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The oracle for threads that are scheduled again (oracle_schedule.h) does what docs/scheduling.md
 * says: cases worked out by hand; and of random guests, which task made a reference, on which page, is
 * held against the merge, its memory against oracle_sim.h's, and every cycle of a task and of a
 * processor is counted once.
 */
#include "schedule_trial.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <laplace/merge.h>

#include "oracle_schedule_memory.h"
#include "oracle_sim.h"
#include "schedule_by_hand.h"
#include "thread_guest.h"

/* ---- worked out by hand ---- */

/* The second has waited since the beginning for 8 cycles. */
static void test_quanta_by_hand(void **state)
{
	const struct oracle_machine machine = { .cpus = 1, .scheduler = ORACLE_RR, .quantum = 3 };
	const struct oracle_result expected = {
		.task = { [1] = { .references = 2, .cold = 2, .running = 8, .end = 8,
				  .dispatches = 1 },
			  [2] = { .references = 2, .cold = 1, .waiting = 8, .running = 6, .end = 14,
				  .dispatches = 1 } },
		.end = 14, .busy = 14, .switches = 2, .faults = 3,
	};
	struct oracle_result result;
	struct stream in = { 0 };

	(void)state;
	AT(&in, 100, 1, KTR_MARK, 0);
	touch(&in, 102, 1);
	touch(&in, 107, 2);
	AT(&in, 108, 1, KTR_SCHEDULE, 1, KTR_STATE_RUNNABLE, 2, 2, 2);
	touch(&in, 110, 3);
	touch(&in, 114, 1);
	run_by_hand(&in, &machine, &result, NULL);
	assert_result(result, expected);
	stream_free(&in);
}

/*
 * A memory of one page.  At 1 the second is woken and preempts the first; at 4 it faults; at 8 its
 * page comes and it preempts the first just before that one's reference.
 */
static void test_priorities_by_hand(void **state)
{
	const struct oracle_machine machine = {
		.cpus = 1, .scheduler = ORACLE_PRIORITY, .quantum = 10, .pages = 1,
		.fault_cycles = 4, .priority = { [1] = 1 },
	};
	const struct oracle_result expected = {
		.task = { [1] = { .references = 2, .cold = 1, .again = 1, .running = 8, .ready = 6,
				  .paging = 8, .waiting = 5, .end = 27, .dispatches = 6,
				  .preemptions = 2 },
			  [2] = { .references = 1, .cold = 1, .waiting = 1, .running = 6,
				  .paging = 4, .end = 11, .dispatches = 2 } },
		.end = 27, .busy = 14, .idle = 13, .idle_paging = 8, .switches = 5, .faults = 3,
		.evictions = 2,
	};
	struct oracle_result result;
	struct stream in = { 0 };

	(void)state;
	make_sleepers(&in);
	run_by_hand(&in, &machine, &result, NULL);
	assert_result(result, expected);
	stream_free(&in);
}

static void test_recorded_by_hand(void **state)
{
	const struct oracle_machine machine = {
		.cpus = 1, .scheduler = ORACLE_RECORDED, .pages = 1, .fault_cycles = 4,
	};
	const struct oracle_result expected = {
		.task = { [1] = { .references = 2, .cold = 1, .running = 8, .paging = 4,
				  .waiting = 10, .end = 22, .dispatches = 2 },
			  [2] = { .references = 1, .cold = 1, .ready = 10, .running = 6,
				  .paging = 4, .end = 20, .dispatches = 1,
				  .preemptions = 1 } },
		.end = 22, .busy = 14, .idle = 8, .idle_paging = 8, .switches = 3, .faults = 2,
		.evictions = 1,
	};
	struct oracle_result result;
	struct stream in = { 0 };

	(void)state;
	make_sleepers(&in);
	run_by_hand(&in, &machine, &result, NULL);
	assert_result(result, expected);
	stream_free(&in);
}

/* Ends of quanta at 2, 6 and 10 find the other with less; those at 4 and 8 do not. */
static void test_fair_by_hand(void **state)
{
	struct oracle_machine machine = { .cpus = 1, .scheduler = ORACLE_FAIR, .quantum = 2 };
	struct oracle_result expected = {
		.task = { [1] = { .references = 1, .cold = 1, .running = 6, .ready = 5, .end = 11,
				  .dispatches = 3, .preemptions = 2 },
			  [2] = { .references = 1, .cold = 1, .running = 5, .ready = 6, .end = 11,
				  .dispatches = 2, .preemptions = 1 } },
		.end = 11, .busy = 11, .switches = 5, .faults = 2,
	};
	struct oracle_result result;
	struct stream in = { 0 };

	(void)state;
	AT(&in, 100, 1, KTR_MARK, 0);
	AT(&in, 100, 1, KTR_WAKE, 9, 9, KTR_CONTEXT_TASK);
	touch(&in, 106, 1);
	AT(&in, 106, 1, KTR_SCHEDULE, 1, KTR_STATE_RUNNABLE, 2, 2, 2);
	touch(&in, 110, 2);
	AT(&in, 111, 2, KTR_MARK, 0);
	run_by_hand(&in, &machine, &result, NULL);
	assert_result(result, expected);

	/* and with a processor each, each of which takes 3 cycles to begin */
	machine.cpus = 2;
	machine.switch_cycles = 3;
	expected = (struct oracle_result){
		.task = { [1] = { .references = 1, .cold = 1, .running = 6, .ready = 3,
				  .switching = 3, .end = 9, .dispatches = 1 },
			  [2] = { .references = 1, .cold = 1, .running = 5, .ready = 3,
				  .switching = 3, .end = 8, .dispatches = 1 } },
		.end = 9, .busy = 11, .switching = 6, .idle = 1, .switches = 2, .faults = 2,
	};
	run_by_hand(&in, &machine, &result, NULL);
	assert_result(result, expected);
	stream_free(&in);
}

/* From which process a page is evicted: P has a, b and c of a memory of four, Q has d. */
static void test_shares_by_hand(void **state)
{
	enum { P = 1, Q = 2 };
	static const struct {
		enum oracle_memory kind;
		uint32_t first, second;		/* go for Q's e, then for P's f */
	} cases[] = {
		/* 2 each: P is above its share, then Q would be, but P has its own */
		{ ORACLE_EQUAL, 1, 2 },
		/* 3 to 1: Q has its share; then Q brought in two of five: P's is 2, Q's is 1 */
		{ ORACLE_PROPORTIONAL, 4, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct oracle_machine machine = { .memory = cases[i].kind, .pages = 4 };
		struct oracle_pages *memory = malloc(sizeof(*memory));
		bool again;

		assert_non_null(memory);
		oracle_memory_init(memory, &machine);
		for (uint32_t page = 1; page <= 4; page++)
			oracle_memory_fault(memory, page, page < 4 ? P : Q, page == 1, &again);
		assert_int_equal(memory->evictions, 0);
		oracle_memory_fault(memory, 5, Q, false, &again);
		assert_int_equal(memory->evictions, 1);
		assert_null(oracle_memory_find(memory, cases[i].first));
		assert_int_equal(memory->dirty_evictions, cases[i].first == 1);
		oracle_memory_fault(memory, 6, P, false, &again);
		assert_null(oracle_memory_find(memory, cases[i].second));
		assert_false(again);
		oracle_memory_fault(memory, cases[i].first, P, false, &again);
		assert_true(again);
		free(memory);
	}
}

/* A trace of one task, by its clock: pages 1, 2, 1, 3, 4, 1 and 3, some of which are written to. */
static void make_phases(struct stream *in, bool writes)
{
	static const struct {
		uint64_t cycle, page;
	} touched[] = { { 1, 1 }, { 2, 2 }, { 3, 1 }, { 6, 3 }, { 10, 4 }, { 11, 1 }, { 12, 3 } };

	AT(in, 100, 1, KTR_MARK, 0);
	for (size_t i = 0; i < sizeof(touched) / sizeof(touched[0]); i++) {
		touch(in, 100 + touched[i].cycle, touched[i].page);
		if (writes && touched[i].page <= 2)
			in->item[in->count - 1].ref.type = LPL_WRITE;
	}
}

/* At 6, 1 and 2 have left, and at 10 3: a page is there for less than 3 cycles. */
static void test_ws_by_hand(void **state)
{
	struct oracle_machine machine = { .cpus = 1, .scheduler = ORACLE_RR, .memory = ORACLE_WS,
					  .window = 3 };
	struct oracle_result expected = {
		.task = { [1] = { .references = 7, .cold = 4, .again = 2, .running = 12, .end = 12,
				  .dispatches = 1 } },
		.end = 12, .busy = 12, .switches = 1, .faults = 6, .evictions = 3,
	};
	struct oracle_result result;
	struct stream in = { 0 };

	(void)state;
	make_phases(&in, false);
	run_by_hand(&in, &machine, &result, NULL);
	assert_result(result, expected);

	/* the device writes both before it brings 3; meanwhile the process's clock stands still */
	machine.fault_cycles = 4;
	machine.write_cycles = 10;
	machine.devices = 1;
	stream_clear(&in);
	make_phases(&in, true);
	expected.task[1].paging = expected.idle = expected.idle_paging = 6 * 4 + 2 * 10;
	expected.task[1].end = expected.end = 12 + 6 * 4 + 2 * 10;
	expected.task[1].dispatches = 7;
	expected.dirty_evictions = 2;
	expected.device_busy = 6 * 4 + 2 * 10;
	run_by_hand(&in, &machine, &result, NULL);
	assert_result(result, expected);
	stream_free(&in);
}

/*
 * The fault at 6 is long after that at 2, since when both pages were used; that at 10 after that at
 * 6, since when neither was.  1 at 11 is too soon for any to leave.
 */
static void test_pff_by_hand(void **state)
{
	const struct oracle_machine machine = { .cpus = 1, .scheduler = ORACLE_RR,
						.memory = ORACLE_PFF, .window = 3 };
	const struct oracle_result expected = {
		.task = { [1] = { .references = 7, .cold = 4, .again = 1, .running = 12, .end = 12,
				  .dispatches = 1 } },
		.end = 12, .busy = 12, .switches = 1, .faults = 5, .evictions = 2,
	};
	struct oracle_result result;
	struct stream in = { 0 };

	(void)state;
	make_phases(&in, false);
	run_by_hand(&in, &machine, &result, NULL);
	assert_result(result, expected);
	stream_free(&in);
}

/*
 * In a memory of two pages, the second task's 4 at 6 deactivates the first, which waits for its
 * turn.  At 7 the second ends; the kernel has its 4 and 3, in this order, and there is no room, but
 * nothing else to run: for the first one's 2, 4 leaves.
 */
static void test_load_by_hand(void **state)
{
	const struct oracle_machine machine = { .cpus = 1, .scheduler = ORACLE_RR, .quantum = 2,
						.memory = ORACLE_WS, .window = 100, .pages = 2 };
	const struct oracle_result expected = {
		.task = { [1] = { .references = 2, .cold = 2, .running = 4, .ready = 3,
				  .suspended = 1, .end = 7, .dispatches = 3, .preemptions = 2 },
			  [2] = { .references = 3, .cold = 2, .running = 3, .ready = 4, .end = 7,
				  .dispatches = 2, .preemptions = 1 } },
		.end = 7, .busy = 7, .switches = 5, .faults = 4, .evictions = 2,
		.deactivations = { [1] = 1 },
	};
	struct oracle_result result;
	struct stream in = { 0 };

	(void)state;
	make_crowd(&in);
	run_by_hand(&in, &machine, &result, NULL);
	assert_result(result, expected);
	stream_free(&in);
}

/*
 * With a processor each.  The first one's 3 at 3 takes the second off its own, where nothing runs
 * from then on; at 6 the first ends, and the second goes on in its place.  The kernel has 3 and
 * 1 by then, which leave at 9 and 11, for 4 and 3, so that 4 is there at 12.
 */
static void test_taken_off_by_hand(void **state)
{
	const struct oracle_machine machine = { .cpus = 2, .scheduler = ORACLE_RR,
						.memory = ORACLE_PFF, .window = 100, .pages = 2 };
	const struct oracle_result expected = {
		.task = { [1] = { .references = 3, .cold = 2, .running = 6, .end = 6,
				  .dispatches = 1 },
			  [2] = { .references = 5, .cold = 2, .again = 1, .running = 9, .ready = 3,
				  .suspended = 3, .end = 12, .dispatches = 2 } },
		.end = 12, .busy = 15, .idle = 9, .switches = 3, .faults = 5, .evictions = 3,
		.deactivations = { [2] = 1 },
	};
	struct oracle_result result;
	struct stream in = { 0 };

	(void)state;
	AT(&in, 100, 1, KTR_MARK, 0);
	AT(&in, 100, 1, KTR_WAKE, 9, 9, KTR_CONTEXT_TASK);
	touch(&in, 101, 1);
	touch(&in, 103, 3);
	touch(&in, 106, 1);
	AT(&in, 106, 1, KTR_SCHEDULE, 1, KTR_STATE_RUNNABLE, 2, 2, 2);
	touch(&in, 108, 2);
	touch(&in, 112, 4);
	touch(&in, 113, 1);
	touch(&in, 114, 3);
	touch(&in, 115, 4);
	run_by_hand(&in, &machine, &result, NULL);
	assert_result(result, expected);
	stream_free(&in);
}

/* What waited for the other process waits as long as it did; the first was woken by an interrupt. */
static void test_alone_by_hand(void **state)
{
	const struct oracle_machine machine = { .cpus = 1, .scheduler = ORACLE_RR };
	const struct oracle_result expected[] = {
		{ .task = { [1] = { .references = 2, .cold = 2, .running = 8, .waiting = 5,
				    .end = 13, .dispatches = 2 } },
		  .end = 13, .busy = 8, .idle = 5, .switches = 1, .faults = 2 },
		{ .task = { [2] = { .references = 1, .cold = 1, .running = 6, .waiting = 1,
				    .end = 7, .dispatches = 1 } },
		  .end = 7, .busy = 6, .idle = 1, .switches = 1, .faults = 1 },
	};
	struct oracle_result result;
	struct oracle_split split;
	struct stream in = { 0 };

	(void)state;
	make_sleepers(&in);
	oracle_split(&in, &split);
	for (uint64_t process = 1; process <= 2; process++) {
		struct oracle_split alone;

		oracle_split_alone(&split, process, &alone);
		oracle_schedule(&alone, &machine, &result, NULL, NULL);
		assert_result(result, expected[process - 1]);
		oracle_split_free(&alone);
	}
	oracle_split_free(&split);
	stream_free(&in);
}

/*
 * The first waits for the second before the first window, and the second for 10 cycles of windows between
 * which it is woken.
 */
static void test_windows_by_hand(void **state)
{
	const struct oracle_machine machine = { .cpus = 1, .scheduler = ORACLE_RR };
	const struct oracle_result expected = {
		.task = { [1] = { .references = 1, .cold = 1, .running = 30, .ready = 20, .end = 50,
				  .dispatches = 2 },
			  [2] = { .references = 2, .cold = 1, .running = 30, .ready = 20,
				  .waiting = 10, .end = 60, .dispatches = 2 } },
		.end = 60, .busy = 60, .switches = 4, .faults = 2,
	};
	struct oracle_result result;
	struct stream in = { 0 };

	(void)state;
	AT(&in, 100, 1, KTR_MARK, 0);
	AT(&in, 150, 1, KTR_SCHEDULE, 1, KTR_STATE_SLEEPING, 2, 2, 2);
	AT(&in, 160, 2, KTR_WAKE, 1, 1, KTR_CONTEXT_TASK);
	AT(&in, 180, 2, LPL_EVENT_TRACING, 1);
	touch(&in, 190, 1);
	AT(&in, 200, 2, KTR_SCHEDULE, 2, KTR_STATE_SLEEPING, 1, 1, 1);
	touch(&in, 210, 2);
	AT(&in, 210, 1, LPL_EVENT_TRACING, 0);
	AT(&in, 700, 1, KTR_WAKE, 2, 2, KTR_CONTEXT_INTERRUPT);
	AT(&in, 800, 1, LPL_EVENT_TRACING, 1);
	AT(&in, 820, 1, KTR_SCHEDULE, 1, KTR_STATE_RUNNABLE, 2, 2, 2);
	touch(&in, 830, 1);
	run_by_hand(&in, &machine, &result, NULL);
	assert_result(result, expected);
	stream_free(&in);
}

/* ---- the oracle against what is known of it ---- */

/* Which task made what, as the merge has it. */
struct checker {
	struct lpl_merge_output output;
	const struct oracle_split *split;
	size_t head, next;
	bool differs;
};

static void check_task(struct checker *checker, const struct lpl_merge_task *task)
{
	const struct oracle_record *record = &checker->split->record[checker->next++];

	checker->differs |= record->task != (int)task->serial ||
		record->process != task->process;
}

static enum lpl_error check_reference(struct lpl_merge_output *output, const struct lpl_merged *merged,
				      struct lpl_report *report)
{
	struct checker *checker = (struct checker *)output;

	(void)report;
	checker->differs |= checker->split->record[checker->next].page != merged->page &&
		!checker->split->canonical;
	check_task(checker, merged->task);
	return LPL_OK;
}

static enum lpl_error check_event(struct lpl_merge_output *output, const struct lpl_event *event,
				  const struct lpl_merge_task *task, struct lpl_report *report)
{
	struct checker *checker = (struct checker *)output;

	(void)report;
	if (checker->head > 0)		/* a state's are no records */
		checker->head--;
	else if (event->tag != LPL_EVENT_PAGE)
		check_task(checker, task);
	return LPL_OK;
}

static enum lpl_error check_finish(struct lpl_merge_output *output, struct lpl_report *report)
{
	(void)output;
	(void)report;
	return LPL_OK;
}

static enum lpl_error check_last(struct lpl_merge_output *output, const struct lpl_merge_task *task,
				 struct lpl_report *report)
{
	struct checker *checker = (struct checker *)output;
	const struct oracle_split_task *like = &checker->split->task[task->serial];

	(void)report;
	if (task->state != LPL_TASK_LIVES)
		checker->differs |= like->process != task->process || like->tid != task->tid ||
			(like->parent != 0 && (uint64_t)like->parent != task->parent);
	return LPL_OK;
}

static void check_split(const struct stream *in, const struct oracle_split *split)
{
	struct checker checker = {
		.output = { .reference = check_reference, .event = check_event,
			    .finish = check_finish, .task = check_last },
		.split = split, .head = split->head,
	};
	struct lpl_report report = { 0 };
	struct lpl_merge *merge;

	assert_int_equal(lpl_merge_open(&merge, &checker.output, NULL, &report), LPL_OK);
	assert_int_equal(stream_send(in, lpl_merge_sink(merge), 7, &report), LPL_OK);
	assert_int_equal(checker.next, split->count);
	if (checker.differs) {
		print_threads(in, stderr);
		fail_msg("the merge says otherwise");
	}
	lpl_merge_close(merge);
}

/* Every cycle of a task is one in some state, and every cycle of a processor. */
static void check_sums(const struct oracle_split *split, const struct oracle_machine *machine,
		       const struct oracle_result *result)
{
	for (int task = 0; task < split->tasks; task++) {
		const struct oracle_task *t = &result->task[task];

		assert_int_equal(t->running + t->ready + t->paging + t->waiting,
				 t->end - t->begin);
		assert_true(t->switching + t->suspended <= t->ready);
	}
	assert_int_equal(result->busy + result->switching + result->idle,
			 machine->cpus * result->end);
}

/* With one memory for all, what it does is known from the references in their order. */
static void check_memory(const struct oracle_machine *machine, const struct oracle_result *result,
			 const struct stream *out)
{
	struct trace trace;
	struct counts counts;

	if (machine->pages == 0 || machine->memory > ORACLE_CLOCK)
		return;
	trace_of(out, &trace);
	counts = machine->memory == ORACLE_LRU ? oracle_lru(&trace, machine->pages) :
		oracle_clock(&trace, machine->pages);
	assert_int_equal(result->faults, counts.faults);
	assert_int_equal(result->evictions, counts.evictions);
	assert_int_equal(result->dirty_evictions, counts.dirty_evictions);
	trace_free(&trace);
}

/* Nothing is lost, and of the recorded order nothing is changed. */
static void check_output(const struct oracle_split *split, const struct oracle_machine *machine,
			 const struct stream *out)
{
	size_t place = split->head;

	if (machine->scheduler != ORACLE_RECORDED || machine->fault_cycles != 0 ||
	    machine->switch_cycles != 0)
		return;
	for (size_t i = 0; i < split->count; i++) {
		const struct oracle_record *record = &split->record[i];

		while (place < out->count && out->item[place].is_event &&
		       out->item[place].event.tag == LPL_EVENT_PAGE)
			place++;
		if (record->item->is_event && lpl_event_is_fence(record->item->event.tag))
			continue;
		assert_true(place < out->count);
		assert_int_equal(record->item->is_event, out->item[place].is_event);
		if (record->item->is_event)
			assert_int_equal(record->item->event.ref, out->item[place].event.ref);
		else
			assert_int_equal(record->item->ref.ref, out->item[place].ref.ref);
		place++;
	}
	assert_int_equal(place, out->count);
}

/* The idle task has what is idle, so that the trace that is written takes as long as it did. */
static void check_written(const struct oracle_machine *machine, const struct oracle_result *result,
			  const struct stream *out)
{
	struct written_time written;

	if (machine->cpus > 1 || machine->scheduler == ORACLE_RECORDED)
		return;
	written = time_of_written(out);
	assert_int_equal(written.end, result->end);
	assert_int_equal(written.idle, result->idle);
	assert_int_equal(written.taken, result->busy + result->switching);
}

static void test_oracle(void **state)
{
	uint64_t seed = random_seed();
	struct trial trial = { .batch = 1 };
	struct stream out = { 0 };

	(void)state;
	for (unsigned int number = 0; number < 2000; number++) {
		struct random random = random_of(seed, number);
		struct oracle_result result;
		struct oracle_split split;

		random_trial(&random, &trial);
		oracle_split(&trial.in, &split);
		if (!split.valid) {
			print_threads(&trial.in, stderr);
			fail_msg("case %u is no stream of a guest", number);
		}
		check_split(&trial.in, &split);
		stream_clear(&out);
		trial.machine.scale = 1;
		oracle_schedule(&split, &trial.machine, &result, &out, NULL);
		check_sums(&split, &trial.machine, &result);
		check_memory(&trial.machine, &result, &out);
		check_output(&split, &trial.machine, &out);
		check_written(&trial.machine, &result, &out);
		oracle_split_free(&split);
	}
	trial_free(&trial);
	stream_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quanta_by_hand),
		cmocka_unit_test(test_priorities_by_hand),
		cmocka_unit_test(test_recorded_by_hand),
		cmocka_unit_test(test_fair_by_hand),
		cmocka_unit_test(test_shares_by_hand),
		cmocka_unit_test(test_ws_by_hand),
		cmocka_unit_test(test_pff_by_hand),
		cmocka_unit_test(test_load_by_hand),
		cmocka_unit_test(test_taken_off_by_hand),
		cmocka_unit_test(test_alone_by_hand),
		cmocka_unit_test(test_windows_by_hand),
		cmocka_unit_test(test_oracle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
