/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A run's results: a table of processes or tasks, and the machine's sums. */
#include "schedule_report.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include <jansson.h>

#include "say.h"

/* The numbers of a line, and of an object. */
static const struct column {
	const char *name;
	size_t offset;
} columns[] = {
#define COLUMN(name) { #name, offsetof(struct lpl_schedule_task, name) }
	COLUMN(references), COLUMN(faults), { "cold_faults", offsetof(struct lpl_schedule_task, cold) },
	COLUMN(joined), COLUMN(begin), COLUMN(end), COLUMN(running), COLUMN(ready), COLUMN(paging),
	COLUMN(waiting), COLUMN(switching), COLUMN(suspended), COLUMN(dispatches), COLUMN(preemptions),
	COLUMN(deactivations)
};
static const struct column sums[] = {
#define SUM(name) { #name, offsetof(struct lpl_schedule_result, name) }
	SUM(end), SUM(busy), SUM(switching), SUM(idle), SUM(idle_paging), SUM(switches),
	SUM(references), SUM(faults), { "cold_faults", offsetof(struct lpl_schedule_result, cold) },
	SUM(joined), SUM(evictions), SUM(dirty_evictions), SUM(deactivations), SUM(device_busy)
};
static const struct column facts[] = {
#define FACT(name) { #name, offsetof(struct lpl_schedule_trace, name) }
	FACT(references), FACT(cycles), FACT(instructions), FACT(left_out_references),
	FACT(left_out_cycles), FACT(pages),
	{ "shared_pages", offsetof(struct lpl_schedule_trace, shared) },
	FACT(waits), FACT(waits_guessed), FACT(left_waiting)
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static uint64_t number_of(const void *from, const struct column *column)
{
	return *(const uint64_t *)(const void *)((const char *)from + column->offset);
}

/* ---- the table ---- */

static size_t rows(const struct lpl_schedule *schedule, enum cli_schedule_unit unit)
{
	return unit == CLI_SCHEDULE_TASK ? lpl_schedule_tasks(schedule) :
		lpl_schedule_processes(schedule);
}

static const struct lpl_schedule_task *row(const struct lpl_schedule *schedule,
					   enum cli_schedule_unit unit, size_t i)
{
	return unit == CLI_SCHEDULE_TASK ? lpl_schedule_task(schedule, i) :
		lpl_schedule_process(schedule, i);
}

static void print_alone(FILE *out, const struct cli_alone *alone)
{
	uint64_t slowdown;

	if (alone->known)
		fprintf(out, ",%" PRIu64 ",", alone->alone);
	else
		fputs(",,", out);
	if (cli_slowdown(alone, &slowdown))
		fprintf(out, "%" PRIu64 ".%03u", slowdown / 1000, (unsigned int)(slowdown % 1000));
}

static void print_table(FILE *out, const struct cli_schedule_report *report)
{
	const struct lpl_schedule *schedule = report->schedule;
	const enum cli_schedule_unit unit = report->unit;

	fputs(unit == CLI_SCHEDULE_TASK ? "task,process,name" : "process,name", out);
	for (size_t j = 0; j < COUNT(columns); j++)
		fprintf(out, ",%s", columns[j].name);
	fputs(report->alone ? ",alone,slowdown\n" : "\n", out);
	for (size_t i = 0; i < rows(schedule, unit); i++) {
		const struct lpl_schedule_task *task = row(schedule, unit, i);

		if (unit == CLI_SCHEDULE_TASK)
			fprintf(out, "%" PRIu32 ",", task->tid);
		fprintf(out, "%" PRIu32 ",", task->tgid);
		lpl_text_print_cell(out, task->name);
		for (size_t j = 0; j < COUNT(columns); j++)
			fprintf(out, ",%" PRIu64, number_of(task, &columns[j]));
		if (report->alone)
			print_alone(out, &report->alone[i]);
		putc('\n', out);
	}
}

/* ---- the machine ---- */

static char *share(char text[CLI_PERCENT_SIZE], uint64_t part, uint64_t whole)
{
	if (whole == 0)
		snprintf(text, CLI_PERCENT_SIZE, "0%%");
	else
		cli_percent(text, 3, part, whole);
	return text;
}

static void print_throughput(const struct lpl_schedule_result *result, uint64_t cycles_a_second)
{
	const uint64_t unit = cycles_a_second ? cycles_a_second : 1000000;

	if (result->end)
		fprintf(stderr, "throughput: %.1f references %s\n",
			(double)result->references * (double)unit / (double)result->end,
			cycles_a_second ? "a second" : "in 1000000 cycles");
}

static void print_fairness(const struct cli_schedule_report *report)
{
	const uint64_t index = cli_fairness(report->alone,
					    lpl_schedule_processes(report->schedule));

	fprintf(stderr, "fairness: %" PRIu64 ".%04u (Jain's index)\n", index / 10000,
		(unsigned int)(index % 10000));
}

static void print_machine(const struct cli_schedule_report *report)
{
	const struct lpl_schedule_result *result = lpl_schedule_result(report->schedule);
	const struct lpl_machine *machine = report->machine;
	const uint64_t cycles_a_second = report->cycles_a_second;
	const uint64_t all = machine->cpus * result->end;
	char busy[CLI_PERCENT_SIZE], switching[CLI_PERCENT_SIZE], idle[CLI_PERCENT_SIZE];
	char paging[CLI_PERCENT_SIZE];

	fprintf(stderr, "end: %" PRIu64 " cycles", result->end);
	if (cycles_a_second)
		fprintf(stderr, " (%.6f s)", (double)result->end / (double)cycles_a_second);
	fprintf(stderr, "\nprocessors: %s busy, %s switching, %s idle (%s while a page was on its "
		"way)\n", share(busy, result->busy, all), share(switching, result->switching, all),
		share(idle, result->idle, all), share(paging, result->idle_paging, all));
	print_throughput(result, cycles_a_second);
	fprintf(stderr, "switches: %" PRIu64 "\nfaults: %" PRIu64 " (%" PRIu64 " cold), and %" PRIu64
		" references to pages on their way\nevictions: %" PRIu64 " (%" PRIu64 " dirty)\n",
		result->switches, result->faults, result->cold, result->joined, result->evictions,
		result->dirty_evictions);
	if (result->deactivations)
		fprintf(stderr, "deactivations: %" PRIu64 "\n", result->deactivations);
	if (machine->devices)
		fprintf(stderr, "devices: %s busy\n",
			share(busy, result->device_busy / machine->devices, result->end));
	if (report->alone)
		print_fairness(report);
}

/* ---- JSON ---- */

static void add_numbers(json_t *object, const void *from, const struct column *column, size_t count)
{
	for (size_t i = 0; i < count; i++)
		json_object_set_new(object, column[i].name, cli_json(number_of(from, &column[i])));
}

static json_t *numbers(const void *from, const struct column *column, size_t count)
{
	json_t *object = json_object();

	add_numbers(object, from, column, count);
	return object;
}

static json_t *task_json(const struct lpl_schedule_task *task, enum cli_schedule_unit unit)
{
	json_t *object = json_object();

	if (unit == CLI_SCHEDULE_TASK)
		json_object_set_new(object, "task", cli_json(task->tid));
	json_object_set_new(object, "process", cli_json(task->tgid));
	json_object_set_new(object, "name", json_string(task->name));
	add_numbers(object, task, columns, COUNT(columns));
	return object;
}

static void add_alone(json_t *object, const struct cli_alone *alone)
{
	uint64_t slowdown;

	json_object_set_new(object, "alone", alone->known ? cli_json(alone->alone) : json_null());
	json_object_set_new(object, "slowdown", cli_slowdown(alone, &slowdown) ?
			    json_real((double)slowdown / 1000) : json_null());
}

static json_t *machine_json(const struct lpl_machine *machine)
{
	return json_pack("{s:s, s:I, s:I, s:b, s:I, s:s, s:s, s:I, s:I, s:I, s:I, s:I}",
			 "scheduler", lpl_scheduler_name(machine->scheduler),
			 "cpus", (json_int_t)machine->cpus, "quantum", (json_int_t)machine->quantum,
			 "quantum_is_instructions", machine->quantum_instructions,
			 "switch_cycles", (json_int_t)machine->switch_cycles,
			 "memory", lpl_memory_kind_name(machine->memory),
			 "policy", machine->policy ? machine->policy : "lru",
			 "pages", (json_int_t)machine->pages,
			 "window", (json_int_t)machine->window,
			 "fault_cycles", (json_int_t)machine->fault_cycles,
			 "write_cycles", (json_int_t)machine->write_cycles,
			 "devices", (json_int_t)machine->devices);
}

static int print_json(FILE *out, const struct cli_schedule_report *report)
{
	const struct lpl_schedule *schedule = report->schedule;
	json_t *array = json_array(), *object = json_object();
	json_t *result = numbers(lpl_schedule_result(schedule), sums, COUNT(sums));

	for (size_t i = 0; i < rows(schedule, report->unit); i++) {
		json_t *task = task_json(row(schedule, report->unit, i), report->unit);

		if (report->alone)
			add_alone(task, &report->alone[i]);
		json_array_append_new(array, task);
	}
	if (report->alone)
		json_object_set_new(result, "fairness", json_real(
				    (double)cli_fairness(report->alone,
							 lpl_schedule_processes(schedule)) / 10000));
	json_object_set_new(object, "machine", machine_json(report->machine));
	json_object_set_new(object, "trace",
			    numbers(lpl_schedule_trace(schedule), facts, COUNT(facts)));
	json_object_set_new(object, "result", result);
	json_object_set_new(object, report->unit == CLI_SCHEDULE_TASK ? "tasks" : "processes", array);
	return cli_print_json(out, object);
}

int cli_schedule_print(const struct cli_schedule_report *report)
{
	FILE *out = report->aside ? stderr : stdout;

	if (report->json)
		return print_json(out, report);
	print_table(out, report);
	if (!report->aside)
		cli_end_stdout(CLI_FAILED);
	print_machine(report);
	return CLI_DONE;
}
