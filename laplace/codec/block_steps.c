/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Blocks as steps.  A pattern has the pages of lpl_block_expand()'s references, in that order: fetches, all of them on
 * the trace's page (but for an instruction that crosses into the next, which is alone in its
 * trace), and between them data references, each after the fetches at its instruction count and
 * before.  So between two data references the trace's page is visited if at least one fetch is.
 *
 * A block of which references move about, or which several spaces execute, comes back to pages where it was before. So
 * patterns are looked up by what they have, and one that is there is not made again: it
 * would be given canonical pages and be simulated as one that nothing is known of.
 */
#include <stdlib.h>
#include <string.h>

#include "block_steps.h"
#include "record/visits.h"

enum { PAGE_BITS = LPL_PAGE_SHIFT };

void lpl_block_steps_free(struct lpl_block_steps *steps)
{
	free(steps->step);
	free(steps->pattern);
	free(steps->visit);
	free(steps->place);
	*steps = (struct lpl_block_steps){ .steps = 0 };
}

void lpl_block_steps_clear(struct lpl_block_steps *steps)
{
	steps->steps = steps->patterns = steps->visits = 0;
	if (steps->places > 0)
		memset(steps->place, 0, steps->places * sizeof(*steps->place));
}

/* ---- the patterns that are there ---- */

enum { LEAST_PLACES = 1024 };

static size_t place_of(const struct lpl_block_steps *steps, const struct lpl_pattern *pattern)
{
	const struct lpl_visit *visit = &steps->visit[pattern->visit];
	uint64_t hash = pattern->visits;

	for (uint32_t i = 0; i < pattern->visits; i++) {
		hash ^= visit[i].space * UINT64_C(0xff51afd7ed558ccd);
		hash ^= (uint64_t)visit[i].page << 12 | (uint64_t)visit[i].again << 2 | (uint64_t)visit[i].write << 1 |
			visit[i].reads;
		hash *= UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	return hash & (steps->places - 1);
}

static bool is_same(const struct lpl_block_steps *steps, const struct lpl_pattern *one,
		    const struct lpl_pattern *other)
{
	return one->visits == other->visits &&
	       memcmp(&steps->visit[one->visit], &steps->visit[other->visit],
		      one->visits * sizeof(*steps->visit)) == 0;
}

/* The place of the pattern, or a free one for it. */
static uint32_t *find_place(const struct lpl_block_steps *steps, const struct lpl_pattern *pattern)
{
	size_t at = place_of(steps, pattern);

	while (steps->place[at] != 0 && !is_same(steps, pattern, &steps->pattern[steps->place[at] - 1]))
		at = (at + 1) & (steps->places - 1);
	return &steps->place[at];
}

/* At least every other place stays free.  false: no memory. */
static bool reserve_place(struct lpl_block_steps *steps)
{
	const size_t places = steps->places > 0 ? 2 * steps->places : LEAST_PLACES;
	uint32_t *place;

	if (steps->patterns < steps->places / 2)
		return true;
	place = calloc(places, sizeof(*place));
	if (place == NULL)
		return false;
	free(steps->place);
	steps->place = place;
	steps->places = places;
	for (size_t i = 0; i < steps->patterns; i++)
		*find_place(steps, &steps->pattern[i]) = (uint32_t)i + 1;
	return true;
}

/* ---- patterns ---- */

/* Room for a pattern of so many visits, which is the next one.  NULL: no memory. */
static struct lpl_visit *begin_pattern(struct lpl_block_steps *steps, size_t visits)
{
	if (!reserve_place(steps) || !lpl_reserve(steps->pattern, steps->pattern_room, steps->patterns) ||
	    !lpl_reserve(steps->visit, steps->visit_room, steps->visits + visits))
		return NULL;
	steps->pattern[steps->patterns].visit = (uint32_t)steps->visits;
	return &steps->visit[steps->visits];
}

/* It has so many.  It is a new one only if no other has the same. */
static bool end_pattern(struct lpl_block_steps *steps, size_t visits, uint32_t *number)
{
	struct lpl_pattern *pattern = &steps->pattern[steps->patterns];
	uint32_t *place;

	pattern->visits = (uint32_t)lpl_visits_fold(&steps->visit[pattern->visit], visits);
	place = find_place(steps, pattern);
	if (*place == 0) {
		*place = (uint32_t)++steps->patterns;
		steps->visits += pattern->visits;
	}
	*number = *place - 1;
	return lpl_block_steps_again(steps, *number);
}

/* One more reference, to a page; several to one in a row are one visit. */
static inline struct lpl_visit *visit(struct lpl_visit *first, struct lpl_visit *next,
				      uint64_t space, uint64_t page, bool write)
{
	if (next > first && next[-1].page == page && next[-1].space == space) {
		next[-1].write |= write;
		return next;
	}
	next = first + lpl_visits_fold(first, (size_t)(next - first));
	*next = (struct lpl_visit){ .space = space, .page = page, .write = write, .reads = !write };
	return next + 1;
}

static uint64_t page_of(uint64_t word)
{
	return (uint64_t)((int64_t)(word << (64 - LPL_WORD_ADDRESS_BITS)) >> (64 - LPL_WORD_ADDRESS_BITS)) >> PAGE_BITS;
}

static inline struct lpl_visit visit_of(uint64_t word, uint64_t space)
{
	const bool write = (word & LPL_WORD_WRITE) != 0;

	return (struct lpl_visit){ .space = word & LPL_WORD_DATA ? space : LPL_VISIT_WALK, .page = page_of(word),
				   .write = write, .reads = !write };
}

/* Do two references differ in nothing but when they are made, and where on one page? */
static inline bool is_alike(uint64_t one, uint64_t other)
{
	return ((one ^ other) & ~((UINT64_C(1) << PAGE_BITS) - 1) & ~(UINT64_C(0xff) << LPL_WORD_COUNT_SHIFT)) == 0;
}

/*
 * The elements of a string that follow a data reference which is no fetch's neighbour any more, as far as they change
 * nothing: they are on its page, or, in turn, on the two pages where the last two were, each read or written as before.  Of
 * pairs, the last one may go on with something else, and stays.  Returns the word after them.
 */
static const uint64_t *pass_string(struct lpl_visit *first, struct lpl_visit **next, uint64_t space,
				   const uint64_t *begin, const uint64_t *word, const uint64_t *end)
{
	const uint64_t *at = word;

	while (at < end && is_alike(at[0], at[-1]))
		at++;
	if (at > word || word - begin < 2 || end - word < 4)
		return at;
	while (end - at >= 2 && is_alike(at[0], at[-2]) && is_alike(at[1], at[-1]))
		at += 2;
	if (at - word < 4 || *next - first < 2)
		return word;
	for (int i = 0; i < 2; i++) {
		const struct lpl_visit *last = *next - 2 + i, as_is = visit_of(word[i - 2], space);

		if (!lpl_same_visit(last, &as_is) || last->again != 0)
			return word;
	}
	/* they are not those of other references, too, and will not change any more */
	*next = first + lpl_visits_fold(first, (size_t)(*next - first));
	(*next)[-1].again += (uint64_t)(at - word) / 2 - 1;
	return at - 2;
}

bool lpl_block_steps_block(struct lpl_block_steps *steps, const struct lpl_instruction_trace *trace,
			   const struct lpl_token *token, uint64_t space, const uint64_t *word,
			   size_t words, uint8_t low, uint32_t *number)
{
	const uint64_t code = trace->address >> PAGE_BITS;
	const uint64_t *const begin = word, *const end = word + words;
	struct lpl_visit *first = begin_pattern(steps, 2 * words + 2), *next = first;
	unsigned int fetched = 0;

	if (!first)
		return false;
	if (token->fetched > 0 && lpl_trace_crosses(trace)) {
		next = visit(first, next, space, code, false);
		next = visit(first, next, space,
			     (trace->address + 0x1000) >> PAGE_BITS, false);
		fetched = token->fetched;
	}
	while (word < end) {
		const uint64_t here = *word++;
		const uint8_t offset = (uint8_t)((here >> LPL_WORD_COUNT_SHIFT) - low);

		if (fetched < token->fetched && offset >= fetched) {
			next = visit(first, next, space, code, false);
			fetched = offset + 1U;
		}
		next = visit(first, next, here & LPL_WORD_DATA ? space : LPL_VISIT_WALK,
			     page_of(here), (here & LPL_WORD_WRITE) != 0);
		if ((here >> LPL_WORD_LENGTH_SHIFT & 7) == LPL_WORD_LONG)
			word++;
		else if (fetched == token->fetched && here & LPL_WORD_DATA)
			word = pass_string(first, &next, space, begin, word, end);
	}
	if (fetched < token->fetched)
		next = visit(first, next, space, code, false);
	return end_pattern(steps, (size_t)(next - first), number);
}

bool lpl_block_steps_ref(struct lpl_block_steps *steps, const struct lpl_ref *ref)
{
	const bool walk = ref->type == LPL_WALK_READ || ref->type == LPL_WALK_WRITE;
	struct lpl_visit *first = begin_pattern(steps, 1);
	uint32_t number;

	if (!first)
		return false;
	(void)visit(first, first, walk ? LPL_VISIT_WALK : ref->space, ref->address >> PAGE_BITS,
		    ref->type == LPL_WRITE || ref->type == LPL_WALK_WRITE);
	return end_pattern(steps, 1, &number);
}
