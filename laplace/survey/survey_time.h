/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A survey's axis of time.  A trace's length is not known before its end, so there is a fixed
 * number of bins, and they become twice as long whenever a time lies beyond the last one.  A
 * long bin is exactly two of those before, so what is counted by bin is folded without loss: it
 * is what one would have counted in bins of that length from the beginning.
 */
#ifndef LAPLACE_SURVEY_SURVEY_TIME_H
#define LAPLACE_SURVEY_SURVEY_TIME_H

#include <laplace/survey.h>

#define BIN_BITS 8
_Static_assert(1 << BIN_BITS == LPL_SURVEY_BINS, "bins");

#define NEVER UINT64_MAX	/* a time that is not known */

struct survey_time {
	struct lpl_survey_time result;	/* .length is the time now */
	uint64_t start;			/* the clock at the first record */
	unsigned int bin;		/* the one that is now filled ... */
	uint64_t bin_end;		/* ... and where it ends */
};

static inline unsigned int bin_of(const struct survey_time *time, uint64_t moment)
{
	return (unsigned int)(moment >> time->result.bin_shift);
}

static inline uint64_t clock_of(const struct survey_time *time, struct lpl_survey_clocks clocks)
{
	return time->result.clock == LPL_SURVEY_CYCLES ? clocks.cycle :
	       time->result.clock == LPL_SURVEY_INSTRUCTIONS ? clocks.instr : clocks.ref;
}

/* A reference's or an event's. */
#define CLOCKS_OF(record) \
	((struct lpl_survey_clocks){ .ref = (record)->ref, .instr = (record)->instr, .cycle = (record)->cycle })

/* How much later than the first record, from which time counts, one with these clocks comes. */
static inline uint64_t moment_of(struct survey_time *time, struct lpl_survey_clocks clocks)
{
	const uint64_t clock = clock_of(time, clocks);

	if (!time->result.begun) {
		time->result.begun = true;
		time->result.first = clocks;
		time->start = clock;
	}
	time->result.last = clocks;
	return clock > time->start ? clock - time->start : 0;
}

/* Is there a bin for it? */
static inline bool has_bin(const struct survey_time *time, uint64_t moment)
{
	return moment >> time->result.bin_shift < LPL_SURVEY_BINS;
}

#endif
