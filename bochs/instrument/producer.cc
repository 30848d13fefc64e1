/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Slow paths of the hooks: windows, single references, fetches, fast strings.
 *
 * Exactness.  What is sent must be what `laplace reduce -m window:K` makes of
 * the run's raw trace, record for record.  Therefore
 *
 * - a page's first reference in a window always comes here: its slots are empty
 *   until the page was entered in the window's table;
 * - its last data reference is what its struct holds when the window ends, since
 *   every reference that does not come here overwrites it, in program order;
 * - its last fetch is found when it is over (another page's trace begins, the
 *   window ends, an interrupt is delivered): it was the latest instruction, and
 *   the history tells how many data references that one has made since;
 * - a window ends when a reference to a page beyond K comes, before that
 *   reference; the processor may be in the middle of an instruction.  The code
 *   page is entered again by the next fetch, not by the present one, which
 *   belongs to the old window.  Nobody calls us at the next fetch.  But until
 *   it is entered no slot is filled, so the next data reference or trace
 *   comes here, and nothing but fetches can have happened in between;
 * - a read-modify-write is reported when it reads and again when it writes.  In
 *   between nothing comes that ends a window; if anything did, its write would
 *   find neither page nor address (empty_slots), and end the run;
 * - times are exact: instruction counts are stored with references, and the
 *   cycle follows from the instruction count by the list of jumps.  (Bochs'
 *   cycle counter runs with the instruction count but for halts and fast
 *   strings, whose elements take a cycle each.)
 *
 * When every reference is sent, fetches are found in the same way: before a data
 * reference, and when a trace is over, the instructions begun since the last
 * time are sent from a copy of the trace's lengths.  There the numbers must come
 * out as 1, 2, 3 ...; a gap would be a bug in the clock that windows use too, and
 * ends the run.
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

/* A word with `data`, as a number << 3 with mode and type. */
static uint64_t numbered(uint64_t word, uint64_t instr)
{
	return word + ((instr + 1) << 3);
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

void laplace_time_jumps(void)
{
	laplace_hot.fetch_page = LAPLACE_NOWHERE;	/* the next trace looks at the clock */
}

/* ---- the window ---- */

static uint32_t bucket_of(uint64_t page, uint64_t space)
{
	uint64_t h = (page ^ space * UINT64_C(0x9e3779b97f4a7c15)) *
		     UINT64_C(0xd6e8feb86659fd93);

	return (uint32_t)(h >> 32) & laplace.bucket_mask;
}

/* `data` when the instruction at this count was fetched; it is the latest. */
static uint64_t data_at_fetch(uint64_t instr)
{
	uint64_t data = laplace_hot.data >> 3, made = 0;

	if (laplace.long_instr == instr)
		return laplace.long_data;
	while (made < LAPLACE_HISTORY &&
	       laplace_hot.history[(data - made) % LAPLACE_HISTORY] == instr)
		made++;
	if (made == LAPLACE_HISTORY)
		laplace_die("internal error: an instruction made %llu references",
			    (unsigned long long)made);
	return laplace_hot.data - made * LAPLACE_ONE_REF;
}

/* The last fetch from a page, unless a data reference to it was later. */
static inline void leave_fetch(struct laplace_page *p, uint64_t data, uint64_t instr)
{
	if (numbered(data, instr) >> 3 > numbered(p->last, p->last_instr) >> 3) {
		p->last = (data & ~UINT64_C(3)) | LPL_FETCH;
		p->last_instr = instr;
	}
}

/*
 * The instruction at count `latest` is the latest that was fetched from the code
 * page: leave that with the page, and be done with the page.
 */
static void settle_fetch(uint64_t latest)
{
	struct laplace_page *p = laplace.fetch;

	laplace.fetch = NULL;
	if (!p)
		return;
	uint64_t instr = latest, data;
	if (latest == laplace.repeat_last) {
		instr = laplace.repeat_first;
		data = laplace.repeat_data;
	} else
		data = data_at_fetch(latest);
	leave_fetch(p, data, instr);
}

static void empty_slots(void)
{
	laplace_hot.stack = laplace_hot.modified = NULL;
	laplace.modified_parts = 0;
	while (laplace.slots)
		*laplace.slot[--laplace.slots] = NULL;
}

/*
 * No slot holds any more.  `executing`: the instruction at the present count was
 * fetched, and the rest of its trace will be from the same page.
 */
static void forget(bool executing)
{
	settle_fetch(CPU->icount - !executing);
	laplace.entered_after = CPU->icount - !executing;
	laplace_hot.fetch_page = LAPLACE_NOWHERE;
	empty_slots();
	memset(laplace.code, 0, sizeof(laplace.code));
}

static void fill_slot(struct laplace_page **slot, uint64_t address, struct laplace_page *page)
{
	*slot = page;
	if (slot == &laplace_hot.stack) {
		/* the page's entry in the TLB too, from which the window is opened again */
		bx_TLB_entry *entry = BX_DTLB_ENTRY_OF(address, 0);

		if (entry->lpf != LPFOf(address))
			return;
		slot = &entry->laplace;
	}
	if (laplace.slots == LAPLACE_SLOTS)	/* the TLB was filled anew many times */
		empty_slots();
	laplace.slot[laplace.slots++] = slot;
	*slot = page;
}

void laplace_forget_slots(void)
{
	forget(!laplace_hot.between);
}

void laplace_window_end(void)
{
	uint64_t references = laplace_references();

	laplace_forget_slots();
	for (uint32_t i = 0; i < laplace.pages; i++) {
		struct laplace_page *p = &laplace.page[i];
		struct laplace_entry *e = &laplace.entry[i];
		bool walk = e->space == WALK_SPACE;
		uint64_t cycle = e->cycle_known == p->last_instr ? e->last_cycle :
				 laplace_cycle_at(p->last_instr);

		laplace_emit(e->first, e->first_instr, e->first_cycle,
			     LPL_WIRE_KIND(LPL_WIRE_PAGE) | e->page);
		laplace_emit(numbered(p->last, p->last_instr), p->last_instr, cycle,
			     (walk ? LPL_WIRE_WALK : e->space) |
			     (p->wrote ? LPL_WIRE_WROTE : 0));
	}
	if (!laplace.each) {
		laplace_emit(references, laplace.tracer_refs, CPU->icount,
			     LPL_WIRE_KIND(LPL_WIRE_WINDOW));
		memset(laplace.bucket, 0,
		       (laplace.bucket_mask + 1) * sizeof(laplace.bucket[0]));
		laplace.pages = 0;
	}
	laplace.events = 0;
	laplace_drop_old_jumps();
}

/*
 * The struct of a page in the current window, entered with this reference as
 * its first if need be.  `word` is `data` at the reference, with mode and type.
 * May end the window: this reference is then the first of the next.
 */
static struct laplace_page *touch(uint64_t page, uint64_t space, uint64_t word, uint64_t instr)
{
	uint32_t b = bucket_of(page, space);
	struct laplace_page *p;

	for (; laplace.bucket[b]; b = (b + 1) & laplace.bucket_mask) {
		const struct laplace_entry *e = &laplace.entry[laplace.bucket[b] - 1];

		if (e->page == page && e->space == space) {
			p = &laplace.page[laplace.bucket[b] - 1];
			p->last = word;
			p->last_instr = instr;
			p->wrote |= (word & LAPLACE_TYPE_MASK) == LPL_WRITE;
			return p;
		}
	}
	if (laplace.pages == laplace.pages_max) {
		laplace_window_end();
		b = bucket_of(page, space);
	}
	laplace.entry[laplace.pages] = { page, space, numbered(word, instr), instr,
					 laplace_cycle_at(instr), 0, ~UINT64_C(0) };
	p = &laplace.page[laplace.pages];
	*p = { word, instr, 0 };
	laplace.bucket[b] = ++laplace.pages;
	return p;
}

/* The code page's first fetch in this window, made by the instruction after entered_after. */
static void enter_code_page(void)
{
	uint64_t instr = laplace.entered_after + 1;
	uint64_t word = (laplace_hot.data & ~UINT64_C(3)) | LPL_FETCH;
	struct laplace_page *p = touch(laplace.code_page >> 12, laplace.space, word, instr);

	laplace.fetch = p;
}

/* ---- single references ---- */

static void send_offset(uint64_t instr)
{
	uint64_t offset = laplace_cycle_at(instr) - instr;

	if (offset != laplace.cycle_offset) {
		laplace.cycle_offset = offset;
		laplace_emit(offset, 0, 0, LPL_WIRE_KIND(LPL_WIRE_OFFSET));
	}
	if (laplace.jumps > LAPLACE_JUMPS / 2)
		laplace_drop_old_jumps();
}

static void send(uint64_t word, uint64_t instr, uint64_t address, unsigned length,
		 bool second, bool walk)
{
	uint64_t number = numbered(word, instr);

	if (number >> 3 != laplace.sent + 1)
		laplace_die("internal error: reference %llu follows reference %llu "
			    "(type %u, address %#llx, instruction %llu)",
			    (unsigned long long)(number >> 3), (unsigned long long)laplace.sent,
			    (unsigned)(number & 3), (unsigned long long)address,
			    (unsigned long long)instr);
	laplace.sent++;
	send_offset(instr);
	laplace_emit(number, instr, address,
		     LPL_WIRE_KIND(LPL_WIRE_REF) | (walk ? 0 : laplace.space) |
		     (walk ? LPL_WIRE_WALK : 0) | (second ? LPL_WIRE_SECOND : 0) |
		     (uint64_t)length << LPL_WIRE_LENGTH_SHIFT);
}

/* Send the fetches of the running trace up to the instruction at this count. */
static void send_fetches(uint64_t latest)
{
	while (laplace.walk.at < laplace.walk.count && laplace.walk.next <= latest) {
		unsigned length = laplace.walk.length[laplace.walk.at++];

		send((laplace_hot.data & ~UINT64_C(3)) | LPL_FETCH, laplace.walk.next,
		     laplace.walk.address, length, false, false);
		laplace.walk.address += length;
		laplace.walk.next++;
	}
}

/* Pass over the fetches that are the tracer's own. */
void laplace_skip_fetches(uint64_t latest)
{
	while (laplace.walk.at < laplace.walk.count && laplace.walk.next <= latest) {
		laplace.walk.address += laplace.walk.length[laplace.walk.at++];
		laplace.walk.next++;
	}
}

/*
 * All fetches up to the instruction at `latest` have happened: account for them
 * before whatever comes next.
 */
void laplace_fetched_until(uint64_t latest)
{
	if (laplace.each)
		send_fetches(latest);
	else if (!laplace.fetch && laplace.code_page != LAPLACE_NOWHERE &&
		 laplace.entered_after + 1 <= latest)
		enter_code_page();
}

/*
 * Between two instructions the processor makes references of its own (a page
 * walk for a fetch, an interrupt's frame).  The running trace is over, and the
 * coming instruction does not count yet.
 */
void laplace_between_instructions(void)
{
	if (laplace.state != LAPLACE_ON || laplace.uncounted)
		return;
	uint64_t latest = CPU->icount - 1;

	laplace_fetched_until(latest);
	settle_fetch(latest);
	laplace.code_page = LAPLACE_NOWHERE;
	laplace.walk.count = 0;
	laplace_hot.fetch_page = LAPLACE_NOWHERE;
	laplace_hot.data -= LAPLACE_ONE_REF;
	laplace.uncounted = true;
}

/* An interrupt's or exception's frame is the processor's doing, not the program's. */
void laplace_delivery_begins(void)
{
	laplace_sync_cycles();
	laplace_hot.reported = ~(uintptr_t)0;
	if (laplace_hot.between)
		laplace_between_instructions();
	laplace_user_mode(false);	/* loading CS tells the new mode */
}

void laplace_mode_changes(void)
{
	/* What was fetched until now was fetched in the old mode. */
	if (laplace.state == LAPLACE_ON && !laplace.uncounted) {
		uint64_t latest = CPU->icount - laplace_hot.between;

		laplace_fetched_until(latest);
		settle_fetch(latest);
		laplace.entered_after = latest;
		laplace_hot.fetch_page = LAPLACE_NOWHERE;
	}
	laplace_hot.data ^= LAPLACE_USER_BIT;
}

void laplace_exception(void)
{
	laplace_delivery_begins();
	/*
	 * Bochs counts every exception as an instruction.  One that was fetched
	 * is counted so; one that was not has made `data` one low for good.
	 */
	if (laplace_hot.between) {
		laplace.uncounted = false;
		laplace_hot.between = false;
	}
}

/* ---- data ---- */

static void data_reference(struct laplace_page **slot, uint64_t address, unsigned how, bool write)
{
	unsigned length = how & LAPLACE_LENGTH_MASK;
	bool second = how & LAPLACE_SECOND, supervisor = how & LAPLACE_SUPERVISOR;
	uint64_t instr = CPU->icount;
	bool watched = laplace.watch.known && (address ^ laplace.watch.address) >> 12 == 0;

	/* First what happened before this reference ... */
	laplace_hot.data -= LAPLACE_ONE_REF;
	if (laplace.state == LAPLACE_ON) {
		if (laplace.failed)
			laplace_die("the collector gave up");
		if (laplace_hot.between)
			laplace_between_instructions();
		else if (!laplace.uncounted)
			laplace_fetched_until(instr);
	}
	if (watched && laplace_watched(address, length, write)) {
		if (laplace.state == LAPLACE_SUPPRESSED)
			laplace_hot.data += LAPLACE_ONE_REF;
		return;
	}
	laplace_hot.data += LAPLACE_ONE_REF;

	/* ... then this one. */
	if (laplace.state != LAPLACE_ON) {
		if (!watched && slot)
			fill_slot(slot, address, &laplace.nowhere);
		return;
	}
	uint64_t word = (supervisor ? laplace_hot.data & ~(uint64_t)LAPLACE_USER_BIT :
				      laplace_hot.data) | (write ? LPL_WRITE : LPL_READ);

	if (laplace.each) {
		send(word, instr, address, length, second, false);
		return;
	}
	struct laplace_page *p = touch(address >> 12, laplace.space, word, instr);
	/* Every access to the watched page comes here. */
	if (!watched && laplace.fetch && slot)
		fill_slot(slot, address, p);
}

/* The write of a read-modify-write: first the lower page's part of both. */
static void write_back(void)
{
	uint32_t parts = laplace.modified_parts;

	if (!parts)
		laplace_die("internal error: instruction %llu writes back what it has not read",
			    (unsigned long long)CPU->icount);
	for (uint32_t i = 0; i < parts; i++) {
		laplace_count(CPU->icount);
		data_reference(laplace.modified[i].slot, laplace.modified[i].address,
			       laplace.modified[i].how, true);
	}
	laplace.modified_parts = 0;
}

extern "C" void laplace_slow_access(struct laplace_page **slot, uint64_t address, unsigned how)
{
	unsigned rw = how >> LAPLACE_RW_SHIFT & LAPLACE_RW_MASK;
	unsigned part = how & LAPLACE_SECOND ? 1 : 0;

	if (how & LAPLACE_WRITE_BACK) {
		write_back();
		return;
	}
	if (rw == LAPLACE_RW_MODIFY && !laplace_hot.reported)
		laplace_hot.data -= LAPLACE_ONE_REF;
	else
		data_reference(slot, address, how, rw == LAPLACE_RW_WRITE);
	if (rw == LAPLACE_RW_MODIFY) {
		laplace.modified[part] = { slot, address, how };
		laplace.modified_parts = part + 1;
		laplace_hot.modified = part || !slot ? NULL : *slot;
	}
}

void laplace_walk(uint64_t phy, unsigned length, bool write)
{
	if (laplace.state != LAPLACE_ON)
		return;
	if (laplace_hot.between)
		laplace_between_instructions();
	else if (!laplace.uncounted)
		laplace_fetched_until(CPU->icount);

	uint64_t word = laplace_count(CPU->icount);

	word = (word & ~(uint64_t)LAPLACE_USER_BIT) | (write ? 1 : 0);
	if (!laplace.each)
		touch(phy >> 12, WALK_SPACE, word, CPU->icount);
	else
		send(word, CPU->icount, phy, length, false, true);
}

/* One element of a string instruction: reads its source, writes its destination. */
static void string_element(const uint64_t *source, const uint64_t *destination,
			   unsigned width, int64_t offset)
{
	if (source) {
		laplace_count(CPU->icount);
		laplace_slow_access(NULL, *source + (uint64_t)offset,
				    width | BX_READ << LAPLACE_RW_SHIFT);
	}
	if (destination) {
		laplace_count(CPU->icount);
		laplace_slow_access(NULL, *destination + (uint64_t)offset,
				    width | BX_WRITE << LAPLACE_RW_SHIFT);
	}
}

void laplace_fast_string(const uint64_t *source, const uint64_t *destination,
			 unsigned count, unsigned width, int step)
{
	uint64_t instr = CPU->icount, per = (source ? 1 : 0) + (destination ? 1 : 0);
	unsigned done = 0;
	bool watched = laplace.watch.known &&
		       ((source && (*source ^ laplace.watch.address) >> 12 == 0) ||
			(destination && (*destination ^ laplace.watch.address) >> 12 == 0));

	if (!count)
		return;
	if (laplace.long_instr != instr) {	/* more than the history holds */
		laplace.long_data = data_at_fetch(instr);
		laplace.long_instr = instr;
	}
	/*
	 * Two elements enter both pages in one window of at least two pages;
	 * the rest then only moves their last references.
	 */
	bool each = watched || laplace.pages_max < 2;

	if (laplace.state == LAPLACE_ON || watched) {
		while (done < count && (each || done < 2))
			string_element(source, destination, width, (int64_t)step * done++);
	}
	laplace_hot.data += (count - done) * per * LAPLACE_ONE_REF;
	if (laplace.state == LAPLACE_ON && done < count) {
		if (source)
			touch(*source >> 12, laplace.space,
			      (laplace_hot.data - (per - 1) * LAPLACE_ONE_REF) | LPL_READ, instr);
		if (destination)
			touch(*destination >> 12, laplace.space, laplace_hot.data | LPL_WRITE,
			      instr);
	}
	/* Each element took a cycle, and all of them one instruction. */
	laplace_add_jump(instr + 1, laplace_cycle_at(instr) - instr + count - 1);
}

void laplace_repeated(uint64_t instr)
{
	if (laplace.repeat_last != instr) {	/* its first iteration is over */
		laplace.repeat_first = instr;
		laplace.repeat_data = data_at_fetch(instr);
	}
	laplace.repeat_last = instr + 1;
	laplace_hot.data -= LAPLACE_ONE_REF;
	/* The count goes up without a fetch. */
	if (laplace.entered_after == instr)
		laplace.entered_after++;
	if (laplace.walk.at < laplace.walk.count) {
		if (laplace.state == LAPLACE_ON && laplace.each)
			send_fetches(instr);
		else
			laplace_skip_fetches(instr);
		laplace.walk.next++;
	}
}

/* ---- fetches ---- */

/* An instruction's fetch at the beginning of a trace. */
static void first_fetch(uint64_t address, unsigned length, bool second)
{
	uint64_t word = (laplace_hot.data & ~UINT64_C(3)) | LPL_FETCH;

	if (!laplace.each)
		laplace.fetch = touch(address >> 12, laplace.space, word, CPU->icount);
	else
		send(word, CPU->icount, address, length, second, false);
}

/* Remember the trace's instructions: an end marker has length 0. */
static void remember_trace(uint64_t address, const bxInstruction_c *i)
{
	laplace.walk.address = address;
	laplace.walk.next = CPU->icount;
	laplace.walk.at = laplace.walk.count = 0;
	while (i->ilen() && laplace.walk.count < sizeof(laplace.walk.length)) {
		laplace.walk.length[laplace.walk.count++] = (uint8_t)i->ilen();
		if (bx_dbg.debugger_active)
			break;	/* there a trace is one instruction, without a marker */
		i++;
	}
}

static __attribute__((noinline)) void
other_trace(uint64_t address, uint64_t base, const bxInstruction_c *i)
{
	unsigned length = i->ilen(), here = 0x1000 - (unsigned)(address & 0xfff);
	uint64_t page = address & ~UINT64_C(0xfff);
	uint64_t latest = CPU->icount - 1;

	if (!length)
		return;		/* an invalidated trace: Bochs comes again */
	if (laplace.failed)
		laplace_die("the collector gave up");
	if (!laplace_hot.reported)
		laplace_die("internal error: a look whether memory could be written has no end");
	laplace_hot.between = true;
	laplace_session_poll();
	laplace_flush_if_due();
	laplace_space_changed();
	laplace_sync_cycles();
	if (laplace.state == LAPLACE_SUPPRESSED)
		laplace_suppression_check();
	if (laplace.state == LAPLACE_ON) {
		if (laplace.uncounted) {
			laplace_hot.data += LAPLACE_ONE_REF;
			laplace.uncounted = false;
		} else {
			laplace_fetched_until(latest);
			if (page != laplace.code_page)
				settle_fetch(latest);
		}
	}
	laplace_hot.between = false;
	laplace.code_page = page;
	if (laplace.each)
		remember_trace(address, i);

	if (laplace.state != LAPLACE_ON) {
		laplace.entered_after = CPU->icount;
		if (laplace.state == LAPLACE_OFF && !laplace.each) {
			laplace.fetch = &laplace.nowhere;
			laplace.code[page >> 12 & (LAPLACE_CODE_PAGES - 1)] = { page, laplace.fetch };
			laplace_hot.fetch_page = page - base;
		}
		return;
	}
	if (laplace.each) {
		if (length > here) {
			first_fetch(address, here, false);
			laplace_hot.data += LAPLACE_ONE_REF;
			first_fetch(address + here, length - here, true);
			laplace.walk.count = 0;
		}
		return;
	}
	if (!laplace.fetch)
		first_fetch(address, length, false);
	laplace.code[page >> 12 & (LAPLACE_CODE_PAGES - 1)] = { page, laplace.fetch };
	laplace_hot.fetch_page = page - base;
	if (length > here) {
		settle_fetch(CPU->icount);
		laplace_hot.data += LAPLACE_ONE_REF;
		first_fetch(address + here, length - here, true);
		/* it ends its trace; where the next one is from is open */
		laplace.code_page = page + 0x1000;
		laplace_hot.fetch_page = LAPLACE_NOWHERE;
	}
}

void laplace_slow_trace(uint64_t rip, const bxInstruction_c *i)
{
	uint64_t address = CPU->get_laddr(BX_SEG_REG_CS, rip), base = address - rip;

	/*
	 * Mostly it is a page that was here before in this window, and nothing
	 * special has happened.  This is other_trace() for that case.
	 */
	uint64_t latest = CPU->icount - 1, data = laplace_hot.data;
	uint64_t page = address & ~UINT64_C(0xfff);
	auto *known = &laplace.code[page >> 12 & (LAPLACE_CODE_PAGES - 1)];

	if (known->page != page || !known->entered || laplace_hot.fetch_page == LAPLACE_NOWHERE ||
	    address - page > 0x1000 - 15 || !i->ilen() || latest == laplace.repeat_last ||
	    latest == laplace.long_instr)
		return other_trace(address, base, i);
	for (unsigned made = 0;
	     laplace_hot.history[data / LAPLACE_ONE_REF % LAPLACE_HISTORY] == latest;
	     data -= LAPLACE_ONE_REF)
		if (++made == LAPLACE_HISTORY)
			return other_trace(address, base, i);
	leave_fetch(laplace.fetch, data, latest);
	laplace.fetch = known->entered;
	laplace.code_page = page;
	laplace_hot.fetch_page = page - base;
}

void laplace_space_changed(void)
{
	uint64_t space = CPU->cr3 >> 12;

	if (space == laplace.space)
		return;
	if (laplace.state == LAPLACE_ON)	/* what was fetched was of the old space */
		laplace_fetched_until(CPU->icount - laplace_hot.between);
	laplace.space = space;
	laplace_forget_slots();
}

/* ---- the beginning ---- */

void laplace_producer_init(struct lpl_ring *ring, uint64_t window)
{
	laplace.ring = ring;
	laplace.pages_max = (uint32_t)window;
	laplace.each = !window;
	if (window) {
		uint32_t buckets = 64;

		while (buckets < 4 * window)
			buckets *= 2;
		laplace.bucket_mask = buckets - 1;
		free(laplace.page);
		free(laplace.entry);
		free(laplace.bucket);
		laplace.page = (struct laplace_page *)
			aligned_alloc(alignof(struct laplace_page), window * sizeof(*laplace.page));
		laplace.entry = (struct laplace_entry *)calloc(window, sizeof(*laplace.entry));
		laplace.bucket = (uint32_t *)calloc(buckets, sizeof(*laplace.bucket));
		if (!laplace.page || !laplace.entry || !laplace.bucket)
			laplace_die("no memory for a window of %u pages", (unsigned)window);
	}
	laplace.jumps = 1;
	laplace.jump[0] = { 0, 0 };
	laplace.long_instr = laplace.repeat_last = ~UINT64_C(0);
	for (uint64_t &instr : laplace_hot.history)
		instr = ~UINT64_C(0);
	laplace.code_page = laplace_hot.fetch_page = LAPLACE_NOWHERE;
	laplace_hot.between = true;	/* nothing was fetched yet */
	laplace_hot.reported = ~(uintptr_t)0;
}
