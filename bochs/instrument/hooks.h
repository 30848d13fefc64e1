/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The hot path: what one reference costs.
 *
 * The simulated processor runs on one thread, and this file is compiled into
 * every accessor of memory.  Whatever is not a data reference to a page already
 * open, or a fetch from a page already entered, is a call into producer.cc.
 *
 * Windows.  The stream of references is cut into windows of at most K distinct
 * pages; of each page's references in a window the first and the last are
 * kept (laplace/reduce/window.c argues why that is exact).  So a reference has
 * to leave its time with its page, and a page's first reference has to be
 * noticed.
 *
 * Open pages.  A TLB entry has a slot, where references leave their times.  That
 * an entry's page was seen in this window is not asked by each reference: until
 * it was, the entry is kept closed, which means that it carries Bochs' own mark
 * for pages without a host address, so that Bochs' comparison of addresses fails
 * and the reference takes its slow path, which calls us.  Closing an entry
 * neither invalidates it nor takes its host address away: code that asks whether
 * there is one (the fast strings, the stack window) is given the answer yes
 * (BX_LAPLACE_HAS_HOST), and the guest cannot notice anything.  Code that makes
 * pages unseen (a window ends, the address space changes, tracing is switched)
 * closes what was opened, and takes the times from its slots.
 *
 * Fetches cost nothing.  Bochs counts instructions, and runs them in traces of
 * straight code on one page; so the last fetch from a page is known when
 * another trace begins elsewhere.  Only the beginning of a trace compares
 * pages; while nothing is recorded, every page passes for the same.
 *
 * The clock.  One word counts instructions and data references, so that one store
 * leaves both with the page:
 *
 *	bit 63		the processor is in user mode
 *	bits 30..62	instructions (in place of Bochs' own count)
 *	bits 0..29	data references
 *
 * A reference's number is the instructions fetched plus the data references made up
 * to and including it.  The instruction count stands for the fetches; the count of
 * data references is corrected wherever instructions are counted without a fetch (an
 * iteration of a repeated instruction, an exception met while fetching) or a fetch is
 * two references (it crosses a page).  With the instruction at count I fetched, and D
 * data references,
 *
 *	number = I + 1 + D,
 *
 * each with the base that is added to its part of the clock.  Long before a part is
 * full, what is in it goes to its base (laplace_fold(), window.cc).
 */
#ifndef LAPLACE_HOOKS_H
#define LAPLACE_HOOKS_H

#include <stddef.h>
#include <stdint.h>

#define LAPLACE_INSTR_SHIFT	30
#define LAPLACE_ONE_INSTR	(UINT64_C(1) << LAPLACE_INSTR_SHIFT)
#define LAPLACE_DATA_MASK	(LAPLACE_ONE_INSTR - 1)
#define LAPLACE_USER		(UINT64_C(1) << 63)
#define LAPLACE_INSTR_MASK	(~LAPLACE_USER & ~LAPLACE_DATA_MASK)
/* Where the data references begin: corrections never borrow, and 0 is no time. */
#define LAPLACE_BIAS		(UINT64_C(1) << 28)
/* Either set: it is time to fold.  No instruction makes as many references as are left. */
#define LAPLACE_FULL		(UINT64_C(1) << 62 | UINT64_C(1) << 29)

/* No instruction is ever fetched here: the hole between the canonical halves. */
#define LAPLACE_NOWHERE	UINT64_C(0x0000800000000000)

/* As one comparison of half of it, which needs no constant in a register. */
#define laplace_is_nowhere(page)	((uint32_t)((page) >> 32) == LAPLACE_NOWHERE >> 32)

#define LAPLACE_UNLIKELY(x)	__builtin_expect(!!(x), 0)
#define LAPLACE_INLINE		static inline __attribute__((always_inline))

struct laplace_page;	/* of the current window (window.h) */

/* Where the references of one open page leave the clock; 0: none since it was opened. */
struct laplace_slot {
	uint64_t read, write;
	struct laplace_page *page;	/* NULL: closed */
};

enum {
	LAPLACE_HISTORY = 256,		/* by the clock's low byte; more than the references
					 * of any one instruction */
	LAPLACE_CODE_PAGES = 256,	/* a power of two */
	/*
	 * How far into a page a trace begins with an instruction that cannot reach into the
	 * next: an instruction has at most 15 bytes, and one that crosses a page is always
	 * the first of its trace.
	 */
	LAPLACE_NEAR = 0x1000 - 15
};

/* The state that references touch: of one simulated processor, one thread. */
struct laplace_processor {
	uint64_t clock = LAPLACE_BIAS;
	uint64_t fetch_page;		/* where fetches need no attention: the offset in the
					 * code segment at which the page begins */
	uint64_t fetch_reach;		/* and how far from there: LAPLACE_NEAR, or to no end
					 * while nothing is recorded */
	struct laplace_page *fetch;	/* its struct; NULL: not entered in this window yet */
	uint64_t code_page;		/* its linear address; LAPLACE_NOWHERE: not known until
					 * a trace begins */
	/*
	 * The access bits of a TLB entry that let this processor read and write as it is
	 * now; none while alignment is checked: Bochs' own accessors do that.
	 */
	uint32_t may_read, may_write;
	struct laplace_slot stack;	/* of the stack window, which bypasses the TLB */
	struct laplace_slot *modified;	/* of the latest read that a write may follow */
	struct laplace_slot lost;	/* for writes that must not come, or not count */

	/*
	 * One instruction of several counts: its last so far, with the mode, as in the
	 * clock; and the clock when it was fetched.
	 */
	uint64_t repeated, repeated_clock;
	uint64_t code_base;		/* the linear address of the code segment's offset 0 */
	/* Pages of code entered in this window, by the offset of their beginning. */
	struct {
		uint64_t offset;	/* LAPLACE_NOWHERE: none */
		struct laplace_page *page;
	} code[LAPLACE_CODE_PAGES];
	/*
	 * The clock at each of the latest data references: shows what it was when an
	 * instruction began.
	 */
	uint64_t history[LAPLACE_HISTORY];

	/* to be added to the clock's parts */
	uint64_t base_instr = 0, base_data = 0 - LAPLACE_BIAS;
	/*
	 * The stack window as Bochs opened it, kept while it is closed only for our sake:
	 * its page's linear address; LAPLACE_NOWHERE: there is none.
	 */
	uint64_t stack_page = LAPLACE_NOWHERE;
	uint32_t stack_size;		/* its espPageWindowSize, while closed */
	bool stack_writes;		/* the access that may open it is a write */
	bool repeating;			/* an instruction that may go on without a fetch */
	bool between;			/* instructions: an exception now meets none that was fetched */
	bool looking;			/* an access is only a look: no reference */
	bool walks;			/* page walks are traced */
	uint8_t walked_for = 0;		/* the access for which the latest walk began, as Bochs has it */
	bool physical;			/* translations are */
	bool instructions;		/* and the bytes of instructions */
};

/* ---- the clock ---- */

/* What is counted, truncated: for differences. */
LAPLACE_INLINE uint32_t laplace_instructions32(const struct laplace_processor *p)
{
	return (uint32_t)(p->clock >> LAPLACE_INSTR_SHIFT);
}

LAPLACE_INLINE uint64_t laplace_instr_of(const struct laplace_processor *p, uint64_t clock)
{
	return p->base_instr + ((clock & LAPLACE_INSTR_MASK) >> LAPLACE_INSTR_SHIFT);
}

LAPLACE_INLINE uint64_t laplace_number_of(const struct laplace_processor *p, uint64_t clock)
{
	return laplace_instr_of(p, clock) + 1 + p->base_data + (clock & LAPLACE_DATA_MASK);
}

/* Instructions since the processor's reset, or so Bochs sees it. */
LAPLACE_INLINE uint64_t laplace_instructions(const struct laplace_processor *p)
{
	return laplace_instr_of(p, p->clock);
}

LAPLACE_INLINE void laplace_next_instruction(struct laplace_processor *p)
{
	p->clock += LAPLACE_ONE_INSTR;
}

/* ---- references ---- */

/* Count a data reference; the clock at it. */
LAPLACE_INLINE uint64_t laplace_count(struct laplace_processor *p)
{
	uint64_t clock = p->clock + 1;

	p->clock = clock;
	p->history[(uint8_t)clock] = clock;
	return clock;
}

/* Bochs' rw.  (Bit 2 is a shadow stack.)  MODIFY: a read that a write may follow. */
enum {
	LAPLACE_RW_MASK = 3,
	LAPLACE_RW_WRITE = 1,
	LAPLACE_RW_MODIFY = 3
};

/*
 * A data reference to an open page.  With constant `rw` this compiles to straight
 * code.  `mode_mask` takes away the mode bit for references that the processor
 * makes itself.
 *
 * A read-modify-write is a read here, and a write in laplace_hit_again() when it is
 * written: not every instruction that makes sure that it could write does so.
 */
LAPLACE_INLINE void laplace_hit(struct laplace_processor *p, struct laplace_slot *slot,
				unsigned rw, uint64_t mode_mask)
{
	uint64_t clock = laplace_count(p) & mode_mask;

	if ((rw & LAPLACE_RW_MASK) == LAPLACE_RW_WRITE)
		slot->write = clock;
	else
		slot->read = clock;
	if ((rw & LAPLACE_RW_MASK) == LAPLACE_RW_MODIFY)
		p->modified = slot;
}

LAPLACE_INLINE void laplace_hit_again(struct laplace_processor *p)
{
	p->modified->write = laplace_count(p);
}

/*
 * A look: a read that is no reference.  The slow paths get a flag; what an open page's
 * accessor did is undone.
 */
struct laplace_look {
	uint64_t clock, read, history;
};

LAPLACE_INLINE struct laplace_look laplace_look_begin(struct laplace_processor *p,
						      const struct laplace_slot *slot)
{
	p->looking = true;
	return { p->clock, slot->read, p->history[(uint8_t)(p->clock + 1)] };
}

LAPLACE_INLINE void laplace_look_end(struct laplace_processor *p, struct laplace_slot *slot,
				     const struct laplace_look *look, bool was_open)
{
	p->looking = false;
	if (was_open) {
		p->clock = look->clock;
		p->history[(uint8_t)(look->clock + 1)] = look->history;
		slot->read = look->read;
	}
}

/* ---- the slow paths (producer.cc) ---- */

/* `how`: length | rw << LAPLACE_RW_SHIFT | LAPLACE_SECOND | LAPLACE_SUPERVISOR */
enum {
	LAPLACE_LENGTH_MASK = 0xff,
	LAPLACE_RW_SHIFT = 8,
	LAPLACE_SECOND = 1 << 16,	/* the part on its second page of an access that
					 * crosses pages */
	LAPLACE_SUPERVISOR = 1 << 17	/* made by the processor itself, whatever its mode */
};

/* A data reference by Bochs' slow path, not counted yet; `slot`: of its TLB entry. */
void laplace_slow_access(struct laplace_slot *slot, uint64_t address, unsigned how);
/* What a slow access read is written back. */
void laplace_slow_write_back(void);
/*
 * A chunk of a repeated string instruction done at once, within one page on
 * each side: `count` elements of `width` bytes, `step` bytes (up or down) from
 * one to the next.  NULL: that side is a port, or a register.
 */
void laplace_fast_string(const uint64_t *source, const uint64_t *destination,
			 unsigned count, unsigned width, int step);
/* `flags`: of LPL_WALK_FLAGS. */
void laplace_walk(uint64_t phy, unsigned length, bool write, unsigned flags);
/* The trace at this offset of the code segment begins with an instruction of `length` bytes. */
void laplace_other_page(struct laplace_processor *p, uint64_t rip, unsigned length);
void laplace_repeated(void);
/* A repeated instruction is over. */
void laplace_repeat_ends(struct laplace_processor *p);
void laplace_mode_changes(void);

/* A TLB entry is given to another page. */
void laplace_tlb_filled(struct laplace_slot *slot);
/* Bochs closes the stack window, to open it elsewhere or not. */
void laplace_stack_closed(void);
/* It has opened it, with this page and size, for an access that comes now. */
void laplace_stack_opened(uint64_t page, uint32_t size);
/*
 * Bochs has no window for an access that is `at` bytes into the one it had last: true
 * if only we have closed that; it is open again.
 */
bool laplace_stack_reopens(uint64_t at);

/*
 * A trace of instructions begins at the code segment's offset `rip`: does it need
 * attention?  When it is on another page, or so near the end of this one that its
 * first instruction could reach into the next.
 */
LAPLACE_INLINE bool laplace_is_elsewhere(const struct laplace_processor *p, uint64_t rip)
{
	return LAPLACE_UNLIKELY(rip - p->fetch_page > p->fetch_reach);
}

/* The next trace needs attention, wherever it begins. */
LAPLACE_INLINE void laplace_attend(struct laplace_processor *p)
{
	p->fetch_page = LAPLACE_NOWHERE;
	p->fetch_reach = LAPLACE_NEAR;
}

/* Bochs comes here after some 1000 traces at most. */
LAPLACE_INLINE void laplace_trace_begin(struct laplace_processor *p, uint64_t rip,
					unsigned length)
{
	if (LAPLACE_UNLIKELY(p->clock & LAPLACE_FULL))
		laplace_attend(p);	/* whoever comes next folds it */
	if (laplace_is_elsewhere(p, rip))
		laplace_other_page(p, rip, length);
}

/* The instruction at the present count goes on as the next: no fetch. */
LAPLACE_INLINE void laplace_repeats(struct laplace_processor *p)
{
	if (LAPLACE_UNLIKELY(p->clock >> LAPLACE_INSTR_SHIFT != p->repeated ||
			     (p->clock & LAPLACE_FULL) || !p->fetch))
		return laplace_repeated();
	p->repeated++;
	p->clock--;
}

/*
 * While a repeated instruction is executed no fetch can come, and pages may be opened that
 * else had to wait for the next (may_open(), producer.cc).
 */
LAPLACE_INLINE void laplace_repeating(struct laplace_processor *p, bool yes)
{
	p->repeating = yes;
	if (!yes && LAPLACE_UNLIKELY(!p->fetch))
		laplace_repeat_ends(p);
}

/* The access bits of a TLB entry: 1 and 2 reading by the system and users, 4 and 8 writing. */
LAPLACE_INLINE void laplace_access_rights(struct laplace_processor *p, bool user,
					  unsigned alignment_check)
{
	p->may_read = alignment_check ? 0 : 1u << user;
	p->may_write = alignment_check ? 0 : 4u << user;
}

/*
 * The code segment was loaded: its base, the processor's mode and what it may access
 * may have changed.
 */
LAPLACE_INLINE void laplace_user_mode(struct laplace_processor *p, bool user,
				      unsigned alignment_check)
{
	laplace_access_rights(p, user, alignment_check);
	laplace_attend(p);
	if (user != !!(p->clock & LAPLACE_USER))
		laplace_mode_changes();
}

#endif
