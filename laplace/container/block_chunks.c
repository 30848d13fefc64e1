/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * RUNS chunks, for a writer.  A chunk's payload has one model, so it is made in order on the
 * writer's thread; only its compression is left to others.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/try.h"
#include "block_chunks.h"
#include "block_data.h"

#define PART 4096	/* references between looks for room: a chunk may have to end early */

static size_t room(const struct lpl_chunk_encoder *self, const struct lpl_data_encoder *records)
{
	(void)records;
	return self->chunk_refs - ((const struct lpl_block_chunks *)self)->found_in;
}

static enum lpl_error take_refs(struct lpl_chunk_encoder *self, struct lpl_data_encoder *records,
				const struct lpl_ref *refs, size_t count,
				struct lpl_report *cause)
{
	struct lpl_block_chunks *blocks = (struct lpl_block_chunks *)self;

	(void)records;
	assert(count <= self->chunk_refs - blocks->found_in);
	blocks->found_in += count;
	return lpl_block_finder_refs(&blocks->finder, refs, count, cause);
}

static bool is_full(const struct lpl_chunk_encoder *self, const struct lpl_data_encoder *records)
{
	const struct lpl_block_chunks *blocks = (const struct lpl_block_chunks *)self;

	(void)records;
	return blocks->found_in == self->chunk_refs || blocks->packer.encoder.full;
}

static enum lpl_error take_event(struct lpl_chunk_encoder *self, struct lpl_data_encoder *records,
				 const struct lpl_event *event, struct lpl_report *cause)
{
	LPL_TRY(lpl_data_encode_event(records, event, cause));
	return lpl_block_packer_event(&((struct lpl_block_chunks *)self)->packer, event, cause);
}

static enum lpl_error settle(struct lpl_chunk_encoder *self, struct lpl_data_encoder *records,
			     struct lpl_report *cause)
{
	struct lpl_block_chunks *blocks = (struct lpl_block_chunks *)self;
	const struct lpl_block_packer *packer = &blocks->packer;
	const struct lpl_block_position *now = &packer->packed;

	LPL_TRY(lpl_block_finder_flush(&blocks->finder, cause));
	lpl_data_encoder_moved(records, packer->refs,
			       &(struct lpl_clocks){ packer->first_ref, packer->first_instr,
						     packer->first_cycle },
			       &(struct lpl_clocks){ now->ref, now->instr, now->cycle });
	return LPL_OK;
}

static bool holds(const struct lpl_chunk_encoder *self)
{
	const struct lpl_block_chunks *blocks = (const struct lpl_block_chunks *)self;

	return blocks->found_in > 0 || blocks->packer.refs > 0;
}

/* Of a recording's blocks the packer gets all there are. */
static void count(struct lpl_chunk_encoder *self, struct lpl_totals *totals)
{
	struct lpl_block_packer *packer = &((struct lpl_block_chunks *)self)->packer;

	lpl_block_packer_count(packer);
	memcpy(totals->refs, packer->of_type, sizeof(totals->refs));
	totals->user_refs = packer->users;
	totals->total = packer->packed.ref;
}

static bool end(struct lpl_chunk_encoder *self, struct lpl_chunk_payload *payload)
{
	struct lpl_block_chunks *blocks = (struct lpl_block_chunks *)self;

	payload->size = lpl_block_data_encode(&blocks->packer, &payload->records,
					      &payload->totals, &payload->plain, &payload->room);
	blocks->found_in = 0;
	return payload->size > 0 && lpl_block_packer_begin(&blocks->packer);
}

static void pack(struct lpl_chunk_payload *payload)
{
	(void)payload;
}

static void begin_file(struct lpl_chunk_encoder *self)
{
	lpl_stream_hash_init(&((struct lpl_block_chunks *)self)->packer.hash);
}

static void where(const struct lpl_chunk_encoder *self, struct lpl_encoder_place *place)
{
	const struct lpl_block_packer *packer = &((const struct lpl_block_chunks *)self)->packer;

	place->packed = packer->packed;
	place->state = packer->state;
	place->next_instr = packer->next_instr;
	memcpy(place->of_type, packer->of_type, sizeof(place->of_type));
	place->users = packer->users;
}

static void go_to(struct lpl_chunk_encoder *self, const struct lpl_encoder_place *place)
{
	struct lpl_block_packer *packer = &((struct lpl_block_chunks *)self)->packer;

	packer->packed = packer->begin = place->packed;
	packer->state = place->state;
	packer->next_instr = place->next_instr;
	memcpy(packer->of_type, place->of_type, sizeof(packer->of_type));
	packer->users = place->users;
}

static void release(struct lpl_chunk_encoder *self)
{
	struct lpl_block_chunks *blocks = (struct lpl_block_chunks *)self;

	lpl_block_finder_free(&blocks->finder);
	lpl_block_packer_free(&blocks->packer);
	free(blocks);
}

static const struct lpl_chunk_encoding block_chunks = {
	.kind = LPL_CHUNK_RUNS, .part = PART, .columns = 1, .room = room, .refs = take_refs,
	.is_full = is_full, .event = take_event, .settle = settle, .holds = holds,
	.count = count, .end = end, .pack = pack, .begin_file = begin_file,
	.where = where, .go_to = go_to, .free = release
};

struct lpl_chunk_encoder *lpl_block_chunks_new(size_t chunk_refs)
{
	struct lpl_block_chunks *blocks = calloc(1, sizeof(*blocks));

	if (!blocks)
		return NULL;
	if (!lpl_block_packer_init(&blocks->packer)) {
		free(blocks);
		return NULL;
	}
	blocks->encoder.how = &block_chunks;
	blocks->encoder.chunk_refs = chunk_refs;
	lpl_block_finder_init(&blocks->finder, &blocks->packer);
	return &blocks->encoder;
}
