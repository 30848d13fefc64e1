/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the subcommands share: exit statuses, common options, progress, files
 * that appear only when they are whole, and the loop that reads a trace.
 */
#ifndef LAPLACE_CLI_COMMON_H
#define LAPLACE_CLI_COMMON_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include <laplace/error.h>
#include <laplace/record.h>
#include <laplace/trace.h>

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "0.1"
#endif

enum cli_status {
	CLI_DONE = 0,
	CLI_FAILED = 1,
	CLI_USAGE = 2,
	CLI_DAMAGED = 3
};

/* ---- the subcommands; argv[0] is "laplace NAME" ---- */

int cmd_cat(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_import(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_plot(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_reduce(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_sim(int argc, char **argv);
int cmd_study(int argc, char **argv);
int cmd_verify(int argc, char **argv);

/* ---- telling ---- */

/* One line on stderr, after the subcommand's name.  Returns `status`. */
int cli_complain(int status, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Print an error of the library, once, and return its exit status.  A reader
 * that closed our output is no error: nothing is said and CLI_DONE returned.
 */
int cli_report(const struct lpl_report *report);

/* "1.34 G" in buf, which is returned. */
#define CLI_HUMAN_SIZE 16
char *cli_human(char buf[CLI_HUMAN_SIZE], uint64_t number);

/* "3:07" or "1:02:33". */
char *cli_duration(char buf[CLI_HUMAN_SIZE], uint64_t seconds);

/*
 * "12.3%" in buf, which is returned: so many significant digits, no exponent; "over 99.9%",
 * "under 0.0001%" of what would look like all, or nothing, and is not.
 */
#define CLI_PERCENT_SIZE 32
char *cli_percent(char buf[CLI_PERCENT_SIZE], int digits, uint64_t part, uint64_t whole);

uint64_t cli_now_ns(void);	/* monotonic */

/* Print and free; NULL (no memory) is told.  Returns an exit status. */
int cli_print_json(FILE *out, json_t *json);

/* ---- options ---- */

enum cli_when { CLI_AUTO, CLI_ALWAYS, CLI_NEVER };

/* --json; input: bool * */
extern const struct argp cli_json_argp;
/* --progress=auto|always|never; input: enum cli_when * */
extern const struct argp cli_progress_argp;
/* --overwrite; input: bool * */
extern const struct argp cli_overwrite_argp;

/* --jobs=N; input: unsigned int *, 0: one for each processor */
extern const struct argp cli_jobs_argp;
/* How many that is. */
unsigned int cli_jobs(unsigned int asked);

/* A decimal number from `least` on, or a usage error that ends the program. */
uint64_t cli_number(struct argp_state *state, const char *option,
		    const char *text, uint64_t least);

/* A hexadecimal address that is not 0, likewise. */
uint64_t cli_address(struct argp_state *state, const char *option, const char *text);

/* ---- progress ---- */

struct cli_progress {
	bool on, terminal;
	uint64_t start_ns, last_ns;
	int width;		/* of the line now standing */
};

void cli_progress_start(struct cli_progress *progress, enum cli_when when);
/* Is a line due?  (Never when progress is off.) */
bool cli_progress_due(struct cli_progress *progress);
void cli_progress_line(struct cli_progress *progress, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Remove the line from a terminal. */
void cli_progress_clear(struct cli_progress *progress);

/* ---- text files that appear when they are whole ---- */

struct cli_output {
	FILE *file;
	char *path, *part;	/* NULL: stdout */
};

/* "-" is stdout.  Returns an exit status; on failure nothing is to be undone. */
int cli_output_open(struct cli_output *output, const char *path, bool overwrite);
/* Flush, check, rename; or, when `status` is a failure, remove.  Returns the status. */
int cli_output_close(struct cli_output *output, int status);

/* ---- what may be replaced (replace.c) ---- */

/* Does `path` exist (and may not be replaced)?  Complains.  Returns a status. */
int cli_refuse_existing(const char *path, bool overwrite);
/*
 * Is `input` what is written as `output`, by whatever name, or its ".part", or in a
 * directory of that name?  To be asked of every input before anything is opened for
 * writing.  "-" is standard output, or input.  Complains.  Returns a status.
 */
int cli_refuse_input(const char *output, const char *input);

/* ---- reading ---- */

/*
 * Open a trace, to be decoded on all processors; "-" is stdin, but not a terminal.
 * Returns an exit status.
 */
int cli_reader_open(struct lpl_reader **reader, const char *path);

/* Can canonical pages be had of the trace at all?  Complains.  Returns an exit status. */
int cli_check_mergeable(const struct lpl_meta *meta, const char *path);

/* References before reduction; 0: the trace does not tell. */
uint64_t cli_refs_before(const struct lpl_totals *totals);

/* Where records are missing. */
struct cli_gaps {
	uint64_t count;
	uint64_t refs, events;		/* missing there */
	bool more;			/* and nobody knows how many others */
};

/* "2 places (at least 30 references and 1 events)" in buf, which is returned. */
#define CLI_GAPS_SIZE 128
char *cli_gaps_text(char buf[CLI_GAPS_SIZE], const struct cli_gaps *gaps);

/* A trace on its way from a reader to a sink. */
struct cli_pass {
	struct lpl_reader *reader;
	const char *path;		/* for messages */
	struct lpl_sink *sink;
	struct cli_progress *progress;
	const char *label;		/* begins a line of progress; may be NULL */
	/* called with each block that was read, before it is sent; may be NULL */
	void (*before_block)(struct cli_pass *pass, void *context);
	void *context;
	/*
	 * Where to leave why a trace could not be read to its end, instead of
	 * complaining; a missing index counts as LPL_ERR_TRUNCATED.  May be NULL.
	 */
	struct lpl_report *trouble;
	/*
	 * The result shall hold all that can be read: after damage the reading goes on,
	 * and where anything is missing, at the end too, the sink gets an LPL_EVENT_GAP.
	 */
	bool goes_on;
	bool resumed;			/* just now, so that the event is of a gap found */
	/* what came by */
	uint64_t refs, events, chunks;
	uint64_t damaged;		/* with goes_on: how often */
	struct cli_gaps told;		/* LPL_EVENT_GAP in the trace itself */
	struct cli_gaps found;		/* with goes_on: where it could not be read */
};

/*
 * Send everything that can be read, then finish().  Where the trace is damaged
 * or ends early, what came before it (and, with goes_on, after) has gone to the sink and
 * finish() was called: the complaint has been printed and the status is CLI_DAMAGED.
 * A trace that tells that it was made from such a one is warned of, unless `trouble` is
 * wanted.
 */
int cli_pass_run(struct cli_pass *pass);

#endif
