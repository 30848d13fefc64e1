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

#include <laplace/collector.h>
#include <laplace/conditions.h>
#include <laplace/select.h>
#include <laplace/windows.h>

#include "checkpoint.h"
#include "commands.h"
#include "find.h"
#include "options.h"
#include "record.h"
#include "replace.h"
#include "say.h"

/* Bochs takes no longer parameter in a line of its bochsrc. */
#define PARAMETER_SIZE 480
#define STATUS_EVERY_MOST 86400	/* s */

enum { OPT_START = 256, OPT_BOCHS, OPT_TITLE, OPT_GUEST, OPT_WORKLOAD,
       OPT_INSTRUCTIONS, OPT_KERNEL, OPT_WALKS, OPT_FLUSH, OPT_WINDOWS,
       OPT_SYNC, OPT_ON_FULL, OPT_SEGMENT, OPT_STATUS_FILE, OPT_STATUS_EVERY,
       OPT_STOP, OPT_END, OPT_CONTROL, OPT_ONLY, OPT_CHECKPOINT, OPT_RESUME };

static const struct argp_option option_table[] = {
	{ "output", 'o', "TRACE", 0, "The trace to write (trace.lpl)", 0 },
	{ "reduce", 'r', "SPEC", 0,
	  "What to keep: none (everything), sad:K, window:K ... (sad:64)", 0 },
	{ "start", OPT_START, "WHEN", 0,
	  "Trace from the start (on), when the guest asks for it (off), from the first "
	  "mark (mark), or from when a condition holds: instructions:N, mark:TEXT, exec:NAME", 0 },
	{ "stop", OPT_STOP, "WHEN", 0,
	  "Trace until a condition holds: also references:N", 0 },
	{ "end", OPT_END, "WHEN", 0,
	  "End the run when a condition holds: also bytes:N (of the trace), seconds:N", 0 },
	{ "control", OPT_CONTROL, "SOCKET", 0, "Let `laplace ctl SOCKET' steer the run", 0 },
	{ "windows", OPT_WINDOWS, "WHEN", 0,
	  "Trace only in windows of time: every:1G,length:10M (instructions), "
	  "mark:X,until:Y (the guest's marks), task:NAME, syscall:NAME ...", 0 },
	{ "only", OPT_ONLY, "CHOICE", 0,
	  "Record only some of the references, chosen before they are reduced: process:NAME, "
	  "children, task:NAME, user, kernel, type:TYPE, range:START:END, from:MOMENT, to:MOMENT, joined by + signs", 0 },
	{ "dry-run", 'n', NULL, 0, "Check the options and the machine, but start nothing; with --json, "
	  "print which simulator would record", 0 },
	{ "instructions", OPT_INSTRUCTIONS, "N", 0,
	  "How many are expected, so that progress shows what is left (--end instructions:N ends the "
	  "run)",
	  0 },
	{ "kernel", OPT_KERNEL, "WHERE", 0,
	  "Where the guest's kernel_trace_record is: auto (it tells), none, a hexadecimal "
	  "address, a System.map or a vmlinux", 0 },
	{ "flush", OPT_FLUSH, "EVERY", 0,
	  "How often everything that has happened is made readable in the file: 10s (seconds, "
	  "the default), 1000000000i (instructions: the file repeats byte for byte), off", 0 },
	{ "sync", OPT_SYNC, "SECONDS", 0,
	  "How often what was written is forced to the disk, so that a power failure loses no "
	  "more (30); 0: only when the trace is closed", 0 },
	{ "on-full", OPT_ON_FULL, "WHAT", 0,
	  "When the disk is full: wait for room (wait, the default), or end the run and close "
	  "the trace (stop)", 0 },
	{ "segment", OPT_SEGMENT, "SIZE", 0,
	  "Cut the trace into files of this size, bytes:4G or instructions:20G; TRACE "
	  "is a manifest that names them, and is read as one trace", 0 },
	{ "checkpoint", OPT_CHECKPOINT, "WHEN", 0,
	  "Save the machine beside the trace, which is in segments then: every:20G (instructions), "
	  "or when it is asked for (on)", 0 },
	{ "resume", OPT_RESUME, "TRACE", 0,
	  "Resume a recording that was cut off, from its last checkpoint; takes no MACHINE", 0 },
	{ "status-file", OPT_STATUS_FILE, "PATH", 0,
	  "Append the status to this file now and then, a JSON object a line", 0 },
	{ "status-every", OPT_STATUS_EVERY, "SECONDS", 0, "How often that is done (10)", 0 },
	{ "walks", OPT_WALKS, NULL, 0, "Record page-table walks, too", 0 },
	{ "level", 'l', "N", 0, "Compression level of zstd, 1 to 19 (3)", 0 },
	{ "title", OPT_TITLE, "TEXT", 0, "Kept in the trace", 0 },
	{ "guest", OPT_GUEST, "TEXT", 0, "The guest's kernel and image, kept in the trace", 0 },
	{ "workload", OPT_WORKLOAD, "TEXT", 0, "What it runs, kept in the trace", 0 },
	{ "bochs", OPT_BOCHS, "PATH", 0, "The laplace-bochs to run", 0 },
	{ 0 }
};

/* off, 10s, 1000000000i; laplace-bochs knows the limits. */
static bool is_interval(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	return strcmp(text, "off") == 0 ||
	       (digits && (!strcmp(text + digits, "s") || !strcmp(text + digits, "i")));
}

/* A number of seconds as a bochsrc takes it, as text. */
static const char *seconds(struct argp_state *state, const char *option, const char *text)
{
	if (cli_number(state, option, text, 0) > 86400)
		argp_error(state, "%s is at most 86400 seconds, a day", option);
	return text;
}

/* As a bochsrc takes them, without commas. */
static void set_conditions(struct argp_state *state, const char *option,
			   char spec[LPL_CONDITIONS_SIZE], const char *text,
			   enum lpl_conditions_use use)
{
	struct lpl_conditions conditions;
	struct lpl_report report = { 0 };

	if (lpl_conditions_parse(&conditions, text, use, &report))
		argp_error(state, "%s %s: %s", option, text, report.text);
	snprintf(spec, LPL_CONDITIONS_SIZE, "%s", conditions.spec);
}

static void set_start(struct argp_state *state, struct record_options *options, const char *text)
{
	if (!strcmp(text, "on") || !strcmp(text, "off") || !strcmp(text, "mark"))
		snprintf(options->start, sizeof(options->start), "%s", text);
	else if (strchr(text, ':'))
		set_conditions(state, "--start", options->start, text, LPL_TO_START);
	else
		argp_error(state, "--start is on, off, mark or a condition as instructions:5G, "
			   "not '%s'", text);
}

/* Whatever directory Bochs makes its own. */
static void set_control(struct argp_state *state, struct record_options *options, const char *path)
{
	char here[PATH_MAX] = "";

	if (*path != '/' && !getcwd(here, sizeof(here)))
		argp_failure(state, CLI_FAILED, errno, "--control");
	if (!*path || (size_t)snprintf(options->control, sizeof(options->control), "%s%s%s", here,
				       *path == '/' ? "" : "/", path) >= sizeof(options->control))
		argp_error(state, "--control is the path of a socket, not '%.100s'", path);
}

/* Without commas, likewise. */
static void set_windows(struct argp_state *state, struct record_options *options, const char *text)
{
	struct lpl_report report = { 0 };
	struct lpl_windows *windows;

	if (lpl_windows_open(&windows, text, &report))
		argp_error(state, "--windows %s: %s", text, report.text);
	snprintf(options->windows, sizeof(options->windows), "%s", lpl_windows_spec(windows));
	lpl_windows_close(windows);
}

static void set_only(struct argp_state *state, struct record_options *options, const char *text)
{
	struct lpl_choice_options choice;
	struct lpl_report report = { 0 };
	char words[LPL_CHOICE_SIZE];

	if (lpl_choice_parse(&choice, words, text, &report) ||
	    lpl_choice_say(options->only, &choice, &report))
		argp_error(state, "--only %s: %s", text, report.text);
	if (choice.kinds || choice.file)
		argp_error(state, "--only %s: what is behind a page is known only when the trace is merged; "
			   "laplace reduce chooses kinds and files of a canonical trace", text);
}

static void check_segment(struct argp_state *state, const char *text)
{
	struct lpl_report report = { 0 };
	struct lpl_segment_size size;

	if (lpl_segment_size_parse(&size, text, &report))
		argp_error(state, "--segment %s: %s", text, report.text);
}

/* every:N, as a segment's number of instructions; on; off */
static void check_checkpoint(struct argp_state *state, const char *text)
{
	struct lpl_segment_size size = { 0 };
	char spec[64];

	if (strcmp(text, "on") == 0 || strcmp(text, "off") == 0)
		return;
	if (strncmp(text, "every:", 6) != 0 ||
	    snprintf(spec, sizeof(spec), "instructions:%s", text + 6) >= (int)sizeof(spec) ||
	    lpl_segment_size_parse(&size, spec, NULL) || size.bytes)
		argp_error(state, "--checkpoint is on, or every:N instructions, from 1M on, as "
			   "every:20G, not '%.100s'", text);
}

/* Does the option say what is recorded, and how?  All of ours do, but for those named here. */
static bool is_of_run(int key)
{
	const struct argp_option *option = option_table;

	if (key == OPT_RESUME || key == OPT_BOCHS || key == OPT_INSTRUCTIONS)
		return false;
	while (option->name && option->key != key)
		option++;
	return option->name;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct record_options *options = state->input;

	options->of_run |= is_of_run(key);
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->overwrite;
		state->child_inputs[1] = &options->json;
		state->child_inputs[2] = &options->progress;
		return 0;
	case 'o':
		options->output = arg;
		return 0;
	case 'r':
		options->reduce = arg;
		return 0;
	case OPT_START:
		set_start(state, options, arg);
		return 0;
	case OPT_STOP:
		set_conditions(state, "--stop", options->stop, arg, LPL_TO_STOP);
		return 0;
	case OPT_END:
		set_conditions(state, "--end", options->end, arg, LPL_TO_END);
		return 0;
	case OPT_CONTROL:
		set_control(state, options, arg);
		return 0;
	case OPT_WINDOWS:
		set_windows(state, options, arg);
		return 0;
	case OPT_ONLY:
		set_only(state, options, arg);
		return 0;
	case 'n':
		options->dry_run = true;
		return 0;
	case OPT_INSTRUCTIONS:
		options->instructions = cli_number(state, "--instructions", arg, 1);
		return 0;
	case OPT_KERNEL:
		options->kernel = arg;
		return 0;
	case OPT_FLUSH:
		if (!is_interval(arg))
			argp_error(state, "--flush is off, a number of seconds (10s) or of "
				   "instructions (1000000000i), not '%s'", arg);
		options->flush = arg;
		return 0;
	case OPT_SYNC:
		options->sync = seconds(state, "--sync", arg);
		return 0;
	case OPT_ON_FULL:
		if (strcmp(arg, "wait") && strcmp(arg, "stop"))
			argp_error(state, "--on-full is wait or stop, not '%s'", arg);
		options->on_full = arg;
		return 0;
	case OPT_SEGMENT:
		check_segment(state, arg);
		options->segment = arg;
		return 0;
	case OPT_CHECKPOINT:
		check_checkpoint(state, arg);
		options->checkpoint = arg;
		return 0;
	case OPT_RESUME:
		options->resume = arg;
		return 0;
	case OPT_STATUS_FILE:
		options->status_file = arg;
		return 0;
	case OPT_STATUS_EVERY:
		options->status_every = cli_number(state, "--status-every", arg, 1);
		if (options->status_every > STATUS_EVERY_MOST)
			argp_error(state, "--status-every is at most %d seconds",
				   STATUS_EVERY_MOST);
		return 0;
	case OPT_WALKS:
		options->walks = true;
		return 0;
	case 'l':
		options->level = cli_number(state, "--level", arg, 1);
		if (options->level > 19)
			argp_error(state, "--level is 1 to 19");
		return 0;
	case OPT_TITLE:
		options->title = arg;
		return 0;
	case OPT_GUEST:
		options->guest = arg;
		return 0;
	case OPT_WORKLOAD:
		options->workload = arg;
		return 0;
	case OPT_BOCHS:
		options->bochs = arg;
		return 0;
	case ARGP_KEY_ARGS:
		/* parsed in order: all that follows MACHINE is for Bochs */
		options->machine = state->argv[state->next];
		options->extra = &state->argv[state->next + 1];
		return 0;
	case ARGP_KEY_NO_ARGS:
		if (!options->resume)
			argp_error(state, "which machine?  Name a bochsrc");
		return 0;
	case ARGP_KEY_END:
		if (options->resume && (options->of_run || options->machine))
			argp_error(state, "--resume goes on as the recording was begun: beside it there "
				   "may be --bochs, --instructions, --json and --progress");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {
	{ &cli_overwrite_argp, 0, NULL, 0 },
	{ &cli_json_argp, 0, NULL, 0 },
	{ &cli_progress_argp, 0, NULL, 0 },
	{ 0 }
};
static const struct argp argp = {
	option_table, parse_option, "MACHINE [BOCHS-ARGUMENT...]",
	"Run laplace-bochs on MACHINE, a bochsrc, and collect a trace of it."
	"\v"
	"What follows MACHINE is passed on to Bochs: its own options, then lines for the "
	"bochsrc: `laplace record rc -dbg 'boot: cdrom'.  SIGINT (Ctrl-C), SIGTERM and SIGHUP "
	"end the run and close the trace; SIGUSR1 makes all that happened readable.  Exit status 0 "
	"only when the guest ended by itself, and did not say that its workload failed, or by "
	"--end.",
	children, NULL, NULL
};

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

/* The output's absolute path; checks that it may be written.  Returns a status. */
static int check_output(char path[PATH_MAX], const struct record_options *options)
{
	int status;

	if (strcmp(options->output, "-") == 0)
		return cli_complain(CLI_USAGE, "a recording needs a file: its machine may print "
				    "on standard output, too");
	status = make_absolute(path, "-o", options->output);
	if (!status)
		status = cli_refuse_input(options->output, options->machine);
	if (!status)
		status = cli_refuse_existing(options->output, options->overwrite);
	return status;
}

static int check_status_file(struct record_options *options)
{
	if (!options->status_file)
		return options->status_every ?
		       cli_complain(CLI_USAGE, "--status-every is of a --status-file") : CLI_DONE;
	return make_absolute(options->status_path, "--status-file", options->status_file);
}

/* Options of Bochs that leave it to us which machine runs, and that it runs. */
static const struct {
	const char *name;
	bool value, debugger;
} bochs_options[] = {
	{ "-dbg", false, true }, { "-debugger", false, true }, { "-rc", true, false },
	{ "-dbglog", true, false }, { "-log", true, false }, { "-unlock", false, false },
	{ "-benchmark", true, false }, { "-dumpstats", true, false }, { "-q", false, false },
};
#define BOCHS_OPTIONS (sizeof(bochs_options) / sizeof(bochs_options[0]))

/* What follows MACHINE: an option of ours is not handed to Bochs, which would not start. */
static int check_extra(struct record_options *options)
{
	for (char **argument = options->extra; *argument; argument++) {
		size_t i = 0;

		if (**argument != '-')
			continue;
		while (i < BOCHS_OPTIONS && strcmp(*argument, bochs_options[i].name) != 0)
			i++;
		if (i == BOCHS_OPTIONS)
			return cli_complain(CLI_USAGE, "'%s' after MACHINE: what follows MACHINE is "
					    "for Bochs (-dbg, -rc FILE, -dbglog FILE, -log FILE, "
					    "-unlock, -benchmark N, -dumpstats N, lines for the "
					    "bochsrc); options of ours stand before it", *argument);
		if (bochs_options[i].value && !*++argument)
			return cli_complain(CLI_USAGE, "'%s' after MACHINE wants a value",
					    bochs_options[i].name);
		options->debugger |= bochs_options[i].debugger;
	}
	return CLI_DONE;
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

int cmd_record(int argc, char **argv)
{
	struct record_options options = { .output = "trace.lpl", .reduce = "sad:64", .start = "on" };
	char trace[PATH_MAX], checkpoint[PATH_MAX];
	char *bochs = NULL;
	int status;

	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &options);
	if (options.resume) {
		options.output = options.resume;
		status = cli_find_checkpoint(options.resume, trace, checkpoint);
		if (!status)
			status = find_bochs(&bochs, options.bochs);
		if (!status)
			status = record_run(&options, bochs, trace, checkpoint);
		free(bochs);
		return status;
	}
	status = check_parameter("--title", options.title);
	if (!status)
		status = check_parameter("--guest", options.guest);
	if (!status)
		status = check_parameter("--workload", options.workload);
	if (!status)
		status = check_parameter("--kernel", options.kernel);
	if (!status)
		status = check_parameter("--flush", options.flush);
	if (!status)
		status = check_parameter("--windows", options.windows);
	if (!status)
		status = check_parameter("--only", options.only);
	if (!status)
		status = check_parameter("--start", options.start);
	if (!status)
		status = check_parameter("--stop", options.stop);
	if (!status)
		status = check_parameter("--end", options.end);
	if (!status)
		status = check_parameter("--control", options.control);
	if (!status)
		status = check_reduce(options.reduce);
	if (!status)
		status = check_extra(&options);
	if (!status)
		status = check_machine(options.machine);
	if (!status)
		status = check_output(trace, &options);
	if (!status)
		status = check_status_file(&options);
	if (!status)
		status = find_bochs(&bochs, options.bochs);
	if (!status && !options.dry_run)
		status = record_run(&options, bochs, trace, NULL);
	else if (!status && options.json)
		status = print_simulator(&options, bochs);
	free(bochs);
	return status;
}
