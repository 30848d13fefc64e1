/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The run of a recording: its machine's arguments, how it goes on, how it ended; see record.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include "collect/collector.h"
#include "machine.h"
#include "options.h"
#include "record.h"
#include "say.h"

/* ---- its arguments ---- */

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

/* An option of ours is not handed to Bochs, which would not start. */
int record_check_extra(struct record_options *options)
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

char *record_line(const struct record_options *options, const char *trace)
{
	char *line = NULL;
	size_t size;
	FILE *out = open_memstream(&line, &size);

	if (!out)
		return NULL;
	fprintf(out, "laplace: trace=\"%s\", ", trace);
	record_print_parameters(options, out);
	return fclose(out) == 0 ? line : NULL;
}

/* The same, with the descriptor to which its status goes. */
static char *make_line(const struct record_options *options, const char *trace, int child_fd)
{
	char *given = record_line(options, trace), *line = NULL;

	if (given && asprintf(&line, "%s, status=%d", given, child_fd) < 0)
		line = NULL;
	free(given);
	return line;
}

char **record_argv(const struct record_options *options, char *bochs, char *line)
{
	static char quick[] = "-q", file[] = "-f", restore[] = "-r";
	size_t extras = 0, n = 0;
	char **argv;

	while (options->extra[extras])
		extras++;
	argv = calloc(extras + 8, sizeof(*argv));
	if (!argv)
		return NULL;
	argv[n++] = bochs;
	argv[n++] = quick;
	argv[n++] = file;
	argv[n++] = (char *)options->machine;
	for (size_t i = 0; i < extras; i++)
		argv[n++] = options->extra[i];
	if (*options->from) {
		argv[n++] = restore;
		argv[n++] = (char *)options->from;
	}
	argv[n] = line;
	return argv;
}

/* PATH -q -unlock -r CHECKPOINT LINE: the rest is in the checkpoint. */
static char **make_resume_argv(char *bochs, char *checkpoint, char *line)
{
	static char quick[] = "-q", unlock[] = "-unlock", restore[] = "-r";
	char *const words[] = { bochs, quick, unlock, restore, checkpoint, line, NULL };
	char **argv = malloc(sizeof(words));

	if (argv)
		memcpy(argv, words, sizeof(words));
	return argv;
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

/* What is said of it, or where the run is to end; 0: not known. */
static uint64_t expected_instructions(const struct record_options *options)
{
	struct lpl_conditions end;

	lpl_conditions_clear(&end);
	if (*options->end)
		(void)lpl_conditions_parse(&end, options->end, LPL_TO_END, NULL);
	if (options->instructions)
		return options->instructions;
	return end.number[LPL_MOMENT_INSTRUCTION] != LPL_NEVER ?
		       end.number[LPL_MOMENT_INSTRUCTION] : 0;
}

struct display {
	struct cli_progress progress;
	const struct record_options *options;
};

static void show(const struct machine *machine, void *context)
{
	struct display *display = context;
	const struct cli_collection *s = &machine->status;
	char line[CLI_COLLECTION_LINE];

	if (!cli_progress_due(&display->progress) && !(s->closing && display->progress.on))
		return;
	cli_progress_line(&display->progress, "%s",
			  cli_collection_line(line, s, expected_instructions(display->options),
					      cli_progress_columns(&display->progress)));
}

/* As it is named to people. */
static const char *output_name(const struct record_options *options)
{
	return record_streams(options) ? "standard output" : options->output;
}

static const char *describe_end(const struct machine *machine, char text[128])
{
	const struct cli_collection *s = &machine->status;

	if (WIFSIGNALED(machine->wait_status))
		snprintf(text, 128, "laplace-bochs was killed by signal %d (%s)",
			 WTERMSIG(machine->wait_status),
			 strsignal(WTERMSIG(machine->wait_status)));
	else if (!s->ended)
		snprintf(text, 128, "laplace-bochs ended with status %d %s; its messages above "
			 "say why", WEXITSTATUS(machine->wait_status),
			 s->updates ? "without closing the trace" : "before it began to record");
	else if (machine->interrupted)
		snprintf(text, 128, "interrupted");
	else if (strcmp(s->end, "fail") == 0)
		snprintf(text, 128, "failed in the guest");
	else if (strcmp(s->end, "full") == 0)
		snprintf(text, 128, "ended early, for want of room");
	else if (strcmp(s->end, "quit") == 0)
		snprintf(text, 128, "the machine was ended before its guest was done");
	else
		snprintf(text, 128, "the recording failed (%s)", s->end[0] ? s->end : "?");
	return text;
}

static int print_summary(const struct record_options *options, const struct machine *machine,
			 uint64_t bytes, bool clean)
{
	const struct cli_collection *s = &machine->status;
	const char *name = output_name(options);
	FILE *out = record_streams(options) ? stderr : stdout;
	char kept[CLI_PERCENT_SIZE], took[CLI_HUMAN_SIZE];
	const double seconds = (double)s->elapsed_ns / 1e9;

	if (options->json)
		return cli_print_json(out,
			json_pack("{s:o, s:b, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I,"
				  " s:I}",
				  "file", cli_json_text(options->output), "clean", clean,
				  "end", s->end, "message", s->message,
				  "instructions", (json_int_t)s->instructions,
				  "references", (json_int_t)s->references,
				  "kept", (json_int_t)s->kept,
				  "events", (json_int_t)s->events,
				  "bytes", (json_int_t)bytes,
				  "wait_ns", (json_int_t)s->wait_ns,
				  "elapsed_ns", (json_int_t)s->elapsed_ns,
				  "checkpoints_failed", (json_int_t)s->checkpoints_failed));
	if (seconds < 3600)
		snprintf(took, sizeof(took), "%.1f s", seconds);
	else
		cli_duration(took, (uint64_t)seconds);
	cli_say(out, "%s: %" PRIu64 " instructions in %s (%.1f MIPS), %" PRIu64
	       " references, kept %" PRIu64 " (%s), %" PRIu64 " events, %" PRIu64
	       " bytes, stalled %.1f%% of the time", name, s->instructions, took,
	       (double)s->mean.instructions / 1e6, s->references, s->kept,
	       cli_percent(kept, 3, s->kept, s->references), s->events, bytes,
	       percent(s->wait_ns, s->elapsed_ns));
	if (s->checkpoints_failed)
		cli_say(out, "%s: %" PRIu64 " checkpoint%s could not be made; the messages above "
			"say why", name, s->checkpoints_failed,
			s->checkpoints_failed == 1 ? "" : "s");
	if (clean && s->message[0])
		cli_say(out, "%s: %s", name, s->message);
	return CLI_DONE;
}

/* The size of a trace that is there, in whatever files. */
static uint64_t trace_bytes(const char *trace, const struct stat *about)
{
	struct lpl_reader *reader;
	uint64_t bytes = (uint64_t)about->st_size;

	if (S_ISREG(about->st_mode) && lpl_reader_open(&reader, trace, NULL) == LPL_OK) {
		bytes = lpl_reader_size(reader);
		lpl_reader_close(reader);
	}
	return bytes;
}

/* Where there is no trace: what there may be of it.  Returns a status. */
static int complain_of_none(const struct record_options *options, const struct machine *machine,
			    const char *trace)
{
	char *part = NULL;
	/* one that was there before this run began to write is not its own, unless it goes
	 * on with it */
	bool kept = (machine->status.updates || options->resume) &&
		    asprintf(&part, "%s.part", trace) > 0 && access(part, F_OK) == 0;
	int status = kept ? cli_complain(CLI_FAILED, "%s: was not completed; what was "
					 "written is in %s", options->output, part) :
			    cli_complain(CLI_FAILED, "%s: was not written", options->output);

	free(part);
	return status;
}

/*
 * After the end: what became of it.  `before` is what had the trace's name before the
 * run, all zeros for nothing: as long as that has it, this run's has not.
 */
static int conclude(const struct record_options *options, const struct machine *machine,
		    const char *trace, const struct stat *before)
{
	const struct cli_collection *s = &machine->status;
	bool clean = s->ended && strcmp(s->end, "clean") == 0 && !machine->interrupted &&
		     !WIFSIGNALED(machine->wait_status);
	const bool streams = record_streams(options);
	struct stat about;
	bool there = streams ||
		     (stat(trace, &about) == 0 &&
		      !(S_ISREG(about.st_mode) && about.st_dev == before->st_dev &&
			about.st_ino == before->st_ino));
	char text[128];
	int status = CLI_DONE;

	if (s->updates && print_summary(options, machine, there && !streams ?
							  trace_bytes(trace, &about) : s->bytes,
					clean && there))
		status = CLI_FAILED;
	if (!clean && streams && cli_reader_has_ended())
		return cli_complain(CLI_FAILED, "standard output: was not read to the end, and the run "
				    "ended with that");
	if (!clean)
		status = cli_complain(CLI_FAILED, "%s: %s%s%s", output_name(options),
				      describe_end(machine, text),
				      s->message[0] ? ": " : "", s->message);
	return there ? status : complain_of_none(options, machine, trace);
}

/* Another descriptor of our standard output: the machine's own is for its chatter. */
static int open_stream(struct machine *machine, char trace[PATH_MAX])
{
	machine->stream_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (machine->stream_fd < 0)
		return cli_complain(CLI_FAILED, "standard output: %s", strerror(errno));
	snprintf(trace, PATH_MAX, "/dev/fd/%d", machine->stream_fd);
	return CLI_DONE;
}

int record_conclude(const struct record_options *options, const struct machine *machine, const char *trace)
{
	return conclude(options, machine, trace, &(struct stat){ 0 });
}

int record_run(const struct record_options *options, char *bochs, const char *trace,
	       char *checkpoint)
{
	struct display display = { .options = options };
	struct stat before = { 0 };
	struct machine machine;
	char *line = NULL, **argv = NULL, stream[PATH_MAX];
	int child_fd, lock = -1, status = machine_prepare(&machine, options->debugger, &child_fd);

	if (!status && record_streams(options)) {
		status = open_stream(&machine, stream);
		trace = stream;
	}
	if (status)
		return status;
	if (!checkpoint)
		line = make_line(options, trace, child_fd);
	else if (asprintf(&line, "laplace: status=%d", child_fd) < 0)
		line = NULL;
	if (line)
		argv = checkpoint ? make_resume_argv(bochs, checkpoint, line) :
				    record_argv(options, bochs, line);
	if (!argv) {
		free(line);
		return cli_complain(CLI_FAILED, "no memory");
	}
	if (!checkpoint)	/* else it is the trace that is continued */
		(void)stat(trace, &before);
	if (record_is_forked(options))
		status = record_forks_begin(options, trace, &lock);
	cli_progress_start(&display.progress, options->progress);
	if (!status)
		status = machine_run(&machine, argv, child_fd, show, &display);
	cli_progress_clear(&display.progress);
	if (!status && record_is_forked(options))
		status = record_forks_end(options, trace, machine.status.updates > 0, lock);
	if (!status)
		status = conclude(options, &machine, trace, &before);
	free(argv);
	free(line);
	return status;
}
