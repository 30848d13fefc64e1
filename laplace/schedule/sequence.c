/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bodies of items: of an event, the arguments that are not 0 and its text.  And times that are forgotten. */
#include "sequence.h"

#include <stddef.h>

struct event_head {
	uint64_t space;
	uint32_t tag, tid, tgid;
	uint16_t text_length;
	uint16_t arguments;		/* a bit for each that follows */
};

_Static_assert(sizeof(struct event_head) + KTR_ARGS * sizeof(uint64_t) + KTR_TEXT <= LPL_ITEM_BODY,
	       "an event fits");
_Static_assert(sizeof(struct lpl_identity) <= LPL_ITEM_BODY, "an identity is a body, too");

enum lpl_error lpl_write_body(struct lpl_spool *spool, struct lpl_chain *chain,
			      const struct lpl_item *item, const void *body, size_t size,
			      struct lpl_report *report)
{
	const uint16_t bytes = (uint16_t)size;

	LPL_TRY(lpl_chain_room(spool, chain, LPL_ITEM_HEAD + sizeof(bytes) + size, report));
	chain->at = lpl_put_item(chain->at, item);
	memcpy(chain->at, &bytes, sizeof(bytes));
	memcpy(chain->at + sizeof(bytes), body, size);
	chain->at += sizeof(bytes) + size;
	return LPL_OK;
}

enum lpl_error lpl_write_event(struct lpl_spool *spool, struct lpl_chain *chain,
			       const struct lpl_item *item, const struct lpl_event *event,
			       struct lpl_report *report)
{
	struct event_head head = {
		.space = event->space, .tag = event->tag, .tid = event->tid, .tgid = event->tgid,
		.text_length = (uint16_t)(event->text_length < KTR_TEXT ? event->text_length :
					  KTR_TEXT),
	};
	uint8_t body[LPL_ITEM_BODY];
	size_t size = sizeof(head);

	for (unsigned int i = 0; i < KTR_ARGS; i++) {
		if (event->arg[i] == 0)
			continue;
		head.arguments = (uint16_t)(head.arguments | 1U << i);
		memcpy(body + size, &event->arg[i], sizeof(event->arg[i]));
		size += sizeof(event->arg[i]);
	}
	memcpy(body, &head, sizeof(head));
	memcpy(body + size, event->text, head.text_length);
	return lpl_write_body(spool, chain, item, body, size + head.text_length, report);
}

void lpl_read_event(const uint8_t *body, struct lpl_event *event)
{
	struct event_head head;

	memcpy(&head, body, sizeof(head));
	body += sizeof(head);
	memset(event, 0, sizeof(*event));
	event->space = head.space;
	event->tag = head.tag;
	event->tid = head.tid;
	event->tgid = head.tgid;
	event->text_length = head.text_length;
	for (unsigned int i = 0; i < KTR_ARGS; i++) {
		if ((head.arguments >> i & 1) == 0)
			continue;
		memcpy(&event->arg[i], body, sizeof(event->arg[i]));
		body += sizeof(event->arg[i]);
	}
	memcpy(event->text, body, head.text_length);
}

/* ---- times ---- */

static void forget_time_of(uint8_t *bytes, uint8_t *body, const struct lpl_item *item)
{
	const size_t cycles = 1U << (bytes[1] & 3), instructions = 1U << (bytes[1] >> 2 & 3);
	const size_t references = 1U << (bytes[1] >> 4 & 3), value = 1U << (bytes[1] >> 6);

	bytes += 2;
	memset(bytes, 0, cycles + instructions);
	if (item->kind == LPL_ITEM_WAIT_CYCLES)
		memset(bytes + cycles + instructions + references, 0, value);
	if (item->kind == LPL_ITEM_WAIT_WAKE)
		memset(body + offsetof(struct lpl_waker, cycles), 0, sizeof(uint64_t));
}

enum lpl_error lpl_forget_time(struct lpl_spool *spool, const struct lpl_chain *chain,
			       struct lpl_report *report)
{
	struct lpl_cursor cursor = lpl_cursor_at(chain);
	bool ends = false;

	LPL_TRY(lpl_cursor_resume(spool, &cursor, report));
	while (!ends && cursor.buffer != NULL) {
		uint8_t *const bytes = cursor.buffer->bytes;
		const uint8_t *const start = cursor.at;
		struct lpl_item item;

		if (start == cursor.end) {
			LPL_TRY(lpl_cursor_turn(spool, &cursor, &ends, report));
			continue;
		}
		lpl_get_item(&cursor, &item);
		forget_time_of(bytes + (start - bytes), bytes + item.body, &item);
		cursor.buffer->changed = true;
	}
	lpl_cursor_pause(&cursor);
	return LPL_OK;
}
