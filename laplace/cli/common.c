/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the subcommands share; see common.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <laplace/reducer.h>

#include "common.h"

#define MOST_JOBS 1024
#define MOST_COMPLAINTS 8

/* ---- telling ---- */

int cli_complain(int status, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", program_invocation_name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return status;
}

int cli_report(const struct lpl_report *report)
{
	if (report->system_errno == EPIPE)
		return CLI_DONE;
	return cli_complain(lpl_error_status(report->error), "%s",
			    report->text[0] ? report->text
					    : lpl_error_name(report->error));
}

char *cli_human(char buf[CLI_HUMAN_SIZE], uint64_t number)
{
	static const char unit[] = " kMGTPE";
	double value = (double)number;
	int step = 0;

	while (value >= 999.5) {
		value /= 1000;
		step++;
	}
	if (step == 0)
		snprintf(buf, CLI_HUMAN_SIZE, "%" PRIu64, number);
	else
		snprintf(buf, CLI_HUMAN_SIZE, "%.*f %c",
			 value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, unit[step]);
	return buf;
}

char *cli_duration(char buf[CLI_HUMAN_SIZE], uint64_t seconds)
{
	unsigned int minute = (unsigned int)(seconds / 60 % 60);
	unsigned int second = (unsigned int)(seconds % 60);

	if (seconds >= 360000)
		snprintf(buf, CLI_HUMAN_SIZE, "days");
	else if (seconds >= 3600)
		snprintf(buf, CLI_HUMAN_SIZE, "%u:%02u:%02u",
			 (unsigned int)(seconds / 3600), minute, second);
	else
		snprintf(buf, CLI_HUMAN_SIZE, "%u:%02u", minute, second);
	return buf;
}

char *cli_percent(char buf[CLI_PERCENT_SIZE], int digits, uint64_t part, uint64_t whole)
{
	double value = whole ? 100 * (double)part / (double)whole : 0;
	double step = pow(10, 2 - digits);	/* below 100 */

	if (part < whole && value >= 100 - step / 2)
		snprintf(buf, CLI_PERCENT_SIZE, "over %.*g%%", digits, 100 - step);
	else if (value >= pow(10, digits) - 0.5)
		snprintf(buf, CLI_PERCENT_SIZE, "%.0f%%", value);
	else if (part && value < 0.0001)
		snprintf(buf, CLI_PERCENT_SIZE, "under 0.0001%%");
	else
		snprintf(buf, CLI_PERCENT_SIZE, "%.*g%%", digits, value);
	return buf;
}

uint64_t cli_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

int cli_print_json(FILE *out, json_t *json)
{
	if (!json)
		return cli_complain(CLI_FAILED, "no memory for the JSON output");
	json_dumpf(json, out, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
	fputc('\n', out);
	json_decref(json);
	return CLI_DONE;
}

/* ---- options ---- */

static error_t parse_json(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	if (key != 'j')
		return ARGP_ERR_UNKNOWN;
	*(bool *)state->input = true;
	return 0;
}

static const struct argp_option json_options[] = {
	{ "json", 'j', NULL, 0, "Report in JSON", 0 },
	{ 0 }
};
const struct argp cli_json_argp = { json_options, parse_json, NULL, NULL, NULL, NULL, NULL };

static error_t parse_progress(int key, char *arg, struct argp_state *state)
{
	enum cli_when *when = state->input;

	if (key != 'P')
		return ARGP_ERR_UNKNOWN;
	if (strcmp(arg, "auto") == 0)
		*when = CLI_AUTO;
	else if (strcmp(arg, "always") == 0)
		*when = CLI_ALWAYS;
	else if (strcmp(arg, "never") == 0)
		*when = CLI_NEVER;
	else
		argp_error(state, "--progress is auto, always or never, not '%s'", arg);
	return 0;
}

static const struct argp_option progress_options[] = {
	{ "progress", 'P', "WHEN", 0,
	  "Show progress on stderr: auto (on a terminal), always, never", 0 },
	{ 0 }
};
const struct argp cli_progress_argp = {
	progress_options, parse_progress, NULL, NULL, NULL, NULL, NULL
};

static error_t parse_overwrite(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	if (key != 'O')
		return ARGP_ERR_UNKNOWN;
	*(bool *)state->input = true;
	return 0;
}

static const struct argp_option overwrite_options[] = {
	{ "overwrite", 'O', NULL, 0, "Replace an existing output file", 0 },
	{ 0 }
};
const struct argp cli_overwrite_argp = {
	overwrite_options, parse_overwrite, NULL, NULL, NULL, NULL, NULL
};

static error_t parse_jobs(int key, char *arg, struct argp_state *state)
{
	uint64_t number;

	if (key != 'J')
		return ARGP_ERR_UNKNOWN;
	number = cli_number(state, "--jobs", arg, 1);
	if (number > MOST_JOBS)
		argp_error(state, "--jobs is at most %d", MOST_JOBS);
	*(unsigned int *)state->input = (unsigned int)number;
	return 0;
}

static const struct argp_option jobs_options[] = {
	{ "jobs", 'J', "N", 0, "Threads that work (one for each processor)", 0 },
	{ 0 }
};
const struct argp cli_jobs_argp = { jobs_options, parse_jobs, NULL, NULL, NULL, NULL, NULL };

unsigned int cli_jobs(unsigned int asked)
{
	long processors = asked ? asked : sysconf(_SC_NPROCESSORS_ONLN);

	return processors > 0 ? (unsigned int)processors : 1;
}

uint64_t cli_number(struct argp_state *state, const char *option,
		    const char *text, uint64_t least)
{
	char *end;
	uint64_t number;

	errno = 0;
	number = strtoull(text, &end, 10);
	/* strtoull would take a sign and leading blanks */
	if (text[0] < '0' || text[0] > '9' || *end || errno || number < least)
		argp_error(state, "%s takes a number from %" PRIu64 " on, not '%s'",
			   option, least, text);
	return number;
}

uint64_t cli_address(struct argp_state *state, const char *option, const char *text)
{
	char *end;
	unsigned long long address;

	errno = 0;
	address = strtoull(text, &end, 16);
	if (*end || end == text || text[0] == '-' || errno || !address)
		argp_error(state, "%s takes a hexadecimal address, not '%s'", option, text);
	return address;
}

/* ---- progress ---- */

void cli_progress_start(struct cli_progress *progress, enum cli_when when)
{
	progress->terminal = isatty(STDERR_FILENO) == 1;
	progress->on = when == CLI_ALWAYS || (when == CLI_AUTO && progress->terminal);
	progress->start_ns = progress->last_ns = cli_now_ns();
	progress->width = 0;
}

bool cli_progress_due(struct cli_progress *progress)
{
	/* a log is not flooded */
	const uint64_t interval = progress->terminal ? 250000000U : 2000000000U;
	uint64_t now;

	if (!progress->on)
		return false;
	now = cli_now_ns();
	if (now - progress->last_ns < interval)
		return false;
	progress->last_ns = now;
	return true;
}

void cli_progress_line(struct cli_progress *progress, const char *format, ...)
{
	char line[256];
	va_list args;
	int width;

	if (!progress->on)
		return;
	va_start(args, format);
	width = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (progress->terminal)
		fprintf(stderr, "\r%-*s", progress->width, line);
	else
		fprintf(stderr, "%s\n", line);
	fflush(stderr);
	progress->width = width;
}

void cli_progress_clear(struct cli_progress *progress)
{
	if (progress->on && progress->terminal && progress->width) {
		fprintf(stderr, "\r%*s\r", progress->width, "");
		fflush(stderr);
		progress->width = 0;
	}
}

/* ---- output ---- */

int cli_output_open(struct cli_output *output, const char *path, bool overwrite)
{
	int status = cli_refuse_existing(path, overwrite);

	*output = (struct cli_output){ .file = stdout };
	if (status || strcmp(path, "-") == 0)
		return status;
	struct stat existing;
	if (stat(path, &existing) == 0 && !S_ISREG(existing.st_mode)) {
		/* a device or a pipe is written where it is, never replaced */
		output->file = fopen(path, "we");
		return output->file ? CLI_DONE :
			cli_complain(CLI_FAILED, "%s: %s", path, strerror(errno));
	}
	output->path = strdup(path);
	if (!output->path || asprintf(&output->part, "%s.part", path) < 0) {
		free(output->path);
		return cli_complain(CLI_FAILED, "no memory");
	}
	output->file = fopen(output->part, overwrite ? "we" : "wxe");
	if (output->file)
		return CLI_DONE;
	if (errno == EEXIST)
		status = cli_complain(CLI_USAGE, "%s: exists, left by another run; --overwrite "
				      "replaces it", output->part);
	else
		status = cli_complain(CLI_FAILED, "%s: %s", output->part, strerror(errno));
	free(output->path);
	free(output->part);
	return status;
}

int cli_output_close(struct cli_output *output, int status)
{
	const char *why = NULL;

	if (!output->part) {
		if (output->file != stdout && (ferror(output->file) | fclose(output->file)))
			status = cli_complain(CLI_FAILED, "the output could not be written");
		return status;
	}
	if (ferror(output->file))
		why = "could not be written";
	if (fclose(output->file) != 0)
		why = strerror(errno);
	if (!why && status != CLI_FAILED && status != CLI_USAGE &&
	    rename(output->part, output->path) != 0)
		why = strerror(errno);
	if (why)
		status = cli_complain(CLI_FAILED, "%s: %s", output->path, why);
	if (status == CLI_FAILED || status == CLI_USAGE)
		unlink(output->part);
	free(output->path);
	free(output->part);
	return status;
}

/* ---- reading ---- */

int cli_reader_open(struct lpl_reader **reader, const char *path)
{
	struct lpl_report report = { 0 };

	*reader = NULL;
	if (strcmp(path, "-") == 0 && isatty(STDIN_FILENO))
		return cli_complain(CLI_USAGE, "a trace is not read from a terminal");
	/* whatever is printed would become part of it */
	if (cli_refuse_input("-", path))
		return CLI_USAGE;
	if (lpl_reader_open(reader, path, &report))
		return cli_report(&report);
	lpl_reader_jobs(*reader, 0);
	return CLI_DONE;
}

/* The size of the trace's pages, by whichever of two ways it is told. */
static uint64_t page_size_of(const struct lpl_meta *meta)
{
	const char *told = lpl_meta_get(meta, LPL_META_PAGE_SIZE);
	uint64_t reduced = lpl_reduction_page_size(lpl_meta_get(meta, LPL_META_REDUCTION));
	uint64_t size = told ? strtoull(told, NULL, 10) : 0;

	return size > reduced ? size : reduced;
}

int cli_check_mergeable(const struct lpl_meta *meta, const char *path)
{
	const char *addresses = lpl_meta_get(meta, LPL_META_ADDRESSES);
	uint64_t behaviour = lpl_reduction_behaviour(lpl_meta_get(meta, LPL_META_REDUCTION));
	uint64_t page_size = page_size_of(meta);

	if (addresses && strcmp(addresses, "canonical") == 0)
		return cli_complain(CLI_USAGE, "%s: has canonical pages already", path);
	if (behaviour)
		return cli_complain(CLI_USAGE, "%s: is a behaviour sequence, no reference trace; "
				    "`laplace reduce -m olr:%" PRIu64 "' makes one of it", path,
				    behaviour);
	if (page_size > UINT64_C(1) << LPL_PAGE_SHIFT)
		return cli_complain(CLI_USAGE, "%s: has pages of %" PRIu64 " bytes, but mappings and "
				    "copies are of %d: merge the trace that it was made from", path,
				    page_size, 1 << LPL_PAGE_SHIFT);
	return CLI_DONE;
}

uint64_t cli_refs_before(const struct lpl_totals *totals)
{
	uint64_t by_type = 0;

	for (int i = 0; i < LPL_TYPES; i++)
		by_type += totals->refs[i];
	return totals->total ? totals->total : by_type;
}

static void show_pass(const struct cli_pass *pass)
{
	struct cli_progress *progress = pass->progress;
	const char *label = pass->label ? pass->label : "";
	uint64_t done = lpl_reader_bytes(pass->reader);
	uint64_t size = lpl_reader_size(pass->reader);
	double seconds = (double)(cli_now_ns() - progress->start_ns) / 1e9;
	double rate = seconds > 0 ? (double)pass->refs / seconds : 0;
	char refs[CLI_HUMAN_SIZE], per_second[CLI_HUMAN_SIZE], left[CLI_HUMAN_SIZE];

	cli_human(refs, pass->refs);
	cli_human(per_second, (uint64_t)rate);
	if (size && done) {
		double rest = seconds * ((double)size / (double)done - 1);

		cli_duration(left, rest > 0 ? (uint64_t)(rest + 0.5) : 0);
		cli_progress_line(progress, "%s%3.0f%%  %s references  %s/s  %s left", label,
				  100 * (double)done / (double)size, refs,
				  per_second, left);
	} else {
		cli_progress_line(progress, "%s%s references  %s/s", label, refs, per_second);
	}
}

static int send_block(struct cli_pass *pass, const struct lpl_ref *refs, size_t count,
		      const struct lpl_event *event, struct lpl_report *report)
{
	struct lpl_sink *sink = pass->sink;
	int error = 0;

	if (count)
		error = sink->refs(sink, refs, count, report);
	if (!error && event)
		error = sink->event(sink, event, report);
	return error;
}

/* ---- what is missing ---- */

char *cli_gaps_text(char buf[CLI_GAPS_SIZE], const struct cli_gaps *gaps)
{
	const char *plural = gaps->count == 1 ? "" : "s";

	if (gaps->more && !gaps->refs && !gaps->events)
		snprintf(buf, CLI_GAPS_SIZE, "%" PRIu64 " place%s (how many is not known)",
			 gaps->count, plural);
	else
		snprintf(buf, CLI_GAPS_SIZE, "%" PRIu64 " place%s (%s%" PRIu64 " references and %"
			 PRIu64 " events)", gaps->count, plural, gaps->more ? "at least " : "",
			 gaps->refs, gaps->events);
	return buf;
}

static void count_gap(struct cli_gaps *gaps, const struct lpl_event *event)
{
	gaps->count++;
	gaps->refs += event->arg[0] != KTR_NONE ? event->arg[0] : 0;
	gaps->events += event->arg[1] != KTR_NONE ? event->arg[1] : 0;
	gaps->more |= event->arg[0] == KTR_NONE || event->arg[1] == KTR_NONE;
}

/* What came before the trace's end is all there is. */
static int send_end(struct cli_pass *pass, struct lpl_report *report)
{
	const struct lpl_chunk *last = lpl_reader_chunk(pass->reader);
	const struct lpl_event gap = {
		.tag = LPL_EVENT_GAP, .ref = last->last_ref, .instr = last->last_instr,
		.cycle = last->last_cycle, .arg = { KTR_NONE, KTR_NONE }
	};

	count_gap(&pass->found, &gap);
	return send_block(pass, NULL, 0, &gap, report);
}

/*
 * The next block, or the next after damage, which is told here (a few times: a bad disk
 * damages thousands of chunks).
 */
static enum lpl_error next_block(struct cli_pass *pass, const struct lpl_ref **refs,
				 size_t *count, const struct lpl_event **event,
				 struct lpl_report *report)
{
	enum lpl_error error;

	for (pass->resumed = false;; pass->resumed = true) {
		error = lpl_reader_next(pass->reader, refs, count, event, report);
		if (error != LPL_ERR_DAMAGED || !pass->goes_on ||
		    lpl_reader_resume(pass->reader, NULL))
			return error;
		cli_progress_clear(pass->progress);
		if (pass->damaged++ < MOST_COMPLAINTS)
			cli_report(report);
		*report = (struct lpl_report){ .error = LPL_OK };
	}
}

/* At the end: what the trace tells of itself, or what was found. */
static void tell_gaps(const struct cli_pass *pass, int status)
{
	char text[CLI_GAPS_SIZE];

	if (pass->told.count)
		cli_complain(0, "warning: %s: was made from a damaged or incomplete trace: "
			     "records are missing in %s", pass->path,
			     cli_gaps_text(text, &pass->told));
	if (pass->damaged)
		cli_complain(status, "%s: the result covers the %" PRIu64 " references that can be "
			     "read; records are missing in %s", pass->path, pass->refs,
			     cli_gaps_text(text, &pass->found));
}

static void count_block(struct cli_pass *pass, size_t count, const struct lpl_event *event,
			uint32_t *sequence)
{
	const struct lpl_chunk *chunk = lpl_reader_chunk(pass->reader);

	if (chunk && (pass->chunks == 0 || chunk->sequence != *sequence)) {
		*sequence = chunk->sequence;
		pass->chunks++;
	}
	pass->refs += count;
	pass->events += event != NULL;
	if (event && event->tag == LPL_EVENT_GAP)
		count_gap(pass->resumed ? &pass->found : &pass->told, event);
}

/* A sink may find what is wrong with the input, too. */
static int sink_failed(struct cli_pass *pass, const struct lpl_report *report)
{
	if (!pass->trouble || lpl_error_status(report->error) != CLI_DAMAGED)
		return cli_report(report);
	*pass->trouble = *report;
	return CLI_DAMAGED;
}

int cli_pass_run(struct cli_pass *pass)
{
	struct lpl_report read_report = { 0 }, sink_report = { 0 };
	const struct lpl_ref *refs;
	const struct lpl_event *event;
	enum lpl_error error;
	uint32_t sequence = 0;
	size_t count;
	int status = CLI_DONE;

	for (;;) {
		error = next_block(pass, &refs, &count, &event, &read_report);
		if (error || (count == 0 && !event))
			break;
		if (pass->before_block)
			pass->before_block(pass, pass->context);
		if (send_block(pass, refs, count, event, &sink_report)) {
			cli_progress_clear(pass->progress);
			return sink_failed(pass, &sink_report);
		}
		count_block(pass, count, event, &sequence);
		if (cli_progress_due(pass->progress))
			show_pass(pass);
	}
	if (pass->progress->on)
		show_pass(pass);
	cli_progress_clear(pass->progress);
	if (!error && !lpl_reader_complete(pass->reader) && !pass->damaged)
		error = lpl_fail(&read_report, LPL_ERR_TRUNCATED, "%s: has no index: its "
				 "recording did not end properly", pass->path);
	status = error ? lpl_error_status(error) : pass->damaged ? CLI_DAMAGED : CLI_DONE;
	if (status == CLI_FAILED || status == CLI_USAGE)
		return cli_report(&read_report);
	if ((error && pass->goes_on && send_end(pass, &sink_report)) ||
	    pass->sink->finish(pass->sink, &sink_report))
		return cli_report(&sink_report);
	if (pass->trouble) {
		*pass->trouble = read_report;
		return status;
	}
	if (error)
		cli_report(&read_report);
	if (error && !pass->damaged)
		cli_complain(status, "%s: the result covers the first %" PRIu64
			     " references, which are whole", pass->path, pass->refs);
	tell_gaps(pass, status);
	return status;
}
