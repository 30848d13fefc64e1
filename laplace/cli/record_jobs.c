/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A recording that several processes make: record --jobs N.
 *
 * A first pass runs the machine, counts what a trace of it would hold, and makes checkpoints.  Each interval between two
 * of them is traced by a simulator of its own, which restores the one and has to arrive at the other in the same state;
 * N run at a time, the first pass among them, or N by a launcher on whichever hosts beside the first pass here
 * (record_process.c).  So the segments are those that one process would have written, and they are joined when all are there
 * (record_parts.c).
 *
 * A checkpoint goes when the intervals before and after it are traced, and the first pass is stopped while more than a
 * few wait for that, for each is as large as the guest's memory.  An interval that fails is traced again.  Whatever ends
 * all of it, what was traced stays, and is gone on with.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/host.h"
#include "find.h"
#include "record.h"
#include "record_parts.h"
#include "record_process.h"
#include "say.h"

#define TRIES 3			/* of an interval, before all is given up */
#define LOOK_MS 100		/* between looks at what has changed */
#define CHECKPOINTS_MORE 2	/* than there are jobs, before the first pass is stopped */

struct interval {
	bool runs, kept;
	unsigned int tries;
};

struct jobs {
	const struct record_options *options;
	const char *trace;
	struct record_simulator simulator;
	char **command;			/* that it began with; the last word is the bochsrc's line */
	struct record_process *first, *job;	/* the first pass; options->jobs others, which follow it */
	struct interval *interval;	/* made + 1 of them */
	size_t room;
	uint64_t made, gone;		/* checkpoints; of these, from the first on, no longer needed */
	uint64_t kept;			/* intervals */
	bool counted, stopped;		/* the first pass ended; or stands still */
	bool failed, interrupted;	/* all of it ends */
	bool joined;			/* that was done before it was cut off */
	struct cli_collection end;	/* how the first pass ended, and ... */
	struct cli_collection last;	/* ... the last interval */
	int signal_fd, lock;		/* of the directory of parts */
	uint64_t start_ns;
};

/* ---- from where ---- */

static int spawn(const struct jobs *jobs, struct record_process *process, char *const *words, const char *line,
		 const char *pass, int out)
{
	return pass ? record_process_segment(&jobs->simulator, process, words, line, pass, out) :
		      record_process_count(&jobs->simulator, process, words, line, out);
}

/* As it began, or from a checkpoint; `log`: Bochs' own, or NULL for that of the bochsrc; `pass`: NULL for the first. */
static int spawn_at(const struct jobs *jobs, struct record_process *process, uint64_t checkpoint, char *log,
		    const char *pass, int out)
{
	static char quick[] = "-q", unlock[] = "-unlock", restore[] = "-r";
	char path[PATH_MAX], *at_checkpoint[] = { quick, unlock, restore, path, log, NULL };
	char **words, *line;
	size_t count = 0;
	int status;

	if (checkpoint > 0)
		return record_checkpoint_path(path, jobs->trace, checkpoint) ?
		       spawn(jobs, process, at_checkpoint, "laplace: ", pass, out) : CLI_FAILED;
	while (jobs->command[count])
		count++;
	words = calloc(count + 3, sizeof(*words));
	if (!words || asprintf(&line, "%s, ", jobs->command[count - 1]) < 0) {
		free(words);
		return cli_complain(CLI_FAILED, "no memory");
	}
	words[0] = unlock;
	memcpy(words + 1, jobs->command, (count - 1) * sizeof(*words));
	words[count] = log;
	status = spawn(jobs, process, words, line, pass, out);
	free(line);
	free(words);
	return status;
}

static int begin_interval(struct jobs *jobs, struct record_process *process, uint64_t interval)
{
	const char *pass = jobs->counted && interval == jobs->made ? "last" : "segment";
	char path[PATH_MAX], log[PATH_MAX + 16], own[PATH_MAX];
	int status = record_part_try(jobs->trace, interval, process->part), out;

	if (status)
		return status;
	if (!record_part_path(path, jobs->trace, process->part, "log") ||
	    !record_part_path(own, jobs->trace, process->part, "bochs.log"))
		return cli_complain(CLI_USAGE, "%s: the path is too long", jobs->trace);
	out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (out < 0)
		return cli_complain(CLI_FAILED, "%s: cannot be made: %s", path, strerror(errno));
	snprintf(log, sizeof(log), "log: \"%s\"", own);
	process->interval = interval;
	status = spawn_at(jobs, process, interval, log, pass, out);
	(void)close(out);
	if (!status)
		jobs->interval[interval].runs = true;
	return status;
}

/* ---- what has ended ---- */

#define WHY_SIZE 512

static int say_end(int status, char why[WHY_SIZE])
{
	return WIFSIGNALED(status) ? snprintf(why, WHY_SIZE, "it was killed by signal %d (%s)", WTERMSIG(status),
					      strsignal(WTERMSIG(status))) :
				     snprintf(why, WHY_SIZE, "it ended with status %d", WEXITSTATUS(status));
}

/* The simulator's own last line; or how it ended, and the last line that anything printed in its place. */
static void say_why(const struct jobs *jobs, const struct record_process *process, char why[WHY_SIZE])
{
	static const char mark[] = "laplace: ";
	const int end = say_end(process->machine.wait_status, why);
	char path[PATH_MAX], *line = NULL;
	size_t room = 0;
	bool own = false;
	FILE *file = record_part_path(path, jobs->trace, process->part, "log") ? fopen(path, "re") : NULL;

	while (file && getline(&line, &room, file) > 0) {
		const bool marked = strncmp(line, mark, strlen(mark)) == 0;
		const int length = (int)strcspn(line, "\n");

		if (marked)
			snprintf(why, WHY_SIZE, "%.*s", length - (int)strlen(mark), line + strlen(mark));
		else if (!own && length > 0)
			snprintf(why + end, (size_t)(WHY_SIZE - end), ": %.*s", length, line);
		own |= marked;
	}
	free(line);
	if (file)
		fclose(file);
}

/* It ended where the first pass had come, and as that did. */
static bool is_as_counted(const struct jobs *jobs, const struct record_process *process)
{
	const struct cli_collection *s = &process->machine.status;

	/* how a launcher ends says nothing: what was traced is known from what the simulator has left last of all */
	if (!jobs->counted || process->interval < jobs->made)
		return record_part_is_whole(jobs->trace, process->part);
	return s->ended && strcmp(s->end, jobs->end.end) == 0 &&
	       s->instructions == jobs->end.instructions && s->references == jobs->end.references &&
	       s->events == jobs->end.events;
}

static void take_interval(struct jobs *jobs, struct record_process *process)
{
	struct interval *interval = &jobs->interval[process->interval];
	char why[WHY_SIZE];

	interval->runs = false;
	if (is_as_counted(jobs, process)) {
		if (jobs->counted && process->interval == jobs->made)
			jobs->last = process->machine.status;
		jobs->failed |= record_part_keep(jobs->trace, process->interval, process->part) != CLI_DONE;
		interval->kept = !jobs->failed;
		jobs->kept += interval->kept;
		return;
	}
	say_why(jobs, process, why);
	if (++interval->tries < TRIES) {
		record_part_discard(jobs->trace, process->part);
		cli_complain(0, "%s: the segment from checkpoint %" PRIu64 " on failed, and is traced again: %s",
			     jobs->options->output, process->interval, why);
		return;
	}
	jobs->failed = true;
	cli_complain(0, "%s: the segment from checkpoint %" PRIu64 " on failed %d times: %s", jobs->options->output,
		     process->interval, TRIES, why);
}

static void take_first(struct jobs *jobs)
{
	const struct cli_collection *s = &jobs->first->machine.status;
	const int how = jobs->first->machine.wait_status;

	jobs->stopped = false;
	if (WIFSIGNALED(how)) {
		jobs->failed = true;
		cli_complain(0, "%s: the first pass was killed by signal %d (%s)", jobs->options->output, WTERMSIG(how),
			     strsignal(WTERMSIG(how)));
		return;
	}
	if (!s->ended || strcmp(s->end, "quit") == 0 || strcmp(s->end, "full") == 0) {
		jobs->failed = true;
		cli_complain(0, "%s: the first pass did not come to its end; its messages above say why",
			     jobs->options->output);
		return;
	}
	while (record_has_checkpoint(jobs->trace, jobs->made + 1))
		jobs->made++;
	jobs->end = *s;
	jobs->counted = true;
	jobs->failed |= record_parts_end(jobs->trace, s, jobs->made) != CLI_DONE;
}

static bool has_just_ended(const struct jobs *jobs, struct record_process *process)
{
	return record_process_runs(process) && record_process_has_ended(&jobs->simulator, process);
}

static void take_ended(struct jobs *jobs)
{
	for (unsigned int i = 0; i < jobs->options->jobs; i++)
		if (has_just_ended(jobs, &jobs->job[i]))
			take_interval(jobs, &jobs->job[i]);
	if (has_just_ended(jobs, jobs->first))
		take_first(jobs);
}

/* ---- what is next ---- */

/* All intervals up to the one that begins at the last checkpoint. */
static bool know_intervals(struct jobs *jobs)
{
	const size_t had = jobs->room;

	while (!jobs->counted && record_has_checkpoint(jobs->trace, jobs->made + 1))
		jobs->made++;
	if (!lpl_reserve(jobs->interval, jobs->room, jobs->made + 1))
		return false;
	if (jobs->room > had)
		memset(jobs->interval + had, 0, (jobs->room - had) * sizeof(*jobs->interval));
	return true;
}

static void remove_checkpoints(struct jobs *jobs)
{
	while (jobs->gone < jobs->made && jobs->interval[jobs->gone].kept && jobs->interval[jobs->gone + 1].kept &&
	       (jobs->counted || jobs->gone + 1 < jobs->made))
		record_checkpoint_remove(jobs->trace, ++jobs->gone);
}

/* The first pass waits while there are too many. */
static void hold_first(struct jobs *jobs)
{
	const bool stops = jobs->made - jobs->gone > jobs->options->jobs + CHECKPOINTS_MORE;

	if (!record_process_runs(jobs->first) || stops == jobs->stopped)
		return;
	(void)kill(jobs->first->machine.pid, stops ? SIGSTOP : SIGCONT);
	jobs->stopped = stops;
}

static void begin_others(struct jobs *jobs)
{
	/* where its end is not known yet, an interval waits */
	const uint64_t most = jobs->counted ? jobs->made + 1 : jobs->made;
	/* the first pass is here, and one of N only where all are */
	unsigned int running = record_process_runs(jobs->first) && !jobs->stopped && !jobs->simulator.launcher;
	uint64_t next = 0;

	for (unsigned int i = 0; i < jobs->options->jobs; i++)
		running += record_process_runs(&jobs->job[i]);
	for (unsigned int i = 0; i < jobs->options->jobs && !jobs->failed; i++) {
		while (next < most && (jobs->interval[next].kept || jobs->interval[next].runs))
			next++;
		if (running >= jobs->options->jobs || next >= most)
			return;
		if (record_process_runs(&jobs->job[i]))
			continue;
		jobs->failed |= begin_interval(jobs, &jobs->job[i], next) != CLI_DONE;
		running++;
	}
}

static void take_signals(struct jobs *jobs)
{
	struct pollfd wait = { .fd = jobs->signal_fd, .events = POLLIN };
	struct signalfd_siginfo info;

	(void)poll(&wait, 1, LOOK_MS);
	/* SIGUSR1 asks for what is in no file yet, and there is no such file */
	while (read(jobs->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		jobs->interrupted |= info.ssi_signo == SIGINT || info.ssi_signo == SIGTERM || info.ssi_signo == SIGHUP;
}

static void show(const struct jobs *jobs, struct cli_progress *progress)
{
	if (!cli_progress_due(progress))
		return;
	cli_progress_line(progress, "%s%" PRIu64 " M instructions, %" PRIu64 " checkpoints, %" PRIu64
			  " segments traced%s", jobs->counted ? "counted: " : "",
			  (jobs->counted ? jobs->end.instructions : jobs->first->machine.status.instructions) / 1000000,
			  jobs->made, jobs->kept, jobs->stopped ? "; the first pass waits for them" : "");
}

static void run(struct jobs *jobs)
{
	struct cli_progress progress;

	cli_progress_start(&progress, jobs->options->progress);
	while (!jobs->failed && !jobs->interrupted && !(jobs->counted && jobs->kept == jobs->made + 1)) {
		if (!know_intervals(jobs)) {
			jobs->failed = true;
			cli_complain(0, "no memory");
			break;
		}
		remove_checkpoints(jobs);
		hold_first(jobs);
		begin_others(jobs);
		take_signals(jobs);
		take_ended(jobs);
		show(jobs, &progress);
	}
	cli_progress_clear(&progress);
	record_processes_end(&jobs->simulator, jobs->first, jobs->options->jobs + 1);
}

/* ---- begin ---- */

int record_jobs_check(const struct record_options *options)
{
	const char *why = NULL;
	struct stat about;

	if (options->resume)
		return CLI_DONE;
	if (strcmp(options->output, "-") == 0)
		why = "standard output is one stream";
	else if (options->checkpoint && strncmp(options->checkpoint, "every:", 6) != 0)
		why = "the parts are those between checkpoints: say --checkpoint every:N";
	else if (strcmp(options->reduce, "none") != 0)
		why = "only every reference (-r none) costs more than the first pass, which such a reduction would be, too";
	else if (*options->control)
		why = "a request at a control socket comes once";
	else if (options->segment && !options->checkpoint && strncmp(options->segment, "instructions:", 13) != 0)
		why = "segments end after so many instructions: say --segment instructions:N";
	else if (options->segment && options->checkpoint)
		why = "segments end at checkpoints, and not by --segment";
	else if (*options->only || *options->windows || *options->snapshot)
		why = "--only, --windows and --snapshot are not for it";
	else if (strstr(options->end, "bytes:") || strstr(options->end, "seconds:"))
		why = "an end by bytes or seconds does not repeat";
	else if (options->debugger)
		why = "Bochs' debugger is one process";
	else if (stat(options->machine, &about) == 0 && !S_ISREG(about.st_mode))
		why = "the bochsrc is read by each of them, and has to be a file";
	else if (stat(options->output, &about) == 0 && !S_ISREG(about.st_mode))
		why = "the trace is several files, with names made of this one: it has to be that of a file";
	return why ? cli_complain(CLI_USAGE, "--jobs: %s", why) : CLI_DONE;
}

/* What a first pass begins with that is not a checkpoint; its line is the last word. */
static int make_command(struct jobs *jobs)
{
	struct record_options options = *jobs->options;
	char *line = record_line(&options, jobs->trace), **argv = NULL, machine[PATH_MAX];
	int status = record_parts_make_way(jobs->trace, options.overwrite);

	if (!status)
		status = record_checkpoints_make_way(jobs->trace, options.overwrite);
	/* it is read again: by whichever directory it is gone on with, and not as our standard input */
	if (realpath(options.machine, machine))
		options.machine = machine;
	if (!status && line)
		argv = record_argv(&options, jobs->simulator.bochs, line);
	if (!status)
		status = argv ? record_parts_begin(jobs->trace, argv + 1) : cli_complain(CLI_FAILED, "no memory");
	if (!status)
		status = record_parts_lock(jobs->trace, &jobs->lock);
	free(argv);
	free(line);
	return status ? status : record_parts_command(jobs->trace, &jobs->command);
}

/* Where it was cut off. */
static int find_state(struct jobs *jobs)
{
	uint64_t first, last;
	char part[PATH_MAX + 8];
	int status = record_parts_lock(jobs->trace, &jobs->lock);

	if (!status)
		status = record_parts_command(jobs->trace, &jobs->command);
	if (status)
		return status;
	record_parts_discard_tries(jobs->trace);
	record_find_checkpoints(jobs->trace, &first, &last);
	jobs->counted = record_parts_ended(jobs->trace, &jobs->end, &jobs->made);
	jobs->joined = jobs->counted && record_parts_are_joined(jobs->trace);
	jobs->last = jobs->end;
	if (!jobs->counted)
		jobs->made = last;
	record_checkpoints_discard(jobs->trace, jobs->made + 1);
	jobs->gone = first ? first - 1 : jobs->counted ? jobs->made : 0;
	if (!know_intervals(jobs))
		return cli_complain(CLI_FAILED, "no memory");
	/* how the last one ended is to be known */
	for (uint64_t i = 0; i < jobs->made; i++)
		jobs->kept += jobs->interval[i].kept = record_part_is_kept(jobs->trace, i);
	/* where there is nothing, the first pass begins once more */
	snprintf(part, sizeof(part), "%s.part", jobs->trace);
	if (!jobs->counted && jobs->made == 0)
		(void)unlink(part);
	return CLI_DONE;
}

static int begin(struct jobs *jobs)
{
	int status = jobs->options->resume ? find_state(jobs) : make_command(jobs);

	if (!status && !jobs->counted)
		status = spawn_at(jobs, jobs->first, jobs->made, NULL, NULL, STDERR_FILENO);
	return status;
}

static void hold_signals(struct jobs *jobs)
{
	sigset_t mask;

	sigemptyset(&mask);
	lpl_add_unless_ignored(&mask, SIGINT);
	lpl_add_unless_ignored(&mask, SIGTERM);
	lpl_add_unless_ignored(&mask, SIGHUP);
	lpl_add_unless_ignored(&mask, SIGUSR1);
	lpl_add_unless_ignored(&mask, SIGUSR2);
	sigaddset(&mask, SIGCHLD);
	sigprocmask(SIG_BLOCK, &mask, &jobs->simulator.signals);
	jobs->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* ---- the end ---- */

static int finish(struct jobs *jobs)
{
	const char *line = jobs->command[0];
	struct machine machine = { .status = jobs->last };
	const double seconds = (double)(lpl_now_ns() - jobs->start_ns) / 1e9;
	int status;

	for (char **word = jobs->command; *word; word++)
		line = *word;
	status = record_parts_join(jobs->trace, jobs->made + 1, &jobs->end, strstr(line, "overwrite=\"on\"") != NULL);
	if (status)
		return status;
	if (jobs->joined)
		cli_complain(0, "%s: was whole already", jobs->options->output);
	machine.status.elapsed_ns = lpl_now_ns() - jobs->start_ns;
	machine.status.mean.instructions = (uint64_t)((double)machine.status.instructions / seconds);
	return record_conclude(jobs->options, &machine, jobs->trace);
}

/* It did not come to its end. */
static int stop(const struct jobs *jobs)
{
	const struct record_options *options = jobs->options;

	/* where there is no checkpoint, the command itself begins it once more */
	if (!jobs->interrupted && !options->resume && jobs->made == 0) {
		record_parts_give_up(jobs->trace, jobs->first->machine.status.updates > 0);
		return cli_complain(CLI_FAILED, "%s: failed before the first checkpoint; nothing is kept",
				    options->output);
	}
	return cli_complain(CLI_FAILED, "%s: %s; %" PRIu64 " segments are whole, and laplace record --resume %s "
			    "--jobs %u goes on", options->output, jobs->failed ? "failed" : "interrupted", jobs->kept,
			    options->output, options->jobs);
}

int record_jobs(const struct record_options *options, const char *bochs, const char *trace)
{
	struct jobs jobs = {
		.options = options, .trace = trace, .simulator = { .trace = trace, .launcher = options->launcher },
		.signal_fd = -1, .lock = -1, .start_ns = lpl_now_ns()
	};
	int status = CLI_DONE;

	jobs.first = calloc(options->jobs + 1, sizeof(*jobs.first));
	if (!jobs.first || asprintf(&jobs.simulator.bochs, "%s-all", bochs) < 0)
		return cli_complain(CLI_FAILED, "no memory");
	jobs.job = jobs.first + 1;
	for (unsigned int i = 0; i <= options->jobs; i++)
		jobs.first[i].machine.pid = -1;
	if (access(jobs.simulator.bochs, X_OK) < 0)
		status = cli_complain(CLI_FAILED, "%s: %s: it is the simulator that logs every reference", jobs.simulator.bochs,
				      strerror(errno));
	hold_signals(&jobs);
	if (!status)
		status = begin(&jobs);
	if (!status && !jobs.joined)
		run(&jobs);
	if (!status)
		status = jobs.failed || jobs.interrupted ? stop(&jobs) : finish(&jobs);
	if (jobs.lock >= 0)
		(void)close(jobs.lock);
	if (jobs.signal_fd >= 0)
		(void)close(jobs.signal_fd);
	if (jobs.command)
		free(jobs.command[0]);
	free(jobs.command);
	free(jobs.interval);
	free(jobs.simulator.bochs);
	free(jobs.first);
	return status;
}

int record_jobs_resume(struct record_options *options)
{
	char trace[PATH_MAX], *bochs = NULL;
	int status = record_parts_find(options->resume, trace);

	options->output = options->resume;
	if (!status && record_parts_are_forked(trace))
		return options->launcher ? cli_complain(CLI_USAGE, "%s: its processes were forked, and a launcher has nothing to "
							"start", options->output) :
					   record_forks_resume(options, trace);
	if (!status)
		status = find_bochs(&bochs, options->bochs);
	if (!status)
		status = record_jobs(options, bochs, trace);
	free(bochs);
	return status;
}
