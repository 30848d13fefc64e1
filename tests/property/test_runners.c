/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Faults by the task that runs, against their definition: one memory that is a row of pages, and
 * each fault is charged to the task that makes the reference.  The machine is a script of tasks
 * that are made, get the processor and end; which one runs is noted with each reference.
 */
#include "play.h"

#include <laplace/reducer.h>
#include <laplace/select.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TASKS = 30, UNKNOWN = TASKS, LABELS, PAGES = 25, MOST_REFS = 30000 };
/* Many more references than a simulator takes at once. */
enum { STEPS = 150, MANY_STEPS = 3000 };

/* A task is known by its tid, which no other gets; a process by its leader's. */
struct machine {
	struct random random;
	struct stream stream;
	uint32_t process[TASKS];	/* by tid; 0, and not of idle: there is none */
	bool kernel[TASKS];
	uint32_t tasks, runs;
	uint32_t by_task[MOST_REFS], by_process[MOST_REFS];	/* the maker of each reference */
	size_t refs;
};

static void add_event(struct machine *m, const struct lpl_event *event)
{
	stream_add_event(&m->stream, event);
}

static void reference(struct machine *m, uint32_t most)
{
	for (uint32_t i = random_below(&m->random, most); i > 0 && m->refs < MOST_REFS; i--) {
		stream_add_page(&m->stream, 1 + random_below(&m->random, PAGES),
				random_below(&m->random, 4) == 0 ? LPL_WRITE : LPL_READ);
		m->by_task[m->refs] = m->runs;
		m->by_process[m->refs++] = m->runs == UNKNOWN || m->kernel[m->runs] ?
			m->runs : m->process[m->runs];
	}
}

static void create(struct machine *m)
{
	const uint32_t tid = ++m->tasks, maker = m->runs;
	struct lpl_event event = { .tag = KTR_TASK_CREATE, .tid = maker, .tgid = m->process[maker],
				   .text = "task", .text_length = 4 };

	m->kernel[tid] = random_below(&m->random, 4) == 0;
	m->process[tid] = tid;
	if (maker != 0 && !m->kernel[maker] && !m->kernel[tid] && random_below(&m->random, 2) == 0)
		m->process[tid] = m->process[maker];	/* a thread */
	event.arg[KTR_TASK_CREATE_TID] = tid;
	event.arg[KTR_TASK_CREATE_TGID] = m->process[tid];
	event.arg[KTR_TASK_CREATE_SPACE] = m->kernel[tid] ? 0 : 100 + m->process[tid];
	add_event(m, &event);
}

static void schedule(struct machine *m, uint32_t to, uint64_t state)
{
	const struct lpl_event event = {
		.tag = KTR_SCHEDULE, .tid = m->runs, .tgid = m->process[m->runs],
		.arg = { m->runs, state, to, m->process[to] },
	};

	add_event(m, &event);
	m->runs = to;
}

/* It still makes references, until its last switch.  A leader does not end. */
static void end(struct machine *m)
{
	const uint32_t tid = m->runs;
	const struct lpl_event event = { .tag = KTR_EXIT, .tid = tid, .tgid = m->process[tid],
					 .arg = { tid, m->process[tid] } };

	if (tid == 0 || (m->process[tid] == tid && !m->kernel[tid]))
		return;
	add_event(m, &event);
	reference(m, 4);
	schedule(m, 0, KTR_STATE_DEAD);
	m->process[tid] = 0;
}

static void run_machine(struct machine *m, int steps)
{
	stream_clear(&m->stream);
	memset(m->process, 0, sizeof(m->process));
	memset(m->kernel, 0, sizeof(m->kernel));
	m->kernel[0] = true;		/* idle */
	m->tasks = 0;
	m->refs = 0;
	m->runs = UNKNOWN;
	reference(m, 9);		/* before any event */
	m->runs = 0;
	schedule(m, 0, 0);
	for (int i = 0; i < steps; i++) {
		uint32_t tid = random_below(&m->random, m->tasks + 1);

		switch (random_below(&m->random, 8)) {
		case 0:
			if (m->tasks + 1 < TASKS)
				create(m);
			break;
		case 1:
			end(m);
			break;
		default:
			if (tid == 0 || m->process[tid] != 0)
				schedule(m, tid, random_below(&m->random, 3));
			reference(m, 1 + random_below(&m->random, 20));
			break;
		}
	}
}

/* ---- the definition ---- */

/* When a page is referenced next, from a reference on. */
static size_t next_use(const struct trace *trace, size_t from, uint32_t page)
{
	while (from < trace->count && trace->page[from] != page)
		from++;
	return from;
}

/* Which of the pages in a full row goes; the row is in the order of last use, the newest first. */
static uint32_t victim(const struct trace *trace, const uint32_t *row, uint32_t size, size_t now,
		       bool opt)
{
	uint32_t goes = size - 1;

	for (uint32_t i = size; opt && i-- > 0;)
		if (next_use(trace, now, row[i]) > next_use(trace, now, row[goes]))
			goes = i;
	return goes;
}

static void charge_demand(const struct trace *trace, uint32_t size, bool opt, const uint32_t *owner,
			  uint64_t charged[LABELS])
{
	uint32_t row[PAGES + 1], used = 0;

	for (size_t i = 0; i < trace->count; i++) {
		uint32_t place = 0;

		while (place < used && row[place] != trace->page[i])
			place++;
		if (place == used) {
			charged[owner[i]]++;
			place = used == size ? victim(trace, row, size, i, opt) : used++;
		}
		memmove(row + 1, row, place * sizeof(*row));
		row[0] = trace->page[i];
	}
}

/* Reference i comes at time i. */
static void charge_ws(const struct trace *trace, uint64_t tau, const uint32_t *owner,
		      uint64_t charged[LABELS])
{
	for (size_t i = 0; i < trace->count; i++) {
		size_t last = i;

		while (last > 0 && trace->page[last - 1] != trace->page[i])
			last--;
		if (last == 0 || i - (last - 1) > tau)
			charged[owner[i]]++;
	}
}

/* false: this policy's definition is not here. */
static bool charge(const char *policy, const struct trace *trace, uint64_t size,
		   const uint32_t *owner, uint64_t charged[LABELS])
{
	memset(charged, 0, LABELS * sizeof(*charged));
	if (strcmp(policy, "ws") == 0 || strcmp(policy, "vmin") == 0)
		charge_ws(trace, size, owner, charged);
	else if (strcmp(policy, "lru") == 0 || strcmp(policy, "opt") == 0)
		charge_demand(trace, (uint32_t)size, strcmp(policy, "opt") == 0, owner, charged);
	else
		return false;
	return true;
}

/* ---- the library ---- */

/* The last two look at times, which the simulator hands over only where one does. */
static const char *const policies[] = { "lru", "opt", "clock", "segq", "fbr", "ws", "vmin" };
enum { POLICIES = sizeof(policies) / sizeof(policies[0]), UNTIMED = POLICIES - 2 };
static const char some_sizes[] = "1,2,3,5,8,12,20,25";

/* A simulator and the tasks that ran in it. */
struct shared {
	struct lpl_simulator *simulator;
	struct lpl_runners *runners;
};

/* With the first so many policies. */
static struct shared run(const struct stream *in, size_t count, enum lpl_runner_unit unit,
			 const char *reduction, unsigned int jobs, size_t batch)
{
	struct shared shared = { .simulator = new_simulator(jobs, reduction) };

	for (size_t i = 0; i < count; i++)
		add_policy(shared.simulator, policies[i], some_sizes);
	assert_int_equal(lpl_runners_open(&shared.runners, shared.simulator, unit, NULL), LPL_OK);
	assert_int_equal(stream_send(in, lpl_runners_sink(shared.runners), batch, NULL), LPL_OK);
	return shared;
}

static void close_shared(struct shared *shared)
{
	lpl_runners_close(shared->runners);
	lpl_simulator_close(shared->simulator);
}

/* By label; returns the sum. */
static uint64_t charged_by(const struct shared *shared, size_t policy, size_t result,
			   uint64_t charged[LABELS])
{
	uint64_t sum = 0;

	memset(charged, 0, LABELS * sizeof(*charged));
	for (size_t i = 0; i < lpl_runners_count(shared->runners); i++) {
		const struct lpl_runner *runner = lpl_runners_at(shared->runners, i);
		uint64_t faults = lpl_simulator_charged(shared->simulator, policy, result,
							(uint32_t)i);

		assert_true(i == 0 || runner->id < TASKS);
		charged[i == 0 ? UNKNOWN : runner->id] += faults;
		sum += faults;
	}
	return sum;
}

static void check_references(const struct machine *m, const struct shared *shared,
			     const uint32_t *owner)
{
	for (size_t i = 0; i < lpl_runners_count(shared->runners); i++) {
		const struct lpl_runner *runner = lpl_runners_at(shared->runners, i);
		uint64_t wanted = 0;

		for (size_t j = 0; j < m->refs; j++)
			wanted += owner[j] == (i == 0 ? UNKNOWN : runner->id);
		assert_int_equal(runner->references, wanted);
		assert_true(i == 0 || wanted != 0);
	}
}

static bool same_result(const struct lpl_result *a, const struct lpl_result *b)
{
	return a->references == b->references && a->faults == b->faults &&
	       a->evictions == b->evictions && a->dirty_evictions == b->dirty_evictions &&
	       a->space_time == b->space_time;
}

/* Cold faults: each page's first reference is its maker's. */
static void check_cold(const struct machine *m, const struct shared *shared,
		       const struct trace *trace, const uint32_t *owner)
{
	uint64_t wanted[LABELS] = {0};

	for (size_t i = 0; i < m->refs; i++)
		wanted[owner[i]] += next_use(trace, 0, trace->page[i]) == i;
	for (size_t i = 0; i < lpl_runners_count(shared->runners); i++) {
		const struct lpl_runner *runner = lpl_runners_at(shared->runners, i);

		assert_int_equal(lpl_simulator_charged_cold(shared->simulator, (uint32_t)i),
				 wanted[i == 0 ? UNKNOWN : runner->id]);
	}
	assert_int_equal(lpl_simulator_pages(shared->simulator), trace->pages);
	assert_int_equal(lpl_simulator_charged_cold(shared->simulator, LABELS + 9999), 0);
}

/* Each policy's charges by definition, where one is here; and the sum is what all have. */
static void runners_by_definition(void **state)
{
	static struct machine m;
	struct trace trace;

	(void)state;
	m.random.state = random_seed();
	for (unsigned int number = 0; number < 60; number++) {
		const enum lpl_runner_unit unit = number % 2 ? LPL_RUNNER_TASK : LPL_RUNNER_PROCESS;
		const size_t count = number / 2 % 2 ? POLICIES : UNTIMED;
		const uint32_t *owner = unit == LPL_RUNNER_TASK ? m.by_task : m.by_process;
		struct shared shared;

		run_machine(&m, number < 4 ? MANY_STEPS : STEPS);
		trace_of(&m.stream, &trace);
		assert_int_equal(trace.count, m.refs);
		shared = run(&m.stream, count, unit, NULL, 1 + number % 3, 1 + random_below(&m.random, 9));
		check_references(&m, &shared, owner);
		check_cold(&m, &shared, &trace, owner);
		for (size_t i = 0; i < count; i++) {
			struct lpl_simulator *plain = simulate(policies[i], some_sizes, &m.stream, 64);
			size_t results;
			const struct lpl_result *all = lpl_simulator_results(plain, 0, &results);
			const struct lpl_result *result =
				lpl_simulator_results(shared.simulator, i, &results);

			for (size_t j = 0; j < results; j++) {
				uint64_t charged[LABELS], wanted[LABELS];

				assert_int_equal(charged_by(&shared, i, j, charged), all[j].faults);
				assert_true(same_result(&result[j], &all[j]));
				if (!charge(policies[i], &trace, all[j].size, owner, wanted))
					continue;
				for (uint32_t label = 0; label < LABELS; label++)
					if (charged[label] != wanted[label])
						fail_msg("LAPLACE_TEST_SEED=%" PRIu64 ", case %u: %s of %"
							 PRIu64 ": %" PRIu32 " has %" PRIu64
							 " faults, not %" PRIu64, random_seed(), number,
							 policies[i], all[j].size, label, charged[label],
							 wanted[label]);
			}
			lpl_simulator_close(plain);
		}
		close_shared(&shared);
		trace_free(&trace);
	}
	stream_free(&m.stream);
}

/* ---- what is reduced ---- */

/* What a reduction leaves exact is charged to the same ones, too; but not with SAD2. */
static const struct reduction {
	const char *spec;
	bool moves;		/* a fetch may become another's */
} reductions[] = {
	{ "block", false }, { "window:3", false }, { "sad:2", false }, { "sad:5", false },
	{ "sad2:3", true }, { "olr:4", false }, { "sad:3+olr:3", false }, { "sad-ws:5", false },
	{ "sad-ws:6+sad:3", false }, { "fence+sad:4", false }, { "window:4+sad:4", false },
	{ "block+window:2+sad:4", false },
};
enum { REDUCTIONS = sizeof(reductions) / sizeof(reductions[0]) };

/* The machine's stream, reduced, with the tasks that ran in it. */
static struct shared run_reduced(const struct machine *m, const char *spec)
{
	char reduction[LPL_SPEC_SIZE], exact[LPL_SPEC_SIZE];
	struct lpl_reducer *reducer;
	struct collector collector;
	struct stream out = { 0 };
	struct shared shared;

	collector_init(&collector, &out);
	assert_int_equal(lpl_reducer_open(&reducer, NULL, spec, &collector.sink, NULL), LPL_OK);
	assert_int_equal(stream_send(&m->stream, lpl_reducer_sink(reducer), 8, NULL), LPL_OK);
	lpl_reducer_close(reducer);
	assert_int_equal(lpl_reducer_describe(NULL, spec, reduction, exact, NULL), LPL_OK);
	shared = run(&out, POLICIES, LPL_RUNNER_TASK, reduction, 1, 8);
	stream_free(&out);
	return shared;
}

/* Of results that are called exact: how many have the same charges, and how many other ones. */
struct tally {
	unsigned int same, other;
};

static void compare(const struct shared *raw, const struct shared *reduced, struct tally *tally)
{
	for (size_t i = 0; i < POLICIES; i++) {
		size_t count;
		const struct lpl_result *result =
			lpl_simulator_results(reduced->simulator, i, &count);

		for (size_t j = 0; j < count; j++) {
			uint64_t wanted[LABELS], charged[LABELS];

			if (!result[j].exact)
				continue;
			assert_int_equal(charged_by(raw, i, j, wanted),
					 charged_by(reduced, i, j, charged));
			if (memcmp(wanted, charged, sizeof(wanted)) == 0)
				tally->same++;
			else
				tally->other++;
		}
	}
}

static void runners_of_reduced(void **state)
{
	static struct machine m;
	struct tally tally[REDUCTIONS] = { { 0 } };

	(void)state;
	m.random.state = random_seed() + 1;
	for (unsigned int number = 0; number < 100; number++) {
		struct shared raw;

		run_machine(&m, STEPS);
		raw = run(&m.stream, POLICIES, LPL_RUNNER_TASK, NULL, 1, 8);
		for (size_t i = 0; i < REDUCTIONS; i++) {
			struct shared reduced = run_reduced(&m, reductions[i].spec);

			compare(&raw, &reduced, &tally[i]);
			close_shared(&reduced);
		}
		close_shared(&raw);
	}
	for (size_t i = 0; i < REDUCTIONS; i++)
		if (tally[i].same == 0 || (tally[i].other != 0) != reductions[i].moves)
			fail_msg("LAPLACE_TEST_SEED=%" PRIu64 ": %s: %u results charge the same ones, "
				 "%u do not", random_seed(), reductions[i].spec, tally[i].same,
				 tally[i].other);
	stream_free(&m.stream);
}

/* ---- what cannot be ---- */

static void runners_refuse(void **state)
{
	struct lpl_simulator *simulator = new_simulator(1, NULL);
	const struct lpl_ref ref = { .ref = 1, .address = 0x1000 };
	struct lpl_sink *sink = lpl_simulator_sink(simulator);
	struct lpl_report report = { 0 };
	struct lpl_runners *runners;
	size_t count;

	(void)state;
	add_policy(simulator, "lru", "all");
	assert_int_equal(lpl_runners_open(&runners, simulator, LPL_RUNNER_TASK, &report),
			 LPL_ERR_USAGE);
	assert_null(runners);
	assert_non_null(strstr(report.text, "sizes have to be given"));
	/* too late */
	assert_int_equal(sink->refs(sink, &ref, 1, NULL), LPL_OK);
	assert_int_equal(lpl_simulator_charge(simulator, 0, &report), LPL_ERR_USAGE);
	assert_int_equal(sink->finish(sink, NULL), LPL_OK);
	/* and as if nothing had been asked */
	assert_int_equal(lpl_simulator_results(simulator, 0, &count)[0].faults, 1);
	assert_int_equal(lpl_simulator_charged(simulator, 0, 0, 0), 0);
	lpl_simulator_close(simulator);
	simulator = new_simulator(1, "lrubs:4");
	assert_int_equal(lpl_runners_open(&runners, simulator, LPL_RUNNER_TASK, &report),
			 LPL_ERR_USAGE);
	lpl_runners_close(runners);
	lpl_simulator_close(simulator);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runners_by_definition),
		cmocka_unit_test(runners_of_reduced),
		cmocka_unit_test(runners_refuse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
