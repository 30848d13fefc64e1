/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracles for replacement policies, reference by reference, as docs/simulation.md defines
 * them: rows of pages that are searched and moved about.  Nothing is shared with the library.
 */
#ifndef LAPLACE_TESTS_ORACLE_SIM_H
#define LAPLACE_TESTS_ORACLE_SIM_H

#include "oracle.h"

struct counts oracle_clock(const struct trace *trace, uint64_t size);
/* fifo 0: half of the memory, rounded up. */
struct counts oracle_segq(const struct trace *trace, uint64_t size, uint64_t fifo);

struct fbr_options {
	uint64_t new_percent, old_percent, cmax, amax;
};
struct counts oracle_fbr(const struct trace *trace, uint64_t size,
			 const struct fbr_options *options);

/* Percentages of the size. */
struct counts oracle_glru(const struct trace *trace, uint64_t size, uint64_t early,
			  uint64_t late);

struct eelru_options {
	uint64_t early, points, weight;
};
struct counts oracle_eelru(const struct trace *trace, uint64_t size,
			   const struct eelru_options *options);

struct seq_options {
	uint64_t length, distance, faults;
};
struct counts oracle_seq(const struct trace *trace, uint64_t size,	/* oracle_seq.c */
			 const struct seq_options *options);

/* At each reference time from the first to the last. */
struct timed {
	struct counts counts;
	uint64_t space_time;
	double mean_resident;
};
/* `time` is by reference of the trace. */
struct timed oracle_ws(const struct trace *trace, const uint64_t *time, uint64_t tau);
struct timed oracle_vmin(const struct trace *trace, const uint64_t *time, uint64_t tau);
/* The times of a stream's references, to be freed. */
uint64_t *times_of(const struct stream *in);

#endif
