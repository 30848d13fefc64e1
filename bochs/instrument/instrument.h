/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bochs 3.0's instrumentation callbacks, mapped to Laplace's hooks.
 *
 * This is the one place that knows Bochs' callback signatures.  It is included
 * before BX_CPU_C is declared, so everything that needs the processor is a
 * macro.  Which references Bochs reports by itself and which need a patch is
 * told in docs/references.md.
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

#include "hooks.h"

class bxInstruction_c;

/* lifecycle (session.cc) */
void laplace_init_env(void);
void laplace_exit_env(void);
void laplace_initialize(void);
void laplace_reset(void);

/* the debugger (debugger.cc) */
void laplace_debug_prompt(void);
void laplace_debug_command(const char *command);
bool laplace_debug_line(const char *line);

/* the processor (producer.cc, watch.cc, machine.cc) */
void laplace_stack_opens(uint64_t address, unsigned length);
bool laplace_stack_returns(uint64_t offset);
void laplace_space_changed(void);
void laplace_time_jumps(void);
void laplace_delivery_begins(void);
void laplace_exception(void);
void laplace_outp(unsigned port, unsigned length, unsigned value);
void laplace_flush_if_due(void);

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
#define BX_INSTR_FAR_BRANCH(cpu_id, what, prev_cs, prev_eip, new_cs, new_eip) \
	do { (void)(prev_cs); (void)(prev_eip); } while (0)

#define BX_INSTR_OPCODE(cpu_id, i, opcode, len, is32, is64)

#define BX_INSTR_EXCEPTION(cpu_id, vector, error_code)	laplace_exception()
#define BX_INSTR_INTERRUPT(cpu_id, vector)		laplace_delivery_begins()
#define BX_INSTR_HWINTERRUPT(cpu_id, vector, cs, eip)	laplace_delivery_begins()

#define BX_INSTR_CLFLUSH(cpu_id, laddr, paddr)
#define BX_INSTR_CACHE_CNTRL(cpu_id, what)
#define BX_INSTR_TLB_CNTRL(cpu_id, what, new_cr3)	laplace_space_changed()
#define BX_INSTR_PREFETCH_HINT(cpu_id, what, seg, offset)

#define BX_INSTR_BEFORE_EXECUTION(cpu_id, i)
#define BX_INSTR_AFTER_EXECUTION(cpu_id, i)
#define BX_INSTR_REPEAT_ITERATION(cpu_id, i)

/*
 * Data references.  The macro is expanded within the accessors of cpu/access2.cc,
 * where `tlbEntry` is the entry that translated the address.  Two files see
 * another form, chosen by the patches: where the stack window is used there is
 * no TLB entry, and the slow paths know more (see BX_LAPLACE_LIN_ACCESS_*).
 */
#define BX_INSTR_LIN_ACCESS(cpu_id, lin, phy, len, memtype, rw) \
	laplace_hit(&BX_CPU_THIS_PTR laplace, &tlbEntry->laplace, (rw), ~UINT64_C(0))

#define BX_LAPLACE_LIN_ACCESS_STACK(lin, len, rw) \
	laplace_hit(&BX_CPU_THIS_PTR laplace, &BX_CPU_THIS_PTR laplace.stack, (rw), ~UINT64_C(0))

/* Descriptor tables, TSS: the processor's own references, whatever the mode. */
#define BX_LAPLACE_LIN_ACCESS_SYSTEM(lin, len, rw) \
	laplace_hit(&BX_CPU_THIS_PTR laplace, &tlbEntry->laplace, (rw), ~LAPLACE_USER)

/* `laddr` and `curr_pl` are the accessor's: its address, the privilege it acts with. */
#define BX_LAPLACE_LIN_ACCESS_SLOW(lin, len, rw) \
	laplace_slow_access(&BX_DTLB_ENTRY_OF((lin), 0)->laplace, (lin), (len) | \
			    (rw) << LAPLACE_RW_SHIFT | \
			    ((lin) != laddr ? LAPLACE_SECOND : 0) | \
			    (curr_pl != 3 ? LAPLACE_SUPERVISOR : 0))

/* What was read to be modified is written; `pages` above 2: by an open page. */
#define BX_LAPLACE_WRITE_BACK() \
	do { \
		if (BX_CPU_THIS_PTR address_xlation.pages > 2) \
			laplace_hit_again(&BX_CPU_THIS_PTR laplace); \
		else \
			laplace_slow_write_back(); \
	} while (0)

/* That was all that is written, though Bochs writes once more. */
#define BX_LAPLACE_UNREPORTED(yes) \
	do { \
		if ((yes) && BX_CPU_THIS_PTR address_xlation.pages > 2) { \
			BX_CPU_THIS_PTR laplace.modified = &BX_CPU_THIS_PTR laplace.lost; \
			BX_CPU_THIS_PTR laplace.clock--; \
		} else { \
			BX_CPU_THIS_PTR laplace.looking = (yes); \
			BX_CPU_THIS_PTR laplace.lost.write = 0; \
		} \
	} while (0)

/* A read-modify-write's read that is made only to see whether it could write. */
#define BX_LAPLACE_LOOK(address, read) \
	__extension__({ \
		struct laplace_processor *p = &BX_CPU_THIS_PTR laplace; \
		struct laplace_slot *slot = &BX_DTLB_ENTRY_OF((address), 0)->laplace; \
		struct laplace_look look = laplace_look_begin(p, slot); \
		auto looked = (read); \
		laplace_look_end(p, slot, &look, BX_CPU_THIS_PTR address_xlation.pages > 2); \
		looked; \
	})

#define BX_INSTR_PHY_ACCESS(cpu_id, phy, len, memtype, rw)

/* Named by the patches: counting. */
#define BX_LAPLACE_PROCESSOR		alignas(64) struct laplace_processor
#define BX_LAPLACE_INSTRUCTIONS()	laplace_instructions32(&BX_CPU_THIS_PTR laplace)
#define BX_LAPLACE_NEXT_INSTRUCTION()	laplace_next_instruction(&BX_CPU_THIS_PTR laplace)
#define BX_LAPLACE_REGISTER_STATE(list) \
	do { \
		BXRS_HEX_PARAM_FIELD(list, clock, BX_CPU_THIS_PTR laplace.clock); \
		BXRS_HEX_PARAM_FIELD(list, base_instr, BX_CPU_THIS_PTR laplace.base_instr); \
		BXRS_HEX_PARAM_FIELD(list, base_data, BX_CPU_THIS_PTR laplace.base_data); \
	} while (0)

/* ... traces of instructions ... */
#define BX_LAPLACE_TRACE_BEGIN(rip, i)	\
	laplace_trace_begin(&BX_CPU_THIS_PTR laplace, (rip), (i)->ilen())
#define BX_LAPLACE_IS_ELSEWHERE(rip)	laplace_is_elsewhere(&BX_CPU_THIS_PTR laplace, (rip))
#define BX_LAPLACE_STACK_POINTER() \
	__extension__({ const Bit8u *here; __asm__("mov %%rsp, %0" : "=r"(here)); here; })
#define BX_LAPLACE_REPEATED()		laplace_repeats(&BX_CPU_THIS_PTR laplace)
#define BX_LAPLACE_BETWEEN(yes)		(BX_CPU_THIS_PTR laplace.between = (yes))
#define BX_LAPLACE_WAITING()		laplace_flush_if_due()
#define BX_LAPLACE_DEBUG_LINE(line)	laplace_debug_line(line)
#define BX_LAPLACE_ACCESS_RIGHTS() \
	laplace_access_rights(&BX_CPU_THIS_PTR laplace, BX_CPU_THIS_PTR user_pl, \
			      BX_CPU_THIS_PTR alignment_check_mask)
#define BX_LAPLACE_USER_MODE(user) \
	laplace_user_mode(&BX_CPU_THIS_PTR laplace, (user), \
			  BX_CPU_THIS_PTR alignment_check_mask)

/*
 * ... and the TLB.  An entry is closed while TLB_NoHostPtr is set in `lpf` although it
 * has a host address, which a bit that Bochs does not use says.
 */
#define TLB_LAPLACE_HOST		0x100u
#define TLB_LAPLACE_CLOSED		0x800u	/* Bochs' TLB_NoHostPtr */
#define BX_LAPLACE_TLB_ENTRY		alignas(64)	/* and it is as long */
#define BX_LAPLACE_TLB_FIELDS \
	struct laplace_slot laplace; \
	Bit64u hostOffset; /* of a host address from its linear one, where there is one */
#define BX_LAPLACE_TLB_INIT(entry) \
	((entry)->laplace.page = NULL, (entry)->hostOffset = 0)
#define BX_LAPLACE_TLB_FILL(entry)	laplace_tlb_filled(&(entry)->laplace)
#define BX_LAPLACE_TLB_HOST(entry, page, execute) \
	do { \
		if (execute) \
			(entry)->lpf = (page); \
		else { \
			(entry)->accessBits |= TLB_LAPLACE_HOST; \
			(entry)->hostOffset = (entry)->hostPageAddr - (page); \
		} \
	} while (0)
#define BX_LAPLACE_HAS_HOST(entry, page) \
	((entry)->lpf == (page) || (((entry)->lpf ^ TLB_LAPLACE_CLOSED) == (page) && \
				    ((entry)->accessBits & TLB_LAPLACE_HOST)))
#define BX_LAPLACE_STACK_CLOSED()	laplace_stack_closed()
#define BX_LAPLACE_STACK_OPENS(address, length)	laplace_stack_opens((address), (length))
#define BX_LAPLACE_STACK_REOPENS(offset)	laplace_stack_returns(offset)
#define BX_LAPLACE_FAST_STRING(source, destination, count, width, step) \
	laplace_fast_string((source), (destination), (count), (width), (step))
#define BX_LAPLACE_WALK(phy, len, rw)	\
	do { \
		if (LAPLACE_UNLIKELY(BX_CPU_THIS_PTR laplace.walks)) \
			laplace_walk((phy), (len), (rw) & 1); \
	} while (0)

#define BX_INSTR_INP(addr, len)
#define BX_INSTR_INP2(addr, len, val)
#define BX_INSTR_OUTP(addr, len, val)	laplace_outp((addr), (len), (val))

#define BX_INSTR_WRMSR(cpu_id, addr, value)
#define BX_INSTR_VMEXIT(cpu_id, reason, qualification)

#else
#error "laplace-bochs is built with --enable-instrumentation=instrument/laplace"
#endif
