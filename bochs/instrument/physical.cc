/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where references go in physical memory; see physical.h. */
#define NEED_CPU_REG_SHORTCUTS 1
#include "bochs.h"
#include "cpu/cpu.h"
#include "pc_system.h"

#include <cstring>

#include "checkpoint.h"
#include "option.h"
#include "physical.h"
#include "report.h"
#include "stream.h"

#include "translate/used.h"

#define CPU (BX_CPU(0))

static struct lpl_used *used;
/* Readers know what is not in the map: it is full, or a checkpoint was made, which does not hold it. */
static bool others_know;
static struct {
	uint64_t same, unknown;		/* of these Bochs has no entry any more */
} checked;

/* ---- translations ---- */

/* What is in a TLB of this page, in another frame, would still be used. */
template <typename Tlb>
static void drop_others(Tlb &tlb, const struct lpl_translation *now, uint64_t first_frame)
{
	const uint64_t mask = now->shift == LPL_NO_PAGING ? 0 : (UINT64_C(1) << now->shift) - 1;

	for (bx_TLB_entry &entry : tlb.entry) {
		const uint64_t page = LPFOf(entry.lpf);

		if (mask && entry.valid() && (page & ~mask) == now->page &&
		    entry.ppf >> 12 != first_frame + ((page - now->page) >> 12))
			entry.invalidate();
	}
}

static void note_all(void);

static void note(uint64_t page, const struct lpl_translation *now)
{
	struct kernel_trace_record record;
	struct lpl_report report;
	bool news;

	memset(&report, 0, sizeof(report));
	if (lpl_used_full(used)) {
		others_know = true;
		note_all();
	}
	if (lpl_used_note(used, laplace.space, page, now, &record, &news, &report))
		laplace_die("%s", report.text);
	if (!news)
		return;
	if (record.tag == LPL_EVENT_RETRANSLATION) {
		const uint64_t first_frame = now->frame - ((page - now->page) >> 12);

		drop_others(CPU->DTLB, now, first_frame);
		drop_others(CPU->ITLB, now, first_frame);
	}
	laplace_emit_own_event(&record);
}

static unsigned shift_of(uint64_t mask)
{
	unsigned shift = 0;

	while (mask >> shift)
		shift++;
	return shift;
}

/* `page` is in `frame`, by a mapping of as many bytes as the mask covers. */
static void note_page(uint64_t page, uint64_t frame, uint64_t mask, bool global)
{
	struct lpl_translation now;

	now.page = page & ~mask;
	now.frame = frame;
	now.shift = shift_of(mask);
	now.global = global;
	/* without paging all addresses are where they say, unless a line of the bus is off */
	if (!CPU->cr0.get_PG() && bx_pc_system.get_enable_a20()) {
		now.page = 0;
		now.shift = LPL_NO_PAGING;
	}
	note(page, &now);
}

static void note_entry(const bx_TLB_entry *entry)
{
	if (entry->valid())
		note_page(LPFOf(entry->lpf), entry->ppf >> 12, entry->lpf_mask,
			  entry->accessBits & TLB_GlobalPage);
}

void laplace_translated(const bx_TLB_entry *entry)
{
	if (laplace.state != LAPLACE_OFF)
		note_entry(entry);
}

/* ---- the beginning ---- */

/*
 * Code that goes on without an entry of the TLB: a trace of instructions that was linked long ago, or the second
 * page of one that crosses pages, which is found by the first alone.
 */
static void note_code(uint64_t address)
{
	const bx_TLB_entry *entry;
	struct lpl_translation known;
	bx_phy_address physical;
	bx_address mask;

	if (!CPU->long_mode())
		address &= 0xffffffff;
	entry = CPU->ITLB.get_entry_of(address);
	if (LPFOf(entry->lpf) == LPFOf(address)) {
		note_entry(entry);
		return;
	}
	if (!CPU->dbg_xlate_linear2phy(address, &physical, &mask) ||
	    (lpl_translate(lpl_used_map(used), laplace.space, address, &known) &&
	     known.frame == physical >> 12))
		return;		/* (whether it is global is not known) */
	note_page(LPFOf(address), physical >> 12, mask, false);
}

static void note_crossing(uint64_t page)
{
	if (laplace.state != LAPLACE_OFF)
		note_code(page);
}

static void note_all(void)
{
	struct kernel_trace_record record;

	if (others_know) {
		others_know = false;
		lpl_used_forget(used, &record);
		laplace_emit_own_event(&record);
	}
	CPU->invalidate_stack_cache();
	CPU->iCache.breakLinks();
	for (const bx_TLB_entry &entry : CPU->ITLB.entry)
		note_entry(&entry);
	for (const bx_TLB_entry &entry : CPU->DTLB.entry)
		note_entry(&entry);
	note_code(CPU->get_laddr(BX_SEG_REG_CS, CPU->prev_rip));
	note_code(CPU->get_laddr(BX_SEG_REG_CS, CPU->get_rip()));
}

void laplace_physical_open(void)
{
	struct lpl_report report;

	memset(&report, 0, sizeof(report));
	if (lpl_used_open(&used, &report))
		laplace_die("%s", report.text);
	others_know = laplace_resumes();
	CPU->laplace.physical = true;
	laplace.begins = note_all;
	laplace.crosses = note_crossing;
}

bool laplace_physical_frame(uint64_t address, uint64_t *frame)
{
	struct lpl_translation found;

	if (!lpl_translate(lpl_used_map(used), laplace.space, address, &found))
		return false;
	*frame = found.frame;
	return true;
}

/* ---- flushes ---- */

void laplace_tlb_flushed(unsigned kind, uint64_t address)
{
	struct kernel_trace_record record;

	if (laplace.state == LAPLACE_OFF)
		return;
	memset(&record, 0, sizeof(record));
	record.tag = LPL_EVENT_TLB_FLUSH;
	record.space = laplace.space;
	record.arg[LPL_EVENT_TLB_FLUSH_KIND] = kind;
	record.arg[LPL_EVENT_TLB_FLUSH_ADDRESS] = address;
	record.arg[LPL_EVENT_TLB_FLUSH_SPACE] = CPU->cr3 >> 12;
	laplace_emit_own_event(&record);
}

/* ---- the check ---- */

static bool frame_of(uint64_t address, bool fetch, uint64_t *frame)
{
	const bx_TLB_entry *entry = CPU->DTLB.get_entry_of(address);

	if (fetch) {
		*frame = CPU->pAddrFetchPage >> 12;
		return CPU->get_rip() + CPU->eipPageBias < 0x1000;
	}
	*frame = entry->ppf >> 12;
	return LPFOf(entry->lpf) == LPFOf(address);
}

void laplace_physical_check(uint64_t address, bool fetch)
{
	struct lpl_translation found;
	uint64_t frame;

	if (!used || laplace.state != LAPLACE_ON || !bx_dbg.debugger_active)
		return;
	if (!frame_of(address, fetch, &frame)) {
		checked.unknown++;
		return;
	}
	if (!lpl_translate(lpl_used_map(used), laplace.space, address, &found) || found.frame != frame)
		laplace_die("internal error: instruction %llu refers to %llx in frame %llx, which the trace "
			    "does not say", (unsigned long long)laplace_icount(),
			    (unsigned long long)address, (unsigned long long)frame);
	checked.same++;
}

void laplace_physical_close(void)
{
	if (used && bx_dbg.debugger_active)
		fprintf(stderr, "laplace: the frames of %llu references are those of Bochs' TLB; of %llu it "
			"has no entry any more\n", (unsigned long long)checked.same,
			(unsigned long long)checked.unknown);
	lpl_used_close(used);
	used = NULL;
}
