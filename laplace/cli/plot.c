/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace plot: pictures of results (draw/curves.h), and of traces (draw/chart.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "addresses.h"
#include "commands.h"
#include "draw/chart.h"
#include "draw/curves.h"
#include "draw/png.h"
#include "options.h"
#include "plot_faults.h"
#include "replace.h"
#include "say.h"
#include "surveyed_trace.h"
#include "text_output.h"

struct options {
	const char *output, *title;
	uint64_t page_size;		/* bytes; of curves */
	bool has_page_size;
	bool terminal, overwrite;
	const char *kind;
	const char *format;		/* "png", "svg" or "csv"; NULL: text */
	char **file;			/* of argv, options already taken out */
	unsigned int files;
	struct surveyed_trace_options trace;
	bool by_process;
	char *policies;			/* of faults: a list */
	const char *sizes;
	enum cli_addresses addresses;	/* of faults; CLI_ADDRESSES_KEPT: not given */
	const char *of_trace;		/* an option that only pictures of traces have, ... */
	const char *of_survey;		/* ... only those of its survey, ... */
	const char *of_faults;		/* ... only faults over time */
};

/* Pictures of traces. */
static const struct {
	const char *name;
	enum chart_kind chart, by_process;
} charts[] = {
	{ "timeline", CHART_TIMELINE, CHART_TIMELINE },
	{ "footprint", CHART_FOOTPRINT, CHART_PROCESSES },
	{ "heatmap", CHART_HEATMAP, CHART_HEATMAP }
};

/* Which of them, for options->kind; CHARTS: it is none of its survey. */
static enum chart_kind chart_of(const struct options *options)
{
	for (size_t i = 0; options->kind && i < sizeof(charts) / sizeof(charts[0]); i++) {
		if (strcmp(charts[i].name, options->kind) == 0)
			return options->by_process ? charts[i].by_process : charts[i].chart;
	}
	return CHARTS;
}

static bool is_faults(const struct options *options)
{
	return options->kind && strcmp(options->kind, "faults") == 0;
}

static bool is_of_trace(const struct options *options)
{
	return is_faults(options) || chart_of(options) != CHARTS;
}

enum { OPT_TERMINAL = 256, OPT_PAGE_SIZE, OPT_TOP, OPT_CLOCK, OPT_BY, OPT_KERNEL_BASE };

#define DEFAULT_TOP 20
#define MOST_TOP 1000

static const struct argp_option option_table[] = {
	{ "output", 'o', "PICTURE", 0,
	  "A .png or .svg file; of a trace also .csv, the numbers; - draws with characters", 0 },
	{ "terminal", OPT_TERMINAL, NULL, 0, "The same as -o -", 0 },
	{ "title", 't', "TEXT", 0, "A title above the curves", 0 },
	{ "page-size", OPT_PAGE_SIZE, "BYTES", 0, "Of curves: how many bytes a page has (4096)", 0 },
	{ NULL, 0, NULL, 0, "For pictures of a trace:", 1 },
	{ "sizes", 's', "SIZES", 0,
	  "faults: pages of memory, for ws and vmin references, as of sim: 1024, or 256,1024, or "
	  "64:1024:*2, or 4M, or 25%", 1 },
	{ "policy", 'p', "POLICY[,...]", 0,
	  "faults: lru, opt, clock, segq, ws, vmin, fbr, glru, eelru, as of sim (lru)", 1 },
	{ "by", OPT_BY, "WHAT", 0, "footprint: by kind or by process (kind)", 1 },
	{ "top", OPT_TOP, "N", 0, "timeline: how many tasks (20)", 1 },
	{ "clock", OPT_CLOCK, "CLOCK", 0,
	  "What time is counted in: cycles, instructions, references (cycles)", 1 },
	{ "kernel-base", OPT_KERNEL_BASE, "ADDRESS", 0,
	  "Where the kernel's half of an address space begins (8000000000000000)", 1 },
	{ 0 }
};

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text);

	return length > strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

static void check_files(const struct options *options, struct argp_state *state)
{
	bool of_trace = is_of_trace(options);

	if (!of_trace && strcmp(options->kind, "curve") != 0)
		argp_error(state, "no kind of picture '%s': there are curve, faults, timeline, "
			   "footprint and heatmap", options->kind);
	if (!options->files)
		argp_error(state, of_trace ? "which trace?" :
			   "which results?  Name a CSV of laplace sim, or -");
	if (of_trace && options->files > 1)
		argp_error(state, "one trace at a time");
	if (of_trace && options->title)
		argp_error(state, "a title is for curves");
	if (of_trace && options->has_page_size)
		argp_error(state, "--page-size is for curves");
	if (!of_trace && lpl_choice_chooses(&options->trace.choice))
		argp_error(state, "references are chosen for pictures of a trace; results of laplace "
			   "sim have none");
	if (!of_trace && options->of_trace)
		argp_error(state, "%s is for pictures of a trace", options->of_trace);
	if (is_faults(options) && !options->sizes)
		argp_error(state, "which memory?  -s names its pages, such as -s 1024");
	if (is_faults(options) && options->of_survey)
		argp_error(state, "%s is not for faults", options->of_survey);
	if (!is_faults(options) && options->of_faults)
		argp_error(state, "%s is for faults", options->of_faults);
	if (!is_faults(options) && options->addresses != CLI_ADDRESSES_KEPT)
		argp_error(state, "--addresses is for faults");
	if (options->by_process && strcmp(options->kind, "footprint") != 0)
		argp_error(state, "--by is for footprint");
}

static void check_end(struct options *options, struct argp_state *state)
{
	if (!options->kind)
		argp_error(state, "which kind of picture?  There are curve, faults, timeline, "
			   "footprint and heatmap");
	else
		check_files(options, state);
	if (options->output && options->terminal && strcmp(options->output, "-") != 0)
		argp_error(state, "-o and --terminal exclude each other");
	if (options->terminal)
		options->output = "-";
	if (!options->output)
		argp_error(state, "where to?  -o names a .png or .svg, or --terminal");
	else if (ends_with(options->output, ".png"))
		options->format = "png";
	else if (ends_with(options->output, ".svg"))
		options->format = "svg";
	else if (ends_with(options->output, ".csv") && is_of_trace(options))
		options->format = "csv";
	else if (strcmp(options->output, "-") != 0)
		argp_error(state, "'%s': the picture's name ends in .png or .svg",
			   options->output);
}

static void parse_by(struct options *options, const char *arg, struct argp_state *state)
{
	options->of_trace = options->of_survey = "--by";
	options->by_process = strcmp(arg, "process") == 0;
	if (!options->by_process && strcmp(arg, "kind") != 0)
		argp_error(state, "--by takes kind or process, not '%s'", arg);
}

/* Those of pictures of a trace. */
static error_t parse_trace_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case OPT_BY:
		parse_by(options, arg, state);
		return 0;
	case OPT_TOP:
		options->of_trace = options->of_survey = "--top";
		options->trace.top = cli_number(state, "--top", arg, 1);
		if (options->trace.top > MOST_TOP)
			argp_error(state, "--top takes a number up to %d", MOST_TOP);
		return 0;
	case 's':
		options->of_trace = options->of_faults = "-s";
		options->sizes = arg;
		return 0;
	case 'p':
		options->of_trace = options->of_faults = "-p";
		options->policies = arg;
		return 0;
	case OPT_CLOCK:
		options->of_trace = "--clock";
		options->trace.survey.clock = surveyed_trace_clock(arg, state);
		return 0;
	case OPT_KERNEL_BASE:
		options->of_trace = options->of_survey = "--kernel-base";
		options->trace.survey.kernel_base = cli_address(state, "--kernel-base", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->overwrite;
		state->child_inputs[1] = &options->trace.progress;
		state->child_inputs[2] = &options->trace.choice;
		state->child_inputs[3] = &options->addresses;
		options->file = calloc((size_t)state->argc, sizeof(*options->file));
		return options->file ? 0 : ENOMEM;
	case 'o':
		options->output = arg;
		return 0;
	case OPT_TERMINAL:
		options->terminal = true;
		return 0;
	case 't':
		options->title = arg;
		return 0;
	case OPT_PAGE_SIZE:
		options->page_size = cli_number(state, "--page-size", arg, 1);
		options->has_page_size = true;
		return 0;
	case ARGP_KEY_ARG:
		if (!options->kind)
			options->kind = arg;
		else
			options->file[options->files++] = arg;
		return 0;
	case ARGP_KEY_END:
		check_end(options, state);
		return 0;
	default:
		return parse_trace_option(key, arg, state);
	}
}

static const struct argp_child children[] = {
	{ &cli_overwrite_argp, 0, NULL, 0 }, { &cli_progress_argp, 0, NULL, 0 },
	{ &cli_choice_argp, 0, NULL, 2 }, { &cli_addresses_argp, 0, NULL, 1 }, { 0 }
};
static const struct argp argp = {
	option_table, parse_option, "curve CSV...\ntimeline|footprint|heatmap TRACE\nfaults TRACE",
	"Draw results of laplace sim (curve: faults against memory, on log axes), what laplace "
	"report tells of a trace: which task ran when (timeline), the pages alive over time "
	"(footprint), references by page and time (heatmap); or when its faults are taken in memories "
	"of some sizes (faults)."
	"\v"
	"A PNG is made by rsvg-convert (Debian has it in librsvg2-bin); SVG, CSV and characters need "
	"no other program.",
	children, NULL, NULL
};

/* ---- curves ---- */

static void draw_svg(const struct curves *curves, const struct options *options, FILE *out)
{
	struct curves_picture picture = {
		.width = CURVES_WIDTH, .height = CURVES_HEIGHT, .title = options->title,
		.about = options->title ? options->title : "faults against memory",
		.page_size = options->page_size
	};

	curves_widen(&picture.bounds, curves);
	curves_svg(curves, &picture, out);
}

static int draw_png(const struct curves *curves, const struct options *options, FILE *out)
{
	struct filter filter;
	int status = png_begin(&filter, out);

	if (status)
		return status;
	draw_svg(curves, options, filter.in);
	return png_end(&filter);
}

static int draw_curves(const struct curves *curves, const struct options *options)
{
	struct cli_output output;
	int status = cli_output_open(&output, options->output, options->overwrite);

	if (status)
		return status;
	if (!options->format)
		status = curves_text(curves, options->title, options->page_size, output.file);
	else if (strcmp(options->format, "png") == 0)
		status = draw_png(curves, options, output.file);
	else
		draw_svg(curves, options, output.file);
	return cli_output_close(&output, status);
}

static int plot_curves(const struct options *options)
{
	struct curves curves = { 0 };
	int status = CLI_DONE;

	for (unsigned int i = 0; i < options->files && !status; i++)
		status = cli_refuse_input(options->output, options->file[i]);
	if (!status)
		status = cli_refuse_existing(options->output, options->overwrite);
	for (unsigned int i = 0; i < options->files && !status; i++)
		status = curves_read(&curves, options->file[i], options->files > 1);
	if (!status)
		status = draw_curves(&curves, options);
	curves_free(&curves);
	return status;
}

/* ---- a trace ---- */

static int draw_chart(const struct surveyed_trace *trace, const struct options *options, FILE *out)
{
	if (!trace->survey->time->begun)
		return cli_complain(CLI_FAILED, "%s: holds no record: there is nothing to draw",
				    trace->path);
	return chart_draw(chart_of(options), trace, options->format, out);
}

static int plot_survey(const struct options *options, FILE *out, bool *drawn)
{
	struct surveyed_trace trace;
	int status = surveyed_trace_read(&trace, &options->trace), failed;

	*drawn = false;
	if (trace.survey) {
		failed = draw_chart(&trace, options, out);
		*drawn = !failed;
		status = failed ? failed : status;
	}
	surveyed_trace_close(&trace);
	return status;
}

/* The output is opened first: who waits for a long trace shall not wait in vain. */
static int plot_trace(const struct options *options)
{
	const struct plot_faults faults = {
		.trace = &options->trace, .policies = options->policies, .sizes = options->sizes,
		.addresses = options->addresses == CLI_ADDRESSES_KEPT ? CLI_ADDRESSES_AUTO :
									 options->addresses,
		.format = options->format
	};
	struct cli_output output;
	bool drawn;
	int status = cli_refuse_input(options->output, options->trace.path), closed;

	if (!status)
		status = cli_output_open(&output, options->output, options->overwrite);
	if (status)
		return status;
	status = is_faults(options) ? plot_faults(&faults, output.file, &drawn) :
				      plot_survey(options, output.file, &drawn);
	closed = cli_output_close(&output, drawn ? CLI_DONE : CLI_FAILED);
	return drawn && closed ? closed : status;
}

int cmd_plot(int argc, char **argv)
{
	char policy[] = "lru";
	struct options options = { .trace.top = DEFAULT_TOP, .page_size = CURVES_PAGE,
				   .policies = policy, .addresses = CLI_ADDRESSES_KEPT };
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	options.trace.path = options.file[0];
	status = is_of_trace(&options) ? plot_trace(&options) : plot_curves(&options);
	free(options.file);
	return status;
}
