/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading: a trace on its way from a reader to a sink, with progress, and with what is to be
 * said where it is damaged or incomplete.
 */
#ifndef LAPLACE_CLI_PASS_H
#define LAPLACE_CLI_PASS_H

#include <stdbool.h>
#include <stdint.h>

#include <laplace/error.h>
#include <laplace/record.h>
#include <laplace/select.h>
#include <laplace/trace.h>

#include "addresses.h"
#include "progress.h"
#include "trace_kind.h"

/*
 * Open a trace, to be decoded on all processors; "-" is stdin, but not a terminal.  A pipe is
 * read to its end even after a SIGINT.  Returns an exit status.
 */
int cli_reader_open(struct lpl_reader **reader, const char *path);

/* References before reduction; 0: the trace does not say. */
uint64_t cli_refs_before(const struct lpl_totals *totals);

/* Where records are missing. */
struct cli_gaps {
	uint64_t count;
	uint64_t refs, events;		/* missing there */
	bool more;			/* and it is not known how many others */
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
	/* which references the sink gets; NULL, or one that chooses nothing: all */
	const struct lpl_choice_options *choice;
	const struct cli_addressing *addressing;	/* on which pages; NULL: its own */
	/* those of a trace that was not reduced are numbered from 1 on, as if there were no others */
	bool renumbers;
	bool without_events;		/* the sink does not look at them */
	bool counts_frames;		/* it says itself of how many references the frame is not known */
	/* called with each block that was read, before it is sent; may be NULL */
	void (*before_block)(struct cli_pass *pass, void *context);
	/* stands before the choice, or whatever else is first, and sends to `next`; may be NULL */
	struct lpl_sink *(*front)(struct cli_pass *pass, struct lpl_sink *next);
	void *context;
	/*
	 * Takes `count` references by the first two and the last of them (lpl_reader_fold()), instead
	 * of the sink, where there is no choice.  NULL: the sink gets them all.
	 */
	enum lpl_error (*folded)(struct lpl_sink *sink, const struct lpl_ref refs[3],
				 uint64_t count, struct lpl_report *report);
	/*
	 * Takes steps (lpl_reader_step()) instead of the sink's taking references, where nothing is
	 * chosen.  NULL: the sink gets them all.
	 */
	enum lpl_error (*step)(struct cli_pass *pass, const struct lpl_page_steps *steps,
			       struct lpl_report *report);
	/*
	 * Where to leave why a trace could not be read to its end, instead of
	 * complaining; a missing index counts as LPL_ERR_TRUNCATED.  May be NULL.
	 */
	struct lpl_report *trouble;
	bool unfinished;		/* afterwards: a sink has failed, so the result is not whole */
	/*
	 * The result shall hold all that can be read: after damage the reading goes on,
	 * and where anything is missing, at the end too, the sink gets an LPL_EVENT_GAP.
	 */
	bool past_damage;
	bool resumed;			/* just now, so that the event is of a gap found */
	struct lpl_choice *chooser;	/* while it runs, if it is between reader and sink */
	bool counts_chosen;		/* so that this is what there was before reduction: */
	uint64_t chosen;		/* references that the sink got, at the end */
	struct cli_trace_kind kind;	/* of what is read, when it runs */
	/* what has been read: */
	uint64_t refs, events, chunks;
	uint64_t packed;		/* bytes of the chunks' payloads before compression */
	uint64_t damaged;		/* with past_damage: how often */
	struct cli_gaps recorded_gaps;		/* LPL_EVENT_GAP in the trace itself */
	struct cli_gaps found_gaps;		/* with past_damage: where it could not be read */
};

/*
 * Send everything that can be read, then finish().  Where the trace is damaged
 * or ends early, what precedes that (and, with past_damage, follows it) was sent to the sink and
 * finish() was called: the complaint has been printed and the status is CLI_DAMAGED.
 * A trace that says that it was made from such a one is warned of, unless `trouble` is
 * wanted.  If no task is one of those of `choice`, that is reported, and CLI_FAILED; the sink was
 * not finished.
 */
int cli_pass_run(struct cli_pass *pass);

/*
 * What the trace says of what there was before reduction; or of what is chosen of it: then the
 * number alone, and only if it was not reduced.  False: not even that is known, and it is 0.
 */
bool cli_pass_totals(const struct cli_pass *pass, struct lpl_totals *totals);

#endif
