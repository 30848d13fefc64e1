/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Of threads that are scheduled again, what needs no oracle of schedulers: the re-interleaved trace
 * is a trace, and run in its order it is made once more; and a memory for all, under any policy,
 * faults as oracle_sim.h's do on the references of that trace.
 */
#include "schedule_trial.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <laplace/merge.h>

#include "oracle_cache.h"
#include "oracle_sim.h"
#include "thread_guest.h"

static enum lpl_error check_nothing(struct lpl_merge_output *output, const struct lpl_merged *merged,
				    struct lpl_report *report)
{
	(void)output;
	(void)merged;
	(void)report;
	return LPL_OK;
}

static enum lpl_error check_finish(struct lpl_merge_output *output, struct lpl_report *report)
{
	(void)output;
	(void)report;
	return LPL_OK;
}

/* The first machine of many a case, on one processor; with what it makes of the trace. */
static struct lpl_schedule *play(struct random *random, struct trial *trial, struct stream *out,
				 struct lpl_machine *machine)
{
	struct lpl_schedule *schedule;
	struct lpl_report report = { 0 };
	struct collector collector;

	stream_clear(out);
	random_trial(random, trial);
	trial->machine.cpus = 1;
	/* in a canonical trace of the same order a task is not known if its first events are left out */
	if (trial->machine.scheduler == ORACLE_RECORDED)
		trial->machine.scheduler = ORACLE_RR;
	schedule = schedule_of(trial);
	*machine = machine_of(&trial->machine);
	collector_init(&collector, out);
	if (lpl_schedule_run(schedule, machine, &collector.sink, &report) != LPL_OK)
		fail_msg("%s", report.text);
	return schedule;
}

/*
 * What is made is a trace: each event is by the task that runs by then, and taken apart again and
 * run in its order it is the same.
 */
static void test_again(void **state)
{
	const struct lpl_machine recorded = { .cpus = 1, .scheduler = LPL_SCHEDULER_RECORDED };
	uint64_t seed = random_seed();
	struct trial trial = { .batch = 1 };
	struct stream out = { 0 }, again = { 0 };

	(void)state;
	for (unsigned int number = 0; number < 500; number++) {
		struct random random = random_of(seed, 100000 + number);
		struct lpl_merge_output output = { .reference = check_nothing,
						   .finish = check_finish };
		struct lpl_report report = { 0 };
		struct collector collector;
		struct lpl_machine machine;
		struct lpl_schedule *schedule = play(&random, &trial, &out, &machine);
		struct lpl_merge *merge;
		size_t place;

		lpl_schedule_close(schedule);
		assert_int_equal(lpl_merge_open(&merge, &output, NULL, &report), LPL_OK);
		assert_int_equal(stream_send(&out, lpl_merge_sink(merge), 9, &report), LPL_OK);
		if (lpl_merge_stats(merge)->anomalies[LPL_ANOMALY_MISSED_SCHEDULE] != 0) {
			print_threads(&out, stderr);
			fail_msg("case %u: an event is by a task that does not run", number);
		}
		lpl_merge_close(merge);

		stream_clear(&again);
		assert_int_equal(lpl_schedule_open(&schedule, NULL, &report), LPL_OK);
		assert_int_equal(stream_send(&out, lpl_schedule_sink(schedule), 9, &report), LPL_OK);
		collector_init(&collector, &again);
		assert_int_equal(lpl_schedule_run(schedule, &recorded, &collector.sink, &report),
				 LPL_OK);
		if (!stream_equal(&out, &again, &place)) {
			print_threads(&out, stderr);
			print_threads(&again, stderr);
			fail_msg("case %u: another trace from record %zu on", number, place);
		}
		lpl_schedule_close(schedule);
	}
	trial_free(&trial);
	stream_free(&out);
	stream_free(&again);
}

static struct counts default_segq(const struct trace *trace, uint64_t size)
{
	return oracle_segq(trace, size, 0);
}

static struct counts default_fbr(const struct trace *trace, uint64_t size)
{
	return oracle_fbr(trace, size, &(struct fbr_options){ 25, 60, 100, 100 });
}

static struct counts default_glru(const struct trace *trace, uint64_t size)
{
	return oracle_glru(trace, size, 40, 160);
}

static struct counts default_eelru(const struct trace *trace, uint64_t size)
{
	return oracle_eelru(trace, size, &(struct eelru_options){ 40, 3, 30 });
}

static struct counts short_seq(const struct trace *trace, uint64_t size)
{
	return oracle_seq(trace, size, &(struct seq_options){ 2, 1, 2 });
}

static struct counts default_2q(const struct trace *trace, uint64_t size)
{
	return oracle_2q(trace, size, 25, 50);
}

static struct counts default_lirs(const struct trace *trace, uint64_t size)
{
	return oracle_lirs(trace, size, 1, 200);
}

static struct counts default_clockpro(const struct trace *trace, uint64_t size)
{
	return oracle_clockpro(trace, size, 1);
}

static struct counts default_s3fifo(const struct trace *trace, uint64_t size)
{
	return oracle_s3fifo(trace, size, &(struct s3fifo_options){ 10, 90, 2 });
}

/*
 * A trace, long enough for a memory to be full many times over, which is more than the oracles of
 * schedulers take, and a machine of one processor.
 */
static struct lpl_schedule *play_longer(struct random *random, struct trial *trial,
					struct lpl_machine *machine)
{
	struct thread_plot plot = random_thread_plot(random);
	struct lpl_schedule *schedule;
	struct lpl_report report = { 0 };

	plot.count = 100 + random_below(random, 600);
	play_threads(random, &plot, &trial->in);
	trial->scale = 1;
	next_machine(random, trial);
	trial->machine.cpus = 1;
	*machine = machine_of(&trial->machine);
	machine->priority = NULL;
	assert_int_equal(lpl_schedule_open(&schedule, NULL, &report), LPL_OK);
	if (stream_send(&trial->in, lpl_schedule_sink(schedule), 9, &report) != LPL_OK)
		fail_msg("%s", report.text);
	return schedule;
}

/* A memory for all sees the references in the order in which they are made, whoever waits. */
static void test_policies(void **state)
{
	static const struct {
		const char *name;
		struct counts (*oracle)(const struct trace *trace, uint64_t size);
	} policies[] = {
		{ "lru", oracle_lru }, { "clock", oracle_clock }, { "segq", default_segq },
		{ "fbr", default_fbr }, { "glru", default_glru }, { "eelru", default_eelru },
		{ "seq:length=2:distance=1:faults=2", short_seq }, { "2q", default_2q },
		{ "arc", oracle_arc }, { "car", oracle_car }, { "lirs", default_lirs },
		{ "clockpro", default_clockpro }, { "sieve", oracle_sieve },
		{ "s3fifo", default_s3fifo }, { "lfu", oracle_lfu }, { "mru", oracle_mru },
		{ "fifo", oracle_fifo },
	};
	uint64_t seed = random_seed();
	struct trial trial = { .batch = 1 };
	struct stream out = { 0 };

	(void)state;
	for (unsigned int number = 0; number < 300; number++) {
		struct random random = random_of(seed, 200000 + number);
		struct lpl_report report = { 0 };
		struct lpl_machine machine;
		struct lpl_schedule *schedule = play_longer(&random, &trial, &machine);

		machine.memory = LPL_MEMORY_GLOBAL;
		machine.window = 0;
		machine.pages = 2 + random_below(&random, 7);
		for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
			const struct lpl_schedule_result *result;
			struct collector collector;
			struct counts counts;
			struct trace trace;

			machine.policy = policies[i].name;
			stream_clear(&out);
			collector_init(&collector, &out);
			if (lpl_schedule_run(schedule, &machine, &collector.sink, &report) != LPL_OK)
				fail_msg("%s: %s", machine.policy, report.text);
			trace_of(&out, &trace);
			counts = policies[i].oracle(&trace, machine.pages);
			result = lpl_schedule_result(schedule);
			if (result->references != counts.references ||
			    result->faults != counts.faults ||
			    result->evictions != counts.evictions ||
			    result->dirty_evictions != counts.dirty_evictions) {
				print_threads(&out, stderr);
				fail_msg("case %u, %s, %" PRIu64 " pages: %" PRIu64 " faults, %"
					 PRIu64 " evictions, %" PRIu64 " dirty, not %" PRIu64 ", %"
					 PRIu64 ", %" PRIu64, number, machine.policy, machine.pages,
					 result->faults, result->evictions, result->dirty_evictions,
					 counts.faults, counts.evictions, counts.dirty_evictions);
			}
			trace_free(&trace);
		}
		lpl_schedule_close(schedule);
	}
	trial_free(&trial);
	stream_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_policies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
