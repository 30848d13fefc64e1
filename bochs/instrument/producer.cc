/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Slow paths of the hooks: windows, single references, fetches, fast strings.
 *
 * Exactness.  What is sent must be what `laplace reduce -m window:K` makes of
 * the run's raw trace, record for record.  Therefore
 *
 * - a page's first reference in a window always comes here: its slot's epoch is
 *   stale, or `slow` is set, until the page was entered in the window's table;
 * - its last reference is what its struct holds when the window ends, since
 *   every reference that does not come here overwrites it, in program order;
 * - a window ends when a reference to a page beyond K comes, before that
 *   reference; the processor may be in the middle of an instruction.  The code
 *   page is then entered again by the next fetch, not by the present one, which
 *   belongs to the old window;
 * - times are exact: the clock and the instruction count are stored with each
 *   reference, and the cycle follows from the instruction count by the list of
 *   jumps.  (Bochs' cycle counter runs with the instruction count but for halts
 *   and fast strings, whose elements take a cycle each.)
 *
 * The address space is part of a page's identity.  When CR3 changes, all slots
 * are forgotten (global pages stay in the TLB and would go on writing to the
 * old space's struct), while the window goes on.
 */
#define NEED_CPU_REG_SHORTCUTS 1
#include "bochs.h"
#include "cpu/cpu.h"
#include "pc_system.h"
#include "bx_debug/debug.h"

#include <cstdlib>
#include <cstring>

#include "producer.h"
#include "session.h"

#define CPU (BX_CPU(0))

struct laplace_hot laplace_hot;
struct laplace_producer laplace;

static const uint64_t WALK_SPACE = ~UINT64_C(0);

uint64_t laplace_instr(void)
{
	return CPU->icount;
}

uint64_t laplace_references(void)
{
	return (laplace.state == LAPLACE_ON ? laplace_hot.clock : laplace.resume_clock) >> 3;
}

/* ---- the ring ---- */

void laplace_emit(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	if (!laplace.ring || laplace.failed)
		return;
	struct lpl_ring_record *record = lpl_ring_reserve(laplace.ring);
	if (!record) {
		laplace.failed = true;
		return;
	}
	record->word[0] = a;
	record->word[1] = b;
	record->word[2] = c;
	record->word[3] = d;
	lpl_ring_commit(laplace.ring);
}

/* ---- cycles ---- */

static uint64_t offset_now(void)
{
	/* Stepping by the debugger, Bochs counts ticks and instructions together. */
	uint64_t base = bx_dbg.debugger_active ? CPU->icount : CPU->icount_last_sync;

	return bx_pc_system.time_ticks() - base;
}

static uint64_t cycle_at(uint64_t instr)
{
	uint32_t low = 0, high = laplace.jumps;

	/* the last jump at or before instr; jump[0] is before everything */
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (laplace.jump[middle].instr <= instr)
			low = middle;
		else
			high = middle;
	}
	return instr + laplace.jump[low].offset;
}

/* Keep only the jumps that the present and the future need. */
static void drop_old_jumps(void)
{
	uint32_t keep = laplace.jumps - 1;

	while (keep > 0 && laplace.jump[keep].instr > CPU->icount)
		keep--;
	memmove(laplace.jump, laplace.jump + keep,
		(laplace.jumps - keep) * sizeof(laplace.jump[0]));
	laplace.jumps -= keep;
}

static void add_jump(uint64_t instr, uint64_t offset)
{
	struct laplace_jump *last = &laplace.jump[laplace.jumps - 1];

	if (last->offset == offset)
		return;
	if (last->instr == instr) {
		last->offset = offset;
		return;
	}
	if (laplace.jumps == LAPLACE_JUMPS) {
		/* Settle what depends on the old ones. */
		for (uint32_t i = 0; i < laplace.pages; i++) {
			struct laplace_page *p = &laplace.page[i];

			if (p->cycle_known != p->last_instr) {
				p->last_cycle = cycle_at(p->last_instr);
				p->cycle_known = p->last_instr;
			}
		}
		drop_old_jumps();
	}
	laplace.jump[laplace.jumps++] = { instr, offset };
}

/* The cycle counter may have jumped since the last instruction. */
static void sync_cycles(void)
{
	add_jump(CPU->icount, offset_now());
}

void laplace_time_jumps(void)
{
	laplace_hot.slow = 255;	/* the next fetch looks at the clock */
}

void laplace_delivery_begins(void)
{
	sync_cycles();
	laplace_user_mode(false);	/* loading CS tells the new mode */
}

/* ---- the window ---- */

void laplace_forget_slots(void)
{
	laplace_hot.epoch++;
	laplace_hot.slow = 255;
	laplace_hot.fetch_page = ~UINT64_C(0) - 0xfff;
}

static uint32_t bucket_of(uint64_t page, uint64_t space)
{
	uint64_t h = (page ^ space * UINT64_C(0x9e3779b97f4a7c15)) *
		     UINT64_C(0xd6e8feb86659fd93);

	return (uint32_t)(h >> 32) & laplace.bucket_mask;
}

void laplace_window_end(void)
{
	for (uint32_t i = 0; i < laplace.pages; i++) {
		struct laplace_page *p = &laplace.page[i];
		bool walk = p->space == WALK_SPACE;
		uint64_t cycle = p->cycle_known == p->last_instr ? p->last_cycle :
				 cycle_at(p->last_instr);

		laplace_emit(p->first, p->first_instr, p->first_cycle,
			     LPL_WIRE_KIND(LPL_WIRE_PAGE) | p->page);
		laplace_emit(p->last, p->last_instr, cycle,
			     (walk ? LPL_WIRE_WALK : p->space) |
			     (p->wrote ? LPL_WIRE_WROTE : 0));
	}
	if (laplace.pages_max) {
		laplace_emit(laplace_hot.clock >> 3, laplace.tracer_refs, CPU->icount,
			     LPL_WIRE_KIND(LPL_WIRE_WINDOW));
		memset(laplace.bucket, 0,
		       (laplace.bucket_mask + 1) * sizeof(laplace.bucket[0]));
		laplace.pages = 0;
	}
	laplace.events = 0;
	drop_old_jumps();
	laplace_forget_slots();
}

/*
 * The struct of a page in the current window, entered with this reference as
 * its first if need be.  `number` is the clock at the reference, with type.
 * May end the window.
 */
static struct laplace_page *touch(uint64_t page, uint64_t space, uint64_t number,
				  uint64_t clock_before)
{
	uint64_t instr = CPU->icount;
	uint32_t b = bucket_of(page, space);
	struct laplace_page *p;

	for (; laplace.bucket[b]; b = (b + 1) & laplace.bucket_mask) {
		p = &laplace.page[laplace.bucket[b] - 1];
		if (p->page == page && p->space == space) {
			p->last = number;
			p->last_instr = instr;
			p->wrote |= (number & LAPLACE_TYPE_MASK) == LPL_WRITE;
			return p;
		}
	}
	if (laplace.pages == laplace.pages_max) {
		/* this reference is not part of the window that ends */
		uint64_t clock = laplace_hot.clock;

		laplace_hot.clock = clock_before;
		laplace_window_end();
		laplace_hot.clock = clock;
		b = bucket_of(page, space);
	}
	p = &laplace.page[laplace.pages++];
	laplace.bucket[b] = laplace.pages;
	*p = { number, instr, 0, number, instr, cycle_at(instr), page, space,
	       0, ~UINT64_C(0) };
	return p;
}

/* ---- single references ---- */

static void send_offset(uint64_t instr)
{
	uint64_t offset = cycle_at(instr) - instr;

	if (offset != laplace.cycle_offset) {
		laplace.cycle_offset = offset;
		laplace_emit(offset, 0, 0, LPL_WIRE_KIND(LPL_WIRE_OFFSET));
	}
	if (laplace.jumps > 2)
		drop_old_jumps();
}

static void send(uint64_t number, uint64_t address, unsigned length, bool second, bool walk)
{
	uint64_t instr = CPU->icount;

	send_offset(instr);
	laplace_emit(number, instr, address,
		     LPL_WIRE_KIND(LPL_WIRE_REF) | (walk ? 0 : laplace.space) |
		     (walk ? LPL_WIRE_WALK : 0) | (second ? LPL_WIRE_SECOND : 0) |
		     (uint64_t)length << LPL_WIRE_LENGTH_SHIFT);
}

/* ---- data ---- */

void laplace_slow_access(struct laplace_slot *slot, uint64_t address, unsigned length,
			 unsigned rw, bool second, bool supervisor)
{
	uint64_t one = LAPLACE_ONE_REF, n = laplace_refs_of(rw);

	if (laplace.watch.known && (address ^ laplace.watch.address) >> 12 == 0) {
		/* The page never becomes valid in a slot: each access comes here. */
		laplace_hot.clock -= n * one;
		if (laplace_watched(address, length, rw & 1))
			return;
		laplace_hot.clock += n * one;
		if (laplace.state != LAPLACE_ON)
			return;
		slot = NULL;
	} else if (laplace.state != LAPLACE_ON) {
		slot->page = &laplace.nowhere;
		slot->epoch = laplace_hot.epoch;
		return;
	}
	if (laplace.failed)
		laplace_die("the collector gave up");

	uint64_t clock = supervisor ? laplace_hot.clock & ~(uint64_t)LAPLACE_USER_BIT :
				      laplace_hot.clock;
	uint64_t first = clock - (n - 1) * one;
	unsigned type = n == 1 ? rw & 1 : (unsigned)LPL_READ;

	if (!laplace.pages_max) {
		send(first | type, address, length, second, false);
		if (n == 2)
			send(clock | LPL_WRITE, address, length, second, false);
		return;
	}
	struct laplace_page *p = touch(address >> 12, laplace.space, first | type,
				       laplace_hot.clock - n * one);
	if (n == 2) {
		p->last = clock | LPL_WRITE;
		p->wrote = 1;
	}
	if (slot) {
		slot->page = p;
		slot->epoch = laplace_hot.epoch;
	}
}

void laplace_walk(uint64_t phy, unsigned length, bool write)
{
	if (laplace.state != LAPLACE_ON)
		return;
	laplace_hot.clock += LAPLACE_ONE_REF;
	uint64_t number = (laplace_hot.clock & ~(uint64_t)LAPLACE_USER_BIT) | (write ? 1 : 0);

	if (laplace.pages_max)
		touch(phy >> 12, WALK_SPACE, number, laplace_hot.clock - LAPLACE_ONE_REF);
	else
		send(number, phy, length, false, true);
}

/* One element of a string instruction: reads its source, writes its destination. */
static void string_element(const uint64_t *source, const uint64_t *destination,
			   unsigned width, int64_t offset)
{
	struct laplace_slot slot = { NULL, 0 };

	if (source) {
		laplace_hot.clock += LAPLACE_ONE_REF;
		laplace_slow_access(&slot, *source + (uint64_t)offset, width, BX_READ,
				    false, false);
	}
	if (destination) {
		laplace_hot.clock += LAPLACE_ONE_REF;
		laplace_slow_access(&slot, *destination + (uint64_t)offset, width, BX_WRITE,
				    false, false);
	}
}

void laplace_fast_string(const uint64_t *source, const uint64_t *destination,
			 unsigned count, unsigned width, int step)
{
	uint64_t per = (source ? 1 : 0) + (destination ? 1 : 0);
	unsigned done = 0;
	bool watched = laplace.watch.known &&
		       ((source && (*source ^ laplace.watch.address) >> 12 == 0) ||
			(destination && (*destination ^ laplace.watch.address) >> 12 == 0));

	if (!count)
		return;
	/*
	 * Two elements enter both pages in one window of at least two pages;
	 * the rest then only moves their last references.
	 */
	bool each = watched || !laplace.pages_max || laplace.pages_max < 2;

	if (laplace.state == LAPLACE_ON || watched) {
		while (done < count && (each || done < 2))
			string_element(source, destination, width, (int64_t)step * done++);
		if (done < count) {
			uint64_t last = laplace_hot.clock + (count - done) * per * LAPLACE_ONE_REF;

			laplace_hot.clock = last;
			if (source)
				touch(*source >> 12, laplace.space,
				      (last - (per - 1) * LAPLACE_ONE_REF) | LPL_READ, last);
			if (destination)
				touch(*destination >> 12, laplace.space, last | LPL_WRITE, last);
		}
	}
	/* Each element took a cycle, and all of them one instruction. */
	add_jump(CPU->icount + 1,
		 cycle_at(CPU->icount) - CPU->icount + count - 1);
}

/* ---- fetches ---- */

static void fetch_part(uint64_t address, unsigned length, bool second)
{
	laplace_hot.clock += LAPLACE_ONE_REF;
	uint64_t number = laplace_hot.clock | LPL_FETCH;

	if (!laplace.pages_max) {
		send(number, address, length, second, false);
		return;
	}
	laplace_hot.fetch = touch(address >> 12, laplace.space, number,
				  laplace_hot.clock - LAPLACE_ONE_REF);
	laplace_hot.fetch_page = address & ~UINT64_C(0xfff);
}

void laplace_slow_fetch(unsigned length)
{
	uint64_t address = CPU->get_laddr(BX_SEG_REG_CS, CPU->get_instruction_pointer());
	unsigned here = 0x1000 - (unsigned)(address & 0xfff);

	if (laplace.failed)
		laplace_die("the collector gave up");
	laplace_session_poll();
	laplace_space_changed();
	sync_cycles();
	if (laplace.state == LAPLACE_SUPPRESSED)
		laplace_suppression_check();
	if (laplace.state != LAPLACE_ON) {
		laplace_hot.clock += LAPLACE_ONE_REF;	/* the tracer's own are counted */
		laplace_hot.fetch = &laplace.nowhere;
		laplace_hot.fetch_page = address & ~UINT64_C(0xfff);
		laplace_hot.slow = laplace.state == LAPLACE_SUPPRESSED ? 255 : 0;
		return;
	}
	fetch_part(address, length < here ? length : here, false);
	laplace_hot.slow = laplace.pages_max ? 0 : 255;
	if (length > here) {
		fetch_part(address + here, length - here, true);
		laplace_hot.slow = 255;	/* where the next one comes from is open */
	}
}

void laplace_space_changed(void)
{
	uint64_t space = CPU->cr3 >> 12;

	if (space == laplace.space)
		return;
	laplace.space = space;
	laplace_forget_slots();
}

/* ---- switching ---- */

void laplace_producer_init(struct lpl_ring *ring, uint64_t window)
{
	laplace.ring = ring;
	laplace.pages_max = (uint32_t)window;
	if (window) {
		uint32_t buckets = 64;

		while (buckets < 4 * window)
			buckets *= 2;
		laplace.bucket_mask = buckets - 1;
		laplace.page = (struct laplace_page *)calloc(window, sizeof(*laplace.page));
		laplace.bucket = (uint32_t *)calloc(buckets, sizeof(*laplace.bucket));
		if (!laplace.page || !laplace.bucket)
			laplace_die("no memory for a window of %u pages", (unsigned)window);
	}
	laplace.jumps = 1;
	laplace.jump[0] = { 0, 0 };
	laplace_hot.epoch = 1;
	laplace_forget_slots();
}

static bool is_fence(uint32_t tag)
{
	return lpl_event_is_fence(tag) || tag == LPL_EVENT_TRACING;
}

void laplace_emit_event(const struct kernel_trace_record *record)
{
	const unsigned char *bytes = (const unsigned char *)record;
	uint64_t word[4];

	/* the window's rules, as reduce/window.c states them */
	if (laplace.pages_max &&
	    (is_fence(record->tag) || ++laplace.events == LAPLACE_WINDOW_EVENTS))
		laplace_window_end();
	sync_cycles();
	laplace_emit(laplace_references(), CPU->icount, cycle_at(CPU->icount),
		     LPL_WIRE_KIND(LPL_WIRE_EVENT));
	for (size_t at = 0; at < LPL_WIRE_EVENT_RECORDS * sizeof(word); at += sizeof(word)) {
		size_t left = at < sizeof(*record) ? sizeof(*record) - at : 0;

		memset(word, 0, sizeof(word));
		memcpy(word, bytes + at, left < sizeof(word) ? left : sizeof(word));
		laplace_emit(word[0], word[1], word[2], word[3]);
	}
	laplace_emit(laplace_references(), laplace.tracer_refs, 0,
		     LPL_WIRE_KIND(LPL_WIRE_TOTALS));
	if (laplace.ring)
		lpl_ring_publish(laplace.ring);
}

static void own_event(uint32_t tag, uint64_t arg, const char *text)
{
	struct kernel_trace_record record;

	memset(&record, 0, sizeof(record));
	record.tag = tag;
	record.space = laplace.space;
	record.arg[0] = arg;
	record.text_length = (uint32_t)(strlen(text) < KTR_TEXT ? strlen(text) : KTR_TEXT);
	memcpy(record.text, text, record.text_length);
	laplace_emit_event(&record);
}

void laplace_emit_mark(const char *text)
{
	own_event(LPL_EVENT_MARK, 0, text);
}

void laplace_start(void)
{
	if (laplace.state != LAPLACE_OFF)
		return;
	laplace_hot.clock = (laplace.resume_clock & ~UINT64_C(7)) |
			    (laplace_hot.clock & LAPLACE_USER_BIT);
	laplace.state = LAPLACE_ON;
	laplace_forget_slots();
	own_event(LPL_EVENT_TRACING, 1, "");
}

void laplace_stop(void)
{
	if (laplace.state != LAPLACE_ON)
		return;
	own_event(LPL_EVENT_TRACING, 0, "");
	laplace.resume_clock = laplace_hot.clock;
	laplace.state = LAPLACE_OFF;
	laplace_forget_slots();
}

void laplace_flush(void)
{
	laplace_emit(0, 0, 0, LPL_WIRE_KIND(LPL_WIRE_FLUSH));
	if (laplace.ring)
		lpl_ring_publish(laplace.ring);
}
