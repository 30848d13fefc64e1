/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace study: what is asked for, and the order in which it is done.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <laplace/reducer.h>
#include <laplace/trace.h>

#include "cli/commands.h"
#include "cli/pass.h"
#include "study.h"

#define MOST_FACTOR 1000
#define MOST_SIZES 1000

struct options {
	const char *directory;		/* NULL: no files */
	bool overwrite, json;
	struct study study;
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

static unsigned int parse_limited(struct argp_state *state, const char *option,
				  const char *text, unsigned int least, unsigned int most)
{
	uint64_t number = cli_number(state, option, text, least);

	if (number > most)
		argp_error(state, "%s is at most %u", option, most);
	return (unsigned int)number;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;
	struct study *study = &options->study;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->overwrite;
		state->child_inputs[1] = &options->json;
		state->child_inputs[2] = &study->progress;
		state->child_inputs[3] = &study->addresses;
		study->trace = calloc((size_t)state->argc, sizeof(*study->trace));
		return study->trace ? 0 : ENOMEM;
	case 'o':
		options->directory = arg;
		return 0;
	case 'J':
		study->jobs = parse_limited(state, "--jobs", arg, 1, STUDY_MOST_JOBS);
		return 0;
	case OPT_FACTOR:
		study->factor = parse_limited(state, "--factor", arg, 2, MOST_FACTOR);
		return 0;
	case OPT_SIZES:
		study->sizes = parse_limited(state, "--sizes", arg, 2, MOST_SIZES);
		return 0;
	case ARGP_KEY_ARG:
		study->trace[study->traces++].path = arg;
		return 0;
	case ARGP_KEY_END:
		if (!study->traces)
			argp_error(state, "which traces?");
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

/* ---- traces that can be studied ---- */

/* Its first reference, past all events before it. */
static int find_reference(struct lpl_reader *reader, const char *path)
{
	struct lpl_report report = { 0 };
	const struct lpl_event *event;
	const struct lpl_ref *refs;
	size_t count;

	do {
		if (lpl_reader_next(reader, &refs, &count, &event, &report))
			return cli_report(&report);
	} while (!count && event);
	if (!count)
		return cli_complain(CLI_USAGE, "%s: has no references", path);
	return CLI_DONE;
}

static int check_trace(const struct study *study, struct study_trace *trace)
{
	const char *path = trace->path;
	struct lpl_exactness exactness;
	struct lpl_reader *reader;
	const char *reduction;
	int status = CLI_USAGE;

	if (strcmp(path, "-") == 0)
		return cli_complain(CLI_USAGE, "a trace is read several times: it has to be a "
				    "file");
	status = cli_reader_open(&reader, path);
	if (status)
		return status;
	reduction = lpl_meta_get(lpl_reader_meta(reader), LPL_META_REDUCTION);
	/* exact for CLOCK and the like: that is what blocking leaves a trace */
	if (!lpl_reduction_exactness(reduction, &exactness) || exactness.demand != 1)
		status = cli_complain(CLI_USAGE, "%s: has been reduced already, by %s; a study "
				      "wants the trace as it was recorded (record --reduce none), "
				      "or reduced by `block'", path, reduction);
	else if (!lpl_reader_size(reader))
		status = cli_complain(CLI_USAGE, "%s: a trace is read several times: it has to "
				      "be a file, not a pipe", path);
	else
		status = find_reference(reader, path);
	if (!status)
		status = cli_addresses_decide(&trace->addressing, study->addresses, path,
					      lpl_reader_meta(reader));
	lpl_reader_close(reader);
	return status;
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* By its file's name, less .lpl; where another has the same, by its path. */
static bool name_trace(struct study *study, struct study_trace *trace)
{
	const char *name = file_name(trace->path);
	size_t length;

	for (size_t i = 0; i < study->traces; i++) {
		const struct study_trace *other = &study->trace[i];

		if (other != trace && strcmp(file_name(other->path), name) == 0) {
			trace->name = strdup(trace->path);
			return trace->name;
		}
	}
	length = strlen(name);
	if (length > 4 && strcmp(name + length - 4, ".lpl") == 0)
		length -= 4;
	trace->name = strndup(name, length);
	return trace->name;
}

static int check_traces(struct study *study)
{
	int status = CLI_DONE;

	for (size_t i = 0; i < study->traces && !status; i++) {
		for (size_t j = 0; j < i && !status; j++) {
			if (strcmp(study->trace[i].path, study->trace[j].path) == 0)
				status = cli_complain(CLI_USAGE, "%s: is named twice",
						      study->trace[i].path);
		}
		if (!status && !name_trace(study, &study->trace[i]))
			status = cli_complain(CLI_FAILED, "no memory");
		if (!status)
			status = check_trace(study, &study->trace[i]);
	}
	return status;
}

/* ---- the study ---- */

static int study_all(const struct options *options, struct study_csv *csv)
{
	const struct study *study = &options->study;
	struct study_errors errors;
	bool damaged = false;

	for (size_t i = 0; i < study->traces; i++) {
		struct study_trace *trace = &study->trace[i];
		int status = study_reduce(study, trace);

		if (!status)
			status = study_simulate(study, trace);
		if (status)
			return status;
		study_csv_trace(csv, trace);
		damaged |= trace->damaged;
	}
	if (!study_sum_up(study, &errors))
		return cli_complain(CLI_FAILED, "no memory");
	study_csv_errors(csv, &errors);
	if (!options->json)
		study_print_text(study, &errors);
	else if (study_print_json(study, &errors))
		return CLI_FAILED;
	return damaged ? CLI_DAMAGED : CLI_DONE;
}

static void free_traces(struct study *study)
{
	for (size_t i = 0; i < study->traces; i++) {
		struct study_trace *trace = &study->trace[i];

		free(trace->name);
		free(trace->lru);
		free(trace->point);
		for (int j = 0; j < STUDY_POLICIES; j++)
			free(trace->row[j]);
	}
	free(study->trace);
}

int cmd_study(int argc, char **argv)
{
	struct options options = { .study = { .factor = 100, .sizes = 40 } };
	struct study_csv *csv = NULL;
	int status;

	options.study.jobs = cli_jobs(0);
	argp_parse(&argp, argc, argv, 0, NULL, &options);
	status = check_traces(&options.study);
	for (size_t i = 0; options.directory && i < options.study.traces && !status; i++)
		status = study_csv_refuse(options.directory, options.study.trace[i].path);
	if (!status && options.directory)
		status = study_csv_open(&csv, options.directory, options.overwrite);
	if (!status)
		status = study_csv_close(csv, study_all(&options, csv));
	free_traces(&options.study);
	return status;
}
