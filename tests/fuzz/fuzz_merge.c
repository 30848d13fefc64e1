/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libFuzzer's entry to the merge: records of any kind in any order, made of small numbers
 * that meet often.  Nothing may crash, and the books have to add up.
 */
#include <stdlib.h>
#include <string.h>

#include <laplace/merge.h>
#include <laplace/select.h>

struct input {
	const uint8_t *data;
	size_t size;
};

static unsigned int byte(struct input *input)
{
	if (input->size == 0)
		return 0;
	input->size--;
	return *input->data++;
}

/* Mostly a page of a few, or a small number; now and then anything. */
static uint64_t number(struct input *input)
{
	unsigned int first = byte(input);
	uint64_t value = first & 31;

	switch (first >> 5) {
	case 0:
	case 1:
	case 2:
		return value;
	case 3:
	case 4:
		return value << LPL_PAGE_SHIFT;
	case 5:
		return (UINT64_C(0xffff888000000) + value) << LPL_PAGE_SHIFT;
	case 6:
		return KTR_NONE - value;
	default:
		return value << (byte(input) & 63);
	}
}

static int take_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
		     struct lpl_report *report)
{
	(void)sink;
	(void)refs;
	(void)count;
	(void)report;
	return LPL_OK;
}

static int take_event(struct lpl_sink *sink, const struct lpl_event *event,
		      struct lpl_report *report)
{
	(void)sink;
	(void)event;
	(void)report;
	return LPL_OK;
}

static int take_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	(void)sink;
	(void)report;
	return LPL_OK;
}

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* Returns 1, or 0 for an event that is none of the kernel's: records are missing. */
static unsigned int send_event(struct input *input, struct lpl_sink *sink, uint64_t clock)
{
	struct lpl_event event = { .ref = clock, .instr = clock, .cycle = clock };
	unsigned int args = byte(input) % (KTR_ARGS + 1);
	unsigned int tag = byte(input) % (KTR_TAGS + 4);	/* and three unknown ones */

	event.tag = tag < KTR_TAGS + 3 ? tag : (uint32_t)LPL_EVENT_GAP;
	event.tid = byte(input) & 7;
	event.tgid = byte(input) & 7;
	for (unsigned int i = 0; i < args; i++)
		event.arg[i] = number(input);
	event.text_length = byte(input);
	if (event.text_length == 255)
		event.text_length = KTR_TEXT;	/* and what is there already */
	else
		event.text_length &= 7;
	for (uint32_t i = 0; i < event.text_length && i < 7; i++)
		event.text[i] = (char)byte(input);
	require(sink->event(sink, &event, NULL) == LPL_OK);
	return event.tag != LPL_EVENT_GAP;
}

static void send_reference(struct input *input, struct lpl_sink *sink, uint64_t clock)
{
	struct lpl_ref ref = { .ref = clock, .instr = clock, .cycle = clock };

	ref.type = (uint8_t)(byte(input) % LPL_TYPES);
	ref.flags = (uint8_t)(byte(input) & (LPL_USER | LPL_PAGED));
	ref.space = byte(input) & 7;
	ref.address = number(input);
	require(sink->refs(sink, &ref, 1, NULL) == LPL_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct lpl_merge_options options = { .audit = true, .problems = 2 };
	struct lpl_sink end = { take_refs, take_event, take_finish };
	struct input input = { data, size };
	const struct lpl_merge_audit *books;
	struct lpl_merge_output *output;
	struct lpl_kinds *kinds;
	struct lpl_merge *merge;
	struct lpl_sink *sink;
	uint64_t references = 0, events = 0, back;

	/* what a canonical trace tells of its pages is enough to choose by kind */
	require(lpl_kinds_open(&kinds, "file,anonymous", &end, NULL) == LPL_OK);
	require(lpl_merge_canonical_open(&output, lpl_kinds_sink(kinds), NULL) == LPL_OK);
	require(lpl_merge_open(&merge, output, &options, NULL) == LPL_OK);
	sink = lpl_merge_sink(merge);
	while (input.size > 0) {
		unsigned int what = byte(&input);

		/* now and then time runs backwards */
		back = what >> 5 == 7 ? references / 2 : 0;
		if (what & 1) {
			events += send_event(&input, sink, references - back);
		} else {
			references++;
			send_reference(&input, sink, references - back);
		}
	}
	require(sink->finish(sink, NULL) == LPL_OK);
	books = lpl_merge_audit(merge);
	require(books->references == references && books->events == events);
	require(books->by_kind == references && books->by_task == references);
	require(books->tasks == books->tasks_ended + books->tasks_live);
	require(books->spaces == books->spaces_ended + books->spaces_live);
	require(books->cache_added == books->cache_removed + books->cache_displaced +
					      books->cache_lost + books->cache_held);
	lpl_merge_close(merge);
	lpl_merge_canonical_close(output);
	lpl_kinds_close(kinds);
	return 0;
}
