/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The public interface: a trace is taken apart once, and run on machines. */
#include <laplace/schedule.h>

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/map.h"
#include "machine.h"
#include "split.h"

static const char *const scheduler_names[] = {
	[LPL_SCHEDULER_RECORDED] = "recorded", [LPL_SCHEDULER_RR] = "rr",
	[LPL_SCHEDULER_PRIORITY] = "priority", [LPL_SCHEDULER_FAIR] = "fair"
};
static const char *const memory_names[] = {
	[LPL_MEMORY_GLOBAL] = "global", [LPL_MEMORY_LOCAL_EQUAL] = "local-equal",
	[LPL_MEMORY_LOCAL_PROPORTIONAL] = "local-proportional", [LPL_MEMORY_WS] = "ws",
	[LPL_MEMORY_PFF] = "pff"
};

enum {
	SCHEDULERS = sizeof(scheduler_names) / sizeof(scheduler_names[0]),
	MEMORIES = sizeof(memory_names) / sizeof(memory_names[0]),
	MOST_DEVICES = 65536
};

struct lpl_schedule {
	struct lpl_sink sink;		/* the merge's, after which `finished` is set */
	struct lpl_parts parts;
	struct lpl_merge_output *split;
	struct lpl_merge *merge;
	bool finished;
	/* of the last run */
	struct lpl_schedule_task *task, *process;
	size_t tasks, processes;
	struct lpl_schedule_result result;
};

const char *lpl_scheduler_name(enum lpl_scheduler scheduler)
{
	return (size_t)scheduler < SCHEDULERS ? scheduler_names[scheduler] : NULL;
}

const char *lpl_memory_kind_name(enum lpl_memory_kind kind)
{
	return (size_t)kind < MEMORIES ? memory_names[kind] : NULL;
}

/* ---- the trace ---- */

static enum lpl_error take_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	struct lpl_sink *merge = lpl_merge_sink(((struct lpl_schedule *)sink)->merge);

	return merge->refs(merge, refs, count, report);
}

static enum lpl_error take_event(struct lpl_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	struct lpl_sink *merge = lpl_merge_sink(((struct lpl_schedule *)sink)->merge);

	return merge->event(merge, event, report);
}

static enum lpl_error take_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct lpl_schedule *schedule = (struct lpl_schedule *)sink;
	struct lpl_sink *merge = lpl_merge_sink(schedule->merge);
	const enum lpl_error error = merge->finish(merge, report);

	schedule->finished = error == LPL_OK;
	return error;
}

enum lpl_error lpl_schedule_open(struct lpl_schedule **schedule, const char *directory,
				 struct lpl_report *report)
{
	struct lpl_schedule *opened = calloc(1, sizeof(*opened));
	enum lpl_error error;

	*schedule = NULL;
	if (opened == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "schedule: no memory");
	opened->sink = (struct lpl_sink){take_refs, take_event, take_finish};
	error = lpl_spool_open(&opened->parts.spool, directory, report);
	if (error == LPL_OK)
		error = lpl_split_open(&opened->split, &opened->parts, report);
	if (error == LPL_OK)
		error = lpl_merge_open(&opened->merge, opened->split, NULL, report);
	if (error != LPL_OK)
		lpl_schedule_close(opened);
	else
		*schedule = opened;
	return error;
}

struct lpl_sink *lpl_schedule_sink(struct lpl_schedule *schedule)
{
	return &schedule->sink;
}

const struct lpl_schedule_trace *lpl_schedule_trace(const struct lpl_schedule *schedule)
{
	return &schedule->parts.summary;
}

/* ---- a run ---- */

static enum lpl_error check_memory(const struct lpl_machine *machine, struct lpl_report *report)
{
	const bool windowed = machine->memory == LPL_MEMORY_WS || machine->memory == LPL_MEMORY_PFF;

	if (machine->memory != LPL_MEMORY_GLOBAL && machine->policy != NULL)
		return lpl_fail(report, LPL_ERR_USAGE, "schedule: memory %s has queues of its own, "
				"and no other policy", memory_names[machine->memory]);
	if (windowed != (machine->window != 0))
		return lpl_fail(report, LPL_ERR_USAGE, "schedule: memory %s %s",
				memory_names[machine->memory], windowed ? "needs a window" : "has no window");
	if (windowed && machine->scheduler == LPL_SCHEDULER_RECORDED)
		return lpl_fail(report, LPL_ERR_USAGE,
				"schedule: the recorded order cannot leave a process out");
	return LPL_OK;
}

static enum lpl_error check(const struct lpl_schedule *schedule, const struct lpl_machine *machine,
			    bool output, struct lpl_report *report)
{
	if (!schedule->finished)
		return lpl_fail(report, LPL_ERR_USAGE, "schedule: the trace was not finished");
	if (lpl_scheduler_name(machine->scheduler) == NULL)
		return lpl_fail(report, LPL_ERR_USAGE, "schedule: no scheduler %d",
				(int)machine->scheduler);
	if (lpl_memory_kind_name(machine->memory) == NULL)
		return lpl_fail(report, LPL_ERR_USAGE, "schedule: no memory %d",
				(int)machine->memory);
	if (machine->cpus == 0 || machine->cpus > LPL_MOST_CPUS)
		return lpl_fail(report, LPL_ERR_USAGE, "schedule: a machine has 1 to %d processors",
				LPL_MOST_CPUS);
	if (machine->cpus != 1 && (output || machine->scheduler == LPL_SCHEDULER_RECORDED))
		return lpl_fail(report, LPL_ERR_USAGE, "schedule: %s is of one processor", output ?
				"a trace" : "the recorded order");
	if (machine->quantum > LPL_LONGEST_SCHEDULE || machine->switch_cycles > LPL_LONGEST_SCHEDULE ||
	    machine->fault_cycles > LPL_LONGEST_SCHEDULE ||
	    machine->write_cycles > LPL_LONGEST_SCHEDULE || machine->window > LPL_LONGEST_SCHEDULE)
		return lpl_fail(report, LPL_ERR_USAGE, "schedule: a time is above %" PRIu64 " cycles",
				LPL_LONGEST_SCHEDULE);
	if (schedule->parts.summary.cycles > LPL_LONGEST_SCHEDULE)
		return lpl_machine_too_long(report);
	if (machine->devices > MOST_DEVICES)
		return lpl_fail(report, LPL_ERR_USAGE, "schedule: at most %d devices",
				MOST_DEVICES);
	return check_memory(machine, report);
}

static void add(struct lpl_schedule_task *sum, const struct lpl_schedule_task *task)
{
	sum->references += task->references;
	sum->faults += task->faults;
	sum->cold += task->cold;
	sum->joined += task->joined;
	sum->running += task->running;
	sum->ready += task->ready;
	sum->paging += task->paging;
	sum->waiting += task->waiting;
	sum->switching += task->switching;
	sum->suspended += task->suspended;
	sum->dispatches += task->dispatches;
	sum->preemptions += task->preemptions;
	sum->begin = task->begin < sum->begin ? task->begin : sum->begin;
	sum->end = task->end > sum->end ? task->end : sum->end;
}

/* A process is called by its leader's name, or, where that left no record, by its first task's. */
static void add_to_process(struct lpl_schedule_task *process, const struct lpl_schedule_task *task,
			   bool first)
{
	if (first) {
		process->serial = process->process = task->process;
		process->tgid = process->tid = task->tgid != 0 ? task->tgid : task->tid;
		process->name = task->process == 0 ? "kernel" : task->name;
		process->begin = UINT64_MAX;
		if (task->process == 0)
			process->tid = process->tgid = 0;
	} else if (task->process != 0 && task->tid == process->tgid) {
		process->name = task->name;
	}
	add(process, task);
}

static int by_number(const void *a, const void *b)
{
	const struct lpl_schedule_task *one = a, *other = b;

	return one->serial < other->serial ? -1 : one->serial > other->serial;
}

/* What every machine's books have to show. */
static bool is_balanced(const struct machine *machine)
{
	const struct lpl_schedule_result *result = &machine->result;
	bool balanced = result->busy + result->switching + result->idle ==
		machine->how->cpus * result->end;

	for (size_t i = 0; i < machine->tasks; i++) {
		const struct lpl_schedule_task *task = &machine->task[i].result;

		balanced &= task->running + task->ready + task->paging + task->waiting ==
			task->end - task->begin;
	}
	return balanced;
}

static enum lpl_error keep_results(struct lpl_schedule *schedule, const struct machine *machine,
				   struct lpl_report *report)
{
	struct lpl_map index;
	size_t count = 0;

	schedule->tasks = schedule->processes = 0;
	free(schedule->task);
	free(schedule->process);
	schedule->result = machine->result;
	if (machine->memory != NULL) {
		schedule->result.evictions = machine->memory->evictions;
		schedule->result.dirty_evictions = machine->memory->dirty_evictions;
	}
	schedule->task = calloc(machine->tasks + 1, sizeof(*schedule->task));
	schedule->process = calloc(machine->tasks + 1, sizeof(*schedule->process));
	if (schedule->task == NULL || schedule->process == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "schedule: no memory for the results");
	lpl_map_init(&index, 1);
	for (size_t i = 0; i < machine->tasks; i++) {
		const struct lpl_schedule_task *task = &machine->task[i].result;
		uint64_t *at;

		if (!schedule->parts.part[i].exists || machine->task[i].state == TASK_ABSENT)
			continue;
		schedule->task[schedule->tasks++] = *task;
		at = lpl_map_reach(&index, LPL_KEY(task->process));
		if (at == NULL) {
			lpl_map_free(&index);
			return lpl_fail(report, LPL_ERR_MEMORY,
					"schedule: no memory for the results");
		}
		add_to_process(&schedule->process[*at != 0 ? *at - 1 : count], task, *at == 0);
		if (*at == 0)
			*at = ++count;
		schedule->result.references += task->references;
		schedule->result.faults += task->faults;
		schedule->result.cold += task->cold;
		schedule->result.joined += task->joined;
	}
	lpl_map_free(&index);
	schedule->processes = count;
	for (size_t i = 0; i < count && machine->load != NULL; i++)
		schedule->process[i].deactivations =
			lpl_load_deactivations(machine->load, schedule->process[i].process);
	qsort(schedule->process, count, sizeof(*schedule->process), by_number);
	return LPL_OK;
}

static enum lpl_error run(struct machine *machine, struct lpl_report *report)
{
	if (machine->scheduler == NULL)
		LPL_TRY(lpl_machine_run_recorded(machine, report));
	else
		LPL_TRY(lpl_machine_run(machine, report));
	return is_balanced(machine) ? LPL_OK :
		lpl_fail(report, LPL_ERR_INTERNAL, "schedule: times do not add up");
}

static enum lpl_error run_all(struct lpl_schedule *schedule, struct machine *machine,
			      struct lpl_report *report)
{
	LPL_TRY(run(machine, report));
	LPL_TRY(keep_results(schedule, machine, report));
	return machine->remade != NULL ? lpl_remade_finish(machine->remade, report) : LPL_OK;
}

/* `cycles`: how long it takes; only the results of all processes are kept. */
static enum lpl_error run_processes(struct lpl_schedule *schedule, const struct lpl_machine *how,
				    uint64_t process, struct lpl_sink *next, uint64_t *cycles,
				    struct lpl_report *report)
{
	struct machine *machine = malloc(sizeof(*machine));
	enum lpl_error error;

	if (machine == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "schedule: no memory");
	error = lpl_machine_open(machine, &schedule->parts, how, process, next, report);
	if (error == LPL_OK)
		error = process == ALL_PROCESSES ? run_all(schedule, machine, report) :
			run(machine, report);
	*cycles = machine->result.end;
	lpl_machine_close(machine);
	free(machine);
	return error;
}

enum lpl_error lpl_schedule_run(struct lpl_schedule *schedule, const struct lpl_machine *how,
				struct lpl_sink *next, struct lpl_report *report)
{
	uint64_t cycles;

	LPL_TRY(check(schedule, how, next != NULL, report));
	return run_processes(schedule, how, ALL_PROCESSES, next, &cycles, report);
}

static bool has_process(const struct lpl_parts *parts, uint64_t process)
{
	for (size_t i = 1; i < parts->parts && process != 0; i++)
		if (parts->part[i].exists && parts->part[i].process == process)
			return true;
	return false;
}

enum lpl_error lpl_schedule_run_alone(struct lpl_schedule *schedule, const struct lpl_machine *how,
				      uint64_t process, uint64_t *cycles, struct lpl_report *report)
{
	LPL_TRY(check(schedule, how, false, report));
	if (how->scheduler == LPL_SCHEDULER_RECORDED)
		return lpl_fail(report, LPL_ERR_USAGE, "schedule: the recorded order is that of all "
				"processes");
	if (!has_process(&schedule->parts, process))
		return lpl_fail(report, LPL_ERR_USAGE, "schedule: no process %" PRIu64 " runs alone",
				process);
	/* one of its tasks at least is made by none of the others, and begins at 0 */
	return run_processes(schedule, how, process, NULL, cycles, report);
}

/* ---- results ---- */

size_t lpl_schedule_tasks(const struct lpl_schedule *schedule)
{
	return schedule->tasks;
}

const struct lpl_schedule_task *lpl_schedule_task(const struct lpl_schedule *schedule, size_t i)
{
	return &schedule->task[i];
}

size_t lpl_schedule_processes(const struct lpl_schedule *schedule)
{
	return schedule->processes;
}

const struct lpl_schedule_task *lpl_schedule_process(const struct lpl_schedule *schedule, size_t i)
{
	return &schedule->process[i];
}

const struct lpl_schedule_result *lpl_schedule_result(const struct lpl_schedule *schedule)
{
	return &schedule->result;
}

void lpl_schedule_close(struct lpl_schedule *schedule)
{
	if (schedule == NULL)
		return;
	lpl_merge_close(schedule->merge);
	lpl_split_close(schedule->split);
	lpl_spool_close(schedule->parts.spool);
	free(schedule->parts.part);
	free(schedule->parts.page);
	free(schedule->task);
	free(schedule->process);
	free(schedule);
}
