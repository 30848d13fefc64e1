/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The bytes of the instructions that are executed, and system calls; see code.h. */
#define NEED_CPU_REG_SHORTCUTS 1
#include "bochs.h"
#include "cpu/cpu.h"
#include "memory/memory-bochs.h"

#include <algorithm>
#include <cstring>

#include "checkpoint.h"
#include "code.h"
#include "option.h"
#include "physical.h"
#include "report.h"
#include "stream.h"

#include "translate/code.h"

#define CPU (BX_CPU(0))

enum { PAGE = 0x1000 };

static struct lpl_blocks *blocks;
/* Readers know what is not in the map: a checkpoint was made, which does not hold it. */
static bool others_know;
/* What Bochs has decoded, since it was last noted. */
static struct {
	bx_phy_address address;
	const Bit8u *bytes;
	unsigned length;
} decoded;
/* What was done there before. */
static void (*begins_before)(void), (*look_before)(void), (*crosses_before)(uint64_t page);

static unsigned bits_now(void)
{
	return CPU->long64_mode() ? 64 : CPU->sregs[BX_SEG_REG_CS].cache.u.segment.d_b ? 32 : 16;
}

static void note(bx_phy_address address, unsigned length, const Bit8u *bytes)
{
	struct kernel_trace_record record;
	struct lpl_report report;
	unsigned part;
	bool news;

	memset(&report, 0, sizeof(report));
	for (; length; length -= part, address += part, bytes += part) {
		part = std::min(length, unsigned(LPL_CODE_BYTES));
		if (lpl_blocks_note(blocks, address, part, bits_now(), bytes, &record, &news, &report))
			laplace_die("%s", report.text);
		if (news)
			laplace_emit_own_event(&record);
	}
}

/* The instruction at a linear address, however long. */
static void note_instruction(uint64_t address)
{
	unsigned length = LPL_INSTRUCTION_MAX;

	while (length) {
		const unsigned offset = address % PAGE, here = std::min(length, PAGE - offset);
		uint64_t frame;

		if (!laplace_physical_frame(address, &frame))
			return;
		const bx_phy_address physical = frame * PAGE;
		const Bit8u *page = BX_MEM(0)->getHostMemAddr(CPU, physical, BX_EXECUTE);

		if (!page)
			return;
		note(physical + offset, here, page + offset);
		address += here;
		length -= here;
	}
}

/* ---- what Bochs decodes ---- */

static void note_decoded(void)
{
	if (decoded.length && laplace.state != LAPLACE_OFF)
		note(decoded.address, decoded.length, decoded.bytes);
	decoded.length = 0;
}

/*
 * Instructions are noted together, as many as one trace begins with, which is looked at before it is executed: one
 * event for all takes less room than one for each.
 */
void laplace_decoded(const Bit8u *bytes, unsigned length)
{
	const uintptr_t offset = (uintptr_t)bytes - (uintptr_t)CPU->eipFetchPtr;

	/* one that crosses pages was copied elsewhere */
	if (laplace.state == LAPLACE_OFF || offset >= PAGE || offset + length > PAGE)
		return;
	if (decoded.bytes + decoded.length != bytes) {
		note_decoded();
		decoded = { CPU->pAddrFetchPage + (bx_phy_address)offset, bytes, 0 };
	}
	decoded.length += length;
}

/* ---- what it does not ---- */

static void decode_again(void)
{
	CPU->iCache.flushICacheEntries();
	CPU->async_event |= BX_ASYNC_EVENT_STOP_TRACE;
	decoded.length = 0;
	note_instruction(CPU->get_laddr(BX_SEG_REG_CS, CPU->prev_rip));
	note_instruction(CPU->get_laddr(BX_SEG_REG_CS, CPU->get_rip()));
}

static void forget(void)
{
	struct kernel_trace_record record;

	others_know = false;
	lpl_blocks_forget(blocks, &record);
	laplace_emit_own_event(&record);
}

static void begin(void)
{
	begins_before();
	if (others_know)
		forget();
	decode_again();
}

/* A trace of instructions that was just decoded is about to be executed; and for the next one there has to be room. */
static void look(void)
{
	look_before();
	note_decoded();
	if (!lpl_blocks_full(blocks) || laplace.state == LAPLACE_OFF)
		return;
	forget();
	decode_again();
}

static void note_crossing(uint64_t page)
{
	crosses_before(page);
	if (laplace.state != LAPLACE_OFF)
		note_instruction(CPU->get_laddr(BX_SEG_REG_CS, CPU->get_rip()));
}

/* ---- system calls ---- */

void laplace_system_call(enum lpl_system_call instruction)
{
	struct kernel_trace_record record;

	if (laplace.state != LAPLACE_ON)
		return;
	memset(&record, 0, sizeof(record));
	record.tag = LPL_EVENT_SYSTEM_CALL;
	record.space = laplace.space;
	record.arg[LPL_EVENT_SYSTEM_CALL_NUMBER] = CPU->get_reg32(BX_32BIT_REG_EAX);
	record.arg[LPL_EVENT_SYSTEM_CALL_INSTRUCTION] = instruction;
	laplace_emit_own_event(&record);
}

/* ---- its life ---- */

void laplace_code_open(void)
{
	struct lpl_report report;

	memset(&report, 0, sizeof(report));
	if (lpl_blocks_open(&blocks, &report))
		laplace_die("%s", report.text);
	others_know = laplace_resumes();
	begins_before = laplace.begins;
	look_before = laplace.look;
	crosses_before = laplace.crosses;
	laplace.begins = begin;
	laplace.look = look;
	laplace.crosses = note_crossing;
	CPU->laplace.instructions = true;
}

void laplace_code_close(void)
{
	lpl_blocks_close(blocks);
	blocks = NULL;
}
