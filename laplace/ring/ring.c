/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ring between the simulator's thread and the collector's.
 *
 * Two free-running cursors, `head` (what the producer has published) and `tail`
 * (what the consumer has given back); their unsigned difference is the fill.
 * Each lives on a cache line of its own, next to the private state of the side
 * that writes it: the producer's uncommitted position and its last look at
 * `tail`, the consumer's last look at `head`.  So neither side touches the
 * other's line but when its cached view is used up, and a batch of records
 * costs one transfer of each line.
 *
 * Order: a record's words are written before the release store to `head` and
 * read after the acquire load of it; they are overwritten only after an
 * acquire load of a `tail` that has passed them.
 *
 * Waiting.  A side that cannot go on spins for a moment (the other is
 * running on another processor and a batch takes microseconds), then sleeps in
 * short naps: a futex would save nothing measurable and cost both sides an
 * atomic on every batch.  On one processor the naps let the other side run.
 */
#include <assert.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ring.h"

#include "base/host.h"

#define CACHE_LINE 64
#define BATCH 256		/* of records */
#define SPINS 256
#define NAP_MIN_NS 20000
#define NAP_MAX_NS 1000000

struct lpl_ring {
	unsigned char *cell;		/* a record or a block each */
	size_t cell_size;
	uint64_t mask;
	uint64_t batch;			/* cells between publications */

	struct {
		_Alignas(CACHE_LINE) _Atomic uint64_t head;
		uint64_t position;		/* committed, head <= position */
		uint64_t publish_at;		/* position of the next publication */
		uint64_t room_until;		/* tail as last seen + size */
		_Atomic uint64_t wait_ns, waits;
		_Atomic bool ended;
	} producer;

	struct {
		_Alignas(CACHE_LINE) _Atomic uint64_t tail;
		uint64_t head_seen;
		bool over;
		_Atomic bool aborted;
	} consumer;
};

/* Pause a little, longer each time it is called with the same counter. */
static void back_off(unsigned *tries)
{
	if (++*tries <= SPINS) {
		if (*tries % 64 == 0)
			sched_yield();
		return;
	}
	long nap = (long)NAP_MIN_NS << (*tries - SPINS < 6 ? *tries - SPINS : 6);
	struct timespec t = { 0, nap < NAP_MAX_NS ? nap : NAP_MAX_NS };

	nanosleep(&t, NULL);
}

/* `cells` is a power of two, `size` or `cells * size` a multiple of a cache line. */
static struct lpl_ring *new_ring(size_t cells, size_t size, uint64_t batch)
{
	struct lpl_ring *ring = aligned_alloc(CACHE_LINE, sizeof(*ring));

	assert(cells > 0 && (cells & (cells - 1)) == 0 && batch > 0 && batch <= cells);
	if (!ring)
		return NULL;
	*ring = (struct lpl_ring){ .cell_size = size, .mask = cells - 1, .batch = batch };
	ring->cell = cells <= SIZE_MAX / size ? aligned_alloc(CACHE_LINE, cells * size) : NULL;
	if (!ring->cell) {
		free(ring);
		return NULL;
	}
	ring->producer.publish_at = batch;
	ring->producer.room_until = cells;
	return ring;
}

struct lpl_ring *lpl_ring_new(size_t records)
{
	size_t size = 1024;

	while (size < records && size <= SIZE_MAX / 4)
		size *= 2;
	return new_ring(size, sizeof(struct lpl_ring_record), BATCH);
}

struct lpl_ring *lpl_ring_new_blocks(size_t blocks, size_t size)
{
	return new_ring(blocks, size, 1);
}

void lpl_ring_free(struct lpl_ring *ring)
{
	if (ring)
		free(ring->cell);
	free(ring);
}

static void *cell_at(const struct lpl_ring *ring, uint64_t position)
{
	return ring->cell + (position & ring->mask) * ring->cell_size;
}

void lpl_ring_publish(struct lpl_ring *ring)
{
	atomic_store_explicit(&ring->producer.head, ring->producer.position,
			      memory_order_release);
	ring->producer.publish_at = ring->producer.position + ring->batch;
}

/* The ring is full as far as we know: look again, and wait if it really is. */
static bool wait_for_room(struct lpl_ring *ring)
{
	uint64_t size = ring->mask + 1, start = 0, now;
	unsigned tries = 0;

	lpl_ring_publish(ring);
	for (;;) {
		if (atomic_load_explicit(&ring->consumer.aborted, memory_order_acquire))
			return false;
		uint64_t tail = atomic_load_explicit(&ring->consumer.tail,
						     memory_order_acquire);
		if (ring->producer.position - tail < size) {
			ring->producer.room_until = tail + size;
			return true;
		}
		if (!start) {
			start = lpl_now_ns();
			atomic_fetch_add_explicit(&ring->producer.waits, 1, memory_order_relaxed);
		}
		back_off(&tries);
		/* counted at once: a wait for room on a disk may take a night, or have no end */
		now = lpl_now_ns();
		atomic_fetch_add_explicit(&ring->producer.wait_ns, now - start, memory_order_relaxed);
		start = now;
	}
}

void *lpl_ring_reserve_block(struct lpl_ring *ring)
{
	if (ring->producer.position == ring->producer.room_until && !wait_for_room(ring))
		return NULL;
	return cell_at(ring, ring->producer.position);
}

struct lpl_ring_record *lpl_ring_reserve(struct lpl_ring *ring)
{
	return lpl_ring_reserve_block(ring);
}

void lpl_ring_commit(struct lpl_ring *ring)
{
	/* what is committed was reserved, and is published in time */
	assert(ring->producer.position != ring->producer.room_until &&
	       ring->producer.position != ring->producer.publish_at);
	if (++ring->producer.position == ring->producer.publish_at)
		lpl_ring_publish(ring);
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

bool lpl_ring_put(struct lpl_ring *ring, const struct lpl_ring_record *records, size_t count)
{
	while (count > 0) {
		void *cell = lpl_ring_reserve_block(ring);
		const uint64_t position = ring->producer.position;
		/* as far as there is room, the ring's memory does not end, and a batch goes */
		uint64_t piece = less(count, ring->producer.room_until - position);

		if (cell == NULL)
			return false;
		piece = less(piece, ring->mask + 1 - (position & ring->mask));
		piece = less(piece, ring->producer.publish_at - position);
		memcpy(cell, records, piece * sizeof(*records));
		ring->producer.position += piece;
		if (ring->producer.position == ring->producer.publish_at)
			lpl_ring_publish(ring);
		records += piece;
		count -= piece;
	}
	return true;
}

void lpl_ring_end(struct lpl_ring *ring)
{
	lpl_ring_publish(ring);
	atomic_store_explicit(&ring->producer.ended, true, memory_order_release);
}

bool lpl_ring_drained(const struct lpl_ring *ring)
{
	return atomic_load_explicit(&ring->consumer.tail, memory_order_acquire) ==
	       atomic_load_explicit(&ring->producer.head, memory_order_relaxed);
}

uint64_t lpl_ring_wait_ns(const struct lpl_ring *ring)
{
	return atomic_load_explicit(&ring->producer.wait_ns, memory_order_relaxed);
}

uint64_t lpl_ring_waits(const struct lpl_ring *ring)
{
	return atomic_load_explicit(&ring->producer.waits, memory_order_relaxed);
}

/* How many cells are visible from the oldest on, without a wrap. */
static size_t wait_for_cells(struct lpl_ring *ring, uint64_t patience_ns)
{
	uint64_t tail = atomic_load_explicit(&ring->consumer.tail, memory_order_relaxed);
	uint64_t start = 0;
	unsigned tries = 0;

	while (ring->consumer.head_seen == tail) {
		/* `ended` is read first: what was published before it is then seen. */
		bool ended = atomic_load_explicit(&ring->producer.ended,
						  memory_order_acquire);
		ring->consumer.head_seen = atomic_load_explicit(&ring->producer.head,
								memory_order_acquire);
		if (ring->consumer.head_seen != tail)
			break;
		if (ended) {
			ring->consumer.over = true;
			return 0;
		}
		/* the clock is looked at by whoever has nothing else to do */
		if (patience_ns != LPL_RING_FOREVER && tries >= SPINS) {
			if (!start)
				start = lpl_now_ns();
			if (lpl_now_ns() - start >= patience_ns)
				return 0;
		}
		back_off(&tries);
	}
	uint64_t ready = ring->consumer.head_seen - tail;
	assert(ready > 0 && ready <= ring->mask + 1);
	uint64_t to_end = ring->mask + 1 - (tail & ring->mask);

	return ready < to_end ? ready : to_end;
}

static void *oldest(const struct lpl_ring *ring)
{
	return cell_at(ring, atomic_load_explicit(&ring->consumer.tail, memory_order_relaxed));
}

size_t lpl_ring_peek(struct lpl_ring *ring, uint64_t patience_ns,
		     const struct lpl_ring_record **records)
{
	size_t ready = wait_for_cells(ring, patience_ns);

	*records = oldest(ring);
	return ready;
}

const void *lpl_ring_peek_block(struct lpl_ring *ring, uint64_t patience_ns)
{
	return wait_for_cells(ring, patience_ns) ? oldest(ring) : NULL;
}

bool lpl_ring_over(const struct lpl_ring *ring)
{
	return ring->consumer.over;
}

void lpl_ring_release(struct lpl_ring *ring, size_t count)
{
	uint64_t tail = atomic_load_explicit(&ring->consumer.tail, memory_order_relaxed);

	assert(count <= ring->consumer.head_seen - tail);
	atomic_store_explicit(&ring->consumer.tail, tail + count, memory_order_release);
}

void lpl_ring_abort(struct lpl_ring *ring)
{
	atomic_store_explicit(&ring->consumer.aborted, true, memory_order_release);
}
