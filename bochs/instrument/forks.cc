/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A recording of every reference that several processes make on one host: the first runs the machine, and counts
 * what a trace would hold; where the trace is cut it forks, and what is forked is the machine as it is there, with all
 * that a saved one has lost (TLBs, traces of instructions).  So nothing is done to the machine where the trace is cut,
 * and the references are those of a run that one process records.
 *
 *	first ──┬── runs part 1 and writes it, then counts ──┬─────────────────┬──── ...  what the guest prints and writes
 *	        cut 1: forks a keeper                        cut 2            cut 3
 *	        keeper 1 ── waits for cut 2, then forks ── a writer: part 2
 *
 * A keeper waits at its cut until it is known where its part ends, and until there is a processor for it.
 * Then it forks a writer, which makes the part, and forks another where that fails.  A writer has to come to the end as the
 * first process did: at the same instruction, with as many references of each type and events, and with the same hash of
 * all of them.
 *
 * Memory is shared until it is written to.  Files are not: what the machine reads and writes is copied for
 * each keeper and each writer, by reference where the file system can do that; and what it only writes (the serial port's
 * file, the log) is the first one's alone.
 */
#include "bochs.h"
#include "bx_debug/debug.h"
#include "gui/siminterface.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <string>
#include <vector>

#include "checkpoint_files.h"
#include "forks.h"
#include "forks_files.h"
#include "option.h"
#include "passes.h"
#include "report.h"
#include "segment.h"
#include "signals.h"
#include "stream.h"
#include "watch.h"

enum {
	TRIES = 3,		/* of a part, before it is given up */
	MORE = 2,		/* cuts that may wait, beside those that are worked on */
	NAP_US = 20000
};
static const uint64_t STANDARD_EVERY = 100000000;	/* instructions from cut to cut */
static const uint64_t ATTEND_EVERY = 1000000;		/* instructions from one look at the others to the next */

/* Where the trace is cut, or ends. */
struct cut {
	uint64_t number;		/* of the part that begins here, from 0 on */
	uint64_t instr, references, tracer_refs, events;
	bool last;			/* the run ended here, by itself */
	struct lpl_resume_point collector;
};
static_assert(sizeof(struct cut) <= PIPE_BUF, "it is written at once");

struct part {
	enum { OPEN, READY, RUNS, DONE, FAILED } state;
	pid_t keeper;
	int go;				/* to it: where its part ends */
	struct cut end;
};

static struct {
	unsigned jobs;			/* 0: one process makes the trace */
	uint64_t every, next_at, attended_at;
	void (*open)(const struct laplace_part *part);
	std::vector<struct part> parts;	/* from the one with number 1 on */
	bool stopped;			/* where it was cut last, the trace ends */
	std::atomic<bool> *ends;	/* for all of them: no process waits for room any more */
	/* of a writer */
	bool writes;
	struct cut begin, end;
	int messages;			/* what was standard error */
	bool opened;			/* it has a collector of its own */
	std::atomic<bool> *spoilt;	/* for its keeper: the machine's files are not as they were */
} forks;

/* ---- where it is ---- */

static const char *part_path(uint64_t number, const char *file)
{
	static char path[BX_PATHNAME_LEN + 128];

	snprintf(path, sizeof(path), "%s.jobs/%06llu%s%s", laplace_option.trace, (unsigned long long)number,
		 *file ? "/" : "", file);
	return path;
}

/* Its segment's file would be named by a manifest of this name. */
static const char *own_manifest(uint64_t number)
{
	const char *slash = strrchr(laplace_option.trace, '/');

	return part_path(number, slash ? slash + 1 : laplace_option.trace);
}

static void note_counts(struct cut *cut)
{
	struct lpl_collector_status status;

	cut->instr = laplace_icount();
	cut->references = laplace_references();
	cut->tracer_refs = laplace.tracer_refs;
	lpl_collector_status(laplace.collector, &status);
	cut->events = status.events;
}

static void note_cut(struct cut *cut, uint64_t number)
{
	memset(cut, 0, sizeof(*cut));
	cut->number = number;
	note_counts(cut);
	laplace_suspend(&cut->collector);
}

static bool counts_agree(const struct cut *one, const struct cut *other)
{
	return one->instr == other->instr && one->references == other->references &&
	       one->tracer_refs == other->tracer_refs && one->events == other->events;
}

/* ---- a writer ---- */

[[noreturn]] static void leave(int status)
{
	fflush(NULL);
	_exit(status);
}

/*
 * Another collector, from this cut on.  That which there is is left: in a forked process it has no thread.  What it knows
 * of the guest goes by a file in this directory.
 */
static void open_part(enum lpl_pass pass, const struct cut *cut, uint64_t directory)
{
	const std::string guest = part_path(directory, "guest"), manifest = own_manifest(cut->number);
	struct laplace_part part = { pass, manifest.c_str(), &cut->collector, guest.c_str(), cut->instr };
	struct lpl_report report;

	memset(&report, 0, sizeof(report));
	if (lpl_collector_save_guest(laplace.collector, guest.c_str(), &report))
		laplace_die("%s", report.text);
	if (!forks.writes)
		lpl_collector_leave(laplace.collector);
	forks.open(&part);
	laplace_stream_reopen(lpl_collector_ring(laplace.collector));
}

/* The machine goes on as it was at the cut, in this process, and its references are written. */
static void write_part(void)
{
	forks.writes = true;
	forks.messages = dup(STDERR_FILENO);
	laplace_option.status_fd = -1;
	*laplace_option.status_file = '\0';
	const int log = laplace_remove_directory(part_path(forks.begin.number, "")) &&
			mkdir(part_path(forks.begin.number, ""), 0777) == 0 ?
		open(part_path(forks.begin.number, "log"), O_WRONLY | O_CREAT | O_CLOEXEC, 0666) : -1;

	if (log < 0 || dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0)
		laplace_die("%s: cannot be made: %s", part_path(forks.begin.number, ""), strerror(errno));
	/* without room for another copy, that of the keeper is used up */
	if (!laplace_files_alone())
		*forks.spoilt = true;
	open_part(LPL_PASS_SEGMENT, &forks.begin, forks.begin.number);
	forks.opened = true;
	laplace_stream_look_at(forks.end.last ? ~UINT64_C(0) : forks.end.instr);
}

static void end_part(void)
{
	struct cut here;

	note_cut(&here, forks.end.number);
	if (!counts_agree(&here, &forks.end) || !lpl_resume_points_agree(&here.collector, &forks.end.collector))
		laplace_die("the segment does not end as the first process did at instruction %llu (reference %llu; "
			    "here %llu, %llu): the machine does not repeat", (unsigned long long)forks.end.instr,
			    (unsigned long long)forks.end.references, (unsigned long long)here.instr,
			    (unsigned long long)here.references);
	lpl_collector_leave(laplace.collector);
	leave(0);
}

static void look_for_end(void)
{
	if (forks.end.last || laplace_icount() < forks.end.instr)
		return;
	if (laplace_icount() > forks.end.instr)
		laplace_die("no trace of instructions begins at %llu, where the first process began one: the machine "
			    "does not repeat", (unsigned long long)forks.end.instr);
	end_part();
}

/* ---- a keeper ---- */

/* The last message of a writer. */
static void say_why(int how, bool again)
{
	char line[512], why[512] = "it left no message";
	FILE *log = fopen(part_path(forks.begin.number, "log"), "re");

	while (log && fgets(line, sizeof(line), log))
		if (!strncmp(line, "laplace: ", 9))
			snprintf(why, sizeof(why), "%.*s", (int)strcspn(line + 9, "\n"), line + 9);
	if (log)
		fclose(log);
	if (WIFSIGNALED(how))
		snprintf(why, sizeof(why), "it was killed by signal %d (%s)", WTERMSIG(how), strsignal(WTERMSIG(how)));
	fprintf(stderr, "laplace: the segment from instruction %llu on failed%s: %s\n",
		(unsigned long long)forks.begin.instr, again ? ", and is traced again" : "", why);
}

/* All of its processes have it. */
static std::atomic<bool> *shared_flag(void)
{
	void *shared = mmap(NULL, sizeof(std::atomic<bool>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return shared == MAP_FAILED ? NULL : new (shared) std::atomic<bool>(false);
}

/* A child that ends with its parent. */
static pid_t fork_child(void)
{
	const pid_t parent = getpid();

	fflush(NULL);
	const pid_t child = fork();

	if (child == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
	}
	return child;
}

/* Returns in a writer alone. */
static void keep(int go, int ready)
{
	int how = 0;

	forks.spoilt = shared_flag();
	if (!forks.spoilt || !laplace_files_alone())
		_exit(2);
	(void)!write(ready, "", 1);
	(void)close(ready);
	if (read(go, &forks.end, sizeof(forks.end)) != (ssize_t)sizeof(forks.end))
		_exit(1);
	(void)close(go);
	for (int left = TRIES; left > 0; left = *forks.spoilt ? 0 : left - 1) {
		const pid_t writer = fork_child();

		if (writer == 0) {
			write_part();
			return;
		}
		if (writer < 0 || waitpid(writer, &how, 0) < 0)
			break;
		if (WIFEXITED(how) && WEXITSTATUS(how) == 0)
			_exit(close(open(part_path(forks.begin.number, LPL_PART_WHOLE), O_WRONLY | O_CREAT, 0666)));
		say_why(how, left > 1 && !*forks.spoilt);
	}
	_exit(1);
}

/* ---- the first process: the others ---- */

static unsigned count(int state)
{
	unsigned number = 0;

	for (const struct part &part : forks.parts)
		number += part.state == state;
	return number;
}

static void take_ended(void)
{
	int how;

	for (struct part &part : forks.parts)
		if (part.keeper > 0 && waitpid(part.keeper, &how, WNOHANG) == part.keeper) {
			part.state = part.state == part::RUNS && WIFEXITED(how) && WEXITSTATUS(how) == 0 ? part::DONE :
													     part::FAILED;
			part.keeper = -1;
			(void)close(part.go);
		}
}

/* `most` at a time. */
static void begin_others(unsigned most)
{
	for (struct part &part : forks.parts) {
		if (count(part::RUNS) >= most)
			return;
		if (part.state == part::READY && write(part.go, &part.end, sizeof(part.end)) == (ssize_t)sizeof(part.end))
			part.state = part::RUNS;
	}
}

/* Wait until no more than so many have work to do, or are to get it; all of the processors are theirs meanwhile. */
static void wait_for_others(unsigned most)
{
	for (;;) {
		if (laplace_signals_stop())
			*forks.ends = true;
		take_ended();
		begin_others(forks.jobs);
		if (count(part::READY) + count(part::RUNS) <= most)
			return;
		if (lpl_collector_failure(laplace.collector, NULL))
			return;
		usleep(NAP_US);
	}
}

static void end_open_part(const struct cut *here)
{
	if (forks.parts.empty() || forks.parts.back().state != part::OPEN)
		return;
	forks.parts.back().end = *here;
	forks.parts.back().state = part::READY;
}

/* ---- the first process: cuts ---- */

/* Status 0: it keeps the machine; 1: that was not possible; and in a writer -1. */
static int fork_keeper(const struct cut *here)
{
	int go[2], ready[2];
	char byte;

	if (pipe2(go, O_CLOEXEC) < 0)
		return 1;
	if (pipe2(ready, O_CLOEXEC) < 0) {
		(void)close(go[0]);
		(void)close(go[1]);
		return 1;
	}
	const pid_t keeper = fork_child();

	if (keeper == 0) {
		(void)close(go[1]);
		(void)close(ready[0]);
		/* another one's end is its parent's to say */
		for (const struct part &part : forks.parts)
			if (part.keeper > 0)
				(void)close(part.go);
		forks.begin = *here;
		keep(go[0], ready[1]);
		return -1;
	}
	(void)close(go[0]);
	(void)close(ready[1]);
	/* its copies are of files as they are now */
	const bool kept = keeper > 0 && read(ready[0], &byte, 1) == 1;

	(void)close(ready[0]);
	if (kept) {
		forks.parts.push_back({ part::OPEN, keeper, go[1], {} });
		return 0;
	}
	(void)close(go[1]);
	if (keeper > 0)
		(void)waitpid(keeper, NULL, 0);
	return 1;
}

static void make_cut(void)
{
	struct cut here;
	int status;

	note_cut(&here, forks.parts.size() + 1);
	end_open_part(&here);
	wait_for_others(forks.jobs + MORE);
	/* where there is no room for another, it may be for want of that which others have */
	while ((status = fork_keeper(&here)) == 1 && count(part::READY) + count(part::RUNS) > 0)
		wait_for_others(count(part::READY) + count(part::RUNS) - 1);
	if (status < 0)
		return;
	if (status == 1)
		laplace_die("there is no room, of memory or on the disk, for a process that keeps the machine as it is at "
			    "instruction %llu", (unsigned long long)here.instr);
	if (here.number == 1) {
		/* what comes is for the others to write */
		open_part(LPL_PASS_COUNT, &here, 0);
	}
	forks.next_at = here.instr + forks.every;
}

static bool may_be_cut(void)
{
	return laplace.state == LAPLACE_ON && !laplace_record_is_open();
}

void laplace_forks_look(void)
{
	if (forks.writes)
		look_for_end();
	if (!forks.jobs || forks.writes || forks.stopped)
		return;
	if (laplace_icount() - forks.attended_at >= ATTEND_EVERY) {
		forks.attended_at = laplace_icount();
		take_ended();
		begin_others(forks.jobs - 1);
	}
	if (!may_be_cut())
		return;
	if (!forks.next_at)
		forks.next_at = laplace_icount() + forks.every;
	if (laplace_icount() >= forks.next_at)
		make_cut();
}

/* ---- the end ---- */

void laplace_forks_stop(void)
{
	struct cut here;

	if (!forks.jobs || forks.writes || forks.stopped || forks.parts.empty() || !may_be_cut())
		return;
	note_cut(&here, forks.parts.size() + 1);
	end_open_part(&here);
	forks.stopped = true;
}

/* Of the last part: it is the end of the run, or what nothing is known of goes. */
static void end_last_part(void)
{
	struct cut here;

	if (forks.parts.empty() || forks.parts.back().state != part::OPEN)
		return;
	if (laplace.failed || laplace_signals_stop()) {
		(void)kill(forks.parts.back().keeper, SIGKILL);
		return;
	}
	memset(&here, 0, sizeof(here));
	here.last = true;
	note_counts(&here);
	end_open_part(&here);
}

static void end_writer(void)
{
	struct cut here;

	if (laplace.failed)
		leave(1);
	note_counts(&here);
	if (counts_agree(&here, &forks.end))
		return;
	fprintf(stderr, "laplace: the run does not end as in the first process, at instruction %llu (reference %llu; here "
		"%llu, %llu): the machine does not repeat\n", (unsigned long long)forks.end.instr,
		(unsigned long long)forks.end.references, (unsigned long long)here.instr,
		(unsigned long long)here.references);
	leave(1);
}

void laplace_forks_end(char *problem, size_t size)
{
	if (forks.writes)
		end_writer();
	if (!forks.jobs || forks.writes || forks.parts.empty())
		return;
	end_last_part();
	wait_for_others(0);
	take_ended();
	if (count(part::FAILED) > 0 && !*problem && !laplace_signals_stop())
		snprintf(problem, size, "not all of its segments could be made, and the trace ends before the first that "
			 "is missing");
}

void laplace_forks_closing(void)
{
	if (forks.writes && (!forks.opened || !forks.end.last))
		leave(1);
}

void laplace_forks_closed(bool good)
{
	if (forks.writes)
		leave(good ? 0 : 1);
}

/* ---- the beginning ---- */

void laplace_forks_begin(void (*open)(const struct laplace_part *part))
{
	forks.jobs = (unsigned)laplace_option.jobs;
	if (!forks.jobs)
		return;
	if (strcmp(laplace_option.reduce, "none") || *laplace_option.only)
		laplace_die("jobs=: only every reference is recorded so: reduce=none, and no only=");
	if (laplace_option.checkpoints || *laplace_option.snapshot || *laplace_option.windows ||
	    laplace_option.pass != LPL_PASS_WHOLE || laplace_option.stage != LPL_STAGE_FILE)
		laplace_die("jobs=: not with checkpoint=, snapshot=, windows=, pass= or stage=");
	if (*laplace_option.control || bx_dbg.debugger_active)
		laplace_die("jobs=: what comes through control= or the debugger comes once");
	if (laplace_option.segment.bytes)
		laplace_die("jobs=: its segments end after so many instructions: segment=instructions:N");
	laplace_passes_check_repeats();
	forks.open = open;
	forks.every = laplace_option.segment.instructions ? laplace_option.segment.instructions : STANDARD_EVERY;
	laplace_option.segment.instructions = 0;	/* they are cut here, and not by the collector */
	laplace_option.segmented = true;
	forks.ends = shared_flag();
	if (!forks.ends)
		laplace_die("jobs=: no memory");
	if (mkdir(part_path(0, ""), 0777))
		laplace_die("%s: cannot be made: %s", part_path(0, ""), strerror(errno));
}

const char *laplace_forks_first_part(void)
{
	return forks.jobs ? own_manifest(0) : NULL;
}

bool laplace_forks_ending(void)
{
	return forks.ends && *forks.ends;
}

void laplace_forks_say(const char *text)
{
	dprintf(forks.writes ? forks.messages : STDERR_FILENO, "laplace: %s\n", text);
}
