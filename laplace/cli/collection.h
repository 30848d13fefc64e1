/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A collection that runs elsewhere, as its status lines describe it (docs/watching.md), and that
 * as people read it.
 */
#ifndef LAPLACE_CLI_COLLECTION_H
#define LAPLACE_CLI_COLLECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#define CLI_STATUS_VERSION 1

/* So much a second; the share of the time for which the machine waited. */
struct cli_rates {
	uint64_t instructions, references, bytes;
	double waiting;
};

/* What the last line said, its texts fit to be printed.  A number that it does not have is 0. */
struct cli_collection {
	uint64_t updates;	/* how many lines have been read */
	json_int_t version;	/* of the line; 0: it does not say */
	bool closing, ended;
	char end[16];		/* clean, fail, quit, error; "" before the end */
	char message[512];
	char trace[256];	/* its path's end */
	char time[32];		/* when it was written, by the clock, in UTC; "": not known */
	uint64_t period_ns;	/* how often one is written, as far as the receiver knows; or 0 */
	bool stopped;		/* tracing is off */
	bool waiting_for_room;
	uint64_t instructions, references, kept, events, bytes;
	uint64_t wait_ns, elapsed_ns;
	uint64_t segment, memory;
	struct cli_rates rates, mean;
	bool has_disk, has_mark, has_checkpoint;
	uint64_t disk_free, disk_seconds;	/* 0 s: not known */
	char mark[96];
	uint64_t mark_instr, checkpoint_instr, checkpoint_ns;
	uint64_t checkpoints_failed;
};

/* Take a line.  false: it is no status, and nothing has changed. */
bool cli_collection_take(struct cli_collection *collection, const char *line);
/* The same, of a JSON value. */
bool cli_collection_take_json(struct cli_collection *collection, const json_t *object);

/*
 * All that matters in one line of at most `columns` characters, without a newline: what matters
 * least is left out for want of room.  `expected`: how many instructions it will have; 0: not
 * known.  Returns `text`.
 */
#define CLI_COLLECTION_LINE 512
char *cli_collection_line(char text[CLI_COLLECTION_LINE], const struct cli_collection *collection,
			  uint64_t expected, int columns);

/* The same in some lines, each ended by `newline`; `columns`: they are no wider. */
void cli_collection_panel(FILE *out, const struct cli_collection *collection, int columns,
			  const char *newline);

/* How it ended, and what it was in all: a line. */
void cli_collection_end(FILE *out, const struct cli_collection *collection);

/* Since it was written, in seconds; 0: not known. */
uint64_t cli_collection_age(const struct cli_collection *collection);

/*
 * It did not end, and yet there were no news for more than three times as long as there are
 * between two lines, and half a minute at least: it was killed, most likely.
 */
bool cli_collection_is_silent(const struct cli_collection *collection);

#endif
