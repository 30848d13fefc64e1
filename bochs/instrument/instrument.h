/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bochs 3.0's instrumentation callbacks, mapped to Laplace's hooks.
 *
 * This is the one place that knows Bochs' callback signatures.  It is included
 * before BX_CPU_C is declared, so everything that needs the processor is a
 * macro.  Which references Bochs reports by itself and which need a patch is
 * described in docs/references.md.
 */
#if BX_INSTRUMENTATION

#if BX_SUPPORT_SMP
#error "Laplace traces one simulated processor: configure without --enable-smp"
#endif
#if !defined(BX_LAPLACE_PATCHED)
#error "this Bochs lacks Laplace's patches: it would lose references"
#endif
#if !BX_SUPPORT_HANDLERS_CHAINING_SPEEDUPS
#error "Laplace's fetch hook expects --enable-handlers-chaining"
#endif

/* Which simulator this is: one that sends windows, or one that logs every reference. */
#if defined(LAPLACE_ALL)
#include "hooks_all.h"
#else
#include "hooks_windows.h"
#endif

#include <cstdio>
#include <cstring>

#include <laplace/record.h>

class bxInstruction_c;

/* lifecycle, and what is to be done while the processor is halted (session.cc) */
void laplace_init_env(void);
void laplace_exit_env(void);
void laplace_initialize(void);

/* reset.cc */
void laplace_reset_begins(void);
void laplace_reset(void);

/* checkpoint.cc */
void laplace_checkpoint_if_due(void);
void laplace_restored(void);
FILE *laplace_open_output(const char *path, uint64_t length);
#define BX_LAPLACE_EVENTS_DONE()	laplace_checkpoint_if_due()
#define BX_LAPLACE_RESTORED()		laplace_restored()

/* host_pages.cc */
void laplace_large_pages(void *start, size_t size);
#define BX_LAPLACE_LARGE_PAGES(start, size)	laplace_large_pages((start), (size))

/* the debugger (debugger.cc) */
void laplace_debug_prompt(void);
void laplace_debug_command(const char *command);
bool laplace_debug_line(const char *line);

/* the processor (producer.cc or producer_all.cc, watch.cc) */
void laplace_space_changed(void);
void laplace_time_jumps(void);
void laplace_delivery_begins(void);
void laplace_exception(void);
void laplace_outp(unsigned port, unsigned length, unsigned value);
void laplace_waiting(void);

#define BX_INSTR_INIT_ENV()		laplace_init_env()
#define BX_INSTR_EXIT_ENV()		laplace_exit_env()
#define BX_INSTR_INITIALIZE(cpu_id)	laplace_initialize()
#define BX_INSTR_EXIT(cpu_id)
#define BX_INSTR_RESET(cpu_id, type)	laplace_reset()
#define BX_INSTR_HLT(cpu_id)		laplace_time_jumps()
#define BX_INSTR_MWAIT(cpu_id, addr, len, flags) laplace_time_jumps()

#define BX_INSTR_DEBUG_PROMPT()		laplace_debug_prompt()
#define BX_INSTR_DEBUG_CMD(cmd)		laplace_debug_command(cmd)

#define BX_INSTR_CNEAR_BRANCH_TAKEN(cpu_id, branch_eip, new_eip)
#define BX_INSTR_CNEAR_BRANCH_NOT_TAKEN(cpu_id, branch_eip)
#define BX_INSTR_UCNEAR_BRANCH(cpu_id, what, branch_eip, new_eip)
/* System calls (code.cc).  SYSCALL and SYSENTER refer to nothing, so it is no matter that they are over by then. */
void laplace_system_call(enum lpl_system_call instruction);
#define BX_INSTR_FAR_BRANCH(cpu_id, what, prev_cs, prev_eip, new_cs, new_eip) \
	do { \
		(void)(prev_cs); \
		(void)(prev_eip); \
		if (LAPLACE_UNLIKELY(BX_CPU_THIS_PTR laplace.instructions) && \
		    ((what) == BX_INSTR_IS_SYSCALL || (what) == BX_INSTR_IS_SYSENTER)) \
			laplace_system_call((what) == BX_INSTR_IS_SYSCALL ? LPL_CALL_SYSCALL : LPL_CALL_SYSENTER); \
	} while (0)

#define BX_INSTR_EXCEPTION(cpu_id, vector, error_code)	laplace_exception()
/* (`type` is a parameter of the one function that calls it, BX_CPU_C::interrupt().) */
#define BX_INSTR_INTERRUPT(cpu_id, vector) \
	do { \
		if (LAPLACE_UNLIKELY(BX_CPU_THIS_PTR laplace.instructions) && (vector) == 0x80 && \
		    type == BX_SOFTWARE_INTERRUPT) \
			laplace_system_call(LPL_CALL_INTERRUPT); \
		laplace_delivery_begins(); \
	} while (0)
#define BX_INSTR_HWINTERRUPT(cpu_id, vector, cs, eip)	laplace_delivery_begins()

#define BX_INSTR_CLFLUSH(cpu_id, laddr, paddr)
#define BX_INSTR_CACHE_CNTRL(cpu_id, what)
#define BX_INSTR_TLB_CNTRL(cpu_id, what, new_cr3)	laplace_space_changed()
#define BX_INSTR_PREFETCH_HINT(cpu_id, what, seg, offset)

#define BX_INSTR_BEFORE_EXECUTION(cpu_id, i)
#define BX_INSTR_AFTER_EXECUTION(cpu_id, i)
#define BX_INSTR_REPEAT_ITERATION(cpu_id, i)

#define BX_INSTR_PHY_ACCESS(cpu_id, phy, len, memtype, rw)

/* Named by the patches; those that make up the hot path are in the variant's own header. */
#define BX_LAPLACE_WAITING()		laplace_waiting()
#define BX_LAPLACE_RESET_BEGINS()	laplace_reset_begins()
#define BX_LAPLACE_DEBUG_LINE(line)	laplace_debug_line(line)
#define BX_LAPLACE_BETWEEN(yes)		(BX_CPU_THIS_PTR laplace.between = (yes))
#define BX_LAPLACE_ACCESS_RIGHTS() \
	laplace_access_rights(&BX_CPU_THIS_PTR laplace, BX_CPU_THIS_PTR user_pl, \
			      BX_CPU_THIS_PTR alignment_check_mask)
/* References to page tables (walks.cc). */
void laplace_walked(uint64_t address, unsigned length, bool write, unsigned reason, const void *data);
#define BX_LAPLACE_WALKS_FOR(rw)	(BX_CPU_THIS_PTR laplace.walked_for = (uint8_t)(rw))
#define BX_LAPLACE_WALK(phy, len, rw, why, data)	\
	do { \
		if (LAPLACE_UNLIKELY(BX_CPU_THIS_PTR laplace.walks)) \
			laplace_walked((phy), (len), (rw) & 1, (why), (data)); \
	} while (0)
/* Where references go in physical memory (physical.cc). */
struct bx_TLB_entry;
void laplace_translated(const struct bx_TLB_entry *entry);
void laplace_tlb_flushed(unsigned kind, uint64_t address);
#define BX_LAPLACE_TRANSLATED(entry) \
	do { \
		if (LAPLACE_UNLIKELY(BX_CPU_THIS_PTR laplace.physical)) \
			laplace_translated(entry); \
	} while (0)
#define BX_LAPLACE_TLB_FLUSH(kind, address) \
	do { \
		if (LAPLACE_UNLIKELY(BX_CPU_THIS_PTR laplace.physical)) \
			laplace_tlb_flushed((kind), (address)); \
	} while (0)
/* The bytes of instructions (code.cc). */
void laplace_decoded(const uint8_t *bytes, unsigned length);
#define BX_INSTR_OPCODE(cpu_id, i, opcode, len, is32, is64) \
	do { \
		if (LAPLACE_UNLIKELY(BX_CPU_THIS_PTR laplace.instructions)) \
			laplace_decoded((opcode), (len)); \
	} while (0)
/*
 * An entry of the TLB is closed while TLB_NoHostPtr is set in `lpf` although it has a host
 * address, which a bit that Bochs does not use says.
 */
#define TLB_LAPLACE_HOST		0x100u
#define TLB_LAPLACE_CLOSED		0x800u	/* Bochs' TLB_NoHostPtr */
#define BX_LAPLACE_HAS_HOST(entry, page) \
	((entry)->lpf == (page) || (((entry)->lpf ^ TLB_LAPLACE_CLOSED) == (page) && \
				    ((entry)->accessBits & TLB_LAPLACE_HOST)))
/*
 * The TLB has all that an access needs; only the hooks have closed the page.  The
 * debugger sees every access on Bochs' way.
 */
#define BX_LAPLACE_ONLY_CLOSED(entry, address, user, rw) \
	(BX_LAPLACE_HAS_HOST((entry), LPFOf(address)) && !bx_dbg.debugger_active && \
	 ((entry)->accessBits & (((rw) & 1 ? 4u : 1u) << (user))))
/* An access's bytes: where the compiler knows how many, they are no call. */
LAPLACE_INLINE void laplace_copy(void *to, const void *from, unsigned length)
{
	switch (length) {
	case 1: memcpy(to, from, 1); break;
	case 2: memcpy(to, from, 2); break;
	case 4: memcpy(to, from, 4); break;
	case 8: memcpy(to, from, 8); break;
	default: memcpy(to, from, length);
	}
}
#define BX_LAPLACE_COPY(to, from, length)	laplace_copy((to), (from), (length))
#define BX_LAPLACE_IS_OPEN(entry)	(!((entry)->lpf & TLB_LAPLACE_CLOSED))
#define BX_LAPLACE_FAST_STRING(source, destination, count, width, step) \
	laplace_fast_string((source), (destination), (count), (width), (step))
#define BX_INSTR_INP(addr, len)
#define BX_INSTR_INP2(addr, len, val)
#define BX_INSTR_OUTP(addr, len, val)	laplace_outp((addr), (len), (val))

#define BX_INSTR_WRMSR(cpu_id, addr, value)
#define BX_INSTR_VMEXIT(cpu_id, reason, qualification)

#else
#error "laplace-bochs is built with --enable-instrumentation=instrument/laplace"
#endif
