/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Campaigns: many runs, reductions and simulations that a small file asks for
 * (docs/campaigns.md).
 *
 *	reads     settings: the file, as sections of settings, each with its line
 *	          keys: which there are, and what they may be
 *	expands   jobs: what these come to, a job each, and what each is made from
 *	          job_inputs, inputs: the files that go into it, and the hashes of these
 *	keeps     store: the directory of results: what is done, who is making what
 *	runs      runner: several jobs at once, here
 *	          slurm: what Slurm is told, so that it runs them
 *	tells     results: what came of a simulation; table, page: of all
 *	asks      campaign: what is wanted
 *
 * A job is known by its identity: a hash of its command and of all that goes into it.  Its result
 * is a directory of that name, which appears when it is whole.  So nobody has to remember what is
 * done: whoever comes looks, whichever process or machine made it, and however that ended.
 */
#ifndef LAPLACE_CLI_CAMPAIGN_CAMPAIGN_H
#define LAPLACE_CLI_CAMPAIGN_CAMPAIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <laplace/error.h>

#include "cli/hash.h"

/* ---- settings ---- */

enum campaign_kind {
	CAMPAIGN_WHOLE,		/* [campaign] */
	CAMPAIGN_PROGRAM,
	CAMPAIGN_TRACE,
	CAMPAIGN_IMAGE,
	CAMPAIGN_MACHINE,
	CAMPAIGN_SIMULATION,
	CAMPAIGN_KINDS
};

struct campaign_key {
	const char *name;
	const char *option;	/* of the subcommand that gets it; NULL: it is for us */
	/* What is wrong with `value` goes into the report; NULL: nothing is looked at. */
	enum lpl_error (*check)(const char *name, const char *value, struct lpl_report *report);
	enum campaign_kind kind;
	bool flag;		/* the option has no value; that of the key is yes or no */
	bool repeats;
};

struct campaign_setting {
	const struct campaign_key *key;
	char *value;
	unsigned int line;
};

struct campaign_section {
	enum campaign_kind kind;
	char *name;		/* "" of [campaign] */
	unsigned int line;
	struct campaign_setting *setting;
	size_t count, room;
};

/* What the file says; zero-initialised. */
struct campaign {
	struct campaign_section *section;
	size_t count, room;
};

/*
 * `text` is the file's, `name` its name, for reports.  LPL_ERR_USAGE, with the line.  To be freed
 * in any case.
 */
enum lpl_error campaign_read(struct campaign *campaign, const char *text, const char *name,
			     struct lpl_report *report);
void campaign_free(struct campaign *campaign);

/* The value of the first setting of that key; NULL: there is none.  `section` may be NULL. */
const char *campaign_value(const struct campaign_section *section, const char *key);
/* Is `name` in the list that the key has?  Without the key, everything is. */
bool campaign_lists(const struct campaign_section *section, const char *key, const char *name);
/* The only section of its kind; NULL: there is none. */
const struct campaign_section *campaign_whole(const struct campaign *campaign);

/* ---- words ---- */

/* Zero-initialised; the words are owned, and a NULL follows the last one. */
struct campaign_words {
	char **word;
	size_t count, room;
};

/* Copies.  false: no memory. */
bool campaign_words_add(struct campaign_words *words, const char *word);
/*
 * Those of a value: blanks are between them; within "..." they are not, and \" and \\ stand for
 * the second character.  LPL_ERR_USAGE, LPL_ERR_MEMORY.
 */
enum lpl_error campaign_words_split(struct campaign_words *words, const char *value,
				    struct lpl_report *report);
void campaign_words_free(struct campaign_words *words);

/* ---- jobs ---- */

enum job_kind { JOB_RUN, JOB_RECORD, JOB_REDUCE, JOB_SIM, JOB_KINDS };
extern const char *const job_kind_name[JOB_KINDS];	/* as the subcommands */

enum job_state {
	JOB_TO_DO,
	JOB_RUNNING,
	JOB_DONE,		/* before we came */
	JOB_MADE,		/* by us */
	JOB_FAILED,
	JOB_DAMAGED,		/* it is done, but its result is not what it was any more */
	JOB_WAITING		/* cannot be begun: what it needs is not to be had */
};

#define JOB_IDENTITY_SIZE HASH_SIZE
#define JOB_NONE SIZE_MAX

/* "-" is what a job has not. */
#define JOB_NOT "-"

struct job {
	enum job_kind kind;
	char identity[JOB_IDENTITY_SIZE];	/* hexadecimal */
	size_t needs;		/* the job whose trace it reads; JOB_NONE */
	char *trace;		/* the file that it reads, where no job makes it; may be NULL */
	struct campaign_words inputs;	/* what else goes into it, by what its source says */
	/*
	 * `laplace' and its arguments.  JOB_INPUT and JOB_OUTPUT stand for the paths of what it
	 * reads and writes, which are no part of what it is.
	 */
	struct campaign_words words;
	char *about;		/* what the identity is a hash of, as text */
	uint64_t states;	/* of the files that go in, when it began */
	/* what it is of, for people */
	const char *source, *machine, *simulation;	/* the sections' names */
	char *seed, *reduction, *policy, *sizes;	/* owned */
	enum job_state state;
};

/* No argument is so short. */
#define JOB_INPUT "\001"
#define JOB_OUTPUT "\002"

struct inputs;

struct jobs {
	struct job *job;
	size_t count, room;
	struct inputs *inputs;	/* by which they are told from each other; borrowed */
};

/*
 * What a campaign comes to, in an order in which each job stands behind what it needs.  Paths are
 * those of the current directory.  Complains; returns an exit status.
 */
int jobs_expand(struct jobs *jobs, const struct campaign *campaign, const char *file,
		struct inputs *inputs);
void jobs_free(struct jobs *jobs);
/*
 * Is a job, before it begins and (`ran`) when it ended, still what its identity says?  false: what
 * changed, as far as that can be told, goes into `what`.
 */
bool jobs_still(const struct jobs *jobs, struct job *job, bool ran, char *what, size_t size);
void job_free(struct job *job);
/* By its number, from 1 on, or its identity; JOB_NONE: there is none. */
size_t jobs_find(const struct jobs *jobs, const char *name);
/* What it is of, in a line: "sim gzip small 1 sad:64 curves lru 16,32". */
void job_say(const struct job *job, FILE *out);

/* ---- inputs ---- */

/*
 * Hashes of files.  What was hashed is remembered in a file, by name, size, inode and times, so
 * that a large trace is read once and not by each of a thousand jobs.
 */
struct inputs *inputs_open(const char *directory);	/* of results; NULL: no memory */
/*
 * Append "input HASH NAME" to `about`, where NAME stands for `path` (NULL: it is no part of what
 * goes in): a file; a directory with all below it; a trace with its segments.  Complains; returns
 * an exit status.
 */
int inputs_tell(struct inputs *inputs, FILE *about, const char *path, const char *name);
/*
 * The same for a word of a program's command: what `laplace run' takes along for it
 * (guest-program/needs), so nothing of /proc and its like.  The results are left out.
 */
int inputs_tell_word(struct inputs *inputs, FILE *about, const char *word);
/*
 * A hash of the times, sizes and inodes of the files told since this was asked before: it is
 * another one also where what a file holds was changed, and changed back.
 */
uint64_t inputs_states(struct inputs *inputs);
/* Remembers what is new, if the directory is there. */
void inputs_close(struct inputs *inputs);

/* ---- the store ---- */

/* Where the results are. */
struct store {
	char *directory;
	char *host;
};

/* Makes it unless it is there.  `make`: false: only look.  Complains; returns an exit status. */
int store_open(struct store *store, const char *directory, bool make);
void store_close(struct store *store);
bool store_has(const struct store *store, const struct job *job);
/* A file of a job that is done, or (failed) of its last failure.  To be freed; NULL: no memory. */
char *store_path(const struct store *store, const struct job *job, const char *file, bool failed);

/* A job that is being made. */
struct claim {
	int lock;		/* held until this is closed */
	char *directory;	/* where it is made; owned */
};

enum claimed {
	CLAIM_OURS,
	CLAIM_DONE,		/* it is made already */
	CLAIM_OTHERS,		/* somebody is making it */
	CLAIM_FAILED		/* told */
};

enum claimed store_claim(const struct store *store, const struct job *job, struct claim *claim);
/* It is whole: it gets its name.  Complains; returns an exit status. */
int store_keep(const struct store *store, const struct job *job, struct claim *claim);
/* It failed, and is put where that can be looked at; or (`keep` is false) nothing is left. */
void store_drop(const struct store *store, const struct job *job, struct claim *claim, bool keep);

/* A file of the directory's that is being written; in memory, until it is whole. */
struct store_text {
	FILE *out;		/* write to this */
	char *bytes;
	size_t size;
};

/* Complains; returns an exit status.  What was begun has to be ended. */
int store_begin(struct store_text *text);
/*
 * Put it in the place of the file `name`, at once: others may do the same.  Unless `status` says
 * that something failed before: then that is returned, and the file stays as it is.
 */
int store_end(const struct store *store, struct store_text *text, const char *name, int status);

/* ---- running ---- */

struct runner_options {
	unsigned int jobs;	/* at once */
	size_t only;		/* this one alone; JOB_NONE: all */
	int progress;		/* enum cli_when */
};

struct tally {
	size_t done, made, failed, waiting;
	int signal;		/* that ended it; 0: none */
};

/*
 * Make what is not done.  Complains about what failed; returns an exit status, which is CLI_DONE
 * also where jobs failed or a signal came: that is in the tally.
 */
int runner_run(struct jobs *jobs, const struct store *store, const struct runner_options *options,
	       struct tally *tally);

/* ---- what came of it ---- */

/* Of one memory. */
struct campaign_result {
	const char *policy;
	const char *reduction;	/* of the trace that was simulated, all of it; escaped */
	uint64_t size, references, faults, evictions, dirty_evictions;
	bool timed, has_ratio, exact;
	double mean_resident;	/* of a timed one, as is the next */
	uint64_t space_time;
	double miss_ratio;
	const char *addresses;	/* "virtual", "canonical"; "": an earlier version did not say */
};
/*
 * Those of a simulation that is done.  Stops when `each` returns another status than CLI_DONE, and
 * returns that.  Complains; returns an exit status.
 */
int results_read(const struct store *store, const struct job *job,
		 int (*each)(void *context, const struct job *job,
			     const struct campaign_result *result), void *context);
/*
 * Is what is done whole?  A result that is not becomes JOB_DAMAGED.  Complains; returns an exit
 * status, CLI_DAMAGED if there is such a one.
 */
int results_check(struct jobs *jobs, const struct store *store);
bool job_is_done(const struct job *job);

/* table.csv, table.json and times.csv of what is done.  Complains; returns an exit status. */
int table_write(const struct jobs *jobs, const struct store *store);
/* report.html */
int page_write(const struct jobs *jobs, const struct store *store, const char *title);

/* ---- Slurm ---- */

/*
 * Scripts for those of the jobs that are not done, in the directory; `submit`: they are submitted.
 * `options` are sbatch's.  Complains; returns an exit status.
 */
int slurm_write(const struct jobs *jobs, const struct store *store, const char *file,
		const char *options, bool submit);

#endif
