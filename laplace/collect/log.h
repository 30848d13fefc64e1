/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The log of every reference, from a simulator to the collector.
 *
 * To send each reference as a record would cost more than to simulate it.  So the simulator
 * logs only what cannot be known otherwise, a 64-bit word each: which instruction trace
 * begins, and the address of each data reference.  Straight code on one page is a *trace*; it is
 * defined once, with where it begins and how long its instructions are, and has an id from then
 * on.  Each word has the low byte of the instruction count at its moment, which counts on
 * by less than 256 from word to word; so the reader of the log (collect/log_stream.c) knows
 * which instructions of a trace were fetched before a data reference and before the next
 * trace.  What happens rarely (the mode or the address space changes, an interrupt, a kernel's
 * event ...) is a record of one or more words.
 *
 * The hot functions are inline and check nothing: a trace makes less than LPL_LOG_MARGIN words,
 * and where one begins, the log makes sure of so much room.  Words are stored in blocks,
 * which go through a ring of blocks (ring.h); none is ever lost.
 *
 *	word		top byte	byte 6		below
 *	data		01......	count		address: a word as in codec/block.h; a long
 *							one is followed by its length
 *	trace		10000000	count		its id, in 32 bits
 *	record		00 and a kind	count		depends; see enum lpl_log_kind
 *
 * One simulated processor has one log, and one thread fills it.  C++ may include this header.
 */
#ifndef LAPLACE_COLLECT_LOG_H
#define LAPLACE_COLLECT_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <laplace/error.h>
#include <laplace/kernel_trace_record.h>

#include "ring/ring.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
	LPL_LOG_BLOCK = 8192,		/* words after which a block is sent */
	/*
	 * What may still be written to it then: the words of a trace, of at most 32 instructions
	 * with 128 references each, or a record.
	 */
	LPL_LOG_MARGIN = 32 * 128 + 256,
	LPL_LOG_INSTRUCTIONS = 32	/* in a trace, at most */
};
#define LPL_LOG_TRACES		(1U << 20)	/* ids are below, from 1 on */
#define LPL_LOG_NOWHERE		UINT64_C(0x4000000000000000)	/* where no trace begins */

struct lpl_log_block {
	uint64_t words;
	uint64_t reserved[7];
	uint64_t word[LPL_LOG_BLOCK + LPL_LOG_MARGIN];
};

/* A data word's top byte: its length class (codec/block.h) and what else holds. */
enum {
	LPL_LOG_DATA = 0x40,
	LPL_LOG_WRITE = 0x01,
	LPL_LOG_LENGTH_SHIFT = 1,
	LPL_LOG_LONG = 7 << 1,		/* the next word is the length */
	LPL_LOG_SECOND = 0x10,
	LPL_LOG_SUPERVISOR = 0x20,	/* only where the mode is user */
	LPL_LOG_TRACE = 0x80
};

/*
 * Records.  EXECUTING, a flag of those that say so: the instruction at the record's count was
 * fetched before; without it, those up to the one before.
 */
enum lpl_log_kind {
	LPL_LOG_DEFINE = 1,	/* id << 8 | instructions; address; lengths, four bits each, in
				 * two words */
	LPL_LOG_FORGET,		/* all ids */
	LPL_LOG_COUNT,		/* the instruction count, whole: must be what the reader has */
	LPL_LOG_SKIP,		/* the same, but traces were left out: nothing is recorded */
	LPL_LOG_BETWEEN,	/* two instructions: the trace is over.  What follows until the next
				 * is the processor's own; counts may go up without a fetch */
	LPL_LOG_REPEAT,		/* the instruction at this count continues as the next: no fetch */
	LPL_LOG_STRING,		/* elements of a string instruction, done at once: see below */
	LPL_LOG_MODE,		/* EXECUTING; user mode from here on, or not */
	LPL_LOG_SPACE,		/* EXECUTING; address space */
	LPL_LOG_OFFSET,		/* instruction count, cycle less instruction count from it on */
	LPL_LOG_WALK,		/* a reference to a page table: physical address */
	LPL_LOG_ON,		/* EXECUTING; recording begins, or begins again */
	LPL_LOG_OFF,		/* EXECUTING; and stops */
	LPL_LOG_SUPPRESS,	/* EXECUTING; what follows is the tracer's own, only counted */
	LPL_LOG_RESUME,		/* EXECUTING; and that is over */
	LPL_LOG_EVENT,		/* EXECUTING; instr, cycle, a kernel_trace_record */
	LPL_LOG_TOTALS,		/* instruction count: how far the stream is */
	LPL_LOG_FLUSH,		/* EXECUTING; make all until now readable; with ROTATE a
				 * segment, where there are such, ends here */
	LPL_LOG_KINDS
};
#define LPL_LOG_EXECUTING	1
#define LPL_LOG_USER		2	/* MODE */
#define LPL_LOG_ROTATE		2	/* FLUSH */
#define LPL_LOG_WALK_WRITE	2	/* WALK; in the bytes above the flags are its length, and LPL_WALK_FLAGS */
#define LPL_LOG_EVENT_WORDS	((sizeof(struct kernel_trace_record) + 7) / 8)

/* Elements of a string instruction, all at one instruction count. */
struct lpl_log_string {
	uint64_t source, destination;	/* of the first element */
	uint16_t count, width;		/* elements; bytes of each: 1, 2, 4 or 8 */
	int16_t step;			/* bytes from one to the next */
	bool reads, writes;		/* the source is memory; the destination is */
};

/* What is passed on with every word. */
struct lpl_log_time {
	uint64_t instr;			/* the simulator's instruction count */
	bool executing;			/* the instruction at that count was fetched */
};

struct lpl_log {
	uint64_t *at;			/* where the next word goes */
	uint64_t *limit;		/* beyond it a new block is due */
	/*
	 * What `linear address less offset in the code segment` is now, or LPL_LOG_NOWHERE:
	 * the next trace has to be looked at.
	 */
	uint64_t base;
	uint64_t *trace;		/* by id: the linear address where it begins */

	/* the rest is log.c's */
	uint32_t traces;		/* ids given */
	struct lpl_ring *ring;
	struct lpl_log_block *block;
	struct lpl_log_block *spare;	/* where words go once the consumer has given up */
	bool news;			/* the block has more than traces and references */
	bool recording;			/* else a block without news is overwritten */
	bool failed;			/* the consumer gave up */
	uint64_t flushes;		/* sent */
	uint64_t look_at;		/* a trace that begins at this instruction count is looked at; see log.c */
	/* cycle less instruction count: until `jump_at`, and from there on */
	uint64_t offset_before, jump_at, offset;
	struct lpl_log_known *known;	/* traces by what they are */
};

/* ---- hot ---- */

/* A word, with the low byte of the instruction count and the top byte. */
static inline __attribute__((always_inline)) void
lpl_log_word(struct lpl_log *log, uint64_t word, uint64_t instr, unsigned int top)
{
	uint64_t *at = log->at;
	uint16_t high = (uint16_t)((uint8_t)instr | top << 8);

	*at = word;
	memcpy((char *)at + 6, &high, sizeof(high));
	log->at = at + 1;
}

/* The length class of `length` bytes, or LPL_LOG_LONG. */
static inline __attribute__((always_inline)) unsigned int lpl_log_length(unsigned int length)
{
	return (length == 1 ? 0 : length == 2 ? 1 : length == 4 ? 2 : length == 8 ? 3 :
		length == 16 ? 4 : length == 10 ? 5 : length == 32 ? 6 :
		LPL_LOG_LONG >> LPL_LOG_LENGTH_SHIFT) << LPL_LOG_LENGTH_SHIFT;
}

/* Does the trace with this id (0: none was given) begin here, and is there room for its words? */
static inline __attribute__((always_inline)) bool
lpl_log_knows(const struct lpl_log *log, uint32_t id, uint64_t offset)
{
	return log->trace[id] == log->base + offset && log->at < log->limit;
}

/* ---- traces ---- */

/*
 * The id of a trace of `count` instructions (1 to 32) from a linear address on; the same for
 * the same trace.  *forgot: the ids were used up, and all given before mean nothing any more.
 * 0: no memory.
 */
uint32_t lpl_log_define(struct lpl_log *log, uint64_t instr, uint64_t address, unsigned int count,
			const uint8_t *lengths, bool *forgot);

/* ---- what is rare ---- */

/* The log fills blocks of `ring` (NULL: they are thrown away).  false: no memory. */
bool lpl_log_open(struct lpl_log *log, struct lpl_ring *ring);
/* Forget what was logged, of which nothing was sent: it begins at this instruction count. */
void lpl_log_begin_at(struct lpl_log *log, uint64_t instr);
/* Look at the trace that begins there, if one does: from the next block on. */
void lpl_log_look_at(struct lpl_log *log, uint64_t instr);
/* While nothing is recorded: what was executed until then is not logged. */
void lpl_log_skip_to(struct lpl_log *log, uint64_t instr);
void lpl_log_close(struct lpl_log *log);
/* A ring that suits: room for so many records of 32 bytes, at least. */
struct lpl_ring *lpl_log_new_ring(size_t records);

/* Room for words, wherever it is called; where a trace is about to begin, the second one. */
void lpl_log_room(struct lpl_log *log, uint64_t instr);
void lpl_log_room_for_trace(struct lpl_log *log, uint64_t instr);

void lpl_log_between(struct lpl_log *log, uint64_t instr);
void lpl_log_repeat(struct lpl_log *log, uint64_t instr);
void lpl_log_string(struct lpl_log *log, uint64_t instr, const struct lpl_log_string *string);
/* A data reference of any length, with a class or without; `top` as in a word, without the length. */
void lpl_log_data(struct lpl_log *log, uint64_t instr, uint64_t address, unsigned int length,
		  unsigned int top);
/* `flags`: of LPL_WALK_FLAGS. */
void lpl_log_walk(struct lpl_log *log, uint64_t instr, uint64_t physical, unsigned int length,
		  bool write, unsigned int flags);
void lpl_log_mode(struct lpl_log *log, struct lpl_log_time now, bool user);
void lpl_log_space(struct lpl_log *log, struct lpl_log_time now, uint64_t space);

/* Cycle less instruction count from `instr` on, which is the present count or the next. */
void lpl_log_offset(struct lpl_log *log, uint64_t now, uint64_t instr, uint64_t offset);
uint64_t lpl_log_cycle(const struct lpl_log *log, uint64_t instr);

/* LPL_LOG_ON, OFF, SUPPRESS, RESUME */
void lpl_log_switch(struct lpl_log *log, struct lpl_log_time now, enum lpl_log_kind kind);
void lpl_log_event(struct lpl_log *log, struct lpl_log_time now,
		   const struct kernel_trace_record *record);
/* These send at once what was logged. */
void lpl_log_totals(struct lpl_log *log, uint64_t instr);
void lpl_log_flush(struct lpl_log *log, struct lpl_log_time now);
void lpl_log_rotate(struct lpl_log *log, struct lpl_log_time now);	/* a flush, too */

#ifdef __cplusplus
}
#endif
#endif
