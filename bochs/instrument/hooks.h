/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The hot path: what one reference costs.
 *
 * The simulated processor runs on one thread, and this file is compiled into
 * every handler of a memory access and of an instruction.  A reference that
 * hits a page already seen in the current window costs an increment, a compare
 * and two stores; everything else is a call into producer.cc.
 *
 * Windows.  The stream of references is cut into windows of at most K distinct
 * pages; of each page's references in a window the first and the last are
 * kept (laplace/reduce/window.c argues why that is exact).  So a reference has
 * to leave its time with its page, and a page's first reference has to be
 * noticed.  A TLB entry (and the stack window, which bypasses the TLB) points
 * to its page's struct; `epoch` tells whether that pointer still holds.
 * Whoever makes pointers stale (a window ends, the address space changes,
 * tracing is switched) takes a new epoch, and the next reference through each
 * entry takes the slow path.
 *
 * Fetches.  An instruction is fetched from the same page as the one before it
 * unless a new trace of instructions begins, so only the beginning of a trace
 * compares pages, and `slow` sends the next fetch to the slow path.  It is
 * compared with the instruction's length, because Bochs' end-of-trace marker
 * passes here too, with length 0, and is not a fetch.
 *
 * The clock counts references.  It is kept shifted left by three bits, below
 * it the processor's mode and room for the type, so that a reference's number,
 * mode and type are stored at once.
 */
#ifndef LAPLACE_HOOKS_H
#define LAPLACE_HOOKS_H

#include <stdint.h>

enum {
	LAPLACE_TYPE_MASK = 3,	/* enum lpl_type: read, write, fetch */
	LAPLACE_USER_BIT = 4,
	LAPLACE_ONE_REF = 8
};

#define LAPLACE_LIKELY(x)	__builtin_expect(!!(x), 1)
#define LAPLACE_UNLIKELY(x)	__builtin_expect(!!(x), 0)

/* One page of the current window. */
struct laplace_page {
	uint64_t last;		/* the clock at its last reference, with mode and type */
	uint64_t last_instr;	/* the instruction count then */
	uint64_t wrote;		/* a write came after the first reference */
	uint64_t first, first_instr, first_cycle;
	uint64_t page, space;	/* identity; walks have a space of their own */
	uint64_t last_cycle;	/* when cycle_known == last_instr */
	uint64_t cycle_known;
};

/* What a TLB entry (or the stack window) knows of its page. */
struct laplace_slot {
	struct laplace_page *page;
	uint64_t epoch;		/* page is valid when this is the current epoch */
};

/* The state that every reference touches; one simulated processor, one thread. */
struct laplace_hot {
	uint64_t clock;		/* references so far << 3 | mode bit */
	uint64_t epoch;		/* 64 bits: never wraps */
	struct laplace_page *fetch;
	uint64_t fetch_page;	/* address of the page fetches come from */
	uint8_t slow;		/* 0, or 255: the next fetch takes the slow path */
	bool walks;		/* page walks are traced */
	struct laplace_slot stack;
};

extern struct laplace_hot laplace_hot;

/*
 * The slow paths (producer.cc).
 *
 * A data reference; the clock already counts it.  `second`: the part of a
 * page-crossing access that lies on its second page.  `supervisor`: made by the
 * processor itself, whatever its mode.
 */
void laplace_slow_access(struct laplace_slot *slot, uint64_t address, unsigned length,
			 unsigned rw, bool second, bool supervisor);
void laplace_slow_fetch(unsigned length);
/*
 * A chunk of a repeated string instruction done at once, within one page on
 * each side: `count` elements of `width` bytes, `step` bytes (up or down) from
 * one to the next.  NULL: that side is a port, or a register.
 */
void laplace_fast_string(const uint64_t *source, const uint64_t *destination,
			 unsigned count, unsigned width, int step);
void laplace_walk(uint64_t phy, unsigned length, bool write);

/* Bochs' rw: bit 0 writes; 3 is a read-modify-write; bit 2 a shadow stack. */
static inline unsigned laplace_refs_of(unsigned rw)
{
	return (rw & 3) == 3 ? 2 : 1;
}

/*
 * A data reference by the fast path: address translated, one page.  With
 * constant `rw` this compiles to straight code.
 */
static inline __attribute__((always_inline)) void
laplace_access(struct laplace_slot *slot, uint64_t address, unsigned length,
	       unsigned rw, uint64_t instr)
{
	uint64_t clock = laplace_hot.clock + laplace_refs_of(rw) * LAPLACE_ONE_REF;

	laplace_hot.clock = clock;
	if (LAPLACE_UNLIKELY(slot->epoch != laplace_hot.epoch)) {
		laplace_slow_access(slot, address, length, rw, false, false);
		return;
	}
	struct laplace_page *page = slot->page;
	page->last = clock + (rw & 1);
	page->last_instr = instr;
	if (rw & 1)
		page->wrote = 1;
}

/* An instruction (or, with length 0, the end of a trace). */
static inline __attribute__((always_inline)) void
laplace_fetch(unsigned length, uint64_t instr)
{
	if (LAPLACE_UNLIKELY(length <= laplace_hot.slow)) {
		if (length)
			laplace_slow_fetch(length);
		return;
	}
	uint64_t clock = laplace_hot.clock + LAPLACE_ONE_REF;
	struct laplace_page *page = laplace_hot.fetch;

	laplace_hot.clock = clock;
	page->last = clock + 2;
	page->last_instr = instr;
}

/*
 * A trace of instructions begins at `address`.  Its first instruction takes the
 * slow path when it is on another page, or so near the end of this one that it
 * could reach into the next (an instruction has at most 15 bytes, and one that
 * crosses a page is always the first of its trace).
 */
static inline __attribute__((always_inline)) void
laplace_trace_begin(uint64_t address)
{
	if (LAPLACE_UNLIKELY(address - laplace_hot.fetch_page > 0x1000 - 15))
		laplace_hot.slow = 255;
}

static inline void laplace_user_mode(bool user)
{
	laplace_hot.clock = (laplace_hot.clock & ~(uint64_t)LAPLACE_USER_BIT) |
			    (user ? LAPLACE_USER_BIT : 0);
}

#endif
