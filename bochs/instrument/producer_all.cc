/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every reference goes into the log: what is rare (hooks_all.h has what is not).
 *
 * Here is written what the reader of the log cannot see in words: where the processor is when
 * something happens.  Three moments matter.
 *
 * - An instruction executes: it was fetched, at the present count.
 * - Between two instructions (`between`), the coming one was not fetched, and the present count
 *   is its.  Bochs looks for its trace, or for interrupts.  When the processor itself makes
 *   references then, the log says so first (BETWEEN): the trace before is over.
 * - An exception ends an instruction that executes, which counts.  One met between two
 *   instructions makes the count go on although none was fetched.
 *
 * The cycle counter runs with the instruction count but for halts and fast strings.  It
 * is looked at wherever it may have jumped, and then the next trace takes the slow path.
 */
#ifndef LAPLACE_ALL
#define LAPLACE_ALL	/* for whoever reads this file alone: bochs/build defines it for all */
#endif
#define NEED_CPU_REG_SHORTCUTS 1
#include "bochs.h"
#include "cpu/cpu.h"
#include "pc_system.h"
#include "bx_debug/debug.h"

#include <cstring>
#include <unistd.h>

#include "checkpoint.h"
#include "physical.h"
#include "report.h"
#include "stream.h"

#define CPU (BX_CPU(0))

struct laplace_hot laplace_hot;
struct laplace_recording laplace;

/* Besides the log, and what all of this directory sees. */
static struct {
	bool user;			/* mode, as last logged */
	/* the latest read that a write may follow, where it takes the slow path */
	unsigned parts;			/* one for each page; 0: it was written, or was fast */
	struct {
		uint64_t address;
		unsigned length;
		bool second, supervisor;
	} part[2];
} own;

static struct lpl_log *const the_log = &laplace_hot.log;

static void check_collector(void)
{
	laplace.failed = the_log->failed;
	if (laplace.failed)
		laplace_die("the collector gave up");
}

static struct lpl_log_time now(void)
{
	return { laplace_icount(), !CPU->laplace.between };
}

/* ---- the cycle counter ---- */

static void sync_cycles(void)
{
	/* Stepping by the debugger, Bochs counts ticks and instructions together. */
	uint64_t base = bx_dbg.debugger_active ? laplace_icount() : CPU->get_icount_last_sync();
	uint64_t offset = bx_pc_system.time_ticks() - base;

	/* A device's timer that ends the run is called before all ticks are counted. */
	if (!laplace.ending || offset >= the_log->offset)
		lpl_log_offset(the_log, laplace_icount(), laplace_icount(), offset);
}

void laplace_time_jumps(void)
{
	the_log->base = LPL_LOG_NOWHERE;
}

/* ---- where the processor is ---- */

static void between_instructions(void)
{
	if (CPU->laplace.between)
		lpl_log_between(the_log, laplace_icount());
}

void laplace_user_mode(bool user)
{
	the_log->base = LPL_LOG_NOWHERE;	/* the code segment was loaded */
	if (user == own.user)
		return;
	own.user = user;
	laplace_hot.supervisor = user ? LPL_LOG_SUPERVISOR : 0;
	lpl_log_mode(the_log, now(), user);
}

void laplace_space_changed(void)
{
	uint64_t space = CPU->cr3 >> 12;

	if (space == laplace.space)
		return;
	laplace.space = space;
	lpl_log_space(the_log, now(), space);
}

/* An interrupt's or exception's frame is the processor's doing, not the program's. */
void laplace_delivery_begins(void)
{
	sync_cycles();
	laplace_hot.reported = 1;
	between_instructions();
	laplace_user_mode(false);	/* loading CS sets the new mode */
}

void laplace_exception(void)
{
	laplace_delivery_begins();
	laplace.exception_at = laplace_icount();
	CPU->laplace.between = false;	/* Bochs counts every exception as an instruction */
}

/* ---- data ---- */

static void data_reference(uint64_t address, unsigned length, bool write, bool second,
			   bool supervisor)
{
	check_collector();
	between_instructions();
	if ((address & ~UINT64_C(0xfff)) == laplace_hot.watched &&
	    laplace.watch.accessed(address, length, write) && laplace.state != LAPLACE_SUPPRESSED)
		return;
	lpl_log_data(the_log, laplace_icount(), address, length,
		     (write ? LPL_LOG_WRITE : 0) | (second ? LPL_LOG_SECOND : 0) |
		     (supervisor ? laplace_hot.supervisor : 0));
}

void laplace_slow_access(uint64_t address, unsigned length, unsigned rw, bool second,
			 bool supervisor)
{
	rw &= LAPLACE_RW_MASK;
	if (LAPLACE_UNLIKELY(CPU->laplace.physical))
		laplace_physical_check(address, false);
	if (rw != LAPLACE_RW_MODIFY || laplace_hot.reported)
		data_reference(address, length, rw == LAPLACE_RW_WRITE, second, supervisor);
	if (rw == LAPLACE_RW_MODIFY) {
		own.part[second] = { address, length, second, supervisor };
		own.parts = second + 1U;
		laplace_hot.modified.slowly = true;
	}
}

/* The write of a read-modify-write: first the lower page's part of both. */
void laplace_slow_write_back(void)
{
	unsigned parts = own.parts;

	if (!laplace_hot.reported)
		return;
	if (!parts)
		laplace_die("internal error: instruction %llu writes back what it has not read",
			    (unsigned long long)laplace_icount());
	for (unsigned i = 0; i < parts; i++)
		data_reference(own.part[i].address, own.part[i].length, true,
			       own.part[i].second, own.part[i].supervisor);
	own.parts = 0;
}

void laplace_walk(uint64_t phy, unsigned length, bool write, unsigned flags)
{
	between_instructions();
	lpl_log_walk(the_log, laplace_icount(), phy, length, write, flags);
}

/*
 * A chunk of a repeated string instruction done at once, within one page on each side: `count`
 * elements of `width` bytes, `step` bytes (up or down) from one to the next.  NULL: that side
 * is a port, or a register.  Each element takes a cycle, and all of them one instruction.
 */
void laplace_fast_string(const uint64_t *source, const uint64_t *destination,
			 unsigned count, unsigned width, int step)
{
	uint64_t instr = laplace_icount();
	const struct lpl_log_string string = {
		source ? *source : 0, destination ? *destination : 0,
		(uint16_t)count, (uint16_t)width, (int16_t)step,
		source != NULL, destination != NULL
	};
	bool watched = (source && (*source & ~UINT64_C(0xfff)) == laplace_hot.watched) ||
		       (destination && (*destination & ~UINT64_C(0xfff)) == laplace_hot.watched);

	if (!count)
		return;
	if (!watched)
		lpl_log_string(the_log, instr, &string);
	for (unsigned i = 0; watched && i < count; i++) {
		int64_t offset = (int64_t)step * i;

		if (source)
			data_reference(*source + (uint64_t)offset, width, false, false, false);
		if (destination)
			data_reference(*destination + (uint64_t)offset, width, true, false, false);
	}
	lpl_log_offset(the_log, instr, instr + 1,
		       lpl_log_cycle(the_log, instr) - instr + count - 1);
}

/* ---- traces ---- */

static uint32_t define_trace(uint64_t address, bxInstruction_c *i)
{
	uint8_t length[LPL_LOG_INSTRUCTIONS];
	unsigned count = 0;
	bool forgot;

	/* an end marker has length 0; in the debugger a trace is one instruction, without one */
	for (const bxInstruction_c *in = i; in->ilen(); in++) {
		if (count == LPL_LOG_INSTRUCTIONS)
			laplace_die("internal error: a trace of more than %u instructions", count);
		length[count++] = (uint8_t)in->ilen();
		if (bx_dbg.debugger_active)
			break;
	}
	uint32_t id = lpl_log_define(the_log, laplace_icount(), address, count, length, &forgot);

	if (!id)
		laplace_die("no memory for the instruction traces");
	if (forgot)
		for (bxInstruction_c &any : CPU->iCache.mpool)
			any.laplace = 0;
	i->laplace = id;
	return id;
}

/*
 * A trace begins that is not known where it is now, or there is something to be looked at
 * (the code segment was loaded, the cycle counter may have jumped), or a block is full.
 */
void laplace_slow_trace(uint64_t rip, bxInstruction_c *i)
{
	uint64_t address = CPU->get_laddr(BX_SEG_REG_CS, rip);

	if (!i->ilen())
		return;		/* an invalidated trace: Bochs comes again */
	check_collector();
	if (!laplace_hot.reported)
		laplace_die("internal error: a look whether memory could be written has no end");
	CPU->laplace.between = true;
	laplace.look();
	laplace_space_changed();
	sync_cycles();
	const bool crosses = (address & 0xfff) + i->ilen() > 0x1000;
	if (crosses && laplace.crosses)
		laplace.crosses((address & ~UINT64_C(0xfff)) + 0x1000);
	CPU->laplace.between = false;
	if (CPU->laplace.physical)
		laplace_physical_check(address, true);

	the_log->base = bx_dbg.debugger_active ? LPL_LOG_NOWHERE : address - rip;
	lpl_log_room_for_trace(the_log, laplace_icount());
	uint32_t id = i->laplace;
	if (the_log->trace[id] != address)
		id = define_trace(address, i);
	lpl_log_word(the_log, id, laplace_icount(), LPL_LOG_TRACE);
	if (crosses && laplace.crosses)
		i->laplace = 0;		/* it comes here each time */
}

/* ---- the kernel's record ---- */

/* Only its page is marked in the TLB as watched. */
void laplace_forget_slots(void)
{
	uint64_t page = laplace.watch.address & ~UINT64_C(0xfff);

	laplace_hot.watched = laplace.watch.known ? page : LPL_LOG_NOWHERE;
	for (bx_TLB_entry &entry : CPU->DTLB.entry) {
		bx_address at = LPFOf(entry.lpf);

		if (entry.valid() && entry.accessBits & TLB_LAPLACE_HOST)
			entry.lpf = at == laplace_hot.watched || bx_dbg.debugger_active ?
				    at | TLB_LAPLACE_CLOSED : at;
	}
	CPU->espPageWindowSize = 0;
}

/* ---- recording ---- */

uint64_t laplace_references(void)
{
	struct lpl_collector *collector = laplace.collector;
	struct lpl_collector_status status;

	if (!collector || !the_log->ring)
		return 0;
	laplace_emit_totals();
	while (!lpl_ring_drained(the_log->ring) && !lpl_collector_failure(collector, NULL))
		usleep(100);
	lpl_collector_status(collector, &status);
	laplace.tracer_refs = status.tracer_refs;
	return status.references;
}

void laplace_emit_totals(void)
{
	lpl_log_totals(the_log, laplace_icount());
}

void laplace_emit_event(const struct kernel_trace_record *record)
{
	sync_cycles();
	lpl_log_event(the_log, now(), record);
}

void laplace_emit_past(const struct laplace_past *past)
{
	lpl_log_skip_to(the_log, past->instr);
	lpl_log_offset(the_log, past->instr, past->instr, past->offset);
	lpl_log_event(the_log, { past->instr, past->executing }, &past->record);
}

void laplace_stream_switch(enum laplace_state to)
{
	const bool on = to == LAPLACE_ON;
	const bool suppressed = (on ? laplace.state : to) == LAPLACE_SUPPRESSED;

	if (suppressed)
		lpl_log_switch(the_log, now(), on ? LPL_LOG_RESUME : LPL_LOG_SUPPRESS);
	else
		lpl_log_switch(the_log, now(), on ? LPL_LOG_ON : LPL_LOG_OFF);
	laplace.state = to;
}

void laplace_stream_restart(void)
{
	if (laplace_resumes())
		lpl_log_begin_at(the_log, laplace_icount());
	else
		lpl_log_skip_to(the_log, laplace_icount());
}

void laplace_stream_continue(uint64_t)
{
	own.user = CPU->user_pl;
	laplace_hot.supervisor = own.user ? LPL_LOG_SUPERVISOR : 0;
	laplace.space = CPU->cr3 >> 12;
	lpl_log_mode(the_log, now(), own.user);
	lpl_log_space(the_log, now(), laplace.space);
	laplace_forget_slots();		/* the kernel's record is known */
	sync_cycles();
}

void laplace_stream_flush(bool rotates)
{
	if (rotates)
		lpl_log_rotate(the_log, now());
	else
		lpl_log_flush(the_log, now());
}

/*
 * The simulator's thread looks whether anything is due when a block of the log is full, and
 * while the processor is halted; so it need not be notified.
 */
void laplace_ask_look(void)
{
}

bool laplace_machine_is_between(void)
{
	return CPU->prev_rip == CPU->get_rip();
}

void laplace_stream_attach(struct laplace_processor *p)
{
	laplace.processor = p;
}

void laplace_stream_open(struct lpl_ring *ring, uint64_t, bool)
{
	lpl_log_close(the_log);
	if (!lpl_log_open(the_log, ring))
		laplace_die("no memory for the log of references");
	laplace_hot.reported = 1;
	CPU->laplace.between = true;	/* nothing was fetched yet */
	laplace.exception_at = ~UINT64_C(0);
	laplace_hot.watched = LPL_LOG_NOWHERE;
	laplace_forget_slots();
	own.user = false;
	laplace.space = 0;
}

void laplace_stream_reopen(struct lpl_ring *ring)
{
	const uint64_t instr = laplace_icount(), before = the_log->offset_before, jump_at = the_log->jump_at,
		       offset = the_log->offset;

	lpl_log_close(the_log);
	if (!lpl_log_open(the_log, ring))
		laplace_die("no memory for the log of references");
	for (bxInstruction_c &any : CPU->iCache.mpool)
		any.laplace = 0;
	laplace.flushes = 0;
	lpl_log_begin_at(the_log, instr);
	lpl_log_mode(the_log, now(), own.user);
	lpl_log_space(the_log, now(), laplace.space);
	lpl_log_offset(the_log, instr, instr, offset);
	the_log->offset_before = before;
	the_log->jump_at = jump_at;
	lpl_log_switch(the_log, now(), laplace.state == LAPLACE_ON ? LPL_LOG_ON : LPL_LOG_OFF);
}

void laplace_stream_look_at(uint64_t instr)
{
	lpl_log_look_at(the_log, instr);
}

/* There are none in this simulator (session.cc says so). */
void laplace_stream_images(uint64_t)
{
}
