/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A choice that finds canonical pages as it goes (select.h), against a merge of the whole stream
 * (lpl_merge_canonical_open()) of which the same is taken by definition: the same pages, whatever
 * is chosen, in however large parts the stream comes, and where chunks of it are passed over.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <laplace/merge.h>
#include <laplace/select.h>
#include <laplace/trace.h>

#include "guest.h"
#include "oracle.h"
#include "../unit/chunk_clocks.h"

#define CHUNK 8		/* records */

static const char *const kinds[] = { NULL, "anonymous", "file,kernel", "page-table,shm" };
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void merge(const struct stream *in, struct stream *out)
{
	struct lpl_report report = {0};
	struct lpl_merge_output *output;
	struct lpl_merge *merge;
	struct collector collector;

	collector_init(&collector, out);
	assert_int_equal(lpl_merge_canonical_open(&output, &collector.sink, &report), LPL_OK);
	assert_int_equal(lpl_merge_open(&merge, output, NULL, &report), LPL_OK);
	assert_int_equal(stream_send(in, lpl_merge_sink(merge), 7, &report), LPL_OK);
	lpl_merge_close(merge);
	lpl_merge_canonical_close(output);
}

/* Is the page of a kind that is wanted, as the merged stream has it? */
static bool is_of_kind(const struct stream *merged, size_t before, uint64_t page, const char *wanted)
{
	for (size_t i = 0; i < before; i++) {
		const struct lpl_event *event = &merged->item[i].event;
		const char *name;

		if (!merged->item[i].is_event || event->tag != LPL_EVENT_PAGE ||
		    event->arg[LPL_EVENT_PAGE_NUMBER] != page)
			continue;
		name = lpl_page_kind_name((enum lpl_page_kind)event->arg[LPL_EVENT_PAGE_KIND]);
		return strstr(wanted, name) != NULL;
	}
	return false;
}

static bool is_chosen(const struct lpl_choice_options *options, const struct lpl_ref *ref)
{
	const unsigned int mode = ref->flags & LPL_USER ? LPL_CHOOSE_USER : LPL_CHOOSE_KERNEL;
	const uint64_t last = ref->address + (ref->flags & LPL_PAGED ? 4096 : ref->length) - 1;

	return (!options->modes || (options->modes & mode)) &&
	       (!options->types || (options->types >> ref->type & 1)) &&
	       (!options->address_end ||
		(ref->address < options->address_end && last >= options->address)) &&
	       (!options->from.kind || ref->ref >= options->from.number) &&
	       (!options->to.kind || ref->ref < options->to.number);
}

/* Of the merged stream what is chosen by what was there before: the n-th reference is the n-th. */
static void choose(const struct stream *in, const struct stream *merged,
		   const struct lpl_choice_options *options, struct stream *out)
{
	size_t j = 0;

	for (size_t i = 0; i < merged->count; i++) {
		const struct item *item = &merged->item[i];
		struct lpl_ref ref = item->ref;

		if (item->is_event) {
			stream_add_event(out, &item->event);
			continue;
		}
		while (in->item[j].is_event)
			j++;
		if (is_chosen(options, &in->item[j].ref) &&
		    (!options->kinds ||
		     is_of_kind(merged, i, ref.address >> LPL_PAGE_SHIFT, options->kinds))) {
			/* what a canonical trace does not have */
			ref.address |= in->item[j].ref.address & 4095;
			ref.length = in->item[j].ref.length;
			ref.flags = in->item[j].ref.flags;
			stream_add_ref(out, &ref);
		}
		j++;
	}
}

/* As a reader would that asks: what is not needed does not come. */
static void send_chunks(const struct stream *in, struct lpl_choice *choice)
{
	struct lpl_sink *sink = lpl_choice_sink(choice);
	struct lpl_report report = {0};

	for (size_t i = 0; i < in->count; i += CHUNK) {
		const size_t end = i + CHUNK < in->count ? i + CHUNK : in->count;
		const struct lpl_chunk chunk = chunk_clocks(&in->item[i], &in->item[end - 1]);
		const enum lpl_need need = lpl_choice_need(choice, &chunk);

		for (size_t j = i; j < end && need != LPL_NEED_NOTHING; j++) {
			const struct item *item = &in->item[j];

			if (item->is_event)
				assert_int_equal(sink->event(sink, &item->event, &report), LPL_OK);
			else if (need == LPL_NEED_ALL)
				assert_int_equal(sink->refs(sink, &item->ref, 1, &report), LPL_OK);
		}
	}
	assert_int_equal(sink->finish(sink, &report), LPL_OK);
}

static void drop_events(struct stream *stream)
{
	size_t kept = 0;

	for (size_t i = 0; i < stream->count; i++)
		if (!stream->item[i].is_event)
			stream->item[kept++] = stream->item[i];
	stream->count = kept;
}

static void random_options(struct random *random, const struct stream *in,
			   struct lpl_choice_options *options)
{
	*options = (struct lpl_choice_options){ .addresses = LPL_ADDRESSES_CANONICAL };
	if (random_below(random, 4) == 0)
		options->modes = 1 + random_below(random, 2);
	if (random_below(random, 4) == 0)
		options->types = 1 + random_below(random, 31);
	if (random_below(random, 4) == 0) {
		options->address = UINT64_C(0x10000000) + random_below(random, 0x6000);
		options->address_end = options->address + 1 + random_below(random, 0x6000);
	}
	options->kinds = kinds[random_below(random, 2) ? 0 : random_below(random, KINDS)];
	if (random_below(random, 3) == 0)
		options->from = (struct lpl_moment){ .kind = LPL_MOMENT_REFERENCE,
			.number = 1 + random_below(random, (uint32_t)in->count) };
	if (random_below(random, 3) == 0)
		options->to = (struct lpl_moment){ .kind = LPL_MOMENT_REFERENCE,
			.number = 1 + random_below(random, (uint32_t)in->count) };
}

static void expect_equal(const struct stream *expected, const struct stream *found,
			 const struct stream *in, unsigned int number)
{
	size_t place;

	if (stream_equal(expected, found, &place))
		return;
	stream_print("the stream", in);
	stream_print("expected", expected);
	stream_print("found", found);
	fail_msg("case %u of seed %llu differs at %zu", number,
		 (unsigned long long)random_seed(), place);
}

static void test_as_merged(void **state)
{
	struct random random = { random_seed() };
	struct stream in = {0}, merged = {0}, expected = {0}, found = {0};
	struct lpl_report report = {0};
	uint64_t chosen = 0;

	(void)state;
	for (unsigned int number = 0; number < 4000; number++) {
		struct plot plot = random_plot(&random);
		const size_t batch = 1 + random_below(&random, 40);
		struct lpl_choice_options options;
		struct collector collector;
		struct lpl_choice *choice;

		plot.silent = random_below(&random, 2) != 0;
		play_guest(&random, &plot, &in);
		if (in.count == 0)
			continue;
		random_options(&random, &in, &options);
		stream_clear(&merged);
		stream_clear(&expected);
		stream_clear(&found);
		merge(&in, &merged);
		choose(&in, &merged, &options, &expected);
		collector_init(&collector, &found);
		assert_int_equal(lpl_choice_open(&choice, &options, &collector.sink, &report), LPL_OK);
		assert_int_equal(stream_send(&in, lpl_choice_sink(choice), batch, &report), LPL_OK);
		assert_true(found.finished);
		chosen += lpl_choice_passed(choice);
		lpl_choice_close(choice);
		expected.finished = true;
		expect_equal(&expected, &found, &in, number);

		/* and in chunks, of which some do not come: their events do not, either */
		stream_clear(&found);
		assert_int_equal(lpl_choice_open(&choice, &options, &collector.sink, &report), LPL_OK);
		send_chunks(&in, choice);
		lpl_choice_close(choice);
		drop_events(&expected);
		drop_events(&found);
		expect_equal(&expected, &found, &in, number);
	}
	assert_true(chosen > 20000);
	stream_free(&in);
	stream_free(&merged);
	stream_free(&expected);
	stream_free(&found);
}

/* ---- as steps ---- */

#define GROUP		2	/* references in a pattern, at most */
#define PATTERNS	4000

static bool same_page(const struct lpl_visit *a, const struct lpl_visit *b)
{
	return a->page == b->page && a->space == b->space;
}

/* A reference more; several to a page in a row are one visit.  Returns how many there are. */
static size_t add_visit(struct lpl_visit *visit, size_t first, size_t count, const struct lpl_ref *ref)
{
	const bool walk = ref->type == LPL_WALK_READ || ref->type == LPL_WALK_WRITE;
	const bool write = ref->type == LPL_WRITE || ref->type == LPL_WALK_WRITE;
	const struct lpl_visit one = { .space = walk ? LPL_VISIT_WALK : ref->space,
				       .page = ref->address >> LPL_PAGE_SHIFT, .write = write, .reads = !write };

	if (count > first && same_page(&visit[count - 1], &one)) {
		visit[count - 1].write |= write;
		return count;
	}
	visit[count] = one;
	return count + 1;
}

/* The stream in patterns, as a reader may have it: what is as it was before is one again. */
struct patterns {
	struct lpl_pattern pattern[PATTERNS];
	struct lpl_visit visit[PATTERNS * GROUP];
	uint32_t patterns;
	uint64_t again;
};

static uint32_t number_of(struct patterns *known, const struct lpl_visit *visit, uint32_t visits)
{
	struct lpl_pattern *pattern = known->pattern;
	uint32_t number = 0;

	for (; number < known->patterns; number++) {
		const struct lpl_visit *other = &known->visit[pattern[number].visit];
		uint32_t i = 0;

		while (pattern[number].visits == visits && i < visits && same_page(&visit[i], &other[i]) &&
		       visit[i].write == other[i].write && visit[i].reads == other[i].reads)
			i++;
		if (i == visits)
			break;
	}
	known->again += number < known->patterns;
	if (number < known->patterns)
		return number;
	pattern[number].visit = number == 0 ? 0 : pattern[number - 1].visit + pattern[number - 1].visits;
	pattern[number].visits = visits;
	memcpy(&known->visit[pattern[number].visit], visit, visits * sizeof(*visit));
	return known->patterns++;
}

/* Steps of a pattern each: what they are on canonical pages, joined to what there is. */
static size_t step(struct lpl_choice *choice, struct patterns *known, const struct lpl_visit *visit,
		   uint32_t visits, bool afresh, struct lpl_visit *out, size_t count)
{
	const uint32_t number = (afresh ? known->patterns = 0 : 0, number_of(known, visit, visits));
	const struct lpl_page_steps steps = { .step = &number, .count = 1, .pattern = known->pattern,
					      .visit = known->visit, .refs = 1, .afresh = afresh };
	struct lpl_report report = {0};
	struct lpl_page_steps passed;

	assert_int_equal(lpl_choice_step(choice, &steps, &passed, &report), LPL_OK);
	assert_int_equal(passed.count, 1);
	assert_int_equal(passed.afresh, afresh);
	for (uint32_t i = 0; i < passed.pattern[passed.step[0]].visits; i++) {
		const struct lpl_visit *one = &passed.visit[passed.pattern[passed.step[0]].visit + i];

		if (count > 0 && same_page(&out[count - 1], one))
			out[count - 1].write |= one->write;
		else
			out[count++] = *one;
	}
	return count;
}

static void test_steps(void **state)
{
	struct random random = { random_seed() };
	struct stream in = {0}, merged = {0}, events = {0};
	struct lpl_report report = {0};
	static struct patterns known;

	(void)state;
	known.again = 0;
	for (unsigned int number = 0; number < 1500; number++) {
		const struct lpl_choice_options options = { .addresses = LPL_ADDRESSES_CANONICAL };
		struct plot plot = random_plot(&random);
		struct lpl_visit group[GROUP], *expected, *found;
		struct collector collector;
		struct lpl_choice *choice;
		size_t count = 0, founds = 0;
		bool afresh = true;

		plot.silent = random_below(&random, 2) != 0;
		plot.quiet = 4 + random_below(&random, 60);
		plot.count = 200;
		play_guest(&random, &plot, &in);
		stream_clear(&merged);
		stream_clear(&events);
		merge(&in, &merged);
		expected = calloc(in.count + 1, sizeof(*expected));
		found = calloc(in.count + 1, sizeof(*found));
		assert_true(expected != NULL && found != NULL && in.count < PATTERNS);
		for (size_t i = 0; i < merged.count; i++)
			if (!merged.item[i].is_event)
				count = add_visit(expected, 0, count, &merged.item[i].ref);
		collector_init(&collector, &events);
		assert_int_equal(lpl_choice_open(&choice, &options, &collector.sink, &report), LPL_OK);
		assert_true(lpl_choice_steps(choice));
		for (size_t i = 0; i < in.count;) {
			struct lpl_sink *sink = lpl_choice_sink(choice);
			size_t visits = 0, refs = 1 + random_below(&random, GROUP);

			if (in.item[i].is_event) {
				assert_int_equal(sink->event(sink, &in.item[i++].event, &report), LPL_OK);
				continue;
			}
			for (; refs > 0 && i < in.count && !in.item[i].is_event; refs--)
				visits = add_visit(group, 0, visits, &in.item[i++].ref);
			founds = step(choice, &known, group, (uint32_t)visits, afresh, found, founds);
			afresh = random_below(&random, 50) == 0;
		}
		lpl_choice_close(choice);
		for (size_t i = 0; i < count || i < founds; i++)
			if (i >= count || i >= founds || !same_page(&expected[i], &found[i]) ||
			    expected[i].write != found[i].write)
				fail_msg("case %u of seed %llu: visit %zu of %zu differs", number,
					 (unsigned long long)random_seed(), i, count);
		free(expected);
		free(found);
	}
	assert_in_range(known.again, 10000, UINT64_MAX);	/* patterns that come again */
	stream_free(&in);
	stream_free(&merged);
	stream_free(&events);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_merged),
		cmocka_unit_test(test_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
