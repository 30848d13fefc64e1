/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Hardware caches by brute force, as docs/simulation.md defines them: each line has the time of its last
 * use, and whatever is asked for is looked for everywhere.
 */
#ifndef LAPLACE_TESTS_ORACLE_LINES_H
#define LAPLACE_TESTS_ORACLE_LINES_H

#include "oracle.h"

enum { ORACLE_LRU, ORACLE_PLRU, ORACLE_RANDOM };
enum { ORACLE_NEITHER, ORACLE_INCLUSIVE, ORACLE_EXCLUSIVE };
enum { ORACLE_FETCH, ORACLE_READ, ORACLE_WRITE, ORACLE_TYPES };
enum { ORACLE_L1, ORACLE_L1I, ORACLE_L1D, ORACLE_L2, ORACLE_L3, ORACLE_MEMORY, ORACLE_LEVELS };

struct oracle_line {
	bool there, dirty;
	uint64_t number, space;		/* address / size of a line */
	uint64_t used;			/* when it was used last */
};

struct oracle_level {
	uint32_t ways, line, sets;	/* no ways: it is not there */
	int replacement;
	bool through, around;
	uint64_t seed;			/* of random */
	/* results */
	uint64_t references[ORACLE_TYPES], misses[ORACLE_TYPES];
	uint64_t evictions, write_backs, written, invalidations;
	/* its own */
	struct oracle_line *lines;	/* [sets][ways] */
	bool *older;			/* [sets][ways]: of PLRU, by node: is its second half the older? */
};

struct oracle_cache {
	struct oracle_level level[ORACLE_LEVELS];
	int relation;
	uint64_t now;
};

/* The levels' shapes and the relation are set.  Counts what the stream does. */
void oracle_cache_run(struct oracle_cache *cache, const struct stream *in);
/* The same, one reference after the other. */
void oracle_cache_begin(struct oracle_cache *cache);
void oracle_cache_access(struct oracle_cache *cache, const struct lpl_ref *ref);
void oracle_cache_end(struct oracle_cache *cache);

#endif
