/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The words of which caches and TLBs are written; see spec_words.h. */
#include "spec_words.h"

#include <string.h>

#include "base/digits.h"

bool lpl_word_is(struct lpl_word word, const char *name)
{
	return strlen(name) == word.length && memcmp(word.text, name, word.length) == 0;
}

bool lpl_word_follows(struct lpl_word word, const char *name, struct lpl_word *value)
{
	const size_t length = strlen(name);

	if (word.length <= length || memcmp(word.text, name, length) != 0 || word.text[length] != '=')
		return false;
	*value = (struct lpl_word){ word.text + length + 1, word.length - length - 1 };
	return true;
}

struct lpl_word lpl_word_cut(const char **rest, const char *end, char sign)
{
	struct lpl_word word = { .text = *rest };
	const char *found = memchr(*rest, sign, (size_t)(end - *rest));

	word.length = (size_t)((found != NULL ? found : end) - *rest);
	*rest = found != NULL ? found + 1 : NULL;
	return word;
}

uint64_t lpl_word_bytes(struct lpl_word word, uint64_t most)
{
	const char *end = word.text + word.length, *after;
	unsigned int shift = 0;
	uint64_t number;

	after = lpl_scan_decimal(word.text, &number);
	if (after == NULL || after > end)
		return 0;
	if (after + 1 == end)
		shift = *after == 'K' ? 10 : *after == 'M' ? 20 : *after == 'G' ? 30 : 0;
	if (after + (shift != 0) != end || number > most >> shift)
		return 0;
	return number << shift;
}

bool lpl_word_number(struct lpl_word word, uint64_t *number)
{
	return word.length > 0 && lpl_scan_decimal(word.text, number) == word.text + word.length;
}

uint32_t lpl_word_ways(struct lpl_word word, uint64_t all)
{
	uint64_t number = 0;

	if (lpl_word_is(word, "full"))
		number = all;
	else if (!lpl_word_number(word, &number))
		return 0;
	return number <= LPL_WAYS_MOST ? (uint32_t)number : 0;
}

bool lpl_word_order(struct lpl_word word, enum lpl_ways_order *order, uint64_t *seed)
{
	struct lpl_word value;

	if (lpl_word_is(word, "lru"))
		*order = LPL_WAYS_LRU;
	else if (lpl_word_is(word, "plru"))
		*order = LPL_WAYS_PLRU;
	else if (lpl_word_follows(word, "random", &value) && lpl_word_number(value, seed))
		*order = LPL_WAYS_RANDOM;
	else
		return false;
	return true;
}
