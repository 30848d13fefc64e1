/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* References to page tables; see walks.h. */
#define NEED_CPU_REG_SHORTCUTS 1
#include "bochs.h"
#include "cpu/cpu.h"

#include <cstring>

#include "checkpoint.h"
#include "option.h"
#include "report.h"
#include "stream.h"
#include "walks.h"

#include "translate/walks.h"

#define CPU (BX_CPU(0))

enum {
	PRESENT = 0x01, ACCESSED = 0x20, DIRTY = 0x40, LARGE = 0x80,	/* bits of an entry */
	REASONS = BX_EPT_SPP_PML4E_ACCESS + 1
};

static struct lpl_walks *walks;
/* Readers know what is not in the map: a checkpoint was made, which does not hold it. */
static bool others_know;
/* The latest entry read for each reason; a walk reads one at most. */
static struct {
	uint64_t address, entry;
} latest[REASONS];

/* From the last one, 1, up. */
static unsigned table_of(unsigned reason)
{
	static const unsigned first[] = {
		BX_EPT_SPP_PTE_ACCESS, BX_EPT_PTE_ACCESS, BX_NESTED_PTE_ACCESS, BX_PTE_ACCESS
	};

	for (unsigned from : first)
		if (reason >= from)
			return reason - from + 1;
	return 3;	/* one of PAE's four pointers */
}

/* Where an entry of table 3 has the bit and no page is that large, the walk ends with a fault. */
static bool is_large(unsigned table, uint64_t entry)
{
	const uint64_t bits = PRESENT | LARGE;

	return (entry & bits) == bits &&
	       ((table == 3 && CPU->long_mode()) ||
		(table == 2 && (CPU->long_mode() || CPU->cr4.get_PAE() || CPU->cr4.get_PSE())));
}

/* ---- what is in the reference ---- */

static unsigned purpose_of(unsigned reason)
{
	const unsigned access = CPU->laplace.walked_for;

	if (reason < BX_PTE_ACCESS)
		return 0;
	return access == BX_EXECUTE ? LPL_FOR_FETCH : access & 1 ? LPL_FOR_WRITE : LPL_FOR_READ;
}

static unsigned bits_set(unsigned reason, uint64_t address, uint64_t entry)
{
	const uint64_t set = entry & ~latest[reason].entry;

	if (latest[reason].address != address)
		laplace_die("internal error: instruction %llu writes the entry of a page table at %llx, which it "
			    "has not read", (unsigned long long)laplace_icount(), (unsigned long long)address);
	return (set & ACCESSED ? LPL_ACCESSED : 0) | (set & DIRTY ? LPL_DIRTY : 0);
}

/* ---- what is in events ---- */

static void note(uint64_t address, unsigned table, bool large)
{
	struct kernel_trace_record record[LPL_WALK_NEWS_MAX];
	struct lpl_report report;
	unsigned news;

	memset(&report, 0, sizeof(report));
	if (others_know || lpl_walks_full(walks)) {
		others_know = false;
		lpl_walks_forget(walks, record);
		laplace_emit_own_event(record);
	}
	if (lpl_walks_note(walks, address, table, large, record, &news, &report))
		laplace_die("%s", report.text);
	for (unsigned i = 0; i < news; i++)
		laplace_emit_own_event(&record[i]);
}

/* ---- the processor's hook ---- */

void laplace_walked(uint64_t address, unsigned length, bool write, unsigned reason, const void *data)
{
	const unsigned table = table_of(reason);
	uint64_t entry = 0;
	unsigned flags;

	memcpy(&entry, data, length);
	if (write) {
		flags = bits_set(reason, address, entry);
	} else {
		flags = purpose_of(reason);
		latest[reason].address = address;
		latest[reason].entry = entry;
	}
	if (laplace.state != LAPLACE_ON)
		return;
	note(address, table, is_large(table, entry));
	laplace_walk(address, length, write, flags);
}

void laplace_walks_open(void)
{
	struct lpl_report report;

	memset(&report, 0, sizeof(report));
	if (lpl_walks_open(&walks, &report))
		laplace_die("%s", report.text);
	others_know = laplace_resumes();
	CPU->laplace.walks = true;
}

void laplace_walks_close(void)
{
	lpl_walks_close(walks);
	walks = NULL;
}
