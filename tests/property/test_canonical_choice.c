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

#include "as_steps.h"
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
			else if (need != LPL_NEED_EVENTS)
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

static void random_time(struct random *random, const struct stream *in, struct lpl_choice_options *options)
{
	if (random_below(random, 3) == 0)
		options->from = (struct lpl_moment){ .kind = LPL_MOMENT_REFERENCE,
			.number = 1 + random_below(random, (uint32_t)in->count) };
	if (random_below(random, 3) == 0)
		options->to = (struct lpl_moment){ .kind = LPL_MOMENT_REFERENCE,
			.number = 1 + random_below(random, (uint32_t)in->count) };
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
	random_time(random, in, options);
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

/* Steps on canonical pages, of which some are in the time that is chosen. */
static void test_steps(void **state)
{
	struct random random = { random_seed() };
	struct stream in = {0}, merged = {0}, expected = {0}, passed = {0};
	struct lpl_report report = {0};
	static struct as_steps as;

	(void)state;
	as_steps_init(&as, &random);
	for (unsigned int number = 0; number < 1500; number++) {
		struct lpl_choice_options options = { .addresses = LPL_ADDRESSES_CANONICAL };
		struct plot plot = random_plot(&random);
		struct collector collector;
		struct lpl_choice *choice;
		size_t place;

		plot.silent = random_below(&random, 2) != 0;
		plot.quiet = 4 + random_below(&random, 60);
		plot.count = 200;
		play_guest(&random, &plot, &in);
		as_steps_copy_strings(&random, &in);
		random_time(&random, &in, &options);
		stream_clear(&merged);
		stream_clear(&expected);
		stream_clear(&passed);
		merge(&in, &merged);
		choose(&in, &merged, &options, &expected);
		collector_init(&collector, &passed);
		assert_int_equal(lpl_choice_open(&choice, &options, &collector.sink, &report), LPL_OK);
		assert_true(lpl_choice_steps(choice));
		as_steps_send(&as, &in, choice, 50, &passed);
		lpl_choice_close(choice);
		place = as_steps_difference(&as, &expected);
		if (place != SIZE_MAX)
			fail_msg("case %u of seed %llu: visit %zu differs", number,
				 (unsigned long long)random_seed(), place);
	}
	assert_in_range(as.again, 10000, UINT64_MAX);	/* patterns that come again */
	assert_in_range(as.chunks[LPL_NEED_REFS], 200, UINT64_MAX);
	assert_in_range(as.repeated, 1000, UINT64_MAX);
	as_steps_free(&as);
	stream_free(&in);
	stream_free(&merged);
	stream_free(&expected);
	stream_free(&passed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_merged),
		cmocka_unit_test(test_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
