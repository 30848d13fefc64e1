/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Some of a stream's steps, as a stream of their own. */
#include "chosen_steps.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void lpl_chosen_steps_free(struct chosen_steps *chosen)
{
	free(chosen->number);
	free(chosen->pattern);
	free(chosen->step);
	*chosen = (struct chosen_steps){ .patterns = 0 };
}

static void begin_afresh(struct chosen_steps *chosen)
{
	if (chosen->number_room > 0)
		memset(chosen->number, 0, chosen->number_room * sizeof(*chosen->number));
	chosen->patterns = 0;
	chosen->afresh = true;
}

bool lpl_chosen_steps_take(struct chosen_steps *chosen, struct lpl_page_steps *steps, bool wanted)
{
	if (steps->afresh)
		begin_afresh(chosen);
	if (!wanted || steps->count == 0) {
		steps->count = steps->refs = 0;
		return true;
	}
	if (!lpl_reserve(chosen->step, chosen->step_room, steps->count - 1))
		return false;
	for (size_t i = 0; i < steps->count; i++) {
		const uint32_t from = steps->step[i];

		if (from >= chosen->number_room && !lpl_reach(chosen->number, chosen->number_room, from))
			return false;
		if (chosen->number[from] == 0) {
			if (!lpl_reserve(chosen->pattern, chosen->pattern_room, chosen->patterns))
				return false;
			chosen->pattern[chosen->patterns++] = steps->pattern[from];
			chosen->number[from] = chosen->patterns;
		}
		chosen->step[i] = chosen->number[from] - 1;
	}
	steps->step = chosen->step;
	steps->pattern = chosen->pattern;
	steps->afresh = chosen->afresh;
	chosen->afresh = false;
	return true;
}
