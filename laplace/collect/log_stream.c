/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the log to blocks; log_stream.h says how. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/try.h"
#include "log_stream.h"

#define DATA(word)	((word) >> 62 == 1)
#define IS_LONG(word)	(((word) >> LPL_WORD_LENGTH_SHIFT & 7) == LPL_WORD_LONG)
#define COUNT_OF(word)	((uint8_t)((word) >> LPL_WORD_COUNT_SHIFT))

/*
 * Words of the log are passed on to a trace's blocks as they are: log.h has a word's top byte, as the
 * simulator makes it, and codec/block.h the whole word, as it is read.  (Length classes are compared
 * by test_log, for lpl_log_length() is a function.)
 */
#define TOP(bits) ((uint64_t)(bits) << 56)
_Static_assert(TOP(LPL_LOG_DATA) == LPL_WORD_DATA, "a data word");
_Static_assert(TOP(LPL_LOG_WRITE) == LPL_WORD_WRITE, "a write");
_Static_assert(TOP(LPL_LOG_SECOND) == LPL_WORD_SECOND, "the second part of a reference");
_Static_assert(TOP(LPL_LOG_SUPERVISOR) == LPL_WORD_SUPERVISOR, "the processor's own");
_Static_assert(56 + LPL_LOG_LENGTH_SHIFT == LPL_WORD_LENGTH_SHIFT, "where the length class is");
_Static_assert(LPL_LOG_LONG >> LPL_LOG_LENGTH_SHIFT == LPL_WORD_LONG, "a length in the next word");
_Static_assert(LPL_LOG_TRACE == LPL_WORD_TRACE, "a trace's word");
_Static_assert(LPL_WORD_COUNT_SHIFT == 48, "the count: the byte below the top");
_Static_assert(LPL_LOG_INSTRUCTIONS == LPL_TRACE_MAX, "a trace's instructions");
/* an id is a trace's number plus 1 */
_Static_assert(LPL_LOG_TRACES - 1 <= LPL_TRACES_MAX, "traces");

static enum lpl_error broken(const struct lpl_log_stream *s, const char *what,
			     struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_INTERNAL,
			"the log of references: %s (instruction %" PRIu64
			", reference %" PRIu64 ")", what, s->now, s->refs);
}

/* ---- blocks ---- */

static enum lpl_error send_state(struct lpl_log_stream *s, struct lpl_report *report)
{
	s->changed = false;
	return s->out->state(s->out, &s->state, report);
}

static bool recorded(const struct lpl_log_stream *s)
{
	return s->recording && !s->suppressed;
}

/* No more is ever delivered than was said to be there. */
static void count_refs(struct lpl_log_stream *s, uint64_t refs)
{
	s->refs += refs;
	atomic_store_explicit(&s->references, s->refs, memory_order_relaxed);
}

/* Send a block that begins at the count `instr`; `refs` references, all but second fetches. */
static enum lpl_error send_block(struct lpl_log_stream *s, const struct lpl_block *block,
				 uint64_t instr,
				 uint64_t refs, struct lpl_report *report)
{
	if (s->changed)
		LPL_TRY(send_state(s, report));
	assert(block->trace + 1 < s->trace_room);
	if (instr != s->expected)
		LPL_TRY(s->out->at(s->out, instr, report));
	s->expected = instr + block->fetched;
	count_refs(s, refs + (block->fetched && s->trace[block->trace + 1].crosses));
	return s->out->block(s->out, block, report);
}

/* The block, as far as it is known, is over. */
static enum lpl_error cut(struct lpl_log_stream *s, struct lpl_report *report)
{
	uint64_t refs = (uint64_t)s->block.fetched + s->block.words - s->block_lengths;
	enum lpl_error error = LPL_OK;

	if (!refs)
		return LPL_OK;
	if (recorded(s))
		error = send_block(s, &s->block, s->block_instr, refs, report);
	else if (s->suppressed)
		s->tracer_refs += refs;
	s->block.fetched = 0;
	s->block.words = s->block_lengths = 0;
	return error;
}

static void begin_block(struct lpl_log_stream *s, unsigned int first, uint64_t instr)
{
	assert(s->running != 0 && first < LPL_TRACE_MAX);
	s->block.trace = s->running - 1;
	s->block.first = (uint8_t)first;
	s->block_instr = instr;
}

/* The running trace's instructions with counts below `until` were fetched. */
static enum lpl_error fetch_plainly(struct lpl_log_stream *s, uint64_t until,
				    struct lpl_report *report)
{
	uint64_t fetched = until > s->next ? until - s->next : 0;
	enum lpl_error error = LPL_OK;

	if (!s->open || !fetched || s->at == s->count)
		return LPL_OK;
	assert(s->at < s->count && s->count <= LPL_TRACE_MAX);
	if (fetched > (uint64_t)(s->count - s->at))
		fetched = s->count - s->at;
	if ((s->block.fetched || s->block.words) &&
	    (s->block.first + s->block.fetched != s->at ||
	     s->block_instr + s->block.fetched != s->next))
		error = cut(s, report);
	if (!s->block.fetched && !s->block.words)
		begin_block(s, s->at, s->next);
	s->block.fetched = (uint8_t)(s->block.fetched + fetched);
	s->at = (uint8_t)(s->at + fetched);
	s->next += fetched;
	return error;
}

/* The same; the cycle counter may have jumped meanwhile. */
static enum lpl_error fetch_and_jump(struct lpl_log_stream *s, uint64_t until,
				     struct lpl_report *report)
{
	while (s->jumps && s->jump[0].instr < until) {
		LPL_TRY(fetch_plainly(s, s->jump[0].instr, report));
		LPL_TRY(cut(s, report));
		s->state.cycle_offset = s->jump[0].offset;
		s->changed = true;
		memmove(&s->jump[0], &s->jump[1], --s->jumps * sizeof(s->jump[0]));
	}
	return fetch_plainly(s, until, report);
}

/* The same.  Mostly there is nothing to do. */
static inline enum lpl_error fetch(struct lpl_log_stream *s, uint64_t until,
				   struct lpl_report *report)
{
	if (!s->jumps && (!s->open || until <= s->next || s->at == s->count))
		return LPL_OK;
	return fetch_and_jump(s, until, report);
}

/* ---- words ---- */

static void count_on(struct lpl_log_stream *s, uint64_t word)
{
	s->now += (uint8_t)(COUNT_OF(word) - s->now);
}

static enum lpl_error loose_data(struct lpl_log_stream *s, uint64_t word, uint64_t length,
				 struct lpl_report *report)
{
	static const uint8_t lengths[] = { 1, 2, 4, 8, 16, 10, 32 };
	const bool user = s->state.user && !(word & LPL_WORD_SUPERVISOR);
	const struct lpl_ref ref = {
		.ref = s->refs + 1,
		.instr = s->now,
		.cycle = s->now + s->state.cycle_offset,
		.address = (uint64_t)((int64_t)(word << 16) >> 16),
		.space = s->state.space,
		.type = word & LPL_WORD_WRITE ? LPL_WRITE : LPL_READ,
		.flags = (uint8_t)((user ? LPL_USER : 0) |
				   (word & LPL_WORD_SECOND ? LPL_SECOND : 0)),
		.length = (uint16_t)(length ? length : lengths[word >> LPL_WORD_LENGTH_SHIFT & 7]),
	};

	if (!recorded(s)) {
		s->tracer_refs += s->suppressed;
		return LPL_OK;
	}
	count_refs(s, 1);
	return s->out->loose(s->out, &ref, 1, report);
}

/*
 * Does a data word, counted, belong to the block that is there, and has it room?  Then all instructions before it were
 * fetched.
 */
static inline bool goes_on(const struct lpl_log_stream *s)
{
	return !s->jumps && s->running && (s->block.fetched || s->block.words) &&
	       (!s->open || s->now < s->next || s->at == s->count) &&
	       s->now - s->block_instr <= UINT8_MAX && s->block.words + 2 <= LPL_BLOCK_WORDS_MAX;
}

/* A data word, counted; `length`: the word after it, or 0. */
static enum lpl_error data(struct lpl_log_stream *s, uint64_t word, uint64_t length,
			   struct lpl_report *report)
{
	LPL_TRY(fetch(s, s->now + 1, report));
	if (!s->running)
		return loose_data(s, word, length, report);
	if (s->now - s->block_instr > UINT8_MAX || s->block.words + 2 > LPL_BLOCK_WORDS_MAX)
		LPL_TRY(cut(s, report));
	/* without a fetch before it, it was made by the instruction fetched last */
	if (!s->block.fetched && !s->block.words)
		begin_block(s, s->at ? s->at - 1U : 0, s->now);
	s->word[s->block.words++] = word;
	if (length) {
		s->word[s->block.words++] = length;
		s->block_lengths++;
	}
	assert(s->block.words <= LPL_BLOCK_WORDS_MAX);
	return LPL_OK;
}

static inline enum lpl_error element(struct lpl_log_stream *s, uint64_t word, struct lpl_report *report)
{
	if (!goes_on(s))
		return data(s, word, 0, report);
	s->word[s->block.words++] = word;
	return LPL_OK;
}

static enum lpl_error string(struct lpl_log_stream *s, const uint64_t *word,
			     struct lpl_report *report)
{
	const unsigned int width = word[0] >> 2 & 0xf;
	const int64_t step = (int16_t)(word[0] >> 16);
	const uint64_t top = (word[0] & UINT64_C(0xff) << LPL_WORD_COUNT_SHIFT) | LPL_WORD_DATA |
			     (uint64_t)lpl_log_length(width) << 56;
	const uint64_t mask = (UINT64_C(1) << LPL_WORD_ADDRESS_BITS) - 1;
	uint64_t source = word[1], destination = word[2];

	if (IS_LONG(top))
		return broken(s, "a string of elements of no size", report);
	for (unsigned int i = word[0] >> 32 & 0xffff; i; i--) {
		if (word[0] & 1)
			LPL_TRY(element(s, (source & mask) | top, report));
		if (word[0] & 2)
			LPL_TRY(element(s, (destination & mask) | top | LPL_WORD_WRITE, report));
		source += (uint64_t)step;
		destination += (uint64_t)step;
	}
	return LPL_OK;
}

/*
 * A string instruction, element by element: words that go on with the block, and of which each but the first may have a
 * REPEAT before it.  Returns how many words were taken.
 */
static size_t elements(struct lpl_log_stream *s, const uint64_t *word, const uint64_t *end)
{
	const uint64_t *const begin = word;

	for (; word < end; word++) {
		const bool repeats = *word >> 56 == LPL_LOG_REPEAT;

		if (!repeats && (!DATA(*word) || IS_LONG(*word)))
			break;
		count_on(s, *word);
		if (!goes_on(s))
			break;
		if (repeats)
			s->next++;
		else
			s->word[s->block.words++] = *word;
	}
	return (size_t)(word - begin);
}

/* This trace is running from now on. */
static enum lpl_error enter_trace(struct lpl_log_stream *s, uint32_t id, struct lpl_report *report)
{
	if (id >= s->trace_room || !s->trace[id].count)
		return broken(s, "a trace was not defined", report);
	s->running = id;
	s->count = s->trace[id].count;
	return LPL_OK;
}

/* A trace begins: what ran before it is over, and its instructions account for the count. */
static enum lpl_error begin_trace(struct lpl_log_stream *s, uint64_t word,
				  struct lpl_report *report)
{
	LPL_TRY(fetch(s, s->now, report));
	LPL_TRY(cut(s, report));
	if (s->open && s->next != s->now)
		return broken(s, "the instruction count does not follow from "
			      "what was fetched", report);
	s->at = 0;
	s->next = s->now;
	s->open = true;
	return enter_trace(s, (uint32_t)word, report);
}

/*
 * The blocks that `out` takes as words, from the trace's on that has begun; returns how many of
 * these, and the trace after them has begun.
 */
static size_t words(struct lpl_log_stream *s, const uint64_t *word, const uint64_t *end,
		    enum lpl_error *error, struct lpl_report *report)
{
	uint64_t instructions, refs;
	size_t taken;

	if (!s->out->words || s->changed || s->now != s->expected)
		return 0;
	taken = s->out->words(s->out, word, end, &instructions, &refs);
	if (taken == 0)
		return 0;
	count_refs(s, refs);
	s->now += instructions;
	s->expected = s->now;
	*error = enter_trace(s, (uint32_t)word[taken], report);
	return taken;
}

/*
 * A trace has begun at `word`.  As long as it is followed by data words and another trace, it
 * is a block as it stands, and that trace has begun.  Returns how many words were taken: the
 * last of them is that of the trace that is now running.
 */
static size_t plain_blocks(struct lpl_log_stream *s, const uint64_t *word, const uint64_t *end,
			   enum lpl_error *error, struct lpl_report *report)
{
	const uint64_t *const begin = word;
	const bool plain = recorded(s) && !s->jumps;

	while (plain && !*error) {
		const uint64_t *w;

		word += words(s, word, end, error, report);
		w = word + 1;
		while (w < end && DATA(*w) && !IS_LONG(*w))
			w++;
		if (w == end || *w >> 56 != LPL_LOG_TRACE || w - word > LPL_BLOCK_WORDS_MAX)
			break;

		const uint8_t count = COUNT_OF(*word), fetched = (uint8_t)(COUNT_OF(*w) - count);
		const uint32_t next = (uint32_t)*w;

		/* else something is wrong, or nothing was fetched: the long way shows */
		if (!fetched || fetched > s->count ||
		    (uint8_t)(COUNT_OF(w[-1]) - count) >= fetched ||
		    next >= s->trace_room || !s->trace[next].count)
			break;
		const struct lpl_block block = { .trace = s->running - 1, .fetched = fetched,
						 .words = (uint32_t)(w - word - 1),
						 .word = word + 1 };

		*error = send_block(s, &block, s->now, (uint64_t)fetched + block.words, report);
		s->now += fetched;
		(void)enter_trace(s, next, report);
		word = w;
	}
	s->next = s->now;
	return (size_t)(word - begin) + 1;
}

/* ---- records ---- */

static enum lpl_error define(struct lpl_log_stream *s, const uint64_t *word,
			     struct lpl_report *report)
{
	uint32_t id = (uint32_t)(word[0] >> 8), bytes = 0;
	struct lpl_instruction_trace trace = { .address = word[1], .count = (uint8_t)word[0] };

	if (id == 0 || id >= LPL_LOG_TRACES || trace.count == 0 ||
	    trace.count > LPL_LOG_INSTRUCTIONS)
		return broken(s, "a trace has no number or no length that a trace may have",
			      report);
	if (!lpl_reach(s->trace, s->trace_room, id))
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for %" PRIu32 " traces", id);
	for (unsigned int i = 0; i < trace.count; i++) {
		trace.length[i] = word[2 + i / 16] >> i % 16 * 4 & 15;
		bytes += trace.length[i];
	}
	s->trace[id] = (struct lpl_log_trace){
		.count = trace.count,
		.crosses = trace.count == 1 && (trace.address & 0xfff) + bytes > 0x1000,
	};
	return s->out->define(s->out, id - 1, &trace, report);
}

static enum lpl_error walk(struct lpl_log_stream *s, const uint64_t *word,
			   struct lpl_report *report)
{
	/* one made between two instructions follows BETWEEN, and then this fetches nothing */
	LPL_TRY(fetch(s, s->now + 1, report));
	LPL_TRY(cut(s, report));
	if (!recorded(s))
		return LPL_OK;
	const struct lpl_ref ref = {
		.ref = s->refs + 1,
		.instr = s->now,
		.cycle = s->now + s->state.cycle_offset,
		.address = word[1],
		.type = word[0] & LPL_LOG_WALK_WRITE ? LPL_WALK_WRITE : LPL_WALK_READ,
		.flags = word[0] >> 16 & LPL_WALK_FLAGS,
		.length = word[0] >> 8 & 0xff,
	};

	count_refs(s, 1);
	return s->out->loose(s->out, &ref, 1, report);
}

static void give_totals(struct lpl_log_stream *s)
{
	if (s->writer)
		lpl_writer_totals(s->writer, &(struct lpl_totals){
			.tracer_refs = s->tracer_refs, .events = s->events });
}

/* How far the stream is, with the block that is not over yet. */
static enum lpl_error totals(struct lpl_log_stream *s, uint64_t instr, struct lpl_report *report)
{
	enum lpl_error error = fetch(s, instr, report);
	uint64_t refs = s->refs;

	if (recorded(s))
		refs += (uint64_t)s->block.fetched + s->block.words - s->block_lengths +
			(s->block.fetched && s->trace[s->block.trace + 1].crosses);
	atomic_store_explicit(&s->references, refs, memory_order_relaxed);
	atomic_store_explicit(&s->instructions, instr, memory_order_relaxed);
	return error;
}

/* And as of the latest word. */
static void publish_progress(struct lpl_log_stream *s)
{
	atomic_store_explicit(&s->instructions, s->now, memory_order_relaxed);
	atomic_store_explicit(&s->tracer_known, s->tracer_refs, memory_order_relaxed);
}

static enum lpl_error event(struct lpl_log_stream *s, const uint64_t *word,
			    struct lpl_report *report)
{
	struct kernel_trace_record record;
	struct lpl_event event = { .ref = s->refs, .instr = word[1], .cycle = word[2] };

	memcpy(&record, word + 3, sizeof(record));
	event.space = record.space;
	memcpy(event.arg, record.arg, sizeof(event.arg));
	event.tag = record.tag;
	event.tid = record.tid;
	event.tgid = record.tgid;
	event.text_length = record.text_length;
	memcpy(event.text, record.text, sizeof(event.text));
	atomic_fetch_add_explicit(&s->events, 1, memory_order_relaxed);
	give_totals(s);
	if (s->on_event)
		s->on_event(s->context, &event);
	return s->out->event(s->out, &event, report);
}

static enum lpl_error jump(struct lpl_log_stream *s, uint64_t instr, uint64_t offset,
			   struct lpl_report *report)
{
	if (s->jumps && s->jump[s->jumps - 1].instr == instr)
		s->jumps--;
	if (s->jumps == LPL_LOG_JUMPS)
		return broken(s, "too many jumps of the cycle counter at once", report);
	s->jump[s->jumps].instr = instr;
	s->jump[s->jumps++].offset = offset;
	return LPL_OK;
}

/* Words of a record. */
static const uint8_t record_words[LPL_LOG_KINDS] = {
	[LPL_LOG_DEFINE] = 4, [LPL_LOG_FORGET] = 1, [LPL_LOG_COUNT] = 2, [LPL_LOG_SKIP] = 2,
	[LPL_LOG_BETWEEN] = 1, [LPL_LOG_REPEAT] = 1, [LPL_LOG_STRING] = 3, [LPL_LOG_MODE] = 1,
	[LPL_LOG_SPACE] = 2, [LPL_LOG_OFFSET] = 3, [LPL_LOG_WALK] = 2, [LPL_LOG_ON] = 1,
	[LPL_LOG_OFF] = 1, [LPL_LOG_SUPPRESS] = 1, [LPL_LOG_RESUME] = 1,
	[LPL_LOG_EVENT] = 3 + LPL_LOG_EVENT_WORDS, [LPL_LOG_TOTALS] = 2, [LPL_LOG_FLUSH] = 1,
};

/* Before these, what was fetched until now is sent, as of the state before. */
static bool ends_block(enum lpl_log_kind kind)
{
	return kind == LPL_LOG_FORGET || kind == LPL_LOG_MODE || kind == LPL_LOG_SPACE ||
	       (kind >= LPL_LOG_ON && kind <= LPL_LOG_EVENT) ||
	       kind == LPL_LOG_FLUSH;
}

static enum lpl_error record(struct lpl_log_stream *s, const uint64_t *word,
			     struct lpl_report *report)
{
	enum lpl_log_kind kind = (enum lpl_log_kind)(word[0] >> 56);
	enum lpl_error error = LPL_OK;

	if (ends_block(kind)) {
		LPL_TRY(fetch(s, s->now + (word[0] & LPL_LOG_EXECUTING), report));
		LPL_TRY(cut(s, report));
	}
	switch (kind) {
	case LPL_LOG_DEFINE:
		return define(s, word, report);
	case LPL_LOG_FORGET:
		if (s->trace_room > 0)
			memset(s->trace, 0, s->trace_room * sizeof(*s->trace));
		s->running = 0;
		s->open = false;
		return s->out->forget(s->out, report);
	case LPL_LOG_COUNT:
		return word[1] == s->now ? LPL_OK :
		       broken(s, "words of less than the whole count are missing", report);
	case LPL_LOG_SKIP:
		error = cut(s, report);
		s->now = word[1];
		s->open = false;
		return error;
	case LPL_LOG_BETWEEN:
		error = fetch(s, s->now, report);
		s->open = false;
		return error;
	case LPL_LOG_REPEAT:
		error = fetch(s, s->now + 1, report);
		s->next++;
		return error;
	case LPL_LOG_STRING:
		return string(s, word, report);
	case LPL_LOG_MODE:
		s->state.user = word[0] & LPL_LOG_USER;
		s->changed = true;
		return LPL_OK;
	case LPL_LOG_SPACE:
		s->state.space = word[1];
		s->changed = true;
		return LPL_OK;
	case LPL_LOG_OFFSET:
		return jump(s, word[1], word[2], report);
	case LPL_LOG_WALK:
		return walk(s, word, report);
	case LPL_LOG_ON:
	case LPL_LOG_OFF:
		s->recording = kind == LPL_LOG_ON;
		return LPL_OK;
	case LPL_LOG_SUPPRESS:
	case LPL_LOG_RESUME:
		s->suppressed = kind == LPL_LOG_SUPPRESS;
		give_totals(s);
		return LPL_OK;
	case LPL_LOG_EVENT:
		return event(s, word, report);
	case LPL_LOG_TOTALS:
		return totals(s, word[1], report);
	case LPL_LOG_FLUSH:
		publish_progress(s);	/* others wait for a flush; a process may continue here */
		return s->flush(s->context, word[0] & LPL_LOG_ROTATE, report);
	case LPL_LOG_KINDS:
		break;
	}
	return LPL_OK;
}

/* ---- blocks ---- */

/* One word with what belongs to it; *words is how many that was. */
static enum lpl_error take(struct lpl_log_stream *s, const uint64_t *word, const uint64_t *end,
			   size_t *words, struct lpl_report *report)
{
	uint64_t kind = *word >> 56;
	enum lpl_error error = LPL_OK;

	*words = 1;
	if (kind == LPL_LOG_SKIP)
		return *words = 2, record(s, word, report);
	count_on(s, *word);
	if (kind == LPL_LOG_TRACE) {
		error = begin_trace(s, *word, report);
		if (!error)
			*words = plain_blocks(s, word, end, &error, report);
		return error;
	}
	if (DATA(*word)) {
		*words = 1 + IS_LONG(*word);
		return data(s, *word, IS_LONG(*word) ? word[1] : 0, report);
	}
	if (!kind || kind >= LPL_LOG_KINDS)
		return broken(s, "a word of no kind", report);
	*words = record_words[kind];
	return record(s, word, report);
}

enum lpl_error lpl_log_stream_take(struct lpl_log_stream *s, const struct lpl_log_block *block,
				   struct lpl_report *report)
{
	const uint64_t *word = block->word, *end = word + block->words;
	enum lpl_error error = LPL_OK;
	size_t words;

	s->block.word = s->word;
	while (word < end && !error) {
		error = take(s, word, end, &words, report);
		word += words;
		if (!error)
			word += elements(s, word, end);
	}
	publish_progress(s);
	if (!error && s->between)
		error = s->between(s->context, report);
	return error;
}

enum lpl_error lpl_log_stream_end(struct lpl_log_stream *s, struct lpl_report *report)
{
	return cut(s, report);
}

void lpl_log_stream_free(struct lpl_log_stream *s)
{
	free(s->trace);
}
