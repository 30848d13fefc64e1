/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Hardware caches: a sink that counts the hits and misses of one to three levels of set-associative
 * caches.  docs/simulation.md defines what they do, step by step.
 *
 *	lpl_cache_open(&cache, "l1i=32K/8/64:l1d=32K/8/64:l2=1M/16/64", NULL, &report);
 *	lpl_reader_run(reader, lpl_cache_sink(cache), &report);
 *	for (size_t i = 0; i < lpl_cache_levels(cache); i++)
 *		print(lpl_cache_level(cache, i));
 *	lpl_cache_close(cache);
 *
 * Memory: 16 bytes for each line of the caches.
 */
#ifndef LAPLACE_CACHE_H
#define LAPLACE_CACHE_H

#include <laplace/error.h>
#include <laplace/record.h>
#include <laplace/simulator.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * Caches are written SPEC: levels, joined by colons, and after them perhaps `inclusive` or
 * `exclusive`.  A level is NAME=SIZE/WAYS/LINE, with options after further slashes:
 *
 *	l1=64K/8/64	or l1i=... and l1d=..., and l2 and l3 if they are there
 *	SIZE, LINE	bytes, with K, M or G for powers of 1024; lines of 16 to 4096 bytes, a power of two
 *	WAYS		1 to 65536, or `full`; SIZE is a power of two of sets of so many lines
 *	lru (if nothing is said), plru (up to 64 ways, a power of two), random=SEED
 *	back (if nothing is said), through; allocate (if nothing is said), around
 */
#define LPL_CACHE_SPEC_SIZE 256

enum lpl_cache_access {
	LPL_CACHE_FETCH,	/* of an instruction */
	LPL_CACHE_READ,		/* of data, or of a page table */
	LPL_CACHE_WRITE,
	LPL_CACHE_ACCESSES
};

/* What happened at a level; of memory, which comes last, references and `written` alone. */
struct lpl_cache_level {
	const char *name;	/* "l1", "l1i", "l1d", "l2", "l3" or "memory" */
	uint64_t size;		/* in bytes; 0: memory */
	uint32_t ways;
	uint32_t line;		/* in bytes */
	/* by type: of the first level each line that an access lies in, of others what missed above */
	uint64_t references[LPL_CACHE_ACCESSES];
	uint64_t misses[LPL_CACHE_ACCESSES];
	uint64_t evictions;	/* lines that made room for others */
	uint64_t write_backs;	/* dirty lines that left */
	uint64_t written;	/* dirty lines that come in from above */
	uint64_t invalidations;	/* lines that left as an inclusive level below had evicted theirs */
};

struct lpl_cache_options {
	/*
	 * LPL_META_REDUCTION of the trace; NULL counts as "none".  A reduced trace is refused unless
	 * what its misses and write-backs come to is exact.
	 */
	const char *reduction;
	enum lpl_trace_part part;	/* of the trace that comes */
};

struct lpl_cache;

/*
 * `options` may be NULL: all 0.  LPL_ERR_USAGE: SPEC is none, or a result would not be exact;
 * LPL_ERR_MEMORY.
 */
enum lpl_error lpl_cache_open(struct lpl_cache **cache, const char *spec,
			      const struct lpl_cache_options *options, struct lpl_report *report);
/*
 * Where to send the trace; owned by the cache.  Events are not looked at.  LPL_ERR_USAGE: a reference
 * is to a whole page, and lines are finer.
 */
struct lpl_sink *lpl_cache_sink(struct lpl_cache *cache);
/* Levels, the first ones first, and memory last; `index` below goes from 0 to this - 1. */
size_t lpl_cache_levels(const struct lpl_cache *cache);
/* At any time; owned by the cache. */
const struct lpl_cache_level *lpl_cache_level(const struct lpl_cache *cache, size_t index);
/*
 * Are references, and misses by type, those of the trace as it was?  Of a reduced one only the sum of
 * the misses is, with evictions and what is written back.
 */
bool lpl_cache_by_type(const struct lpl_cache *cache);
void lpl_cache_close(struct lpl_cache *cache);	/* NULL is fine */

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
