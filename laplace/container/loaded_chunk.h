/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A chunk on its way through the reader: read from the file in its turn, then checked,
 * decompressed and decoded by whichever thread is free (base/work_queue.h), and delivered in its
 * turn.  An error found in it is kept here until then.
 */
#ifndef LAPLACE_CONTAINER_LOADED_CHUNK_H
#define LAPLACE_CONTAINER_LOADED_CHUNK_H

#include <zstd.h>

#include <laplace/error.h>
#include <laplace/trace.h>

#include "base/output.h"
#include "codec/stream_hash.h"
#include "chunk.h"
#include "data.h"
#include "block_data.h"

struct lpl_loaded_chunk {
	char name[LPL_NAME_SIZE];	/* of the file */
	uint64_t segment;		/* its file; 0: the trace is one file */
	uint64_t before;		/* bytes of the segments before */
	uint64_t offset, end;		/* of the chunk, in the file */
	struct lpl_chunk_header header;
	enum lpl_need need;		/* how much of it, if it has records */
	bool may_step;			/* its blocks are decoded to steps, where they may be */
	bool trailed;			/* bytes follow it, where none may */
	bool final;			/* an INDEX, and nothing of the trace follows it */
	uint8_t *stored, *plain;	/* the payload, as stored and decompressed; owned */
	size_t stored_room, plain_room;
	ZSTD_DCtx *zstd;		/* owned */
	struct lpl_data data;		/* what a DATA chunk holds; of a RUNS chunk without ... */
	struct lpl_unpacked_blocks blocks;	/* ... the references */
	struct lpl_report failure;	/* the first; what is above may not be there then */
};

/* Starts as zeros; false: no memory. */
bool lpl_loaded_chunk_init(struct lpl_loaded_chunk *chunk);
void lpl_loaded_chunk_free(struct lpl_loaded_chunk *chunk);
/* Room for the payloads that the header announces; false: no memory. */
bool lpl_loaded_chunk_reserve(struct lpl_loaded_chunk *chunk);

/* What its header says, as the public headers have it. */
struct lpl_chunk lpl_loaded_chunk_facts(const struct lpl_loaded_chunk *chunk);

/* From the payload as stored to records, unless something is wrong, or it is not needed. */
void lpl_loaded_chunk_decode(struct lpl_loaded_chunk *chunk);

/* Of references that are packed as blocks, or steady, so many are expanded together. */
#define LPL_EXPANDED_REFS	(4 * LPL_BLOCK_REFS_MAX)
/*
 * Its references, after those that the hash has.  There has to be room for LPL_EXPANDED_REFS in
 * `expanded`.
 */
void lpl_loaded_chunk_hash(struct lpl_loaded_chunk *chunk, struct lpl_ref *expanded,
			   struct lpl_stream_hash *hash);

/* The same of `count` steady references. */
void lpl_hash_steady(const struct lpl_steady *steady, uint64_t count, struct lpl_ref *expanded,
		     struct lpl_stream_hash *hash);

/* This chunk is damaged: returns LPL_ERR_DAMAGED, which is its failure now. */
enum lpl_error lpl_chunk_damaged(struct lpl_loaded_chunk *chunk, uint32_t sequence,
				 const char *cause);
enum lpl_error lpl_chunk_mismatch(struct lpl_loaded_chunk *chunk, uint32_t sequence,
				  const char *what, uint64_t expected, uint64_t found);

#endif
