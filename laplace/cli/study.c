/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* laplace study: its options, and which traces can be studied.  The rest is python/laplace/study. */
#include <string.h>

#include <laplace/reducer.h>

#include "addresses.h"
#include "commands.h"
#include "options.h"
#include "pass.h"
#include "python.h"
#include "say.h"

#define AGAIN "a trace is read several times: it has to be a file"

struct options {
	struct python_words words;
	unsigned int jobs, factor, sizes;
	bool overwrite, json;
	enum cli_when progress;
	enum cli_addresses addresses;
};

static const struct cli_option option_table[] = {
	{ "output", CLI_DIRECTORY, 'o', .argument = "DIR",
	  .help = "Where to put the tables and figures, as CSV" },
	{ "jobs", CLI_NUMBER, 'J', CLI_INTO(struct options, jobs), .argument = "N", .least = 1, .most = 1024,
	  .help = "Threads (as many as there are processors)" },
	{ "factor", CLI_NUMBER, CLI_INTO(struct options, factor), .argument = "N", .least = 2, .most = 1000,
	  .standard = "100", .help = "How many times smaller the traces of figures 3 to 6 are, %l to %m (%d)" },
	{ "sizes", CLI_NUMBER, CLI_INTO(struct options, sizes), .argument = "N", .least = 2, .most = 1000,
	  .standard = "40", .help = "How many sizes of memory are simulated (%d)" },
	CLI_WITH(overwrite, struct options, overwrite),
	CLI_WITH(json, struct options, json),
	CLI_WITH(progress, struct options, progress),
	CLI_WITH(addresses, struct options, addresses),
	{ .name = "trace", .type = CLI_ARGUMENT, .argument = "TRACE", .repeated = true,
	  .wrong = "which traces?" },
	{ .type = CLI_EACH, .take = python_take },
	{ 0 }
};
static const struct cli_usage usage = {
	"TRACE...",
	"Reduce each TRACE by SAD, OLR and stack deletion, over a range of K; simulate CLOCK "
	"and SEGQ on the results; and print how far and how well that works: the tables and "
	"figures of the paper that brought SAD and OLR."
	"\v"
	"A TRACE is read several times, and has to be unreduced, or reduced by `block'.  See "
	"laplace-study(1).",
	option_table, 0
};

static int find_reference(struct lpl_reader *reader, const char *path)
{
	const struct lpl_event *event;
	const struct lpl_ref *refs;
	struct lpl_report report = { 0 };
	size_t count = 0;

	while (!count) {
		if (lpl_reader_next(reader, &refs, &count, &event, &report))
			return cli_report(&report);
		if (!count && !event)
			return cli_complain(CLI_USAGE, "%s: has no references", path);
	}
	return CLI_DONE;
}

/* Also which addresses count, and the reduction of what is read then, both of which are handed on. */
static int check_reader(struct options *options, struct lpl_reader *reader, const char *path)
{
	const struct lpl_meta *meta = lpl_reader_meta(reader);
	const char *reduction = lpl_meta_get(meta, LPL_META_REDUCTION);
	struct lpl_exactness exactness;
	struct cli_addressing addressing;
	int status;

	/* exact for CLOCK and the like: that is what blocking leaves a trace */
	if (!lpl_reduction_exactness(reduction, &exactness) || exactness.demand != 1)
		return cli_complain(CLI_USAGE, "%s: has been reduced already, by %s; a study wants the trace "
				    "as it was recorded (record --reduce none), or reduced by `block'",
				    path, reduction);
	if (!lpl_reader_size(reader))
		return cli_complain(CLI_USAGE, "%s: " AGAIN ", not a pipe", path);
	status = find_reference(reader, path);
	if (!status)
		status = cli_addresses_decide(&addressing, options->addresses, path, meta);
	if (status)
		return status;
	reduction = cli_addresses_reduction(&addressing);
	python_add(&options->words, "counted", addressing.name, NULL);
	python_add(&options->words, "convert",
		   addressing.convert != LPL_ADDRESSES_KEPT ? addressing.name : "", NULL);
	python_add(&options->words, "reduction", reduction ? reduction : "none", NULL);
	return CLI_DONE;
}

static int check_trace(struct options *options, const char *path)
{
	struct lpl_reader *reader;
	int status;

	if (strcmp(path, "-") == 0)
		return cli_complain(CLI_USAGE, AGAIN);
	status = cli_reader_open(&reader, path);
	if (!status)
		status = check_reader(options, reader, path);
	lpl_reader_close(reader);
	return status;
}

/* The traces stand among what is handed on, in their order. */
static int check_traces(struct options *options)
{
	static const char key[] = "trace=";
	const size_t words = options->words.count, length = strlen(key);
	int status = CLI_DONE;

	for (size_t i = 0; i < words && !status; i++) {
		const char *word = options->words.word[i];

		if (strncmp(word, key, length) != 0)
			continue;
		for (size_t j = 0; j < i && !status; j++) {
			if (strcmp(word, options->words.word[j]) == 0)
				status = cli_complain(CLI_USAGE, "%s: is named twice", word + length);
		}
		if (!status)
			status = check_trace(options, word + length);
	}
	return status;
}

int cmd_study(int argc, char **argv)
{
	struct options options = { .words.count = 0 };
	int status;

	cli_parse(&usage, argc, argv, &options);
	status = check_traces(&options);
	if (!status)
		return python_become("study", &options.words);
	python_free(&options.words);
	return status;
}
