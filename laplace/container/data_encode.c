/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writing the payload of a DATA chunk.
 *
 * This runs in the collector's thread, for every reference kept.  References are
 * taken in batches that fit in the first-level cache: one pass turns a batch
 * into seven arrays of numbers and checks it, then each array goes to its
 * column.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/try.h"
#include "base/varint.h"
#include "data.h"
#include "record/flags.h"

#define PAGE_OFFSET_MASK ((UINT64_C(1) << LPL_PAGE_SHIFT) - 1)

bool lpl_data_encoder_init(struct lpl_data_encoder *encoder, size_t refs_max,
			   size_t events_max)
{
	bool ok = true;

	memset(encoder, 0, sizeof(*encoder));
	encoder->refs_max = refs_max;
	encoder->events_max = events_max;
	for (int i = 0; i < LPL_COLUMNS; i++)
		ok = lpl_column_init(&encoder->columns[i], refs_max) && ok;
	encoder->events = malloc(events_max * LPL_EVENT_BYTES_MAX);
	if (!encoder->events || !ok) {
		lpl_data_encoder_free(encoder);
		return false;
	}
	lpl_data_encoder_follow(encoder, encoder);
	return true;
}

void lpl_data_encoder_free(struct lpl_data_encoder *encoder)
{
	for (int i = 0; i < LPL_COLUMNS; i++)
		lpl_column_free(&encoder->columns[i]);
	free(encoder->events);
	encoder->events = NULL;
}

void lpl_data_encoder_follow(struct lpl_data_encoder *encoder,
			     const struct lpl_data_encoder *before)
{
	encoder->last = before->last;
	encoder->last_space = before->last_space;
	for (int i = 0; i < LPL_COLUMNS; i++)
		lpl_column_clear(&encoder->columns[i]);
	encoder->events_end = encoder->events;
	encoder->refs = 0;
	encoder->event_count = 0;
	encoder->event_position = 0;
	encoder->base_space = encoder->last_space;
	memset(encoder->predicted, 0, sizeof(encoder->predicted));
	encoder->base = encoder->first = encoder->last_ref = encoder->last;
}

/* Does each reference keep every invariant? */
static enum lpl_error check(const struct lpl_clocks *last, const struct lpl_ref *refs,
			    size_t count, struct lpl_report *report)
{
	struct lpl_clocks before = *last;

	for (size_t i = 0; i < count; i++) {
		const struct lpl_ref *r = &refs[i];
		bool paged = r->flags & LPL_PAGED;

		if (r->type >= LPL_TYPES || r->flags > lpl_flags_max(r->type, paged) || r->reserved != 0)
			return lpl_fail(report, LPL_ERR_USAGE,
					"reference %" PRIu64 ": type %u, flags %#x or reserved field %#x"
					" is out of range", r->ref, r->type, r->flags,
					(unsigned int)r->reserved);
		if (paged != (r->length == 0) || r->length > LPL_LENGTH_MAX)
			return lpl_fail(report, LPL_ERR_USAGE,
					"reference %" PRIu64 ": length %u is out of range (1 to %d, 0 for"
					" references to whole pages)", r->ref, r->length,
					LPL_LENGTH_MAX);
		if (paged && (r->address & PAGE_OFFSET_MASK))
			return lpl_fail(report, LPL_ERR_USAGE,
					"reference %" PRIu64 ": address %#" PRIx64
					" is not a page's first byte", r->ref, r->address);
		if (!lpl_ref_follows(r->ref, r->flags, before.ref) ||
		    r->instr < before.instr || r->cycle < before.cycle)
			return lpl_fail(report, LPL_ERR_ORDER,
					"reference %" PRIu64 " (instruction %" PRIu64 ", cycle %" PRIu64
					") does not come after reference %" PRIu64 " (%" PRIu64
					", %" PRIu64 ")", r->ref, r->instr, r->cycle,
					before.ref, before.instr, before.cycle);
		before = (struct lpl_clocks){ r->ref, r->instr, r->cycle };
	}
	return LPL_OK;
}

/*
 * A batch as columns.  true: it consists of references to pages, each after the one before, as what
 * reducers make mostly does, and breaks no invariant, if the first comes after encoder->last.
 * Anything else is for check().
 */
static bool split(struct lpl_data_encoder *encoder, const struct lpl_ref *refs, size_t count,
		  uint64_t numbers[LPL_COLUMNS][LPL_BATCH])
{
	struct lpl_clocks before = encoder->last_ref;
	uint64_t space = encoder->last_space;
	uint64_t below = 0;	/* its top bit: something is less than it may be */
	uint64_t other = 0;	/* something is not as in references to pages */

	for (size_t i = 0; i < count; i++) {
		const struct lpl_ref *r = &refs[i];
		uint64_t type = r->type, flags = r->flags, length = r->length;
		uint64_t address = r->address;
		uint64_t *predicted = &encoder->predicted[type & (LPL_TYPE_SLOTS - 1)];
		unsigned int shift = flags & LPL_PAGED ? LPL_PAGE_SHIFT : 0;
		uint64_t number = r->ref - before.ref;
		uint64_t instrs = r->instr - before.instr;
		uint64_t cycles = r->cycle - before.cycle;

		below |= (number - 1) | instrs | cycles | (LPL_TYPES - 1 - type);
		other |= (flags & ~(uint64_t)LPL_USER) ^ LPL_PAGED;
		other |= length | r->reserved | (address & PAGE_OFFSET_MASK);

		numbers[LPL_COLUMN_KIND][i] = type | flags << 3;
		numbers[LPL_COLUMN_LENGTH][i] = length;
		numbers[LPL_COLUMN_REF][i] = number;
		numbers[LPL_COLUMN_INSTR][i] = instrs;
		numbers[LPL_COLUMN_CYCLE][i] = lpl_zigzag(cycles - instrs);
		numbers[LPL_COLUMN_SPACE][i] = lpl_zigzag(r->space - space);
		numbers[LPL_COLUMN_ADDRESS][i] =
			lpl_zigzag((address >> shift) - (*predicted >> shift));
		*predicted = address + length;
		space = r->space;
		before = (struct lpl_clocks){ r->ref, r->instr, r->cycle };
	}
	return (below >> 63 | other) == 0;
}

enum lpl_error lpl_data_encode_refs(struct lpl_data_encoder *encoder,
				    const struct lpl_ref *refs, size_t count,
				    struct lpl_report *report)
{
	uint64_t numbers[LPL_COLUMNS][LPL_BATCH];

	if (count > encoder->refs_max - encoder->refs)
		return lpl_fail(report, LPL_ERR_INTERNAL, "a chunk overflows");
	while (count > 0) {
		size_t batch = count < LPL_BATCH ? count : LPL_BATCH;
		const struct lpl_ref *end = &refs[batch - 1];

		/* an event may stand between the references before and these */
		if (!split(encoder, refs, batch, numbers))
			LPL_TRY(check(&encoder->last, refs, batch, report));
		else
			LPL_TRY(check(&encoder->last, refs, 1, report));
		for (int i = 0; i < LPL_COLUMNS; i++)
			lpl_column_append(&encoder->columns[i], numbers[i], batch);
		if (encoder->refs == 0 && encoder->event_count == 0)
			encoder->first = (struct lpl_clocks){ refs->ref, refs->instr, refs->cycle };
		encoder->last = encoder->last_ref =
			(struct lpl_clocks){ end->ref, end->instr, end->cycle };
		encoder->last_space = end->space;
		encoder->refs += batch;
		refs += batch;
		count -= batch;
	}
	return LPL_OK;
}

enum lpl_error lpl_data_encode_event(struct lpl_data_encoder *encoder,
				     const struct lpl_event *event,
				     struct lpl_report *report)
{
	const struct lpl_clocks *before = &encoder->last;
	uint64_t instrs = event->instr - before->instr;
	uint8_t *at = encoder->events_end;
	unsigned int mask = 0;

	if (encoder->event_count >= encoder->events_max)
		return lpl_fail(report, LPL_ERR_INTERNAL, "a chunk overflows");
	if (event->text_length > KTR_TEXT)
		return lpl_fail(report, LPL_ERR_USAGE,
				"event after reference %" PRIu64 ": its text of %u bytes is too long"
				" (at most %d)", event->ref, (unsigned int)event->text_length,
				KTR_TEXT);
	if (event->ref < before->ref || event->instr < before->instr ||
	    event->cycle < before->cycle)
		return lpl_fail(report, LPL_ERR_ORDER,
				"event at reference %" PRIu64 " (instruction %" PRIu64 ", cycle %"
				PRIu64 ") does not come after reference %" PRIu64 " (%" PRIu64
				", %" PRIu64 ")", event->ref, event->instr, event->cycle,
				before->ref, before->instr, before->cycle);

	assert(encoder->event_position <= encoder->refs);
	at = lpl_varint_put(at, encoder->refs - encoder->event_position);
	at = lpl_varint_put(at, event->ref - before->ref);
	at = lpl_varint_put(at, instrs);
	at = lpl_varint_put(at, lpl_zigzag(event->cycle - before->cycle - instrs));
	at = lpl_varint_put(at, event->tag);
	at = lpl_varint_put(at, event->tid);
	at = lpl_varint_put(at, event->tgid);
	at = lpl_varint_put(at, event->space);
	for (unsigned int i = 0; i < KTR_ARGS; i++)
		mask |= (event->arg[i] != 0 ? 1U : 0U) << i;
	at = lpl_varint_put(at, mask);
	for (unsigned int i = 0; i < KTR_ARGS; i++)
		if (event->arg[i] != 0)
			at = lpl_varint_put(at, event->arg[i]);
	at = lpl_varint_put(at, event->text_length);
	memcpy(at, event->text, event->text_length);

	encoder->events_end = at + event->text_length;
	encoder->event_position = encoder->refs;
	encoder->last = (struct lpl_clocks){ event->ref, event->instr, event->cycle };
	if (encoder->refs == 0 && encoder->event_count == 0)
		encoder->first = encoder->last;
	encoder->event_count++;
	assert((size_t)(encoder->events_end - encoder->events) <=
	       encoder->event_count * LPL_EVENT_BYTES_MAX);
	return LPL_OK;
}

void lpl_data_encoder_moved(struct lpl_data_encoder *encoder, size_t refs,
			    const struct lpl_clocks *first, const struct lpl_clocks *last)
{
	assert(refs >= encoder->refs && lpl_clocks_ordered(first, last));
	if (refs == encoder->refs)
		return;
	if (encoder->refs == 0 && encoder->event_count == 0)
		encoder->first = *first;
	encoder->refs = refs;
	encoder->last = *last;
}

size_t lpl_data_bound(const struct lpl_data_encoder *encoder)
{
	return LPL_VARINT_MAX + LPL_COLUMNS * lpl_column_bound(encoder->refs_max) +
	       encoder->events_max * LPL_EVENT_BYTES_MAX + LPL_TOTALS_NUMBERS * LPL_VARINT_MAX;
}

size_t lpl_data_encode_end(const struct lpl_data_encoder *encoder,
			   const struct lpl_totals *totals, uint8_t *out)
{
	size_t events = (size_t)(encoder->events_end - encoder->events);
	uint8_t *at = lpl_varint_put(out, encoder->base_space);

	if (encoder->refs > 0)
		for (int i = 0; i < LPL_COLUMNS; i++)
			at = lpl_column_store(&encoder->columns[i], at);
	memcpy(at, encoder->events, events);
	at = lpl_totals_put(at + events, totals);
	return (size_t)(at - out);
}

/* Of all types that were counted. */
static uint64_t sum_of_types(const struct lpl_totals *totals)
{
	uint64_t sum = 0;

	for (int i = 0; i < LPL_TYPES; i++)
		sum += totals->refs[i];
	return sum;
}

uint64_t lpl_totals_before(const struct lpl_totals *totals)
{
	return totals->total ? totals->total : sum_of_types(totals);
}

bool lpl_totals_agree(const struct lpl_totals *totals, uint64_t before)
{
	uint64_t sum = sum_of_types(totals);

	return sum == 0 || sum == before;
}

bool lpl_totals_follow(const struct lpl_totals *totals, const struct lpl_totals *before)
{
	bool counted = sum_of_types(totals) != 0 && sum_of_types(before) != 0;
	bool less = lpl_totals_before(totals) < lpl_totals_before(before) ||
		    totals->tracer_refs < before->tracer_refs ||
		    totals->events < before->events ||
		    (counted && totals->user_refs < before->user_refs);

	for (int i = 0; i < LPL_TYPES; i++)
		less |= counted && totals->refs[i] < before->refs[i];
	return !less;
}

uint8_t *lpl_totals_put(uint8_t *out, const struct lpl_totals *totals)
{
	for (int i = 0; i < LPL_TYPES; i++)
		out = lpl_varint_put(out, totals->refs[i]);
	out = lpl_varint_put(out, totals->user_refs);
	out = lpl_varint_put(out, totals->tracer_refs);
	return lpl_varint_put(out, totals->events);
}

const uint8_t *lpl_totals_get(const uint8_t *in, const uint8_t *end,
			      struct lpl_totals *totals)
{
	uint64_t *numbers[LPL_TOTALS_NUMBERS];
	int count = 0;

	for (int i = 0; i < LPL_TYPES; i++)
		numbers[count++] = &totals->refs[i];
	numbers[count++] = &totals->user_refs;
	numbers[count++] = &totals->tracer_refs;
	numbers[count++] = &totals->events;
	for (int i = 0; i < count && in; i++)
		in = lpl_varint_get(in, end, numbers[i]);
	return in;
}
