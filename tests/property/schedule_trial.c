/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Random traces for random machines. */
#include "schedule_trial.h"

#include <inttypes.h>
#include <stdio.h>

#include <laplace/merge.h>

#include "thread_guest.h"

/* ---- random ones ---- */

/* Some cycles, some hundred, or for ever. */
static uint64_t random_window(struct random *random)
{
	static const uint32_t most[] = { 12, 12, 60, 200, 5000 };

	return 1 + random_below(random, most[random_below(random, 5)]);
}

static struct oracle_machine random_machine(struct random *random)
{
	struct oracle_machine machine = {
		.cpus = 1 + random_below(random, 3),
		.scheduler = random_below(random, 4),
		.quantum = random_below(random, 10),
		.instructions = random_below(random, 3) == 0,
		.switch_cycles = random_below(random, 2) * random_below(random, 5),
		.memory = random_below(random, 8),
		.pages = random_below(random, 8) == 0 ? 0 : 1 + random_below(random, 8),
		.fault_cycles = random_below(random, 4) == 0 ? 0 : random_below(random, 10),
		.write_cycles = random_below(random, 5),
		.devices = random_below(random, 3),
	};

	if (machine.memory > ORACLE_PFF)	/* these are more often */
		machine.memory -= 2;
	if (machine.memory == ORACLE_WS || machine.memory == ORACLE_PFF) {
		machine.window = random_window(random);
		/* load control has most to do where memory is small */
		if (random_below(random, 2) == 0)
			machine.pages = 1 + random_below(random, 4);
		if (machine.scheduler == ORACLE_RECORDED)
			machine.scheduler = ORACLE_RR;
	}
	if (machine.scheduler == ORACLE_RECORDED || random_below(random, 2) == 0)
		machine.cpus = 1;
	for (int task = 0; task < ORACLE_TASKS; task++)
		machine.priority[task] = (int)random_below(random, 4) - 1;
	return machine;
}

void make_canonical(const struct stream *in, struct stream *out)
{
	struct lpl_report report = { 0 };
	struct lpl_merge_output *output;
	struct collector collector;
	struct lpl_merge *merge;

	stream_clear(out);
	collector_init(&collector, out);
	assert_int_equal(lpl_merge_canonical_open(&output, &collector.sink, &report), LPL_OK);
	assert_int_equal(lpl_merge_open(&merge, output, NULL, &report), LPL_OK);
	assert_int_equal(stream_send(in, lpl_merge_sink(merge), 7, &report), LPL_OK);
	lpl_merge_close(merge);
	lpl_merge_canonical_close(output);
}

void next_machine(struct random *random, struct trial *trial)
{
	trial->machine = random_machine(random);
	trial->machine.scale = trial->scale;
	/* a quantum of instructions may end amid what was one cycle */
	trial->machine.instructions &= trial->scale == 1;
}

void random_trial(struct random *random, struct trial *trial)
{
	struct thread_plot plot = random_thread_plot(random);

	play_threads(random, &plot, &trial->in);
	make_canonical(&trial->in, &trial->canonical);
	if (random_below(random, 4) == 0) {
		stream_clear(&trial->in);
		for (size_t i = 0; i < trial->canonical.count; i++)
			if (trial->canonical.item[i].is_event)
				stream_add_event(&trial->in, &trial->canonical.item[i].event);
			else
				stream_add_ref(&trial->in, &trial->canonical.item[i].ref);
	}
	trial->scale = random_below(random, 6) == 0 ? UINT64_C(1) << (20 + random_below(random, 24)) :
		1;
	next_machine(random, trial);
	trial->batch = 1 + random_below(random, 20);
}

struct random random_of(uint64_t seed, unsigned int number)
{
	struct random random = { seed + UINT64_C(0x5851f42d4c957f2d) * (number + 1) };

	return random;
}

void trial_free(struct trial *trial)
{
	stream_free(&trial->in);
	stream_free(&trial->canonical);
}

/* ---- in the library ---- */

static int priority_of(void *context, const struct lpl_schedule_task *task)
{
	return ((const struct oracle_machine *)context)->priority[task->serial];
}

struct lpl_machine machine_of(struct oracle_machine *like)
{
	static const enum lpl_scheduler schedulers[] = {
		[ORACLE_RECORDED] = LPL_SCHEDULER_RECORDED, [ORACLE_RR] = LPL_SCHEDULER_RR,
		[ORACLE_PRIORITY] = LPL_SCHEDULER_PRIORITY, [ORACLE_FAIR] = LPL_SCHEDULER_FAIR,
	};
	struct lpl_machine machine = {
		.cpus = like->cpus, .scheduler = schedulers[like->scheduler],
		.quantum = like->quantum * like->scale,
		.quantum_instructions = like->instructions,
		.switch_cycles = like->switch_cycles * like->scale, .pages = like->pages,
		.fault_cycles = like->fault_cycles * like->scale,
		.write_cycles = like->write_cycles * like->scale,
		.window = like->window * like->scale, .devices = like->devices,
		.priority = priority_of, .context = like,
	};

	switch (like->memory) {
	case ORACLE_LRU:
		machine.policy = "lru";
		break;
	case ORACLE_CLOCK:
		machine.policy = "clock";
		break;
	case ORACLE_EQUAL:
		machine.memory = LPL_MEMORY_LOCAL_EQUAL;
		break;
	case ORACLE_PROPORTIONAL:
		machine.memory = LPL_MEMORY_LOCAL_PROPORTIONAL;
		break;
	case ORACLE_WS:
		machine.memory = LPL_MEMORY_WS;
		break;
	case ORACLE_PFF:
		machine.memory = LPL_MEMORY_PFF;
		break;
	}
	return machine;
}

struct written_time time_of_written(const struct stream *written)
{
	const struct lpl_machine machine = { .cpus = 1, .scheduler = LPL_SCHEDULER_RECORDED };
	struct lpl_report report = { 0 };
	struct lpl_schedule *schedule;
	struct written_time time;

	assert_int_equal(lpl_schedule_open(&schedule, NULL, &report), LPL_OK);
	if (stream_send(written, lpl_schedule_sink(schedule), 9, &report) != LPL_OK ||
	    lpl_schedule_run(schedule, &machine, NULL, &report) != LPL_OK)
		fail_msg("%s", report.text);
	time.end = lpl_schedule_result(schedule)->end;
	time.idle = lpl_schedule_trace(schedule)->left_out_cycles;
	time.taken = lpl_schedule_result(schedule)->busy - time.idle;
	lpl_schedule_close(schedule);
	return time;
}

void print_machine(const struct oracle_machine *machine)
{
	static const char *const schedulers[] = { "recorded", "rr", "priority", "fair" };
	static const char *const memories[] = { "lru", "clock", "local equal",
						"local proportional", "ws", "pff" };

	(void)fprintf(stderr, "%u processors, %s, quantum %" PRIu64 " %s, switch %" PRIu64
		      "; %s, %" PRIu64 " pages, window %" PRIu64 ", fault %" PRIu64 ", write %" PRIu64
		      ", %u devices; priorities",
		      machine->cpus, schedulers[machine->scheduler], machine->quantum,
		      machine->instructions ? "instructions" : "cycles", machine->switch_cycles,
		      memories[machine->memory], machine->pages, machine->window,
		      machine->fault_cycles, machine->write_cycles, machine->devices);
	for (int task = 0; task < 10; task++)
		(void)fprintf(stderr, " %d", machine->priority[task]);
	(void)fprintf(stderr, "; times for the library are %" PRIu64 " times as long\n",
		      machine->scale);
}

/* Cycles and instructions since the first record, times the scale. */
static void make_longer(const struct stream *in, uint64_t scale, struct stream *out)
{
	struct oracle_split split;

	oracle_split(in, &split);
	for (size_t i = 0; i < in->count; i++) {
		struct lpl_event *event;
		struct lpl_ref *ref;

		if (!in->item[i].is_event) {
			stream_add_ref(out, &in->item[i].ref);
			ref = &out->item[i].ref;
			ref->cycle += (ref->cycle - split.first_cycle) * (scale - 1);
			ref->instr += (ref->instr - split.first_instr) * (scale - 1);
			continue;
		}
		stream_add_event(out, &in->item[i].event);
		event = &out->item[i].event;
		if (i < split.head)
			continue;
		event->cycle += (event->cycle - split.first_cycle) * (scale - 1);
		event->instr += (event->instr - split.first_instr) * (scale - 1);
	}
	oracle_split_free(&split);
}

struct lpl_schedule *schedule_of(const struct trial *trial)
{
	struct lpl_report report = { 0 };
	struct lpl_schedule *schedule;
	struct stream in = { 0 };

	make_longer(&trial->in, trial->scale, &in);
	assert_int_equal(lpl_schedule_open(&schedule, NULL, &report), LPL_OK);
	if (stream_send(&in, lpl_schedule_sink(schedule), trial->batch, &report) != LPL_OK)
		fail_msg("%s", report.text);
	stream_free(&in);
	return schedule;
}
