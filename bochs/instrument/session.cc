/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A collection's life: start and end, as the bochsrc's option asks for it.
 *
 * Bochs leaves by many doors (its quit context, panics, the debugger, power-off
 * by the guest), so the trace is closed by whichever of exit_env and atexit
 * comes first, and only once.  What was collected is in complete chunks at any
 * moment; closing adds the index and the final name.
 */
#define NEED_CPU_REG_SHORTCUTS 1
#include "bochs.h"
#include "cpu/cpu.h"
#include "gui/siminterface.h"
#include "param_names.h"
#include "pc_system.h"
#include "bx_debug/debug.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

#include <laplace/image.h>
#include <laplace/reducer.h>

#include "checkpoint.h"
#include "code.h"
#include "conditions.h"
#include "control.h"
#include "duties.h"
#include "forks.h"
#include "guest_record.h"
#include "option.h"
#include "passes.h"
#include "physical.h"
#include "recorder.h"
#include "report.h"
#include "screen.h"
#include "segment.h"
#include "setup.h"
#include "signals.h"
#include "snapshot.h"
#include "stream.h"
#include "time_windows.h"
#include "walks.h"
#include "watch.h"

/* Does this simulator log every reference?  Else it sends windows. */
#if defined(LAPLACE_ALL)
static const bool LAPLACE_LOGS = true;
#else
static const bool LAPLACE_LOGS = false;
#endif

/* How it was compiled, for `laplace doctor`, which looks for this in the program's file. */
#if defined(LAPLACE_BY_PROFILE)
[[gnu::used]] static const char compiled[] = "laplace-bochs is compiled by a profile";
#else
[[gnu::used]] static const char compiled[] = "laplace-bochs is compiled without a profile";
#endif

static struct {
	char **arguments;		/* as given, with -q, from the second one on */
	bool closed;
} session;

static void at_abrupt_exit(void);

/* ---- what others ask for ---- */

static void do_or_complain(bool wanted, const char *(*what)(void))
{
	const char *why = wanted ? what() : NULL;

	if (why)
		laplace_complain("%s", why);
}

/*
 * A kernel's record comes to its end first: what it says is one event, and what its making
 * refers to is left out.  But a request for the end by a signal does not wait for the guest.
 */
static void attend(void)
{
	if (laplace_signals_stop())
		laplace_leave();
	if (laplace_record_is_open())
		return;

	const unsigned wants = laplace_requests_take() | laplace_signals_want();

	if (wants & LAPLACE_WANTS_FLUSH)
		laplace_flush();
	do_or_complain(wants & LAPLACE_WANTS_ROTATION, laplace_next_segment);
	do_or_complain(wants & LAPLACE_WANTS_CHECKPOINT, laplace_ask_checkpoint);
	laplace_conditions_look_at_host();
	laplace_control_attend();
}

/* The processor is halted.  What the time brings comes when it goes on. */
void laplace_waiting(void)
{
	if (laplace_requests_are_due())
		attend();
	laplace_flush_if_due();
}

/* How often, in instructions, progress is reported of what is not recorded. */
static const uint64_t PROGRESS = 10000000;

/* What the producer calls between two instructions. */
static void look(void)
{
	static uint64_t reported_at;

	if (laplace_signals_stop())
		laplace_forks_stop();
	laplace_forks_look();
	laplace_duties_do();
	if (laplace.state == LAPLACE_OFF && laplace_icount() - reported_at >= PROGRESS) {
		reported_at = laplace_icount();
		laplace_emit_totals();
	}
	if (laplace.state == LAPLACE_SUPPRESSED)
		laplace_suppression_check();
	laplace_flush_if_due();
}

/* ---- begin ---- */

/* Of the collector's clock, or of the simulated one. */
static void flush_due(void *)
{
	laplace_ask_flush();
}

/* On the collector's thread. */
static void complain(void *, const char *text)
{
	laplace_forks_say(text);
}

/* Bochs takes its arguments apart where they are, so they are copied before. */
static void keep_arguments(void)
{
	int count = 1;

	session.arguments = (char **)calloc((size_t)bx_startup_flags.argc + 2,
					    sizeof(*session.arguments));
	if (!session.arguments)
		laplace_die("no memory for the arguments");
	session.arguments[count++] = strdup("-q");
	for (int i = 1; i < bx_startup_flags.argc; i++)
		if (strcmp(bx_startup_flags.argv[i], "-q"))
			session.arguments[count++] = strdup(bx_startup_flags.argv[i]);
}

/*
 * One simulator sends windows and another logs every reference; they have the same
 * arguments, and are neighbours.  Nothing was opened yet.  What a menu has changed by hand
 * would be lost, so there is none.
 */
[[noreturn]] static void become(const char *name)
{
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *slash;

	path[length > 0 ? length : 0] = '\0';
	slash = strrchr(path, '/');
	if (!slash || strlen(name) >= sizeof(path) - (size_t)(slash + 1 - path))
		laplace_die("reduce=%s: %s cannot be looked for", laplace_option.reduce, name);
	strcpy(slash + 1, name);
	session.arguments[0] = path;
	execv(path, session.arguments);
	laplace_die("reduce=%s is recorded by another simulator, which cannot be started: %s: %s",
		    laplace_option.reduce, path, strerror(errno));
}

/* The windows of time that were asked for; NULL: none were. */
static struct lpl_windows *open_windows(void)
{
	struct lpl_windows *windows = NULL;
	struct lpl_report report;

	memset(&report, 0, sizeof(report));
	if (*laplace_option.windows && lpl_windows_open(&windows, laplace_option.windows, &report))
		laplace_die("windows=%s: %s", laplace_option.windows, report.text);
	if (windows && lpl_windows_need_kernel(windows) && !strcmp(laplace_option.kernel, "none"))
		laplace_die("windows=%s: with kernel=none no marks, tasks and calls are reported",
			    laplace_option.windows);
	return windows;
}

/* What is asked for together with checkpoints has to be what they can go on with; and the machine one to be saved. */
static void check_checkpoints(const struct lpl_windows *windows)
{
	if ((laplace_option.checkpoints || *laplace_option.snapshot) &&
	    (BX_CPU(0)->is_cpu_extension_supported(BX_ISA_RDRAND) ||
	     BX_CPU(0)->is_cpu_extension_supported(BX_ISA_RDSEED)))
		laplace_die("%s=: it does not hold which random numbers the processor has given; "
			    "use one without, as by exclude_features=\"rdrand, rdseed\" in `cpu:'",
			    laplace_option.checkpoints ? "checkpoint" : "snapshot");
	if (!laplace_option.checkpoints)
		return;
	if (laplace_option.stage != LPL_STAGE_FILE)
		laplace_die("checkpoint=: without a trace there is nothing to go on with");
	if (bx_dbg.debugger_active)
		laplace_die("checkpoint=: the debugger's own state is in no checkpoint; run without it");
	if (*laplace_option.only)
		laplace_die("checkpoint=: it does not hold which tasks are chosen by only=%s",
			    laplace_option.only);
	if (windows && lpl_windows_need_kernel(windows))
		laplace_die("checkpoint=: it does not hold what windows=%s follow in the guest; "
			    "windows of instructions can be used", laplace_option.windows);
	laplace_option.segmented = true;
	laplace_passes_check();
}

/* Does the choice go by more than tasks, which is all that windows distinguish?  Checks the choice. */
static bool only_wants_every(struct lpl_report *report)
{
	struct lpl_choice_options options;
	char words[LPL_CHOICE_SIZE];

	if (!*laplace_option.only)
		return false;
	if (lpl_choice_parse(&options, words, laplace_option.only, report))
		laplace_die("only=%s: %s", laplace_option.only, report->text);
	if (!strcmp(laplace_option.kernel, "none") && (options.process || options.task))
		laplace_die("only=%s: with kernel=none what runs is not known", laplace_option.only);
	return lpl_choice_beyond_tasks(&options);
}

/*
 * How many pages the memory has that images=evict:K speaks of; 0: no images are wanted.  Contents are in
 * the trace once, so it has to be one file; and a checkpoint does not hold which ones it has.
 */
static uint64_t images_of(const struct lpl_plan *plan)
{
	struct lpl_exactness exact;
	const uint64_t pages = lpl_images_of(laplace_option.images);

	if (!*laplace_option.images)
		return 0;
	if (!plan->window || *laplace_option.only)
		laplace_die("images=%s: what is evicted is found by the windows of a reduction of all "
			    "references, as reduce=sad:64 without only=", laplace_option.images);
	if (laplace_option.segmented || laplace_option.checkpoints)
		laplace_die("images=%s: not with segment= or checkpoint=, for what an image shows may be "
			    "in another segment", laplace_option.images);
	if (!lpl_reduction_exactness(plan->reduction, &exact))
		exact.lru = 0;
	/* the elements of a string instruction are made at once: one page could be evicted in the midst of them */
	if (pages < 2 || pages < plan->window || pages < exact.lru || pages > UINT64_C(1) << 24)
		laplace_die("images=%s: say images=evict:K, with K from 2 and the pages of reduce=%s on, to 2^24",
			    laplace_option.images, laplace_option.reduce);
	snprintf(laplace_option.images, sizeof(laplace_option.images), "evict:%llu",
		 (unsigned long long)pages);
	return pages;
}

static bool is_ending(void *)
{
	return laplace_signals_stop() || laplace_forks_ending() || laplace_control_ends();
}

static const struct laplace_checkpoint_hooks checkpoint_hooks = {
	laplace_control_checkpointed, laplace_control_leave, laplace_end_segment
};

/* What the collector was opened with, so that another one can go on. */
static struct lpl_collector_options options;
static struct lpl_plan plan;

static void open_collector(void)
{
	struct lpl_report report;

	memset(&report, 0, sizeof(report));
	if (lpl_collector_open(&laplace.collector, &options, &report))
		laplace_die("%s%s", report.text,
			    strstr(report.text, "overwriting") && !laplace_option.overwrite ?
			    " (overwrite=on; laplace record: --overwrite)" : "");
}

static void open_part(const struct laplace_part *part)
{
	options.pass = part->pass;
	options.part_path = part->path;
	options.begins = false;
	options.resume_point = part->point;
	options.resume_guest = part->guest;
	options.resume_instr = part->instr;
	options.status_fd = (int)laplace_option.status_fd;
	options.status_path = *laplace_option.status_file ? laplace_option.status_file : NULL;
	open_collector();
}

static void open_collection(void)
{
	struct lpl_windows *windows;
	struct lpl_report report;

	memset(&report, 0, sizeof(report));
	if (lpl_plan_parse(&plan, laplace_option.reduce, &report))
		laplace_die("reduce=%s: %s", laplace_option.reduce, report.text);
	if (only_wants_every(&report))
		lpl_plan_every(&plan);
	if (plan.window ? LAPLACE_LOGS : !LAPLACE_LOGS)
		become(plan.window ? "laplace-bochs" : "laplace-bochs-all");
	if (laplace_option.stage == LPL_STAGE_FILE && !*laplace_option.trace)
		laplace_die("the laplace option needs trace=FILE");
	laplace_option.physical |= laplace_option.code;
	if (laplace_option.code && strcmp(laplace_option.reduce, "none") != 0)
		laplace_die("code=on is for a trace of every reference: it needs reduce=none (laplace record, run: "
			    "-r none)");
	laplace_passes_begin();
	laplace_forks_begin(open_part);
	windows = open_windows();
	const uint64_t images = images_of(&plan);
	check_checkpoints(windows);
	laplace_conditions_read();
	laplace_snapshot_check(laplace_option_restores() && !laplace_resumes(), windows != NULL);
	laplace_check_files();
	laplace_locate_kernel();
	laplace_checkpoints_make_way(false);
	if (*laplace_option.control)
		laplace_control_listen(laplace_option.control);

	struct lpl_meta *meta = laplace_header(windows);

	if (!laplace_signals_take(bx_dbg.debugger_active))
		laplace_die("no thread can be started that waits for signals");
	options.path = laplace_option.trace;
	options.plan = &plan;
	options.only = *laplace_option.only ? laplace_option.only : NULL;
	options.cycles_a_second = (uint64_t)SIM->get_param_num(BXPN_IPS)->get();
	options.meta = meta;
	options.stage = laplace_option.stage;
	options.level = (int)laplace_option.level;
	options.ring_records = (size_t)laplace_option.ring;
	options.status_fd = (int)laplace_option.status_fd;
	options.overwrite = laplace_option.overwrite;
	options.segmented = laplace_option.segmented;
	options.segment = laplace_option.segment;
	options.begins = laplace_option.jobs > 0;
	options.pass = options.begins ? LPL_PASS_SEGMENT : laplace_option.pass;
	options.part_path = options.begins ? laplace_forks_first_part() : laplace_part_path();
	laplace_checkpoint_resume(&options);
	options.log = LAPLACE_LOGS;
	options.flush_ns = laplace_option.stage == LPL_STAGE_FILE ?
			   (uint64_t)laplace_option.flush_seconds * 1000000000 : 0;
	options.flush_due = flush_due;
	options.status_path = *laplace_option.status_file ? laplace_option.status_file : NULL;
	options.status_ns = (uint64_t)laplace_option.status_every * 1000000000;
	options.complain = complain;
	options.sync_ns = (uint64_t)laplace_option.sync_seconds * 1000000000;
	options.wait_for_room = laplace_option.wait_for_room;
	options.is_ending = is_ending;
	open_collector();
	if (!laplace_option.jobs)
		lpl_meta_free(meta);
	laplace_checkpoints_make_way(true);

	laplace_stream_open(laplace_option.windows_only ? NULL : lpl_collector_ring(laplace.collector),
			    plan.window, *laplace_option.only != '\0');
	if (images)
		laplace_stream_images(images);
	static_assert(BX_DTLB_SIZE == 2048 && BX_ITLB_SIZE == 1024, "docs/references.md says so");
	if (laplace_option.walks)
		laplace_walks_open();
	if (laplace_option.physical)
		laplace_physical_open();
	if (laplace_option.code)
		laplace_code_open();
	atexit(at_abrupt_exit);
	if (laplace_option.flush_instructions)
		bx_pc_system.register_timer_ticks(NULL, flush_due,
						  (Bit64u)laplace_option.flush_instructions, true, true,
						  "laplace.flush");
	laplace_checkpoints_begin(&checkpoint_hooks);
	laplace_time_windows_begin(windows, laplace_option.start == LAPLACE_START_ON);
	laplace_screen_begin();
	if (*laplace_option.control)
		laplace_control_open(laplace_option.control);
	laplace_conditions_begin();
}

/* ---- end ---- */

static const char *judge(struct laplace_outcome *outcome)
{
	if (*outcome->problem)
		return "error";
	if (laplace_signals_stop()) {
		snprintf(outcome->problem, sizeof(outcome->problem), "stopped by a signal");
		return "quit";
	}
	if (laplace.watch.malformed || laplace.watch.abandoned) {
		snprintf(outcome->problem, sizeof(outcome->problem),
			 "%llu kernel records were malformed and %llu abandoned",
			 (unsigned long long)laplace.watch.malformed,
			 (unsigned long long)laplace.watch.abandoned);
		return "error";
	}
	if (laplace.watch.fail_seen) {
		snprintf(outcome->problem, sizeof(outcome->problem),
			 "the guest says that its workload failed");
		return "fail";
	}
	if (outcome->end)
		return outcome->end;
	if (!laplace_icount()) {
		snprintf(outcome->problem, sizeof(outcome->problem),
			 "the machine ended before its first instruction; Bochs' messages say why");
		return "error";
	}
	if (laplace.watch.end_seen || !strcmp(laplace_option.kernel, "none"))
		return "clean";
	if (bx_dbg.debugger_active)
		return "quit";
	snprintf(outcome->problem, sizeof(outcome->problem),
		 "%s before the guest said that its workload was over",
		 *outcome->why ? outcome->why : "the machine ended");
	return "error";
}

/* What a user of windows does not expect, and what is as it should be otherwise. */
static void complain_of_windows(void)
{
	if (!*laplace_option.windows)
		return;
	if (!laplace_time_windows_begun())
		laplace_complain("windows=%s: none of them began; the trace holds no references",
				 laplace_option.windows);
	else if (!laplace.watch.records && strcmp(laplace_option.kernel, "none"))
		laplace_complain("the guest's kernel reported nothing: what ran in the windows, "
				 "and what was mapped, is not known");
}

static void close_collection(void)
{
	struct laplace_outcome *outcome = &laplace_outcome;
	struct lpl_report report;

	if (session.closed)
		return;
	session.closed = true;
	laplace_forks_closing();
	laplace_signals_heeded();
	if (!laplace.collector) {
		laplace_control_closed(NULL);
		return;
	}
	laplace_control_ending();
	memset(&report, 0, sizeof(report));
	if (!laplace.failed) {
		if (laplace.state == LAPLACE_SUPPRESSED)
			laplace.watch.abandoned++;
		laplace_stop_for_good();
		complain_of_windows();
	}
	laplace_forks_end(outcome->problem, sizeof(outcome->problem));
	const char *end = judge(outcome);

	outcome->good = !*outcome->problem;
	const char *message = outcome->good ? outcome->why : outcome->problem;

	if (*message && !outcome->printed)
		fprintf(stderr, "laplace: %s; closing the trace\n", message);
	if (lpl_collector_close(laplace.collector, end, message, &report)) {
		outcome->good = false;
		/* what a full disk made of the trace is said besides that it was full */
		if (!outcome->printed || strcmp(report.text, outcome->problem) != 0)
			fprintf(stderr, "laplace: %s\n", report.text);
	}
	laplace.collector = NULL;
	laplace_forks_closed(outcome->good);
	laplace_physical_close();
	laplace_code_close();
	laplace_walks_close();
	laplace_control_closed(outcome->good ? NULL : outcome->problem);
}

/*
 * Bochs itself closes the trace before it exits; the debugger alone does not, but it
 * has shut the devices down.  So if it is open, a library calls exit(): one that lost
 * its display.  This is called before what was registered at the start of the display,
 * which would talk to it.
 */
static void at_abrupt_exit(void)
{
	struct laplace_outcome *outcome = &laplace_outcome;
	bool abrupt = laplace.collector && SIM->get_init_done();

	if (abrupt && !*outcome->problem)
		snprintf(outcome->problem, sizeof(outcome->problem),
			 "the simulator was ended from within, as when its display is closed");
	close_collection();
	if (abrupt) {
		fflush(NULL);
		_exit(1);
	}
}

/* What laplace_leave() does, from the middle of the simulation. */
static void close_all(void)
{
	close_collection();
	if (SIM->get_init_done())
		bx_atexit();	/* gives the terminal back */
}

/* When the collector gave up, whatever the simulator met then is what became of that. */
static bool collector_failed(char *text, size_t size)
{
	struct lpl_report report;

	memset(&report, 0, sizeof(report));
	if (!laplace.collector || !lpl_collector_failure(laplace.collector, &report))
		return false;
	snprintf(text, size, "%s", report.text);
	return true;
}

static void at_exit(void)
{
	if (!laplace_option.wanted)
		return;
	close_collection();
	fflush(NULL);
	_exit(laplace_exit_status());
}

/* ---- Bochs' callbacks ---- */

void laplace_init_env(void)
{
	static const struct laplace_leaving leaving = { collector_failed, close_all };

	laplace_report_begin(&leaving);
	laplace.look = look;
	laplace_requests_begin(attend);
	laplace_watch_begin(laplace_take_record);
	laplace_stream_attach(&BX_CPU(0)->laplace);
	laplace_large_pages(&BX_CPU(0)->iCache, sizeof(BX_CPU(0)->iCache));
	keep_arguments();
	laplace_signals_note();
	laplace_stream_open(NULL, 1, false);
	laplace_option_init();
	atexit(at_exit);
}

void laplace_exit_env(void)
{
	close_collection();
}

void laplace_initialize(void)
{
	if (laplace_option.wanted && !laplace.collector && !session.closed)
		open_collection();
}
