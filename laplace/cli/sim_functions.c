/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which functions have a simulation's faults, ranked. */
#include "sim_functions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/attribution.h"
#include "code/function_shares.h"
#include "replace.h"
#include "say.h"

struct cli_functions {
	struct functions *functions;
	struct attribution *attribution;
	struct lpl_simulator *simulator;
	struct cli_output output;	/* of --folded */
	bool folds, prints;		/* it, and the rest */
};

const struct cli_option cli_functions_options[] = {
	{ "files", CLI_FILE, CLI_INTO(struct cli_functions_options, code.files), .argument = "DIR",
	  .help = "With --by function: a directory that has the guest's files, with their "
	  "symbols" },
	{ "symbols", CLI_FILE, CLI_INTO(struct cli_functions_options, code.symbols),
	  .argument = "FILE",
	  .help = "With --by function: the kernel's symbols, a System.map or a vmlinux of the "
	  "guest's kernel, or what its /proc/kallsyms says to root" },
	CLI_KERNEL_TEXT(struct cli_functions_options, code.kernel_text),
	CLI_INLINED(struct cli_functions_options, code.inlined, "--by function"),
	{ "folded", CLI_FILE, CLI_INTO(struct cli_functions_options, folded), .argument = "FILE",
	  .help = "With --by function, of one policy and size: write faults as lines "
	  "FILE;FUNCTION COUNT, too, for flame graphs; -: to standard output, in place of all else" },
	{ "overwrite", CLI_FLAG, 'O', CLI_INTO(struct cli_functions_options, overwrite),
	  .help = "Replace an existing file of --folded" },
	{ 0 }
};

bool cli_functions_asked(const struct cli_functions_options *options)
{
	const struct functions_options *code = &options->code;

	return code->files || code->symbols || code->kernel_text || code->inlined || options->folded ||
	       options->overwrite;
}

/* ---- opening and closing ---- */

int cli_functions_check(const char *path, const struct lpl_meta *meta,
			const struct cli_trace_kind *kind, bool *by_events)
{
	const char *counters = lpl_meta_get(meta, LPL_META_PROGRAM_COUNTERS);

	*by_events = counters && strcmp(counters, "kept") == 0;
	if (kind->is_canonical)
		return cli_complain(CLI_USAGE, "%s: has canonical pages, and not where in them an "
				    "instruction is; the trace that it was made from has that", path);
	if (kind->is_whole || *by_events)
		return CLI_DONE;
	return cli_complain(CLI_USAGE, "%s: was reduced (%s), so that it is not known which "
			    "instruction made a reference: `laplace reduce --pc' of the trace that it "
			    "was made from keeps that", path, kind->reduction);
}

static int open_output(struct cli_functions *functions,
		       const struct cli_functions_options *options, const char *path)
{
	const char *input[] = { path, options->code.symbols };
	int status = CLI_DONE;

	functions->prints = !options->folded || strcmp(options->folded, "-") != 0;
	if (!options->folded)
		return CLI_DONE;
	for (size_t i = 0; i < 2 && !status; i++)
		if (input[i])
			status = cli_refuse_input(options->folded, input[i]);
	if (!status)
		status = cli_output_hold(&functions->output, options->folded, options->overwrite);
	functions->folds = !status;
	return status;
}

int cli_functions_open(struct cli_functions **functions,
		       const struct cli_functions_options *options,
		       struct lpl_simulator *simulator, const char *path,
		       const struct lpl_meta *meta, const struct cli_trace_kind *kind)
{
	struct cli_functions *made = calloc(1, sizeof(*made));
	struct attribution_options how = { .simulator = simulator, .page_size = kind->page_size };
	struct lpl_report report = { 0 };
	int status;

	*functions = NULL;
	if (!made)
		return cli_complain(CLI_FAILED, "no memory for functions");
	made->simulator = simulator;
	status = cli_functions_check(path, meta, kind, &how.by_events);
	if (!status)
		status = functions_open(&made->functions, &options->code, path, meta);
	how.functions = made->functions;
	if (!status && attribution_open(&made->attribution, &how, &report))
		status = cli_report(&report);
	if (!status)
		status = open_output(made, options, path);
	if (status)
		cli_functions_close(made);
	else
		*functions = made;
	return status;
}

void cli_functions_close(struct cli_functions *functions)
{
	if (!functions)
		return;
	if (functions->folds)		/* there was nothing to be written */
		(void)cli_output_close(&functions->output, CLI_FAILED);
	attribution_close(functions->attribution);
	functions_close(functions->functions);
	free(functions);
}

struct lpl_sink *cli_functions_sink(const struct cli_functions *functions)
{
	return attribution_back(functions->attribution);
}

struct lpl_sink *cli_functions_front(struct cli_pass *pass, struct lpl_sink *next)
{
	const struct cli_functions *functions = pass->context;

	return attribution_front(functions->attribution, next);
}

/* ---- as CSV ---- */

/*
 * As RFC 4180 has it: a guest's name may hold what separates columns; nor shall it be taken for a
 * formula.
 */
static void print_cell(const char *text)
{
	if (lpl_text_is_formula(*text) || strpbrk(text, ",\""))
		lpl_text_print_cell(stdout, text);
	else
		fputs(text, stdout);
}

void cli_functions_heading(const struct cli_functions *functions)
{
	if (functions->prints)
		puts("policy,size,mode,file,function,references,pages,faults,percent,cold_faults,"
		     "refaults,addresses");
}

static double percent(uint64_t faults, const struct function_share *sum)
{
	return sum->faults ? 100 * (double)faults / (double)sum->faults : 0;
}

static void print(const struct function_share *share, size_t count, const char *policy,
		  uint64_t size, const char *addresses)
{
	for (size_t i = 0; i <= count; i++) {
		const struct function_share *of = &share[i];

		printf("%s,%" PRIu64 ",", policy, size);
		if (of->function) {
			printf("%s,", code_mode_name(of->function->mode));
			print_cell(of->function->file);
			putchar(',');
			print_cell(of->function->name);
		} else {
			fputs(",,all", stdout);
		}
		printf(",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.4g,%" PRIu64 ",%" PRIu64 ",%s\n",
		       of->references, of->pages, of->faults, percent(of->faults, &share[count]),
		       of->cold, of->faults - of->cold, addresses);
	}
}

/* ---- as JSON ---- */

static json_t *as_json(const struct function_share *share, size_t count)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++) {
		const struct function_share *of = &share[i];
		json_t *object = json_object();

		json_object_set_new(object, "function", json_string(of->function->name));
		if (*of->function->file)
			json_object_set_new(object, "file", json_string(of->function->file));
		if (of->function->mode != CODE_NONE)
			json_object_set_new(object, "mode",
					    json_string(code_mode_name(of->function->mode)));
		json_object_set_new(object, "references", cli_json(of->references));
		json_object_set_new(object, "pages", cli_json(of->pages));
		json_object_set_new(object, "faults", cli_json(of->faults));
		json_object_set_new(object, "percent",
				    json_real(percent(of->faults, &share[count])));
		json_object_set_new(object, "cold_faults", cli_json(of->cold));
		json_object_set_new(object, "refaults", cli_json(of->faults - of->cold));
		json_array_append_new(array, object);
	}
	return array;
}

/* ---- folded ---- */

/* What separates frames, and the count, is none of a name. */
static void put_frame(FILE *out, const char *name)
{
	for (; *name; name++)
		putc(*name == ';' || *name == ' ' ? '_' : *name, out);
}

static void fold(FILE *out, const struct function_share *share, size_t count)
{
	for (size_t i = 0; i < count && share[i].faults; i++) {
		if (*share[i].function->file) {
			put_frame(out, share[i].function->file);
			putc(';', out);
		}
		put_frame(out, share[i].function->name);
		fprintf(out, " %" PRIu64 "\n", share[i].faults);
	}
}

bool cli_functions_add(const struct cli_functions *functions, size_t index, size_t result,
		       const char *policy, const char *addresses, json_t *object)
{
	size_t count, results;
	const struct lpl_result *all =
		lpl_simulator_results(functions->simulator, index, &results);
	struct function_share *share =
		function_shares(functions->functions, functions->simulator, index, result, &count);

	if (!share)
		return false;
	if (functions->folds)
		fold(functions->output.file, share, count);
	if (object)
		json_object_set_new(object, "functions", as_json(share, count));
	else if (functions->prints)
		print(share, count, policy, all[result].size, addresses);
	free(share);
	return true;
}

int cli_functions_end(struct cli_functions *functions)
{
	functions_warn(functions->functions);
	if (!functions->folds)
		return CLI_DONE;
	functions->folds = false;
	return cli_output_close(&functions->output, CLI_DONE);
}
