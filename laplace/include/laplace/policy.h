/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Replacement policies of one's own.
 *
 * A demand-paging policy decides one thing: which page leaves a full memory when
 * another comes.  The library does the rest.  It knows which pages are in memory
 * and which are dirty, finds them, and counts; and it keeps the policy's data.
 *
 * A memory of `size` pages is a row of frames, numbered from 0.  They are filled in
 * order while there are free ones; a page that comes into a full memory takes the
 * frame of the page that left.  So FIFO is
 *
 *	static uint32_t evict(struct lpl_memory *memory, uint32_t page)
 *	{
 *		uint32_t *hand = memory->state;
 *		uint32_t frame = *hand;
 *
 *		*hand = frame + 1 < memory->used ? frame + 1 : 0;
 *		return frame;
 *	}
 *	const struct lpl_policy fifo = {
 *		.name = "fifo", .state_size = sizeof(uint32_t), .evict = evict,
 *	};
 *
 * and lpl_simulator_add_policy() (simulator.h) simulates it at many sizes at once.
 * examples/gclock.c is a whole program; docs/simulation.md says more.
 *
 * A policy is called from one thread at a time for one memory, but from several at
 * once for memories of several sizes: what it knows belongs into the memory's
 * `state` and `frame`, not into variables of its own.
 */
#ifndef LAPLACE_POLICY_H
#define LAPLACE_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <laplace/error.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* A simulated memory as its policy sees it; only *state and *frame are written to. */
struct lpl_memory {
	uint64_t size;		/* pages it holds, from 1; may be far beyond what a
				 * trace needs */
	uint32_t used;		/* frames filled so far, 0 to size: [0, used) */
	const uint32_t *page;	/* by frame: the number of the page in it, from 1 in the
				 * order of the pages' first references */
	void *frame;		/* by frame: frame_size bytes, zeroed before a frame's
				 * first page (and not after); NULL when frame_size is 0;
				 * moves as memory fills, so hold numbers, not pointers */
	void *state;		/* state_size bytes, zeroed at first */
	const uint64_t *option;	/* by place in the policy's options: what was asked for */
};

/* A number that a policy may be given: `name=number`. */
struct lpl_policy_option {
	const char *name;	/* [a-z0-9-]+; NULL ends the list */
	uint64_t least, most;	/* its range */
	uint64_t otherwise;	/* its value when it is not given; any, also out of range */
};

struct lpl_policy {
	const char *name;	/* [a-z0-9-]+ */
	const struct lpl_policy_option *options;	/* NULL: none */
	size_t state_size, frame_size;			/* bytes; may be 0 */

	/*
	 * Optional.  A memory begins, `used` is 0: look at size and options, fill in
	 * what in `state` is not 0.  Fails with lpl_fail(): LPL_ERR_USAGE for a size or
	 * options that make no sense, LPL_ERR_MEMORY; `close` is not called then.
	 */
	enum lpl_error (*open)(struct lpl_memory *memory, struct lpl_report *report);

	/*
	 * Optional.  A page is referenced that is not in memory: called before `evict`, if memory
	 * is full, and `admit`.  It is page `number` of the address space `space`: its address
	 * divided by the size of a page.  Pages of
	 * page tables, which are physical, have the space UINT64_MAX; canonical ones have 0.
	 */
	void (*fault)(struct lpl_memory *memory, uint64_t space, uint64_t number);

	/*
	 * Optional.  The page in `frame` is referenced.  References to one page in a row
	 * count as one: it is not called again for them, nor for those that follow
	 * the fetch of a page.  A policy may rely on that, and must not mind.
	 */
	void (*hit)(struct lpl_memory *memory, uint32_t frame);

	/*
	 * Memory is full (used == size) and `page` is wanted, which is not in it.  Returns
	 * the frame to empty, below `used`.  Any other ends the simulation with
	 * LPL_ERR_INTERNAL.
	 */
	uint32_t (*evict)(struct lpl_memory *memory, uint32_t page);

	/*
	 * Optional.  `page` was put into `frame`: a new one (frame == used - 1), or the one
	 * that `evict` has just returned.  Fails with lpl_fail() when it needs memory of its
	 * own and there is none.
	 */
	enum lpl_error (*admit)(struct lpl_memory *memory, uint32_t frame, uint32_t page,
				struct lpl_report *report);

	/* Optional.  Free what `state` points to; the rest is the library's. */
	void (*close)(struct lpl_memory *memory);

	/*
	 * Optional.  The policy's LRU part at this size and these options: n such that the
	 * n pages last referenced are always in memory, and references to them change
	 * nothing but their order of last reference.  Traces reduced for LRU
	 * with up to n pages are exact for it then.  Only size and option are set.
	 * Without: 0.
	 */
	uint64_t (*lru_part)(const struct lpl_memory *memory);
};

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
