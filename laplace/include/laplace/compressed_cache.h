/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compressed caching: a sink that simulates memories of two levels on a trace with page images.
 *
 * The first level has A pages as they are, replaced by LRU.  What it evicts is compressed, and kept in a
 * pool of B bytes; what the pool has no room for, the oldest first, goes to a backing store.  A page that
 * is referenced again is decompressed if it is in the pool, which it leaves, and fetched from the store
 * otherwise.  docs/simulation.md has the rules.
 *
 *	lpl_compressed_cache_open(&cache, &(struct lpl_compressed_options){ .images = 1024,
 *				  .reduction = "window:64" }, &report);
 *	lpl_compressed_cache_add(cache, "zstd:1", 1024, 4 << 20, &report);
 *	lpl_reader_run(reader, lpl_compressed_cache_sink(cache), &report);
 *	result = lpl_compressed_cache_result(cache, 0);
 *
 * Any number of memories in one pass.  Memory: some 50 bytes a page, 24 for each of its different
 * contents, and 14 a page for each memory.
 */
#ifndef LAPLACE_COMPRESSED_CACHE_H
#define LAPLACE_COMPRESSED_CACHE_H

#include <laplace/error.h>
#include <laplace/record.h>
#include <laplace/simulator.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct lpl_compressed_options {
	uint64_t images;	/* K: the trace has what a memory of so many pages evicts (lpl_images_of()) */
	const char *reduction;	/* its LPL_META_REDUCTION; NULL: "none" */
	/*
	 * Which part of its references comes.  All images come, of other pages, too.  Results for a part are not
	 * exact: a page is evicted when none of the chosen references has been to it for long, and what it held
	 * then is what its last image shows, unless one of the others has written it since.
	 */
	enum lpl_trace_part part;
	/*
	 * A page that is compressed to so many bytes or more enters the pool as it is, with LPL_IMAGE_BYTES, as
	 * Linux' zram does; 0: it is compressed however little that saves, and goes to the store if nothing.
	 */
	uint32_t huge;
};

/* A page's share of time, between two of which so many references lie. */
struct lpl_compressed_sample {
	uint64_t ref;			/* the number of the last reference in it */
	uint64_t faults, pool_hits;
	uint64_t evicted, bytes;	/* stored images evicted, and their bytes when compressed */
};

enum { LPL_COMPRESSED_SAMPLES = 256 };	/* at most; at least half of it in a long trace */

struct lpl_compressed_result {
	const char *codec;		/* as it was added */
	uint64_t pages, pool;		/* A; B in bytes */
	uint64_t references, faults;	/* of the first level, as of any LRU memory */
	uint64_t evictions, dirty_evictions;
	/* where what faults is from; first references come from nowhere */
	uint64_t cold_faults, pool_hits, store_faults;
	/* what was evicted: pages of one word, which take nothing; others that were compressed; those that
	 * did not get smaller, or are larger than the pool; and pages of which there is no image */
	uint64_t filled, compressed, rejected, unknown;
	uint64_t pool_evictions;	/* to the store, for want of room */
	uint64_t bytes_compressed;	/* by the codec: what went in ... */
	uint64_t bytes_packed;		/* ... and after it was packed; a huge page's are all of it */
	uint64_t bytes_decompressed;	/* that were read from the pool; none of huge pages */
	uint64_t bytes_written, bytes_read;	/* to and from the store */
	uint64_t pool_most;		/* bytes in the pool at once */
	uint64_t huge;			/* of `compressed`: as they are, in LPL_IMAGE_BYTES */
	/* at the end: pages of one word outside the first level; those in the pool, those of them that are
	 * huge, and their bytes */
	uint64_t end_filled, end_compressed, end_huge, end_bytes;
	bool exact;			/* A is the images' K, and the trace exact for LRU from there on */
	const struct lpl_compressed_sample *sample;
	size_t samples;
};

struct lpl_compressed_cache;

/* LPL_ERR_MEMORY. */
enum lpl_error lpl_compressed_cache_open(struct lpl_compressed_cache **cache,
					 const struct lpl_compressed_options *options,
					 struct lpl_report *report);
/*
 * A memory, with one of the codecs `zstd`, `zstd:LEVEL` (1 to 19, or -1 to -7), `lz4`, `lzo`.  Before the
 * sink is used.  LPL_ERR_USAGE: no such codec, or fewer pages than the images' memory has, as it evicts
 * pages of which there is no image yet; LPL_ERR_UNSUPPORTED: one that the library was built without;
 * LPL_ERR_MEMORY.
 */
enum lpl_error lpl_compressed_cache_add(struct lpl_compressed_cache *cache, const char *codec,
					uint64_t pages, uint64_t pool, struct lpl_report *report);
/* Owned by the cache.  LPL_ERR_MEMORY; LPL_ERR_UNSUPPORTED (2^32 - 2 pages). */
struct lpl_sink *lpl_compressed_cache_sink(struct lpl_compressed_cache *cache);
/* In the order in which they were added; after finish(). */
size_t lpl_compressed_cache_count(const struct lpl_compressed_cache *cache);
const struct lpl_compressed_result *
lpl_compressed_cache_result(const struct lpl_compressed_cache *cache, size_t index);
/* At any time.  NULL is fine. */
void lpl_compressed_cache_close(struct lpl_compressed_cache *cache);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
