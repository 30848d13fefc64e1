/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A binary range coder (docs/format.md, section 9.2): decisions between yes and no, each with
 * a probability that adapts, at next to nothing for what was likely.
 *
 * An interval of 64 bits is divided at each decision as its probability says.  What the
 * interval's upper half is sure of leaves it as 32 bits at a time, so that this happens rarely.
 * A carry goes back into what was written: no more than one word in four billion times, so
 * nothing waits for it.
 */
#ifndef LAPLACE_CODEC_RANGE_CODER_H
#define LAPLACE_CODEC_RANGE_CODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/array.h"

typedef uint16_t lpl_odds;	/* of yes, in 65536: from 31 to 65505 */

#define LPL_ODDS_EVEN	32768
#define LPL_ODDS_RATE	5

#define LPL_RANGE_WORD_BYTES	4
#define LPL_RANGE_END_WORDS	2	/* the interval itself, at the end */

static inline void lpl_odds_learn(lpl_odds *odds, bool yes)
{
	uint32_t p = *odds;

	*odds = (lpl_odds)(yes ? p + ((65536 - p) >> LPL_ODDS_RATE) : p - (p >> LPL_ODDS_RATE));
}

/* ---- writing ---- */

struct lpl_range_writer {
	uint64_t low, range;
	uint32_t *word;			/* owned */
	size_t words, room;
};

static inline void lpl_range_begin(struct lpl_range_writer *writer)
{
	writer->low = 0;
	writer->range = UINT64_MAX;
	writer->words = 0;
}

/* Room for so many decisions, and the end.  false: no memory. */
static inline bool lpl_range_reserve(struct lpl_range_writer *writer, size_t decisions)
{
	size_t need = writer->words + decisions + LPL_RANGE_END_WORDS;

	return need < writer->room || lpl_reserve(writer->word, writer->room, need);
}

static inline void lpl_range_put(struct lpl_range_writer *writer, lpl_odds *odds, bool yes)
{
	uint64_t bound = (writer->range >> 16) * *odds;

	lpl_odds_learn(odds, yes);
	if (yes) {
		writer->range = bound;
	} else {
		writer->range -= bound;
		writer->low += bound;
		if (writer->low < bound) {
			for (size_t i = writer->words; i > 0 && ++writer->word[i - 1] == 0;)
				i--;
		}
	}
	if (writer->range >> 32 == 0) {
		writer->word[writer->words++] = (uint32_t)(writer->low >> 32);
		writer->low <<= 32;
		writer->range <<= 32;
	}
}

/* Nothing more comes; returns how many words there are in all. */
static inline size_t lpl_range_end(struct lpl_range_writer *writer)
{
	writer->word[writer->words++] = (uint32_t)(writer->low >> 32);
	writer->word[writer->words++] = (uint32_t)writer->low;
	return writer->words;
}

/* ---- reading ---- */

struct lpl_range_reader {
	uint64_t code, range;		/* code: how far above the interval's low end */
	const uint8_t *at, *end;
	bool overrun;			/* more was asked for than is there */
};

static inline uint32_t lpl_range_word(struct lpl_range_reader *reader)
{
	const uint8_t *at = reader->at;

	if (reader->end - at < LPL_RANGE_WORD_BYTES) {
		reader->overrun = true;
		return 0;
	}
	reader->at = at + LPL_RANGE_WORD_BYTES;
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
	       (uint32_t)at[3] << 24;
}

static inline void lpl_range_open(struct lpl_range_reader *reader, const uint8_t *bytes,
				  size_t size)
{
	reader->at = bytes;
	reader->end = bytes + size;
	reader->overrun = false;
	reader->range = UINT64_MAX;
	reader->code = (uint64_t)lpl_range_word(reader) << 32;
	reader->code |= lpl_range_word(reader);
}

static inline bool lpl_range_get(struct lpl_range_reader *reader, lpl_odds *odds)
{
	uint64_t bound = (reader->range >> 16) * *odds;
	bool yes = reader->code < bound;

	lpl_odds_learn(odds, yes);
	if (yes) {
		reader->range = bound;
	} else {
		reader->range -= bound;
		reader->code -= bound;
	}
	if (reader->range >> 32 == 0) {
		reader->code = reader->code << 32 | lpl_range_word(reader);
		reader->range <<= 32;
	}
	return yes;
}

/* Was all of it read, and no more? */
static inline bool lpl_range_done(const struct lpl_range_reader *reader)
{
	return !reader->overrun && reader->at == reader->end;
}

#endif
