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
	lpl_stream_hash_prefix(trace, count->trace[number].hash);
	return LPL_OK;
}

static enum lpl_error take_forget(struct lpl_block_sink *sink, struct lpl_report *report)
{
	(void)sink, (void)report;
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
		.sink = { take_define, take_forget, take_state, take_at, take_block, NULL, take_loose,
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
