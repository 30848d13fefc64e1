/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Slurm: a list of jobs for each stage (traces, reductions, simulations), an array of tasks over
 * each list, and at the end a task that gathers.  A stage begins when the one before it is over,
 * however that ended: a task whose job needs what is not done says so, and the others go on.
 * A list names identities, and all that is written once stays as it is, in a directory of its own:
 * so a task never makes anything but what was meant when it was submitted.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "campaign.h"
#include "cli/say.h"

/* Slurm numbers tasks below its MaxArraySize, which is 1001 unless it was told otherwise. */
#define MOST_TASKS 1000

enum stage { STAGE_TRACES, STAGE_REDUCTIONS, STAGE_SIMULATIONS, STAGES };
static const char *const stage_name[STAGES] = { "traces", "reductions", "simulations" };

static enum stage stage_of(const struct job *job)
{
	return job->kind == JOB_SIM ? STAGE_SIMULATIONS :
	       job->kind == JOB_REDUCE ? STAGE_REDUCTIONS : STAGE_TRACES;
}

struct scripts {
	const struct jobs *jobs;
	const struct store *store;
	const char *file;
	struct campaign_words options;
	char self[PATH_MAX];
	char directory[32];	/* slurm/N, in that of the results */
	size_t tasks;
};

/* For a shell. */
static void put_quoted(FILE *out, const char *text)
{
	fputc('\'', out);
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", out);
		else
			fputc(*text, out);
	}
	fputc('\'', out);
}

static int end_file(const struct scripts *scripts, struct store_text *text, const char *name,
		    int status)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", scripts->directory, name);
	return store_end(scripts->store, text, path, status);
}

/* What is not done of a stage; *count of them. */
static int write_list(const struct scripts *scripts, enum stage stage, size_t *count)
{
	struct store_text list;

	*count = 0;
	if (store_begin(&list))
		return CLI_FAILED;
	for (size_t i = 0; i < scripts->jobs->count; i++) {
		const struct job *job = &scripts->jobs->job[i];

		if (stage_of(job) == stage && !store_has(scripts->store, job)) {
			fprintf(list.out, "%s\n", job->identity);
			++*count;
		}
	}
	return end_file(scripts, &list, stage_name[stage], CLI_DONE);
}

static void put_command(const struct scripts *scripts, FILE *out)
{
	put_quoted(out, scripts->self);
	fputs(" campaign -o ", out);
	put_quoted(out, scripts->store->directory);
}

/* What a task does; $1 is the list, $2 how many of it are other arrays'. */
static int write_task(const struct scripts *scripts)
{
	struct store_text task;
	FILE *out;

	if (store_begin(&task))
		return CLI_FAILED;
	out = task.out;
	fputs("#!/bin/sh\nset -eu\n"
	      "[ \"$1\" != gather ] || exec ", out);
	put_command(scripts, out);
	fputs(" --gather ", out);
	put_quoted(out, scripts->file);
	fputs("\nexec ", out);
	put_command(scripts, out);
	fputs(" --job \"$(sed -n \"$(($2 + SLURM_ARRAY_TASK_ID))p\" \"$1\")\" ", out);
	put_quoted(out, scripts->file);
	fputc('\n', out);
	return end_file(scripts, &task, "task", CLI_DONE);
}

/* `sbatch ... task ARGUMENT...', whose number `id' has then. */
static void put_sbatch(const struct scripts *scripts, FILE *out, const char *name)
{
	fprintf(out,
		"id=$(sbatch --parsable --job-name=laplace-%s "
		"${after:+--dependency=afterany$after}",
		name);
	for (size_t i = 0; i < scripts->options.count; i++) {
		fputc(' ', out);
		put_quoted(out, scripts->options.word[i]);
	}
}

static void put_stage(const struct scripts *scripts, FILE *out, enum stage stage, size_t count)
{
	fputs("stage=\n", out);
	for (size_t first = 0; first < count; first += MOST_TASKS) {
		put_sbatch(scripts, out, stage_name[stage]);
		fprintf(out,
			" --array=1-%zu --output=\"$logs/%s.%zu+%%a.log\" \"$slurm/task\" "
			"\"$slurm/%s\" %zu)\n"
			"stage=$stage:${id%%%%;*}\n",
			count - first < MOST_TASKS ? count - first : (size_t)MOST_TASKS,
			stage_name[stage], first, stage_name[stage], first);
	}
	fputs("after=$stage\n", out);
}

static int write_submit(struct scripts *scripts)
{
	struct store_text submit;
	int status = CLI_DONE;
	FILE *out;

	if (store_begin(&submit))
		return CLI_FAILED;
	out = submit.out;
	fputs("#!/bin/sh\n# Submits what was not done when this was written.\nset -eu\nslurm=",
	      out);
	put_quoted(out, scripts->store->directory);
	fprintf(out, "/%s\n", scripts->directory);
	/* in the name of a log, sbatch replaces %j and the like */
	fputs("logs=$(printf '%s\\n' \"$slurm\" | sed 's/%/%%/g')\nafter=\n", out);
	for (int i = 0; !status && i < STAGES; i++) {
		size_t count;

		status = write_list(scripts, (enum stage)i, &count);
		scripts->tasks += count;
		if (!status && count)
			put_stage(scripts, out, (enum stage)i, count);
	}
	put_sbatch(scripts, out, "gather");
	fputs(" --output=\"$logs/gather.log\" \"$slurm/task\" gather)\n"
	      "echo \"${id%%;*}\"\n", out);
	return end_file(scripts, &submit, "submit", status);
}

/* Run the script that was written; what it prints is the number of the last job. */
static int run_submit(const char *path)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		execl("/bin/sh", "sh", path, (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return cli_complain(CLI_FAILED, "%s: %s", path, strerror(errno));
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? CLI_DONE :
		cli_complain(CLI_FAILED, "%s: not all was submitted; what was, runs", path);
}

static int make_directory(const struct store *store, const char *name, bool *was_there)
{
	char *path;
	int status = CLI_DONE;

	if (asprintf(&path, "%s/%s", store->directory, name) < 0)
		return cli_complain(CLI_FAILED, "no memory");
	*was_there = mkdir(path, 0777) < 0;
	if (*was_there && errno != EEXIST)
		status = cli_complain(CLI_FAILED, "%s: %s", path, strerror(errno));
	free(path);
	return status;
}

/* The first number that nobody has. */
static int make_own_directory(struct scripts *scripts)
{
	bool was_there;
	int status = make_directory(scripts->store, "slurm", &was_there);

	was_there = true;
	for (unsigned int i = 1; !status && was_there; i++) {
		snprintf(scripts->directory, sizeof(scripts->directory), "slurm/%u", i);
		status = make_directory(scripts->store, scripts->directory, &was_there);
	}
	return status;
}

int slurm_write(const struct jobs *jobs, const struct store *store, const char *file,
		const char *options, bool submit)
{
	struct scripts scripts = { .jobs = jobs, .store = store, .file = file };
	struct lpl_report report = { 0 };
	char *path = NULL;
	int status = CLI_DONE;

	if (campaign_words_split(&scripts.options, options, &report))
		status = cli_complain(CLI_USAGE, "--slurm: %s", report.text);
	if (!status && readlink("/proc/self/exe", scripts.self, sizeof(scripts.self) - 1) < 0)
		status = cli_complain(CLI_FAILED, "/proc/self/exe: %s", strerror(errno));
	if (!status)
		status = make_own_directory(&scripts);
	if (!status)
		status = write_task(&scripts);
	if (!status)
		status = write_submit(&scripts);
	if (!status && asprintf(&path, "%s/%s/submit", store->directory, scripts.directory) < 0)
		status = cli_complain(CLI_FAILED, "no memory");
	if (!status && submit)
		status = run_submit(path);
	else if (!status)
		cli_say(stdout, "%zu jobs are to be done; `sh %s' submits them", scripts.tasks,
			path);
	campaign_words_free(&scripts.options);
	free(path);
	return status;
}
