/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace plot: pictures of results.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "plot.h"

struct options {
	const char *output, *title;
	bool terminal, overwrite;
	const char *kind;
	const char *format;		/* "png" or "svg"; NULL: text */
	char **file;			/* of argv, options already taken out */
	unsigned int files;
};

enum { OPT_TERMINAL = 256 };

static const struct argp_option option_table[] = {
	{ "output", 'o', "PICTURE", 0, "A .png or .svg file; - draws with characters", 0 },
	{ "terminal", OPT_TERMINAL, NULL, 0, "The same as -o -", 0 },
	{ "title", 't', "TEXT", 0, "Above the picture", 0 },
	{ 0 }
};

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text);

	return length > strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

static void check_end(struct options *options, struct argp_state *state)
{
	if (!options->kind)
		argp_error(state, "which kind of picture?  There is curve");
	else if (strcmp(options->kind, "curve") != 0)
		argp_error(state, "no kind of picture '%s': there is curve", options->kind);
	if (!options->files)
		argp_error(state, "which results?  Name a CSV of laplace sim, or -");
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
	else if (strcmp(options->output, "-") != 0)
		argp_error(state, "'%s': the picture's name ends in .png or .svg",
			   options->output);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->overwrite;
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
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {
	{ &cli_overwrite_argp, 0, NULL, 0 }, { 0 }
};
static const struct argp argp = {
	option_table, parse_option, "curve CSV...",
	"Draw results of laplace sim: faults against memory, on log axes."
	"\v"
	"PNG and SVG are drawn by gnuplot.",
	children, NULL, NULL
};

static int draw(const struct curves *curves, const struct options *options)
{
	struct cli_output output;
	int status = cli_output_open(&output, options->output, options->overwrite);

	if (status)
		return status;
	if (options->format)
		status = plot_gnuplot(curves, options->title, options->format, output.file);
	else
		plot_text(curves, options->title, output.file);
	return cli_output_close(&output, status);
}

int cmd_plot(int argc, char **argv)
{
	struct options options = { 0 };
	struct curves curves = { 0 };
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	status = cli_refuse_existing(options.output, options.overwrite);
	for (unsigned int i = 0; i < options.files && !status; i++)
		status = curves_read(&curves, options.file[i], options.files > 1);
	if (!status)
		status = draw(&curves, &options);
	curves_free(&curves);
	free(options.file);
	return status;
}
