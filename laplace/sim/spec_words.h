/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How caches and TLBs are written: words between signs. */
#ifndef LAPLACE_SIM_SPEC_WORDS_H
#define LAPLACE_SIM_SPEC_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ways.h"

struct lpl_word {
	const char *text;
	size_t length;
};

bool lpl_word_is(struct lpl_word word, const char *name);
/* What follows NAME= in a word that begins so; false: it does not. */
bool lpl_word_follows(struct lpl_word word, const char *name, struct lpl_word *value);
/* What comes up to the sign, or all up to `end`; `*rest` is what follows it, NULL: nothing. */
struct lpl_word lpl_word_cut(const char **rest, const char *end, char sign);
/* A number of bytes, with K, M or G for powers of 1024; 0: it is none, or larger than `most`. */
uint64_t lpl_word_bytes(struct lpl_word word, uint64_t most);
/* A number; false: it is none. */
bool lpl_word_number(struct lpl_word word, uint64_t *number);
/* A number of ways, or `full`, which is `all` of them; 0: neither. */
uint32_t lpl_word_ways(struct lpl_word word, uint64_t all);
/* `lru`, `plru` or `random=SEED`; false: none of these. */
bool lpl_word_order(struct lpl_word word, enum lpl_ways_order *order, uint64_t *seed);

static inline bool lpl_is_power_of_two(uint64_t number)
{
	return number != 0 && (number & (number - 1)) == 0;
}

#endif
