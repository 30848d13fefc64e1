/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A writer as a sink of blocks, which a recording sends: they go straight to the packer of its
 * RUNS chunks (block_chunks.c).
 */
#include <assert.h>
#include <stddef.h>

#include "block_chunks.h"
#include "block_writer.h"
#include "writer.h"

#define WRITER_OF(sink) \
	((struct lpl_writer *)((char *)(sink) - offsetof(struct lpl_writer, block_sink)))

static inline struct lpl_block_packer *packer_of_writer(const struct lpl_writer *writer)
{
	return &((struct lpl_block_chunks *)writer->chunks)->packer;
}

/* What each of them begins with: the writer's packer, if nothing has failed. */
static inline struct lpl_block_packer *packer_of(struct lpl_block_sink *sink,
						 struct lpl_report *report)
{
	struct lpl_writer *writer = WRITER_OF(sink);

	if (writer->failure.error == LPL_OK)
		return packer_of_writer(writer);
	(void)lpl_writer_failed(writer, report);
	return NULL;
}

/* And ends with: what went wrong is remembered. */
static inline enum lpl_error done(struct lpl_block_sink *sink, enum lpl_error error,
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
	const struct lpl_block_packer *packer = packer_of_writer(writer);

	if (packer->refs > 0 && (packer->refs + refs > writer->chunks->chunk_refs ||
				 packer->encoder.full))
		lpl_writer_put_chunk(writer);
}

static enum lpl_error take_define(struct lpl_block_sink *sink, uint32_t number,
				  const struct lpl_instruction_trace *trace,
				  struct lpl_report *report)
{
	struct lpl_block_packer *packer = packer_of(sink, report);
	struct lpl_report cause = { .error = LPL_OK };

	if (!packer)
		return WRITER_OF(sink)->failure.error;
	return done(sink, lpl_block_packer_define(packer, number, trace, &cause), &cause, report);
}

static enum lpl_error take_forget(struct lpl_block_sink *sink, struct lpl_report *report)
{
	struct lpl_block_packer *packer = packer_of(sink, report);

	if (!packer)
		return WRITER_OF(sink)->failure.error;
	lpl_block_packer_forget(packer);
	return LPL_OK;
}

static enum lpl_error take_state(struct lpl_block_sink *sink, const struct lpl_block_state *state,
				 struct lpl_report *report)
{
	struct lpl_block_packer *packer = packer_of(sink, report);

	if (!packer)
		return WRITER_OF(sink)->failure.error;
	packer->state = *state;
	return LPL_OK;
}

static enum lpl_error take_at(struct lpl_block_sink *sink, uint64_t instr,
			      struct lpl_report *report)
{
	struct lpl_block_packer *packer = packer_of(sink, report);

	if (!packer)
		return WRITER_OF(sink)->failure.error;
	packer->next_instr = instr;
	return LPL_OK;
}

static enum lpl_error take_block(struct lpl_block_sink *sink, const struct lpl_block *block,
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

	/* nothing can fail: what has to be sent otherwise is left */
	return writer->failure.error != LPL_OK ? 0 :
	       lpl_block_packer_words(packer_of_writer(writer), word, end,
				      writer->chunks->chunk_refs, instructions, refs);
}

static enum lpl_error take_loose(struct lpl_block_sink *sink, const struct lpl_ref *refs,
				 size_t count, struct lpl_report *report)
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
		if (part > writer->chunks->chunk_refs)
			part = writer->chunks->chunk_refs;
		make_room(writer, part);
		error = lpl_block_packer_loose(packer, refs, part, &cause);
		refs += part;
		count -= part;
	}
	return done(sink, error, &cause, report);
}

static enum lpl_error take_block_event(struct lpl_block_sink *sink, const struct lpl_event *event,
				       struct lpl_report *report)
{
	struct lpl_writer *writer = WRITER_OF(sink);

	return writer->sink.event(&writer->sink, event, report);
}

/* ---- the whole ---- */

struct lpl_block_sink *lpl_writer_blocks(struct lpl_writer *writer)
{
	assert(writer->chunks->how->kind == LPL_CHUNK_RUNS);
	writer->chunks->counts = true;
	packer_of_writer(writer)->hashed_before = false;
	writer->block_sink = (struct lpl_block_sink){ take_define, take_forget, take_state,
						      take_at, take_block, take_words,
						      take_loose, take_block_event };
	return &writer->block_sink;
}

uint64_t lpl_writer_hash(struct lpl_writer *writer)
{
	return lpl_stream_hash_value(&packer_of_writer(writer)->hash);
}
