/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is left of a reduction's promise when threads are scheduled again (docs/theory.md): where no two
 * threads reference a page, and no LRU queue is ever made shorter than K pages, everything; and where one of
 * these does not hold, nothing.
 */
#include "schedule_trial.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <laplace/reducer.h>

#include "thread_guest.h"

static const char *const specs[] = {
	"block", "window:%" PRIu64, "sad:%" PRIu64, "fence+sad:%" PRIu64, "window:%" PRIu64 "+sad:%" PRIu64,
	"sad-ws:%" PRIu64, "sad:%" PRIu64 "+sad:%" PRIu64,
	"sad:%" PRIu64 "+sad2:%" PRIu64		/* its faults wait: not for machines */
};
enum { SPECS = sizeof(specs) / sizeof(specs[0]), TIMED = SPECS - 1 };

__attribute__((format(printf, 2, 0)))
static void write_spec(char spec[LPL_SPEC_SIZE], const char *format, uint64_t pages)
{
	(void)snprintf(spec, LPL_SPEC_SIZE, format, pages, pages);
}

static void reduce(const char *spec, const struct stream *in, size_t batch, struct stream *out)
{
	struct lpl_report report = { 0 };
	struct lpl_reducer *reducer;
	struct collector collector;

	stream_clear(out);
	collector_init(&collector, out);
	assert_int_equal(lpl_reducer_open(&reducer, NULL, spec, &collector.sink, &report), LPL_OK);
	assert_int_equal(stream_send(in, lpl_reducer_sink(reducer), batch, &report), LPL_OK);
	lpl_reducer_close(reducer);
}

/* ---- what is claimed ---- */

static void test_claims(void **state)
{
	static const struct {
		const char *reduction;
		uint64_t pages;
	} rows[] = {
		{ "none", 1 }, { "block", 1 }, { "sad:8", 8 }, { "fence+sad:8+window:16", 16 },
		{ "sad-ws:100+block", 100 }, { "sad2:8", 0 }, { "sad2-fix:8", 0 }, { "olr:8", 0 },
		{ "sad:8+lrubs:8", 0 }, { "sd:8", 0 }, { "irg:8", 0 }, { "glass-cao:8", 0 },
		{ "sad:8+merged", 0 }, { "sad:8+chosen", 0 }, { "sad:8+scheduled", 0 }, { "later:8", 0 }
	};
	struct lpl_report report = { 0 };
	char scheduled[LPL_SPEC_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(lpl_reduction_any_order(rows[i].reduction), rows[i].pages);
	assert_int_equal(lpl_reduction_scheduled("sad:8", scheduled, &report), LPL_OK);
	assert_string_equal(scheduled, "sad:8+scheduled");
	assert_int_equal(lpl_reduction_scheduled(NULL, scheduled, &report), LPL_OK);
	assert_string_equal(scheduled, "none");
}

/* ---- a queue for each thread, of a size that does not change ---- */

static void only_of(const struct stream *in, uint64_t thread, struct stream *out)
{
	stream_clear(out);
	for (size_t i = 0; i < in->count; i++)
		if (!in->item[i].is_event && in->item[i].ref.address >> 20 == thread)
			stream_add_ref(out, &in->item[i].ref);
}

/* A thread's LRU queue does not see in which order others have run. */
static void test_queues(void **state)
{
	uint64_t seed = random_seed();
	struct random random = { seed };
	struct stream whole = { 0 }, reduced = { 0 }, one = { 0 }, other = { 0 };

	(void)state;
	for (unsigned int number = 0; number < 3000; number++) {
		const uint64_t pages = 1 + random_below(&random, 5);
		const uint32_t threads = 1 + random_below(&random, 3);
		char spec[LPL_SPEC_SIZE];
		const uint64_t from = number % SPECS == 0 ? 1 : pages;

		write_spec(spec, specs[number % SPECS], pages);
		stream_clear(&whole);
		random_stream(&random, number / SPECS % SHAPES, 1 + random_below(&random, 8),
			      random_below(&random, 150), false, &whole);
		for (size_t i = 0; i < whole.count; i++)
			whole.item[i].ref.address += (uint64_t)random_below(&random, threads) << 20;
		reduce(spec, &whole, 1 + random_below(&random, 20), &reduced);
		for (uint64_t thread = 0; thread < threads; thread++) {
			struct trace a, b;

			only_of(&whole, thread, &one);
			only_of(&reduced, thread, &other);
			trace_of(&one, &a);
			trace_of(&other, &b);
			for (uint64_t size = from; size < from + 4; size++)
				if (!counts_equal(oracle_lru(&a, size), oracle_lru(&b, size))) {
					stream_print("all threads", &whole);
					stream_print("reduced", &reduced);
					fail_msg("case %u, %s: thread %" PRIu64 " differs with %" PRIu64
						 " pages", number, spec, thread, size);
				}
			trace_free(&a);
			trace_free(&b);
		}
	}
	stream_free(&whole);
	stream_free(&reduced);
	stream_free(&one);
	stream_free(&other);
}

/* ---- machines ---- */

struct pair {
	struct stream whole, reduced;
	struct lpl_schedule *schedule, *again;	/* of the one, and of the other */
	uint64_t pages;				/* that the reduction is for */
	uint64_t processes;
};

static struct lpl_schedule *take_apart(const struct stream *stream)
{
	struct lpl_report report = { 0 };
	struct lpl_schedule *schedule;

	assert_int_equal(lpl_schedule_open(&schedule, NULL, &report), LPL_OK);
	assert_int_equal(stream_send(stream, lpl_schedule_sink(schedule), 9, &report), LPL_OK);
	return schedule;
}

static void run(struct lpl_schedule *schedule, const struct lpl_machine *machine)
{
	struct lpl_report report = { 0 };

	if (lpl_schedule_run(schedule, machine, NULL, &report) != LPL_OK)
		fail_msg("%s", report.text);
}

/* A time after the last reference that is kept belongs to whoever has the next record. */
static void end_with_event(struct stream *stream)
{
	const struct item *last = &stream->item[stream->count - 1];
	struct lpl_event event = {
		.tag = LPL_EVENT_MARK,
		.ref = last->is_event ? last->event.ref : last->ref.ref,
		.instr = last->is_event ? last->event.instr : last->ref.instr,
		.cycle = last->is_event ? last->event.cycle : last->ref.cycle,
	};

	stream_add_event(stream, &event);
}

static void random_pair(struct random *random, unsigned int number, bool alone, struct pair *pair)
{
	const struct lpl_machine any = { .cpus = 1, .scheduler = LPL_SCHEDULER_RR };
	struct thread_plot plot = random_thread_plot(random);
	char spec[LPL_SPEC_SIZE];

	plot.alone = alone;
	plot.count = 50 + random_below(random, 150);
	plot.pages = 1 + random_below(random, 8);
	/* time is lost with what was dropped where clocks jump, and where it is not known which task ran */
	plot.windows = plot.gaps = plot.reduced = false;
	plot.begin = TASKS_MADE_BY_IDLE;
	plot.idle = true;
	play_threads(random, &plot, &pair->whole);
	end_with_event(&pair->whole);
	pair->pages = 1 + random_below(random, 3);
	write_spec(spec, specs[number % TIMED], pair->pages);
	pair->pages = lpl_reduction_any_order(spec);
	reduce(spec, &pair->whole, 1 + random_below(random, 20), &pair->reduced);
	pair->schedule = take_apart(&pair->whole);
	pair->again = take_apart(&pair->reduced);
	run(pair->schedule, &any);
	pair->processes = lpl_schedule_processes(pair->schedule);
}

static void close_pair(struct pair *pair)
{
	lpl_schedule_close(pair->schedule);
	lpl_schedule_close(pair->again);
}

/* All that a machine says, but for how many references there are. */
static bool same_run(struct pair *pair, const struct lpl_machine *machine)
{
	struct lpl_schedule_result a, b;
	bool same;

	run(pair->schedule, machine);
	run(pair->again, machine);
	a = *lpl_schedule_result(pair->schedule);
	b = *lpl_schedule_result(pair->again);
	b.references = a.references;
	same = memcmp(&a, &b, sizeof(a)) == 0 &&
		lpl_schedule_tasks(pair->schedule) == lpl_schedule_tasks(pair->again);
	for (size_t i = 0; same && i < lpl_schedule_tasks(pair->schedule); i++) {
		struct lpl_schedule_task one = *lpl_schedule_task(pair->schedule, i);
		struct lpl_schedule_task other = *lpl_schedule_task(pair->again, i);

		other.references = one.references;
		other.name = one.name;
		same = memcmp(&one, &other, sizeof(one)) == 0;
	}
	return same;
}

enum departure { NONE, GLOBAL, SHORTER, SHARED, DEPARTURES };

static bool is_exact(struct random *random, unsigned int number, enum departure departure, struct pair *pair,
		     struct trial *trial)
{
	struct lpl_machine machine;
	bool exact = true;

	random_pair(random, number, departure != SHARED, pair);
	for (int i = 0; exact && i < 6; i++) {
		next_machine(random, trial);
		trial->machine.instructions = false;
		if (trial->machine.scheduler == ORACLE_RECORDED)
			trial->machine.scheduler = ORACLE_RR;
		machine = machine_of(&trial->machine);
		machine.policy = NULL;
		machine.memory = departure == GLOBAL ? LPL_MEMORY_GLOBAL : LPL_MEMORY_LOCAL_EQUAL;
		machine.window = 0;
		machine.pages = (pair->pages - (departure == SHORTER)) * pair->processes +
			(departure == SHORTER ? 0 : random_below(random, 4));
		if (machine.pages != 0 && pair->processes != 0)
			exact = same_run(pair, &machine);
	}
	if (!exact && departure == NONE) {
		print_threads(&pair->whole, stderr);
		print_threads(&pair->reduced, stderr);
		print_machine(&trial->machine);
	}
	close_pair(pair);
	return exact;
}

/* Of processes of one thread each, the same machine at every moment. */
static void test_machines(void **state)
{
	uint64_t seed = random_seed();
	struct pair pair = { .pages = 0 };
	struct trial trial = { .scale = 1 };

	(void)state;
	for (unsigned int number = 0; number < 500; number++) {
		struct random random = random_of(seed, 300000 + number);

		if (!is_exact(&random, number, NONE, &pair, &trial))
			fail_msg("case %u differs", number);
	}
	stream_free(&pair.whole);
	stream_free(&pair.reduced);
}

/* None of the conditions is there for nothing. */
static void test_conditions(void **state)
{
	uint64_t seed = random_seed();
	struct pair pair = { .pages = 0 };
	struct trial trial = { .scale = 1 };

	(void)state;
	for (int departure = NONE + 1; departure < DEPARTURES; departure++) {
		unsigned int number = 0;

		for (; number < 2000; number++) {
			struct random random = random_of(seed, 400000 + number);

			if (!is_exact(&random, number, (enum departure)departure, &pair, &trial))
				break;
		}
		if (number == 2000)
			fail_msg("departure %d is exact, too", departure);
	}
	stream_free(&pair.whole);
	stream_free(&pair.reduced);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_claims),
		cmocka_unit_test(test_queues),
		cmocka_unit_test(test_machines),
		cmocka_unit_test(test_conditions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
