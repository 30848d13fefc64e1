/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A stream to a choice as a reader may have it that was asked for steps. */
#include "as_steps.h"

#include <stdlib.h>
#include <string.h>

#include "../unit/chunk_clocks.h"
#include "record/visits.h"

void as_steps_init(struct as_steps *as, struct random *random)
{
	memset(as, 0, sizeof(*as));
	as->random = random;
}

void as_steps_free(struct as_steps *as)
{
	free(as->passed);
	as->passed = NULL;
}

static void must(bool holds)
{
	if (!holds)
		abort();
}

static bool same_page(const struct lpl_visit *a, const struct lpl_visit *b)
{
	return a->page == b->page && a->space == b->space;
}

static struct lpl_visit visit_of(const struct lpl_ref *ref)
{
	const bool walk = ref->type == LPL_WALK_READ || ref->type == LPL_WALK_WRITE;
	const bool write = ref->type == LPL_WRITE || ref->type == LPL_WALK_WRITE;

	return (struct lpl_visit){ .space = walk ? LPL_VISIT_WALK : ref->space,
				   .page = ref->address >> LPL_PAGE_SHIFT, .write = write, .reads = !write };
}

void as_steps_copy_strings(struct random *random, struct stream *stream)
{
	for (size_t i = 0; i + 4 <= stream->count; i++) {
		size_t more = random_below(random, 8) == 0 ? 2 * (1 + random_below(random, 4)) : 0;

		if (stream->item[i].is_event || stream->item[i + 1].is_event)
			continue;
		for (; more > 0 && i + 2 < stream->count && !stream->item[i + 2].is_event; more--, i++) {
			const struct lpl_ref *from = &stream->item[i].ref;
			struct lpl_ref *to = &stream->item[i + 2].ref;

			to->space = from->space;
			to->address = from->address;
			to->length = from->length;
			to->type = from->type;
			to->flags = from->flags;
		}
	}
}

/* One more; several to a page in a row are one.  Returns how many there are. */
static size_t add(struct lpl_visit *visit, size_t count, const struct lpl_visit *one)
{
	if (count > 0 && same_page(&visit[count - 1], one)) {
		visit[count - 1].write |= one->write;
		return count;
	}
	visit[count] = *one;
	return count + 1;
}

static void pass(struct as_steps *as, const struct lpl_visit *one)
{
	if (as->count == as->room) {
		as->room = 2 * as->room + 64;
		as->passed = realloc(as->passed, as->room * sizeof(*as->passed));
		must(as->passed != NULL);
	}
	as->count = add(as->passed, as->count, one);
}

static uint32_t number_of(struct as_steps *as, const struct lpl_visit *visit, uint32_t visits)
{
	struct lpl_pattern *pattern = as->pattern;
	uint32_t number = 0;

	for (; number < as->patterns; number++) {
		const struct lpl_visit *other = &as->visit[pattern[number].visit];
		uint32_t i = 0;

		while (pattern[number].visits == visits && i < visits && same_page(&visit[i], &other[i]) &&
		       visit[i].write == other[i].write && visit[i].reads == other[i].reads &&
		       visit[i].again == other[i].again)
			i++;
		if (i == visits) {
			as->again++;
			return number;
		}
	}
	must(as->patterns < AS_STEPS_PATTERNS);
	pattern[number].visit = number == 0 ? 0 : pattern[number - 1].visit + pattern[number - 1].visits;
	pattern[number].visits = visits;
	memcpy(&as->visit[pattern[number].visit], visit, visits * sizeof(*visit));
	return as->patterns++;
}

/* Some references as a step. */
static void step(struct as_steps *as, struct lpl_choice *choice, const struct lpl_chunk *chunk, const struct item *item,
		 size_t refs, bool afresh)
{
	struct lpl_visit group[AS_STEPS_GROUP];
	struct lpl_page_steps steps, passed;
	struct lpl_report report = { 0 };
	size_t visits = 0;
	uint32_t number;

	for (size_t i = 0; i < refs; i++) {
		const struct lpl_visit one = visit_of(&item[i].ref);

		if (visits > 0 && !same_page(&group[visits - 1], &one))
			visits = lpl_visits_fold(group, visits);
		visits = add(group, visits, &one);
	}
	visits = lpl_visits_fold(group, visits);
	if (afresh)
		as->patterns = 0;
	number = number_of(as, group, (uint32_t)visits);
	steps = (struct lpl_page_steps){ .step = &number, .count = 1, .pattern = as->pattern, .visit = as->visit,
					 .refs = refs, .afresh = afresh };
	must(lpl_choice_step(choice, chunk, &steps, &passed, &report) == LPL_OK);
	must(passed.refs == (passed.count > 0 ? refs : 0));
	if (passed.count == 0)
		return;
	as->givens = passed.afresh ? 0 : as->givens;
	for (size_t i = 0; i < passed.count; i++) {
		const struct lpl_pattern *pattern = &passed.pattern[passed.step[i]];
		struct lpl_pattern *given = &as->given[passed.step[i]];

		must(passed.step[i] <= as->givens && as->givens < AS_STEPS_PATTERNS);
		if (passed.step[i] == as->givens)
			as->given[as->givens++] = *pattern;
		must(given->visit == pattern->visit && given->visits == pattern->visits);
		for (uint32_t j = 0; j < pattern->visits; j++) {
			const struct lpl_visit *visit = &passed.visit[pattern->visit + j];

			pass(as, visit);
			for (unsigned int again = visit->again; again > 0; again--) {
				pass(as, visit - 1);
				pass(as, visit);
				as->repeated++;
			}
		}
	}
}

void as_steps_send(struct as_steps *as, const struct stream *in, struct lpl_choice *choice, size_t records,
		   const struct stream *out)
{
	struct lpl_sink *sink = lpl_choice_sink(choice);
	struct lpl_report report = { 0 };
	size_t taken = out->count;
	bool afresh = true;

	as->count = as->givens = 0;
	for (size_t begin = 0, end; begin < in->count; begin = end) {
		const size_t size = 1 + random_below(as->random, (uint32_t)records);
		struct lpl_chunk chunk;
		enum lpl_need need;

		end = size < in->count - begin ? begin + size : in->count;
		chunk = chunk_clocks(&in->item[begin], &in->item[end - 1]);
		need = lpl_choice_need(choice, &chunk);
		as->chunks[need]++;
		afresh |= random_below(as->random, 4) == 0;
		for (size_t i = begin, next; i < end; i = next) {
			const struct item *item = &in->item[i];
			const size_t group = 1 + random_below(as->random, random_below(as->random, 4) ? 2 : AS_STEPS_GROUP);

			next = i + 1;
			if (item->is_event) {
				if (need != LPL_NEED_NOTHING)
					must(sink->event(sink, &item->event, &report) == LPL_OK);
			} else if (need == LPL_NEED_REFS) {
				must(sink->refs(sink, &item->ref, 1, &report) == LPL_OK);
				for (; taken < out->count; taken++)
					if (!out->item[taken].is_event) {
						const struct lpl_visit one = visit_of(&out->item[taken].ref);

						pass(as, &one);
					}
			} else if (need == LPL_NEED_ALL) {
				while (next < end && next - i < group && !in->item[next].is_event)
					next++;
				step(as, choice, &chunk, item, next - i, afresh);
				afresh = false;
			}
		}
	}
	must(sink->finish(sink, &report) == LPL_OK);
}

size_t as_steps_difference(struct as_steps *as, const struct stream *expected)
{
	struct lpl_visit *visit = calloc(expected->count + 1, sizeof(*visit));
	size_t count = 0, at = 0;

	must(visit != NULL);
	for (size_t i = 0; i < expected->count; i++)
		if (!expected->item[i].is_event) {
			const struct lpl_visit one = visit_of(&expected->item[i].ref);

			count = add(visit, count, &one);
		}
	while (at < count && at < as->count && same_page(&visit[at], &as->passed[at]) &&
	       visit[at].write == as->passed[at].write)
		at++;
	at = at == count && at == as->count ? SIZE_MAX : at;
	free(visit);
	return at;
}
