/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The payload of a RUNS chunk, both ways. */
#include <assert.h>
#include <endian.h>
#include <string.h>

#include "base/array.h"
#include "base/try.h"
#include "base/varint.h"
#include "block_data.h"

#define HEAD_NUMBERS	(5 + LPL_BLOCK_COLUMNS)	/* where the chunk begins, the columns' sizes */
#define HASH_BYTES	8

/* ---- writing ---- */

static uint8_t *put_begin(uint8_t *at, const struct lpl_block_position *begin,
			  const struct lpl_clocks *base)
{
	at = lpl_varint_put(at, base->ref - begin->ref);
	at = lpl_varint_put(at, lpl_zigzag(begin->next_instr - base->instr));
	at = lpl_varint_put(at, begin->state.space);
	at = lpl_varint_put(at, begin->state.user);
	return lpl_varint_put(at, lpl_zigzag(begin->state.cycle_offset -
					     (base->cycle - base->instr)));
}

size_t lpl_block_data_encode(struct lpl_block_packer *packer, const struct lpl_data_encoder *events,
			     const struct lpl_totals *totals, uint8_t **out, size_t *room)
{
	size_t event_bytes = (size_t)(events->events_end - events->events);
	size_t column[LPL_BLOCK_COLUMNS];
	size_t most = (HEAD_NUMBERS + LPL_TOTALS_NUMBERS) * LPL_VARINT_MAX + event_bytes +
		      HASH_BYTES;
	uint64_t hash = htole64(lpl_stream_hash_value(&packer->hash));
	uint8_t *at;

	lpl_block_encoder_end(&packer->encoder, column);
	for (int i = 0; i < LPL_BLOCK_COLUMNS; i++)
		most += column[i];
	if (!lpl_reserve(*out, *room, most))
		return 0;
	at = put_begin(*out, &packer->begin, &events->base);
	for (int i = 0; i < LPL_BLOCK_COLUMNS; i++)
		at = lpl_varint_put(at, column[i]);
	at = lpl_block_encoder_store(&packer->encoder, at);
	memcpy(at, events->events, event_bytes);
	at = lpl_totals_put(at + event_bytes, totals);
	memcpy(at, &hash, HASH_BYTES);
	assert((size_t)(at + HASH_BYTES - *out) <= most);
	return (size_t)(at + HASH_BYTES - *out);
}

/* ---- reading ---- */

static enum lpl_error damaged(struct lpl_report *cause, const char *what)
{
	return lpl_fail(cause, LPL_ERR_DAMAGED, "%s", what);
}

static const uint8_t *get_begin(struct lpl_block_position *begin, const struct lpl_clocks *base,
				const uint8_t *at, const uint8_t *end)
{
	enum { EARLIER, INSTR, SPACE, USER, OFFSET, NUMBERS };
	uint64_t number[NUMBERS];

	for (int i = 0; i < NUMBERS && at; i++)
		at = lpl_varint_get(at, end, &number[i]);
	if (!at || number[EARLIER] > base->ref || number[USER] > 1)
		return NULL;
	*begin = (struct lpl_block_position){
		.state.space = number[SPACE], .state.user = number[USER],
		.state.cycle_offset = base->cycle - base->instr + lpl_unzigzag(number[OFFSET]),
		.next_instr = base->instr + lpl_unzigzag(number[INSTR]),
		.ref = base->ref - number[EARLIER], .event_ref = base->ref,
		.instr = base->instr, .cycle = base->cycle,
	};
	return at;
}

/* The sizes of the columns, which are all there. */
static const uint8_t *get_sizes(struct lpl_unpacked_blocks *blocks, const uint8_t *at,
				const uint8_t *end)
{
	uint64_t size, sum = 0;

	for (int i = 0; i < LPL_BLOCK_COLUMNS && at; i++) {
		at = lpl_varint_get(at, end, &size);
		if (!at || size > LPL_PLAIN_MAX)
			return NULL;
		blocks->column[i] = (size_t)size;
		sum += size;
	}
	return at && sum <= (uint64_t)(end - at) ? at : NULL;
}

static struct lpl_clocks clocks_of(const struct lpl_block_position *position)
{
	return (struct lpl_clocks){ position->ref, position->instr, position->cycle };
}

/* The events, and the references between them; `last` becomes the last record's clocks. */
static const uint8_t *decode_records(struct lpl_unpacked_blocks *blocks, struct lpl_data *data,
				     const struct lpl_chunk_header *header,
				     struct lpl_clocks *last, const uint8_t *at,
				     const uint8_t *end, struct lpl_report *cause)
{
	struct lpl_block_decoder *decoder = &blocks->decoder;
	uint64_t position = 0, step;

	*last = header->base;
	for (size_t i = 0; i < header->events; i++) {
		if (!lpl_event_position(at, end, &step) || step > header->refs - position) {
			damaged(cause, "an event is malformed or out of place");
			return NULL;
		}
		position += step;
		if (lpl_block_decode(decoder, position) != LPL_OK)
			return NULL;
		if (step > 0)
			*last = clocks_of(&decoder->now);
		at = lpl_event_decode(&data->events[i], last, at, end);
		if (!at) {
			damaged(cause, "an event is malformed or out of order");
			return NULL;
		}
		data->positions[i] = (uint32_t)position;
		if (!lpl_reserve(data->step_positions, data->step_positions_room, i)) {
			lpl_fail(cause, LPL_ERR_MEMORY, "no memory to unpack blocks");
			return NULL;
		}
		data->step_positions[i] = (uint32_t)decoder->steps.steps;
		decoder->now.event_ref = last->ref;
		decoder->now.instr = last->instr;
		decoder->now.cycle = last->cycle;
	}
	if (lpl_block_decode(decoder, header->refs) != LPL_OK)
		return NULL;
	if (position < header->refs)
		*last = clocks_of(&decoder->now);
	return at;
}

static enum lpl_error decode(struct lpl_unpacked_blocks *blocks, struct lpl_data *data,
				     const struct lpl_chunk_header *header,
				     const uint8_t *payload, size_t size,
				     struct lpl_report *cause)
{
	const uint8_t *at, *end = payload + size, *columns;
	struct lpl_block_position begin;
	struct lpl_clocks first, last;

	LPL_TRY(lpl_data_begin(data, header, LPL_BLOCK_CHUNK_REFS_MAX, size, cause));
	if (!blocks->ready && !lpl_block_decoder_init(&blocks->decoder))
		return lpl_fail(cause, LPL_ERR_MEMORY, "no memory to unpack blocks");
	blocks->ready = true;
	blocks->decoder.stepping = blocks->stepping;

	at = get_begin(&begin, &header->base, payload, end);
	columns = at ? get_sizes(blocks, at, end) : NULL;
	if (!columns)
		return damaged(cause, "the payload is malformed");
	if (lpl_block_decoder_begin(&blocks->decoder, &begin, columns, blocks->column,
				    cause) != LPL_OK)
		return cause->error;
	at = columns;
	for (int i = 0; i < LPL_BLOCK_COLUMNS; i++)
		at += blocks->column[i];
	at = decode_records(blocks, data, header, &last, at, end, cause);
	if (!at)
		return cause->error;
	if (!lpl_block_decoder_done(&blocks->decoder))
		return damaged(cause, "a column holds too much");
	memset(&data->totals, 0, sizeof(data->totals));
	at = lpl_totals_get(at, end, &data->totals);
	if (!at || end - at != HASH_BYTES)
		return damaged(cause, "the payload does not end with the totals and a hash");
	memcpy(&blocks->hash, at, HASH_BYTES);
	blocks->hash = le64toh(blocks->hash);

	first = (struct lpl_clocks){ blocks->decoder.first_ref, blocks->decoder.first_instr,
				     blocks->decoder.first_cycle };
	return lpl_data_end(data, header, &first, &last, cause);
}

enum lpl_error lpl_block_data_decode(struct lpl_unpacked_blocks *blocks, struct lpl_data *data,
				     const struct lpl_chunk_header *header,
				     const uint8_t *payload, size_t size,
				     struct lpl_report *cause)
{
	const enum lpl_error error = decode(blocks, data, header, payload, size, cause);

	if (!blocks->ready || !lpl_block_decoder_overflowed(&blocks->decoder))
		return error;
	blocks->stepping = false;
	*cause = (struct lpl_report){ .error = LPL_OK };
	return decode(blocks, data, header, payload, size, cause);
}

void lpl_block_data_free(struct lpl_unpacked_blocks *blocks)
{
	if (blocks->ready)
		lpl_block_decoder_free(&blocks->decoder);
	memset(blocks, 0, sizeof(*blocks));
}
