/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The study: the experiments of section 7 of "Flexible Reference Trace Reduction
 * for VM Simulations" (Kaplan, Smaragdakis, Wilson) on any traces.
 *
 *	computes   study_read: one reading of a trace: the original, blocked
 *	           study_reduce: tables 1 and 2, figure 2, the choice of K
 *	           study_measure: how large a reduced trace is, for table 2
 *	           study_simulate: figures 3 and 4
 *	           study_errors: figures 5 and 6, over all traces
 *	prints     study_csv, study_text, study_json
 *	asks       study: what is wanted, of which traces, in which order
 *
 * What is computed goes into the struct study_trace of its trace, and from those into what is
 * printed; nothing flows back.
 */
#ifndef LAPLACE_CLI_STUDY_STUDY_H
#define LAPLACE_CLI_STUDY_STUDY_H

#include <stdbool.h>
#include <stdint.h>

#include <laplace/record.h>

#include "cli/addresses.h"
#include "cli/options.h"
#include "cli/say.h"

enum study_method { STUDY_SAD, STUDY_OLR, STUDY_SD, STUDY_METHODS };
enum study_policy { STUDY_CLOCK, STUDY_SEGQ, STUDY_POLICIES };

/* As SPECs and policies have them: "sad", "clock" ... */
extern const char *const study_method_name[STUDY_METHODS];
extern const char *const study_policy_name[STUDY_POLICIES];

/* Figure 2: the references that are left at one reduction memory. */
struct study_point {
	uint64_t k;
	uint64_t kept[STUDY_METHODS];
};

/* Table 2: a reduced trace as a text, as that text compressed, as a trace. */
struct study_size {
	uint64_t k;
	enum study_method method;
	uint64_t references, text_bytes, zstd_bytes, lpl_bytes;
};

/* The K that makes a trace about so much smaller as was asked for. */
struct study_choice {
	uint64_t k, kept;
	bool reached;		/* else it is the nearest there is */
};

/* Figures 3 and 4: faults of one memory, on the original and on what was reduced. */
struct study_row {
	uint64_t size, faults;
	uint64_t reduced[STUDY_METHODS];
};

#define STUDY_MOST_JOBS 1024
#define STUDY_TABLE_KS 2
extern const uint64_t study_table_k[STUDY_TABLE_KS];	/* those of the paper: 5, 20 */

/* What is known of one trace. */
struct study_trace {
	const char *path;
	char *name;			/* in tables */
	struct cli_addressing addressing;	/* on which pages */
	bool damaged;			/* what can be read of it is studied */
	bool gaps;			/* it tells of records missing in it */
	uint64_t events;		/* references of the original */
	uint64_t pages;
	uint64_t *lru;			/* [K]: faults of an LRU memory, 1 <= K <= lru_last; */
	uint64_t lru_last;		/* ... beyond it is one a page */
	struct study_point *point;	/* by rising K */
	size_t points;
	struct study_size size[2 * STUDY_TABLE_KS];
	struct study_choice choice[STUDY_METHODS];
	uint64_t fifo;			/* SEGQ's first segment */
	struct study_row *row[STUDY_POLICIES];	/* by rising size */
	size_t rows[STUDY_POLICIES];
};

struct study {
	uint64_t factor;		/* of the reduced traces in figures 3 to 6 */
	unsigned int sizes;		/* of memory, in figures 3 and 4 */
	unsigned int jobs;
	enum cli_addresses addresses;	/* that are wanted */
	enum cli_when progress;
	struct study_trace *trace;
	size_t traces;
};

/* Figures 5 and 6: errors where a memory is so many times the reduction memory. */
struct study_bin {
	size_t samples;
	double median, maximum;		/* percent */
};
#define STUDY_RATIOS 30
#define STUDY_SAFE_ERROR 2.0		/* percent; the paper's measure */
struct study_errors {
	struct study_bin bin[STUDY_POLICIES][STUDY_METHODS][STUDY_RATIOS + 1];
	/* from this ratio on no error is above STUDY_SAFE_ERROR; 0: there is none */
	unsigned int safe[STUDY_POLICIES][STUDY_METHODS];
	/* errors there are, and those not above it */
	size_t samples[STUDY_POLICIES][STUDY_METHODS];
	size_t within[STUDY_POLICIES][STUDY_METHODS];
};

/* ---- computing: exit statuses, and what went wrong was told ---- */

/*
 * Read the trace once and send the original, with no events, to every sink, on
 * study->jobs threads; each sink is called by one thread at a time, and `finish`
 * ends it.  `what` is said in the line of progress.  With `sad2` they get less,
 * from which LRU, SAD and OLR with two pages and more make the same as from all.
 * CLI_DONE, or an exit status; where the trace is damaged the sinks had what comes
 * before, and all is done.
 */
int study_read(const struct study *study, struct study_trace *trace, const char *what,
	       bool sad2, struct lpl_sink *const *to, size_t count);

/* Fill events ... choice. */
int study_reduce(const struct study *study, struct study_trace *trace);
uint64_t study_kept_by_sd(const struct study_trace *trace, uint64_t k);

/*
 * Where a reduced trace ends whose size is to be known, and nothing else: counts
 * references, and with `bytes` also those.
 */
struct study_measure;
int study_measure_open(struct study_measure **measure, bool bytes);
struct lpl_sink *study_measure_sink(struct study_measure *measure);
/* After finish(). */
void study_measure_read(const struct study_measure *measure, struct study_size *size);
void study_measure_close(struct study_measure *measure);	/* NULL is fine */

/* Fill fifo and row, after study_reduce(). */
int study_simulate(const struct study *study, struct study_trace *trace);

/* Percent. */
double study_error(const struct study_row *row, enum study_method method);
/* Of all traces.  false: no memory. */
bool study_sum_up(const struct study *study, struct study_errors *errors);

/* How many times smaller. */
static inline double study_factor(uint64_t before, uint64_t after)
{
	return after ? (double)before / (double)after : 0;
}

/* ---- printing ---- */

/* The CSV files of a directory; where there is none, NULL, which is fine. */
struct study_csv;
/* Make `directory`, open its files.  Returns an exit status. */
int study_csv_open(struct study_csv **csv, const char *directory, bool overwrite);
/* Would one of the files replace a trace that is read?  Complains; returns an exit status. */
int study_csv_refuse(const char *directory, const char *input);
void study_csv_trace(struct study_csv *csv, const struct study_trace *trace);
void study_csv_errors(struct study_csv *csv, const struct study_errors *errors);
/* Give the files their names, or, when `status` is a failure, remove them. */
int study_csv_close(struct study_csv *csv, int status);

void study_print_text(const struct study *study, const struct study_errors *errors);
/* Returns an exit status. */
int study_print_json(const struct study *study, const struct study_errors *errors);

#endif
