/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Threads that are scheduled again are scheduled as docs/scheduling.md says: every number of every
 * task and of the machine, and the re-interleaved trace, record by record, of random guests
 * (thread_guest.h) on random machines are those of a machine that is watched cycle by cycle
 * (oracle_schedule.h), which was written from the definition alone.  The trace has all of the machine's
 * time in it, and what was idle is the idle task's.
 *
 * LAPLACE_TEST_SEED=SEED LAPLACE_TEST_CASE=NUMBER tries one case and shows what happens in it.
 */
#include "schedule_trial.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "thread_guest.h"

/* ---- numbers ---- */

/* One number of each side; of a task, or of the whole (serial < 0). */
typedef void compare_number(void *context, int serial, const char *name, uint64_t expected,
			    uint64_t found);

static void compare_task(compare_number *compare, void *context, int serial, uint64_t scale,
			 const struct oracle_task *e, const struct lpl_schedule_task *f)
{
	compare(context, serial, "references", e->references, f->references);
	compare(context, serial, "faults", e->cold + e->again, f->faults);
	compare(context, serial, "cold", e->cold, f->cold);
	compare(context, serial, "joined", e->joined, f->joined);
	compare(context, serial, "begin", e->begin * scale, f->begin);
	compare(context, serial, "end", e->end * scale, f->end);
	compare(context, serial, "running", e->running * scale, f->running);
	compare(context, serial, "ready", e->ready * scale, f->ready);
	compare(context, serial, "paging", e->paging * scale, f->paging);
	compare(context, serial, "waiting", e->waiting * scale, f->waiting);
	compare(context, serial, "switching", e->switching * scale, f->switching);
	compare(context, serial, "suspended", e->suspended * scale, f->suspended);
	compare(context, serial, "dispatches", e->dispatches, f->dispatches);
	compare(context, serial, "preemptions", e->preemptions, f->preemptions);
}

static void add_task(struct oracle_task *sum, const struct oracle_task *task, bool first)
{
	sum->references += task->references;
	sum->cold += task->cold;
	sum->again += task->again;
	sum->joined += task->joined;
	sum->begin = first || task->begin < sum->begin ? task->begin : sum->begin;
	sum->end = task->end > sum->end ? task->end : sum->end;
	sum->running += task->running;
	sum->ready += task->ready;
	sum->paging += task->paging;
	sum->waiting += task->waiting;
	sum->switching += task->switching;
	sum->suspended += task->suspended;
	sum->dispatches += task->dispatches;
	sum->preemptions += task->preemptions;
}

/* Does the machine run it? */
static bool takes_part(const struct oracle_split *split, const struct oracle_machine *machine,
		       int serial)
{
	return split->task[serial].records > 0 &&
		(serial != 0 || machine->scheduler == ORACLE_RECORDED);
}

static bool name_differs(const struct oracle_name *expected, const char *found)
{
	return strlen(found) != expected->length ||
		(expected->length != 0 && memcmp(found, expected->text, expected->length) != 0);
}

static void compare_tasks(compare_number *compare, void *context,
			  const struct lpl_schedule *schedule, const struct oracle_split *split,
			  const struct oracle_machine *machine, const struct oracle_result *expected)
{
	static const struct lpl_schedule_task none;
	struct oracle_task process[ORACLE_TASKS] = { 0 };
	bool seen[ORACLE_TASKS] = { false };

	for (int serial = 0; serial < split->tasks; serial++) {
		const struct oracle_split_task *like = &split->task[serial];
		const struct lpl_schedule_task *found = &none;

		for (size_t i = 0; i < lpl_schedule_tasks(schedule); i++)
			if (lpl_schedule_task(schedule, i)->serial == (uint64_t)serial)
				found = lpl_schedule_task(schedule, i);
		compare_task(compare, context, serial, machine->scale, &expected->task[serial], found);
		if (!takes_part(split, machine, serial))
			continue;
		compare(context, serial, "tid", like->tid, found->tid);
		compare(context, serial, "tgid", like->tgid, found->tgid);
		compare(context, serial, "process", like->process, found->process);
		compare(context, serial, "name", 0, name_differs(&like->name, found->name));
		add_task(&process[like->process], &expected->task[serial], !seen[like->process]);
		seen[like->process] = true;
	}
	for (int number = 0; number < ORACLE_TASKS; number++) {
		const struct lpl_schedule_task *found = &none;

		for (size_t i = 0; i < lpl_schedule_processes(schedule); i++)
			if (lpl_schedule_process(schedule, i)->serial == (uint64_t)number)
				found = lpl_schedule_process(schedule, i);
		compare_task(compare, context, 1000 + number, machine->scale, &process[number],
			     found);
		compare(context, 1000 + number, "deactivations",
			seen[number] ? expected->deactivations[number] : 0, found->deactivations);
	}
}

static void compare_all(compare_number *compare, void *context,
			const struct lpl_schedule *schedule, const struct oracle_split *split,
			const struct oracle_machine *machine, const struct oracle_result *e)
{
	const struct lpl_schedule_result *f = lpl_schedule_result(schedule);
	const struct lpl_schedule_trace *trace = lpl_schedule_trace(schedule);
	const uint64_t scale = machine->scale;
	uint64_t references = 0, cold = 0, joined = 0, deactivations = 0;
	uint64_t traced_references = 0, cycles = 0, instructions = 0, waits = 0;

	for (size_t i = 0; i < split->count; i++) {
		traced_references += split->record[i].item->is_event ? 0 : 1;
		cycles += split->record[i].dcycle * scale;
		instructions += split->record[i].dinstr * scale;
		waits += split->record[i].wait == WAIT_WAKE ||
			split->record[i].wait == WAIT_CYCLES ? 1 : 0;
	}
	compare(context, -1, "traced references", traced_references, trace->references);
	compare(context, -1, "traced cycles", cycles, trace->cycles);
	compare(context, -1, "traced instr", instructions, trace->instructions);
	compare(context, -1, "waits", waits, trace->waits);
	for (int serial = 0; serial < split->tasks; serial++) {
		references += e->task[serial].references;
		cold += e->task[serial].cold;
		joined += e->task[serial].joined;
	}
	for (int process = 0; process < ORACLE_TASKS; process++)
		deactivations += e->deactivations[process];
	compare(context, -1, "end", e->end * scale, f->end);
	compare(context, -1, "busy", e->busy * scale, f->busy);
	compare(context, -1, "switching", e->switching * scale, f->switching);
	compare(context, -1, "idle", e->idle * scale, f->idle);
	compare(context, -1, "idle while paging", e->idle_paging * scale, f->idle_paging);
	compare(context, -1, "switches", e->switches, f->switches);
	compare(context, -1, "references", references, f->references);
	compare(context, -1, "faults", e->faults, f->faults);
	compare(context, -1, "cold", cold, f->cold);
	compare(context, -1, "joined", joined, f->joined);
	compare(context, -1, "evictions", e->evictions, f->evictions);
	compare(context, -1, "deactivations", deactivations, f->deactivations);
	compare(context, -1, "dirty evictions", e->dirty_evictions, f->dirty_evictions);
	compare(context, -1, "devices busy", e->device_busy * scale, f->device_busy);
	compare(context, -1, "waits guessed", split->waits_guessed, trace->waits_guessed);
	compare(context, -1, "left waiting", split->left_waiting, trace->left_waiting);
	if (machine->scheduler != ORACLE_RECORDED) {
		compare(context, -1, "left out", e->left_out_references,
			trace->left_out_references);
		compare(context, -1, "left out, cycles", e->left_out_cycles * scale,
			trace->left_out_cycles);
	}
	compare_tasks(compare, context, schedule, split, machine, e);
}

static void number_differs(void *context, int serial, const char *name, uint64_t expected,
			   uint64_t found)
{
	(void)serial;
	(void)name;
	*(bool *)context |= expected != found;
}

static void print_number(void *context, int serial, const char *name, uint64_t expected,
			 uint64_t found)
{
	(void)context;
	if (expected == 0 && found == 0)
		return;
	(void)fprintf(stderr, "  %s %4d %-18s expected %6" PRIu64 ", found %6" PRIu64 "%s\n",
		      serial < 0 ? "machine" : serial >= 1000 ? "process" : "task   ",
		      serial < 0 ? 0 : serial % 1000, name, expected, found,
		      expected != found ? "   <---" : "");
}

/* ---- the re-interleaved trace ---- */

static bool event_equal(const struct lpl_event *expected, const struct lpl_event *found)
{
	return expected->tag == found->tag && expected->ref == found->ref &&
		expected->instr == found->instr && expected->cycle == found->cycle &&
		expected->tid == found->tid && expected->tgid == found->tgid &&
		memcmp(expected->arg, found->arg, sizeof(found->arg)) == 0 &&
		expected->text_length == found->text_length &&
		memcmp(expected->text, found->text, found->text_length) == 0;
}

/* What the merge says of a page. */
static void describe_pages(const struct stream *canonical, struct stream *out)
{
	for (size_t i = 0; i < out->count; i++) {
		struct lpl_event *event = &out->item[i].event;

		if (!out->item[i].is_event || event->tag != LPL_EVENT_PAGE)
			continue;
		for (size_t j = 0; j < canonical->count; j++) {
			const struct lpl_event *like = &canonical->item[j].event;

			if (canonical->item[j].is_event && like->tag == LPL_EVENT_PAGE &&
			    like->arg[LPL_EVENT_PAGE_NUMBER] == event->arg[LPL_EVENT_PAGE_NUMBER]) {
				memcpy(event->arg, like->arg, sizeof(event->arg));
				memcpy(event->text, like->text, sizeof(event->text));
				event->text_length = like->text_length;
				break;
			}
		}
	}
}

static size_t first_difference(const struct stream *expected, const struct stream *found)
{
	size_t i = 0;

	for (; i < expected->count && i < found->count; i++) {
		const struct item *e = &expected->item[i], *f = &found->item[i];

		if (e->is_event != f->is_event ||
		    (e->is_event ? !event_equal(&e->event, &f->event) :
		     memcmp(&e->ref, &f->ref, sizeof(e->ref)) != 0))
			return i;
	}
	return expected->count == found->count ? SIZE_MAX : i;
}

/* ---- one case ---- */

static void try_machine(struct lpl_schedule *schedule, struct oracle_machine *like,
			struct stream *out)
{
	const struct lpl_machine machine = machine_of(like);
	struct lpl_report report = { 0 };
	struct collector collector;

	collector_init(&collector, out);
	if (lpl_schedule_run(schedule, &machine, like->cpus == 1 ? &collector.sink : NULL,
			     &report) != LPL_OK)
		fail_msg("%s", report.text);
}

/* How long a process takes alone. */
static uint64_t alone_expected(const struct oracle_split *split,
			       const struct oracle_machine *machine, uint64_t process)
{
	struct oracle_result result;
	struct oracle_split alone;
	uint64_t end = 0;

	oracle_split_alone(split, process, &alone);
	oracle_schedule(&alone, machine, &result, NULL, NULL);
	for (int task = 1; task < alone.tasks; task++)
		end = result.task[task].end > end ? result.task[task].end : end;
	oracle_split_free(&alone);
	return end * machine->scale;
}

/* After a run, and before its results are looked at, for these stand. */
static void compare_alone(compare_number *compare, void *context, struct lpl_schedule *schedule,
			  const struct oracle_split *split, struct oracle_machine *like)
{
	const struct lpl_machine machine = machine_of(like);

	for (int process = 1; process < ORACLE_TASKS; process++) {
		struct lpl_report report = { 0 };
		bool exists = false;
		uint64_t cycles;

		for (int task = 1; task < split->tasks; task++)
			exists |= split->task[task].process == (uint64_t)process &&
				split->task[task].records > 0;
		if (!exists || like->scheduler == ORACLE_RECORDED)
			continue;
		if (lpl_schedule_run_alone(schedule, &machine, (uint64_t)process, &cycles,
					   &report) != LPL_OK)
			fail_msg("%s", report.text);
		compare(context, 1000 + process, "alone",
			alone_expected(split, like, (uint64_t)process), cycles);
	}
}

/*
 * In the recorded order: not where a switch comes before all, or a page for the idle task after all, or something
 * outside of windows; and where what is first and last is there.
 */
static bool keeps_time(const struct oracle_split *split, const struct oracle_machine *machine)
{
	if (machine->switch_cycles != 0)
		return false;
	for (size_t i = 0; i < split->in->count; i++)
		if (split->in->item[i].is_event && split->in->item[i].event.tag == LPL_EVENT_TRACING)
			return false;
	return split->count > 0 && !split->record[0].item->is_event &&
		!split->record[split->count - 1].item->is_event &&
		split->record[split->count - 1].task != 0;
}

/* The idle task has what was idle, so that the trace that was written takes as long as it did. */
static void compare_written(compare_number *compare, void *context,
			    const struct lpl_schedule *schedule, const struct oracle_split *split,
			    const struct oracle_machine *machine, const struct stream *written)
{
	const struct lpl_schedule_result *result = lpl_schedule_result(schedule);
	struct written_time time;

	if (machine->cpus > 1 || (machine->scheduler == ORACLE_RECORDED && !keeps_time(split, machine)))
		return;
	time = time_of_written(written);
	compare(context, -1, "written: end", result->end, time.end);
	if (machine->scheduler == ORACLE_RECORDED)	/* where other tasks may have the idle one's */
		return;
	compare(context, -1, "written: idle", result->idle, time.idle);
	compare(context, -1, "written: others", result->busy + result->switching, time.taken);
}

/* Does the library do anything else than the oracle?  If asked to, say what. */
static bool try_trial(struct trial *trial, struct lpl_schedule *schedule, bool print)
{
	struct stream expected = { 0 }, found = { 0 };
	struct oracle_result result;
	struct oracle_split split;
	bool differs = false;
	size_t place;

	oracle_split(&trial->in, &split);
	if (print)
		(void)fprintf(stderr, "what is expected to happen:\n");
	oracle_schedule(&split, &trial->machine, &result,
			trial->machine.cpus == 1 ? &expected : NULL, print ? stderr : NULL);
	describe_pages(split.canonical ? &trial->in : &trial->canonical, &expected);
	try_machine(schedule, &trial->machine, &found);
	compare_alone(number_differs, &differs, schedule, &split, &trial->machine);
	compare_all(number_differs, &differs, schedule, &split, &trial->machine, &result);
	compare_written(number_differs, &differs, schedule, &split, &trial->machine, &found);
	place = first_difference(&expected, &found);
	differs |= place != SIZE_MAX;
	if (print) {
		compare_alone(print_number, NULL, schedule, &split, &trial->machine);
		compare_all(print_number, NULL, schedule, &split, &trial->machine, &result);
		compare_written(print_number, NULL, schedule, &split, &trial->machine, &found);
		(void)fprintf(stderr, "expected output:\n");
		print_threads(&expected, stderr);
		(void)fprintf(stderr, "found output:\n");
		print_threads(&found, stderr);
		if (place != SIZE_MAX)
			(void)fprintf(stderr, "which differs first at record %zu\n", place);
	}
	oracle_split_free(&split);
	stream_free(&expected);
	stream_free(&found);
	return differs;
}

/* For shrinking: what is left has to be a guest's stream. */
static bool trial_differs(const struct stream *in, void *context)
{
	struct trial *trial = context;
	struct trial shrunk = *trial;
	struct lpl_schedule *schedule;
	struct oracle_split split;
	bool differs;

	oracle_split(in, &split);
	differs = split.valid;
	oracle_split_free(&split);
	if (!differs)
		return false;
	shrunk.in = *in;
	shrunk.canonical = (struct stream){ 0 };
	make_canonical(in, &shrunk.canonical);
	schedule = schedule_of(&shrunk);
	differs = try_trial(&shrunk, schedule, false);
	lpl_schedule_close(schedule);
	stream_free(&shrunk.canonical);
	return differs;
}

static void report(struct trial *trial, uint64_t seed, unsigned int number)
{
	struct lpl_schedule *schedule;

	(void)fprintf(stderr, "LAPLACE_TEST_SEED=%" PRIu64 " LAPLACE_TEST_CASE=%u\n", seed, number);
	print_machine(&trial->machine);
	print_threads(&trial->in, stderr);
	make_canonical(&trial->in, &trial->canonical);
	schedule = schedule_of(trial);
	(void)try_trial(trial, schedule, true);
	lpl_schedule_close(schedule);
}

static void test_library(void **state)
{
	const char *only = getenv("LAPLACE_TEST_CASE");
	const char *most = getenv("LAPLACE_TEST_CASES");
	unsigned int first = only != NULL ? (unsigned int)strtoul(only, NULL, 0) : 0;
	unsigned int cases = only != NULL ? 1 :
		most != NULL ? (unsigned int)strtoul(most, NULL, 0) : 5000;
	uint64_t seed = random_seed();
	struct trial trial = { .batch = 1 };

	(void)state;
	for (unsigned int number = first; number < first + cases; number++) {
		struct random random = random_of(seed, number);
		struct lpl_schedule *schedule;

		random_trial(&random, &trial);
		schedule = schedule_of(&trial);
		/* a trace is taken apart once, for several machines */
		for (int machines = 0; machines < 4; machines++) {
			bool differs = try_trial(&trial, schedule, false);

			if (differs && trial_differs(&trial.in, &trial))
				stream_shrink(&trial.in, trial_differs, &trial);
			else if (differs)
				(void)fprintf(stderr, "only after other machines:\n");
			if (differs || only != NULL)
				report(&trial, seed, number);
			if (differs)
				fail();
			next_machine(&random, &trial);
		}
		lpl_schedule_close(schedule);
	}
	trial_free(&trial);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_library),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
