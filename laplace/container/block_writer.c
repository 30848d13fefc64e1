/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A writer's packed blocks: those that a recording sends as such, and those that are found in
 * references.
 */
#include <stdlib.h>
#include <string.h>

#include "block_data.h"
#include "block_writer.h"
#include "writer.h"

/* The encoder of events learns of the blocks before them. */
static void blocks_moved(struct lpl_writer *writer)
{
	const struct lpl_block_packer *packer = &writer->blocks->packer;
	const struct lpl_block_position *now = &packer->packed;

	lpl_data_encoder_moved(writer->encoder, packer->refs,
			       &(struct lpl_clocks){ packer->first_ref, packer->first_instr,
						     packer->first_cycle },
			       &(struct lpl_clocks){ now->ref, now->instr, now->cycle });
}

bool lpl_packed_blocks_finish(struct lpl_writer *writer)
{
	struct lpl_report cause = { .error = LPL_OK };

	if (!writer->blocks)
		return true;
	if (lpl_block_finder_flush(&writer->blocks->finder, &cause) != LPL_OK) {
		lpl_writer_refuse(writer, &cause);
		return false;
	}
	blocks_moved(writer);
	return true;
}

void lpl_packed_blocks_count(struct lpl_writer *writer)
{
	struct lpl_block_packer *packer;

	/* of blocks that come as such the writer gets all there are */
	if (!writer->blocks || !writer->blocks->told)
		return;
	packer = &writer->blocks->packer;
	lpl_block_packer_count(packer);
	memcpy(writer->totals.refs, packer->of_type, sizeof(writer->totals.refs));
	writer->totals.user_refs = packer->users;
	writer->totals.total = packer->packed.ref;
}

bool lpl_packed_blocks_pack(struct lpl_writer *writer, struct lpl_packed_chunk *chunk)
{
	struct lpl_block_packer *packer = &writer->blocks->packer;

	chunk->size = lpl_block_data_encode(packer, &chunk->encoder, &chunk->totals,
					    &chunk->plain, &chunk->plain_room);
	writer->blocks->found_in = 0;
	if (chunk->size > 0 && lpl_block_packer_begin(packer))
		return true;
	(void)lpl_fail(&writer->failure, LPL_ERR_MEMORY, "%s: no memory for a chunk",
		       writer->output.name);
	return false;
}

enum lpl_error lpl_packed_blocks_find(struct lpl_packed_blocks *blocks, const struct lpl_ref *refs,
				      size_t count, struct lpl_report *cause)
{
	enum lpl_error error = lpl_block_finder_refs(&blocks->finder, refs, count, cause);

	blocks->found_in += count;
	return error;
}

/* ---- blocks that come as such ---- */

#define WRITER_OF(sink) (((struct lpl_packed_blocks *)(sink))->writer)

/* What all of it begins with: the writer's packer, if nothing has failed. */
static inline struct lpl_block_packer *packer_of(struct lpl_block_sink *sink,
						 struct lpl_report *report)
{
	struct lpl_writer *writer = WRITER_OF(sink);

	if (writer->failure.error == LPL_OK)
		return &writer->blocks->packer;
	(void)lpl_writer_failed(writer, report);
	return NULL;
}

/* And ends with: what went wrong is remembered. */
static inline int done(struct lpl_block_sink *sink, enum lpl_error error,
		       const struct lpl_report *cause, struct lpl_report *report)
{
	struct lpl_writer *writer = WRITER_OF(sink);

	if (error != LPL_OK)
		lpl_writer_refuse(writer, cause);
	return writer->failure.error == LPL_OK ? LPL_OK : lpl_writer_failed(writer, report);
}

/* Room for so many references more, in this chunk or the next. */
static void make_room(struct lpl_writer *writer, size_t refs)
{
	const struct lpl_block_packer *packer = &writer->blocks->packer;

	if (packer->refs > 0 && (packer->refs + refs > writer->chunk_refs || packer->encoder.full))
		lpl_writer_put_chunk(writer);
}

static int take_define(struct lpl_block_sink *sink, uint32_t number,
		       const struct lpl_instruction_trace *trace, struct lpl_report *report)
{
	struct lpl_block_packer *packer = packer_of(sink, report);
	struct lpl_report cause = { .error = LPL_OK };

	if (!packer)
		return WRITER_OF(sink)->failure.error;
	return done(sink, lpl_block_packer_define(packer, number, trace, &cause), &cause, report);
}

static int take_forget(struct lpl_block_sink *sink, struct lpl_report *report)
{
	struct lpl_block_packer *packer = packer_of(sink, report);

	if (!packer)
		return WRITER_OF(sink)->failure.error;
	lpl_block_packer_forget(packer);
	return LPL_OK;
}

static int take_state(struct lpl_block_sink *sink, const struct lpl_block_state *state,
		      struct lpl_report *report)
{
	struct lpl_block_packer *packer = packer_of(sink, report);

	if (!packer)
		return WRITER_OF(sink)->failure.error;
	packer->state = *state;
	return LPL_OK;
}

static int take_at(struct lpl_block_sink *sink, uint64_t instr, struct lpl_report *report)
{
	struct lpl_block_packer *packer = packer_of(sink, report);

	if (!packer)
		return WRITER_OF(sink)->failure.error;
	packer->next_instr = instr;
	return LPL_OK;
}

static int take_block(struct lpl_block_sink *sink, const struct lpl_block *block,
		      struct lpl_report *report)
{
	struct lpl_block_packer *packer = packer_of(sink, report);
	struct lpl_report cause;	/* not cleared whole: this is the hot path */

	if (!packer)
		return WRITER_OF(sink)->failure.error;
	make_room(WRITER_OF(sink), block->fetched + 1U + block->words);
	cause.error = LPL_OK;
	return done(sink, lpl_block_packer_block(packer, block, &cause), &cause, report);
}

static size_t take_words(struct lpl_block_sink *sink, const uint64_t *word, const uint64_t *end,
			 uint64_t *instructions, uint64_t *refs)
{
	struct lpl_writer *writer = WRITER_OF(sink);

	/* nothing can fail: what had to be told otherwise is left */
	return writer->failure.error != LPL_OK ? 0 :
	       lpl_block_packer_words(&writer->blocks->packer, word, end, writer->chunk_refs,
				      instructions, refs);
}

static int take_loose(struct lpl_block_sink *sink, const struct lpl_ref *refs, size_t count,
		      struct lpl_report *report)
{
	struct lpl_block_packer *packer = packer_of(sink, report);
	struct lpl_report cause = { .error = LPL_OK };
	enum lpl_error error = LPL_OK;

	if (!packer)
		return WRITER_OF(sink)->failure.error;
	while (count > 0 && error == LPL_OK) {
		struct lpl_writer *writer = WRITER_OF(sink);
		size_t part = count < LPL_BLOCK_WORDS_MAX / 2 ? count : LPL_BLOCK_WORDS_MAX / 2;

		/* however small chunks are to be, something fits into each */
		if (part > writer->chunk_refs)
			part = writer->chunk_refs;
		make_room(writer, part);
		error = lpl_block_packer_loose(packer, refs, part, &cause);
		refs += part;
		count -= part;
	}
	return done(sink, error, &cause, report);
}

static int take_block_event(struct lpl_block_sink *sink, const struct lpl_event *event,
			    struct lpl_report *report)
{
	struct lpl_writer *writer = WRITER_OF(sink);

	return writer->sink.event(&writer->sink, event, report);
}

/* ---- the whole ---- */

bool lpl_packed_blocks_new(struct lpl_writer *writer)
{
	struct lpl_packed_blocks *blocks = calloc(1, sizeof(*blocks));

	writer->blocks = blocks;
	if (!blocks || !lpl_block_packer_init(&blocks->packer))
		return false;
	blocks->writer = writer;
	blocks->sink = (struct lpl_block_sink){ take_define, take_forget, take_state, take_at,
						take_block, take_words, take_loose,
						take_block_event };
	lpl_block_finder_init(&blocks->finder, &blocks->packer);
	return true;
}

void lpl_packed_blocks_free(struct lpl_packed_blocks *blocks)
{
	if (!blocks)
		return;
	lpl_block_finder_free(&blocks->finder);
	lpl_block_packer_free(&blocks->packer);
	free(blocks);
}

void lpl_packed_blocks_next_file(struct lpl_packed_blocks *blocks)
{
	lpl_stream_hash_init(&blocks->packer.hash);
}

void lpl_packed_blocks_where(const struct lpl_packed_blocks *blocks, struct lpl_writer_place *place)
{
	const struct lpl_block_packer *packer = &blocks->packer;

	place->packed = packer->packed;
	place->state = packer->state;
	place->next_instr = packer->next_instr;
	memcpy(place->of_type, packer->of_type, sizeof(place->of_type));
	place->users = packer->users;
}

void lpl_packed_blocks_go_to(struct lpl_packed_blocks *blocks, const struct lpl_writer_place *place)
{
	struct lpl_block_packer *packer = &blocks->packer;

	packer->packed = packer->begin = place->packed;
	packer->state = place->state;
	packer->next_instr = place->next_instr;
	memcpy(packer->of_type, place->of_type, sizeof(packer->of_type));
	packer->users = place->users;
}

struct lpl_block_sink *lpl_writer_blocks(struct lpl_writer *writer)
{
	writer->blocks->told = true;
	writer->blocks->packer.hashed_before = false;
	return &writer->blocks->sink;
}

uint64_t lpl_writer_hash(struct lpl_writer *writer)
{
	return lpl_stream_hash_value(&writer->blocks->packer.hash);
}
