/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace repair: save what is whole of a damaged trace, and say what is missing.
 */
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include <laplace/repair.h>

#include "commands.h"
#include "options.h"
#include "progress.h"
#include "replace.h"
#include "say.h"

struct options {
	const char *output;
	bool dry_run, overwrite, json;
	enum cli_when progress;
	const char *trace;
};

static void check_output(struct argp_state *state, void *config)
{
	const struct options *options = config;

	if (!options->output && !options->dry_run)
		argp_error(state, "where to?  -o names the trace to write, --dry-run writes none");
	if (options->output && options->dry_run)
		argp_error(state, "--dry-run writes no trace: leave out -o");
}

static const struct cli_option option_table[] = {
	{ "output", CLI_FILE, 'o', CLI_INTO(struct options, output), .argument = "TRACE2",
	  .help = "The trace to write" },
	{ "dry-run", CLI_FLAG, 'n', CLI_INTO(struct options, dry_run),
	  .help = "Only say what could be saved, and what is missing" },
	CLI_WITH(overwrite, struct options, overwrite),
	CLI_WITH(json, struct options, json),
	CLI_WITH(progress, struct options, progress),
	CLI_TRACE_ARGUMENT(struct options, trace),
	{ .type = CLI_CHECK, .check = check_output },
	{ 0 }
};
static const struct cli_usage usage = {
	"-o TRACE2 TRACE\n--dry-run TRACE",
	"Write TRACE2: all chunks of TRACE that are whole, with an index; and say what is missing."
	"\v"
	"TRACE may be what a killed recording left (.part), cut off, or damaged anywhere; a trace in "
	"segments, by the name of its manifest, becomes one file.  Exit "
	"status 0 when nothing is missing, or the index alone, 3 when something is lost.",
	option_table, 0
};

enum { SHOWN_SIZE = 4 * PATH_MAX };	/* a byte may become four */

struct run {
	const struct options *options;
	char trace[SHOWN_SIZE], output[SHOWN_SIZE];	/* their names, as they are printed */
	FILE *out;
	json_t *losses;
	struct cli_progress progress;
};

/* ---- what is missing ---- */

static json_t *number_or_null(uint64_t number)
{
	return number == KTR_NONE ? json_null() : json_integer((json_int_t)number);
}

static json_t *loss_json(const struct lpl_loss *loss)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:[o,o], s:[o,o], s:s}",
			 "segment", number_or_null(loss->segment ? loss->segment : KTR_NONE),
			 "offset", number_or_null(loss->offset),
			 "bytes", number_or_null(loss->bytes),
			 "first_chunk", number_or_null(loss->first_chunk),
			 "chunks", number_or_null(loss->chunks),
			 "references", number_or_null(loss->refs),
			 "events", number_or_null(loss->events),
			 "reference", number_or_null(loss->after_ref),
			 number_or_null(loss->until_ref),
			 "instruction", number_or_null(loss->after_instr),
			 number_or_null(loss->until_instr), "why", loss->why);
}

/* "7 references"; "? references" where that is not known */
static void print_number(FILE *out, uint64_t number, const char *what)
{
	if (number == KTR_NONE)
		fprintf(out, "? %s", what);
	else
		fprintf(out, "%" PRIu64 " %s", number, what);
}

static void print_loss(FILE *out, const char *path, const struct lpl_loss *loss)
{
	fputs(path, out);
	if (loss->segment)
		fprintf(out, ": segment %" PRIu64, loss->segment);
	fprintf(out, ": missing at offset %" PRIu64 " (", loss->offset);
	print_number(out, loss->bytes, "bytes");
	fputs("): ", out);
	print_number(out, loss->chunks, "chunks");
	if (loss->first_chunk != KTR_NONE)
		fprintf(out, " from number %" PRIu64 " on", loss->first_chunk);
	fputs(", ", out);
	print_number(out, loss->refs, "references");
	fputs(", ", out);
	print_number(out, loss->events, "events");
	fprintf(out, "; after reference %" PRIu64 ", instruction %" PRIu64, loss->after_ref,
		loss->after_instr);
	if (loss->until_ref != KTR_NONE)
		fprintf(out, ", up to %" PRIu64 " and %" PRIu64, loss->until_ref,
			loss->until_instr);
	fprintf(out, "\n  %s\n", loss->why);
}

static void take_loss(void *context, const struct lpl_loss *loss)
{
	struct run *run = context;

	cli_progress_clear(&run->progress);
	if (run->losses)
		json_array_append_new(run->losses, loss_json(loss));
	else
		print_loss(run->out, run->trace, loss);
}

static void show(void *context, uint64_t bytes, uint64_t size)
{
	struct run *run = context;
	char human[CLI_HUMAN_SIZE];

	if (!cli_progress_due(&run->progress))
		return;
	if (size)
		cli_progress_line(&run->progress, "%3.0f%%", 100 * (double)bytes / (double)size);
	else
		cli_progress_line(&run->progress, "%sB", cli_human(human, bytes));
}

/* ---- the whole ---- */

static const char *state_of(const struct lpl_repaired *repaired)
{
	return repaired->losses ? "damaged" : repaired->had_index ? "whole" : "incomplete";
}

static void print_lost(FILE *out, const char *path, const struct lpl_repaired *repaired)
{
	fprintf(out, "%s: lost in %" PRIu64 " place%s: ", path, repaired->losses,
		repaired->losses == 1 ? "" : "s");
	if (repaired->lost_more && !repaired->lost_refs && !repaired->lost_events)
		fputs("how much is not known\n", out);
	else
		fprintf(out, "%s%" PRIu64 " references, %" PRIu64 " events\n",
			repaired->lost_more ? "at least " : "", repaired->lost_refs,
			repaired->lost_events);
}

static int print_summary(const struct run *run, const struct lpl_repaired *repaired)
{
	const struct options *options = run->options;

	if (options->json)
		return cli_print_json(run->out,
			json_pack("{s:o, s:o*, s:s, s:s*, s:b, s:I, s:I, s:I, s:I, s:I, s:b, s:O}",
				  "file", cli_json_text(options->trace),
				  "output", options->output ? cli_json_text(options->output) : NULL,
				  "state", state_of(repaired), "manifest",
				  repaired->manifest.error ? repaired->manifest.text : NULL,
				  "index", repaired->had_index,
				  "chunks", (json_int_t)repaired->chunks,
				  "references", (json_int_t)repaired->refs,
				  "events", (json_int_t)repaired->events,
				  "lost_references", (json_int_t)repaired->lost_refs,
				  "lost_events", (json_int_t)repaired->lost_events,
				  "lost_more", repaired->lost_more, "losses", run->losses));
	if (!repaired->losses && repaired->had_index)
		fprintf(run->out, "%s: is whole: there is nothing to repair\n", run->trace);
	else if (repaired->manifest.error)
		fprintf(run->out, "%s\n%s: the segments after that were found by their names; whether "
			"there were others is not known\n", repaired->manifest.text, run->trace);
	else if (!repaired->had_index)
		fprintf(run->out, "%s: has no index: its recording did not end properly, and what "
			"it had not written is not known\n", run->trace);
	fprintf(run->out, "%s: %" PRIu64 " chunks, %" PRIu64 " references, %" PRIu64 " events %s\n",
		options->dry_run ? run->trace : run->output, repaired->chunks,
		repaired->refs, repaired->events, options->dry_run ? "can be saved" : "saved");
	if (repaired->losses)
		print_lost(run->out, run->trace, repaired);
	return CLI_DONE;
}

static int repair(const struct options *options)
{
	struct run run = { .options = options, .out = stdout };
	const struct lpl_repair_options wanted = {
		.output = options->output, .overwrite = options->overwrite,
		.lost = take_loss, .progress = show, .context = &run
	};
	struct lpl_report report = { 0 };
	struct lpl_repaired repaired;
	int status = CLI_DONE;

	lpl_text_escape(run.trace, SHOWN_SIZE, options->trace, strlen(options->trace));
	if (options->output)
		lpl_text_escape(run.output, SHOWN_SIZE, options->output, strlen(options->output));
	/* the trace may be going to stdout */
	if (options->output && strcmp(options->output, "-") == 0)
		run.out = stderr;
	if (options->json)
		run.losses = json_array();
	cli_progress_start(&run.progress, options->progress);
	if (lpl_repair(options->trace, &wanted, &repaired, &report)) {
		cli_progress_clear(&run.progress);
		status = cli_report(&report);
	} else {
		cli_progress_clear(&run.progress);
		status = print_summary(&run, &repaired);
	}
	json_decref(run.losses);
	return status == CLI_DONE && !report.error && repaired.losses ? CLI_DAMAGED : status;
}

int cmd_repair(int argc, char **argv)
{
	struct options options = { 0 };
	int status = CLI_DONE;

	cli_parse(&usage, argc, argv, &options);
	if (strcmp(options.trace, "-") == 0 && isatty(STDIN_FILENO))
		return cli_complain(CLI_USAGE, "a trace is not read from a terminal");
	if (options.output && strcmp(options.output, "-") == 0 && isatty(STDOUT_FILENO))
		return cli_complain(CLI_USAGE, "a trace is not written to a terminal");
	if (options.output)
		status = cli_refuse_input(options.output, options.trace);
	if (!status && options.output)
		status = cli_refuse_existing(options.output, options.overwrite);
	return status ? status : repair(&options);
}
