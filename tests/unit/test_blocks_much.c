/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * RUNS chunks with as much as a chunk may have, and with more (docs/format.md, section 2.3), which our writer does not make:
 * decoded to steps, a chunk is refused if it is refused otherwise, and takes no more memory than was said.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "container/block_data.h"

enum { STATE = 5, FULL = 7, WORDS_MOST = 1 << 25 };	/* by that section */

struct chunk {
	struct lpl_block_packer packer;
	struct lpl_chunk_header header;
	uint8_t *payload;
	size_t size, room;
};

static void packed(enum lpl_error error, const struct lpl_report *report)
{
	if (error != LPL_OK)
		fail_msg("%s", report->text);
}

/* One trace, of 32 instructions. */
static void begin_chunk(struct chunk *chunk)
{
	struct lpl_instruction_trace trace = { .address = 0x400000, .count = LPL_TRACE_MAX };
	struct lpl_report report = { .error = LPL_OK };

	*chunk = (struct chunk){ .size = 0 };
	memset(trace.length, 4, trace.count);
	assert_true(lpl_block_packer_init(&chunk->packer));
	packed(lpl_block_packer_define(&chunk->packer, 0, &trace, &report), &report);
}

static void end_chunk(struct chunk *chunk)
{
	const struct lpl_block_packer *packer = &chunk->packer;
	const struct lpl_block_position *last = &packer->packed;
	const struct lpl_totals totals = { .total = 0 };
	struct lpl_data_encoder events;

	assert_true(lpl_data_encoder_init(&events, 1, 1));
	chunk->size = lpl_block_data_encode(&chunk->packer, &events, &totals, &chunk->payload, &chunk->room);
	assert_in_range(chunk->size, 1, LPL_PLAIN_MAX);
	chunk->header = (struct lpl_chunk_header){
		.refs = (uint32_t)packer->refs, .first = { packer->first_ref, packer->first_instr, packer->first_cycle },
		.last = { last->ref, last->instr, last->cycle }
	};
	lpl_data_encoder_free(&events);
	lpl_block_packer_free(&chunk->packer);
}

/* What comes of it, and are there steps then? */
static enum lpl_error decode(const struct chunk *chunk, struct lpl_unpacked_blocks *blocks, bool *steps)
{
	struct lpl_report cause = { .error = LPL_OK };
	struct lpl_data data = { .ref_count = 0 };
	enum lpl_error error;

	*blocks = (struct lpl_unpacked_blocks){ .stepping = *steps };
	error = lpl_block_data_decode(blocks, &data, &chunk->header, chunk->payload, chunk->size, &cause);
	*steps = blocks->stepping;
	lpl_data_free(&data);
	return error;
}

/* So many references in full, the first of them each in another space, and blocks that only fetch. */
static void assert_decoded(size_t states, size_t others, size_t blocks, enum lpl_error expected, bool as_steps)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_unpacked_blocks found;
	struct chunk chunk;
	bool steps = true, none = false;

	begin_chunk(&chunk);
	for (size_t i = 0; i < states + others; i++) {
		const struct lpl_ref ref = { .ref = i + 1, .type = LPL_READ, .flags = LPL_PAGED };

		chunk.packer.state.space ^= i < states;
		packed(lpl_block_packer_loose(&chunk.packer, &ref, 1, &report), &report);
	}
	for (size_t i = 0; i < blocks; i++)
		packed(lpl_block_packer_block(&chunk.packer, &(struct lpl_block){ .fetched = LPL_TRACE_MAX }, &report),
		       &report);
	end_chunk(&chunk);
	assert_int_equal(decode(&chunk, &found, &none), expected);
	lpl_block_data_free(&found);
	assert_int_equal(decode(&chunk, &found, &steps), expected);
	assert_int_equal(steps, as_steps);
	lpl_block_data_free(&found);
	free(chunk.payload);
}

static void as_many_words_as_it_may(void **state)
{
	const size_t states = (WORDS_MOST - 8 * FULL) / (STATE + FULL);

	(void)state;
	assert_int_equal(states * (STATE + FULL) + 8 * FULL, WORDS_MOST);
	assert_decoded(states, 8, 0, LPL_OK, true);
	assert_decoded(states, 8, 1, LPL_ERR_DAMAGED, false);
	/* of fetches there are enough that steps might be too many, but they are not */
	assert_decoded(states - 2000, 8, 24000, LPL_OK, false);
}

/* A block that refers to LPL_LIST_MAX pages, and to others each time. */
static void as_many_visits_as_it_may(void **state)
{
	const size_t blocks = ((size_t)1 << 16) - 1000;
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_unpacked_blocks found;
	uint64_t word[LPL_LIST_MAX];
	struct chunk chunk;
	bool steps = true;

	(void)state;
	begin_chunk(&chunk);
	for (size_t i = 0; i < blocks; i++) {
		const struct lpl_block block = { .words = LPL_LIST_MAX, .word = word };

		for (size_t j = 0; j < LPL_LIST_MAX; j++)
			word[j] = LPL_WORD_DATA | (i * LPL_LIST_MAX + j) << LPL_PAGE_SHIFT;
		packed(lpl_block_packer_block(&chunk.packer, &block, &report), &report);
	}
	end_chunk(&chunk);
	assert_int_equal(decode(&chunk, &found, &steps), LPL_OK);
	assert_false(steps);
	/* room doubles, and there may be one block more */
	assert_in_range(found.decoder.steps.visit_room, LPL_STEP_VISITS_MOST, 3 * LPL_STEP_VISITS_MOST);
	lpl_block_data_free(&found);
	free(chunk.payload);
}

/* An instruction that repeats as often as a block's counts go; and then by twice as much, every other time. */
static void counts_as_high_as_they_may(void **state)
{
	enum { WORDS = 256 };
	static const uint8_t last[] = { 128 | LPL_WORD_DATA >> LPL_CODE_SHIFT, 1, LPL_CODE_REPEAT, 253, 1 };
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_unpacked_blocks found;
	uint64_t word[WORDS];
	struct chunk chunk;

	(void)state;
	for (int further = 0; further < 2; further++) {
		for (uint64_t i = 0; i < WORDS; i++)
			word[i] = LPL_WORD_DATA | i << LPL_WORD_COUNT_SHIFT | (0x10000 + i);
		begin_chunk(&chunk);
		packed(lpl_block_packer_block(&chunk.packer, &(struct lpl_block){ .fetched = 1, .words = WORDS, .word = word },
					      &report), &report);
		struct lpl_bytes *codes = &chunk.packer.encoder.column[LPL_BLOCK_CODES];
		uint8_t *at = codes->byte + codes->size - sizeof(last);

		assert_memory_equal(at, last, sizeof(last));
		at[1] = (uint8_t)(1 + further);
		end_chunk(&chunk);
		/* 253 more, after 0, 1 and 3: 127 of them by 1, 126 by 2; or all by 1, after 2 */
		chunk.header.last.instr += further ? 3 + 127 + 2 * 126 - 255 : 0;
		chunk.header.last.cycle = chunk.header.last.instr;
		for (int i = 0; i < 2; i++) {
			bool steps = i;

			assert_int_equal(decode(&chunk, &found, &steps), further ? LPL_ERR_DAMAGED : LPL_OK);
			lpl_block_data_free(&found);
		}
		free(chunk.payload);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_many_words_as_it_may), cmocka_unit_test(as_many_visits_as_it_may),
		cmocka_unit_test(counts_as_high_as_they_may)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
