/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is said to a person: complaints, and numbers as people read them.
 */
#ifndef LAPLACE_CLI_SAY_H
#define LAPLACE_CLI_SAY_H

#include <stdint.h>
#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

#include <laplace/counts.h>
#include <laplace/error.h>
#include <laplace/trace.h>

enum cli_status {
	CLI_DONE = 0,
	CLI_FAILED = 1,
	CLI_USAGE = 2,
	CLI_DAMAGED = 3
};

/*
 * One line.  What a terminal would obey, and what is not UTF-8, is shown as \xHH: names of files
 * are anybody's, and so is what stands in them.
 */
void cli_say(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A text so shown. */
void cli_put_shown(FILE *out, const char *text);

/* The bytes of the character at `text` that can be shown as it is, in UTF-8; 0: it cannot. */
size_t cli_shown_bytes(const char *text);

/* Such a line on stderr, after the subcommand's name.  Returns `status`. */
int cli_complain(int status, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Is standard output a pipe that is not read any more? */
bool cli_reader_has_ended(void);
/* What was printed must have arrived: a full disk is reported, and ends the program with status `failed`. */
void cli_end_stdout(int failed);

/*
 * Print an error of the library, once, and return its exit status.  A reader
 * that closed our output is no error: nothing is said and CLI_DONE returned.
 */
int cli_report(const struct lpl_report *report);

/* "1.34 G" in buf, which is returned. */
#define CLI_HUMAN_SIZE 16
char *cli_human(char buf[CLI_HUMAN_SIZE], uint64_t number);

/* "3:07", "1:02:33", from 100 hours on "4 d 4 h". */
char *cli_duration(char buf[CLI_HUMAN_SIZE], uint64_t seconds);

/*
 * "12.3%" in buf, which is returned: so many significant digits, no exponent; "over 99.9%",
 * "under 0.0001%" of what would look like all, or nothing, and is not.
 */
#define CLI_PERCENT_SIZE 32
char *cli_percent(char buf[CLI_PERCENT_SIZE], int digits, uint64_t part, uint64_t whole);

/* By lpl_text_escape(), of any length; to be freed.  NULL: no memory. */
char *cli_escaped(const char *text);

/* A string, of any length; what is not UTF-8 is escaped by lpl_text_escape().  NULL: no memory. */
json_t *cli_json_text(const char *text);
/* The same, but always escaped: ASCII. */
json_t *cli_json_escaped(const char *text);

json_t *cli_json(uint64_t number);
/* What a trace's header says; how many events there are of each kind. */
json_t *cli_json_meta(const struct lpl_meta *meta);
json_t *cli_json_events(const struct lpl_event_counts *counts);

/* Print and free; NULL (no memory) is reported.  Returns an exit status. */
int cli_print_json(FILE *out, json_t *json);

#endif
