/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fuzzing the payload of a RUNS chunk: packed blocks, events, totals, the stream's hash.  The
 * input is one or two of: the payload's length in three bytes, a chunk header, the payload as
 * it is before compression.  Both are read by one decoder, as a reader does; what the first
 * leaves in it must not matter to the second.  They are decoded to steps as well.
 */
#include "container/block_data.h"

#include "fuzz.h"

#define LENGTH_BYTES	3
#define EXPANDED_MOST	(1U << 20)	/* references; more take long, and show nothing new */

struct part {
	struct lpl_chunk_header header;
	uint8_t *payload;
	size_t size;
};

/* The next part of the input; false: there is none. */
static bool next_part(struct input *input, struct part *part)
{
	if (input->size < LENGTH_BYTES + LPL_CHUNK_HEADER_BYTES)
		return false;
	part->size = input->data[0] | (size_t)input->data[1] << 8 | (size_t)input->data[2] << 16;
	(void)lpl_chunk_decode(&part->header, input->data + LENGTH_BYTES);
	input->data += LENGTH_BYTES + LPL_CHUNK_HEADER_BYTES;
	input->size -= LENGTH_BYTES + LPL_CHUNK_HEADER_BYTES;
	if (part->size > input->size)
		part->size = input->size;
	part->payload = copy_of(input->data, part->size);
	input->data += part->size;
	input->size -= part->size;
	/* expected in a row, references take next to no bytes */
	if (part->header.refs > EXPANDED_MOST)
		part->header.refs = EXPANDED_MOST;
	return true;
}

/* What docs/format.md says of every reference of blocks; returns a sum of all that they are. */
static uint64_t expand(struct lpl_unpacked_blocks *blocks,
		       const struct lpl_chunk_header *header)
{
	static struct lpl_ref out[4 * LPL_BLOCK_REFS_MAX];
	struct lpl_stream_hash by_refs, by_blocks;
	struct lpl_block_cursor cursor;
	uint64_t before = header->base.ref, instr = header->base.instr, sum = 0;
	size_t done = 0;

	lpl_stream_hash_init(&by_refs);
	lpl_stream_hash_init(&by_blocks);
	lpl_block_hash(&blocks->decoder, &by_blocks);
	lpl_block_cursor_begin(&cursor, &blocks->decoder);
	while (done < header->refs) {
		size_t count = lpl_block_cursor_next(&cursor, &blocks->decoder, header->refs, out,
						     4 * LPL_BLOCK_REFS_MAX);

		require(count > 0);
		for (size_t i = 0; i < count; i++) {
			const struct lpl_ref *r = &out[i];

			require(r->type < LPL_TYPES && r->length <= LPL_LENGTH_MAX);
			require(r->ref > before ||
				(r->ref == before && (r->flags & LPL_SYNTHETIC)));
			require(r->instr >= instr);
			before = r->ref;
			instr = r->instr;
			sum = (sum ^ r->ref ^ r->address ^ r->instr ^ r->cycle ^ r->space) *
				      UINT64_C(0x9e3779b97f4a7c15) + r->type;
		}
		lpl_stream_hash_refs(&by_refs, out, count);
		done += count;
	}
	require(done == header->refs);
	require(lpl_stream_hash_value(&by_refs) == lpl_stream_hash_value(&by_blocks));
	return sum;
}

/* Decode a part; a failure because of the last clocks alone is none (see fuzz_data.c). */
static enum lpl_error decode(struct lpl_unpacked_blocks *blocks, struct lpl_data *data,
			     const struct part *part)
{
	struct lpl_report cause = { .error = LPL_OK };
	enum lpl_error error = lpl_block_data_decode(blocks, data, &part->header, part->payload,
						     part->size, &cause);

	if (error != LPL_OK)
		require_reported(&cause);
	return strcmp(cause.text, "its clocks are not those of its records") == 0 ? LPL_OK : error;
}

/* Decoded to steps, a part fails as it does otherwise, or comes as far. */
static void step(struct lpl_unpacked_blocks *steps, struct lpl_data *data, const struct part *part,
		 enum lpl_error error, const struct lpl_block_position *end)
{
	const struct lpl_block_position *now = &steps->decoder.now;

	steps->stepping = true;
	require(decode(steps, data, part) == error);
	require(error != LPL_OK ||
		(now->ref == end->ref && now->instr == end->instr && now->cycle == end->cycle &&
		 now->next_instr == end->next_instr && now->state.space == end->state.space));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct lpl_unpacked_blocks blocks = { .ready = false }, fresh = { .ready = false },
				   steps = { .ready = false };
	struct lpl_data data = { .ref_count = 0 }, alone = { .ref_count = 0 }, stepped = { .ref_count = 0 };
	struct input input = { bytes, size };
	struct part part;
	bool is_first = true;

	while (next_part(&input, &part)) {
		enum lpl_error error = decode(&blocks, &data, &part);
		struct lpl_block_position end = blocks.decoder.now;
		uint64_t sum = error == LPL_OK ? expand(&blocks, &part.header) : 0;

		step(&steps, &stepped, &part, error, &end);

		if (!is_first) {
			require(decode(&fresh, &alone, &part) == error);
			require(error != LPL_OK || expand(&fresh, &part.header) == sum);
		}
		free(part.payload);
		if (!is_first)
			break;
		is_first = false;
	}
	lpl_block_data_free(&blocks);
	lpl_block_data_free(&fresh);
	lpl_block_data_free(&steps);
	lpl_data_free(&data);
	lpl_data_free(&alone);
	lpl_data_free(&stepped);
	return 0;
}
