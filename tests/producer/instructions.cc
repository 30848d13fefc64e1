/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The simulated processor's instructions, exceptions and interrupts: which call which hook
 * when, as bochs/patches have it.  Bochs' functions that are imitated are named.
 */
#include <cstring>

#include "processor.h"

/* hooks that instrument.h declares, which only Bochs can include */
void laplace_delivery_begins(void);
void laplace_exception(void);

/* ---- exceptions ---- */

/* Bochs' updateFetchModeMask() and handleAlignmentCheck(), after CS was loaded. */
static void load_code_segment(bool user, uint64_t base, uint64_t linear)
{
	bool changes = user != m.user;

	m.user = m.truth->user = user;
	m.code_base = base;
	m.rip = linear - base;
	laplace_user_mode(p, user, m.alignment);
	m.alignment = user && m.wants_checks ? 0xf : 0;
	laplace_access_rights(p, user, m.alignment);
	if (changes)
		invalidate_stack_cache();	/* SS is loaded, too */
}

static uint64_t some_code(void)
{
	return some_page() + (once_in(4) ? 0xfff - below(20) : below(0x1000));
}

static uint64_t some_base(void)
{
	return once_in(3) ? (uint64_t)below(3) << 8 : m.code_base;
}

/* The processor's tables and stacks are not in the record. */
static uint64_t frame_page(void)
{
	uint64_t page = some_page();

	return laplace_is_watched(page) ? page + 0x1000 : page;
}

/* Bochs' interrupt(): the processor's frame is not the user's doing. */
static void deliver(void)
{
	laplace_delivery_begins();
	m.truth->user = false;
	system_access(frame_page() + 8 * below(500), 8, false);
	if (once_in(3))
		system_access(frame_page() + 8 * below(500), 8, false);
	if (m.faults < 2 && once_in(12))
		exception();
	for (unsigned pushed = 1 + below(5); pushed; pushed--) {
		if (m.user || once_in(2))
			new_stack_write(frame_page() + 8 * below(512));
		else
			stack_access(true, frame_page() + 8 * below(512), 8);
	}
	if (once_in(4))
		system_access(frame_page() + 4 * below(1000), 4, true);
	load_code_segment(false, some_base(), some_code());
}

/* Bochs' exception(), of faults. */
[[noreturn]] void exception(void)
{
	if (m.faults++ == 0 && p->between)
		truth_no_instruction(m.truth);
	laplace_exception();
	m.rip = m.prev_rip;
	if (m.dying) {
		end_recording();
		throw run_over();
	}
	deliver();
	throw exception_delivered();
}

/* ---- instructions ---- */

static bool is_full(void)
{
	return p->clock & LAPLACE_FULL;
}

static void expect_folded(bool was_full)
{
	if (was_full && is_full())
		laplace_die("the clock is nearly full and was not folded");
}

static void trace_begins(unsigned length)
{
	bool full = is_full();

	laplace_trace_begin(p, m.rip, length);
	if (!length)
		return;
	expect_folded(full);
	expect_flushed();
}

/* Bochs links what it has translated, until translations change. */
static bool is_linkable(uint64_t address, unsigned length)
{
	return m.linkable[(address >> 12) % MOVES] && m.linkable[((address + length) >> 12) % MOVES];
}

/* Bochs' linkTrace() and linkNewTrace(); false: back to the loop. */
static bool link_trace(unsigned length)
{
	if (m.setting.debugger || once_in(4))
		return false;
	sync_time(0);
	if (once_in(4) || !is_linkable(m.code_base + m.rip, length)) {
		p->between = true;
		prefetch(PAGE(m.code_base + m.rip));
		if (OFFSET(m.code_base + m.rip) + length > 0x1000)
			prefetch(PAGE(m.code_base + m.rip) + 0x1000);
		p->between = false;
		if (once_in(2))
			return false;
		trace_begins(length);
	} else if (once_in(8)) {	/* to a trace that is not valid any more */
		if (laplace_is_elsewhere(p, m.rip))
			trace_begins(0);
		return false;
	} else if (laplace_is_elsewhere(p, m.rip)) {
		trace_begins(length);
	}
	expect_flushed();
	return true;
}

/* The next instruction begins: in the running trace, by a link, or in Bochs' loop. */
static void fetch(void)
{
	unsigned length = 1 + below(15);
	uint64_t address = m.code_base + m.rip;
	bool crosses = OFFSET(address) + length > 0x1000;

	if (!m.trace_left || crosses || PAGE(address) != m.trace_page) {
		bool linked = m.linked && !m.trace_left && link_trace(length);

		m.linked = false;
		if (!linked) {
			sync_time(0);
			p->between = true;	/* getICacheEntry() */
			prefetch(PAGE(address));
			if (crosses)
				prefetch(PAGE(address) + 0x1000);
			p->between = false;
			trace_begins(length);
		}
		m.trace_page = PAGE(address);
		m.trace_left = crosses || m.setting.debugger ? 1 : 1 + below(6);
	}
	m.trace_left--;
	truth_fetch(m.truth, address, crosses ? PAGE(address) + 0x1000 : 0);
	m.rip += length;
}

/* BX_COMMIT_INSTRUCTION */
static void commit(void)
{
	m.prev_rip = m.rip;
	laplace_next_instruction(p);
	truth_count(m.truth);
}

/* Where it was before, as often as not. */
static uint64_t stack_address(void)
{
	return m.stack_host && once_in(2) ? m.stack_page + below(0x1000) : some_address();
}

static void access_something(void)
{
	unsigned length = some_length();

	switch (below(12)) {
	case 0: case 1: case 2:
		return linear(false, some_address(), length);
	case 3: case 4:
		return linear(true, some_address(), length);
	case 5: case 6:
		return modify(some_address(), length, !once_in(4));
	case 7: case 8:
		return stack_access(true, stack_address(), length < 16 ? length : 8);
	case 9:
		return stack_access(false, stack_address(), length < 16 ? length : 8);
	case 10:
		return system_access(some_address(), length < 16 ? length : 8, once_in(4));
	default:
		return look(some_address(), length < 8 ? length : 4);
	}
}

static void access_things(uint32_t count)
{
	while (count--)
		access_something();
}

/* Within its page; not to the record's `begin` and `trigger`, which memcpy() leaves alone. */
static uint64_t string_address(unsigned width, unsigned count, int step)
{
	uint64_t address = some_page() + below(0x1000 - width * count + 1);

	if (laplace_is_watched(address))
		address = width * count > KTR_TEXT - 4 ?
				  address + 0x1000 :
				  laplace.watch.address +
					  offsetof(struct kernel_trace_record, text) + below(4);
	return step < 0 ? address + (count - 1) * width : address;
}

/*
 * Bochs' FastRep*(): many elements at once, if both pages have host addresses.  They
 * take a cycle each.
 */
static bool fast_string(bool reads, bool writes, unsigned count)
{
	unsigned width = 1u << below(3);
	int step = (int)width * (once_in(4) && !(reads && writes) ? -1 : 1);
	uint64_t source = string_address(width, count, step);
	uint64_t destination = string_address(width, count, step);

	if (reads && !(has_host(entry_of(source), PAGE(source)) &&
		       (entry_of(source)->access & READ_OK << m.user)))
		return false;
	if (writes && !(has_host(entry_of(destination), PAGE(destination)) &&
			(entry_of(destination)->access & WRITE_OK << m.user)))
		return false;
	laplace_fast_string(reads ? &source : NULL, writes ? &destination : NULL, count, width,
			    step);
	for (unsigned i = 0; i < count; i++) {
		if (reads)
			happened(false, source + (uint64_t)((int64_t)step * i), width, false);
		if (writes)
			happened(true, destination + (uint64_t)((int64_t)step * i), width, false);
	}
	if (!count)
		return false;
	m.truth->writes += writes;
	m.ticks += count - 1;
	truth_cycles_later(m.truth, count - 1);
	return true;
}

static void string_iteration(unsigned kind, unsigned length, unsigned fast)
{
	bool reads = kind != 0, writes = kind != 1;

	if (fast && fast_string(reads, writes, fast - 1))
		return;
	if (kind == 3) {	/* INS */
		uint64_t address = some_address();

		look(address, length);
		return linear(true, address, length);
	}
	if (reads)
		linear(false, some_address(), length);
	if (writes)
		linear(true, some_address(), length);
}

/* Bochs' repeat() */
static void repeat(unsigned iterations, bool always_fast)
{
	unsigned kind = below(4), length = 1u << below(3);
	bool full;

	fetch();
	laplace_repeating(p, true);
	while (iterations) {
		unsigned fast = always_fast ? 3 : once_in(2) ? 0 : once_in(8) ? 300 : below(6);

		string_iteration(kind, length, fast);
		if (--iterations == 0)
			break;
		if (!always_fast && once_in(12)) {	/* an event: it will be begun again */
			m.rip = m.prev_rip;
			m.trace_left = 0;
			break;
		}
		full = is_full();
		laplace_repeats(p);
		expect_folded(full);
		laplace_next_instruction(p);
		truth_count(m.truth);
		sync_time(31);
	}
	laplace_repeating(p, false);
	commit();	/* the trace goes on */
}

/* One page after the other, both of one entry: each access opens it anew. */
static void thrash(void)
{
	m.faults = 1;	/* no more of them */
	for (unsigned i = 0; i < 500; i++) {
		fetch();
		for (unsigned j = 0; j < 10; j++)
			linear(once_in(2), FIRST_PAGE + (j % 2) * TLB_ENTRIES * 0x1000, 1);
		commit();
	}
}

static void load_space(void)
{
	fetch();
	m.space = m.truth->space = 0x100 + below(3);
	flush_tlb(once_in(4));
	laplace_space_changed();
	m.trace_left = 0;
	commit();
}

static void store_to_record(size_t field, uint32_t tag, uint64_t request)
{
	memset(&m.record, 0, sizeof(m.record));
	m.record.tag = tag;
	m.record.tid = below(100);
	m.record.arg[0] = request;
	fetch();
	linear(true, laplace.watch.address + field, 4);
	commit();
}

static void record_ends(void)
{
	static const uint32_t tags[] = { KTR_MAP, KTR_SCHEDULE, KTR_SCHEDULE, KTR_MARK };

	store_to_record(offsetof(struct kernel_trace_record, trigger), tags[below(4)], below(9));
}

static void instruction(const struct step *step)
{
	switch (step->kind) {
	case STEP_STRING:
		return repeat(below(step->size + 1), false);
	case STEP_STRINGS:
		m.faults = 1;		/* no more of them */
		m.two_pages = true;	/* the others have their references after them */
		return repeat(1200 + below(400), true);
	case STEP_THRASH:
		return thrash();
	case STEP_SPACE:
		return load_space();
	case STEP_RECORD_BEGIN:
		return store_to_record(offsetof(struct kernel_trace_record, begin), 0, 0);
	case STEP_RECORD_END:
		return record_ends();
	case STEP_RECORD_CONTROL:
		return store_to_record(offsetof(struct kernel_trace_record, trigger), KTR_CONTROL,
				       KTR_CONTROL_START + below(3));
	default:
		break;
	}
	fetch();
	switch (step->kind) {
	case STEP_JUMP:
		access_things(step->size);
		m.linked = true;
		m.rip = (once_in(2) ? some_code() : PAGE(m.code_base + m.rip) + below(0x1000)) -
			m.code_base;
		break;
	case STEP_INVALIDATE: {
		uint64_t page = some_page();

		invalidate_stack_cache();
		if (PAGE(entry_of(page)->lpf) == page) {
			entry_of(page)->lpf = INVALID;
			entry_of(page)->access = 0;
		}
		if (m.code_tlb[page >> 12 & 1] == page)
			m.code_tlb[page >> 12 & 1] = INVALID;
		memset(m.linkable, 0, sizeof(m.linkable));
		if (m.setting.images)	/* it is elsewhere now */
			m.moves[(page >> 12) % MOVES] = (m.moves[(page >> 12) % MOVES] + 1) & 31;
		laplace_space_changed();
		break;
	}
	case STEP_RETURN:
		for (unsigned pops = 2 + below(4); pops; pops--)
			stack_access(false, some_page() + 8 * below(512), 8);
		load_code_segment(m.user || once_in(2), some_base(), some_code());
		break;
	case STEP_FAR_JUMP:
		system_access(some_address(), 8, false);
		load_code_segment(m.user, (uint64_t)below(3) << 8, some_code());
		break;
	case STEP_SOFT_INTERRUPT:
		access_things(step->size / 2);
		deliver();
		break;
	case STEP_FAULT:
		access_things(step->size);
		exception();
	case STEP_HALT:
		laplace_time_jumps();	/* BX_INSTR_HLT */
		break;
	case STEP_RIGHTS:
		m.wants_checks = !m.wants_checks;
		if (once_in(2))		/* handleFpuMmxModeChange() */
			laplace_user_mode(p, m.user, m.alignment);
		m.alignment = m.user && m.wants_checks ? 0xf : 0;
		laplace_access_rights(p, m.user, m.alignment);
		break;
	case STEP_LONG:
		access_things(10 * step->size);
		break;
	default:
		access_things(step->size);
		return commit();	/* the trace may go on */
	}
	m.trace_left = 0;
	commit();
}

/* ---- between instructions ---- */

/* Bochs' handleAsyncEvent(): waits if the processor is halted, delivers an interrupt. */
static void handle_events(bool halted, bool interrupt)
{
	m.trace_left = 0;
	m.linked = false;
	sync_time(0);
	p->between = true;
	for (unsigned waits = halted ? below(5) : 0; waits; waits--) {
		flush_comes();
		laplace_flush_if_due();
		expect_flushed();
		m.ticks += 10;
		truth_cycles_now(m.truth, 10);
	}
	if (interrupt) {
		laplace_delivery_begins();	/* BX_INSTR_HWINTERRUPT */
		deliver();
		m.prev_rip = m.rip;
	}
	p->between = false;
}

static void debugger_command(unsigned marks)
{
	m.trace_left = 0;
	m.linked = false;
	sync_time(0);
	p->between = true;	/* laplace_debug_prompt() */
	laplace_time_jumps();
	for (unsigned i = 0; i < marks; i++) {
		truth_mark(m.truth, "mark");
		laplace_mark("mark");
	}
	switch (marks > 1 ? 4 : below(4)) {
	case 0:
		truth_start(m.truth);
		return laplace_start();
	case 1:
		truth_stop(m.truth);
		return laplace_stop();
	case 2:
		if (m.truth->state == TRUTH_TRACER)
			return;
		truth_flush(m.truth);
		return laplace_flush();
	default:
		return;
	}
}

void play_step(const struct step *step)
{
	switch (step->kind) {
	case STEP_INTERRUPT:
		return handle_events(false, true);
	case STEP_EVENT_LOOP:
		return handle_events(false, false);
	case STEP_FETCH_FAULT:
		m.trace_left = 0;
		m.linked = false;
		sync_time(0);
		p->between = true;	/* getICacheEntry() */
		walk_pages(false);
		exception();
	case STEP_ASK_FLUSH:
		return laplace_ask_flush();
	case STEP_DEBUGGER:
		return debugger_command(below(2));
	case STEP_MARKS:
		return debugger_command(300 + below(900));
	case STEP_HALT:
		instruction(step);
		return handle_events(true, once_in(2));
	default:
		return instruction(step);
	}
}

void begin_last_instruction(const struct step *)
{
	fetch();
	access_things(3);
}
