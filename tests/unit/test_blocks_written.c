/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * RUNS chunks (docs/format.md, section 9) of another writer than ours, which says what need not be
 * said: it names the best token, or a site's own kind, after a no, and says that d is higher by
 * nothing.  It is no damage, and a reader predicts from it what the document says: each yes after
 * it depends on that.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "container/block_data.h"
#include "blocks_by_the_book.h"
#include "stream.h"

#define RUNS 2000
#define BIT48 ((UINT64_C(1) << 48) - 1)
enum { STATE_NEXT = 10, FIRST = 18, TOKENS = 20, CODE = 0x46 };	/* a read of 8 bytes */
enum { FLOW, SHAPE, HITS, MISSES, TRACES, CODES, STATES, COLUMNS };

struct bytes {
	uint8_t at[RUNS * 40];
	size_t size;
};

/* The writer: what it says, and what a reader knows by then. */
struct writer {
	struct bytes column[COLUMNS];
	uint64_t yes[3], random;
	struct entry {
		uint32_t best, other;
		bool doubt;
	} table[65536];
	uint16_t context;
	uint32_t known;			/* the next free number */
	bool listed[TOKENS];
	struct site {
		uint64_t last, step, near, far, seen;
		unsigned int kind;
	} site[TOKENS];
	uint64_t a1, a2;
	size_t needless;
};

static void put(struct bytes *bytes, uint64_t number)
{
	for (; number > 127; number >>= 7)
		bytes->at[bytes->size++] = (uint8_t)(number | 128);
	bytes->at[bytes->size++] = (uint8_t)number;
}

/* To a question that may be answered by yes: is it?  The bytes that describe a no follow. */
static bool says_yes(struct writer *w, int column, bool may)
{
	const bool yes = may && next_random(&w->random) % 3;

	w->needless += may && !yes;
	if (yes) {
		w->yes[column]++;
		return true;
	}
	put(&w->column[column], w->yes[column]);
	w->yes[column] = 0;
	return false;
}

/* Section 9.3, but for followers, which it does not use. */
static void say_token(struct writer *w, uint32_t token)
{
	struct entry *entry = &w->table[w->context];
	const bool right = entry->best == token;

	if (!says_yes(w, FLOW, right)) {
		put(&w->column[FLOW], 0);
		put(&w->column[TRACES], token);
		if (token == w->known && token >= FIRST) {
			put(&w->column[TRACES], 1);
			put(&w->column[TRACES], token == FIRST ? 2 : 1);	/* first 0, fetched */
			if (w->known++ == FIRST) {
				put(&w->column[TRACES], 2 * 0x4000);
				put(&w->column[TRACES], 4);
				put(&w->column[TRACES], 2);
			}
		}
	}
	if (right) {
		entry->doubt = false;
	} else if (entry->doubt || entry->best == 0) {
		entry->other = entry->best;
		entry->best = token;
		entry->doubt = false;
	} else {
		entry->other = token;
		entry->doubt = true;
	}
	w->context = (uint16_t)(w->context << 5 ^ (token * UINT64_C(0x9e3779b97f4a7c15)) >> 48);
}

/* Section 9.4: each block makes one reference. */
static void say_shape(struct writer *w, uint32_t token)
{
	const bool higher = next_random(&w->random) % 2;

	if (says_yes(w, SHAPE, w->listed[token]))
		return;
	put(&w->column[CODES], 1);
	w->column[CODES].at[w->column[CODES].size++] = higher ? CODE | 128 : CODE;
	if (higher)
		put(&w->column[CODES], 0);
	w->needless += higher;
	w->listed[token] = true;
}

/* Section 9.5. */
static void say_address(struct writer *w, struct site *site, uint64_t a)
{
	const uint64_t says[4] = { site->last + site->step, w->a1 + site->near, w->a2 + site->far,
				   site->last + site->seen };
	const uint64_t away = a - site->last, zigzag = away << 1 ^ (away >> 63 ? UINT64_MAX : 0);
	struct bytes *misses = &w->column[MISSES];
	unsigned int way = site->kind;

	if (!says_yes(w, HITS, says[way] == a)) {
		for (unsigned int i = 0; i < 4 && says[way] != a; i++)
			way = says[i] == a ? i : way;
		misses->at[misses->size++] = (uint8_t)(says[way] == a ? way : 10);
		for (int i = 0; i < 6 && says[way] != a; i++)
			misses->at[misses->size++] = (uint8_t)(zigzag >> (8 * i));
		if (says[way] == a && way == 3)
			site->step = site->seen;
		if (says[way] == a)
			site->kind = way % 3;
		site->seen = away;
		site->near = a - w->a1;
		site->far = a - w->a2;
	}
	site->last = a;
	w->a2 = w->a1;
	w->a1 = a;
}

/* ---- what it writes ---- */

struct written {
	struct lpl_ref refs[3 * RUNS];
	size_t count;
	uint64_t instr;
};

static void add(struct written *out, uint8_t type, uint64_t instr, uint64_t address, uint16_t length)
{
	out->refs[out->count] = (struct lpl_ref){ .type = type, .ref = out->count + 1, .instr = instr,
						  .cycle = instr, .address = address, .length = length };
	out->count++;
}

static size_t make(struct writer *w, struct written *out, uint8_t *payload)
{
	struct bytes whole = { .size = 0 };
	uint64_t address = 0x10000, hash;

	w->known = FIRST;
	out->instr = 1;
	say_token(w, STATE_NEXT);
	put(&w->column[STATES], 2);
	for (int i = 0; i < RUNS; i++) {
		const uint32_t token = FIRST + (i > 20 && next_random(&w->random) % 4 == 0);

		address = next_random(&w->random) % 8 ? address + 8 :
			  0x10000 + next_random(&w->random) % 0x10000;
		add(out, LPL_FETCH, out->instr, 0x4000, 4);
		add(out, LPL_READ, out->instr, address, 8);
		if (token == FIRST)
			add(out, LPL_FETCH, out->instr + 1, 0x4004, 2);
		out->instr += token == FIRST ? 2 : 1;
		say_token(w, token);
		say_shape(w, token);
		say_address(w, &w->site[token], address);
	}
	for (int i = 0; i < 5; i++)
		put(&whole, 0);
	for (int i = FLOW; i <= HITS; i++)
		put(&w->column[i], w->yes[i]);
	for (int i = 0; i < COLUMNS; i++)
		put(&whole, w->column[i].size);
	for (int i = 0; i < COLUMNS; i++) {
		memcpy(whole.at + whole.size, w->column[i].at, w->column[i].size);
		whole.size += w->column[i].size;
	}
	for (int i = 0; i < LPL_TOTALS_NUMBERS; i++)
		put(&whole, 0);
	hash = book_hash(out->refs, out->count);
	for (int i = 0; i < 8; i++)
		whole.at[whole.size++] = (uint8_t)(hash >> (8 * i));
	memcpy(payload, whole.at, whole.size);
	return whole.size;
}

/* ---- and is read ---- */

static void assert_read(const struct written *out, const uint8_t *payload, size_t size)
{
	static struct lpl_ref found[3 * RUNS + 2048];
	const struct lpl_ref *last = &out->refs[out->count - 1];
	const struct lpl_chunk_header header = {
		.refs = (uint32_t)out->count, .first = { 1, 1, 1 },
		.last = { last->ref, last->instr, last->cycle },
	};
	struct lpl_report cause = { .error = LPL_OK };
	struct lpl_unpacked_blocks blocks;
	struct lpl_block_cursor cursor;
	struct lpl_stream_hash hash;
	struct lpl_data data;
	size_t done = 0, needless;

	memset(&blocks, 0, sizeof(blocks));
	memset(&data, 0, sizeof(data));
	if (lpl_block_data_decode(&blocks, &data, &header, payload, size, &cause) != LPL_OK)
		fail_msg("%s", cause.text);
	lpl_block_cursor_begin(&cursor, &blocks.decoder);
	while (done < out->count) {
		const size_t count = lpl_block_cursor_next(&cursor, &blocks.decoder, out->count, found,
							   sizeof(found) / sizeof(found[0]));

		assert_memory_equal(found, &out->refs[done], count * sizeof(*found));
		done += count;
	}
	lpl_stream_hash_init(&hash);
	lpl_block_hash(&blocks.decoder, &hash);
	assert_int_equal(lpl_stream_hash_value(&hash), book_hash(out->refs, out->count));
	lpl_block_data_free(&blocks);
	lpl_data_free(&data);

	(void)book_read(payload, 0, 0, 0, out->count, found, &needless);
	assert_true(needless > RUNS / 2);
	assert_memory_equal(found, out->refs, out->count * sizeof(*found));
}

static void what_need_not_be_said(void **unused)
{
	static uint8_t payload[RUNS * 60];

	(void)unused;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct writer *w = calloc(1, sizeof(*w));
		struct written *out = calloc(1, sizeof(*out));

		assert_non_null(w);
		assert_non_null(out);
		w->random = seed;
		const size_t size = make(w, out, payload);

		assert_true(w->needless > RUNS / 2);
		assert_read(out, payload, size);
		free(out);
		free(w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(what_need_not_be_said) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
