/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fuzzing threads that are scheduled again, by what a guest may send (guest.h), on machines of any
 * kind.  Whatever it is, each task comes to its end, every cycle is counted once (which the library
 * sees to), and the machine's own trace can be taken apart as well.
 */
#include <laplace/schedule.h>

#include "guest.h"

static struct lpl_machine machine_of(struct input *input)
{
	const unsigned int kind = input_byte(input), times = input_byte(input), room = input_byte(input);
	const unsigned int memories = LPL_MEMORY_PFF + 1;
	struct lpl_machine machine = {
		.cpus = 1 + (kind & 3),
		.scheduler = (enum lpl_scheduler)(kind >> 2 & 3),
		.quantum = input_byte(input) & 63,
		.quantum_instructions = (kind & 16) != 0,
		.pages = room & 15,
		.switch_cycles = times & 7, .fault_cycles = times >> 3 & 7, .write_cycles = times >> 6,
		.devices = kind >> 6
	};

	if (machine.scheduler == LPL_SCHEDULER_RECORDED)
		machine.cpus = 1;
	else
		machine.memory = (enum lpl_memory_kind)((room >> 4) % memories);
	if (machine.memory == LPL_MEMORY_GLOBAL)
		machine.policy = (kind & 32) != 0 ? "clock" : "lru";
	if (machine.memory >= LPL_MEMORY_WS)
		machine.window = 1 + 40 * (room >> 4) / memories;
	return machine;
}

/* An error is one that the input can make: nothing waits for ever, and sums agree. */
static void run(struct lpl_schedule *schedule, const struct lpl_machine *machine,
		struct lpl_sink *next)
{
	const struct lpl_schedule_trace *trace = lpl_schedule_trace(schedule);
	const bool has_idle = machine->scheduler == LPL_SCHEDULER_RECORDED;
	struct lpl_report report = { .error = LPL_OK };

	if (lpl_schedule_run(schedule, machine, next, &report)) {
		require_reported(&report);
		require(report.error == LPL_ERR_UNSUPPORTED);
		return;
	}
	require(lpl_schedule_result(schedule)->references ==
		trace->references - (has_idle ? 0 : trace->left_out_references));
}

static void run_alone(struct lpl_schedule *schedule, const struct lpl_machine *machine)
{
	for (size_t i = 0; i < lpl_schedule_processes(schedule); i++) {
		const uint64_t process = lpl_schedule_process(schedule, i)->serial;
		struct lpl_report report = { .error = LPL_OK };
		uint64_t cycles;

		if (process == 0 || machine->scheduler == LPL_SCHEDULER_RECORDED)
			continue;
		if (lpl_schedule_run_alone(schedule, machine, process, &cycles, &report)) {
			require_reported(&report);
			require(report.error == LPL_ERR_UNSUPPORTED);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct guest guest = { .input = { data, size } };
	const struct lpl_machine machine = machine_of(&guest.input);
	struct lpl_schedule *schedule, *again;

	guest.is_orderly = input_byte(&guest.input) & 1;
	guest.sends_states = true;
	require(lpl_schedule_open(&schedule, NULL, NULL) == LPL_OK);
	require(lpl_schedule_open(&again, NULL, NULL) == LPL_OK);
	guest.sink = lpl_schedule_sink(schedule);
	guest_run(&guest);
	run(schedule, &machine, machine.cpus == 1 ? lpl_schedule_sink(again) : NULL);
	run_alone(schedule, &machine);
	lpl_schedule_close(again);
	lpl_schedule_close(schedule);
	return 0;
}
