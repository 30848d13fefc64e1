/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The queue of held events.
 *
 * An event is written as LEB128 numbers: the position, the three clocks and the
 * space as zigzag differences to the event before; tag, tid, tgid; a mask of
 * the arguments that are not 0, and these; the text's length, and the text.
 * Differences wrap, so that any input comes out as it went in.
 */
#include "events.h"

#include <stdlib.h>
#include <string.h>

enum {
	BLOCK_BYTES = 65536 - 16,
	NUMBER_BYTES = 10,	/* of a 64-bit number, at most */
	NUMBERS = 10 + KTR_ARGS,
	EVENT_BYTES = NUMBERS * NUMBER_BYTES + KTR_TEXT
};

/* An event never straddles two blocks; `used` is set when a block is left. */
struct lpl_events_block {
	struct lpl_events_block *next;
	size_t used;
	unsigned char bytes[BLOCK_BYTES];
};

void lpl_events_init(struct lpl_events *events)
{
	memset(events, 0, sizeof(*events));
}

void lpl_events_free(struct lpl_events *events)
{
	while (events->first != NULL) {
		struct lpl_events_block *next = events->first->next;

		free(events->first);
		events->first = next;
	}
	lpl_events_init(events);
}

static unsigned char *put(unsigned char *to, uint64_t number)
{
	while (number >= 0x80) {
		*to++ = (unsigned char)(number | 0x80);
		number >>= 7;
	}
	*to++ = (unsigned char)number;
	return to;
}

static const unsigned char *get(const unsigned char *from, uint64_t *number)
{
	*number = 0;
	for (unsigned int shift = 0;; shift += 7) {
		*number |= (uint64_t)(*from & 0x7f) << shift;
		if (*from++ < 0x80)
			return from;
	}
}

static unsigned char *put_change(unsigned char *to, uint64_t before, uint64_t now)
{
	uint64_t change = now - before;

	return put(to, change << 1 ^ (change >> 63 != 0 ? UINT64_MAX : 0));
}

static const unsigned char *get_change(const unsigned char *from, uint64_t *value)
{
	uint64_t zigzag;

	from = get(from, &zigzag);
	*value += zigzag >> 1 ^ ((zigzag & 1) != 0 ? UINT64_MAX : 0);
	return from;
}

static bool room(struct lpl_events *events)
{
	struct lpl_events_block *block;

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

bool lpl_events_push(struct lpl_events *events, const struct lpl_event *event,
		     uint64_t position)
{
	const struct lpl_event *before = &events->back;
	uint32_t length = event->text_length < KTR_TEXT ? event->text_length : KTR_TEXT;
	unsigned int mask = 0;
	unsigned char *to;

	if (!room(events))
		return false;
	to = events->last->bytes + events->write;
	to = put_change(to, events->back_position, position);
	to = put_change(to, before->ref, event->ref);
	to = put_change(to, before->instr, event->instr);
	to = put_change(to, before->cycle, event->cycle);
	to = put_change(to, before->space, event->space);
	to = put(to, event->tag);
	to = put(to, event->tid);
	to = put(to, event->tgid);
	for (unsigned int i = 0; i < KTR_ARGS; i++)
		mask |= (event->arg[i] != 0 ? 1U : 0U) << i;
	to = put(to, mask);
	for (unsigned int i = 0; i < KTR_ARGS; i++)
		if (event->arg[i] != 0)
			to = put(to, event->arg[i]);
	to = put(to, length);
	memcpy(to, event->text, length);
	to += length;
	events->write = (size_t)(to - events->last->bytes);
	events->back.ref = event->ref;
	events->back.instr = event->instr;
	events->back.cycle = event->cycle;
	events->back.space = event->space;
	events->back_position = position;
	events->count++;
	return true;
}

const struct lpl_event *lpl_events_front(struct lpl_events *events, uint64_t *position)
{
	struct lpl_event *event = &events->front;
	const unsigned char *from;
	uint64_t number;
	uint64_t mask;

	if (events->count == 0)
		return NULL;
	*position = events->front_position;
	if (events->decoded)
		return event;
	if (events->first != events->last && events->read == events->first->used) {
		struct lpl_events_block *next = events->first->next;

		free(events->first);
		events->first = next;
		events->read = 0;
	}
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

void lpl_events_pop(struct lpl_events *events)
{
	uint64_t position;

	/* an event never looked at is decoded all the same: the next one is
	 * told as its difference */
	(void)lpl_events_front(events, &position);
	events->decoded = false;
	events->count--;
	if (events->count == 0 && events->first == events->last) {
		events->read = 0;
		events->write = 0;
	}
}
