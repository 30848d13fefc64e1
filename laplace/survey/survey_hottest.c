/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which pages are hot; see survey_hottest.h. */
#include "survey_hottest.h"

#include <stdlib.h>

/* ---- the hottest ---- */

static int by_heat(const void *a, const void *b)
{
	const struct lpl_survey_hot_page *one = a, *other = b;

	if (one->references != other->references)
		return one->references > other->references ? -1 : 1;
	return one->page < other->page ? -1 : 1;
}

static void sort(struct lpl_survey_hottest *result, size_t most)
{
	if (result->count > 0)
		qsort(result->page, result->count, sizeof(*result->page), by_heat);
	if (result->count > most)
		result->count = most;
}

/* Whenever twice as many have come as are kept, the colder half goes: that is cheap for each of them. */
static void keep(struct lpl_survey_hottest *result, size_t most, const struct lpl_survey_hot_page *page)
{
	if (result->count >= 2 * most)
		sort(result, most);
	result->page[result->count++] = *page;
}

void lpl_survey_hottest_sort(struct survey_hottest *hottest)
{
	for (int side = 0; side < LPL_SURVEY_SIDES; side++)
		sort(&hottest->result[side], hottest->most);
}

/* ---- how many have how many references ---- */

static unsigned int step_of(uint64_t references)
{
	unsigned int log = references < 64 ? 0 : 63 - (unsigned int)__builtin_clzll(references);

	if (references < 64)
		return (unsigned int)references;
	return 64 + (log - 6) * 64 + (unsigned int)(references >> (log - 6) & 63);
}

uint64_t lpl_survey_hottest_pages(const struct survey_hottest *hottest, uint64_t references)
{
	uint64_t pages = 0, covered = 0;

	for (unsigned int i = HEAT_STEPS; i-- > 0 && covered < references;) {
		const struct heat_step *step = &hottest->step[i];
		double each = (double)step->references / (double)step->pages;
		uint64_t needed;

		if (step->pages == 0)
			continue;
		needed = (uint64_t)((double)(references - covered) / each);
		needed += (double)needed * each < (double)(references - covered);
		if (needed > step->pages)
			needed = step->pages;
		pages += needed;
		covered += step->references;
	}
	return pages;
}

/* ---- the whole ---- */

void lpl_survey_hottest_add(struct survey_hottest *hottest,
			    const struct lpl_survey_hot_page *page, enum lpl_survey_side side)
{
	struct heat_step *step = &hottest->step[step_of(page->references)];

	step->pages++;
	step->references += page->references;
	keep(&hottest->result[side], hottest->most, page);
}

bool lpl_survey_hottest_init(struct survey_hottest *hottest, size_t most)
{
	bool enough = true;

	hottest->most = most;
	for (int side = 0; side < LPL_SURVEY_SIDES; side++) {
		struct lpl_survey_hottest *result = &hottest->result[side];

		result->page = calloc(2 * most + 1, sizeof(*result->page));
		enough &= result->page != NULL;
	}
	return enough;
}

void lpl_survey_hottest_free(struct survey_hottest *hottest)
{
	for (int side = 0; side < LPL_SURVEY_SIDES; side++)
		free(hottest->result[side].page);
}
