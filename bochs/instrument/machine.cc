/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The producer's machine is Bochs: what producer.h asks of one, and what Bochs' stack
 * window shows.
 */
#define NEED_CPU_REG_SHORTCUTS 1
#include "bochs.h"
#include "cpu/cpu.h"
#include "pc_system.h"
#include "memory/memory-bochs.h"
#include "bx_debug/debug.h"

#include "producer.h"

#define CPU (BX_CPU(0))
#define P (&BX_CPU(0)->laplace)

/* ---- the TLB ---- */

static bx_TLB_entry *entry_of(struct laplace_slot *slot)
{
	return (bx_TLB_entry *)((char *)slot - offsetof(bx_TLB_entry, laplace));
}

/* The debugger sees every access, too. */
bool laplace_machine_opens(struct laplace_slot *slot, uint64_t address)
{
	bx_TLB_entry *entry = entry_of(slot);

	if (bx_dbg.debugger_active || LPFOf(entry->lpf) != LPFOf(address) ||
	    !(entry->accessBits & TLB_LAPLACE_HOST))
		return false;
	entry->lpf = LPFOf(address);
	return true;
}

void laplace_close_slot(struct laplace_slot *slot)
{
	entry_of(slot)->lpf |= TLB_LAPLACE_CLOSED;	/* an invalid entry remains one */
}

/* (Of a large page, too, an entry has four kilobytes.) */
uint64_t laplace_machine_frame(uint64_t address, bool fetch)
{
	const bx_TLB_entry *entry = fetch ? CPU->ITLB.get_entry_of(address) :
					    CPU->DTLB.get_entry_of(address);

	return LPFOf(entry->lpf) == LPFOf(address) ? entry->ppf >> 12 : KTR_NONE;
}

/* (Where there is no memory Bochs has a page that is the same for all of these.) */
const uint8_t *laplace_machine_memory(uint64_t frame)
{
	if (frame >= BX_MEM(0)->get_memory_len() >> 12)
		return NULL;
	return BX_MEM(0)->getHostMemAddr(CPU, frame << 12, BX_READ);
}

/* ---- the stack window ---- */

void laplace_machine_stack(uint32_t size)
{
	CPU->espPageWindowSize = size;
}

/*
 * Bochs has opened it for an access to this address and `beyond` bytes more.  Where
 * the accesses have to be seen one by one, or this one may yet fault, it has to do
 * without.
 */
void laplace_stack_opens(uint64_t address, unsigned beyond)
{
	if (laplace_is_watched(address) || bx_dbg.debugger_active ||
	    (CPU->alignment_check_mask & address & beyond)) {
		CPU->espPageWindowSize = 0;
		CPU->espHostPtr = NULL;
		return;
	}
	laplace_stack_opened(LPFOf(address), CPU->espPageWindowSize);
}

bool laplace_stack_returns(uint64_t offset)
{
	return !CPU->espPageWindowSize && !bx_dbg.debugger_active &&
	       !CPU->alignment_check_mask && laplace_stack_reopens(offset + CPU->espPageBias);
}

/* ---- the processor ---- */

uint64_t laplace_machine_space(void)
{
	return CPU->cr3 >> 12;
}

uint64_t laplace_machine_code(uint64_t rip)
{
	return CPU->get_laddr(BX_SEG_REG_CS, rip);
}

uint64_t laplace_machine_rip(void)
{
	return CPU->prev_rip;
}

uint64_t laplace_machine_cycle_offset(void)
{
	/* Stepping by the debugger, Bochs counts ticks and instructions together. */
	uint64_t base = bx_dbg.debugger_active ? CPU->get_icount() :
						 CPU->get_icount_last_sync();

	return bx_pc_system.time_ticks() - base;
}

/* An instruction that has begun has moved RIP on. */
bool laplace_machine_is_between(void)
{
	return CPU->prev_rip == CPU->get_rip();
}

void laplace_machine_folded(uint32_t moved)
{
	CPU->icount_last_sync += moved;
}
