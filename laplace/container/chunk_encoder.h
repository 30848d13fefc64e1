/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How a writer packs the records of a chunk.  There are two ways: columns, in DATA chunks
 * (data_chunks.c), and code blocks, in RUNS chunks (block_chunks.c).  Neither knows of the writer,
 * which uses them through this interface alone.
 *
 * Events, and the clocks and counts of all records, are in a struct lpl_data_encoder of the chunk
 * in either case.  It is `records` in what follows; there is one for each chunk that is under way.
 */
#ifndef LAPLACE_CONTAINER_CHUNK_ENCODER_H
#define LAPLACE_CONTAINER_CHUNK_ENCODER_H

#include <laplace/trace.h>

#include "codec/block_packer.h"
#include "data.h"

/* What becomes a chunk's payload, and that payload. */
struct lpl_chunk_payload {
	struct lpl_data_encoder records;
	struct lpl_totals totals;	/* as of the chunk's end */
	uint8_t *plain;			/* owned */
	size_t room, size;		/* of that */
};

/* What an encoder has to know to continue where that of another process ended a file. */
struct lpl_encoder_place {
	struct lpl_block_position packed;
	struct lpl_block_state state;
	uint64_t next_instr, of_type[LPL_TYPES], users;
};

struct lpl_chunk_encoder {
	const struct lpl_chunk_encoding *how;
	size_t chunk_refs;		/* at most so many references in a chunk */
	bool counts;			/* see `count` */
};

/*
 * All are called on the writer's thread, except pack().  Errors have the cause alone: the writer
 * knows the file.
 */
struct lpl_chunk_encoding {
	enum lpl_chunk_kind kind;
	size_t part;			/* references that refs() takes at most */
	size_t columns;			/* references that `records` needs room for; 0: chunk_refs */
	/* How many references the chunk may still take. */
	size_t (*room)(const struct lpl_chunk_encoder *self,
		       const struct lpl_data_encoder *records);
	/* Take references, no more than there is room for. */
	enum lpl_error (*refs)(struct lpl_chunk_encoder *self, struct lpl_data_encoder *records,
			       const struct lpl_ref *refs, size_t count,
			       struct lpl_report *cause);
	/* Does the chunk have to end with these? */
	bool (*is_full)(const struct lpl_chunk_encoder *self,
			const struct lpl_data_encoder *records);
	/* Take an event; settle() was called before. */
	enum lpl_error (*event)(struct lpl_chunk_encoder *self, struct lpl_data_encoder *records,
				const struct lpl_event *event, struct lpl_report *cause);
	/* All references taken are in the chunk, and `records` counts them. */
	enum lpl_error (*settle)(struct lpl_chunk_encoder *self, struct lpl_data_encoder *records,
				 struct lpl_report *cause);
	/* Has it references that `records` does not count yet? */
	bool (*holds)(const struct lpl_chunk_encoder *self);
	/* Where `counts` is set: how many references there were before reduction. */
	void (*count)(struct lpl_chunk_encoder *self, struct lpl_totals *totals);
	/* The chunk ends; the next one begins.  false: no memory. */
	bool (*end)(struct lpl_chunk_encoder *self, struct lpl_chunk_payload *payload);
	/* The rest of the chunk's payload, on any thread. */
	void (*pack)(struct lpl_chunk_payload *payload);
	/* A file begins. */
	void (*begin_file)(struct lpl_chunk_encoder *self);
	/* Where it is, for another process, which goes there to continue. */
	void (*where)(const struct lpl_chunk_encoder *self, struct lpl_encoder_place *place);
	void (*go_to)(struct lpl_chunk_encoder *self, const struct lpl_encoder_place *place);
	void (*free)(struct lpl_chunk_encoder *self);
};

/* NULL: no memory. */
struct lpl_chunk_encoder *lpl_data_chunks_new(size_t chunk_refs);
struct lpl_chunk_encoder *lpl_block_chunks_new(size_t chunk_refs);

#endif
