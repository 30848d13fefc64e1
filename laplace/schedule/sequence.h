/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A task's sequence in the spool: items, each a tag, four numbers and, if it has one, a body.
 *
 *	tag		a byte: a reference's type and flags (flags << 3 | type), or an item's kind
 *			(kind << 3 | 5)
 *	lengths		a byte: of each number, two bits: 1, 2, 4 or 8 bytes
 *	numbers		cycles, instructions, references: how far clocks advance before it happens;
 *			and the item's value
 *	body		of items that have one: its length (2 bytes), and the bytes
 *
 * Numbers and bodies are as the machine has them: the file does not outlive the process.
 */
#ifndef LAPLACE_SCHEDULE_SEQUENCE_H
#define LAPLACE_SCHEDULE_SEQUENCE_H

#include <string.h>

#include <laplace/merge.h>

#include "base/try.h"
#include "spool.h"

enum lpl_item_kind {
	LPL_ITEM_REFERENCE = 0,	/* value: the page's index */
	/* records of the trace that are events; all but LPL_ITEM_HIDDEN have it as their body */
	LPL_ITEM_HIDDEN,	/* one that means nothing where pages are canonical */
	LPL_ITEM_EVENT,
	LPL_ITEM_LEAVE,		/* the task's KTR_SCHEDULE; value: in which KTR_STATE_* */
	LPL_ITEM_WAKE,		/* value: which of the wakes that end a wait, or of the gives to pipes */
	LPL_ITEM_CREATE,	/* value: the child's serial */
	/* what is no record, and stands before the record that it is for; only takes have cycles */
	LPL_ITEM_WAIT_WAKE,	/* value: until that wake; body: struct lpl_waker */
	LPL_ITEM_WAIT_CYCLES,	/* value: for so long */
	LPL_ITEM_TAKE,		/* value: until this give to a pipe; body: struct lpl_waker, 0 cycles */
	LPL_ITEM_LEFT,		/* the trace does not say for how long: the task ends here */
	LPL_ITEM_IDENTITY,	/* what the task is called from here on; body: struct lpl_identity */
	LPL_ITEM_BURST,		/* of the order in which tasks ran; value: the task's serial, references: records */
	LPL_ITEM_END		/* is not written: nothing more comes */
};

static inline bool lpl_item_is_record(enum lpl_item_kind kind)
{
	return kind <= LPL_ITEM_CREATE;
}

/* Of a wait for another task. */
struct lpl_waker {
	uint64_t serial;		/* the task that it is for */
	uint64_t cycles;		/* that it took in the trace */
};

/* What a task was when it made a record. */
struct lpl_identity {
	uint64_t space, process;
	uint32_t tid, tgid;
	uint32_t name_length;
	char name[LPL_TASK_NAME];
};

struct lpl_item {
	uint64_t cycles, instructions, references;
	uint64_t value;
	enum lpl_item_kind kind;
	uint8_t type, flags;		/* of a reference */
	uint16_t body_size;		/* 0: it has none */
	uint32_t body;			/* where it is in the cursor's block */
};

enum {
	LPL_ITEM_HEAD = 2 + 4 * 8,	/* bytes of the longest tag, lengths and numbers */
	LPL_ITEM_BODY = 512		/* at least the longest body */
};

/* ---- writing ---- */

static inline uint8_t *lpl_put_number(uint8_t *out, uint64_t number, unsigned int at,
				      uint8_t *lengths)
{
	const unsigned int code = (number > UINT8_MAX) + (number > UINT16_MAX) +
		(number > UINT32_MAX);

	memcpy(out, &number, sizeof(number));
	*lengths = (uint8_t)(*lengths | code << at);
	return out + (1U << code);
}

/* `out` has room for LPL_ITEM_HEAD, and LPL_SPOOL_SLACK may follow it.  Returns what is after it. */
static inline uint8_t *lpl_put_item(uint8_t *out, const struct lpl_item *item)
{
	uint8_t *const start = out;
	uint8_t lengths = 0;

	start[0] = item->kind == LPL_ITEM_REFERENCE ? (uint8_t)(item->flags << 3 | item->type) :
		(uint8_t)((unsigned int)item->kind << 3 | 5);
	out = lpl_put_number(start + 2, item->cycles, 0, &lengths);
	out = lpl_put_number(out, item->instructions, 2, &lengths);
	out = lpl_put_number(out, item->references, 4, &lengths);
	out = lpl_put_number(out, item->value, 6, &lengths);
	start[1] = lengths;
	return out;
}

/* An item without a body, at the end of a chain. */
static inline enum lpl_error lpl_write_item(struct lpl_spool *spool, struct lpl_chain *chain,
					    const struct lpl_item *item, struct lpl_report *report)
{
	LPL_TRY(lpl_chain_room(spool, chain, LPL_ITEM_HEAD, report));
	chain->at = lpl_put_item(chain->at, item);
	return LPL_OK;
}

/* One with a body of `size` bytes. */
enum lpl_error lpl_write_body(struct lpl_spool *spool, struct lpl_chain *chain,
			      const struct lpl_item *item, const void *body, size_t size,
			      struct lpl_report *report);
/* One with an event as its body. */
enum lpl_error lpl_write_event(struct lpl_spool *spool, struct lpl_chain *chain,
			       const struct lpl_item *item, const struct lpl_event *event,
			       struct lpl_report *report);

/*
 * No time passed in what the chain has, and what waits there does so for no time; it is paused.  Numbers are
 * as long as they were.
 */
enum lpl_error lpl_forget_time(struct lpl_spool *spool, const struct lpl_chain *chain,
			       struct lpl_report *report);

/* ---- reading ---- */

static inline uint64_t lpl_get_number(const uint8_t **in, unsigned int code)
{
	static const uint64_t mask[4] = {UINT8_MAX, UINT16_MAX, UINT32_MAX, UINT64_MAX};
	uint64_t number;

	memcpy(&number, *in, sizeof(number));
	*in += 1U << code;
	return number & mask[code];
}

/* What comes next in the cursor's block, in which there is something. */
static inline void lpl_get_item(struct lpl_cursor *cursor, struct lpl_item *item)
{
	const uint8_t *in = cursor->at;
	const uint8_t tag = in[0], lengths = in[1];

	in += 2;
	item->cycles = lpl_get_number(&in, lengths & 3);
	item->instructions = lpl_get_number(&in, lengths >> 2 & 3);
	item->references = lpl_get_number(&in, lengths >> 4 & 3);
	item->value = lpl_get_number(&in, lengths >> 6);
	item->body_size = 0;
	item->body = 0;
	if ((tag & 7) < LPL_TYPES) {
		item->kind = LPL_ITEM_REFERENCE;
		item->type = tag & 7;
		item->flags = tag >> 3;
	} else {
		item->kind = (enum lpl_item_kind)(tag >> 3);
		if (item->kind >= LPL_ITEM_EVENT && item->kind != LPL_ITEM_WAIT_CYCLES &&
		    item->kind != LPL_ITEM_LEFT && item->kind != LPL_ITEM_BURST) {
			memcpy(&item->body_size, in, sizeof(item->body_size));
			in += sizeof(item->body_size);
			item->body = (uint32_t)(in - cursor->buffer->bytes);
			in += item->body_size;
		}
	}
	cursor->at = in;
}

/* The next item, LPL_ITEM_END after the last one.  The cursor is not paused. */
static inline enum lpl_error lpl_read_item(struct lpl_spool *spool, struct lpl_cursor *cursor,
					   struct lpl_item *item, struct lpl_report *report)
{
	if (cursor->at == cursor->end) {
		bool ends;

		LPL_TRY(lpl_cursor_turn(spool, cursor, &ends, report));
		if (ends) {
			*item = (struct lpl_item){.kind = LPL_ITEM_END};
			return LPL_OK;
		}
	}
	lpl_get_item(cursor, item);
	return LPL_OK;
}

static inline const uint8_t *lpl_item_body(const struct lpl_cursor *cursor,
					   const struct lpl_item *item)
{
	return cursor->buffer->bytes + item->body;
}

/* An event as it was, but for its clocks, which are 0. */
void lpl_read_event(const uint8_t *body, struct lpl_event *event);

#endif
