/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Conditions (select/when.h) in the simulated machine.
 *
 * Start and stop each come once; windows are for what comes again.  Stop is listened for while
 * recording is wanted, so that a mark that comes before the start's is not taken for it.
 *
 * By instructions, as windows of time: a timer of the simulator's says when to look, which is where
 * a trace of instructions begins, at the condition's count or after it.  The timer counts cycles,
 * of which there are never fewer than instructions, so it comes early, and is set anew.
 *
 * By references, likewise: in a cycle there are at most REFERENCES_A_CYCLE of them (the clock's
 * history would not hold more), so so many can be waited for at once that those left divided by it
 * are cycles.  A few thousand looks get to any number, the last of them at each trace.
 *
 * By the kernel's records: at the record, before it is in the trace for a start, and after it for
 * what is over then.
 *
 * By the host's clock, and by the size of what the collector has written: a thread that does
 * nothing else has the simulator's look every LOOK_NS.
 */
#define NEED_CPU_REG_SHORTCUTS 1
#include "bochs.h"
#include "cpu/cpu.h"
#include "pc_system.h"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <pthread.h>

#include "conditions.h"
#include "duties.h"
#include "option.h"
#include "report.h"
#include "stream.h"
#include "time_windows.h"
#include "watch.h"

static const uint64_t REFERENCES_A_CYCLE = 256;
static const long LOOK_NS = 50000000;

static void look_unless_open(void);

static struct {
	struct lpl_conditions start, stop, end;	/* the first two: cleared when they have come */
	bool any;			/* else nothing of this has to be looked at */
	int timer;
} conditions;

static struct laplace_duty duty = { look_unless_open, { false }, NULL };

static void look_soon(void)
{
	laplace_duty_is_due(&duty);
}

/* ---- before the run ---- */

static void read(struct lpl_conditions *c, const char *key, const char *spec,
		 enum lpl_when_use use)
{
	struct lpl_report report;

	memset(&report, 0, sizeof(report));
	lpl_conditions_clear(c);
	if (!*spec)
		return;
	conditions.any = true;
	if (lpl_conditions_parse(c, spec, use, &report))
		laplace_die("%s=%s: %s", key, spec, report.text);
	if (lpl_conditions_need_kernel(c) && !strcmp(laplace_option.kernel, "none"))
		laplace_die("%s=%s: with kernel=none no marks and images are reported", key, spec);
}

void laplace_conditions_read(void)
{
	read(&conditions.start, "start", laplace_option.start_when, LPL_TO_START);
	read(&conditions.stop, "stop", laplace_option.stop, LPL_TO_STOP);
	read(&conditions.end, "end", laplace_option.end, LPL_TO_END);
	if (conditions.end.number[LPL_MOMENT_BYTES] != LPL_NEVER &&
	    laplace_option.stage != LPL_STAGE_FILE)
		laplace_die("end=%s: nothing is written, a stage is measured", laplace_option.end);
	if (conditions.any) {
		laplace_duty_add(&duty);
		laplace_when_switched(look_soon);	/* what is waited for may have changed */
	}
}

/* ---- what comes true ---- */

static void start_now(void)
{
	lpl_conditions_clear(&conditions.start);
	laplace_want(true);
}

static void stop_now(void)
{
	lpl_conditions_clear(&conditions.stop);
	laplace_want(false);
}

[[noreturn]] static void end_now(enum lpl_moment_kind which)
{
	char said[LPL_WHEN_SIZE], why[LPL_WHEN_SIZE + 8];

	snprintf(why, sizeof(why), "by end=%s",
		 lpl_condition_say(&conditions.end, which, said));
	laplace_end_run("clean", why);
}

static bool has(const struct lpl_conditions *c, enum lpl_moment_kind which)
{
	return c->number[which] != LPL_NEVER;
}

/* ---- the time in the machine ---- */

/* In how many cycles this one may come true; `most` if it is not waited for. */
static uint64_t cycles_until(const struct lpl_conditions *c, enum lpl_moment_kind which,
			     uint64_t now, uint64_t a_cycle, uint64_t most)
{
	if (!has(c, which) || c->number[which] <= now)
		return most;
	return std::min(most, std::max((c->number[which] - now) / a_cycle, UINT64_C(1)));
}

/* References are waited for while they are recorded. */
static void set_timer(uint64_t references)
{
	const uint64_t now = laplace_icount();
	uint64_t cycles = LPL_NEVER;

	for (const struct lpl_conditions *c : { &conditions.start, &conditions.stop,
						&conditions.end }) {
		cycles = cycles_until(c, LPL_MOMENT_INSTRUCTION, now, 1, cycles);
		if (laplace.state != LAPLACE_OFF)
			cycles = cycles_until(c, LPL_MOMENT_REFERENCE, references,
					      REFERENCES_A_CYCLE, cycles);
	}
	if (cycles == LPL_NEVER)
		bx_pc_system.deactivate_timer((unsigned)conditions.timer);
	else
		bx_pc_system.activate_timer_ticks((unsigned)conditions.timer, cycles, false);
}

static uint64_t references_if_needed(void)
{
	return has(&conditions.stop, LPL_MOMENT_REFERENCE) ||
	       has(&conditions.end, LPL_MOMENT_REFERENCE) ? laplace_references() : 0;
}

static void look(void)
{
	const uint64_t now = laplace_icount(), references = references_if_needed();

	duty.due = false;
	for (enum lpl_moment_kind which : { LPL_MOMENT_INSTRUCTION, LPL_MOMENT_REFERENCE }) {
		const uint64_t number = which == LPL_MOMENT_INSTRUCTION ? now : references;

		if (lpl_condition_holds(&conditions.end, which, number))
			end_now(which);
		if (lpl_condition_holds(&conditions.start, which, number))
			start_now();
		if (laplace_is_wanted() && lpl_condition_holds(&conditions.stop, which, number))
			stop_now();
	}
	set_timer(references);
}

static void look_unless_open(void)
{
	/* what the tracer itself does in the guest comes to its end first */
	if (!laplace_record_is_open())
		look();
}

static void timer_comes(void *)
{
	look_soon();
}

/* ---- the kernel ---- */

void laplace_conditions_before(const struct kernel_trace_record *record)
{
	if (lpl_conditions_take(&conditions.start, record) != LPL_MOMENT_NONE)
		start_now();
}

void laplace_conditions_after(const struct kernel_trace_record *record)
{
	enum lpl_moment_kind which = lpl_conditions_take(&conditions.end, record);

	if (which != LPL_MOMENT_NONE)
		end_now(which);
	if (laplace_is_wanted() &&
	    lpl_conditions_take(&conditions.stop, record) != LPL_MOMENT_NONE)
		stop_now();
	/* what became due while this was reported is looked at by the next trace, in every run */
	if (duty.due)
		laplace_time_jumps();
}

/* ---- checkpoints ---- */

static bool is_clear(const struct lpl_conditions *c)
{
	struct lpl_conditions clear;

	lpl_conditions_clear(&clear);
	return memcmp(c, &clear, sizeof(clear)) == 0;
}

void laplace_conditions_where(bool *started, bool *stopped)
{
	*started = is_clear(&conditions.start);
	*stopped = is_clear(&conditions.stop);
}

void laplace_conditions_continue(bool started, bool stopped)
{
	if (started)
		lpl_conditions_clear(&conditions.start);
	if (stopped)
		lpl_conditions_clear(&conditions.stop);
	if (conditions.any)
		look_soon();
}

/* ---- the host ---- */

void laplace_conditions_look_at_host(void)
{
	struct lpl_collector_status status;

	if (!has(&conditions.end, LPL_MOMENT_BYTES) && !has(&conditions.end, LPL_MOMENT_TIME))
		return;
	lpl_collector_status(laplace.collector, &status);
	if (lpl_condition_holds(&conditions.end, LPL_MOMENT_BYTES, status.bytes))
		end_now(LPL_MOMENT_BYTES);
	if (lpl_condition_holds(&conditions.end, LPL_MOMENT_TIME, status.elapsed_ns / 1000))
		end_now(LPL_MOMENT_TIME);
}

static void *ask_again(void *)
{
	const struct timespec nap = { 0, LOOK_NS };

	for (;;) {
		nanosleep(&nap, NULL);
		laplace_request_look();
	}
	return NULL;
}

bool laplace_conditions_any(void)
{
	return conditions.any;
}

void laplace_conditions_begin(void)
{
	pthread_t thread;

	if (!conditions.any)
		return;
	conditions.timer = bx_pc_system.register_timer_ticks(NULL, timer_comes, 1, false, false,
							     "laplace.conditions");
	if (!laplace_option_restores())
		look();
	if ((has(&conditions.end, LPL_MOMENT_BYTES) || has(&conditions.end, LPL_MOMENT_TIME)) &&
	    pthread_create(&thread, NULL, ask_again, NULL) != 0)
		laplace_die("end=%s: no thread can be started that looks at the clock",
			    laplace_option.end);
}
