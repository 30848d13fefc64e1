/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The hot path of a recording of every reference, in a simulator of its own.
 *
 * This file takes the place of hooks.h in `laplace-bochs-all`: one test a reference in a common
 * simulator would cost the windows' path 2 %.  It is compiled into every accessor of
 * memory.  A data reference is a word in the log, and so is the beginning of a trace of
 * instructions (collect/log.h); nothing is looked up and nothing checked.  What is rare is a
 * record, made by producer_all.cc.
 *
 * An instruction that makes sure that it could write has a read, and what it writes when it does
 * (instrument.h).  A read that is only a look stores its word, too, but the log does not go on.
 *
 * The page of the kernel's record has no direct access in the TLB: all that refers to it takes
 * Bochs' slow path, which knows it.
 */
#ifndef LAPLACE_HOOKS_ALL_H
#define LAPLACE_HOOKS_ALL_H

#include <stdint.h>

#include "collect/log.h"

#define LAPLACE_UNLIKELY(x)	__builtin_expect(!!(x), 0)
#define LAPLACE_INLINE		static inline __attribute__((always_inline))

/* Bochs' rw.  (Bit 2 is a shadow stack.)  MODIFY: a read that a write may follow. */
enum {
	LAPLACE_RW_MASK = 3,
	LAPLACE_RW_WRITE = 1,
	LAPLACE_RW_MODIFY = 3
};

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
	uint64_t watched;		/* the page of the kernel's record, or LPL_LOG_NOWHERE */
};

extern struct laplace_hot laplace_hot;

/* What the processor itself has: Bochs' count of instructions, and what its accessors need. */
struct laplace_processor {
	uint64_t icount;
	uint32_t may_read, may_write;	/* as in hooks.h */
	bool stack_writes;		/* not used */
	bool between;			/* instructions: the coming one was not fetched yet */
	bool walks;			/* page walks are traced */
	uint8_t walked_for;		/* the access for which the latest walk began, as Bochs has it */
	bool physical;			/* translations are */
	bool instructions;		/* and the bytes of instructions */
};

static inline uint64_t laplace_instructions(const struct laplace_processor *p)
{
	return p->icount;
}

static inline void laplace_next_instruction(struct laplace_processor *p)
{
	p->icount++;
}

/* The access bits of a TLB entry: 1 and 2 reading by the system and users, 4 and 8 writing. */
static inline void laplace_access_rights(struct laplace_processor *p, bool user,
					 unsigned alignment_check)
{
	p->may_read = alignment_check ? 0 : 1u << user;
	p->may_write = alignment_check ? 0 : 4u << user;
}

/* The slow paths (producer_all.cc). */
void laplace_slow_access(uint64_t address, unsigned length, unsigned rw, bool second,
			 bool supervisor);
void laplace_slow_write_back(void);
void laplace_fast_string(const uint64_t *source, const uint64_t *destination,
			 unsigned count, unsigned width, int step);
/* `flags`: of LPL_WALK_FLAGS. */
void laplace_walk(uint64_t phy, unsigned length, bool write, unsigned flags);
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

/* Log that the trace with this id begins; false: its id has to be found out. */
static inline __attribute__((always_inline)) bool
laplace_known_trace(uint32_t id, uint64_t rip, uint64_t instr)
{
	if (LAPLACE_UNLIKELY(!lpl_log_knows(&laplace_hot.log, id, rip)))
		return false;
	lpl_log_word(&laplace_hot.log, id, instr, LPL_LOG_TRACE);
	return true;
}

/* The instruction at this count goes on as the next: no fetch.  It may do so for long. */
static inline void laplace_repeated(uint64_t instr)
{
	lpl_log_room(&laplace_hot.log, instr);
	lpl_log_word(&laplace_hot.log, 0, instr, LPL_LOG_REPEAT);
}

/*
 * Bochs' callbacks that the hot path is made of; instrument.h has the others, and says in
 * which files they are expanded.
 */
#define BX_INSTR_LIN_ACCESS(cpu_id, lin, phy, len, memtype, rw) \
	laplace_data((lin), (len), (rw), BX_CPU_THIS_PTR laplace.icount, 0)
#define BX_LAPLACE_LIN_ACCESS_STACK(lin, len, rw) \
	laplace_data((lin), (len), (rw), BX_CPU_THIS_PTR laplace.icount, 0)
#define BX_LAPLACE_LIN_ACCESS_SYSTEM(lin, len, rw) \
	laplace_data((lin), (len), (rw), BX_CPU_THIS_PTR laplace.icount, laplace_hot.supervisor)
#define BX_LAPLACE_LIN_ACCESS_SLOW(lin, len, rw) \
	laplace_slow_access((lin), (len), (rw), (lin) != laddr, curr_pl != 3)
#define BX_LAPLACE_WRITE_BACK()		laplace_write_back(BX_CPU_THIS_PTR laplace.icount)
#define BX_LAPLACE_UNREPORTED(yes)	(laplace_hot.reported = !(yes))

/* A read-modify-write's read that is made only to see whether it could write. */
#define BX_LAPLACE_LOOK(address, read) \
	__extension__({ \
		BX_LAPLACE_UNREPORTED(true); \
		auto looked = (read); \
		BX_LAPLACE_UNREPORTED(false); \
		looked; \
	})

/* Counting ... */
#define BX_LAPLACE_PROCESSOR		struct laplace_processor
#define BX_LAPLACE_INSTRUCTIONS()	((Bit32u)BX_CPU_THIS_PTR laplace.icount)
#define BX_LAPLACE_NEXT_INSTRUCTION()	laplace_next_instruction(&BX_CPU_THIS_PTR laplace)
#define BX_LAPLACE_REGISTER_STATE(list) \
	BXRS_DEC_PARAM_FIELD(list, icount, BX_CPU_THIS_PTR laplace.icount)

/* ... traces of instructions ... */
#define BX_LAPLACE_TRACE_BUILT(i)	((i)->laplace = 0)
#define BX_LAPLACE_TRACE_BEGIN(rip, i) \
	do { \
		if (BX_LAPLACE_IS_ELSEWHERE((rip), (i))) \
			laplace_slow_trace((rip), (i)); \
	} while (0)
#define BX_LAPLACE_IS_ELSEWHERE(rip, i) \
	LAPLACE_UNLIKELY(!laplace_known_trace((i)->laplace, (rip), BX_CPU_THIS_PTR laplace.icount))
#define BX_LAPLACE_REPEATING(yes)
#define BX_LAPLACE_REPEATED()		laplace_repeated(BX_CPU_THIS_PTR laplace.icount)
#define BX_LAPLACE_USER_MODE(user) \
	do { \
		BX_LAPLACE_ACCESS_RIGHTS(); \
		laplace_user_mode(user); \
	} while (0)

/* ... and the TLB: the watched page's entry is closed, and all when the debugger looks on. */
#define BX_LAPLACE_TLB_ENTRY
#define BX_LAPLACE_TLB_FIELDS \
	Bit64u hostOffset; /* of a host address from its linear one, where there is one */
#define BX_LAPLACE_TLB_INIT(entry)	((entry)->hostOffset = 0)
#define BX_LAPLACE_TLB_FILL(entry)
#define BX_LAPLACE_TLB_HOST(entry, page, execute) \
	do { \
		(entry)->accessBits |= (execute) ? 0 : TLB_LAPLACE_HOST; \
		(entry)->hostOffset = (entry)->hostPageAddr - (page); \
		if ((execute) || ((page) != laplace_hot.watched && !bx_dbg.debugger_active)) \
			(entry)->lpf = (page); \
	} while (0)
#define BX_LAPLACE_STACK_CLOSED()
#define BX_LAPLACE_STACK_REOPENS(offset)	false
#define BX_LAPLACE_STACK_OPENS(address, length) \
	do { \
		if (LPFOf(address) == laplace_hot.watched || bx_dbg.debugger_active) { \
			BX_CPU_THIS_PTR espPageWindowSize = 0; \
			BX_CPU_THIS_PTR espHostPtr = NULL; \
		} \
	} while (0)

#endif
