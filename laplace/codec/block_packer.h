/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From blocks, as a simulator sends them, to chunks of packed ones: keeps the dictionary of
 * instruction traces and the state, checks what it gets, counts it, hashes it, and gives the
 * encoder what a chunk does not have yet.
 */
#ifndef LAPLACE_CODEC_BLOCK_PACKER_H
#define LAPLACE_CODEC_BLOCK_PACKER_H

#include "block_decode.h"
#include "block_expand.h"
#include "stream_hash.h"

/* A trace of the dictionary. */
struct lpl_packed_trace {
	struct lpl_instruction_trace code;
	uint64_t hash[LPL_TRACE_MAX + 1];	/* of its first fetches (stream_hash.h) */
};

/* And what a chunk has of it: what is looked at for each block is kept together. */
struct lpl_chunk_trace {
	uint32_t chunk, number;		/* it has that number in that chunk */
	uint32_t token;			/* of a block of it there; the next one has others */
};

struct lpl_block_packer {
	struct lpl_block_encoder encoder;
	struct lpl_stream_hash hash;
	bool hashed_before;		/* its input is hashed before it becomes blocks */
	struct lpl_packed_trace *trace;	/* owned */
	struct lpl_chunk_trace *in_chunk;	/* of each; owned */
	size_t traces, trace_room, in_chunk_room;
	uint32_t chunk;			/* counts them, from 1 */
	struct lpl_block_position begin;	/* of this chunk */
	struct lpl_block_position packed;	/* where its reader is */
	struct lpl_block_state state;	/* as sent last */
	uint64_t next_instr;
	uint64_t first_ref, first_instr, first_cycle;	/* of this chunk's first reference */
	uint64_t refs;			/* in this chunk */
	/* in all, once lpl_block_packer_count() was called */
	uint64_t of_type[LPL_TYPES], users;
};

bool lpl_block_packer_init(struct lpl_block_packer *packer);	/* false: no memory */
void lpl_block_packer_free(struct lpl_block_packer *packer);

/* A chunk begins.  false: no memory. */
bool lpl_block_packer_begin(struct lpl_block_packer *packer);

/*
 * As in struct lpl_block_sink.  What is not valid is LPL_ERR_USAGE or LPL_ERR_ORDER, and then it
 * is over.
 */
enum lpl_error lpl_block_packer_define(struct lpl_block_packer *packer, uint32_t number,
				       const struct lpl_instruction_trace *trace,
				       struct lpl_report *report);
void lpl_block_packer_forget(struct lpl_block_packer *packer);
enum lpl_error lpl_block_packer_block(struct lpl_block_packer *packer, const struct lpl_block *block,
				    struct lpl_report *report);
/* As `words` of the sink, as long as the chunk has no more than `most` references. */
size_t lpl_block_packer_words(struct lpl_block_packer *packer, const uint64_t *word,
			      const uint64_t *end, uint64_t most, uint64_t *instructions,
			      uint64_t *refs);
enum lpl_error lpl_block_packer_loose(struct lpl_block_packer *packer, const struct lpl_ref *refs,
				      size_t count, struct lpl_report *report);
/* An event stands here: what follows comes after it. */
enum lpl_error lpl_block_packer_event(struct lpl_block_packer *packer,
				      const struct lpl_event *event, struct lpl_report *report);
/* Is the state that was sent the one that a reader of what is packed has? */
static inline bool lpl_block_packer_in_step(const struct lpl_block_packer *packer)
{
	const struct lpl_block_state *a = &packer->packed.state, *b = &packer->state;

	return ((a->space ^ b->space) | (a->cycle_offset ^ b->cycle_offset) |
		(packer->packed.next_instr ^ packer->next_instr) |
		(uint64_t)(a->user ^ b->user)) == 0;
}

/* of_type and users include all that was taken. */
void lpl_block_packer_count(struct lpl_block_packer *packer);

#endif
