/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace record: run a machine and collect a trace of it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <laplace/image.h>
#include <laplace/select.h>

#include "checkpoint.h"
#include "collect/collector.h"
#include "collect/windows.h"
#include "commands.h"
#include "find.h"
#include "options.h"
#include "record.h"
#include "record_parts.h"
#include "replace.h"
#include "say.h"

/* Bochs takes no longer parameter in a line of its bochsrc. */
#define PARAMETER_SIZE 480

/* off, 10s, 1000000000i; laplace-bochs knows the limits. */
static bool is_interval(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	return strcmp(text, "off") == 0 ||
	       (digits && (!strcmp(text + digits, "s") || !strcmp(text + digits, "i")));
}

/* Where a value goes; it has option->size bytes. */
static char *member_of(const struct cli_option *option, void *config)
{
	return (char *)config + option->offset;
}

/* A value as it was given, which is checked before. */
static void keep(const struct cli_option *option, const char *value, void *config)
{
	memcpy(member_of(option, config), &value, sizeof(value));
}

static void take_number(struct argp_state *state, const struct cli_option *option, const char *value,
			void *config)
{
	(void)cli_limited(state, option, value);
	keep(option, value, config);
}

static void take_flush(struct argp_state *state, const struct cli_option *option, const char *value,
		       void *config)
{
	if (!is_interval(value))
		cli_wrong(state, option, value);
	keep(option, value, config);
}

static void take_on_full(struct argp_state *state, const struct cli_option *option, const char *value,
			 void *config)
{
	(void)cli_word(state, option, value);
	keep(option, value, config);
}

/* As a bochsrc takes them, without commas. */
static void take_conditions(struct argp_state *state, const struct cli_option *option,
			    const char *value, char spec[LPL_WHEN_SIZE],
			    enum lpl_when_use use)
{
	struct lpl_conditions conditions;
	struct lpl_report report = { 0 };

	if (lpl_conditions_parse(&conditions, value, use, &report))
		cli_usage_error(state, "--%s %s: %s", option->name, value, report.text);
	snprintf(spec, LPL_WHEN_SIZE, "%s", conditions.spec);
}

static void take_start(struct argp_state *state, const struct cli_option *option, const char *value,
		       void *config)
{
	char *start = member_of(option, config);

	if (strchr(value, ':')) {
		take_conditions(state, option, value, start, LPL_TO_START);
		return;
	}
	(void)cli_word(state, option, value);
	snprintf(start, option->size, "%s", value);
}

static void take_stop(struct argp_state *state, const struct cli_option *option, const char *value,
		      void *config)
{
	take_conditions(state, option, value, member_of(option, config), LPL_TO_STOP);
}

static void take_end(struct argp_state *state, const struct cli_option *option, const char *value,
		     void *config)
{
	take_conditions(state, option, value, member_of(option, config), LPL_TO_END);
}

/* Whatever directory Bochs makes its own. */
static void take_path(struct argp_state *state, const struct cli_option *option, const char *path,
		      void *config)
{
	char here[PATH_MAX] = "";

	if (*path != '/' && !getcwd(here, sizeof(here)))
		argp_failure(state, CLI_FAILED, errno, "--%s", option->name);
	if (!*path || (size_t)snprintf(member_of(option, config), option->size, "%s%s%s", here,
				       *path == '/' ? "" : "/", path) >= option->size)
		cli_wrong(state, option, path);
}

/* Without commas, likewise. */
static void take_windows(struct argp_state *state, const struct cli_option *option, const char *value,
			 void *config)
{
	struct lpl_report report = { 0 };
	struct lpl_windows *windows;

	if (lpl_windows_open(&windows, value, &report))
		cli_usage_error(state, "--windows %s: %s", value, report.text);
	snprintf(member_of(option, config), option->size, "%s", lpl_windows_spec(windows));
	lpl_windows_close(windows);
}

static void take_only(struct argp_state *state, const struct cli_option *option, const char *value,
		      void *config)
{
	struct lpl_choice_options choice;
	struct lpl_report report = { 0 };
	char words[LPL_CHOICE_SIZE];

	if (lpl_choice_parse(&choice, words, value, &report) ||
	    lpl_choice_say(member_of(option, config), &choice, &report))
		cli_usage_error(state, "--only %s: %s", value, report.text);
	if (choice.kinds || choice.file)
		cli_usage_error(state, "--only %s: a page's kind and file are known only when the trace "
				"is merged; laplace reduce chooses kinds and files of a canonical trace", value);
}

static void take_images(struct argp_state *state, const struct cli_option *option, const char *value,
			void *config)
{
	/* the elements of a string are made at once, so its source and destination have to be in memory */
	if (lpl_images_of(value) < 2)
		cli_wrong(state, option, value);
	keep(option, value, config);
}

static void take_segment(struct argp_state *state, const struct cli_option *option, const char *value,
			 void *config)
{
	struct lpl_report report = { 0 };
	struct lpl_segment_size size;

	if (lpl_segment_size_parse(&size, value, &report))
		cli_usage_error(state, "--segment %s: %s", value, report.text);
	keep(option, value, config);
}

/* every:N instructions; on; off */
static void take_checkpoint(struct argp_state *state, const struct cli_option *option,
			    const char *value, void *config)
{
	struct lpl_interval interval;

	keep(option, value, config);
	if (strcmp(value, "on") == 0 || strcmp(value, "off") == 0)
		return;
	if (lpl_interval_parse(&interval, value, LPL_TO_SAVE, NULL) ||
	    interval.every < LPL_SEGMENT_LEAST)
		cli_usage_error(state, "--checkpoint is on, or every:N instructions, from 1M on, as "
				"every:20G, not '%.100s'", value);
}

static void check_all(struct argp_state *state, void *config)
{
	static const char *const allowed[] = {
		"--resume", "--bochs", "--instructions", "--json", "--progress", "--overwrite", "--jobs", "--launcher",
		NULL
	};
	struct record_options *options = config;

	if (!options->words && !options->resume)
		argp_error(state, "which machine?  Name a bochsrc");
	if (options->resume && (options->words || cli_given_other(state, allowed)))
		argp_error(state, "--resume goes on as the recording was begun: beside it there "
			   "may be --bochs, --instructions, --jobs, --launcher, --json and --progress");
	if (options->launcher && !options->launcher[strspn(options->launcher, " \t\n")])
		argp_error(state, "--launcher is a command, not nothing");
	if (options->launcher && (!options->jobs || (!options->resume && !options->checkpoint)))
		argp_error(state, "--launcher starts what traces from checkpoints: it needs --jobs N and --checkpoint every:N");
	if (*options->from && options->words && options->words[1])
		argp_error(state, "--from: what follows MACHINE would be another machine's");
	if (options->words) {
		options->machine = options->words[0];
		options->extra = options->words + 1;
	}
}

/* What is .forwarded goes into the bochsrc's line, in this order. */
#define INTO(member) CLI_INTO(struct record_options, member)
static const struct cli_option option_table[] = {
	{ "output", CLI_FILE, 'o', INTO(output), .argument = "TRACE", .standard = "trace.lpl",
	  .help = "The trace to write (%d); -: to standard output, as it is made" },
	{ "reduce", CLI_CHAIN, 'r', INTO(reduce), .argument = "SPEC", .standard = "sad:64",
	  .words = "none sad:64 window:64",
	  .help = "What to keep: none (everything), sad:K, window:K ... (%d)" },
	{ "start", CLI_TEXT, INTO(start), .argument = "WHEN", .take = take_start, .standard = "on",
	  .words = "on off mark",
	  .wrong = "%n is %c or a condition as instructions:5G, not '%s'",
	  .help = "Trace from the start (on), when the guest asks for it (off), from the first "
	  "mark (mark), or from when a condition holds: instructions:N, mark:TEXT, exec:NAME" },
	{ "kernel", CLI_FILE, INTO(kernel), .argument = "WHERE", .words = "auto none", .forwarded = true,
	  .help = "Where the guest's kernel_trace_record is: auto (it says), none, a hexadecimal "
	  "address, a System.map or a vmlinux" },
	{ "physical", CLI_FLAG, INTO(physical), .forwarded = true,
	  .help = "Record where in physical memory references go, too" },
	{ "code", CLI_FLAG, INTO(code), .forwarded = true,
	  .help = "Record the bytes of the instructions that are executed, too, and what --physical does" },
	{ "walks", CLI_FLAG, INTO(walks), .forwarded = true,
	  .help = "Record page-table walks, too" },
	{ "flush", CLI_TEXT, INTO(flush), .argument = "EVERY", .take = take_flush, .forwarded = true,
	  .words = "off",
	  .wrong = "%n is off, a number of seconds (10s) or of instructions (1000000000i), not '%s'",
	  .help = "How often everything that has happened is made readable in the file: 10s "
	  "(seconds, the default), 1000000000i (instructions: the file repeats byte for byte), "
	  "off"},
	{ "sync", CLI_TEXT, INTO(sync), .argument = "SECONDS", .take = take_number, .forwarded = true,
	  .most = 86400, .wrong = "%n is at most %m seconds, a day",
	  .help = "How often what was written is forced to the disk, so that a power failure "
	  "loses no more (30); 0: only when the trace is closed"},
	{ "on-full", CLI_WORD, INTO(on_full), .argument = "WHAT", .take = take_on_full,
	  .forwarded = true, .words = "wait stop",
	  .help = "When the disk is full: wait for room (wait, the default), or end the run and "
	  "close the trace (stop)"},
	{ "segment", CLI_TEXT, INTO(segment), .argument = "SIZE", .take = take_segment,
	  .forwarded = true,
	  .help = "Cut the trace into files of this size, bytes:4G or instructions:20G; TRACE "
	  "is a manifest that names them, and is read as one trace" },
	{ "checkpoint", CLI_TEXT, INTO(checkpoint), .argument = "WHEN", .take = take_checkpoint,
	  .forwarded = true, .words = "on",
	  .help = "Save the machine beside the trace, which is in segments then: every:20G "
	  "(instructions), or when it is asked for (on)"},
	{ "jobs", CLI_NUMBER, 'J', INTO(jobs), .argument = "N", .least = 1, .most = 1024,
	  .help = "Trace in N processes at a time: one runs the machine and counts, and the others write segments, from where "
	  "it forks them, or (--checkpoint every:N) from its checkpoints; needs -r none" },
	{ "launcher", CLI_TEXT, INTO(launcher), .argument = "COMMAND",
	  .help = "Start what writes segments by this command, as on hosts that share a file system: 'srun -n1 -c2'; needs "
	  "--jobs with --checkpoint every:N" },
	{ "snapshot", CLI_FILE, INTO(snapshot), .argument = "DIR", .take = take_path, .forwarded = true,
	  .wrong = "%n is a directory that is made, not '%s'",
	  .help = "Save the machine there, and end, when its guest says that it is ready (laplace-ctl ready); "
	  "needs --start off" },
	{ "from", CLI_FILE, INTO(from), .argument = "DIR", .take = take_path,
	  .wrong = "%n is a snapshot's directory, not '%s'",
	  .help = "Begin with the machine that a recording with --snapshot DIR saved, of which MACHINE has "
	  "the bochsrc, with other files by the names of its disks, of the same sizes" },
	{ "windows", CLI_TEXT, INTO(windows), .argument = "WHEN", .take = take_windows, .forwarded = true,
	  .help = "Trace only in windows of time: every:1G,length:10M (instructions), "
	  "from:mark:X,until:mark:Y (the guest's marks), task:NAME, syscall:NAME ..." },
	{ "only", CLI_CHAIN, INTO(only), .argument = "CHOICE", .take = take_only, .forwarded = true,
	  .words = "children user kernel",
	  .help = "Record only some of the references, chosen before they are reduced: "
	  "process:NAME, children, task:NAME, user, kernel, type:TYPE, range:START:END, "
	  "from:MOMENT, until:MOMENT, joined by + signs"},
	{ "images", CLI_TEXT, INTO(images), .argument = "evict:K", .take = take_images, .forwarded = true,
	  .wrong = "%n is evict:K with K from 2 on, as evict:1024, not '%s'",
	  .help = "Keep what each page holds when an LRU memory of K pages would evict it"},
	{ "status-file", CLI_FILE, INTO(status_file), .argument = "PATH", .forwarded = true,
	  .help = "Append the status to this file now and then, a JSON object a line" },
	{ "stop", CLI_TEXT, INTO(stop), .argument = "WHEN", .take = take_stop, .forwarded = true,
	  .help = "Trace until a condition holds: also references:N" },
	{ "end", CLI_TEXT, INTO(end), .argument = "WHEN", .take = take_end, .forwarded = true,
	  .help = "End the run when a condition holds: also bytes:N (of the trace), seconds:S" },
	{ "control", CLI_FILE, INTO(control), .argument = "SOCKET", .take = take_path,
	  .wrong = "%n is the path of a socket, not '%s'", .forwarded = true, .help = "Let `laplace ctl SOCKET' steer the run" },
	{ "title", CLI_TEXT, INTO(title), .argument = "TEXT", .forwarded = true,
	  .help = "Kept in the trace" },
	{ "guest", CLI_TEXT, INTO(guest), .argument = "TEXT", .forwarded = true,
	  .help = "The guest's kernel and image, kept in the trace" },
	{ "workload", CLI_TEXT, INTO(workload), .argument = "TEXT", .forwarded = true,
	  .help = "What it runs, kept in the trace" },
	CLI_WITH(overwrite, struct record_options, overwrite),
	CLI_LEVEL(struct record_options, level, .take = take_number, .forwarded = true),
	{ "status-every", CLI_NUMBER, INTO(status_every), .argument = "SECONDS", .take = take_number,
	  .forwarded = true, .least = 1, .most = 86400, .wrong = "%n is at most %m seconds",
	  .help = "How often that is done (10)" },
	{ "dry-run", CLI_FLAG, 'n', INTO(dry_run),
	  .help = "Check the options and the machine, but start nothing; with --json, print which "
	  "simulator would record"},
	{ "instructions", CLI_NUMBER, INTO(instructions), .argument = "N", .least = 1,
	  .help = "How many are expected, so that progress shows what is left (--end "
	  "instructions:N ends the run)"},
	{ "resume", CLI_FILE, INTO(resume), .argument = "TRACE",
	  .help = "Resume a recording that was cut off, from its last checkpoint; takes no "
	  "MACHINE"},
	{ "bochs", CLI_FILE, INTO(bochs), .argument = "PATH", .help = "The laplace-bochs to run" },
	CLI_WITH(json, struct record_options, json),
	CLI_WITH(progress, struct record_options, progress),
	{ .type = CLI_REST, INTO(words), .argument = "MACHINE" },
	{ .type = CLI_CHECK, .check = check_all },
	{ 0 }
};
static const struct cli_usage usage = {
	"MACHINE [BOCHS-ARGUMENT...]",
	"Run laplace-bochs on MACHINE, a bochsrc, and collect a trace of it."
	"\v"
	"What follows MACHINE is passed on to Bochs: its own options, then lines for the "
	"bochsrc: `laplace record rc -dbg 'boot: cdrom'.  SIGINT (Ctrl-C), SIGTERM and SIGHUP "
	"end the run and close the trace; SIGUSR1 makes all that happened readable.  Exit status 0 "
	"only when the guest ended by itself, and did not say that its workload failed, or by "
	"--end.",
	option_table, ARGP_IN_ORDER
};

/* The value of an option that is forwarded, as a bochsrc takes it; NULL: there is none. */
static const char *forwarded(const struct cli_option *option, const struct record_options *options)
{
	const char *member = (const char *)options + option->offset;

	if (!option->forwarded)
		return NULL;
	if (option->type == CLI_FLAG)
		return *(const bool *)member ? "on" : NULL;
	if (option->size == sizeof(const char *))
		return *(const char *const *)member;
	return *member ? member : NULL;
}

void record_print_parameters(const struct record_options *options, FILE *out)
{
	const char *quote = strchr(options->start, ':') ? "\"" : "";

	fprintf(out, "reduce=%s, start=%s%s%s", options->reduce, quote, options->start, quote);
	for (const struct cli_option *option = option_table; option->type != CLI_END; option++) {
		const char *value = forwarded(option, options);

		quote = option->type == CLI_NUMBER ? "" : "\"";
		if (value)
			fprintf(out, ", %s=%s%s%s", option->name, quote, value, quote);
		if (option->table == cli_overwrite_options && options->overwrite)
			fputs(", overwrite=\"on\"", out);
	}
	if (record_is_forked(options))
		fprintf(out, ", jobs=%u", options->jobs);
}

/* ---- before anything starts ---- */

/*
 * A bochsrc parameter: Bochs splits at commas whatever the quotes say, expands
 * `$', and has no way to quote a quote.
 */
static int check_parameter(const char *what, const char *value)
{
	if (!value)
		return CLI_DONE;
	if (strlen(value) >= PARAMETER_SIZE)
		return cli_complain(CLI_USAGE, "%s: longer than the %d bytes that Bochs takes",
				    what, PARAMETER_SIZE - 1);
	for (const char *p = value; *p; p++) {
		if (strchr(",\"$", *p) || (unsigned char)*p < ' ')
			return cli_complain(CLI_USAGE, "%s '%s': a bochsrc cannot hold commas, "
					    "double quotes, dollar signs or newlines",
					    what, value);
	}
	return CLI_DONE;
}

static int check_parameters(const struct record_options *options)
{
	int status = check_parameter("--start", options->start);
	char name[32];

	for (const struct cli_option *option = option_table; !status && option->type != CLI_END; option++) {
		snprintf(name, sizeof(name), "--%s", option->name ? option->name : "");
		status = check_parameter(name, forwarded(option, options));
	}
	return status;
}

static int check_machine(const char *path)
{
	struct stat about;

	if (stat(path, &about) < 0)
		return cli_complain(CLI_FAILED, "%s: %s: the machine is a bochsrc file", path,
				    strerror(errno));
	if (!S_ISREG(about.st_mode) && !S_ISFIFO(about.st_mode))
		return cli_complain(CLI_FAILED, "%s: is no file: the machine is a bochsrc file",
				    path);
	if (access(path, R_OK) < 0)
		return cli_complain(CLI_FAILED, "%s: %s", path, strerror(errno));
	return CLI_DONE;
}

/*
 * The absolute path of a file that an option names, whatever directory Bochs makes its own;
 * checks that it may be made there.  Returns a status.
 */
static int make_absolute(char path[PATH_MAX], const char *option, const char *given)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(given, '/');
	const char *name = slash ? slash + 1 : given;
	size_t used;

	if (!*name)
		return cli_complain(CLI_USAGE, "%s: is a directory, no file name", given);
	if (snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - given + 1) : 1,
		     slash ? given : ".") >= PATH_MAX)
		return cli_complain(CLI_USAGE, "%s: the path is too long", option);
	if (!realpath(folder, path) || access(path, W_OK | X_OK) < 0)
		return cli_complain(CLI_FAILED, "%s: cannot be written: %s: %s", given, folder,
				    strerror(errno));
	used = strlen(path);
	if ((size_t)snprintf(path + used, PATH_MAX - used, "%s%s",
			     strcmp(path, "/") == 0 ? "" : "/", name) >= PATH_MAX - used)
		return cli_complain(CLI_USAGE, "%s: the path is too long", option);
	return check_parameter(option, path);
}

bool record_streams(const struct record_options *options)
{
	return strcmp(options->output, "-") == 0;
}

/* What goes to standard error, such as the machine's messages, would be within the trace. */
static bool is_standard_error(void)
{
	struct stat out, err;

	return fstat(STDOUT_FILENO, &out) == 0 && fstat(STDERR_FILENO, &err) == 0 &&
	       out.st_dev == err.st_dev && out.st_ino == err.st_ino && !S_ISCHR(out.st_mode);
}

/* May the trace go to standard output?  Returns a status. */
static int check_stream(const struct record_options *options)
{
	const bool checkpoints = options->checkpoint && strcmp(options->checkpoint, "off") != 0;
	const char *needs_file = options->segment ? "segment" : checkpoints ? "checkpoint" :
				 options->overwrite ? "overwrite" : NULL;

	if (needs_file)
		return cli_complain(CLI_USAGE, "--%s needs a file, which -o names, and standard "
				    "output is none", needs_file);
	if (options->dry_run)	/* standard output will be another */
		return CLI_DONE;
	if (isatty(STDOUT_FILENO))
		return cli_complain(CLI_USAGE, "a trace is not written to a terminal");
	if (is_standard_error())
		return cli_complain(CLI_USAGE, "standard output is for the trace alone, and standard "
				    "error goes there, too");
	return cli_refuse_input("-", options->machine);
}

static int check_snapshots(const struct record_options *options)
{
	char place[PATH_MAX];

	if (*options->snapshot && access(options->snapshot, F_OK) == 0)
		return cli_complain(CLI_FAILED, "%s: exists; a snapshot is a new directory", options->snapshot);
	if (*options->from && (snprintf(place, sizeof(place), "%s/place", options->from) >= (int)sizeof(place) ||
			       access(place, R_OK) < 0))
		return cli_complain(CLI_FAILED, "%s: is no snapshot (record --snapshot makes them)", options->from);
	return CLI_DONE;
}

/* The output's absolute path; checks that it may be written.  Returns a status. */
static int check_output(char path[PATH_MAX], const struct record_options *options)
{
	int status;

	*path = '\0';
	if (record_streams(options))
		return check_stream(options);
	status = make_absolute(path, "-o", options->output);
	if (!status)
		status = cli_refuse_input(options->output, options->machine);
	if (!status)
		status = cli_refuse_existing(options->output, options->overwrite);
	return status;
}

static int check_status_file(struct record_options *options)
{
	int status;

	if (!options->status_file)
		return options->status_every ?
		       cli_complain(CLI_USAGE, "--status-every is of a --status-file") : CLI_DONE;
	status = make_absolute(options->status_path, "--status-file", options->status_file);
	options->status_file = options->status_path;
	return status;
}

static int check_reduce(const char *spec)
{
	struct lpl_report report = { 0 };
	struct lpl_plan plan;

	if (lpl_plan_parse(&plan, spec, &report))
		return cli_report(&report);
	return CLI_DONE;
}

/*
 * Which of the two simulators records: the one that sends windows, or its neighbour, by which it
 * replaces itself where every reference is wanted (bochs/instrument/session.cc).
 */
static int print_simulator(const struct record_options *options, const char *bochs)
{
	struct lpl_choice_options choice;
	struct lpl_report report = { 0 };
	char words[LPL_CHOICE_SIZE];
	struct lpl_plan plan;
	char *path;
	int status;

	if (lpl_plan_parse(&plan, options->reduce, &report) ||
	    (*options->only && lpl_choice_parse(&choice, words, options->only, &report)))
		return cli_report(&report);
	if (*options->only && lpl_choice_beyond_tasks(&choice))
		lpl_plan_every(&plan);
	if (asprintf(&path, "%s%s", bochs, plan.window ? "" : "-all") < 0)
		return cli_complain(CLI_FAILED, "no memory");
	status = cli_print_json(stdout, json_pack("{s:o}", "simulator", cli_json_text(path)));
	free(path);
	return status;
}

static int refuse_parts(const char *trace, const char *given)
{
	return record_parts_are_there(trace) ?
	       cli_complain(CLI_USAGE, "%s: was begun with --jobs N, and goes on with it", given) : CLI_DONE;
}

int cmd_record(int argc, char **argv)
{
	struct record_options options = { 0 };
	char trace[PATH_MAX], checkpoint[PATH_MAX];
	char *bochs = NULL;
	int status;

	cli_parse(&usage, argc, argv, &options);
	if (options.resume && options.jobs)
		return record_jobs_resume(&options);
	if (options.resume) {
		options.output = options.resume;
		status = refuse_parts(options.resume, options.resume);
		if (!status)
			status = cli_find_checkpoint(options.resume, trace, checkpoint);
		if (!status)
			status = refuse_parts(trace, options.resume);
		if (!status)
			status = find_bochs(&bochs, options.bochs);
		if (!status)
			status = record_run(&options, bochs, trace, checkpoint);
		free(bochs);
		return status;
	}
	status = check_status_file(&options);
	if (!status)
		status = check_parameters(&options);
	if (!status)
		status = check_reduce(options.reduce);
	if (!status)
		status = record_check_extra(&options);
	if (!status)
		status = check_machine(options.machine);
	if (!status)
		status = check_snapshots(&options);
	if (!status && options.jobs)
		status = record_jobs_check(&options);
	if (!status)
		status = check_output(trace, &options);
	if (!status)
		status = find_bochs(&bochs, options.bochs);
	if (!status && !options.dry_run && !(options.jobs && options.checkpoint) && !record_streams(&options))
		status = record_parts_make_way(trace, options.overwrite);
	if (!status && !options.dry_run && options.jobs && options.checkpoint)
		status = record_jobs(&options, bochs, trace);
	else if (!status && !options.dry_run)
		status = record_run(&options, bochs, trace, NULL);
	else if (!status && options.json)
		status = print_simulator(&options, bochs);
	free(bochs);
	return status;
}
