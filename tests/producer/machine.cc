/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The simulated processor stands in for Bochs, and for machine.cc, watch.cc and session.cc of
 * bochs/instrument: what those do for the producer is done here.
 */
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <new>

#include "processor.h"

struct machine m;
static struct laplace_processor processor;
struct laplace_processor *const p = &processor;
static char problem[256];

uint32_t below(uint32_t limit)
{
	return random_below(&m.random, limit);
}

bool once_in(uint32_t times)
{
	return below(times) == 0;
}

/* ---- what the producer asks of a machine ---- */

uint64_t laplace_machine_space(void)
{
	return m.space;
}

uint64_t laplace_machine_code(uint64_t rip)
{
	return m.code_base + rip;
}

uint64_t laplace_machine_rip(void)
{
	return m.prev_rip;
}

uint64_t laplace_machine_cycle_offset(void)
{
	uint64_t synced = laplace_instructions(p) - (laplace_instructions32(p) - m.last_sync);

	return m.ticks - synced;
}

bool laplace_machine_is_between(void)
{
	return m.rip == m.prev_rip;
}

void laplace_machine_folded(uint32_t moved)
{
	m.last_sync += moved;
}

[[noreturn]] void laplace_die(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(problem, sizeof(problem), format, arguments);
	va_end(arguments);
	throw failure();
}

void sync_time(uint32_t allowed)
{
	uint32_t delta = laplace_instructions32(p) - m.last_sync;

	if (delta >= allowed) {
		m.last_sync += delta;
		m.ticks += delta;
	}
}

/* ---- what watch.cc and session.cc do ---- */

static bool covers(uint64_t address, unsigned length, size_t field)
{
	uint64_t at = laplace.watch.address + field;

	return address < at + 4 && at < address + length;
}

bool in_record(uint64_t address, unsigned length)
{
	return address + length > laplace.watch.address &&
	       address < laplace.watch.address + sizeof(struct kernel_trace_record);
}

static void take_record(void)
{
	if (m.record.tag == KTR_MARK && !m.setting.recording) {
		truth_start(m.truth);
		laplace_start();
	}
	truth_event(m.truth, &m.record);
	laplace_emit_event(&m.record);
	if (m.record.tag != KTR_CONTROL)
		return;
	switch (m.record.arg[KTR_CONTROL_REQUEST]) {
	case KTR_CONTROL_START:
		truth_start(m.truth);
		return laplace_start();
	case KTR_CONTROL_STOP:
		truth_stop(m.truth);
		return laplace_stop();
	default:
		truth_flush(m.truth);
		return laplace_flush();
	}
}

static bool accessed(uint64_t address, unsigned length, bool write)
{
	if (!in_record(address, length))
		return false;
	if (write && !m.user) {
		if (covers(address, length, offsetof(struct kernel_trace_record, begin)) &&
		    laplace.state == LAPLACE_ON) {
			truth_record_begins(m.truth);
			laplace_suppress();
		}
		if (covers(address, length, offsetof(struct kernel_trace_record, trigger))) {
			truth_record_ends(m.truth);
			if (laplace.state == LAPLACE_SUPPRESSED)
				laplace_resume();
			take_record();
		}
	}
	return true;
}

void flush_comes(void)
{
	if (laplace.flush_due && m.truth->state != TRUTH_TRACER)
		truth_flush(m.truth);
}

static void check_suppression(void)
{
	if (!m.user)
		return;
	truth_record_ends(m.truth);
	laplace_resume();
	flush_comes();
}

void end_recording(void)
{
	truth_stop(m.truth);
	truth_add_totals(m.truth);
	laplace_stop_for_good();
}

/* Where the producer looks whether anybody wants anything. */
static void look(void)
{
	if (m.leaving) {
		end_recording();
		throw run_over();
	}
	if (laplace.state == LAPLACE_OFF && once_in(8)) {
		truth_add_totals(m.truth);
		laplace_emit_totals();
	}
	flush_comes();
	if (laplace.state == LAPLACE_SUPPRESSED)
		check_suppression();
	laplace_flush_if_due();
}

void expect_flushed(void)
{
	if (laplace.flush_due && m.truth->state != TRUTH_TRACER)
		laplace_die("a flush was due where a trace begins, and did not come");
}

/* ---- what always holds between two instructions ---- */

static bool of_window(const struct laplace_page *page)
{
	const struct laplace_window *w = &laplace_producer.window;

	return page == &w->nowhere || (page >= w->page && page < w->page + w->pages);
}

static void check(bool holds, const char *what)
{
	if (!holds)
		laplace_die("this does not hold: %s", what);
}

/* The table at the head of producer.cc. */
static void check_invariants(void)
{
	bool on = laplace.state == LAPLACE_ON, counted = !laplace_producer.uncounted;
	uint64_t executed = laplace_icount() - 1;	/* the latest instruction's count */
	bool pending = on && counted && !p->fetch && p->code_page != LAPLACE_NOWHERE &&
		       (int64_t)(executed - laplace_producer.entered_after) > 0;

	check(laplace_icount() == m.truth->instr, "instructions are counted");
	check(on == (m.truth->state == TRUTH_ON), "recording is on or off");
	check(!on || laplace_number_of(p, p->clock) - counted == m.truth->number,
	      "references are counted");
	check(laplace_machine_cycle_offset() == m.truth->waited, "(the test's own) cycles");
	check(counted || !on || (!p->fetch && p->code_page == LAPLACE_NOWHERE),
	      "when the next fetch is uncounted, the code page is not known");
	check(!p->looking && !p->lost.write, "no look goes on, and nothing was written too much");
	check(!p->fetch || of_window(p->fetch), "fetch is a page of the window");
	check(!on || p->fetch != &laplace_producer.window.nowhere, "recording, fetches go somewhere");
	check(p->fetch_page == LAPLACE_NOWHERE || p->fetch,
	      "fetches that need no attention go to a page");
	check(p->fetch_page == LAPLACE_NOWHERE || p->fetch_page + p->code_base == p->code_page,
	      "fetch_page is code_page, seen from the code segment");
	check(p->fetch_reach == LAPLACE_NEAR ||
		      (laplace.state == LAPLACE_OFF && p->fetch_page != LAPLACE_NOWHERE),
	      "only where nothing is recorded are pages of code not followed");
	for (const struct entry &entry : m.tlb) {
		bool open = entry.lpf != INVALID && !(entry.lpf & NO_HOST);

		check(entry.lpf == INVALID || open == (entry.slot.page != NULL),
		      "an open entry's slot has a page, and a closed one's has none");
		check(!entry.slot.page || of_window(entry.slot.page),
		      "a slot's page is of the window");
		check(!open || !pending,
		      "nothing is open when a fetch is still to be accounted for");
		check(!open || (entry.slot.page != &laplace_producer.window.nowhere) == on,
		      "what is open goes nowhere unless recording is on");
		check(!open || !on || (entry.slot.page->page == entry.lpf >> 12 &&
				       entry.slot.page->space == laplace.space),
		      "an open entry's slot is of its page");
		check(!open || !laplace_is_watched(entry.lpf), "the record's page is never open");
	}
	check(!m.stack_size || p->stack.page, "an open stack window has a page");
	check(!m.stack_size || p->stack_page == m.stack_page, "the stack window is where it is");
	check(p->stack_page != LAPLACE_NOWHERE || !p->stack.page, "no stack window, no page");
	check(!p->stack.page || of_window(p->stack.page), "the stack's page is of the window");
	check(!m.stack_size || !pending, "nor is the stack window");
	check(laplace_producer.window.pages <= laplace_producer.window.pages_max, "a window has at most K pages");
	for (uint32_t i = 1; i < laplace_producer.jumps; i++)
		check(laplace_producer.jump[i - 1].instr < laplace_producer.jump[i].instr, "jumps are in order");
}

/* ---- a run ---- */

static void begin(const struct machine_setting *setting, struct truth *truth,
		  struct lpl_ring *ring)
{
	memset((void *)&m, 0, sizeof(m));
	m.setting = *setting;
	m.truth = truth;
	truth->frame_of = frame_by_tables;
	for (struct entry &entry : m.tlb)
		entry.lpf = INVALID;
	m.code_tlb[0] = m.code_tlb[1] = INVALID;
	m.rip = m.prev_rip = FIRST_PAGE;

	laplace_window_free(&laplace_producer.window);
	laplace_images_close(&laplace_producer.images);
	new (&laplace) laplace_recording();
	new (&laplace_producer) struct laplace_producer();
	new (p) laplace_processor();
	if (setting->instr || setting->data) {
		p->clock = setting->instr * LAPLACE_ONE_INSTR | setting->data;
		p->base_instr = 0 - (uint64_t)setting->instr;
		p->base_data = 0 - (uint64_t)setting->data;
		m.last_sync = laplace_instructions32(p);
	}
	laplace_stream_attach(p);
	laplace_stream_open(ring, setting->window, false);
	if (setting->images)
		laplace_stream_images(setting->images);
	laplace.look = look;
	laplace.watch.accessed = accessed;
	p->walks = setting->walks;
	laplace.watch.known = true;
	laplace.watch.address = FIRST_PAGE + 0x1000 + 0x100;
	laplace_forget_slots();
	laplace_user_mode(p, false, 0);
	if (setting->recording) {
		truth_start(truth);
		laplace_start();
	}
}

/* An exception leads back to Bochs' loop, and is counted as an instruction. */
static void play(void (*what)(const struct step *), const struct step *step)
{
	m.faults = 0;
	m.two_pages = false;
	try {
		what(step);
	} catch (const exception_delivered &) {
		laplace_next_instruction(p);
		truth_count(m.truth);
		sync_time(0);
		m.prev_rip = m.rip;
		m.trace_left = 0;
		m.linked = false;
	}
}

static void end(void)
{
	if (m.setting.end == machine_setting::END_IN_FAULT) {
		const step fault = { once_in(3) ? STEP_FETCH_FAULT : STEP_FAULT, 3, m.setting.seed };

		m.dying = true;
		play(play_step, &fault);
	} else if (m.setting.end != machine_setting::END_BETWEEN) {
		m.leaving = m.setting.end == machine_setting::END_AT_TRACE;
		laplace_time_jumps();
		play(begin_last_instruction, NULL);
	}
	sync_time(0);
	end_recording();
}

const char *machine_play(const struct machine_setting *setting, const struct step *step,
			 size_t steps, struct truth *truth, struct lpl_ring *ring,
			 void (*drain)(void *context), void *context)
{
	try {
		begin(setting, truth, ring);
		for (size_t i = 0; i < steps; i++) {
			m.random.state = step[i].seed;
			play(play_step, &step[i]);
			check_invariants();
			drain(context);
		}
		end();
	} catch (const run_over &) {
	} catch (const failure &) {
		drain(context);
		return problem;
	}
	drain(context);
	return NULL;
}
