/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counting what a packer of blocks would be sent (codec/block_packer.c): what it checks is checked when it
 * is sent the same.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/try.h"
#include "block_count.h"
#include "codec/block_expand.h"

static struct lpl_block_count *count_of(struct lpl_block_sink *sink)
{
	return (struct lpl_block_count *)sink;
}

/* References were made, the last of them with this number and at this instruction count. */
static void reach(struct lpl_block_count *count, uint64_t ref, uint64_t refs, uint64_t instr, uint64_t cycle)
{
	struct lpl_writer_place *place = &count->place;
	struct lpl_block_position *packed = &place->encoder.packed;

	packed->ref = ref;
	packed->instr = instr;
	packed->cycle = cycle;
	place->last = (struct lpl_clocks){ ref, instr, cycle };
	place->refs_so_far += refs;
	count->has_records = true;
}

/* ---- what is sent ---- */

static enum lpl_error take_define(struct lpl_block_sink *sink, uint32_t number,
				  const struct lpl_instruction_trace *trace, struct lpl_report *report)
{
	struct lpl_block_count *count = count_of(sink);

	if (!lpl_reach(count->trace, count->room, number))
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for %u traces", (unsigned int)number);
	count->trace[number].code = *trace;
	count->trace[number].plain = lpl_trace_crosses(trace) ? 0 : trace->count;
	lpl_stream_hash_prefix(trace, count->trace[number].hash);
	return LPL_OK;
}

static enum lpl_error take_forget(struct lpl_block_sink *sink, struct lpl_report *report)
{
	struct lpl_block_count *count = count_of(sink);

	(void)report;
	for (size_t i = 0; i < count->room; i++)
		count->trace[i].plain = 0;
	return LPL_OK;
}

static enum lpl_error take_state(struct lpl_block_sink *sink, const struct lpl_block_state *state,
				 struct lpl_report *report)
{
	(void)report;
	count_of(sink)->place.encoder.state = *state;
	return LPL_OK;
}

static enum lpl_error take_at(struct lpl_block_sink *sink, uint64_t instr, struct lpl_report *report)
{
	(void)report;
	count_of(sink)->place.encoder.next_instr = instr;
	return LPL_OK;
}

static enum lpl_error take_block(struct lpl_block_sink *sink, const struct lpl_block *block,
				 struct lpl_report *report)
{
	struct lpl_block_count *count = count_of(sink);
	struct lpl_encoder_place *at = &count->place.encoder;
	const uint64_t instr = at->next_instr, offset = at->state.cycle_offset;
	const struct lpl_counted_trace *trace = &count->trace[block->trace];
	const uint64_t fetches = block->fetched + (block->fetched == 1 && lpl_trace_crosses(&trace->code));
	uint64_t last = instr + (block->fetched > 0 ? block->fetched - 1U : 0);
	struct lpl_block_data data;

	if (!lpl_block_scan(block, (uint8_t)instr, at->state.user, &data))
		return lpl_fail(report, LPL_ERR_USAGE, "a block is not valid");
	if (data.count > 0 && instr + data.offset > last)
		last = instr + data.offset;
	lpl_stream_hash_block(&count->hash, &trace->code, trace->hash, block, data.count, &at->state, instr,
			      at->packed.ref);
	at->of_type[LPL_FETCH] += fetches;
	at->of_type[LPL_WALK_READ] += data.of_type[0];
	at->of_type[LPL_WALK_WRITE] += data.of_type[1];
	at->of_type[LPL_READ] += data.of_type[2];
	at->of_type[LPL_WRITE] += data.of_type[3];
	if (at->state.user)
		at->users += fetches + data.of_type[2] + data.of_type[3] - data.supervisors;
	at->next_instr += block->fetched;
	reach(count, at->packed.ref + fetches + data.count, fetches + data.count, last, last + offset);
	return LPL_OK;
}

/* ---- blocks as words ---- */

/* What was counted of blocks that were taken as words, and the hash as it is after them. */
struct counted {
	uint64_t instr;			/* of the next block */
	uint64_t fetches, data, writes, supervisors;
	uint64_t hash_fetches, hash_data;
	uint64_t data_instr;		/* of the last data reference */
};

/* Does nothing have to be hashed between the references before and those of a block? */
static bool goes_on(const struct lpl_stream_hash *hash, const struct lpl_encoder_place *at)
{
	return hash->ref == at->packed.ref && hash->offset == at->state.cycle_offset && hash->space == at->state.space &&
	       hash->user == at->state.user && hash->next_fetch == at->next_instr && hash->data_instr != at->next_instr;
}

/*
 * A block of a trace from its beginning, if another one follows and there is no carry out of the low byte of the
 * instruction count before its last data reference: counts it, and returns the word of that one.  Else nothing is
 * counted, and it returns NULL.
 */
static inline const uint64_t *take_plain(const struct lpl_block_count *count, struct counted *now, const uint64_t *word,
					 const uint64_t *end)
{
	const size_t number = (uint32_t)*word - 1U;
	const unsigned int low = (uint8_t)now->instr;
	uint64_t data = now->hash_data, writes = 0, supervisors = 0;
	const struct lpl_counted_trace *trace;
	const uint64_t *const first = word + 1;
	unsigned int fetched;

	if (number >= count->room)
		return NULL;
	trace = &count->trace[number];
	if (now->data_instr >> 8 != now->instr >> 8 && first < end && *first >> 62 == LPL_WORD_DATA >> 62)
		data = lpl_stream_hash_page(data, now->instr);
	for (word = first; word < end && *word >> 62 == LPL_WORD_DATA >> 62; word++) {
		data = lpl_stream_hash_data(data, *word);
		writes += (*word & LPL_WORD_WRITE) != 0;
		supervisors += (*word & LPL_WORD_SUPERVISOR) != 0;
	}
	/* 0: it is no trace that can be taken so */
	if (word == end || *word >> 56 != LPL_WORD_TRACE)
		return NULL;
	fetched = (uint8_t)((uint8_t)(*word >> LPL_WORD_COUNT_SHIFT) - low);
	if (fetched == 0 || fetched > trace->plain)
		return NULL;
	if (word > first) {
		const unsigned int last = (uint8_t)(word[-1] >> LPL_WORD_COUNT_SHIFT);

		if (last < low || last - low >= fetched || word - first > LPL_BLOCK_WORDS_MAX)
			return NULL;
		now->data_instr = now->instr - low + last;
	}
	now->hash_fetches = now->hash_fetches * count->hash.power[fetched] + trace->hash[fetched];
	now->hash_data = data;
	now->instr += fetched;
	now->fetches += fetched;
	now->data += (uint64_t)(word - first);
	now->writes += writes;
	now->supervisors += supervisors;
	return word;
}

static size_t take_words(struct lpl_block_sink *sink, const uint64_t *word, const uint64_t *end, uint64_t *instructions,
			 uint64_t *refs)
{
	struct lpl_block_count *count = count_of(sink);
	struct lpl_encoder_place *at = &count->place.encoder;
	struct lpl_stream_hash *hash = &count->hash;
	struct counted now = { .instr = at->next_instr, .hash_fetches = hash->fetches, .hash_data = hash->data,
			       .data_instr = hash->data_instr };
	const uint64_t *const first = word, *next;

	*instructions = *refs = 0;
	if (!goes_on(hash, at))
		return 0;
	while ((next = take_plain(count, &now, word, end)))
		word = next;
	if (word == first)
		return 0;
	*instructions = now.fetches;
	*refs = now.fetches + now.data;
	at->of_type[LPL_FETCH] += now.fetches;
	at->of_type[LPL_READ] += now.data - now.writes;
	at->of_type[LPL_WRITE] += now.writes;
	if (at->state.user)
		at->users += now.fetches + now.data - now.supervisors;
	at->next_instr = now.instr;
	reach(count, at->packed.ref + *refs, *refs, now.instr - 1, now.instr - 1 + at->state.cycle_offset);
	hash->fetches = now.hash_fetches;
	hash->data = now.hash_data;
	hash->data_instr = now.data_instr;
	hash->next_fetch = now.instr;
	hash->ref = at->packed.ref;
	hash->refs += *refs;
	return (size_t)(word - first);
}

/* ---- what is sent otherwise ---- */

static enum lpl_error take_loose(struct lpl_block_sink *sink, const struct lpl_ref *refs, size_t number,
				 struct lpl_report *report)
{
	struct lpl_block_count *count = count_of(sink);

	(void)report;
	lpl_stream_hash_refs(&count->hash, refs, number);
	for (size_t i = 0; i < number; i++) {
		count->place.encoder.of_type[refs[i].type]++;
		count->place.encoder.users += (refs[i].flags & LPL_USER) != 0;
		reach(count, refs[i].ref, 1, refs[i].instr, refs[i].cycle);
	}
	return LPL_OK;
}

static enum lpl_error take_event(struct lpl_block_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	struct lpl_block_count *count = count_of(sink);
	struct lpl_block_position *packed = &count->place.encoder.packed;

	packed->event_ref = event->ref;
	packed->instr = event->instr;
	packed->cycle = event->cycle;
	count->place.last = (struct lpl_clocks){ event->ref, event->instr, event->cycle };
	count->place.events_so_far++;
	count->has_records = true;
	return count->keeper->take(count->keeper, event, report);
}

/* ---- the whole ---- */

void lpl_block_count_init(struct lpl_block_count *count)
{
	*count = (struct lpl_block_count){
		.sink = { take_define, take_forget, take_state, take_at, take_block, take_words, take_loose,
			  take_event },
		.segment = 1,
	};
	lpl_stream_hash_init(&count->hash);
}

void lpl_block_count_free(struct lpl_block_count *count)
{
	free(count->trace);
	count->trace = NULL;
}

/* A chunk begins in the state that was sent, and a writer counts types when one ends. */
void lpl_block_count_end(struct lpl_block_count *count, uint64_t events, uint64_t tracer_refs)
{
	struct lpl_writer_place *place = &count->place;
	struct lpl_totals *totals = &place->totals;

	totals->events = events;
	totals->tracer_refs = tracer_refs;
	count->ended = lpl_stream_hash_value(&count->hash);
	if (!count->has_records)
		return;
	place->encoder.packed.state = place->encoder.state;
	place->encoder.packed.next_instr = place->encoder.next_instr;
	memcpy(totals->refs, place->encoder.of_type, sizeof(totals->refs));
	totals->user_refs = place->encoder.users;
	totals->total = place->encoder.packed.ref;
	count->segment++;
	count->has_records = false;
	lpl_stream_hash_init(&count->hash);
}
