/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The queue of events that wait.
 *
 * An event is written as LEB128 numbers: the position, the three clocks and the
 * space as zigzag differences to the event before; tag, tid, tgid; a mask of
 * the arguments that are not 0, and these; the text's length, and the text.
 * Differences wrap, so that any input comes out as it went in.
 */
#include "event_queue.h"

#include "base/try.h"
#include "base/varint.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
	BLOCK_BYTES = 65536 - 16,
	NUMBERS = 10 + KTR_ARGS,
	EVENT_BYTES = NUMBERS * LPL_VARINT_MAX + KTR_TEXT
};

/* An event never straddles two blocks; `used` is set when a block is left. */
struct lpl_event_queue_block {
	struct lpl_event_queue_block *next;
	size_t used;
	uint8_t bytes[BLOCK_BYTES];
};

void lpl_event_queue_init(struct lpl_event_queue *events)
{
	memset(events, 0, sizeof(*events));
}

void lpl_event_queue_free(struct lpl_event_queue *events)
{
	while (events->first != NULL) {
		struct lpl_event_queue_block *next = events->first->next;

		free(events->first);
		events->first = next;
	}
	lpl_event_queue_init(events);
}

static uint8_t *put_change(uint8_t *to, uint64_t before, uint64_t now)
{
	return lpl_varint_put(to, lpl_zigzag(now - before));
}

/* Numbers were written by us, and a block has room for a long one wherever one begins. */
static const uint8_t *get(const uint8_t *from, uint64_t *number)
{
	*number = 0;
	from = lpl_varint_get(from, from + LPL_VARINT_MAX, number);
	assert(from != NULL);
	return from;
}

static const uint8_t *get_change(const uint8_t *from, uint64_t *value)
{
	uint64_t zigzag;

	from = get(from, &zigzag);
	*value += lpl_unzigzag(zigzag);
	return from;
}

static bool room(struct lpl_event_queue *events)
{
	struct lpl_event_queue_block *block;

	if (events->last != NULL && BLOCK_BYTES - events->write >= EVENT_BYTES)
		return true;
	block = malloc(sizeof(*block));
	if (block == NULL)
		return false;
	block->next = NULL;
	if (events->last == NULL) {
		events->first = block;
		events->read = 0;
	} else {
		events->last->used = events->write;
		events->last->next = block;
	}
	events->last = block;
	events->write = 0;
	return true;
}

bool lpl_event_queue_push(struct lpl_event_queue *events, const struct lpl_event *event,
		     uint64_t position)
{
	const struct lpl_event *before = &events->back;
	uint32_t length = event->text_length < KTR_TEXT ? event->text_length : KTR_TEXT;
	unsigned int mask = 0;
	uint8_t *to;

	if (!room(events))
		return false;
	to = events->last->bytes + events->write;
	to = put_change(to, events->back_position, position);
	to = put_change(to, before->ref, event->ref);
	to = put_change(to, before->instr, event->instr);
	to = put_change(to, before->cycle, event->cycle);
	to = put_change(to, before->space, event->space);
	to = lpl_varint_put(to, event->tag);
	to = lpl_varint_put(to, event->tid);
	to = lpl_varint_put(to, event->tgid);
	for (unsigned int i = 0; i < KTR_ARGS; i++)
		mask |= (event->arg[i] != 0 ? 1U : 0U) << i;
	to = lpl_varint_put(to, mask);
	for (unsigned int i = 0; i < KTR_ARGS; i++)
		if (event->arg[i] != 0)
			to = lpl_varint_put(to, event->arg[i]);
	to = lpl_varint_put(to, length);
	memcpy(to, event->text, length);
	to += length;
	events->write = (size_t)(to - events->last->bytes);
	assert(events->write <= BLOCK_BYTES);
	events->back.ref = event->ref;
	events->back.instr = event->instr;
	events->back.cycle = event->cycle;
	events->back.space = event->space;
	events->back_position = position;
	events->count++;
	return true;
}

const struct lpl_event *lpl_event_queue_front(struct lpl_event_queue *events, uint64_t *position)
{
	struct lpl_event *event = &events->front;
	const uint8_t *from;
	uint64_t number;
	uint64_t mask;

	if (events->count == 0)
		return NULL;
	*position = events->front_position;
	if (events->decoded)
		return event;
	if (events->first != events->last && events->read == events->first->used) {
		struct lpl_event_queue_block *next = events->first->next;

		free(events->first);
		events->first = next;
		events->read = 0;
	}
	assert(events->read < (events->first == events->last ? events->write : events->first->used));
	from = events->first->bytes + events->read;
	from = get_change(from, &events->front_position);
	from = get_change(from, &event->ref);
	from = get_change(from, &event->instr);
	from = get_change(from, &event->cycle);
	from = get_change(from, &event->space);
	from = get(from, &number);
	event->tag = (uint32_t)number;
	from = get(from, &number);
	event->tid = (uint32_t)number;
	from = get(from, &number);
	event->tgid = (uint32_t)number;
	from = get(from, &mask);
	for (unsigned int i = 0; i < KTR_ARGS; i++) {
		event->arg[i] = 0;
		if ((mask >> i & 1) != 0)
			from = get(from, &event->arg[i]);
	}
	from = get(from, &number);
	event->text_length = (uint32_t)number;
	memcpy(event->text, from, event->text_length);
	memset(event->text + event->text_length, 0, KTR_TEXT - event->text_length);
	from += event->text_length;
	events->read = (size_t)(from - events->first->bytes);
	events->decoded = true;
	*position = events->front_position;
	return event;
}

void lpl_event_queue_pop(struct lpl_event_queue *events)
{
	uint64_t position;

	assert(events->count > 0);
	/* an event never looked at is decoded all the same: the next one is
	 * encoded as its difference */
	(void)lpl_event_queue_front(events, &position);
	events->decoded = false;
	events->count--;
	if (events->count == 0 && events->first == events->last) {
		events->read = 0;
		events->write = 0;
	}
}

enum lpl_error lpl_event_queue_send(struct lpl_event_queue *events, uint64_t until,
				    struct lpl_outlet *outlet, struct lpl_report *report)
{
	const struct lpl_event *event;
	uint64_t position;

	while ((event = lpl_event_queue_front(events, &position)) != NULL && position < until) {
		LPL_TRY(lpl_outlet_event(outlet, event, report));
		lpl_event_queue_pop(events);
	}
	return LPL_OK;
}
