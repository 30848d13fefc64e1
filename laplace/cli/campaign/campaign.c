/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace campaign: what is asked for.  campaign.h shows who does which part of it; in short: the
 * file is read, expanded into jobs, and what is not done of these is made, here or by Slurm; then
 * all that is done is gathered.  Each of these may be done again at any time, by several at once.
 *
 * All of it happens in the directory of FILE, so that paths in it mean the same from everywhere.
 */
#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "base/host.h"
#include "campaign.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/say.h"

#define LARGEST_FILE (1 << 20)	/* bytes; a slip of the pen, else */
#define MOST_JOBS 1024		/* at once */

struct options {
	const char *file, *output, *job, *slurm;
	unsigned int jobs;
	bool dry_run, gather, submit, json;
	enum cli_when progress;
};

enum { KEY_DRY_RUN = 256, KEY_GATHER, KEY_JOB, KEY_SLURM, KEY_SUBMIT };

static const struct argp_option option_table[] = {
	{ "output", 'o', "DIR", 0,
	  "The directory of results (that of FILE, named after it: .results)", 0 },
	{ "jobs", 'J', "N", 0, "Jobs at once (one for each processor)", 0 },
	{ "dry-run", KEY_DRY_RUN, NULL, 0, "Only list the jobs, and which of them are done", 0 },
	{ "gather", KEY_GATHER, NULL, 0,
	  "Only gather what is done into the table and the report", 0 },
	{ "job", KEY_JOB, "JOB", 0, "Only make this one, by its number or identity", 0 },
	{ "slurm", KEY_SLURM, "OPTIONS", OPTION_ARG_OPTIONAL,
	  "Write scripts for Slurm instead, with these options of sbatch", 0 },
	{ "submit", KEY_SUBMIT, NULL, 0, "With --slurm: submit them as well", 0 },
	{ 0 }
};

static void check_options(const struct options *options, struct argp_state *state)
{
	int ways = options->dry_run + options->gather + (options->job != NULL) +
		   (options->slurm != NULL);

	if (!options->file)
		argp_error(state, "which campaign?");
	if (ways > 1)
		argp_error(state, "--dry-run, --gather, --job and --slurm exclude each other");
	if (options->submit && !options->slurm)
		argp_error(state, "--submit is for --slurm");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->json;
		state->child_inputs[1] = &options->progress;
		return 0;
	case 'o':
		options->output = arg;
		return 0;
	case 'J':
		options->jobs = (unsigned int)cli_number(state, "--jobs",
							 strlen(arg) > 9 ? "" : arg, 1);
		if (options->jobs > MOST_JOBS)
			argp_error(state, "--jobs is at most %d", MOST_JOBS);
		return 0;
	case KEY_DRY_RUN:
		options->dry_run = true;
		return 0;
	case KEY_GATHER:
		options->gather = true;
		return 0;
	case KEY_JOB:
		options->job = arg;
		return 0;
	case KEY_SLURM:
		options->slurm = arg ? arg : "";
		return 0;
	case KEY_SUBMIT:
		options->submit = true;
		return 0;
	case ARGP_KEY_ARG:
		if (options->file)
			argp_error(state, "one campaign at a time");
		options->file = arg;
		return 0;
	case ARGP_KEY_END:
		check_options(options, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {
	{ &cli_json_argp, 0, NULL, 0 }, { &cli_progress_argp, 0, NULL, 0 }, { 0 }
};
static const struct argp argp = {
	option_table, parse_option, "FILE",
	"Make the runs, reductions and simulations that FILE asks for, and gather what comes of them."
	"\v"
	"What is done is never made again: run it again after a failure, or an interruption, for "
	"the rest.  "
	"A job is done when its result is there, and is another one when anything that goes into "
	"it changes.  "
	"A job that fails does not stop the others.  "
	"Exit status: 0 all is done, 1 something is not, 2 wrong usage, or FILE is wrong, "
	"3 a result is damaged.",
	children, NULL, NULL
};

/* ---- paths ---- */

static char *cannot(const char *path)
{
	cli_complain(0, "%s: %s", path, errno ? strerror(errno) : "no memory");
	return NULL;
}

/* The absolute path of what need not be there, in a directory that is; to be freed. */
static char *absolute(const char *path)
{
	char *there = realpath(path, NULL), *copy, *parent, *result = NULL;

	if (there)
		return there;
	copy = strdup(path);
	parent = copy ? realpath(dirname(copy), NULL) : NULL;
	free(copy);
	copy = strdup(path);
	if (!parent || !copy || asprintf(&result, "%s/%s", parent, basename(copy)) < 0)
		result = cannot(path);
	free(copy);
	free(parent);
	return result;
}

/* FILE without .campaign, and with .results. */
static char *results_of(const char *file)
{
	static const char suffix[] = ".campaign";
	size_t length = strlen(file), end = length;
	char *path;

	if (length > strlen(suffix) && strcmp(file + length - strlen(suffix), suffix) == 0)
		end -= strlen(suffix);
	return asprintf(&path, "%.*s.results", (int)end, file) < 0 ? NULL : path;
}

/* Where other programs are is told by these, perhaps from here; traces tell it as it was said. */
static void keep_places(void)
{
	static const char *const name[] = { "LAPLACE_BOCHS", "LAPLACE_DATADIR" };

	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
		const char *value = getenv(name[i]);
		char *here = value && *value && *value != '/' ? getcwd(NULL, 0) : NULL, *path;

		if (here && asprintf(&path, "%s/%s", here, value) >= 0) {
			setenv(name[i], path, 1);
			free(path);
		}
		free(here);
	}
}

static int enter(const char *file)
{
	char *copy = strdup(file);
	int status = copy && chdir(dirname(copy)) == 0 ? CLI_DONE :
		cli_complain(CLI_FAILED, "%s: %s", file, strerror(errno));

	free(copy);
	return status;
}

/* ---- the file ---- */

/* Its text, to be freed; NULL: told. */
static char *read_text(const char *path)
{
	char *text = calloc(1, LARGEST_FILE + 1);
	FILE *file = text ? fopen(path, "re") : NULL;
	size_t size;

	if (!file) {
		cli_complain(CLI_FAILED, "%s: %s", path, strerror(errno));
		free(text);
		return NULL;
	}
	size = fread(text, 1, LARGEST_FILE + 1, file);
	if (ferror(file))
		cli_complain(CLI_FAILED, "%s: %s", path, strerror(errno));
	else if (size > LARGEST_FILE || strlen(text) < size)
		cli_complain(CLI_FAILED, "%s: is no campaign: it is larger than 1 MB, or has null "
			     "bytes in it", path);
	else
		size = 0;
	fclose(file);
	if (!size)
		return text;
	free(text);
	return NULL;
}

static int read_campaign(struct campaign *campaign, const char *path, const char *name)
{
	struct lpl_report report = { 0 };
	char *text = read_text(path);
	int status = text ? CLI_DONE : CLI_FAILED;

	if (text && campaign_read(campaign, text, name, &report))
		status = cli_report(&report);
	free(text);
	return status;
}

/* ---- telling ---- */

static const char *state_name(enum job_state state)
{
	static const char *const name[] = { "to do", "running", "done",
					    "made",  "failed",	"damaged", "waiting" };

	return name[state];
}

static json_t *job_json(const struct jobs *jobs, size_t index)
{
	const struct job *job = &jobs->job[index];
	json_t *object = json_pack("{s:I, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "number",
				   (json_int_t)index + 1, "identity", job->identity, "state",
				   state_name(job->state), "kind", job_kind_name[job->kind],
				   "source", job->source, "machine", job->machine, "seed",
				   job->seed, "reduction", job->reduction);

	if (object && job->kind == JOB_SIM) {
		json_object_set_new(object, "simulation", json_string(job->simulation));
		json_object_set_new(object, "policy", json_string(job->policy));
		json_object_set_new(object, "sizes", json_string(job->sizes));
	}
	if (object && job->needs != JOB_NONE)
		json_object_set_new(object, "needs", json_integer((json_int_t)job->needs + 1));
	return object;
}

static int say_json(const struct jobs *jobs, const struct store *store)
{
	json_t *list = json_array();
	json_t *object = json_object();

	for (size_t i = 0; i < jobs->count; i++)
		json_array_append_new(list, job_json(jobs, i));
	json_object_set_new(object, "directory", cli_json_text(store->directory));
	json_object_set_new(object, "jobs", list);
	return cli_print_json(stdout, object);
}

static void list_jobs(const struct jobs *jobs, FILE *out, bool with_state)
{
	for (size_t i = 0; i < jobs->count; i++) {
		const struct job *job = &jobs->job[i];

		fprintf(out, "%zu %s ", i + 1, job->identity);
		if (with_state)
			fprintf(out, "%s: ", state_name(job->state));
		job_say(job, out);
		if (job->needs != JOB_NONE)
			fprintf(out, " needs=%zu", job->needs + 1);
		fputc('\n', out);
	}
}

/* One line a job; the order is that of FILE. */
static int write_manifest(const struct jobs *jobs, const struct store *store)
{
	struct store_text manifest;

	if (store_begin(&manifest))
		return CLI_FAILED;
	list_jobs(jobs, manifest.out, false);
	return store_end(store, &manifest, "manifest", CLI_DONE);
}

static size_t count_done(const struct jobs *jobs)
{
	size_t done = 0;

	for (size_t i = 0; i < jobs->count; i++)
		done += job_is_done(&jobs->job[i]);
	return done;
}

static void look(struct jobs *jobs, const struct store *store)
{
	for (size_t i = 0; i < jobs->count; i++)
		jobs->job[i].state = store_has(store, &jobs->job[i]) ? JOB_DONE : JOB_TO_DO;
}

/* ---- what can be asked for ---- */

static int dry_run(struct jobs *jobs, const struct store *store, const struct options *options)
{
	look(jobs, store);
	if (options->json)
		return say_json(jobs, store);
	list_jobs(jobs, stdout, true);
	printf("jobs: %zu; done: %zu\n", jobs->count, count_done(jobs));
	return CLI_DONE;
}

static int gather(struct jobs *jobs, const struct store *store, const char *title,
		  const struct options *options)
{
	int damaged = results_check(jobs, store);
	int status = table_write(jobs, store);

	if (!status)
		status = page_write(jobs, store, title);
	if (!status && options->json)
		status = say_json(jobs, store);
	else if (!status)
		cli_say(stdout, "%s/table.csv has the results, %s/report.html shows them",
			store->directory, store->directory);
	if (status || damaged)
		return status ? status : damaged;
	return count_done(jobs) == jobs->count ? CLI_DONE : CLI_FAILED;
}

static int gather_only(struct jobs *jobs, const struct store *store, const char *title,
		       const struct options *options)
{
	look(jobs, store);
	if (count_done(jobs) < jobs->count)
		cli_complain(0, "%zu of %zu jobs are not done", jobs->count - count_done(jobs),
			     jobs->count);
	return gather(jobs, store, title, options);
}

static int make_one(struct jobs *jobs, const struct store *store, const struct options *options)
{
	struct runner_options how = { .jobs = 1, .only = jobs_find(jobs, options->job),
				      .progress = (int)options->progress };
	struct tally tally = { .done = 0 };
	const struct job *job;

	if (how.only == JOB_NONE)
		return cli_complain(CLI_USAGE,
				    "there is no job %s; if there was one, what goes into it has "
				    "changed since",
				    options->job);
	if (runner_run(jobs, store, &how, &tally))
		return CLI_FAILED;
	job = &jobs->job[how.only];
	if (job->state == JOB_WAITING)
		cli_complain(0, "job %s needs job %zu (%s), which is not done", job->identity,
			     job->needs + 1, jobs->job[job->needs].identity);
	else if (tally.signal)
		cli_complain(0, "stopped by %s", strsignal(tally.signal));
	return job_is_done(job) ? CLI_DONE : CLI_FAILED;
}

static int make_all(struct jobs *jobs, const struct store *store, const char *title,
		    const struct options *options)
{
	struct runner_options how = { .jobs = options->jobs ? options->jobs : lpl_processors(),
				      .only = JOB_NONE, .progress = (int)options->progress };
	struct tally tally = { .done = 0 };
	int status = write_manifest(jobs, store);

	if (!status)
		status = runner_run(jobs, store, &how, &tally);
	if (status)
		return status;
	if (tally.signal)
		return cli_complain(CLI_FAILED, "stopped by %s: %zu of %zu jobs are done; run it again "
				    "for the rest", strsignal(tally.signal), count_done(jobs),
				    jobs->count);
	if (!options->json)
		printf("jobs: %zu; done before: %zu, made now: %zu, failed: %zu, not begun: %zu\n",
		       jobs->count, tally.done, tally.made, tally.failed, tally.waiting);
	return gather(jobs, store, title, options);
}

static int carry_out(struct jobs *jobs, const struct campaign *campaign, const char *directory,
		     const char *file, const struct options *options)
{
	const char *title = campaign_value(campaign_whole(campaign), "title");
	struct store store;
	int status = store_open(&store, directory, !options->dry_run);

	if (!title)
		title = strrchr(file, '/') + 1;
	if (status) {
		store_close(&store);
		return status;
	}
	if (options->dry_run)
		status = dry_run(jobs, &store, options);
	else if (options->gather)
		status = gather_only(jobs, &store, title, options);
	else if (options->job)
		status = make_one(jobs, &store, options);
	else if (options->slurm)
		status = write_manifest(jobs, &store) ? CLI_FAILED :
			 slurm_write(jobs, &store, file, options->slurm, options->submit);
	else
		status = make_all(jobs, &store, title, options);
	store_close(&store);
	return status;
}

int cmd_campaign(int argc, char **argv)
{
	struct options options = { .jobs = 0 };
	struct campaign campaign = { .count = 0 };
	struct jobs jobs = { .count = 0 };
	struct inputs *inputs = NULL;
	char *file, *directory = NULL;
	int status = CLI_FAILED;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	file = realpath(options.file, NULL);
	if (!file)
		return cli_complain(CLI_FAILED, "%s: %s", options.file, strerror(errno));
	directory = options.output ? absolute(options.output) : results_of(file);
	if (directory)
		status = read_campaign(&campaign, file, options.file);
	keep_places();
	if (!status)
		status = enter(file);
	inputs = status ? NULL : inputs_open(directory);
	if (!status && !inputs)
		status = cli_complain(CLI_FAILED, "no memory");
	if (!status)
		status = jobs_expand(&jobs, &campaign, options.file, inputs);
	if (!status)
		status = carry_out(&jobs, &campaign, directory, file, &options);
	if (inputs)
		inputs_close(inputs);
	jobs_free(&jobs);
	campaign_free(&campaign);
	free(directory);
	free(file);
	return status;
}
