/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * machines TRACE: how long it takes to take a trace apart, by one thread, and to run its parts on
 * machines; a line for each,
 *
 *	what		seconds of processor time	references
 *
 * and before these `pages`, a quarter of the trace's, which a memory has where there is one.
 * bench/schedule runs it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <laplace/schedule.h>
#include <laplace/trace.h>

enum { FAULT = 500000, WINDOW_PART = 100 };

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void must(enum lpl_error error, const struct lpl_report *report)
{
	if (error == LPL_OK)
		return;
	fprintf(stderr, "machines: %s\n", report->text);
	exit(1);
}

static struct lpl_schedule *take_apart(const char *path)
{
	struct lpl_report report = { 0 };
	struct lpl_schedule *schedule;
	struct lpl_reader *reader;
	double begin;

	must(lpl_reader_open(&reader, path, &report), &report);
	lpl_reader_jobs(reader, 1);
	must(lpl_schedule_open(&schedule, NULL, &report), &report);
	begin = seconds();
	must(lpl_reader_run(reader, lpl_schedule_sink(schedule), &report), &report);
	begin = seconds() - begin;
	lpl_reader_close(reader);
	printf("pages %" PRIu64 "\n", lpl_schedule_trace(schedule)->pages / 4 + 1);
	printf("apart %.6f %" PRIu64 "\n", begin, lpl_schedule_trace(schedule)->references);
	return schedule;
}

static void run(struct lpl_schedule *schedule, const char *what, const struct lpl_machine *machine)
{
	struct lpl_report report = { 0 };
	const double begin = seconds();

	must(lpl_schedule_run(schedule, machine, NULL, &report), &report);
	printf("%s %.6f %" PRIu64 "\n", what, seconds() - begin,
	       lpl_schedule_result(schedule)->references);
}

int main(int argc, char **argv)
{
	struct lpl_schedule *schedule = take_apart(argc > 1 ? argv[1] : "");
	const struct lpl_schedule_trace *trace = lpl_schedule_trace(schedule);
	struct lpl_machine machine = { .cpus = 1, .scheduler = LPL_SCHEDULER_RR, .quantum = 1000000 };

	run(schedule, "rr", &machine);
	machine.pages = trace->pages / 4 + 1;
	run(schedule, "rr-lru", &machine);
	machine.fault_cycles = FAULT;
	machine.devices = 1;
	run(schedule, "rr-lru-faults", &machine);
	machine.pages = trace->pages / 64 + 1;
	run(schedule, "rr-small-faults", &machine);
	machine.pages = trace->pages / 4 + 1;
	machine.cpus = 2;
	run(schedule, "2-lru-faults", &machine);
	machine.cpus = 1;
	machine.scheduler = LPL_SCHEDULER_FAIR;
	run(schedule, "fair-lru-faults", &machine);
	machine.scheduler = LPL_SCHEDULER_RECORDED;
	run(schedule, "recorded-lru-faults", &machine);
	machine.scheduler = LPL_SCHEDULER_RR;
	machine.memory = LPL_MEMORY_LOCAL_EQUAL;
	run(schedule, "rr-equal-faults", &machine);
	machine.window = trace->cycles / WINDOW_PART + 1;
	machine.memory = LPL_MEMORY_WS;
	run(schedule, "rr-ws-faults", &machine);
	machine.memory = LPL_MEMORY_PFF;
	run(schedule, "rr-pff-faults", &machine);
	lpl_schedule_close(schedule);
	return 0;
}
