/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading the payload of a DATA chunk.  Nothing in it is believed: checksums
 * catch accidents, the checks here catch everything else.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/try.h"
#include "base/varint.h"
#include "data.h"
#include "record/flags.h"

#define EVENT_BYTES_MIN 10	/* the least that an event takes */

static enum lpl_error damaged(struct lpl_report *cause, const char *what)
{
	return lpl_fail(cause, LPL_ERR_DAMAGED, "%s", what);
}

static enum lpl_error no_room(struct lpl_report *cause)
{
	return lpl_fail(cause, LPL_ERR_MEMORY, "no memory for its records");
}

/* Index of the last of so many; 0 for none, so that an array is there. */
static size_t last_of(size_t count)
{
	return count > 0 ? count - 1 : 0;
}

/* A batch of references from their numbers; false when one breaks an invariant. */
static bool join(struct lpl_ref *refs, size_t count, struct lpl_clocks *before,
		 uint64_t *space, uint64_t predicted[LPL_TYPE_SLOTS],
		 uint64_t numbers[LPL_COLUMNS][LPL_BATCH])
{
	uint64_t bad = 0;

	for (size_t i = 0; i < count; i++) {
		struct lpl_ref *r = &refs[i];
		uint64_t kind = numbers[LPL_COLUMN_KIND][i];
		uint64_t type = kind & (LPL_TYPE_SLOTS - 1), flags = kind >> 3;
		uint64_t length = numbers[LPL_COLUMN_LENGTH][i];
		uint64_t instrs = numbers[LPL_COLUMN_INSTR][i];
		uint64_t paged = (flags & LPL_PAGED) != 0;
		unsigned int shift = paged ? LPL_PAGE_SHIFT : 0;
		struct lpl_clocks now;
		uint64_t address;

		now.ref = before->ref + numbers[LPL_COLUMN_REF][i];
		now.instr = before->instr + instrs;
		now.cycle = before->cycle + instrs +
			    lpl_unzigzag(numbers[LPL_COLUMN_CYCLE][i]);
		*space += lpl_unzigzag(numbers[LPL_COLUMN_SPACE][i]);
		address = (predicted[type] >> shift) +
			  lpl_unzigzag(numbers[LPL_COLUMN_ADDRESS][i]);
		/* a page number that does not fit an address */
		bad |= (uint64_t)(paged && address >> (64 - LPL_PAGE_SHIFT));
		address <<= shift;

		bad |= (uint64_t)(type >= LPL_TYPES) | (uint64_t)(flags > lpl_flags_max(type, paged)) |
		       (uint64_t)(paged != (length == 0)) | (uint64_t)(length > LPL_LENGTH_MAX) |
		       (uint64_t)!lpl_ref_follows(now.ref, flags, before->ref) |
		       (uint64_t)(now.instr < before->instr) |
		       (uint64_t)(now.cycle < before->cycle);

		r->ref = now.ref;
		r->instr = now.instr;
		r->cycle = now.cycle;
		r->address = address;
		r->space = *space;
		r->type = (uint8_t)type;
		r->flags = (uint8_t)flags;
		r->length = (uint16_t)length;
		r->reserved = 0;
		predicted[type] = address + length;
		*before = now;
	}
	return bad == 0;
}

/* Is a number that grows by `step` so often, from `first` on, always 0 or more, and below 2^bits? */
static bool keeps_in_range(uint64_t first, __int128 step, size_t times, unsigned int bits)
{
	const __int128 last = first + step * (__int128)times;

	return last >= 0 && last >> bits == 0;
}

/*
 * Do the references follow from the first one, and from what each adds to the one before it?
 * Those that break an invariant are left to join(), which finds it.
 */
static bool is_steady(struct lpl_steady *steady, size_t count, const struct lpl_clocks *base,
		      uint64_t space, const struct lpl_column_cursor cursors[LPL_COLUMNS])
{
	uint64_t predicted[LPL_TYPE_SLOTS] = { 0 }, first[LPL_COLUMNS][LPL_BATCH];
	uint64_t rest[LPL_COLUMNS], numbers[2];
	struct lpl_clocks now = *base, *step = &steady->step;
	const size_t times = count - 1;

	for (int i = 0; i < LPL_COLUMNS; i++) {
		if (!lpl_column_steady(&cursors[i], count, numbers))
			return false;
		first[i][0] = numbers[0];
		rest[i] = numbers[1];
	}
	if (first[LPL_COLUMN_KIND][0] != rest[LPL_COLUMN_KIND] || rest[LPL_COLUMN_SPACE] != 0 ||
	    first[LPL_COLUMN_LENGTH][0] != rest[LPL_COLUMN_LENGTH] ||
	    !join(&steady->first, 1, &now, &space, predicted, first))
		return false;

	const struct lpl_ref *ref = &steady->first;
	const uint64_t more = lpl_unzigzag(rest[LPL_COLUMN_ADDRESS]);
	const unsigned int shift = ref->flags & LPL_PAGED ? LPL_PAGE_SHIFT : 0;

	*step = (struct lpl_clocks){
		.ref = rest[LPL_COLUMN_REF], .instr = rest[LPL_COLUMN_INSTR],
		.cycle = rest[LPL_COLUMN_INSTR] + lpl_unzigzag(rest[LPL_COLUMN_CYCLE]),
	};
	steady->address_step = (more << shift) + ref->length;
	return (step->ref > 0 || ref->flags & LPL_SYNTHETIC) &&
	       keeps_in_range(ref->ref, step->ref, times, 64) &&
	       keeps_in_range(ref->instr, step->instr, times, 64) &&
	       keeps_in_range(ref->cycle, step->cycle, times, 64) &&
	       (!shift ||
		keeps_in_range(ref->address >> shift, (int64_t)more, times, 64 - shift));
}

/* `*at` becomes the byte after the columns. */
static enum lpl_error decode_refs(struct lpl_data *data, const struct lpl_clocks *base,
				  uint64_t space, const uint8_t **at, const uint8_t *end,
				  struct lpl_report *cause)
{
	struct lpl_column_cursor cursors[LPL_COLUMNS];
	uint64_t numbers[LPL_COLUMNS][LPL_BATCH];
	uint64_t predicted[LPL_TYPE_SLOTS] = { 0 };
	struct lpl_clocks before = *base;

	for (int i = 0; i < LPL_COLUMNS; i++) {
		*at = lpl_column_open(&cursors[i], *at, end);
		if (!*at)
			return damaged(cause, "a column is malformed");
	}
	data->is_steady = is_steady(&data->steady, data->ref_count, base, space, cursors);
	if (data->is_steady)
		return LPL_OK;
	if (!lpl_reserve(data->refs, data->refs_room, last_of(data->ref_count)))
		return no_room(cause);
	for (size_t done = 0; done < data->ref_count; done += LPL_BATCH) {
		size_t left = data->ref_count - done;
		size_t batch = left < LPL_BATCH ? left : LPL_BATCH;

		for (int i = 0; i < LPL_COLUMNS; i++) {
			if (!lpl_column_read(&cursors[i], numbers[i], batch))
				return damaged(cause,
					       "a column holds too few or malformed numbers");
		}
		if (!join(&data->refs[done], batch, &before, &space, predicted, numbers))
			return damaged(cause, "a reference is out of range or out of order");
	}
	for (int i = 0; i < LPL_COLUMNS; i++) {
		if (!lpl_column_done(&cursors[i]))
			return damaged(cause, "a column holds too many numbers");
	}
	return LPL_OK;
}

bool lpl_event_position(const uint8_t *at, const uint8_t *end, uint64_t *step)
{
	return lpl_varint_get(at, end, step) != NULL;
}

const uint8_t *lpl_event_decode(struct lpl_event *event, struct lpl_clocks *before,
				const uint8_t *at, const uint8_t *end)
{
	uint64_t number[10];
	enum { POSITION, REF, INSTR, CYCLE, TAG, TID, TGID, SPACE, MASK, LENGTH };

	for (int i = POSITION; i <= MASK && at; i++)
		at = lpl_varint_get(at, end, &number[i]);
	if (!at || number[TAG] > UINT32_MAX || number[TID] > UINT32_MAX ||
	    number[TGID] > UINT32_MAX || number[MASK] >> KTR_ARGS != 0)
		return NULL;
	memset(event, 0, sizeof(*event));
	for (unsigned int i = 0; i < KTR_ARGS; i++) {
		if (!(number[MASK] >> i & 1))
			continue;
		at = lpl_varint_get(at, end, &event->arg[i]);
		if (!at || event->arg[i] == 0)
			return NULL;
	}
	at = lpl_varint_get(at, end, &number[LENGTH]);
	if (!at || number[LENGTH] > KTR_TEXT || number[LENGTH] > (uint64_t)(end - at))
		return NULL;
	memcpy(event->text, at, number[LENGTH]);
	event->text_length = (uint32_t)number[LENGTH];
	event->ref = before->ref + number[REF];
	event->instr = before->instr + number[INSTR];
	event->cycle = before->cycle + number[INSTR] + lpl_unzigzag(number[CYCLE]);
	event->tag = (uint32_t)number[TAG];
	event->tid = (uint32_t)number[TID];
	event->tgid = (uint32_t)number[TGID];
	event->space = number[SPACE];
	if (event->ref < before->ref || event->instr < before->instr ||
	    event->cycle < before->cycle)
		return NULL;
	*before = (struct lpl_clocks){ event->ref, event->instr, event->cycle };
	return at + number[LENGTH];
}

static struct lpl_clocks clocks_of_ref(const struct lpl_data *data, size_t i)
{
	const struct lpl_ref r = lpl_data_ref(data, i);

	return (struct lpl_clocks){ r.ref, r.instr, r.cycle };
}

/* The events, their places among the references, and the clocks of both. */
static const uint8_t *decode_events(struct lpl_data *data, const struct lpl_clocks *base,
				    struct lpl_clocks *last, const uint8_t *at,
				    const uint8_t *end, struct lpl_report *cause)
{
	struct lpl_clocks before = *base;
	uint64_t position = 0, step;

	for (size_t i = 0; i < data->event_count; i++) {
		struct lpl_event *event = &data->events[i];

		/* the position is read first: it decides what the clocks are relative to */
		if (!lpl_event_position(at, end, &step) || step > data->ref_count - position) {
			damaged(cause, "an event is malformed or out of place");
			return NULL;
		}
		position += step;
		if (step > 0)
			before = clocks_of_ref(data, position - 1);
		at = lpl_event_decode(event, &before, at, end);
		if (!at) {
			damaged(cause, "an event is malformed or out of order");
			return NULL;
		}
		data->positions[i] = (uint32_t)position;
		if (position < data->ref_count) {
			const struct lpl_ref next = lpl_data_ref(data, position);

			if (!lpl_ref_follows(next.ref, next.flags, event->ref) ||
			    next.instr < event->instr || next.cycle < event->cycle) {
				damaged(cause, "a reference does not come after the event before it");
				return NULL;
			}
		}
	}
	if (position < data->ref_count)
		before = clocks_of_ref(data, data->ref_count - 1);
	*last = before;
	return at;
}

enum lpl_error lpl_data_begin(struct lpl_data *data, const struct lpl_chunk_header *header,
			      size_t refs_max, size_t bytes, struct lpl_report *cause)
{
	if (header->refs > refs_max || header->events > LPL_CHUNK_EVENTS_MAX)
		return damaged(cause, "too many records for a chunk");
	if (header->refs == 0 && header->events == 0)
		return damaged(cause, "a chunk without records");
	if (header->events > bytes / EVENT_BYTES_MIN)
		return damaged(cause, "more events than its bytes can hold");
	if (!lpl_reserve(data->events, data->events_room, last_of(header->events)) ||
	    !lpl_reserve(data->positions, data->positions_room, last_of(header->events)))
		return no_room(cause);
	data->is_steady = false;
	data->ref_count = header->refs;
	data->event_count = header->events;
	return LPL_OK;
}

enum lpl_error lpl_data_end(struct lpl_data *data, const struct lpl_chunk_header *header,
			    const struct lpl_clocks *first_ref, const struct lpl_clocks *last,
			    struct lpl_report *cause)
{
	const struct lpl_event *event = data->events;
	struct lpl_clocks first = *first_ref;

	if (data->event_count > 0 && data->positions[0] == 0)
		first = (struct lpl_clocks){ event->ref, event->instr, event->cycle };
	if (!lpl_clocks_equal(&first, &header->first) || !lpl_clocks_equal(last, &header->last))
		return damaged(cause, "its clocks are not those of its records");
	if (!lpl_totals_agree(&data->totals, header->refs_before))
		return damaged(cause, "its totals do not add up");
	data->totals.total = header->refs_before;
	return LPL_OK;
}

enum lpl_error lpl_data_decode(struct lpl_data *data, const struct lpl_chunk_header *header,
			       const uint8_t *payload, size_t size,
			       struct lpl_report *cause)
{
	const uint8_t *at = payload, *end = payload + size;
	struct lpl_clocks first = header->base, last;
	uint64_t base_space;

	LPL_TRY(lpl_data_begin(data, header, LPL_CHUNK_REFS_MAX, size, cause));
	at = lpl_varint_get(at, end, &base_space);
	if (!at)
		return damaged(cause, "the payload is malformed");
	if (data->ref_count > 0) {
		LPL_TRY(decode_refs(data, &header->base, base_space, &at, end, cause));
		first = clocks_of_ref(data, 0);
	}
	at = decode_events(data, &header->base, &last, at, end, cause);
	if (!at)
		return LPL_ERR_DAMAGED;
	memset(&data->totals, 0, sizeof(data->totals));
	at = lpl_totals_get(at, end, &data->totals);
	if (at != end)
		return damaged(cause, "the payload does not end with the totals");
	return lpl_data_end(data, header, &first, &last, cause);
}

void lpl_data_free(struct lpl_data *data)
{
	free(data->refs);
	free(data->events);
	free(data->positions);
	free(data->step_positions);
	memset(data, 0, sizeof(*data));
}
