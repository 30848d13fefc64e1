/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a campaign comes to: each source on each machine with each seed is traced once; that trace
 * is reduced in each way, and what that leaves is simulated by each policy, at so many sizes a
 * job. This order never depends on anything but the file.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <laplace/record.h>
#include <laplace/simulator.h>

#include "base/array.h"
#include "base/digits.h"
#include "campaign.h"
#include "cli/say.h"
#include "job_inputs.h"

#define SEED "{seed}"
#define RECORDED "sad:64"	/* as of laplace run and laplace record */

const char *const job_kind_name[JOB_KINDS] = { "run", "record", "reduce", "sim" };

/* What is expanded: what the loops have come to. */
struct expansion {
	struct jobs *jobs;
	const struct campaign *campaign;
	struct campaign_words reductions, seeds;
	const struct campaign_section *source, *machine;	/* machine: NULL, there is none */
	const char *seed;
};

static int no_memory(void)
{
	return cli_complain(CLI_FAILED, "no memory for the jobs");
}

/* ---- a job's words ---- */

/* A word with the seed, if there is one, in its place. */
static bool add_seeded(struct campaign_words *words, const char *text, const char *seed)
{
	char *copy = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&copy, &size);
	bool seeded = strcmp(seed, JOB_NOT) != 0;
	const char *place;
	bool added;

	if (!out)
		return false;
	for (; seeded && (place = strstr(text, SEED)); text = place + strlen(SEED))
		fprintf(out, "%.*s%s", (int)(place - text), text, seed);
	fputs(text, out);
	added = fclose(out) == 0 && campaign_words_add(words, copy);
	free(copy);
	return added;
}

/* The options that a section has for a subcommand. */
static bool add_options(struct campaign_words *words, const struct campaign_section *section,
			const char *seed)
{
	for (size_t i = 0; section && i < section->count; i++) {
		const struct campaign_setting *setting = &section->setting[i];
		char *option;
		bool added;

		if (!setting->key->option ||
		    (setting->key->flag && strcmp(setting->value, "no") == 0))
			continue;
		if (asprintf(&option, "%s%s%s", setting->key->option,
			     setting->key->flag ? "" : "=",
			     setting->key->flag ? "" : setting->value) < 0)
			return false;
		added = add_seeded(words, option, seed);
		free(option);
		if (!added)
			return false;
	}
	return true;
}

static bool add_words(struct campaign_words *words, const char *const *word)
{
	for (; *word; word++) {
		if (!campaign_words_add(words, *word))
			return false;
	}
	return true;
}

/* ---- its identity ---- */

static void tell_word(FILE *about, const char *word)
{
	char *shown;

	if (strcmp(word, JOB_INPUT) == 0 || strcmp(word, JOB_OUTPUT) == 0) {
		fputs(strcmp(word, JOB_INPUT) == 0 ? "in\n" : "out\n", about);
		return;
	}
	shown = malloc(4 * strlen(word) + 1);
	if (shown)
		fprintf(about, "word %s\n",
			lpl_text_escape(shown, 4 * strlen(word) + 1, word, strlen(word)));
	free(shown);
}

/* All that goes in, as a text of lines; to be freed. */
static int tell_job(const struct jobs *jobs, const struct job *job, char **text)
{
	size_t size = 0;
	FILE *about = open_memstream(text, &size);
	int status = CLI_DONE;

	if (!about)
		return no_memory();
	fputs("laplace " PACKAGE_VERSION "\n", about);
	for (size_t i = 0; i < job->words.count; i++)
		tell_word(about, job->words.word[i]);
	if (job->needs != JOB_NONE)
		fprintf(about, "trace %s\n", jobs->job[job->needs].identity);
	else
		status = job_inputs_tell(jobs->inputs, about, job);
	if (fclose(about) != 0 && !status)
		status = no_memory();
	return status;
}

static int identify(const struct jobs *jobs, struct job *job)
{
	int status = tell_job(jobs, job, &job->about);

	if (!status)
		hash_text(job->identity, job->about);
	return status;
}

/* The file that a line tells, where it has a name; *length is the name's. */
static const char *named_in(const char *line, size_t *length)
{
	size_t before = strlen("input ") + HASH_SIZE;

	*length = strcspn(line, "\n");
	if (strncmp(line, "input ", strlen("input ")) != 0 || *length <= before)
		return NULL;
	*length -= before;
	return line + before;
}

/* By the first line that differs: where a line is gone, that one is meant and not the next. */
static void say_changed(char *what, size_t size, const struct job *job, const char *now)
{
	const char *before = job->about, *name;
	size_t same = 0, length;
	char *line;

	for (size_t i = 0; before[i] && before[i] == now[i]; i++)
		same = before[i] == '\n' ? i + 1 : same;
	line = strndup(now + same, strcspn(now + same, "\n"));
	name = named_in((line && strstr(before + same, line) ? before : now) + same, &length);
	if (name)
		snprintf(what, size, "%.*s", (int)length, name);
	else
		snprintf(what, size, "%s", job->trace ? job->trace : "what goes into it");
	free(line);
}

bool jobs_still(const struct jobs *jobs, struct job *job, bool ran, char *what, size_t size)
{
	uint64_t states = job->states;
	char *now = NULL;
	bool told, same;

	snprintf(what, size, "what goes into it");
	(void)inputs_states(jobs->inputs);
	told = tell_job(jobs, job, &now) == CLI_DONE;
	job->states = inputs_states(jobs->inputs);
	same = told && strcmp(now, job->about) == 0;
	if (told && !same)
		say_changed(what, size, job, now);
	free(now);
	return same && (!ran || states == job->states);
}

/* A trace that jobs read. */
struct reduced {
	size_t job;		/* which makes it; JOB_NONE: */
	const char *file;	/* it is there; NULL: nothing is read */
	const char *reduction;
};

/* Without words.  What there was no memory for is NULL. */
static struct job new_job(const struct expansion *expansion, enum job_kind kind,
			  const struct reduced *reads, const char *reduction)
{
	return (struct job){
		.kind = kind, .needs = reads->job,
		.trace = reads->file ? strdup(reads->file) : NULL,
		.source = expansion->source->name,
		.machine = expansion->machine ? expansion->machine->name : JOB_NOT,
		.simulation = JOB_NOT, .seed = strdup(expansion->seed),
		.reduction = strdup(reduction)
	};
}

/* Takes the job, all of whose words were `added`.  *index, if it is wanted: where it is. */
static int add_job(struct expansion *expansion, struct job *job, bool added,
		   const struct reduced *reads, size_t *index)
{
	struct jobs *jobs = expansion->jobs;
	int status;

	if (!job->policy)
		job->policy = strdup(JOB_NOT);
	if (!job->sizes)
		job->sizes = strdup(JOB_NOT);
	status = added && job->seed && job->reduction && job->policy && job->sizes &&
		 (job->trace || !reads->file) && lpl_reach(jobs->job, jobs->room, jobs->count) ?
			identify(jobs, job) : no_memory();
	if (status) {
		job_free(job);
		return status;
	}
	if (index)
		*index = jobs->count;
	jobs->job[jobs->count++] = *job;
	return CLI_DONE;
}

/* ---- simulations ---- */

static int add_simulation(struct expansion *expansion, const struct campaign_section *simulation,
			  const struct reduced *trace, const char *policy, const char *sizes)
{
	const char *const word[] = {
		"sim", "--progress=never", "--jobs=1", "--json", "-p", policy, NULL
	};
	const char *const sized[] = { "-s", sizes, NULL };
	struct job job = new_job(expansion, JOB_SIM, trace, trace->reduction);
	bool added = add_words(&job.words, word) && (!sizes || add_words(&job.words, sized)) &&
		     add_options(&job.words, simulation, expansion->seed) &&
		     campaign_words_add(&job.words, JOB_INPUT);

	job.simulation = simulation->name;
	job.policy = strdup(policy);
	job.sizes = sizes ? strdup(sizes) : NULL;
	return add_job(expansion, &job, added && job.policy && (job.sizes || !sizes), trace, NULL);
}

/* "16,32,64": so many of them from `first` on; to be freed. */
static char *list_sizes(const struct lpl_sizes *sizes, size_t first, size_t count)
{
	char *list = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&list, &size);

	for (size_t i = first; out && i < sizes->count && i - first < count; i++)
		fprintf(out, "%s%" PRIu64, i > first ? "," : "", sizes->size[i]);
	return out && fclose(out) == 0 ? list : NULL;
}

/* One policy, in as many jobs as its sizes are to be divided into. */
static int add_policy(struct expansion *expansion, const struct campaign_section *simulation,
		      const struct reduced *trace, const char *policy)
{
	const char *value = campaign_value(simulation, "sizes");
	const char *each = campaign_value(simulation, "sizes-per-job");
	struct lpl_report report = { 0 };
	struct lpl_sizes sizes = { .count = 0 };
	uint64_t count = SIZE_MAX;
	int status = CLI_DONE;

	if (!each)
		return add_simulation(expansion, simulation, trace, policy, value);
	(void)lpl_parse_decimal(each, &count);
	if (lpl_sizes_parse(&sizes, value, &report))
		return cli_report(&report);
	for (size_t i = 0; !status && i < sizes.count; i += count) {
		char *list = list_sizes(&sizes, i, count);

		status = list ? add_simulation(expansion, simulation, trace, policy, list) :
				no_memory();
		free(list);
		if (count >= sizes.count - i)
			break;
	}
	lpl_sizes_free(&sizes);
	return status;
}

static int add_simulations(struct expansion *expansion, const struct reduced *trace)
{
	int status = CLI_DONE;

	for (size_t i = 0; !status && i < expansion->campaign->count; i++) {
		const struct campaign_section *section = &expansion->campaign->section[i];
		struct campaign_words policies = { .count = 0 };
		struct lpl_report report = { 0 };

		if (section->kind != CAMPAIGN_SIMULATION ||
		    !campaign_lists(section, "sources", expansion->source->name))
			continue;
		if (campaign_words_split(&policies, campaign_value(section, "policies"), &report))
			status = cli_report(&report);
		for (size_t j = 0; !status && j < policies.count; j++)
			status = add_policy(expansion, section, trace, policies.word[j]);
		campaign_words_free(&policies);
	}
	return status;
}

/* ---- reductions ---- */

static int add_reduction(struct expansion *expansion, const struct reduced *trace,
			 const char *reduction)
{
	const char *const word[] = {
		"reduce", "--progress=never", "--jobs=1", "-m", reduction, "-o", JOB_OUTPUT,
		JOB_INPUT, NULL
	};
	struct reduced reduced = { .job = JOB_NONE, .file = NULL, .reduction = reduction };
	struct job job = new_job(expansion, JOB_REDUCE, trace, reduction);
	bool added = add_words(&job.words, word);
	int status = add_job(expansion, &job, added, trace, &reduced.job);

	return status ? status : add_simulations(expansion, &reduced);
}

static int add_reductions(struct expansion *expansion, const struct reduced *trace)
{
	int status = CLI_DONE;

	for (size_t i = 0; !status && i < expansion->reductions.count; i++) {
		const char *reduction = expansion->reductions.word[i];

		status = strcmp(reduction, "none") == 0 ? add_simulations(expansion, trace) :
			add_reduction(expansion, trace, reduction);
	}
	return status;
}

/* ---- traces ---- */

/* What each of a section's settings of that key names, with the seed in its place. */
static bool add_values(struct campaign_words *words, const struct campaign_section *section,
		       const char *key, const char *seed)
{
	struct campaign_words values = { .count = 0 };
	bool added = true;

	for (size_t i = 0; added && i < section->count; i++) {
		if (strcmp(section->setting[i].key->name, key) == 0)
			added = !campaign_words_split(&values, section->setting[i].value, NULL);
	}
	for (size_t i = 0; added && i < values.count; i++)
		added = add_seeded(words, values.word[i], seed);
	campaign_words_free(&values);
	return added;
}

/* The program's own words come last, behind all options. */
static bool add_program(struct campaign_words *words, const struct expansion *expansion,
			const char *record)
{
	const char *const word[] = {
		"run", "-q", "--clear-env", "-r", record, "-o", JOB_OUTPUT, NULL
	};

	return add_words(words, word) &&
	       add_options(words, expansion->machine, expansion->seed) &&
	       add_options(words, expansion->source, expansion->seed) &&
	       campaign_words_add(words, "--") &&
	       add_values(words, expansion->source, "command", expansion->seed);
}

static bool add_image(struct campaign_words *words, const struct expansion *expansion,
		      const char *record)
{
	const char *const word[] = {
		"record", "--progress=never", "-r", record, "-o", JOB_OUTPUT, NULL
	};

	return add_words(words, word) &&
	       add_options(words, expansion->source, expansion->seed) &&
	       campaign_words_add(words, campaign_value(expansion->source, "bochsrc"));
}

static int add_trace(struct expansion *expansion)
{
	const struct campaign_section *source = expansion->source;
	const char *record = campaign_value(source, "record");
	struct reduced nothing = { .job = JOB_NONE, .reduction = "none" }, trace = nothing;
	struct job job;
	bool added;
	int status;

	if (source->kind == CAMPAIGN_TRACE) {
		trace.file = campaign_value(source, "file");
		return add_reductions(expansion, &trace);
	}
	job = new_job(expansion, source->kind == CAMPAIGN_PROGRAM ? JOB_RUN : JOB_RECORD,
		      &nothing, "none");
	if (!record)
		record = RECORDED;
	added = (source->kind == CAMPAIGN_PROGRAM ? add_program(&job.words, expansion, record) :
						    add_image(&job.words, expansion, record)) &&
		add_values(&job.inputs, source, "inputs", expansion->seed);
	status = add_job(expansion, &job, added, &nothing, &trace.job);
	return status ? status : add_reductions(expansion, &trace);
}

/* Does the seed change anything?  If not, once is enough. */
static bool has_seed(const struct campaign_section *source)
{
	for (size_t i = 0; i < source->count; i++) {
		if (source->kind == CAMPAIGN_PROGRAM && strstr(source->setting[i].value, SEED))
			return true;
	}
	return false;
}

static int add_seeds(struct expansion *expansion)
{
	int status = CLI_DONE;

	expansion->seed = JOB_NOT;
	if (!has_seed(expansion->source))
		return add_trace(expansion);
	if (!expansion->seeds.count)
		return cli_complain(CLI_USAGE, "[program %s] has " SEED " in it, but [campaign] has "
				    "no seeds", expansion->source->name);
	for (size_t i = 0; !status && i < expansion->seeds.count; i++) {
		expansion->seed = expansion->seeds.word[i];
		status = add_trace(expansion);
	}
	return status;
}

static int add_machines(struct expansion *expansion)
{
	const struct campaign *campaign = expansion->campaign;
	int status = CLI_DONE;

	expansion->machine = NULL;
	for (size_t i = 0; !status && i < campaign->count; i++) {
		if (campaign->section[i].kind != CAMPAIGN_MACHINE ||
		    expansion->source->kind != CAMPAIGN_PROGRAM ||
		    !campaign_lists(expansion->source, "machines", campaign->section[i].name))
			continue;
		expansion->machine = &campaign->section[i];
		status = add_seeds(expansion);
	}
	/* a trace was made already, and an image says which machine it is for */
	return status || expansion->machine ? status : add_seeds(expansion);
}

int jobs_expand(struct jobs *jobs, const struct campaign *campaign, const char *file,
		struct inputs *inputs)
{
	const struct campaign_section *whole = campaign_whole(campaign);
	const char *reductions = campaign_value(whole, "reductions");
	const char *seeds = campaign_value(whole, "seeds");
	struct expansion expansion = { .jobs = jobs, .campaign = campaign };
	struct lpl_report report = { 0 };
	int status = CLI_DONE;

	jobs->inputs = inputs;
	if (campaign_words_split(&expansion.reductions, reductions ? reductions : "none",
				 &report) ||
	    campaign_words_split(&expansion.seeds, seeds ? seeds : "", &report))
		status = cli_report(&report);
	for (size_t i = 0; !status && i < campaign->count; i++) {
		expansion.source = &campaign->section[i];
		if (expansion.source->kind == CAMPAIGN_PROGRAM ||
		    expansion.source->kind == CAMPAIGN_TRACE ||
		    expansion.source->kind == CAMPAIGN_IMAGE)
			status = add_machines(&expansion);
	}
	campaign_words_free(&expansion.reductions);
	campaign_words_free(&expansion.seeds);
	if (!status && !jobs->count)
		status = cli_complain(CLI_USAGE, "%s: comes to no jobs: traces that are there already "
				      "are neither reduced nor simulated", file);
	return status;
}

/* ---- the jobs ---- */

void job_free(struct job *job)
{
	campaign_words_free(&job->words);
	campaign_words_free(&job->inputs);
	free(job->trace);
	free(job->about);
	free(job->seed);
	free(job->reduction);
	free(job->policy);
	free(job->sizes);
}

void jobs_free(struct jobs *jobs)
{
	for (size_t i = 0; i < jobs->count; i++)
		job_free(&jobs->job[i]);
	free(jobs->job);
	*jobs = (struct jobs){ .count = 0 };
}

size_t jobs_find(const struct jobs *jobs, const char *name)
{
	uint64_t number;

	for (size_t i = 0; i < jobs->count; i++) {
		if (strcmp(jobs->job[i].identity, name) == 0)
			return i;
	}
	/* an identity may have no letters in it */
	if (strlen(name) >= JOB_IDENTITY_SIZE - 1 || !lpl_parse_decimal(name, &number))
		return JOB_NONE;
	return number >= 1 && number <= jobs->count ? (size_t)number - 1 : JOB_NONE;
}

void job_say(const struct job *job, FILE *out)
{
	fprintf(out, "%s %s machine=%s seed=%s reduction=%s", job_kind_name[job->kind],
		job->source, job->machine, job->seed, job->reduction);
	if (job->kind == JOB_SIM)
		fprintf(out, " simulation=%s policy=%s sizes=%s", job->simulation, job->policy,
			job->sizes);
}
