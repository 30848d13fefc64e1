/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is rare in the log of every reference (log.h): blocks, definitions, records.
 *
 * A block begins with the whole instruction count, against which its reader checks its own.
 * While nothing is recorded the log is still written, since its reader has to know which trace is
 * running when recording begins; but a block that has no more than traces and references is
 * overwritten instead of sent.
 *
 * The consumer of the blocks may give up.  Then words go to a spare block, again and again, until
 * the simulator has noticed (`failed`).
 */
#include <assert.h>
#include <stdlib.h>

#include "base/map.h"
#include "log.h"

struct lpl_log_known {
	struct lpl_map id;	/* of a trace, by its address, count and lengths */
};

/* ---- blocks ---- */

/*
 * How many words may come before a trace is looked at.  Each stands for one trace at most, so none that begins at
 * look_at is missed: blocks get shorter on the way there.
 */
static size_t words_to_look(const struct lpl_log *log, uint64_t instr)
{
	const uint64_t left = log->look_at - instr;

	return log->look_at < instr || left / LPL_LOG_INSTRUCTIONS >= LPL_LOG_BLOCK ? LPL_LOG_BLOCK :
	       (size_t)(left / LPL_LOG_INSTRUCTIONS);
}

static void begin_block(struct lpl_log *log, uint64_t instr, enum lpl_log_kind kind)
{
	log->at = log->block->word;
	log->limit = log->at + words_to_look(log, instr);
	log->news = false;
	lpl_log_word(log, 0, instr, kind);
	*log->at++ = instr;
}

static void next_block(struct lpl_log *log, uint64_t instr)
{
	struct lpl_log_block *block =
		log->ring && !log->failed ? lpl_ring_reserve_block(log->ring) : NULL;

	log->failed = log->ring && !block;
	log->block = block ? block : log->spare;
	begin_block(log, instr, LPL_LOG_COUNT);
}

static void send_block(struct lpl_log *log, uint64_t instr)
{
	log->block->words = (uint64_t)(log->at - log->block->word);
	assert(log->block->words <= LPL_LOG_BLOCK + LPL_LOG_MARGIN);
	if (log->ring && !log->failed)
		lpl_ring_commit(log->ring);
	next_block(log, instr);
}

void lpl_log_room(struct lpl_log *log, uint64_t instr)
{
	if (log->at >= log->limit)
		send_block(log, instr);
}

void lpl_log_room_for_trace(struct lpl_log *log, uint64_t instr)
{
	if (log->at >= log->limit && !log->recording && !log->news)
		begin_block(log, instr, LPL_LOG_SKIP);
	else
		lpl_log_room(log, instr);
}

struct lpl_ring *lpl_log_new_ring(size_t records)
{
	const size_t per_block = LPL_LOG_BLOCK * sizeof(uint64_t) / sizeof(struct lpl_ring_record);
	size_t blocks = 4;

	while (blocks * per_block < records &&
	       blocks < SIZE_MAX / sizeof(struct lpl_log_block) / 4)
		blocks *= 2;
	return lpl_ring_new_blocks(blocks, sizeof(struct lpl_log_block));
}

bool lpl_log_open(struct lpl_log *log, struct lpl_ring *ring)
{
	*log = (struct lpl_log){ .ring = ring, .base = LPL_LOG_NOWHERE, .look_at = UINT64_MAX };
	log->trace = malloc(LPL_LOG_TRACES * sizeof(*log->trace));
	log->known = calloc(1, sizeof(*log->known));
	log->spare = malloc(sizeof(*log->spare));
	if (!log->trace || !log->known || !log->spare) {
		lpl_log_close(log);
		return false;
	}
	log->trace[0] = ~LPL_LOG_NOWHERE;	/* no base and offset make this */
	lpl_map_init(&log->known->id, 3);
	next_block(log, 0);
	return true;
}

void lpl_log_begin_at(struct lpl_log *log, uint64_t instr)
{
	begin_block(log, instr, LPL_LOG_COUNT);
}

void lpl_log_look_at(struct lpl_log *log, uint64_t instr)
{
	log->look_at = instr;
}

void lpl_log_skip_to(struct lpl_log *log, uint64_t instr)
{
	if (log->news)
		send_block(log, instr);
	begin_block(log, instr, LPL_LOG_SKIP);
}

void lpl_log_close(struct lpl_log *log)
{
	if (log->known)
		lpl_map_free(&log->known->id);
	free(log->known);
	free(log->trace);
	free(log->spare);
	*log = (struct lpl_log){ 0 };
}

/* ---- records ---- */

/* A record's first word.  What has flags has them in its lowest byte. */
static void put_record(struct lpl_log *log, uint64_t instr, enum lpl_log_kind kind, uint64_t low)
{
	lpl_log_room(log, instr);
	lpl_log_word(log, low, instr, kind);
	log->news = true;
}

static void put_timed(struct lpl_log *log, struct lpl_log_time now, enum lpl_log_kind kind,
		      uint64_t low)
{
	put_record(log, now.instr, kind, low | (now.executing ? LPL_LOG_EXECUTING : 0));
}

/* One that a block may have and still be written over. */
static void put_no_news(struct lpl_log *log, uint64_t instr, enum lpl_log_kind kind, uint64_t low)
{
	lpl_log_room(log, instr);
	lpl_log_word(log, low, instr, kind);
}

uint32_t lpl_log_define(struct lpl_log *log, uint64_t instr, uint64_t address, unsigned int count,
			const uint8_t *lengths, bool *forgot)
{
	uint64_t packed[2] = { 0, 0 }, *id;

	assert(count >= 1 && count <= LPL_LOG_INSTRUCTIONS && log->traces < LPL_LOG_TRACES);
	for (unsigned int i = 0; i < count; i++)
		packed[i / 16] |= (uint64_t)(lengths[i] & 15) << i % 16 * 4;
	*forgot = log->traces == LPL_LOG_TRACES - 1;
	if (*forgot) {
		log->traces = 0;
		lpl_map_free(&log->known->id);
		put_record(log, instr, LPL_LOG_FORGET, 0);
	}
	/* an address has 48 bits that matter */
	id = lpl_map_reach(&log->known->id,
			   LPL_KEY(address << 16 | count, packed[0], packed[1]));
	if (!id)
		return 0;
	if (!*id) {
		*id = ++log->traces;
		log->trace[*id] = address;
		put_record(log, instr, LPL_LOG_DEFINE, *id << 8 | count);
		*log->at++ = address;
		*log->at++ = packed[0];
		*log->at++ = packed[1];
	}
	return (uint32_t)*id;
}

void lpl_log_between(struct lpl_log *log, uint64_t instr)
{
	put_no_news(log, instr, LPL_LOG_BETWEEN, 0);
}

void lpl_log_repeat(struct lpl_log *log, uint64_t instr)
{
	put_no_news(log, instr, LPL_LOG_REPEAT, 0);
}

void lpl_log_string(struct lpl_log *log, uint64_t instr, const struct lpl_log_string *string)
{
	put_no_news(log, instr, LPL_LOG_STRING,
		    (uint64_t)string->count << 32 | (uint64_t)(uint16_t)string->step << 16 |
		    (uint64_t)string->width << 2 | (uint64_t)string->writes << 1 |
		    string->reads);
	*log->at++ = string->source;
	*log->at++ = string->destination;
}

void lpl_log_data(struct lpl_log *log, uint64_t instr, uint64_t address, unsigned int length,
		  unsigned int top)
{
	unsigned int class = lpl_log_length(length);

	lpl_log_room(log, instr);
	lpl_log_word(log, address, instr, LPL_LOG_DATA | class | top);
	if (class == LPL_LOG_LONG)
		*log->at++ = length;
}

void lpl_log_walk(struct lpl_log *log, uint64_t instr, uint64_t physical, unsigned int length,
		  bool write, unsigned int flags)
{
	put_record(log, instr, LPL_LOG_WALK, (uint64_t)flags << 16 | (uint64_t)length << 8 |
		   (write ? LPL_LOG_WALK_WRITE : 0));
	*log->at++ = physical;
}

void lpl_log_mode(struct lpl_log *log, struct lpl_log_time now, bool user)
{
	put_timed(log, now, LPL_LOG_MODE, user ? LPL_LOG_USER : 0);
}

void lpl_log_space(struct lpl_log *log, struct lpl_log_time now, uint64_t space)
{
	put_timed(log, now, LPL_LOG_SPACE, 0);
	*log->at++ = space;
}

void lpl_log_offset(struct lpl_log *log, uint64_t now, uint64_t instr, uint64_t offset)
{
	if (offset == log->offset)
		return;
	if (instr != log->jump_at) {
		log->offset_before = log->offset;
		log->jump_at = instr;
	}
	log->offset = offset;
	put_record(log, now, LPL_LOG_OFFSET, 0);
	*log->at++ = instr;
	*log->at++ = offset;
}

uint64_t lpl_log_cycle(const struct lpl_log *log, uint64_t instr)
{
	return instr + (instr < log->jump_at ? log->offset_before : log->offset);
}

void lpl_log_switch(struct lpl_log *log, struct lpl_log_time now, enum lpl_log_kind kind)
{
	assert(kind >= LPL_LOG_ON && kind <= LPL_LOG_RESUME);
	put_timed(log, now, kind, 0);
	log->recording = kind != LPL_LOG_OFF;
}

void lpl_log_event(struct lpl_log *log, struct lpl_log_time now,
		   const struct kernel_trace_record *record)
{
	put_timed(log, now, LPL_LOG_EVENT, 0);
	*log->at++ = now.instr;
	*log->at++ = lpl_log_cycle(log, now.instr);
	log->at[LPL_LOG_EVENT_WORDS - 1] = 0;
	memcpy(log->at, record, sizeof(*record));
	log->at += LPL_LOG_EVENT_WORDS;
}

void lpl_log_totals(struct lpl_log *log, uint64_t instr)
{
	put_record(log, instr, LPL_LOG_TOTALS, 0);
	*log->at++ = instr;
	send_block(log, instr);
}

static void put_flush(struct lpl_log *log, struct lpl_log_time now, uint64_t flags)
{
	log->flushes++;
	put_timed(log, now, LPL_LOG_FLUSH, flags);
	send_block(log, now.instr);
}

void lpl_log_flush(struct lpl_log *log, struct lpl_log_time now)
{
	put_flush(log, now, 0);
}

void lpl_log_rotate(struct lpl_log *log, struct lpl_log_time now)
{
	put_flush(log, now, LPL_LOG_ROTATE);
}
