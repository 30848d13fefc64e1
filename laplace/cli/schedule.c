/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace schedule: a trace's threads on a machine of one's choosing.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <laplace/reducer.h>
#include <laplace/schedule.h>
#include <laplace/simulator.h>
#include <laplace/trace.h>

#include "commands.h"
#include "options.h"
#include "pass.h"
#include "progress.h"
#include "replace.h"
#include "say.h"
#include "schedule_remade.h"
#include "schedule_report.h"
#include "schedule_timeline.h"
#include "text_output.h"
#include "trace_kind.h"

struct options {
	enum lpl_scheduler scheduler;
	const char *quantum;
	unsigned int cpus;
	const char *policy;		/* NULL: lru, or what the memory has */
	const char *pages;		/* NULL: no limit */
	enum lpl_memory_kind memory;
	const char *window;		/* NULL: none */
	const char *fault, *write, *switching;
	unsigned int devices;
	char *priorities;
	const char *output;		/* NULL: none */
	const char *picture;		/* NULL: none */
	enum picture_format format;	/* of that */
	enum cli_schedule_unit unit;
	bool alone, overwrite, json;
	enum cli_when progress;
	unsigned int jobs;		/* 0: one for each processor */
	const char *trace;
};

static bool is_windowed(const struct options *options)
{
	return options->memory == LPL_MEMORY_WS || options->memory == LPL_MEMORY_PFF;
}

static void check_picture(struct argp_state *state, struct options *options)
{
	if (cli_output_ends_with(options->picture, ".png"))
		options->format = PICTURE_PNG;
	else if (cli_output_ends_with(options->picture, ".svg"))
		options->format = PICTURE_SVG;
	else if (strcmp(options->picture, "-") != 0)
		cli_usage_error(state, "'%s': the picture's name ends in .png or .svg",
				options->picture);
	if (options->output && cli_is_same_output(options->output, options->picture))
		argp_error(state, "-o and --picture are two files");
}

static void check_all(struct argp_state *state, void *config)
{
	struct options *options = config;

	if (options->priorities && options->scheduler != LPL_SCHEDULER_PRIORITY)
		argp_error(state, "--priority is for --scheduler priority");
	if (options->output && options->cpus > 1)
		argp_error(state, "a trace is of one processor: -o, or several --cpus");
	if (options->scheduler == LPL_SCHEDULER_RECORDED && options->cpus > 1)
		argp_error(state, "the recorded order is of one processor");
	if (options->memory != LPL_MEMORY_GLOBAL && options->policy)
		argp_error(state, "--policy is for --memory global");
	if (is_windowed(options) && !options->window)
		argp_error(state, "--memory %s takes a --window", lpl_memory_kind_name(options->memory));
	if (!is_windowed(options) && options->window)
		argp_error(state, "--window is for --memory ws or pff");
	if (is_windowed(options) && options->scheduler == LPL_SCHEDULER_RECORDED)
		argp_error(state, "the recorded order cannot leave a process out: no --memory %s",
			   lpl_memory_kind_name(options->memory));
	if (options->alone && options->scheduler == LPL_SCHEDULER_RECORDED)
		argp_error(state, "the recorded order is that of all processes: none of them is alone");
	if (options->alone && options->unit != CLI_SCHEDULE_PROCESS)
		argp_error(state, "--alone is of processes");
	if (options->picture)
		check_picture(state, options);
}

#define TIME "cycles, or, of a trace that says how long they are, 10us, 5ms, 1s"

static const struct cli_option option_table[] = {
	{ "scheduler", CLI_WORD, CLI_INTO(struct options, scheduler), .argument = "NAME",
	  .words = "recorded rr priority fair", .standard = "rr",
	  .wrong = "no scheduler '%s': there are %a",
	  .help = "Which thread runs: recorded (the order of TRACE), rr (round robin), priority (the least "
	  "number first) or fair (the thread that has run least) (%d)" },
	{ "quantum", CLI_TEXT, CLI_INTO(struct options, quantum), .argument = "TIME",
	  .standard = "1000000",
	  .help = "How long a task runs while others are ready (%d): " TIME "; 20000i are "
	  "instructions; 0: until it waits" },
	{ "cpus", CLI_NUMBER, CLI_INTO(struct options, cpus), .argument = "N", .least = 1,
	  .most = LPL_MOST_CPUS, .standard = "1", .help = "Processors (%d)" },
	{ "switch-cycles", CLI_TEXT, CLI_INTO(struct options, switching), .argument = "TIME",
	  .standard = "0", .help = "What it costs to begin another task (%d)" },
	{ "priority", CLI_LIST, CLI_INTO(struct options, priorities), .argument = "TASK=N[,...]",
	  .help = "Of tasks by name, tid or tgid, for --scheduler priority; of others it is 0" },
	{ "pages", CLI_TEXT, 's', CLI_INTO(struct options, pages), .argument = "SIZE",
	  .help = "Memory: pages, bytes (64K, 16M, 1G) or percent of all pages (10%); without it "
	  "only first references fault" },
	{ "policy", CLI_LIST, 'p', CLI_INTO(struct options, policy), .argument = "POLICY",
	  .words = "lru " LPL_DEMAND_POLICIES(CLI_POLICY),
	  .help = "Which page is evicted: %c (lru); options after it: segq:fifo=16" },
	{ "memory", CLI_WORD, CLI_INTO(struct options, memory), .argument = "KIND",
	  .words = "global local-equal local-proportional ws pff", .standard = "global",
	  .wrong = "no memory '%s': there are %a",
	  .help = "Which pages compete: all (global); or those of each process have a share, all the "
	  "same (local-equal) or in proportion to what it used (local-proportional); or each has its "
	  "working set (ws), or what the frequency of its faults says (pff), and where that is too much "
	  "some process is left out for a while (%d)" },
	{ "window", CLI_TEXT, CLI_INTO(struct options, window), .argument = "TIME",
	  .help = "Of a process's running time: how long a page remains after a reference (ws); or how "
	  "long there was no fault, when pages leave at the next one that were not referenced since the last (pff)" },
	{ "fault-cycles", CLI_TEXT, CLI_INTO(struct options, fault), .argument = "TIME",
	  .standard = "0", .help = "How long a page takes to arrive (%d)" },
	{ "write-cycles", CLI_TEXT, CLI_INTO(struct options, write), .argument = "TIME",
	  .standard = "0", .help = "How long a device takes to write a dirty page before (%d)" },
	{ "devices", CLI_NUMBER, CLI_INTO(struct options, devices), .argument = "N",
	  .most = 65536, .standard = "0", .wrong = "%n takes a number up to %m",
	  .help = "That bring pages, one at a time each; 0: as many as are needed (%d)" },
	{ "output", CLI_FILE, 'o', CLI_INTO(struct options, output), .argument = "OUT",
	  .help = "Write the trace that this machine would have made, of canonical pages" },
	{ "picture", CLI_FILE, CLI_INTO(struct options, picture), .argument = "PICTURE",
	  .help = "Draw which process ran when, faults and busy processors: a .png or .svg file, or - with characters" },
	{ "by", CLI_WORD, CLI_INTO(struct options, unit), .argument = "UNIT", .words = "process task",
	  .standard = "process", .wrong = "--by: '%s' is neither process nor task",
	  .help = "What the times and faults are of: %o (%d)" },
	{ "alone", CLI_FLAG, CLI_INTO(struct options, alone),
	  .help = "Run each process also by itself: how much slower are they for one another?" },
	CLI_WITH(overwrite, struct options, overwrite),
	CLI_WITH(json, struct options, json),
	CLI_WITH(progress, struct options, progress),
	CLI_WITH(jobs, struct options, jobs),
	CLI_TRACE_ARGUMENT(struct options, trace),
	{ .type = CLI_CHECK, .check = check_all },
	{ 0 }
};
static const struct cli_usage usage = {
	"TRACE",
	"Run the threads of TRACE again, on a machine with another scheduler, other memory or other "
	"devices, and print times and faults, as CSV."
	"\v"
	"A thread that waited for another one in TRACE waits for it here; other waits take as long "
	"as they did.  What all processors did is said on standard error.",
	option_table, 0
};

/* ---- times ---- */

static const struct time_unit {
	const char *name;
	uint64_t parts;			/* of a second */
} time_units[] = { { "us", 1000000 }, { "ms", 1000 }, { "s", 1 } };

/* A number of cycles, or a time that is so many.  Complains; returns an exit status. */
static int parse_time(const char *option, const char *text, uint64_t cycles_a_second,
		      uint64_t *cycles)
{
	unsigned __int128 product;
	char *end;

	errno = 0;
	*cycles = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9')
		return cli_complain(CLI_USAGE, "--%s: '%s' is no time", option, text);
	if (errno || (*end == '\0' && *cycles > LPL_LONGEST_SCHEDULE))
		return cli_complain(CLI_USAGE, "--%s: '%s' is too long", option, text);
	if (*end == '\0')
		return CLI_DONE;
	for (size_t i = 0; i < sizeof(time_units) / sizeof(time_units[0]); i++) {
		if (strcmp(end, time_units[i].name) != 0)
			continue;
		if (!cycles_a_second)
			return cli_complain(CLI_USAGE, "--%s: the trace does not say how many cycles a "
					    "second has: give them", option);
		product = (unsigned __int128)*cycles * cycles_a_second / time_units[i].parts;
		if (product > LPL_LONGEST_SCHEDULE)
			return cli_complain(CLI_USAGE, "--%s: '%s' is too long", option, text);
		if (product == 0 && *cycles != 0)
			return cli_complain(CLI_USAGE, "--%s: '%s' is less than a cycle", option, text);
		*cycles = (uint64_t)product;
		return CLI_DONE;
	}
	return cli_complain(CLI_USAGE, "--%s: '%s' is no time: cycles, or with us, ms or s after "
			    "them", option, text);
}

/* Instructions have an i after them. */
static int parse_quantum(const char *text, uint64_t cycles_a_second, struct lpl_machine *machine)
{
	const size_t length = strlen(text);
	char number[32];

	machine->quantum_instructions = length > 1 && text[length - 1] == 'i';
	if (!machine->quantum_instructions || length >= sizeof(number))
		return parse_time("quantum", text, cycles_a_second, &machine->quantum);
	if (strspn(text, "0123456789") != length - 1)
		return cli_complain(CLI_USAGE, "--quantum: '%s': instructions are a number, and an i after "
				    "it", text);
	memcpy(number, text, length - 1);
	number[length - 1] = '\0';
	return parse_time("quantum", number, 0, &machine->quantum);
}

/* ---- priorities ---- */

struct priorities {
	char *list;			/* owned: that the names are in */
	size_t count;
	struct priority {
		const char *task;
		int number;
		bool named;		/* a task */
	} priority[64];
};

static int parse_priorities(struct priorities *priorities, const char *text)
{
	char *list, *item;

	if (text && !(priorities->list = strdup(text)))
		return cli_complain(CLI_FAILED, "no memory for priorities");
	list = priorities->list;
	while (list && (item = strsep(&list, ","))) {
		char *sign = strrchr(item, '='), *end;
		long number = 0;

		errno = 0;
		if (sign)
			number = strtol(sign + 1, &end, 10);
		if (!sign || sign == item || sign[1] == '\0' || *end || errno || number < -1000000 ||
		    number > 1000000)
			return cli_complain(CLI_USAGE, "--priority: '%s' is not like gzip=5", item);
		if (priorities->count == sizeof(priorities->priority) / sizeof(priorities->priority[0]))
			return cli_complain(CLI_USAGE, "--priority: at most %zu", priorities->count);
		*sign = '\0';
		priorities->priority[priorities->count++] = (struct priority){ item, (int)number, false };
	}
	return CLI_DONE;
}

static bool is_task(const struct lpl_schedule_task *task, const char *name)
{
	char *end;
	const unsigned long number = strtoul(name, &end, 10);

	return strcmp(task->name, name) == 0 ||
	       (*end == '\0' && end != name && (number == task->tid || number == task->tgid));
}

/* The first that names it. */
static int priority_of(void *context, const struct lpl_schedule_task *task)
{
	struct priorities *priorities = context;
	int number = 0;

	for (size_t i = priorities->count; i-- > 0; ) {
		struct priority *priority = &priorities->priority[i];

		if (is_task(task, priority->task)) {
			priority->named = true;
			number = priority->number;
		}
	}
	return number;
}

static void warn_priorities(const struct priorities *priorities, const char *path)
{
	for (size_t i = 0; i < priorities->count; i++)
		if (!priorities->priority[i].named)
			cli_complain(0, "warning: %s: --priority: no task in it is '%s'", path,
				     priorities->priority[i].task);
}

/* ---- the machine ---- */

static int parse_pages(const char *spec, const struct cli_trace_kind *kind, uint64_t pages,
		       uint64_t *size)
{
	const struct lpl_sizes_base base = { .page_size = kind->page_size, .pages = pages };
	struct lpl_report report = { 0 };
	struct lpl_sizes sizes;
	int status = CLI_DONE;

	if (lpl_sizes_parse_of(&sizes, spec, &base, &report))
		return cli_report(&report);
	if (sizes.all || sizes.count != 1)
		status = cli_complain(CLI_USAGE, "'%s': a machine has one size of memory", spec);
	else
		*size = sizes.size[0];
	lpl_sizes_free(&sizes);
	return status;
}

/* All that can be known before the trace was read. */
static int parse_machine(struct lpl_machine *machine, const struct options *options,
			 const struct cli_trace_kind *kind)
{
	const uint64_t second = kind->cycles_a_second;
	int status;

	*machine = (struct lpl_machine){
		.cpus = options->cpus, .scheduler = options->scheduler,
		.memory = options->memory, .policy = options->policy, .devices = options->devices
	};
	status = parse_quantum(options->quantum, second, machine);
	if (!status)
		status = parse_time("switch-cycles", options->switching, second,
				    &machine->switch_cycles);
	if (!status)
		status = parse_time("fault-cycles", options->fault, second, &machine->fault_cycles);
	if (!status)
		status = parse_time("write-cycles", options->write, second, &machine->write_cycles);
	if (!status && options->window)
		status = parse_time("window", options->window, second, &machine->window);
	if (!status && options->window && machine->window == 0)
		status = cli_complain(CLI_USAGE, "--window: it has to be above 0");
	if (!status && options->pages)
		status = parse_pages(options->pages, kind, UINT64_C(1) << 32, &machine->pages);
	return status;
}

/* What is asked for, and does nothing. */
static void warn_devices(const struct lpl_machine *machine)
{
	if (machine->write_cycles != 0 && machine->devices == 0)
		cli_complain(0, "warning: --write-cycles without --devices: no page is written");
	else if (machine->write_cycles != 0 && machine->fault_cycles == 0)
		cli_complain(0, "warning: --write-cycles without --fault-cycles: no page is written");
	else if (machine->devices != 0 && machine->fault_cycles == 0)
		cli_complain(0, "warning: --devices without --fault-cycles: no page takes any time");
}

/* A machine that there is not is refused before the trace is read: one without tasks will do. */
static int try_machine(const struct lpl_machine *machine)
{
	struct lpl_report report = { 0 };
	struct lpl_schedule *schedule;
	struct lpl_sink *sink;
	int status = CLI_DONE;

	if (lpl_schedule_open(&schedule, NULL, &report))
		return cli_report(&report);
	sink = lpl_schedule_sink(schedule);
	if (sink->finish(sink, &report) || lpl_schedule_run(schedule, machine, NULL, &report))
		status = cli_report(&report);
	lpl_schedule_close(schedule);
	return status;
}

/* ---- the command ---- */

/* What was dropped is known to be of no matter in the order of the trace alone: docs/theory.md. */
static void warn_reduced(const struct lpl_schedule_trace *trace, const struct options *options,
			 const struct cli_trace_kind *kind)
{
	if (!kind->any_order)
		cli_complain(0, "warning: %s: was reduced by %s: in another order no fault is exact",
			     options->trace, kind->reduction);
	else
		cli_complain(0, "warning: %s: was reduced by %s: in another order faults are exact only with "
			     "--memory local-equal of %" PRIu64 " pages for each process, and if that is one "
			     "thread, with pages of its own (of those left, threads share %" PRIu64 " of %"
			     PRIu64 ")",
			     options->trace, kind->reduction, kind->any_order, trace->shared, trace->pages);
}

/* In the recorded order faults are those of a memory for all, on what the reduction left. */
static void warn_recorded(const struct options *options, const struct lpl_machine *machine,
			  const struct cli_trace_kind *kind)
{
	struct lpl_exactness exactness;

	if (kind->is_whole || !machine->pages)
		return;
	if (options->memory == LPL_MEMORY_GLOBAL &&
	    (!options->policy || strcmp(options->policy, "lru") == 0) &&
	    lpl_reduction_exactness(kind->reduction, &exactness) && exactness.lru &&
	    machine->pages >= exactness.lru)
		return;
	cli_complain(0, "warning: %s: was reduced by %s: these faults are not exact", options->trace,
		     kind->reduction);
}

/* What is to be known of the numbers. */
static int warn(const struct lpl_schedule_trace *trace, const struct options *options,
		const struct cli_trace_kind *kind)
{
	if (options->scheduler == LPL_SCHEDULER_RECORDED)
		return CLI_DONE;
	if (trace->references && trace->references == trace->left_out_references)
		return cli_complain(CLI_FAILED, "%s: no event names a task that made a reference: there is "
				    "nothing to be scheduled", options->trace);
	if (trace->waits_guessed)
		cli_complain(0, "warning: %s: %" PRIu64 " of %" PRIu64 " waits were ended by no event: "
			     "they take as long as they did", options->trace, trace->waits_guessed,
			     trace->waits);
	if (!kind->is_whole)
		warn_reduced(trace, options, kind);
	return CLI_DONE;
}

/* The remade trace is opened if it is wanted. */
static int run(struct lpl_schedule *schedule, const struct options *options,
	       struct lpl_machine *machine, const struct cli_pass *pass,
	       const struct cli_trace_kind *kind)
{
	const struct lpl_schedule_trace *trace = lpl_schedule_trace(schedule);
	const struct cli_remade_options remade_options = {
		.path = options->output, .overwrite = options->overwrite, .jobs = options->jobs,
		.machine = machine, .priorities = options->priorities, .kind = kind
	};
	struct cli_remade remade;
	struct lpl_report report = { 0 };
	int status = warn(trace, options, kind);

	if (!status && options->pages)
		status = parse_pages(options->pages, kind, trace->pages, &machine->pages);
	if (!status && options->scheduler == LPL_SCHEDULER_RECORDED)
		warn_recorded(options, machine, kind);
	if (!status && options->output)
		status = cli_remade_open(&remade, pass, &remade_options);
	if (status)
		return status;
	if (lpl_schedule_run(schedule, machine, options->output ? &remade.sink : NULL, &report))
		status = cli_report(&report);
	return options->output ? cli_remade_close(&remade, status) : status;
}

static bool is_stdout(const char *path)
{
	return path && strcmp(path, "-") == 0;
}

/* It is whole, and has its name, wherever the numbers go. */
static int draw(const struct cli_timeline *timeline, const struct options *options,
		const struct cli_schedule_report *report)
{
	struct cli_output picture;
	int status = cli_output_hold(&picture, options->picture, options->overwrite);

	return status ? status :
		cli_output_close(&picture, cli_timeline_draw(timeline, report, options->format,
							     picture.file));
}

/* The timeline is NULL where no picture is wanted. */
static int show(struct lpl_schedule *schedule, const struct options *options,
		const struct lpl_machine *machine, const struct cli_trace_kind *kind,
		const struct cli_timeline *timeline)
{
	struct cli_alone *alone = NULL;
	int status = options->alone ? cli_alone_run(&alone, schedule, machine) : CLI_DONE;
	const struct cli_schedule_report report = {
		.schedule = schedule, .machine = machine, .unit = options->unit, .alone = alone,
		.cycles_a_second = kind->cycles_a_second, .json = options->json,
		.aside = is_stdout(options->output) || is_stdout(options->picture)
	};

	if (!status && timeline)
		status = draw(timeline, options, &report);
	if (!status)
		status = cli_schedule_print(&report);
	free(alone);
	return status;
}

static int schedule_trace(const struct options *options, struct lpl_reader *reader,
			  struct lpl_machine *machine, const struct cli_trace_kind *kind,
			  const struct cli_timeline *timeline)
{
	struct lpl_report report = { 0 };
	struct lpl_schedule *schedule;
	struct cli_progress progress;
	struct cli_pass pass;
	int status, failed;

	if (lpl_schedule_open(&schedule, NULL, &report))
		return cli_report(&report);
	cli_progress_start(&progress, options->progress);
	pass = (struct cli_pass){ .reader = reader, .path = options->trace,
				  .sink = lpl_schedule_sink(schedule), .progress = &progress,
				  .past_damage = true };
	status = cli_pass_run(&pass);
	failed = status == CLI_DAMAGED ? CLI_DONE : status;
	if (!failed)
		failed = run(schedule, options, machine, &pass, kind);
	if (!failed)
		failed = show(schedule, options, machine, kind, timeline);
	lpl_schedule_close(schedule);
	return failed ? failed : status;
}

static int schedule_and_draw(const struct options *options, struct lpl_reader *reader,
			     struct lpl_machine *machine, const struct cli_trace_kind *kind)
{
	struct cli_timeline *timeline = cli_timeline_open();
	int status;

	if (!timeline)
		return cli_complain(CLI_FAILED, "no memory for the picture");
	machine->observer = cli_timeline_observer(timeline);
	status = schedule_trace(options, reader, machine, kind, timeline);
	cli_timeline_close(timeline);
	return status;
}

/*
 * A long run is not to be in vain: what is written at the end can be written, as far
 * as can be known.  Until then there is nothing that would be left if the command is interrupted.
 */
static int try_outputs(const struct options *options)
{
	int status = options->output ? cli_output_try(options->output, options->overwrite) : CLI_DONE;

	if (!status && options->picture)
		status = cli_output_try(options->picture, options->overwrite);
	return status;
}

static int schedule_with(const struct options *options, struct priorities *priorities,
			 struct lpl_reader *reader)
{
	const struct cli_trace_kind kind = cli_trace_kind(lpl_reader_meta(reader));
	struct lpl_machine machine;
	int status = cli_check_has_canonical(&kind, options->trace);

	if (!status)
		status = parse_machine(&machine, options, &kind);
	if (status)
		return status;
	machine.priority = priority_of;
	machine.context = priorities;
	status = try_machine(&machine);
	if (status)
		return status;
	warn_devices(&machine);
	status = try_outputs(options);
	if (!status)
		status = options->picture ? schedule_and_draw(options, reader, &machine, &kind) :
			schedule_trace(options, reader, &machine, &kind, NULL);
	if (status == CLI_DONE || status == CLI_DAMAGED)
		warn_priorities(priorities, options->trace);
	return status;
}

int cmd_schedule(int argc, char **argv)
{
	struct options options = { .policy = NULL };
	struct priorities priorities = { .count = 0 };
	struct lpl_reader *reader;
	int status = CLI_DONE;

	cli_parse(&usage, argc, argv, &options);
	if (options.output && strcmp(options.output, "-") == 0 && isatty(STDOUT_FILENO))
		return cli_complain(CLI_USAGE, "a trace is not written to a terminal");
	if (options.output)
		status = cli_refuse_input(options.output, options.trace);
	if (!status && options.picture)
		status = cli_refuse_input(options.picture, options.trace);
	if (!status && options.output)
		status = cli_refuse_existing(options.output, options.overwrite);
	if (!status)
		status = cli_reader_open(&reader, options.trace);
	if (status)
		return status;
	lpl_reader_jobs(reader, options.jobs);
	status = parse_priorities(&priorities, options.priorities);
	if (!status)
		status = schedule_with(&options, &priorities, reader);
	free(priorities.list);
	lpl_reader_close(reader);
	return status;
}
