/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fuzzing the collector's side of what a simulator sends: the records of windows
 * (collect/ring_stream.h) and the log of every reference (collect/log_stream.h), and a reduction
 * after them.  The first byte chooses which; the others are made into records of small numbers
 * that meet often, in any order.
 *
 * A simulator that sends nonsense is our own fault, so an internal error is an answer here; a
 * crash is none.  What comes out of the log is in order as long as it is accepted.
 */
#include <laplace/reducer.h>

#include "collect/log_stream.h"
#include "collect/ring_stream.h"
#include "collect/block_refs.h"

#include "fuzz.h"

/* The end of the stream. */
struct checker {
	struct lpl_sink sink;
	bool in_order;			/* it is looked at */
	uint64_t ref;
};

static enum lpl_error check_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				 struct lpl_report *report)
{
	struct checker *checker = (struct checker *)sink;

	(void)report;
	for (size_t i = 0; i < count; i++) {
		require(refs[i].type < LPL_TYPES);
		require(!checker->in_order || refs[i].ref > checker->ref);
		checker->ref = refs[i].ref;
	}
	return LPL_OK;
}

static enum lpl_error check_event(struct lpl_sink *sink, const struct lpl_event *event,
				  struct lpl_report *report)
{
	const struct checker *checker = (const struct checker *)sink;

	(void)report;
	require(!checker->in_order || event->ref >= checker->ref);
	return LPL_OK;
}

static enum lpl_error finish(struct lpl_sink *sink, struct lpl_report *report)
{
	(void)sink;
	(void)report;
	return LPL_OK;
}

static enum lpl_error flush(void *context, bool rotate, struct lpl_report *report)
{
	(void)rotate;
	return context ? lpl_reducer_flush(context, report) : LPL_OK;
}

/* Mostly small; now and then anything. */
static uint64_t number(struct input *input)
{
	unsigned int first = input_byte(input);
	uint64_t value = first & 63;

	switch (first >> 6) {
	case 0:
		return value;
	case 1:
		return value << 12 | input_byte(input);
	case 2:
		return value << (input_byte(input) & 63);
	default:
		for (int i = 0; i < 7; i++)
			value = value << 8 | input_byte(input);
		return value;
	}
}

/* ---- windows ---- */

static void send_windows(struct input *input)
{
	struct checker checker = { .sink = { check_refs, check_event, finish } };
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_ring_stream stream = { .flush = flush };
	struct lpl_reducer *reducer;
	enum lpl_error error = LPL_OK;

	require(!lpl_reducer_open(&reducer, "window:4", "fence+sad:4", &checker.sink, &report));
	stream.out = lpl_reducer_sink(reducer);
	stream.context = reducer;
	while (input->size > 0 && !error) {
		unsigned int what = input_byte(input);
		struct lpl_ring_record record = {
			{ number(input), number(input), number(input), number(input) }
		};

		record.word[3] &= ~LPL_WIRE_KIND(0xff);
		record.word[3] |= LPL_WIRE_KIND(what % (LPL_WIRE_FLUSH + 2));
		error = lpl_ring_stream_take(&stream, &record, 1, &report);
	}
	if (!error)
		(void)lpl_ring_stream_deliver(&stream, &report);
	lpl_ring_stream_free(&stream);
	lpl_reducer_close(reducer);
}

/* ---- the log ---- */

/* Words of a record, its own included, by log.h; what is of no kind is one. */
static size_t record_words(unsigned int kind)
{
	switch (kind) {
	case LPL_LOG_DEFINE:
		return 4;
	case LPL_LOG_STRING:
	case LPL_LOG_OFFSET:
		return 3;
	case LPL_LOG_COUNT:
	case LPL_LOG_SKIP:
	case LPL_LOG_SPACE:
	case LPL_LOG_WALK:
	case LPL_LOG_TOTALS:
		return 2;
	case LPL_LOG_EVENT:
		return 3 + LPL_LOG_EVENT_WORDS;
	default:
		return 1;
	}
}

/* What may stand in a block, as log.h has it. */
static size_t put_words(struct input *input, uint64_t *word, uint64_t count)
{
	unsigned int what = input_byte(input), kind;
	uint64_t counted = (count & 0xff) << LPL_WORD_COUNT_SHIFT;

	switch (what >> 6) {
	case 0:		/* a data reference */
		word[0] = (number(input) & ((UINT64_C(1) << LPL_WORD_ADDRESS_BITS) - 1)) |
			  counted | (uint64_t)(LPL_LOG_DATA | (what & 63)) << 56;
		word[1] = number(input) % 4096 + 1;
		return (what & LPL_LOG_LONG) == LPL_LOG_LONG ? 2 : 1;
	case 1:		/* a trace */
		word[0] = (what & 7) | counted | (uint64_t)LPL_LOG_TRACE << 56;
		return 1;
	default:
		kind = what % (LPL_LOG_KINDS + 1);
		word[0] = (number(input) & ((UINT64_C(1) << LPL_WORD_COUNT_SHIFT) - 1)) | counted |
			  (uint64_t)kind << 56;
		for (size_t i = 1; i < 3 + LPL_LOG_EVENT_WORDS; i++)
			word[i] = i < 4 ? number(input) : input_byte(input);
		if (kind == LPL_LOG_COUNT || kind == LPL_LOG_SKIP)
			word[1] = count;
		return record_words(kind);
	}
}

static void send_log(struct input *input)
{
	static struct lpl_log_block block;
	static struct lpl_block_refs refs;
	struct checker checker = { .sink = { check_refs, check_event, finish },
				   .in_order = true };
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_log_stream stream = { .flush = flush };
	uint64_t count = 0;

	memset(&refs, 0, sizeof(refs));
	refs.out = &checker.sink;
	refs.tracer_refs = &stream.tracer_refs;
	lpl_block_refs_init(&refs);
	stream.out = &refs.sink;
	block.words = 0;
	while (input->size > 0 && block.words < LPL_LOG_BLOCK) {
		count += input_byte(input) & 15;
		block.words += put_words(input, block.word + block.words, count);
	}
	if (!lpl_log_stream_take(&stream, &block, &report) &&
	    !lpl_log_stream_end(&stream, &report))
		(void)lpl_block_refs_deliver(&refs, &report);
	lpl_log_stream_free(&stream);
	lpl_block_refs_free(&refs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };

	if (input_byte(&input) % 2)
		send_log(&input);
	else
		send_windows(&input);
	return 0;
}
