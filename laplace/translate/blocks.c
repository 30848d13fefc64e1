/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Code, as the events of a stream report it; see code.h.
 *
 * The rule (docs/format.md, section 15): the byte at a physical address is that of the latest report that has it.
 * A writer compares what the processor decodes with that, and reports what a reader would not find; so readers
 * have what was executed, always.  It is kept in blocks, aligned ones of LPL_CODE_BYTES.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "base/try.h"
#include "code.h"

struct block {
	uint64_t address;		/* physical, of its first byte */
	uint8_t bits[LPL_CODE_BYTES];	/* of the instruction that has the byte; 0: it is not known */
	uint8_t bytes[LPL_CODE_BYTES];
};

struct lpl_blocks {
	struct lpl_map place;	/* address -> index, plus 1 */
	struct block *block;
	size_t count, room;
};

static uint64_t block_of(uint64_t address)
{
	return address & ~(uint64_t)(LPL_CODE_BYTES - 1);
}

/* ---- its life ---- */

enum lpl_error lpl_blocks_open(struct lpl_blocks **blocks, struct lpl_report *report)
{
	*blocks = calloc(1, sizeof(**blocks));
	if (*blocks == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for code");
	lpl_map_init(&(*blocks)->place, 1);
	return LPL_OK;
}

static void forget(struct lpl_blocks *blocks)
{
	lpl_map_free(&blocks->place);
	lpl_map_init(&blocks->place, 1);
	blocks->count = 0;
}

void lpl_blocks_close(struct lpl_blocks *blocks)
{
	if (blocks == NULL)
		return;
	lpl_map_free(&blocks->place);
	free(blocks->block);
	free(blocks);
}

/* ---- events ---- */

static const struct block *find(const struct lpl_blocks *blocks, uint64_t address)
{
	const uint64_t place = lpl_map_get(&blocks->place, LPL_KEY(block_of(address)));

	return place ? &blocks->block[place - 1] : NULL;
}

/* NULL: no memory. */
static struct block *enter(struct lpl_blocks *blocks, uint64_t address)
{
	uint64_t *place = lpl_map_reach(&blocks->place, LPL_KEY(address));

	if (place == NULL)
		return NULL;
	if (*place == 0 && lpl_reserve(blocks->block, blocks->room, blocks->count)) {
		blocks->block[blocks->count] = (struct block){ .address = address };
		*place = ++blocks->count;
	}
	if (*place != 0)
		return &blocks->block[*place - 1];
	(void)lpl_map_remove(&blocks->place, LPL_KEY(address));
	return NULL;
}

/* How many of the `length` bytes from an address are in its block. */
static unsigned int in_block(uint64_t address, unsigned int length)
{
	const unsigned int rest = LPL_CODE_BYTES - (address & (LPL_CODE_BYTES - 1));

	return length < rest ? length : rest;
}

static bool is_possible(const struct lpl_event *event)
{
	const uint64_t address = event->arg[LPL_EVENT_CODE_ADDRESS], bits = event->arg[LPL_EVENT_CODE_BITS];
	const uint64_t page = UINT64_C(1) << LPL_PAGE_SHIFT;

	return address >> 63 == 0 && (bits == 16 || bits == 32 || bits == 64) && event->text_length > 0 &&
	       event->text_length <= LPL_CODE_BYTES && (address & (page - 1)) + event->text_length <= page;
}

/* The part of what an event reports, `offset` bytes from its beginning, that is in one block. */
static enum lpl_error take_part(struct lpl_blocks *blocks, const struct lpl_event *event, unsigned int offset,
				unsigned int length, struct lpl_report *report)
{
	const uint64_t address = event->arg[LPL_EVENT_CODE_ADDRESS] + offset;
	const unsigned int at = address & (LPL_CODE_BYTES - 1);
	struct block *block;

	if (blocks->count == LPL_CODE_MAX && find(blocks, address) == NULL)
		return lpl_fail(report, LPL_ERR_DAMAGED, "after reference %" PRIu64 ": more than %u blocks of code, "
				"and none is forgotten", event->ref, LPL_CODE_MAX);
	block = enter(blocks, block_of(address));
	if (block == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for code");
	memset(block->bits + at, (int)event->arg[LPL_EVENT_CODE_BITS], length);
	memcpy(block->bytes + at, event->text + offset, length);
	return LPL_OK;
}

static enum lpl_error take(struct lpl_blocks *blocks, const struct lpl_event *event, struct lpl_report *report)
{
	const uint64_t address = event->arg[LPL_EVENT_CODE_ADDRESS];
	unsigned int done = 0, part;

	if (address == KTR_NONE) {
		forget(blocks);
		return LPL_OK;
	}
	if (!is_possible(event))
		return lpl_fail(report, LPL_ERR_DAMAGED, "after reference %" PRIu64 ": code at %" PRIx64
				" which there cannot be", event->ref, address);
	for (; done < event->text_length; done += part) {
		part = in_block(address + done, event->text_length - done);
		LPL_TRY(take_part(blocks, event, done, part, report));
	}
	return LPL_OK;
}

enum lpl_error lpl_blocks_follow(struct lpl_blocks *blocks, const struct lpl_event *event,
				 struct lpl_report *report)
{
	if (event->tag == LPL_EVENT_CODE)
		return take(blocks, event, report);
	if (event->tag == LPL_EVENT_GAP && event->arg[LPL_EVENT_GAP_EVENTS] != 0)
		forget(blocks);
	return LPL_OK;
}

/* ---- what is known ---- */

unsigned int lpl_blocks_read(const struct lpl_blocks *blocks, uint64_t address, unsigned int length,
			     uint8_t *bytes)
{
	const struct block *block = NULL;
	unsigned int bits = 0;

	for (unsigned int i = 0; i < length; i++) {
		const unsigned int at = (address + i) & (LPL_CODE_BYTES - 1);

		if (i == 0 || at == 0)
			block = find(blocks, address + i);
		if (block == NULL || block->bits[at] == 0)
			return 0;
		bytes[i] = block->bytes[at];
		if (i == 0)
			bits = block->bits[at];
	}
	return bits;
}

/* ---- for whoever makes a trace ---- */

bool lpl_blocks_full(const struct lpl_blocks *blocks)
{
	return blocks->count + LPL_CODE_DECODED > LPL_CODE_MAX;
}

void lpl_blocks_forget(struct lpl_blocks *blocks, struct kernel_trace_record *record)
{
	memset(record, 0, sizeof(*record));
	record->tag = LPL_EVENT_CODE;
	record->arg[LPL_EVENT_CODE_ADDRESS] = KTR_NONE;
	forget(blocks);
}

static void fill(struct kernel_trace_record *record, uint64_t address, unsigned int length, unsigned int bits,
		 const uint8_t *bytes)
{
	memset(record, 0, sizeof(*record));
	record->tag = LPL_EVENT_CODE;
	record->arg[LPL_EVENT_CODE_ADDRESS] = address;
	record->arg[LPL_EVENT_CODE_BITS] = bits;
	record->text_length = length;
	memcpy(record->text, bytes, length);
}

static struct lpl_event event_of(const struct kernel_trace_record *record)
{
	struct lpl_event event = { .tag = record->tag, .text_length = record->text_length };

	memcpy(event.arg, record->arg, sizeof(event.arg));
	memcpy(event.text, record->text, sizeof(event.text));
	return event;
}

static bool differs(const struct lpl_blocks *blocks, uint64_t address, unsigned int bits, uint8_t byte)
{
	const struct block *block = find(blocks, address);
	const unsigned int at = address & (LPL_CODE_BYTES - 1);

	return block == NULL || block->bits[at] != bits || block->bytes[at] != byte;
}

/* What is reported begins and ends with a byte that was not known, or another. */
enum lpl_error lpl_blocks_note(struct lpl_blocks *blocks, uint64_t address, unsigned int length, unsigned int bits,
			       const uint8_t *bytes, struct kernel_trace_record *record, bool *news,
			       struct lpl_report *report)
{
	unsigned int first = 0;
	struct lpl_event event;

	while (first < length && !differs(blocks, address + first, bits, bytes[first]))
		first++;
	*news = first < length;
	if (!*news)
		return LPL_OK;
	while (!differs(blocks, address + length - 1, bits, bytes[length - 1]))
		length--;
	fill(record, address + first, length - first, bits, bytes + first);
	event = event_of(record);
	return lpl_blocks_follow(blocks, &event, report);
}

/* ---- for a reader that begins in the middle ---- */

static int by_address(const void *a, const void *b)
{
	const uint64_t one = (*(const struct block *const *)a)->address;
	const uint64_t other = (*(const struct block *const *)b)->address;

	return (one > other) - (one < other);
}

static enum lpl_error send_block(const struct block *block, struct lpl_sink *sink, struct lpl_report *report)
{
	struct kernel_trace_record record;
	struct lpl_event event;
	unsigned int end;

	for (unsigned int at = 0; at < LPL_CODE_BYTES; at = end) {
		for (end = at + 1; end < LPL_CODE_BYTES && block->bits[end] == block->bits[at]; end++)
			;
		if (block->bits[at] == 0)
			continue;
		fill(&record, block->address + at, end - at, block->bits[at], block->bytes + at);
		event = event_of(&record);
		LPL_TRY(sink->event(sink, &event, report));
	}
	return LPL_OK;
}

enum lpl_error lpl_blocks_send(const struct lpl_blocks *blocks, struct lpl_sink *sink, struct lpl_report *report)
{
	const struct block **all = malloc((blocks->count + 1) * sizeof(*all));
	enum lpl_error error = LPL_OK;

	if (all == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory to send code");
	for (size_t i = 0; i < blocks->count; i++)
		all[i] = &blocks->block[i];
	qsort(all, blocks->count, sizeof(*all), by_address);
	for (size_t i = 0; error == LPL_OK && i < blocks->count; i++)
		error = send_block(all[i], sink, report);
	free(all);
	return error;
}
