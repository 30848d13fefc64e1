/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A temporary file without a name, in blocks of 64 KiB: chains of blocks that are written one
 * after the other, and then read as often as wanted, many of them by turns.
 *
 * A block begins with the number of the next one of its chain.  Blocks are held in a few hundred
 * buffers, so that memory does not grow with the number of chains; those that are being written
 * or read are pinned, of the others the one goes that was used longest ago.
 */
#ifndef LAPLACE_SCHEDULE_SPOOL_H
#define LAPLACE_SCHEDULE_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <laplace/error.h>

#include "base/temporary.h"

enum {
	LPL_SPOOL_BLOCK = 65536,
	LPL_SPOOL_BUFFERS = 256,
	LPL_SPOOL_SLACK = 16		/* bytes after a block that may be read and written */
};

/* What a block begins with. */
struct lpl_spool_header {
	uint64_t next;			/* block of the chain; 0: none */
	uint32_t used;			/* bytes, this header included */
	uint32_t reserved;
};

struct lpl_spool_buffer {
	uint8_t *bytes;			/* NULL: not needed yet */
	uint64_t last_used;
	uint32_t pins;
	bool changed;
};

struct lpl_spool {
	struct lpl_temporary file;
	uint64_t blocks;		/* numbered from 1 */
	uint64_t uses;
	uint64_t block[LPL_SPOOL_BUFFERS];	/* that is in each buffer; 0: none */
	struct lpl_spool_buffer buffer[LPL_SPOOL_BUFFERS];
};

/* As lpl_temporary_open(). */
enum lpl_error lpl_spool_open(struct lpl_spool **spool, const char *directory,
			      struct lpl_report *report);
void lpl_spool_close(struct lpl_spool *spool);		/* NULL is fine */

/* A block in memory, until it is unpinned. */
enum lpl_error lpl_spool_pin(struct lpl_spool *spool, uint64_t block,
			     struct lpl_spool_buffer **buffer, struct lpl_report *report);
static inline void lpl_spool_unpin(struct lpl_spool_buffer *buffer)
{
	buffer->pins--;
}

static inline struct lpl_spool_header *lpl_spool_header(const struct lpl_spool_buffer *buffer)
{
	return (struct lpl_spool_header *)(void *)buffer->bytes;
}

/* ---- writing ---- */

struct lpl_chain {			/* of zeros: empty */
	uint64_t first, last;		/* blocks */
	struct lpl_spool_buffer *buffer;	/* the last one's, pinned; or NULL */
	uint8_t *at, *end;		/* in it: where the next bytes go */
};

/* The slow way of lpl_chain_room(): another block. */
enum lpl_error lpl_chain_extend(struct lpl_spool *spool, struct lpl_chain *chain, size_t size,
				struct lpl_report *report);

/* Let there be room for `size` bytes in one piece (far less than a block) at chain->at. */
static inline enum lpl_error lpl_chain_room(struct lpl_spool *spool, struct lpl_chain *chain,
					    size_t size, struct lpl_report *report)
{
	return (size_t)(chain->end - chain->at) >= size && chain->buffer != NULL ? LPL_OK :
		lpl_chain_extend(spool, chain, size, report);
}

/* What was written is kept; the chain may go on later. */
void lpl_chain_pause(struct lpl_chain *chain);

/* Where the next bytes go, for lpl_spool_pin(): block and offset in it. */
static inline uint32_t lpl_chain_offset(const struct lpl_chain *chain)
{
	return (uint32_t)(chain->at - chain->buffer->bytes);
}

/* ---- reading ---- */

struct lpl_cursor {
	uint64_t block;			/* 0: the chain is empty */
	uint32_t offset;		/* in it, while it is not pinned */
	struct lpl_spool_buffer *buffer;	/* pinned; or NULL */
	size_t last;			/* which one that was, in the spool: mostly it still is */
	const uint8_t *at, *end;	/* in it */
};

static inline struct lpl_cursor lpl_cursor_at(const struct lpl_chain *chain)
{
	return (struct lpl_cursor){.block = chain->first, .offset = sizeof(struct lpl_spool_header)};
}

enum lpl_error lpl_cursor_resume(struct lpl_spool *spool, struct lpl_cursor *cursor,
				 struct lpl_report *report);
void lpl_cursor_pause(struct lpl_cursor *cursor);
/* At the end of a block, which is pinned: go on in the next one.  *ends: there is none. */
enum lpl_error lpl_cursor_turn(struct lpl_spool *spool, struct lpl_cursor *cursor, bool *ends,
			       struct lpl_report *report);

#endif
