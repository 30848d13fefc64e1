/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bochs' callbacks and what the patches name, where windows are sent: how they come to
 * hooks.h, which knows nothing of Bochs.  hooks_all.h has the same names for the simulator that
 * logs every reference.
 */
#ifndef LAPLACE_HOOKS_WINDOWS_H
#define LAPLACE_HOOKS_WINDOWS_H

#include "hooks.h"

/* The stack window (machine.cc). */
void laplace_stack_opens(uint64_t address, unsigned beyond);
bool laplace_stack_returns(uint64_t offset);

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

/* Counting ... */
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
#define BX_LAPLACE_TRACE_BUILT(i)
#define BX_LAPLACE_IS_ELSEWHERE(rip, i)	laplace_is_elsewhere(&BX_CPU_THIS_PTR laplace, (rip))
#define BX_LAPLACE_REPEATING(yes)	laplace_repeating(&BX_CPU_THIS_PTR laplace, (yes))
#define BX_LAPLACE_REPEATED()		laplace_repeats(&BX_CPU_THIS_PTR laplace)
#define BX_LAPLACE_USER_MODE(user) \
	laplace_user_mode(&BX_CPU_THIS_PTR laplace, (user), \
			  BX_CPU_THIS_PTR alignment_check_mask)

/* ... and the TLB: entries are closed until the page was seen in this window. */
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
#define BX_LAPLACE_STACK_CLOSED()	laplace_stack_closed()
#define BX_LAPLACE_STACK_OPENS(address, beyond)	laplace_stack_opens((address), (beyond))
#define BX_LAPLACE_STACK_REOPENS(offset)	laplace_stack_returns(offset)

#endif
