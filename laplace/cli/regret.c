/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* laplace regret: what a kernel's reclaim evicted, and what would have been better. */
#include <inttypes.h>
#include <string.h>

#include <laplace/regret.h>
#include <laplace/trace.h>

#include "commands.h"
#include "options.h"
#include "pass.h"
#include "regret_output.h"
#include "replace.h"
#include "say.h"
#include "text_output.h"

struct options {
	const char *path, *output;
	uint64_t top, kernel_base;
	bool json, csv, html, overwrite;
	enum cli_when progress;
};

static void check_all(struct argp_state *state, void *config)
{
	struct options *options = config;

	if (options->json + options->csv + options->html > 1)
		argp_error(state, "--json, --csv and --html exclude each other");
	if (options->json || options->csv || options->html)
		return;
	options->html = cli_output_ends_with(options->output, ".html");
	options->json = cli_output_ends_with(options->output, ".json");
	options->csv = cli_output_ends_with(options->output, ".csv");
}

static const struct cli_option option_table[] = {
	{ "csv", CLI_FLAG, CLI_INTO(struct options, csv),
	  .help = "Print a line for each evicted page, as it becomes known what came of it" },
	{ "html", CLI_FLAG, CLI_INTO(struct options, html),
	  .help = "Print one page of HTML, with pictures, that needs nothing else" },
	{ "output", CLI_FILE, 'o', CLI_INTO(struct options, output), .argument = "FILE",
	  .help = "Where to write (standard output), as FILE's name ends: .html, .json, .csv" },
	{ "top", CLI_NUMBER, CLI_INTO(struct options, top), .argument = "N", .least = 1,
	  .most = 100000, .standard = "10", .wrong = "%n takes a number up to %m",
	  .help = "How many lines a table has at most, and how many of the worst evictions are described (%d)" },
	CLI_KERNEL_BASE(struct options, kernel_base, 0),
	CLI_WITH(overwrite, struct options, overwrite),
	CLI_WITH(json, struct options, json),
	CLI_WITH(progress, struct options, progress),
	CLI_TRACE_ARGUMENT(struct options, path),
	{ .type = CLI_CHECK, .check = check_all },
	{ 0 }
};
static const struct cli_usage usage = {
	"TRACE",
	"Show of each page that the kernel of TRACE evicted when it was used next, and how many pages would "
	"have been better to evict; and how many reads an optimal replacement would have saved."
	"\v"
	"TRACE is a recording of every reference, with the events of its guest's kernel and those of its "
	"reclaim (--events reclaim of laplace-run(1)).  Where it is damaged or incomplete, what comes before is shown, with "
	"status 3.",
	option_table, 0
};

/* Of a trace that lacks references it is not known when a page is used next. */
static int check_kind(const struct cli_trace_kind *kind, const char *path)
{
	const int status = cli_check_has_canonical(kind, path);

	if (status)
		return status;
	if (kind->is_canonical)
		return cli_complain(CLI_USAGE, "%s: has canonical pages, which events of reclaim do not "
				    "name; the trace that it was made from has all that is needed", path);
	if (!kind->is_whole && strcmp(kind->reduction, "block") != 0)
		return cli_complain(CLI_USAGE, "%s: was reduced (%s), so that uses of pages are missing; "
				    "all of them are in a trace that was not reduced, or by `block'",
				    path, kind->reduction);
	return CLI_DONE;
}

/* What makes the answers those to another question. */
static void warn(const struct lpl_meta *meta, const char *path)
{
	const char *only = lpl_meta_get(meta, LPL_META_ONLY);

	if (only)
		cli_complain(0, "warning: %s: has only some references (%s): other uses of a page are "
			     "not known", path, only);
}

/* What a line for each evicted page is made from. */
struct lines {
	const struct lpl_regret *regret;
	FILE *out;
};

static enum lpl_error print_line(void *context, const struct lpl_regret_eviction *eviction,
				 struct lpl_report *report)
{
	const struct lines *lines = context;

	(void)report;
	regret_csv_line(lines->out, eviction, lpl_regret_results(lines->regret));
	return LPL_OK;
}

static int show(const struct options *options, const struct cli_pass *pass, bool is_damaged, FILE *out)
{
	const char *title = lpl_meta_get(lpl_reader_meta(pass->reader), LPL_META_TITLE);
	const struct regret_shown shown = {
		.path = options->path, .title = title ? title : options->path,
		.results = lpl_regret_results(pass->context),
		.cycles_a_second = pass->kind.cycles_a_second, .top = options->top,
		.is_damaged = is_damaged
	};

	if (!shown.results->chosen && !is_damaged)
		return cli_complain(CLI_USAGE, "%s: was recorded without the events of reclaim (laplace run "
				    "--events reclaim)", options->path);
	if (options->csv)
		return CLI_DONE;
	return options->json ? regret_json(&shown, out) :
	       options->html ? regret_html(&shown, out) : regret_text(&shown, out);
}

static int read_trace(const struct options *options, struct lpl_reader *reader, FILE *out)
{
	struct lines lines = { .out = out };
	struct lpl_regret *regret;
	const struct lpl_regret_options how = {
		.kernel_base = options->kernel_base, .worst = options->top,
		.eviction = options->csv ? print_line : NULL, .context = &lines
	};
	struct lpl_report report = { 0 };
	struct cli_progress progress;
	struct cli_pass pass;
	int status, shown;

	if (lpl_regret_open(&regret, &how, &report))
		return cli_report(&report);
	lines.regret = regret;
	if (options->csv)
		regret_csv_heading(out);
	cli_progress_start(&progress, options->progress);
	pass = (struct cli_pass){ .reader = reader, .path = options->path,
				  .sink = lpl_regret_sink(regret), .progress = &progress,
				  .past_damage = true, .context = regret };
	status = cli_pass_run(&pass);
	if (status == CLI_DONE || status == CLI_DAMAGED) {
		shown = show(options, &pass, status == CLI_DAMAGED, out);
		status = shown ? shown : status;
	}
	lpl_regret_close(regret);
	return status;
}

/* The output is tried first: it shall not fail when all has been read.  Lines may be many; all else is kept until then. */
static int judge(const struct options *options, struct lpl_reader *reader)
{
	struct cli_output output;
	int status = cli_refuse_input(options->output, options->path);

	if (!status)
		status = (options->csv ? cli_output_open : cli_output_hold)(&output, options->output,
									   options->overwrite);
	if (status)
		return status;
	return cli_output_close(&output, read_trace(options, reader, output.file));
}

int cmd_regret(int argc, char **argv)
{
	struct options options = { .output = "-" };
	struct lpl_reader *reader;
	struct cli_trace_kind kind;
	int status;

	cli_parse(&usage, argc, argv, &options);
	status = cli_reader_open(&reader, options.path);
	if (status)
		return status;
	kind = cli_trace_kind(lpl_reader_meta(reader));
	status = check_kind(&kind, options.path);
	if (!status) {
		warn(lpl_reader_meta(reader), options.path);
		status = judge(&options, reader);
	}
	lpl_reader_close(reader);
	return status;
}
