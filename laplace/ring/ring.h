/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A lock-free ring from one producer to one consumer, of 32-byte records or of blocks.
 *
 * Nothing is ever dropped: the producer waits when the ring is full, and the
 * time it waited is counted.  The producer writes records in place and
 * publishes them in batches; both sides keep a cached copy of the other's
 * cursor on their own cache line, so an uncontended record costs no shared
 * access.  Blocks are of any size and published one by one; but for that they are as
 * records.  C++ may include this header (the simulator is C++).
 */
#ifndef LAPLACE_RING_RING_H
#define LAPLACE_RING_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lpl_ring_record {
	uint64_t word[4];
};

struct lpl_ring;

/* `records` is rounded up to a power of two, at least 1024.  NULL: no memory. */
struct lpl_ring *lpl_ring_new(size_t records);
/* A ring of `blocks` (a power of two, at least 2) of `size` bytes, a multiple of 64. */
struct lpl_ring *lpl_ring_new_blocks(size_t blocks, size_t size);
/* When neither side uses it any more; NULL is fine. */
void lpl_ring_free(struct lpl_ring *ring);

/* -- producer -- */

/*
 * Room for one record, to be filled in place; waits for the consumer when
 * there is none.  NULL: there is none, and the consumer gave up (lpl_ring_abort).
 */
struct lpl_ring_record *lpl_ring_reserve(struct lpl_ring *ring);
void *lpl_ring_reserve_block(struct lpl_ring *ring);	/* the same, of a ring of blocks */
/* The reserved record or block is complete; it becomes visible with its batch. */
void lpl_ring_commit(struct lpl_ring *ring);
/*
 * Reserve and commit `count` records at once, with these words, in as many pieces as it takes.
 * false: the consumer gave up, and not all were put.
 */
bool lpl_ring_put(struct lpl_ring *ring, const struct lpl_ring_record *records, size_t count);
/* Make all committed records visible now. */
void lpl_ring_publish(struct lpl_ring *ring);
/* Publish; nothing more will come. */
void lpl_ring_end(struct lpl_ring *ring);
/* Has the consumer given back all that was published? */
bool lpl_ring_drained(const struct lpl_ring *ring);
/* Nanoseconds the producer has waited, and how often. */
uint64_t lpl_ring_wait_ns(const struct lpl_ring *ring);
uint64_t lpl_ring_waits(const struct lpl_ring *ring);

/* -- consumer -- */

/*
 * A run of visible records.  Returns their number; waits while there is none, but
 * no longer than `patience_ns` (LPL_RING_FOREVER: as long as it takes).  0: nothing
 * was sent in that time, or nothing will be, see lpl_ring_over().
 */
#define LPL_RING_FOREVER UINT64_MAX
size_t lpl_ring_peek(struct lpl_ring *ring, uint64_t patience_ns,
		     const struct lpl_ring_record **records);
/* The oldest visible block; NULL where lpl_ring_peek() returns 0. */
const void *lpl_ring_peek_block(struct lpl_ring *ring, uint64_t patience_ns);
/* After a peek that returned 0: has the producer ended, and was everything read? */
bool lpl_ring_over(const struct lpl_ring *ring);
/* Give `count` of them back. */
void lpl_ring_release(struct lpl_ring *ring, size_t count);
/*
 * The consumer failed.  The producer does not look for that until it has used the room it
 * knows of, at most the whole ring; from then on lpl_ring_reserve() gives NULL.  One that
 * waits for room is woken.
 */
void lpl_ring_abort(struct lpl_ring *ring);

#ifdef __cplusplus
}
#endif
#endif
