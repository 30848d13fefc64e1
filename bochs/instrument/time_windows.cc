/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Windows of time in the simulated machine (collect/windows.h says what they are).
 *
 * It is recorded when it is wanted and within a window.  What the kernel says moves both at the
 * moment of its record.  The time moves windows where a trace of instructions begins: a timer of
 * the simulator's says when to look.  It counts cycles, of which there are never fewer than
 * instructions, so it comes early rather than late, and is set anew for what is left; a window
 * begins and ends with the first trace of instructions that begins at its count or after it.  The
 * timer changes nothing in the machine, so a run has the same instructions and cycles with
 * windows as without (the patch that keeps our timers from changing the machine).
 *
 * Between a record's begin and its trigger, what runs is the tracer's own: whatever becomes due
 * there waits for its end.
 *
 * A window needs no snapshot from the guest.  Between windows the kernel's events are recorded as
 * they are within, so that where one begins a reader knows as much of tasks, mappings and cached
 * pages as if all had been recorded; and asking the guest for one would change the run.
 */
#define NEED_CPU_REG_SHORTCUTS 1
#include "bochs.h"
#include "cpu/cpu.h"
#include "pc_system.h"

#include "duties.h"
#include "option.h"
#include "recorder.h"
#include "report.h"
#include "stream.h"
#include "time_windows.h"
#include "watch.h"

#define CPU (BX_CPU(0))

static struct {
	struct lpl_windows *windows;	/* NULL: one without an end */
	int timer;
	bool wanted;
	uint64_t begun;
	void (*switched)(void);		/* NULL: it is not asked for */
} timing;

static struct laplace_duty duty = { laplace_time_windows_look, { false }, NULL };

static void timer_comes(void *)
{
	laplace_duty_is_due(&duty);
}

static void set_timer(uint64_t instr)
{
	if (instr == LPL_WINDOWS_NEVER)
		bx_pc_system.deactivate_timer((unsigned)timing.timer);
	else
		bx_pc_system.activate_timer_ticks((unsigned)timing.timer, instr - laplace_icount(),
						  false);
}

/* Should it be recorded?  `next` changes if there are windows, see lpl_windows_at(). */
static bool should_record(uint64_t *next)
{
	bool within = !timing.windows || lpl_windows_at(timing.windows, laplace_icount(), next);

	return within && timing.wanted;
}

static void switch_to(bool on)
{
	bool was = laplace.state != LAPLACE_OFF;

	if (on)
		laplace_start();
	else
		laplace_stop();
	timing.begun += on && !was;
	if (on != was && timing.switched)
		timing.switched();
}

void laplace_time_windows_look(void)
{
	uint64_t next = LPL_WINDOWS_NEVER;
	bool on = should_record(&next);

	duty.due = laplace_record_is_open();
	if (!duty.due)
		switch_to(on);
	if (timing.windows)
		set_timer(next);
}

void laplace_when_switched(void (*switched)(void))
{
	timing.switched = switched;
}

void laplace_want(bool on)
{
	timing.wanted = on;
	laplace_time_windows_look();
}

void laplace_want_soon(bool on)
{
	timing.wanted = on;
	timer_comes(NULL);
}

bool laplace_is_wanted(void)
{
	return timing.wanted;
}

/* Whoever opens a window is within it; whoever closes one is, too, so nothing ends here. */
void laplace_time_windows_before(const struct kernel_trace_record *record)
{
	struct lpl_report report;
	uint64_t next;

	if (!timing.windows)
		return;
	memset(&report, 0, sizeof(report));
	if (lpl_windows_take(timing.windows, record, laplace_icount(), &report))
		laplace_die("%s", report.text);
	if (should_record(&next))
		switch_to(true);
}

void laplace_time_windows_begin(struct lpl_windows *windows, bool wanted)
{
	laplace_duty_add(&duty);
	timing.windows = windows;
	timing.timer = windows ? bx_pc_system.register_timer_ticks(NULL, timer_comes, 1, false,
								   false, "laplace.windows") : 0;
	if (!laplace_option_restores())
		laplace_want(wanted);
}

/* (The timer is Bochs', which restores it.) */
void laplace_time_windows_continue(bool wanted, uint64_t begun)
{
	timing.wanted = wanted;
	timing.begun = begun;
	duty.due = true;
}

uint64_t laplace_time_windows_begun(void)
{
	return timing.begun;
}
