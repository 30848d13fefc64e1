/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Slow paths of the hooks: windows, single references, fetches, fast strings.
 *
 * Exactness.  What is sent must be what `laplace reduce -m window:K` makes of
 * the run's raw trace, record for record.  Therefore
 *
 * - a page's first reference in a window always comes here: it is closed until
 *   it was entered in the window's table;
 * - its last data reference is the latest of what its slots hold when the window
 *   ends, or when they are given to other pages: every reference that does not come
 *   here leaves its time in one of them, in program order;
 * - its last fetch is found when it is over (another page's trace begins, the
 *   window ends, an interrupt is delivered): it was the latest instruction, and
 *   the history says how many data references that one has made since;
 * - a window ends when a reference to a page beyond K comes, before that
 *   reference; the processor may be in the middle of an instruction.  The code
 *   page is entered again by the next fetch, not by the present one, which
 *   belongs to the old window.  No hook is called at the next fetch.  But until
 *   it is entered nothing is opened, so the next data reference or trace
 *   comes here, and nothing but fetches can have happened in between;
 * - a read-modify-write is reported when it reads and again when it writes.  In
 *   between nothing comes that ends a window; if anything did, its write would
 *   find neither page nor address (forget()), and end the run;
 * - times are exact: instruction counts are part of the clock, and the
 *   cycle follows from the instruction count by the list of jumps.  (Bochs'
 *   cycle counter runs with the instruction count but for halts and fast
 *   strings, which take a cycle for each element.)
 *
 * The address space is part of a page's identity.  When CR3 changes, all pages
 * are closed (global ones remain in the TLB and would still leave times with the
 * old space's struct), while the window continues.
 *
 * Nothing here knows Bochs; what is asked of the simulated machine is at the end of
 * producer.h.
 *
 * The state: what sets it, and what holds between two instructions.  ("None" is NULL or
 * LAPLACE_NOWHERE.  tests/producer/machine.cc checks it after each of its steps.)
 *
 *	state		stream_windows.cc.  What is open goes to window.nowhere unless it is ON;
 *			nothing is open after it changes.
 *	between		Bochs, around what it does between instructions, and the debugger's
 *			prompt; other_trace(), while it looks around; laplace_stop_for_good().  Until
 *			it is taken back, the instruction at the present count was not
 *			fetched.  laplace_exception() takes it back for good: what was
 *			counted is the exception.
 *	uncounted	laplace_between_instructions(): the clock leaves out the coming
 *			fetch, which other_trace() puts back; an exception has none.  While
 *			it is set and state is ON, code_page and fetch are none.
 *	looking		laplace_look_begin() to laplace_look_end(), or to the exception that
 *			the look met; and for the second write of 16 bytes.
 *	code_page	other_trace(), laplace_other_page(): where instructions come from.
 *			None after laplace_between_instructions().
 *	fetch		enter_code_page(), laplace_other_page(): the struct of code_page, in
 *			this window.  None after settle_fetch(): what was fetched is with
 *			the page, or the page is not entered yet.  window.nowhere only if
 *			OFF.
 *	entered_after	forget(), laplace_mode_changes(): the latest instruction that is
 *			accounted for, when fetch becomes none.  If code_page is known, the
 *			instructions after it have yet to enter it; as soon as there is one,
 *			nothing is open until laplace_fetched_until() was called.
 *	fetch_page	show_code_page(), laplace_other_page(): code_page less code_base, and
 *			then fetch is not none.  None: the next trace comes to other_trace().
 *	fetch_reach	show_code_page(): without end while nothing is recorded; then pages are
 *			not followed, and record_on() finds out code_page.
 *	code_base	other_trace(): what code[] and fetch_page were made with.  The code
 *			segment may have another base when fetch_page is none.
 *	code[]		show_code_page(): pages entered in this window, at this base; `code` of the
 *			producer has the indices of those that are not none.
 *	repeated	laplace_repeated(): the present count (with the mode, as the clock has
 *			it) if an instruction goes on that was fetched at repeated_clock, as
 *			the count repeated_first.
 *	repeating	laplace_repeating(): while Bochs executes a repeated instruction, until an
 *			exception ends it.  Pages are opened though fetch may be none; then
 *			they are closed when it is over.
 *	exception_at	laplace_exception(): the count of the latest exception, which is the
 *			present count until that is over.  Meanwhile `between` holds, and RIP does not.
 *	many		laplace_fast_string(): the clock when the instruction at this count
 *			was fetched.
 *	P->modified	laplace_hit(): the slot of the latest read by an open page that may
 *			be written back; of no open page: lost, with a write of 0.
 *	modified	laplace_slow_access(): the same, of the slow path.
 *	stack_page	laplace_stack_opened(), _closed(): the page of Bochs' stack window.
 *			Its size is Bochs', or 0 if stack.page is none: closed by us.
 */
#include "producer.h"
#include "report.h"

#define P (laplace.processor)

struct laplace_recording laplace;
struct laplace_producer laplace_producer;

/* The clock with another instruction count. */
static uint64_t clock_at(uint64_t instr)
{
	return (P->clock & ~LAPLACE_INSTR_MASK) |
	       ((instr - P->base_instr) << LAPLACE_INSTR_SHIFT & LAPLACE_INSTR_MASK);
}

static bool takes_images(void)
{
	return laplace_producer.images.memory != NULL;
}

/* ---- the ring ---- */

void laplace_send(const struct lpl_ring_record *records, size_t count)
{
	if (laplace_producer.ring && !laplace.failed)
		laplace.failed = !lpl_ring_put(laplace_producer.ring, records, count);
}

void laplace_emit(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	const struct lpl_ring_record record = { { a, b, c, d } };

	laplace_send(&record, 1);
}

void laplace_time_jumps(void)
{
	laplace_attend(P);	/* the next trace looks at the clock */
}

/* ---- fetches that are over ---- */

/* The clock when the instruction at this count was fetched; it is the latest. */
static uint64_t clock_at_fetch(uint64_t instr)
{
	uint64_t clock = clock_at(instr);
	unsigned made = 0;

	if (laplace_producer.many.instr == instr)
		return laplace_producer.many.clock;
	while (made < LAPLACE_HISTORY &&
	       !((P->history[(uint8_t)clock] ^ clock) & LAPLACE_INSTR_MASK)) {
		clock--;
		made++;
	}
	if (made == LAPLACE_HISTORY)
		laplace_die("internal error: an instruction made %u references", made);
	return clock;
}

/*
 * The instruction at count `latest` is the latest that was fetched from the code
 * page: leave that with the page, and be done with the page.
 */
static void settle_fetch(uint64_t latest)
{
	struct laplace_page *page = P->fetch;

	P->fetch = NULL;
	if (!page)
		return;
	page->fetch = clock_at(latest) >> LAPLACE_INSTR_SHIFT == P->repeated ?
		      P->repeated_clock : clock_at_fetch(latest);
}

/* ---- closing ---- */

static void forget_code(void)
{
	while (laplace_producer.codes)
		P->code[laplace_producer.code[--laplace_producer.codes]] = { LAPLACE_NOWHERE, NULL };
}

/*
 * Nothing is open any more.  `executing`: the instruction at the present count was
 * fetched, and the rest of its trace will be from the same page.
 */
static void forget(bool executing)
{
	uint64_t latest = laplace_icount() - !executing;

	if (P->lost.write)
		laplace_die("internal error: what was read is written back in another window");
	settle_fetch(latest);
	laplace_producer.entered_after = latest;
	laplace_attend(P);
	laplace_close_all(&laplace_producer.window, P);
	laplace_producer.modified.parts = 0;
	forget_code();
}

/* The clock is about to be full. */
static void fold(void)
{
	uint64_t counted = P->clock >> LAPLACE_INSTR_SHIFT, moved;

	laplace_forget_slots();
	moved = laplace_fold(P);
	P->repeated_clock += moved;
	laplace_producer.many.clock += moved;
	/* (what was added to the data references below them borrows from `moved`) */
	counted = (P->clock >> LAPLACE_INSTR_SHIFT) - counted;
	P->repeated += counted;
	laplace_machine_folded((uint32_t)counted);
}

void laplace_forget_slots(void)
{
	forget(!P->between);
}

void laplace_window_end(uint64_t references)
{
	laplace_forget_slots();
	if (LAPLACE_UNLIKELY(takes_images()))
		laplace_images_window_ends(&laplace_producer.images, &laplace_producer.window);
	laplace_send_window(&laplace_producer.window);
	laplace_emit(references, laplace.tracer_refs, laplace_icount(),
		     LPL_WIRE_KIND(LPL_WIRE_WINDOW));
	laplace_drop_old_jumps();
}

/* (Rare, and apart, so that what finds room for its page is compiled into its callers.) */
static __attribute__((noinline)) void end_full_window(void)
{
	laplace_window_end(laplace_number_now());
}

/* May end the window: this reference is then the first of the next. */
static struct laplace_page *touch(uint64_t page, uint64_t space, uint64_t clock, unsigned type)
{
	struct laplace_page *touched =
		laplace_touch(&laplace_producer.window, P, page, space, clock, type);

	if (!touched) {
		end_full_window();
		touched = laplace_touch(&laplace_producer.window, P, page, space, clock, type);
	}
	if (LAPLACE_UNLIKELY(takes_images()))
		laplace_images_touch(&laplace_producer.images, touched, type);
	return touched;
}

/* ---- the code page ---- */

/* The code page is entered with a fetch by the instruction at this count. */
static void enter_code_page(uint64_t address, uint64_t instr)
{
	uint64_t clock = clock_at(instr);
	struct laplace_page *page = touch(address >> 12, laplace.space, clock, LPL_FETCH);

	laplace_enter_code(&laplace_producer.window, page, clock_at(instr));
	P->fetch = page;
}

/*
 * The code page can be found by whoever comes to it, by the bits of an offset above its low
 * twelve: which in real mode, mostly, are not those of the address.
 */
static void show_code_page(uint64_t page)
{
	uint64_t offset = page - P->code_base;

	if ((offset & 0xfff) == 0) {
		unsigned at = offset >> 12 & (LAPLACE_CODE_PAGES - 1);

		if (laplace_is_nowhere(P->code[at].offset))
			laplace_producer.code[laplace_producer.codes++] = (uint8_t)at;
		P->code[at] = { offset, P->fetch };
	}
	P->fetch_page = offset;
	if (laplace.state == LAPLACE_OFF && !takes_images())
		P->fetch_reach = UINT64_MAX;
	else
		P->fetch_reach = LAPLACE_NEAR;
}

/*
 * All fetches up to the instruction at `latest` have happened: account for them
 * before whatever comes next.
 */
void laplace_fetched_until(uint64_t latest)
{
	if (!P->fetch && P->code_page != LAPLACE_NOWHERE &&
	    laplace_producer.entered_after + 1 <= latest)
		enter_code_page(P->code_page, laplace_producer.entered_after + 1);
}

/*
 * Between two instructions the processor makes references of its own (a page
 * walk for a fetch, an interrupt's frame).  The running trace is over, and the
 * coming instruction does not count yet.
 */
void laplace_between_instructions(void)
{
	if (laplace.state != LAPLACE_ON || laplace_producer.uncounted)
		return;
	uint64_t latest = laplace_icount() - 1;

	laplace_sync_cycles();	/* it may have waited for no interrupt */
	laplace_fetched_until(latest);
	settle_fetch(latest);
	P->code_page = LAPLACE_NOWHERE;
	laplace_attend(P);
	P->clock--;
	laplace_producer.uncounted = true;
}

/* An interrupt's or exception's frame is the processor's doing, not the program's. */
void laplace_delivery_begins(void)
{
	laplace_sync_cycles();
	P->looking = false;
	if (P->repeating)
		laplace_repeating(P, false);
	if (P->between)
		laplace_between_instructions();
	/* loading CS sets the new mode */
	laplace_attend(P);
	if (P->clock & LAPLACE_USER)
		laplace_mode_changes();
}

void laplace_mode_changes(void)
{
	/* What was fetched until now was fetched in the old mode. */
	if (laplace.state == LAPLACE_ON && !laplace_producer.uncounted) {
		uint64_t latest = laplace_icount() - P->between;

		laplace_fetched_until(latest);
		settle_fetch(latest);
		laplace_producer.entered_after = latest;
		laplace_attend(P);
	}
	P->clock ^= LAPLACE_USER;
}

void laplace_exception(void)
{
	laplace_delivery_begins();
	laplace.exception_at = laplace_icount();
	/*
	 * Bochs counts every exception as an instruction.  One that was fetched
	 * is counted so; one that was not has made `data` one low for good.
	 */
	if (P->between) {
		laplace_producer.uncounted = false;
		P->between = false;
	}
}

/* ---- data ---- */

/* What happened before a data reference is accounted for. */
static void before_reference(void)
{
	if (laplace.failed)
		laplace_die("the collector gave up");
	if (P->between)
		laplace_between_instructions();
	else if (!laplace_producer.uncounted)
		laplace_fetched_until(laplace_icount());
}

/*
 * References may use what they find in a slot: where nothing is recorded, or the
 * code page is entered already.  (Until it is, the next instruction's fetch has to
 * come before the next reference, and so that has to come here.  A repeated
 * instruction goes on for long without a fetch; what was opened meanwhile is
 * closed when it is over.)
 */
static bool may_open(void)
{
	return laplace.state != LAPLACE_ON || P->fetch || P->repeating;
}

void laplace_repeat_ends(struct laplace_processor *p)
{
	if (laplace.state == LAPLACE_ON)
		laplace_close_all(&laplace_producer.window, p);
}

/* The present reference, to be counted; its page, or NULL: it is no reference. */
static struct laplace_page *data_reference(uint64_t address, unsigned how, bool write)
{
	bool supervisor = how & LAPLACE_SUPERVISOR;

	/* First what happened before this reference ... */
	if (laplace.state == LAPLACE_ON)
		before_reference();
	if (laplace_is_watched(address) &&
	    laplace.watch.accessed(address, how & LAPLACE_LENGTH_MASK, write)) {
		if (laplace.state == LAPLACE_SUPPRESSED)
			laplace_count(P);
		return NULL;
	}
	/* ... then this one. */
	uint64_t clock = laplace_count(P);

	if (laplace.state != LAPLACE_ON)
		return &laplace_producer.window.nowhere;
	return touch(address >> 12, laplace.space, supervisor ? clock & ~LAPLACE_USER : clock,
		     write ? LPL_WRITE : LPL_READ);
}

static void slow_reference(struct laplace_slot *slot, uint64_t address, unsigned how,
			   bool write)
{
	struct laplace_page *page = data_reference(address, how, write);

	/* Every access to the watched page comes here. */
	if (page && slot && !slot->page && !laplace_is_watched(address) && may_open() &&
	    laplace_machine_opens(slot, address))
		laplace_open(&laplace_producer.window, P, slot, page);
}

void laplace_slow_access(struct laplace_slot *slot, uint64_t address, unsigned how)
{
	unsigned rw = how >> LAPLACE_RW_SHIFT & LAPLACE_RW_MASK;
	unsigned part = how & LAPLACE_SECOND ? 1 : 0;

	if (!P->looking)
		slow_reference(slot, address, how, rw == LAPLACE_RW_WRITE);
	if (rw == LAPLACE_RW_MODIFY) {	/* (the reference may have ended a window) */
		laplace_producer.modified.part[part] = { slot, address, how };
		laplace_producer.modified.parts = part + 1;
		P->modified = slot->page ? slot : &P->lost;
	}
}

/* The write of a read-modify-write: first the lower page's part of both. */
void laplace_slow_write_back(void)
{
	uint32_t parts = laplace_producer.modified.parts;

	if (P->looking)
		return;
	if (!parts)
		laplace_die("internal error: instruction %llu writes back what it has not read",
			    (unsigned long long)laplace_icount());
	for (uint32_t i = 0; i < parts; i++)
		slow_reference(laplace_producer.modified.part[i].slot, laplace_producer.modified.part[i].address,
			       laplace_producer.modified.part[i].how, true);
	laplace_producer.modified.parts = 0;
}

void laplace_walk(uint64_t phy, unsigned, bool write, unsigned)
{
	before_reference();
	touch(phy >> 12, LAPLACE_WALK_SPACE, laplace_count(P) & ~LAPLACE_USER,
	      write ? LPL_WRITE : LPL_READ);
}

void laplace_tlb_filled(struct laplace_slot *slot)
{
	if (slot->page)
		laplace_gather(P, slot);
}

/* ---- the stack window ---- */

/* For an access that is about to be made through it: for that one only, if need be. */
static void open_stack(void)
{
	struct laplace_page *page = &laplace_producer.window.nowhere;

	laplace_gather(P, &P->stack);
	if (laplace.state == LAPLACE_ON) {
		before_reference();
		page = touch(P->stack_page >> 12, laplace.space, P->clock + 1,
			     P->stack_writes ? LPL_WRITE : LPL_READ);
	}
	laplace_open(&laplace_producer.window, P, &P->stack, page);
	laplace_machine_stack(may_open() ? P->stack_size : 0);
}

/* The page remains the stack's, but the next access through it has to call a hook. */
void laplace_close_stack(void)
{
	laplace_machine_stack(0);
}

void laplace_stack_closed(void)
{
	laplace_gather(P, &P->stack);
	P->stack_page = LAPLACE_NOWHERE;
}

void laplace_stack_opened(uint64_t page, uint32_t size)
{
	P->stack_page = page;
	P->stack_size = size;
	if (LAPLACE_UNLIKELY(takes_images()))
		laplace_images_stack_at(&laplace_producer.images, page);
	open_stack();
}

bool laplace_stack_reopens(uint64_t at)
{
	if (P->stack_page == LAPLACE_NOWHERE || at >= P->stack_size ||
	    laplace_is_watched(P->stack_page))
		return false;
	open_stack();
	return true;
}

/* ---- repeated instructions ---- */

/* One element of a string instruction: reads its source, writes its destination. */
static void string_element(const uint64_t *source, const uint64_t *destination,
			   unsigned width, int64_t offset)
{
	if (source)
		slow_reference(NULL, *source + (uint64_t)offset, width, false);
	if (destination)
		slow_reference(NULL, *destination + (uint64_t)offset, width, true);
}

void laplace_fast_string(const uint64_t *source, const uint64_t *destination,
			 unsigned count, unsigned width, int step)
{
	uint64_t instr = laplace_icount(), per = (source ? 1 : 0) + (destination ? 1 : 0);
	unsigned done = 0;
	bool watches = (source && laplace_is_watched(*source)) ||
		       (destination && laplace_is_watched(*destination));

	if (!count)
		return;
	if (laplace_producer.many.instr != instr) {	/* more than the history holds */
		laplace_producer.many.clock = clock_at_fetch(instr);
		laplace_producer.many.instr = instr;
		laplace_attend(P);
	}
	/*
	 * Two elements enter both pages in one window of at least two pages;
	 * the rest then only moves their last references.
	 */
	bool each = watches || laplace_producer.window.pages_max < 2;

	if (laplace.state == LAPLACE_ON || watches) {
		while (done < count && (each || done < 2))
			string_element(source, destination, width, (int64_t)step * done++);
	}
	P->clock += (count - done) * per;
	if (laplace.state == LAPLACE_ON && done < count) {
		if (source)
			touch(*source >> 12, laplace.space, P->clock - (per - 1), LPL_READ);
		if (destination)
			touch(*destination >> 12, laplace.space, P->clock, LPL_WRITE);
	}
	/* Each element took a cycle, and all of them one instruction. */
	laplace_add_jump(instr + 1, laplace_cycle_at(instr) - instr + count - 1);
}

void laplace_repeated(void)
{
	if (P->clock & LAPLACE_FULL)
		fold();

	uint64_t instr = laplace_icount(), counted = P->clock >> LAPLACE_INSTR_SHIFT;

	if (P->repeated != counted) {	/* its first iteration is over */
		laplace_producer.repeated_first = instr;
		P->repeated_clock = clock_at_fetch(instr);
		laplace_attend(P);
	}
	P->repeated = counted + 1;
	P->clock--;
	/* The count goes up without a fetch. */
	if (laplace_producer.entered_after == instr)
		laplace_producer.entered_after++;
}

/* ---- the address space ---- */

static void follow_space(void)
{
	uint64_t space = laplace_machine_space();

	if (space == laplace.space)
		return;
	if (laplace.state == LAPLACE_ON)	/* what was fetched was of the old space */
		laplace_fetched_until(laplace_icount() - P->between);
	laplace.space = space;
	laplace_forget_slots();
}

/* ---- traces of instructions ---- */

/* (Its parameters are those of laplace_other_page(), which jumps here.) */
static __attribute__((noinline)) void other_trace(struct laplace_processor *, uint64_t rip,
						  unsigned length)
{
	uint64_t address = laplace_machine_code(rip), base = address - rip;
	unsigned here = 0x1000 - (unsigned)(address & 0xfff);
	uint64_t page = address & ~UINT64_C(0xfff);
	uint64_t latest = laplace_icount() - 1;

	if (!length)
		return;		/* an invalidated trace: Bochs comes again */
	if (laplace.failed)
		laplace_die("the collector gave up");
	if (P->looking)
		laplace_die("internal error: a look whether memory could be written has no end");
	if (base != P->code_base) {
		P->code_base = base;
		forget_code();
	}
	P->between = true;
	laplace.look();
	follow_space();
	laplace_sync_cycles();
	if (LAPLACE_UNLIKELY(length > here) && laplace.crosses)
		laplace.crosses(page + 0x1000);
	if (laplace.state == LAPLACE_ON) {
		if (laplace_producer.uncounted) {
			P->clock++;
			laplace_producer.uncounted = false;
		} else {
			laplace_fetched_until(latest);
			if (page != P->code_page)
				settle_fetch(latest);
		}
	}
	if (P->clock & LAPLACE_FULL)
		fold();
	P->between = false;
	P->code_page = page;
	if (LAPLACE_UNLIKELY(takes_images()))
		laplace_images_code_at(&laplace_producer.images, page);

	if (laplace.state != LAPLACE_ON) {
		laplace_producer.entered_after = laplace_icount();
		if (laplace.state == LAPLACE_OFF) {
			P->fetch = &laplace_producer.window.nowhere;
			show_code_page(page);
		}
		return;
	}
	if (!P->fetch)
		enter_code_page(address, laplace_icount());
	else if (LAPLACE_UNLIKELY(takes_images()))	/* in another frame, perhaps */
		laplace_images_touch(&laplace_producer.images, P->fetch, LPL_FETCH);
	show_code_page(page);
	if (length > here) {
		settle_fetch(laplace_icount());
		if (LAPLACE_UNLIKELY(takes_images()))
			laplace_images_code_at(&laplace_producer.images, page + 0x1000);
		P->clock++;
		enter_code_page(address + here, laplace_icount());
		/* it ends its trace; where the next one is from is open */
		P->code_page = page + 0x1000;
		laplace_attend(P);
	}
}

/*
 * May a page of code that is new in this window be entered at once?  If there is something to do
 * between two instructions, the next trace comes to other_trace() anyway, as fetch_page is none; but
 * images, and the bytes of instructions, have to do with each page.  (While nothing is recorded, and where
 * pages of the code segment do not begin with the address space's, it is other_trace()'s business, too.)
 */
static bool enters_at_once(const struct laplace_processor *p)
{
	return laplace.state == LAPLACE_ON && !takes_images() && !p->instructions &&
	       !(p->code_base & 0xfff);
}

/* What is left of other_trace() then. */
static __attribute__((noinline)) void enter_other_page(struct laplace_processor *p, uint64_t rip)
{
	uint64_t address = p->code_base + rip;

	p->fetch = NULL;
	p->code_page = address & ~UINT64_C(0xfff);
	enter_code_page(address, laplace_icount());
	show_code_page(p->code_page);
}

void laplace_other_page(struct laplace_processor *p, uint64_t rip, unsigned length)
{
	/*
	 * Mostly it is a page that was here before in this window, or comes into it, and nothing
	 * special has happened.  This is other_trace() for these cases.
	 */
	const auto *known = &p->code[rip >> 12 & (LAPLACE_CODE_PAGES - 1)];
	uint64_t page = rip & ~UINT64_C(0xfff);
	uint64_t latest = p->clock - LAPLACE_ONE_INSTR, clock = latest;

	if (LAPLACE_UNLIKELY(laplace_is_nowhere(p->fetch_page) || (rip & 0xfff) > LAPLACE_NEAR ||
			     !length || (known->offset != page && !enters_at_once(p))))
		return other_trace(p, rip, length);
	/* the latest instruction's data references follow its fetch */
	while ((p->history[(uint8_t)clock] ^ latest) < LAPLACE_ONE_INSTR)
		if (LAPLACE_UNLIKELY(latest - --clock == LAPLACE_HISTORY - 1))
			return other_trace(p, rip, length);
	p->fetch->fetch = clock;
	if (LAPLACE_UNLIKELY(known->offset != page))
		return enter_other_page(p, rip);
	p->fetch = known->page;
	p->fetch_page = page;
	p->code_page = page + p->code_base;
}

/* Where references are made from now on, and, if images are wanted, in which frames. */
void laplace_space_changed(void)
{
	/* what was fetched until now was fetched from the old one */
	if (takes_images() && laplace.state == LAPLACE_ON && !laplace_producer.uncounted)
		laplace_fetched_until(laplace_icount() - P->between);
	follow_space();
	if (takes_images()) {
		forget_code();
		laplace_attend(P);
		laplace_images_translations_change(&laplace_producer.images);
	}
}

/* ---- the beginning ---- */

void laplace_stream_attach(struct laplace_processor *p)
{
	laplace.processor = p;
	laplace_producer.many.instr = p->repeated = laplace.exception_at = ~UINT64_C(0);
	for (auto &code : p->code)
		code = { LAPLACE_NOWHERE, NULL };
	laplace_producer.codes = 0;
	for (uint64_t &clock : p->history)
		clock = LAPLACE_INSTR_MASK;	/* of no instruction */
	p->code_page = LAPLACE_NOWHERE;
	laplace_attend(p);
	p->between = true;	/* nothing was fetched yet */
	laplace_producer.jumps = 1;
	laplace_producer.jump[0] = { 0, 0 };
}

void laplace_stream_open(struct lpl_ring *ring, uint64_t window, bool ends_at_events)
{
	laplace_producer.ring = ring;
	if (!laplace_window_init(&laplace_producer.window, (uint32_t)window))
		laplace_die("no memory for a window of %u pages", (unsigned)window);
	laplace_producer.window.events_max = ends_at_events ? 1 : LPL_WINDOW_EVENTS;
}

void laplace_stream_images(uint64_t pages)
{
	laplace_images_open(&laplace_producer.images, pages, laplace_producer.window.pages_max);
}
