/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The hot path of a recording of every reference, in a simulator of its own.
 *
 * This file takes the place of hooks.h in `laplace-bochs-all`: one test a reference in a common
 * simulator would cost the windows' path 2 %.  It is compiled into every accessor of
 * memory.  A data reference is a word in the log, and so is the beginning of a trace of
 * instructions (laplace/log.h); nothing is looked up and nothing checked.  What is rare is a
 * record, made by producer_all.cc.
 *
 * An instruction that makes sure that it could write tells a read, and what it writes when it does
 * (instrument.h).  A read that is only a look stores its word, too, but the log does not go on.
 *
 * The page of the kernel's record has no direct access in the TLB: all that refers to it takes
 * Bochs' slow path, which knows it.
 */
#ifndef LAPLACE_HOOKS_ALL_H
#define LAPLACE_HOOKS_ALL_H

#include <stdint.h>

#include <laplace/log.h>

#define LAPLACE_UNLIKELY(x)	__builtin_expect(!!(x), 0)

/* Bochs' rw.  (Bit 2 is a shadow stack.)  MODIFY: a read that a write may follow. */
enum {
	LAPLACE_RW_MASK = 3,
	LAPLACE_RW_WRITE = 1,
	LAPLACE_RW_MODIFY = 3
};

/* A mark of a page in the TLB: watched; but for that it has direct access. */
#define LAPLACE_TLB_WATCHED	0x40000000u

struct laplace_hot {
	struct lpl_log log;
	/* the latest read that a write may follow: its write, to be logged when it is made */
	struct {
		uint64_t address;
		uint8_t top;
		uint8_t slowly;		/* by producer_all.cc */
	} modified;
	uint8_t supervisor;		/* of a word that the processor makes itself: the flag
					 * in user mode, else 0 */
	uint32_t reported;		/* 1; 0 while a read-modify-write is only a look */
	bool between;			/* instructions: the coming one was not fetched yet */
	bool walks;			/* page walks are traced */
	uint64_t watched;		/* the page of the kernel's record, or LPL_LOG_NOWHERE */
};

extern struct laplace_hot laplace_hot;

/* The slow paths (producer_all.cc). */
void laplace_slow_access(uint64_t address, unsigned length, unsigned rw, bool second,
			 bool supervisor);
void laplace_slow_write_back(void);
void laplace_fast_string(const uint64_t *source, const uint64_t *destination,
			 unsigned count, unsigned width, int step);
void laplace_walk(uint64_t phy, unsigned length, bool write);
void laplace_slow_trace(uint64_t rip, class bxInstruction_c *i);
void laplace_user_mode(bool user);

/* A word that is kept only if `keep` is 1. */
static inline __attribute__((always_inline)) void
laplace_word_if(uint32_t keep, uint64_t address, uint64_t instr, unsigned top)
{
	uint64_t *at = laplace_hot.log.at;

	lpl_log_word(&laplace_hot.log, address, instr, top);
	laplace_hot.log.at = at + keep;
}

/* A data reference within one page; but for the address all is known when it is compiled. */
static inline __attribute__((always_inline)) void
laplace_data(uint64_t address, unsigned length, unsigned rw, uint64_t instr, unsigned how)
{
	unsigned top = LPL_LOG_DATA | lpl_log_length(length) | how;

	if (lpl_log_length(length) == LPL_LOG_LONG) {
		laplace_slow_access(address, length, rw, false, how & LPL_LOG_SUPERVISOR);
	} else if ((rw & LAPLACE_RW_MASK) == LAPLACE_RW_MODIFY) {
		laplace_word_if(laplace_hot.reported, address, instr, top);
		laplace_hot.modified.address = address;
		laplace_hot.modified.top = (uint8_t)(top | LPL_LOG_WRITE);
		laplace_hot.modified.slowly = false;
	} else {
		if ((rw & LAPLACE_RW_MASK) == LAPLACE_RW_WRITE)
			top |= LPL_LOG_WRITE;
		lpl_log_word(&laplace_hot.log, address, instr, top);
	}
}

/* What was read to be modified is written. */
static inline __attribute__((always_inline)) void laplace_write_back(uint64_t instr)
{
	if (LAPLACE_UNLIKELY(laplace_hot.modified.slowly))
		laplace_slow_write_back();
	else
		laplace_word_if(laplace_hot.reported, laplace_hot.modified.address, instr,
				laplace_hot.modified.top);
}

/* The instruction at this count goes on as the next: no fetch.  It may do so for long. */
static inline void laplace_repeated(uint64_t instr)
{
	lpl_log_room(&laplace_hot.log, instr);
	lpl_log_word(&laplace_hot.log, 0, instr, LPL_LOG_REPEAT);
}

/*
 * Bochs' callbacks that the hot path is made of; instrument.h has the others, and tells in
 * which files they are expanded.
 */
#define BX_INSTR_LIN_ACCESS(cpu_id, lin, phy, len, memtype, rw) \
	laplace_data((lin), (len), (rw), BX_CPU_THIS_PTR icount, 0)
#define BX_LAPLACE_LIN_ACCESS_STACK(lin, len, rw) \
	laplace_data((lin), (len), (rw), BX_CPU_THIS_PTR icount, 0)
#define BX_LAPLACE_LIN_ACCESS_SYSTEM(lin, len, rw) \
	laplace_data((lin), (len), (rw), BX_CPU_THIS_PTR icount, laplace_hot.supervisor)
#define BX_LAPLACE_LIN_ACCESS_SLOW(lin, len, rw) \
	laplace_slow_access((lin), (len), (rw), (lin) != laddr, curr_pl != 3)
#define BX_LAPLACE_WRITE_BACK()		laplace_write_back(BX_CPU_THIS_PTR icount)
#define BX_LAPLACE_UNREPORTED(yes)	(laplace_hot.reported = !(yes))

#define BX_LAPLACE_TRACE_BUILT(i)	((i)->laplace = 0)
#define BX_LAPLACE_TRACE_BEGIN(rip, i) \
	do { \
		if (LAPLACE_UNLIKELY(!lpl_log_knows(&laplace_hot.log, (i)->laplace, (rip)))) \
			laplace_slow_trace((rip), (i)); \
		else \
			lpl_log_word(&laplace_hot.log, (i)->laplace, BX_CPU_THIS_PTR icount, \
				     LPL_LOG_TRACE); \
	} while (0)

#define BX_LAPLACE_TLB_FILL(entry)
#define BX_LAPLACE_TLB_DIRECT(entry) \
	do { \
		if (LAPLACE_UNLIKELY((entry)->lpf == laplace_hot.watched)) { \
			(entry)->lpf |= TLB_NoHostPtr; \
			(entry)->accessBits |= LAPLACE_TLB_WATCHED; \
		} \
	} while (0)
#define BX_LAPLACE_TLB_WATCHED(entry, page) \
	((page) == laplace_hot.watched && (entry)->lpf == ((page) | 0x800) && \
	 ((entry)->accessBits & LAPLACE_TLB_WATCHED))
#define BX_LAPLACE_STACK_WINDOW(slot)

#endif
