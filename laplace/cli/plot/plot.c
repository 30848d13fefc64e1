/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace plot: pictures of results (draw/curves.h), and of traces (draw/chart.h).
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/addresses.h"
#include "cli/commands.h"
#include "cli/draw/chart.h"
#include "cli/draw/curves.h"
#include "cli/draw/picture.h"
#include "cli/options.h"
#include "cli/replace.h"
#include "cli/report/report.h"
#include "cli/say.h"
#include "cli/surveyed_trace.h"
#include "cli/text_output.h"
#include "plot_faults.h"

struct options {
	const char *output;
	struct curves_picture curves;
	bool terminal, overwrite;
	const char *kind;
	enum picture_format format;
	char **file;			/* of argv, options already taken out */
	unsigned int files;
	struct surveyed_trace_options trace;
	bool by_process;
	struct plot_faults faults;	/* CLI_ADDRESSES_KEPT: addresses are not given */
};

/* Pictures of a trace. */
static const struct chart {
	const char *name;
	bool by_process;
	void (*draw_as[PICTURE_CSV + 1])(const struct surveyed_trace *trace, FILE *out);
} charts[] = {
	{ "timeline", false, { [PICTURE_TEXT] = report_text_timeline, [PICTURE_SVG] = chart_timeline,
			       [PICTURE_CSV] = chart_timeline_csv } },
	{ "footprint", false, { [PICTURE_TEXT] = report_text_kinds, [PICTURE_SVG] = chart_footprint,
				[PICTURE_CSV] = chart_footprint_csv } },
	{ "footprint", true, { [PICTURE_TEXT] = report_text_processes, [PICTURE_SVG] = chart_processes,
			       [PICTURE_CSV] = chart_processes_csv } },
	{ "heatmap", false, { [PICTURE_TEXT] = chart_heatmap_text, [PICTURE_SVG] = chart_heatmap,
			      [PICTURE_CSV] = chart_heatmap_csv } },
	{ "faults", false, { [PICTURE_TEXT] = chart_faults_text, [PICTURE_SVG] = chart_faults,
			     [PICTURE_CSV] = chart_faults_csv } }
};

/* Which of them, for options->kind; NULL: it is none. */
static const struct chart *chart_of(const struct options *options)
{
	const struct chart *found = NULL;

	for (size_t i = 0; options->kind && i < sizeof(charts) / sizeof(charts[0]); i++) {
		if (strcmp(charts[i].name, options->kind) == 0 &&
		    (!found || charts[i].by_process == options->by_process))
			found = &charts[i];
	}
	return found;
}

static bool is_faults(const struct options *options)
{
	return options->kind && strcmp(options->kind, "faults") == 0;
}

/* Only pictures of traces have these, only those of its survey, only faults over time. */
static const char *const of_trace_options[] = {
	"--by", "--top", "-s", "-p", "--clock", "--kernel-base", NULL
};
static const char *const of_survey_options[] = { "--by", "--top", "--kernel-base", NULL };
static const char *const of_faults_options[] = { "-s", "-p", NULL };
static const char *const of_curves_options[] = {
	"--page-size", "--size", "--axes", "--about", NULL
};

static void check_files(const struct options *options, struct argp_state *state)
{
	const char *of_trace_option = cli_given(state, of_trace_options);
	const char *of_survey_option = cli_given(state, of_survey_options);
	const char *of_faults_option = cli_given(state, of_faults_options);
	bool of_trace = chart_of(options);

	if (!of_trace && strcmp(options->kind, "curve") != 0)
		cli_usage_error(state, "no kind of picture '%s': there are curve, faults, timeline, "
				"footprint and heatmap", options->kind);
	if (!options->files)
		argp_error(state, of_trace ? "which trace?" :
			   "which results?  Name a CSV of laplace sim, or -");
	if (of_trace && options->files > 1)
		argp_error(state, "one trace at a time");
	if (of_trace && options->curves.title)
		argp_error(state, "a title is for curves");
	if (of_trace && cli_given(state, of_curves_options))
		argp_error(state, "%s is for curves", cli_given(state, of_curves_options));
	if (!of_trace && lpl_choice_chooses(&options->trace.choice))
		argp_error(state, "references are chosen for pictures of a trace; results of laplace "
			   "sim have none");
	if (!of_trace && of_trace_option)
		argp_error(state, "%s is for pictures of a trace", of_trace_option);
	if (is_faults(options) && !options->faults.sizes)
		argp_error(state, "which memory?  -s names its pages, such as -s 1024");
	if (is_faults(options) && of_survey_option)
		argp_error(state, "%s is not for faults", of_survey_option);
	if (!is_faults(options) && of_faults_option)
		argp_error(state, "%s is for faults", of_faults_option);
	if (strcmp(options->kind, "heatmap") == 0 && options->faults.addresses != CLI_ADDRESSES_KEPT) {
		if (options->faults.addresses != CLI_ADDRESSES_PHYSICAL &&
		    options->faults.addresses != CLI_ADDRESSES_AUTO)
			argp_error(state, "a heat map is of canonical pages, or with --addresses physical of frames");
	} else if (!is_faults(options) && options->faults.addresses != CLI_ADDRESSES_KEPT) {
		argp_error(state, "--addresses is for faults and heatmap");
	}
	if (options->by_process && strcmp(options->kind, "footprint") != 0)
		argp_error(state, "--by is for footprint");
}

static void check_all(struct argp_state *state, void *config)
{
	struct options *options = config;

	check_files(options, state);
	if (options->output && options->terminal && strcmp(options->output, "-") != 0)
		argp_error(state, "-o and --terminal exclude each other");
	if (options->terminal)
		options->output = "-";
	if (!options->output)
		argp_error(state, "where to?  -o names a .png or .svg, or --terminal");
	else if (cli_output_ends_with(options->output, ".png"))
		options->format = PICTURE_PNG;
	else if (cli_output_ends_with(options->output, ".svg"))
		options->format = PICTURE_SVG;
	else if (cli_output_ends_with(options->output, ".csv") && chart_of(options))
		options->format = PICTURE_CSV;
	else if (strcmp(options->output, "-") != 0)
		cli_usage_error(state, "'%s': the picture's name ends in .png or .svg",
				options->output);
}

static void take_file(struct argp_state *state, const struct cli_option *option, const char *value,
		      void *config)
{
	struct options *options = config;

	(void)option;
	if (!options->file)
		options->file = calloc((size_t)state->argc, sizeof(*options->file));
	if (!options->file)
		argp_failure(state, CLI_FAILED, ENOMEM, "%s", value);
	else
		options->file[options->files++] = (char *)value;
}

#define LEAST_SIZE 200		/* of curves: smaller ones have no place for the axes */

static void take_size(struct argp_state *state, const struct cli_option *option, const char *value,
		      void *config)
{
	struct options *options = config;
	unsigned int width, height;
	int end = 0;

	if (sscanf(value, "%5ux%5u%n", &width, &height, &end) < 2 || value[end] ||
	    width < LEAST_SIZE || height < LEAST_SIZE)
		cli_wrong(state, option, value);
	options->curves.width = width;
	options->curves.height = height;
}

static void take_axes(struct argp_state *state, const struct cli_option *option, const char *value,
		      void *config)
{
	struct options *options = config;
	struct curves_bounds bounds = { .set = true };
	int end = 0;

	if (sscanf(value, "%lf:%lf,%lf:%lf%n", &bounds.pages_low, &bounds.pages_high,
		   &bounds.faults_low, &bounds.faults_high, &end) < 4 || value[end] ||
	    !(bounds.pages_low > 0 && bounds.pages_low <= bounds.pages_high &&
	      bounds.faults_low > 0 && bounds.faults_low <= bounds.faults_high &&
	      bounds.pages_high < HUGE_VAL && bounds.faults_high < HUGE_VAL))
		cli_wrong(state, option, value);
	options->curves.bounds = bounds;
}

static const struct cli_option option_table[] = {
	{ "output", CLI_FILE, 'o', CLI_INTO(struct options, output), .argument = "PICTURE",
	  .help = "A .png or .svg file; of a trace also .csv, the numbers; - draws with "
	  "characters"},
	{ "terminal", CLI_FLAG, CLI_INTO(struct options, terminal), .help = "The same as -o -" },
	{ "title", CLI_TEXT, 't', CLI_INTO(struct options, curves.title), .argument = "TEXT",
	  .help = "A title above the curves" },
	{ "page-size", CLI_NUMBER, CLI_INTO(struct options, curves.page_size), .argument = "BYTES", .least = 1,
	  .standard = "4096", .help = "Of curves: how many bytes a page has (%d)" },
	{ "size", CLI_TEXT, .argument = "SIZE", .take = take_size, .least = LEAST_SIZE,
	  .wrong = "%n takes WIDTHxHEIGHT, both from %l on, not '%s'",
	  .help = "Of curves: how wide and high an SVG or PNG is (760x500)" },
	{ "axes", CLI_TEXT, .argument = "ENDS", .take = take_axes,
	  .wrong = "%n takes PAGES:PAGES,FAULTS:FAULTS, all above 0, not '%s'",
	  .help = "Of curves: from where to where the axes of an SVG or PNG go, such as "
	  "16:4096,100:20000, in pages and in faults (as far as the curves)" },
	{ "about", CLI_TEXT, CLI_INTO(struct options, curves.about), .argument = "TEXT",
	  .help = "Of curves: what an SVG says to a screen reader (the title)" },
	{ .type = CLI_HEADING, .help = "For pictures of a trace:", .group = 1 },
	{ "sizes", CLI_TEXT, 's', CLI_INTO(struct options, faults.sizes), .argument = "SIZES", .group = 1,
	  .help = "faults: pages of memory, for ws and vmin references, as of sim: 1024, or "
	  "256,1024, or 64:1024:*2, or 4M, or 25%"},
	{ "policy", CLI_LIST, 'p', CLI_INTO(struct options, faults.policies), .argument = "POLICY[,...]",
	  .words = CLI_POLICIES, .group = 1, .help = "faults: %c, as of sim (lru)" },
	{ "by", CLI_WORD, CLI_INTO(struct options, by_process), .argument = "WHAT", .group = 1,
	  .words = "kind process", .wrong = "%n takes %o, not '%s'",
	  .help = "footprint: by kind or by process (kind)" },
	{ "top", CLI_NUMBER, CLI_INTO(struct options, trace.top), .argument = "N", .group = 1,
	  .least = 1, .most = 1000, .standard = "20", .wrong = "%n takes a number up to %m",
	  .help = "timeline: how many tasks (%d)" },
	CLI_CLOCK(struct options, trace.survey.clock, 1),
	CLI_KERNEL_BASE(struct options, trace.survey.kernel_base, 1),
	CLI_WITH(overwrite, struct options, overwrite),
	CLI_WITH(progress, struct options, trace.progress),
	CLI_WITH(choice, struct options, trace.choice),
	CLI_WITH(addresses, struct options, faults.addresses, .group = 1),
	{ .type = CLI_ARGUMENT, .argument = "KIND", CLI_INTO(struct options, kind),
	  .words = "curve timeline footprint heatmap faults",
	  .wrong = "which kind of picture?  There are curve, faults, timeline, footprint and heatmap" },
	{ .type = CLI_ARGUMENT, .argument = "TRACE", .take = take_file },
	{ .type = CLI_CHECK, .check = check_all },
	{ 0 }
};
static const struct cli_usage usage = {
	"curve CSV...\ntimeline|footprint|heatmap TRACE\nfaults TRACE",
	"Draw results of laplace sim (curve: faults against memory, on log axes), what laplace "
	"report shows of a trace: which task ran when (timeline), the pages alive over time "
	"(footprint), references by page and time (heatmap); or when its faults are taken in memories "
	"of some sizes (faults)."
	"\v"
	"A PNG is made by rsvg-convert (Debian has it in librsvg2-bin); SVG, CSV and characters need "
	"no other program.",
	option_table, 0
};

/* ---- curves ---- */

static int draw_picture(const struct curves *curves, const struct options *options, FILE *out)
{
	struct picture picture;
	int status = picture_begin(&picture, options->format, out);

	if (status)
		return status;
	if (picture.format == PICTURE_TEXT)
		return curves_text(curves, &options->curves, picture.out);
	curves_svg(curves, &options->curves, picture.out);
	return picture_end(&picture);
}

static int plot_curves(const struct options *options)
{
	struct curves curves = { 0 };
	struct cli_output output;
	int status = CLI_DONE;

	for (unsigned int i = 0; i < options->files && !status; i++)
		status = cli_refuse_input(options->output, options->file[i]);
	if (!status)
		status = cli_refuse_existing(options->output, options->overwrite);
	for (unsigned int i = 0; i < options->files && !status; i++)
		status = curves_read(&curves, options->file[i], options->files > 1);
	if (!status)
		status = cli_output_hold(&output, options->output, options->overwrite);
	if (!status)
		status = cli_output_close(&output, draw_picture(&curves, options, output.file));
	curves_free(&curves);
	return status;
}

/* ---- a trace ---- */

static int draw_chart(const struct surveyed_trace *trace, const struct options *options, FILE *out)
{
	struct picture picture;
	int status;

	if (!trace->survey->time->begun)
		return cli_complain(CLI_FAILED, "%s: holds no record: there is nothing to draw",
				    trace->path);
	status = picture_begin(&picture, options->format, out);
	if (status)
		return status;
	chart_of(options)->draw_as[picture.format](trace, picture.out);
	return picture_end(&picture);
}

/* The output is tried first: whoever waits for a long trace shall not wait in vain. */
static int plot_trace(struct options *options)
{
	struct plot_faults *faults = &options->faults;
	struct surveyed_trace survey = { 0 };
	struct surveyed_trace *trace = is_faults(options) ? &faults->chart.trace : &survey;
	struct cli_output output;
	int status = cli_refuse_input(options->output, options->trace.path), drawn = CLI_FAILED;

	if (!status)
		status = cli_output_hold(&output, options->output, options->overwrite);
	if (status)
		return status;
	status = is_faults(options) ? plot_faults_read(faults) : surveyed_trace_read(trace, &options->trace);
	if (trace->survey)
		drawn = draw_chart(trace, options, output.file);
	drawn = cli_output_close(&output, drawn);
	if (trace->survey && drawn)
		status = drawn;
	if (is_faults(options))
		plot_faults_close(faults);
	else
		surveyed_trace_close(trace);
	return status;
}

int cmd_plot(int argc, char **argv)
{
	char policy[] = "lru";
	struct options options = { .faults = { .policies = policy, .addresses = CLI_ADDRESSES_KEPT },
				   .curves = { .width = CURVES_WIDTH, .height = CURVES_HEIGHT } };
	int status;

	cli_parse(&usage, argc, argv, &options);
	options.trace.path = options.file[0];
	options.faults.options = &options.trace;
	options.trace.by_frame = !is_faults(&options) && options.faults.addresses == CLI_ADDRESSES_PHYSICAL;
	if (options.faults.addresses == CLI_ADDRESSES_KEPT)
		options.faults.addresses = CLI_ADDRESSES_AUTO;
	if (options.format == PICTURE_SVG || options.format == PICTURE_PNG)
		options.faults.most_lines = FAULTS_LINES;
	status = chart_of(&options) ? plot_trace(&options) : plot_curves(&options);
	free(options.file);
	return status;
}
