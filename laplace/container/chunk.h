/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The chunk header, and the limits every reader checks (docs/format.md, section 2). */
#ifndef LAPLACE_CONTAINER_CHUNK_H
#define LAPLACE_CONTAINER_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LPL_CHUNK_MAGIC_BYTES	8
#define LPL_CHUNK_HEADER_BYTES	144
#define LPL_FORMAT_VERSION	1
#define LPL_INDEX_VERSION	2	/* of an index with accounts */
/* A header's: the format's, and so many more where ... */
#define LPL_SEGMENT_VERSION	1	/* ... the file is a segment that follows another */
#define LPL_WALKS_VERSION	2	/* ... references of walks have LPL_WALK_FLAGS */
#define LPL_HEADER_VERSION_MAX	(LPL_FORMAT_VERSION + LPL_SEGMENT_VERSION + LPL_WALKS_VERSION)

#define LPL_PLAIN_MAX		((size_t)64 << 20)
#define LPL_PLAIN_META_MAX	((size_t)1 << 20)
#define LPL_STORED_MAX		((size_t)65 << 20)
#define LPL_CHUNK_REFS_MAX	((size_t)1 << 20)
#define LPL_BLOCK_CHUNK_REFS_MAX	((size_t)1 << 22)
#define LPL_CHUNK_EVENTS_MAX	((size_t)1 << 16)
#define LPL_INDEX_ENTRIES_MAX	((size_t)1 << 16)
#define LPL_META_PAIRS_MAX	((size_t)1024)

#define LPL_LENGTH_MAX		4096	/* of a reference: none crosses a page */

enum lpl_chunk_kind {
	LPL_CHUNK_HEADER = 1,
	LPL_CHUNK_DATA = 2,
	LPL_CHUNK_INDEX = 3,
	LPL_CHUNK_RUNS = 4,
	LPL_CHUNK_STATE = 5
};

static inline bool lpl_chunk_has_records(uint16_t kind)
{
	return kind == LPL_CHUNK_DATA || kind == LPL_CHUNK_RUNS || kind == LPL_CHUNK_STATE;
}

struct lpl_clocks {
	uint64_t ref, instr, cycle;
};

static inline bool lpl_clocks_equal(const struct lpl_clocks *a, const struct lpl_clocks *b)
{
	return a->ref == b->ref && a->instr == b->instr && a->cycle == b->cycle;
}

/* Does none of the three run backwards from the first to the second? */
static inline bool lpl_clocks_ordered(const struct lpl_clocks *first,
				      const struct lpl_clocks *second)
{
	return first->ref <= second->ref && first->instr <= second->instr &&
	       first->cycle <= second->cycle;
}

struct lpl_chunk_header {
	uint16_t version, kind;
	uint32_t sequence;
	uint32_t stored, plain;		/* bytes of the payload */
	uint32_t refs, events;		/* in it */
	struct lpl_clocks base, first, last;
	uint64_t refs_so_far, events_so_far;
	uint64_t refs_before;		/* reduction */
	uint64_t payload_checksum;
	uint64_t checksum;
};

/* Its events that are of the stream, and counted there: those of a state are not. */
static inline uint32_t lpl_chunk_counted_events(const struct lpl_chunk_header *header)
{
	return header->kind == LPL_CHUNK_STATE ? 0 : header->events;
}

/* Records of the stream before its own. */
static inline uint64_t lpl_chunk_base_refs(const struct lpl_chunk_header *header)
{
	return header->refs_so_far - header->refs;
}

static inline uint64_t lpl_chunk_base_events(const struct lpl_chunk_header *header)
{
	return header->events_so_far - lpl_chunk_counted_events(header);
}

extern const uint8_t lpl_chunk_magic[LPL_CHUNK_MAGIC_BYTES];

/* Do we know chunks of this version and kind? */
static inline bool lpl_chunk_version_known(const struct lpl_chunk_header *header)
{
	const unsigned int latest = header->kind == LPL_CHUNK_HEADER ? LPL_HEADER_VERSION_MAX :
				    header->kind == LPL_CHUNK_INDEX ? LPL_INDEX_VERSION :
				    LPL_FORMAT_VERSION;

	return header->version >= LPL_FORMAT_VERSION && header->version <= latest;
}

/* Of a HEADER: does it begin a segment that follows another? */
static inline bool lpl_chunk_goes_on(const struct lpl_chunk_header *header)
{
	return (header->version - LPL_FORMAT_VERSION) & LPL_SEGMENT_VERSION;
}

uint64_t lpl_checksum(const void *bytes, size_t size);

/* Write the header, its own checksum included (which is set in `header`, too). */
void lpl_chunk_encode(struct lpl_chunk_header *header, uint8_t *out);
/* Read it; returns the checksum found, to be compared with header->checksum. */
uint64_t lpl_chunk_decode(struct lpl_chunk_header *header, const uint8_t *in);

#endif
