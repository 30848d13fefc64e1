/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The hot path: what one reference costs.
 *
 * The simulated processor runs on one thread, and this file is compiled into
 * every accessor of memory.  Everything but the hit of a data reference on a
 * page already seen in the current window is a call into producer.cc.
 *
 * Windows.  The stream of references is cut into windows of at most K distinct
 * pages; of each page's references in a window the first and the last are
 * kept (laplace/reduce/window.c argues why that is exact).  So a reference has
 * to leave its time with its page, and a page's first reference has to be
 * noticed.  A TLB entry (and the stack window, which bypasses the TLB) has a
 * slot that points to its page's struct; when the slot is empty the reference
 * takes the slow path.  Whoever makes pointers stale (a window ends, the
 * address space changes, tracing is switched) empties the slots that were
 * filled.
 *
 * Fetches cost nothing.  Bochs counts instructions, and runs them in traces of
 * straight code on one page; so the last fetch from a page is known when
 * another trace begins elsewhere.  Only the beginning of a trace compares
 * pages.
 *
 * The clock.  A reference's number is the instructions fetched plus the data
 * references made up to and including it.  Bochs' instruction count stands for
 * the fetches; `data` counts the data references and is corrected wherever the
 * instruction count grows without a fetch (an iteration of a repeated
 * instruction, an exception met while fetching) or a fetch is two references
 * (it crosses a page).  With the instruction at count I fetched,
 *
 *	number = I + 1 + data.
 *
 * `data` is kept shifted left by three bits, below it the processor's mode and
 * room for the type, so that one store leaves all three with the page.
 */
#ifndef LAPLACE_HOOKS_H
#define LAPLACE_HOOKS_H

#include <stdint.h>

enum {
	LAPLACE_TYPE_MASK = 3,	/* enum lpl_type: read, write, fetch */
	LAPLACE_USER_BIT = 4,
	LAPLACE_ONE_REF = 8,
	LAPLACE_HISTORY = 128	/* more than the references of any one instruction */
};

/* No instruction is ever fetched here: the hole between the canonical halves. */
#define LAPLACE_NOWHERE	UINT64_C(0x0000800000000000)

#define LAPLACE_UNLIKELY(x)	__builtin_expect(!!(x), 0)

/* What references leave with a page of the current window: half a cache line. */
struct alignas(32) laplace_page {
	uint64_t last;		/* `data` at its last reference, with mode and type */
	uint64_t last_instr;	/* the instruction count then */
	uint64_t wrote;		/* a write came after the first reference */
};

/* The state that references touch; one simulated processor, one thread. */
struct laplace_hot {
	uint64_t data;
	uint64_t fetch_page;	/* where fetches need no attention: the offset in the
				 * code segment at which the page begins */
	struct laplace_page *stack;	/* the stack window's slot */
	struct laplace_page *modified;	/* of the latest read that a write may follow (NULL:
				 * the write takes the slow path) */
	uintptr_t reported;	/* all ones; 0 while a read-modify-write is only a look
				 * whether it could write: no reference */
	bool between;		/* instructions: an exception now meets none that was fetched */
	bool walks;		/* page walks are traced */
	/*
	 * The instruction counts of the latest data references, by the low bits
	 * of `data`: tells what `data` was when an instruction began.
	 */
	uint64_t history[LAPLACE_HISTORY];
};

extern struct laplace_hot laplace_hot;

/*
 * The slow paths (producer.cc).
 *
 * A data reference, already counted.  `how`, see below: length and kind;
 * SECOND: the part of a page-crossing access that lies on its second page;
 * SUPERVISOR: made by the processor itself, whatever its mode.
 */
extern "C" void laplace_slow_access(struct laplace_page **slot, uint64_t address, unsigned how);

/* length | rw << LAPLACE_RW_SHIFT | LAPLACE_SECOND | LAPLACE_SUPERVISOR */
enum {
	LAPLACE_LENGTH_MASK = 0xff,
	LAPLACE_RW_SHIFT = 8,
	LAPLACE_SECOND = 1 << 16,
	LAPLACE_SUPERVISOR = 1 << 17,
	LAPLACE_WRITE_BACK = 1 << 18	/* of what was last read; nothing else is told */
};

/* Bochs' rw.  (Bit 2 is a shadow stack.)  MODIFY: a read that a write may follow. */
enum {
	LAPLACE_RW_MASK = 3,
	LAPLACE_RW_WRITE = 1,
	LAPLACE_RW_MODIFY = 3
};

/*
 * A chunk of a repeated string instruction done at once, within one page on
 * each side: `count` elements of `width` bytes, `step` bytes (up or down) from
 * one to the next.  NULL: that side is a port, or a register.
 */
void laplace_fast_string(const uint64_t *source, const uint64_t *destination,
			 unsigned count, unsigned width, int step);
void laplace_walk(uint64_t phy, unsigned length, bool write);
void laplace_slow_trace(uint64_t rip, const class bxInstruction_c *i);
/* The instruction at this count goes on as the next: no fetch. */
void laplace_repeated(uint64_t instr);
void laplace_mode_changes(void);

/*
 * The call of the slow path from the fast one.  An ordinary call would make
 * every accessor save registers on entry, for a call that is hardly ever made;
 * on x86-64 laplace_slow_access_thunk (thunk.S) saves all of them itself.  The
 * stack pointer steps over the accessor's red zone.  (It saves no AVX registers.)
 */
static inline __attribute__((always_inline)) void
laplace_call_slow_access(struct laplace_page **slot, uint64_t address, unsigned how)
{
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__AVX__)
	__asm__ volatile("lea -128(%%rsp), %%rsp\n\t"
			 "call laplace_slow_access_thunk\n\t"
			 "lea 128(%%rsp), %%rsp"
			 : : "D"(slot), "S"(address), "d"(how) : "memory", "cc");
#else
	laplace_slow_access(slot, address, how);
#endif
}

/* Count a data reference. */
static inline __attribute__((always_inline)) uint64_t
laplace_count(uint64_t instr)
{
	uint64_t data = laplace_hot.data + LAPLACE_ONE_REF;

	laplace_hot.history[data / LAPLACE_ONE_REF % LAPLACE_HISTORY] = instr;
	laplace_hot.data = data;
	return data;
}

/*
 * A data reference by the fast path: address translated, one page.  True when
 * its slot was filled and everything is done.  With constant `rw` this compiles
 * to straight code.  `mode_mask` takes away the mode bit for references that
 * the processor makes itself.
 *
 * A read-modify-write is a read here, and a write in laplace_hit_again when it is
 * written: not every instruction that makes sure that it could write does so.
 */
static inline __attribute__((always_inline)) bool
laplace_hit(struct laplace_page *page, unsigned rw, uint64_t instr, uint64_t mode_mask)
{
	uint64_t data = laplace_count(instr);
	bool write = (rw & LAPLACE_RW_MASK) == LAPLACE_RW_WRITE;

	if ((rw & LAPLACE_RW_MASK) == LAPLACE_RW_MODIFY) {
		laplace_hot.modified = page;
		page = (struct laplace_page *)((uintptr_t)page & laplace_hot.reported);
	}
	if (LAPLACE_UNLIKELY(!page)) {
		if ((rw & LAPLACE_RW_MASK) != LAPLACE_RW_MODIFY || !laplace_hot.modified)
			return false;
		laplace_hot.data -= LAPLACE_ONE_REF;	/* a look, no reference */
		return true;
	}
	page->last = (data & mode_mask) + write;
	page->last_instr = instr;
	if (write)
		page->wrote = 1;
	return true;
}

/* The write of a read-modify-write; false, and nothing counted: by the slow path. */
static inline __attribute__((always_inline)) bool
laplace_hit_again(uint64_t instr)
{
	struct laplace_page *page = (struct laplace_page *)
		((uintptr_t)laplace_hot.modified & laplace_hot.reported);

	if (LAPLACE_UNLIKELY(!page))
		return !laplace_hot.reported;
	page->last = laplace_count(instr) + LAPLACE_RW_WRITE;	/* its type, too */
	page->last_instr = instr;
	page->wrote = 1;
	return true;
}

/*
 * A trace of instructions begins at the code segment's offset `rip`.  It needs
 * attention when it is on another page, or so near the end of this one that its
 * first instruction could reach into the next (an instruction has at most 15
 * bytes, and one that crosses a page is always the first of its trace).
 */
static inline __attribute__((always_inline)) void
laplace_trace_begin(uint64_t rip, const class bxInstruction_c *i)
{
	if (LAPLACE_UNLIKELY(rip - laplace_hot.fetch_page > 0x1000 - 15))
		laplace_slow_trace(rip, i);
}

/* The code segment was loaded: its base and the processor's mode may have changed. */
static inline void laplace_user_mode(bool user)
{
	laplace_hot.fetch_page = LAPLACE_NOWHERE;
	if (user != !!(laplace_hot.data & LAPLACE_USER_BIT))
		laplace_mode_changes();
}

#endif
