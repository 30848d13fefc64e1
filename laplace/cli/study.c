/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* laplace study: its options.  The rest is python/laplace/study. */
#include "addresses.h"
#include "commands.h"
#include "options.h"
#include "python.h"

#define MOST_FACTOR 1000
#define MOST_SIZES 1000
#define MOST_JOBS 1024

struct options {
	struct python_words words;
	bool overwrite, json, traces;
	enum cli_when progress;
	enum cli_addresses addresses;
};

enum { OPT_FACTOR = 256, OPT_SIZES };

static const struct argp_option option_table[] = {
	{ "output", 'o', "DIR", 0, "Where to put the tables and figures, as CSV", 0 },
	{ "jobs", 'J', "N", 0, "Threads (as many as there are processors)", 0 },
	{ "factor", OPT_FACTOR, "N", 0,
	  "How many times smaller the traces of figures 3 to 6 are (100)", 0 },
	{ "sizes", OPT_SIZES, "N", 0, "How many sizes of memory are simulated (40)", 0 },
	{ 0 }
};

static void add_limited(struct argp_state *state, const char *name, const char *text,
			unsigned int least, unsigned int most)
{
	struct options *options = state->input;
	char option[32];

	snprintf(option, sizeof(option), "--%s", name);
	if (cli_number(state, option, text, least) > most)
		argp_error(state, "%s is at most %u", option, most);
	python_add(&options->words, name, text, state);
}

static void add_shared(struct options *options, struct argp_state *state)
{
	static const char *const addresses[] = {
		[CLI_ADDRESSES_AUTO] = "auto", [CLI_ADDRESSES_VIRTUAL] = "virtual",
		[CLI_ADDRESSES_CANONICAL] = "canonical"
	};

	if (options->overwrite)
		python_add(&options->words, "overwrite", "yes", state);
	if (options->json)
		python_add(&options->words, "json", "yes", state);
	python_add_progress(&options->words, options->progress, state);
	python_add(&options->words, "addresses", addresses[options->addresses], state);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->overwrite;
		state->child_inputs[1] = &options->json;
		state->child_inputs[2] = &options->progress;
		state->child_inputs[3] = &options->addresses;
		return 0;
	case 'o':
		python_add(&options->words, "output", arg, state);
		return 0;
	case 'J':
		add_limited(state, "jobs", arg, 1, MOST_JOBS);
		return 0;
	case OPT_FACTOR:
		add_limited(state, "factor", arg, 2, MOST_FACTOR);
		return 0;
	case OPT_SIZES:
		add_limited(state, "sizes", arg, 2, MOST_SIZES);
		return 0;
	case ARGP_KEY_ARG:
		options->traces = true;
		python_add(&options->words, "trace", arg, state);
		return 0;
	case ARGP_KEY_END:
		if (!options->traces)
			argp_error(state, "which traces?");
		add_shared(options, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {
	{ &cli_overwrite_argp, 0, NULL, 0 },
	{ &cli_json_argp, 0, NULL, 0 },
	{ &cli_progress_argp, 0, NULL, 0 },
	{ &cli_addresses_argp, 0, NULL, 0 },
	{ 0 }
};
static const struct argp argp = {
	option_table, parse_option, "TRACE...",
	"Reduce each TRACE by SAD, OLR and stack deletion, over a range of K; simulate CLOCK "
	"and SEGQ on the results; and print how far and how well that works: the tables and "
	"figures of the paper that brought SAD and OLR."
	"\v"
	"A TRACE is read several times, and has to be unreduced, or reduced by `block'.  See "
	"laplace-study(1).",
	children, NULL, NULL
};

int cmd_study(int argc, char **argv)
{
	struct options options = { .progress = CLI_AUTO };

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	return python_become("study", &options.words);
}
