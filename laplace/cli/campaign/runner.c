/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Jobs, several at once: each a `laplace' of its own, in a process group of its own.  What it
 * reads and writes is handed to it as paths, and no shell is in between.
 *
 * All that happens comes as a signal that is waited for: a child ended, or a person wants no
 * more.  A job's lock is inherited by its process, so that it is held as long as that lives, even
 * if we do not; and a process that loses us is told to end.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/host.h"
#include "campaign.h"
#include "cli/progress.h"
#include "cli/say.h"

#define PATIENCE 15		/* seconds from SIGTERM to SIGKILL: a trace is closed meanwhile */
#define ANOTHER_LOOK 1		/* seconds, while others make what we wait for */

/* A job that runs. */
struct child {
	pid_t pid;		/* 0: none */
	size_t job;
	struct claim claim;
	uint64_t begun_ns;
};

struct runner {
	struct jobs *jobs;
	const struct store *store;
	const struct runner_options *options;
	struct tally *tally;
	struct child *child;
	unsigned int running;
	bool others;		/* make what is left */
	uint64_t stopped_ns;	/* since a signal came */
	sigset_t taken, before;
	struct cli_progress progress;
};

/* ---- a child's side ---- */

/* The words, with paths for what stands for them; NULL: no memory.  Never freed but by exec(). */
static char **arguments(const struct runner *runner, const struct job *job, const char *directory)
{
	char **argv = calloc(job->words.count + 2, sizeof(*argv));
	char *output, *input;

	if (!argv || asprintf(&output, "%s/trace.lpl", directory) < 0)
		return NULL;
	input = job->needs == JOB_NONE ? job->trace :
		store_path(runner->store, &runner->jobs->job[job->needs], "trace.lpl", false);
	argv[0] = (char[]){ "laplace" };
	for (size_t i = 0; i < job->words.count; i++) {
		char *word = job->words.word[i];

		argv[i + 1] = strcmp(word, JOB_INPUT) == 0 ? input :
			      strcmp(word, JOB_OUTPUT) == 0 ? output : word;
	}
	return argv;
}

static bool redirect(int fd, const char *directory, const char *name)
{
	int flags = fd == STDIN_FILENO ? O_RDONLY : O_WRONLY | O_CREAT | O_EXCL;
	char *path;
	int opened;

	if (asprintf(&path, "%s/%s", directory, name) < 0)
		return false;
	opened = open(path, flags, 0666);
	free(path);
	return opened >= 0 && dup2(opened, fd) == fd && (opened == fd || close(opened) == 0);
}

static void become(const struct runner *runner, const struct child *child, pid_t parent)
	__attribute__((noreturn));

static void become(const struct runner *runner, const struct child *child, pid_t parent)
{
	const struct job *job = &runner->jobs->job[child->job];
	char **argv = arguments(runner, job, child->claim.directory);

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	sigprocmask(SIG_SETMASK, &runner->before, NULL);
	/* it may be gone already */
	if (argv && getppid() == parent && redirect(STDIN_FILENO, "/dev", "null") &&
	    redirect(STDOUT_FILENO, child->claim.directory, "stdout") &&
	    redirect(STDERR_FILENO, child->claim.directory, "stderr") &&
	    fcntl(child->claim.lock, F_SETFD, 0) == 0)
		execv("/proc/self/exe", argv);
	dprintf(STDERR_FILENO, "laplace campaign: the job could not be begun: %s\n",
		strerror(errno));
	_exit(126);
}

/* ---- beginning ---- */

static struct child *free_child(const struct runner *runner)
{
	for (unsigned int i = 0; i < runner->options->jobs; i++) {
		if (!runner->child[i].pid)
			return &runner->child[i];
	}
	return NULL;
}

static bool write_file(const char *directory, const char *name, const char *text)
{
	char *path;
	FILE *file;
	bool written;

	if (asprintf(&path, "%s/%s", directory, name) < 0)
		return false;
	file = fopen(path, "we");
	free(path);
	written = file && fputs(text, file) >= 0;
	return file && fclose(file) == 0 && written;
}

/* "KIND SOURCE ...: what is wrong". */
static void complain_of(struct runner *runner, const struct job *job, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void complain_of(struct runner *runner, const struct job *job, const char *format, ...)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	va_list args;

	cli_progress_clear(&runner->progress);
	if (out) {
		va_start(args, format);
		job_say(job, out);
		fputs(": ", out);
		vfprintf(out, format, args);
		va_end(args);
		fclose(out);
	}
	cli_complain(CLI_FAILED, "%s", text ? text : job->identity);
	free(text);
}

/* A result is filed by what went into it, which somebody may change at any time. */
static bool is_still(struct runner *runner, struct job *job, bool ran)
{
	char what[256];
	bool still = jobs_still(runner->jobs, job, ran, what, sizeof(what));

	if (!still)
		complain_of(runner, job, "%s changed %s: nothing of it is kept; run the campaign again",
			    what, ran ? "while it ran" : "since the campaign began");
	return still;
}

static int begin(struct runner *runner, size_t index, struct child *child)
{
	struct job *job = &runner->jobs->job[index];
	pid_t parent = getpid();

	child->job = index;
	child->begun_ns = lpl_now_ns();
	if (!write_file(child->claim.directory, "job", job->about))
		return cli_complain(CLI_FAILED, "%s/job: %s", child->claim.directory,
				    strerror(errno));
	child->pid = fork();
	if (child->pid == 0)
		become(runner, child, parent);
	if (child->pid < 0) {
		child->pid = 0;
		return cli_complain(CLI_FAILED, "fork: %s", strerror(errno));
	}
	setpgid(child->pid, child->pid);	/* whoever of us is first */
	job->state = JOB_RUNNING;
	runner->running++;
	return CLI_DONE;
}

/* By us: what stands in the campaign twice is made once. */
static bool is_made(const struct jobs *jobs, const char *identity)
{
	for (size_t i = 0; i < jobs->count; i++) {
		if (jobs->job[i].state == JOB_MADE &&
		    strcmp(jobs->job[i].identity, identity) == 0)
			return true;
	}
	return false;
}

/* Begin it if that can be done now.  Returns an exit status. */
static int try_job(struct runner *runner, size_t index)
{
	struct child *child = free_child(runner);
	struct job *job = &runner->jobs->job[index];
	int status;

	switch (store_claim(runner->store, job, &child->claim)) {
	case CLAIM_DONE:
		job->state = is_made(runner->jobs, job->identity) ? JOB_MADE : JOB_DONE;
		return CLI_DONE;
	case CLAIM_OTHERS:
		runner->others = true;
		return CLI_DONE;
	case CLAIM_FAILED:
		return CLI_FAILED;
	default:
		break;
	}
	if (!is_still(runner, job, false)) {
		store_drop(runner->store, job, &child->claim, false);
		job->state = JOB_FAILED;
		return CLI_DONE;
	}
	status = begin(runner, index, child);
	if (status)
		store_drop(runner->store, job, &child->claim, false);
	return status;
}

static bool is_over(enum job_state state)
{
	return state != JOB_TO_DO && state != JOB_RUNNING;
}

/* As many as there is room for.  Returns an exit status. */
static int begin_jobs(struct runner *runner)
{
	struct jobs *jobs = runner->jobs;
	int status = CLI_DONE;

	runner->others = false;
	for (size_t i = 0; !status && i < jobs->count && runner->running < runner->options->jobs;
	     i++) {
		struct job *job = &jobs->job[i];
		enum job_state needed = job->needs == JOB_NONE ? JOB_DONE :
								 jobs->job[job->needs].state;

		if (job->state != JOB_TO_DO || !is_over(needed))
			continue;
		if (needed == JOB_DONE || needed == JOB_MADE)
			status = try_job(runner, i);
		else
			job->state = JOB_WAITING;
	}
	return status;
}

/* ---- ending ---- */

static bool write_times(const struct child *child, const struct rusage *used, const char *host)
{
	char text[512];
	double seconds = (double)(lpl_now_ns() - child->begun_ns) / 1e9;

	snprintf(text, sizeof(text),
		 "seconds %.3f\nuser %.3f\nsystem %.3f\nmemory %ld\nhost %.200s\n", seconds,
		 (double)used->ru_utime.tv_sec + (double)used->ru_utime.tv_usec / 1e6,
		 (double)used->ru_stime.tv_sec + (double)used->ru_stime.tv_usec / 1e6,
		 used->ru_maxrss, host);
	return write_file(child->claim.directory, "times", text);
}

/* Of what it printed, so that nobody takes what has changed since for its result. */
static bool write_sum(const struct child *child)
{
	char sum[HASH_SIZE], *path;
	bool written;

	if (asprintf(&path, "%s/stdout", child->claim.directory) < 0)
		return false;
	written = hash_file(sum, path) == CLI_DONE &&
		  write_file(child->claim.directory, "sum", sum);
	free(path);
	return written;
}

static void complain_failed(struct runner *runner, const struct job *job, int status)
{
	char *path = store_path(runner->store, job, "stderr", true);
	const char *said = path ? path : "failed";

	if (WIFSIGNALED(status))
		complain_of(runner, job, "was ended by signal %d (%s); %s has what it said",
			    WTERMSIG(status), strsignal(WTERMSIG(status)), said);
	else
		complain_of(runner, job, "failed with status %d; %s has what it said",
			    WEXITSTATUS(status), said);
	free(path);
}

static int end_child(struct runner *runner, struct child *child, int status,
		     const struct rusage *used)
{
	struct job *job = &runner->jobs->job[child->job];
	bool whole = WIFEXITED(status) && WEXITSTATUS(status) == 0;
	int result = CLI_DONE;

	child->pid = 0;
	runner->running--;
	if (whole && !write_times(child, used, runner->store->host))
		whole = cli_complain(0, "%s/times: %s", child->claim.directory, strerror(errno));
	if (whole && !write_sum(child))
		whole = cli_complain(0, "%s/sum: cannot be written", child->claim.directory);
	if (whole && is_still(runner, job, true)) {
		result = store_keep(runner->store, job, &child->claim);
		job->state = result ? JOB_FAILED : JOB_MADE;
	} else if (whole) {
		store_drop(runner->store, job, &child->claim, false);
		job->state = JOB_FAILED;
	} else if (runner->tally->signal) {
		store_drop(runner->store, job, &child->claim, false);
		job->state = JOB_TO_DO;
	} else {
		store_drop(runner->store, job, &child->claim, true);
		complain_failed(runner, job, status);
		job->state = JOB_FAILED;
	}
	return result;
}

static int end_children(struct runner *runner)
{
	struct rusage used;
	int status, result = CLI_DONE;
	pid_t pid;

	while ((pid = wait4(-1, &status, WNOHANG, &used)) > 0) {
		for (unsigned int i = 0; i < runner->options->jobs; i++) {
			if (runner->child[i].pid == pid &&
			    end_child(runner, &runner->child[i], status, &used))
				result = CLI_FAILED;
		}
	}
	return result;
}

static void signal_children(const struct runner *runner, int signal)
{
	for (unsigned int i = 0; i < runner->options->jobs; i++) {
		if (runner->child[i].pid)
			kill(-runner->child[i].pid, signal);
	}
}

/* ---- waiting ---- */

static void show(struct runner *runner)
{
	const struct tally *tally = runner->tally;
	size_t over = 0, failed = 0;

	for (size_t i = 0; i < runner->jobs->count; i++) {
		over += is_over(runner->jobs->job[i].state);
		failed += runner->jobs->job[i].state == JOB_FAILED;
	}
	cli_progress_line(&runner->progress, "%zu of %zu jobs, %u running%s%s%s", over,
			  runner->jobs->count, runner->running, failed ? ", some failed" : "",
			  runner->others ? ", others make more" : "",
			  tally->signal ? ", being stopped" : "");
}

/* Until something happens.  Returns an exit status. */
static int await(struct runner *runner)
{
	const struct timespec pause = { .tv_sec = ANOTHER_LOOK };
	bool looks = runner->progress.on || runner->others || runner->tally->signal;
	siginfo_t info;
	int signal;

	if (cli_progress_due(&runner->progress))
		show(runner);
	signal = looks ? sigtimedwait(&runner->taken, &info, &pause) :
			 sigwaitinfo(&runner->taken, &info);
	if (signal > 0 && signal != SIGCHLD) {
		/* twice: at once */
		signal_children(runner, runner->tally->signal ? SIGKILL : SIGTERM);
		if (!runner->tally->signal)
			runner->stopped_ns = lpl_now_ns();
		runner->tally->signal = signal;
	}
	if (runner->tally->signal &&
	    lpl_now_ns() - runner->stopped_ns > PATIENCE * UINT64_C(1000000000))
		signal_children(runner, SIGKILL);
	return end_children(runner);
}

static bool is_left(const struct runner *runner)
{
	for (size_t i = 0; i < runner->jobs->count; i++) {
		if (runner->jobs->job[i].state == JOB_TO_DO)
			return true;
	}
	return false;
}

static int run(struct runner *runner)
{
	int status = CLI_DONE;

	for (;;) {
		if (!status && !runner->tally->signal)
			status = begin_jobs(runner);
		/* what cannot be begun may be what is over already */
		if (!runner->running && (status || runner->tally->signal || !is_left(runner)))
			return status;
		if (!runner->running && !runner->others)
			continue;	/* something was over that others wait for */
		if (await(runner) && !status)
			status = CLI_FAILED;
	}
}

/* Without those that are not asked for. */
static void choose(struct jobs *jobs, const struct store *store, size_t only)
{
	for (size_t i = 0; i < jobs->count; i++) {
		bool asked = only == JOB_NONE || only == i;

		jobs->job[i].state = store_has(store, &jobs->job[i]) ? JOB_DONE :
				     asked ? JOB_TO_DO : JOB_WAITING;
	}
}

static void count(const struct jobs *jobs, struct tally *tally)
{
	for (size_t i = 0; i < jobs->count; i++) {
		enum job_state state = jobs->job[i].state;

		tally->done += state == JOB_DONE;
		tally->made += state == JOB_MADE;
		tally->failed += state == JOB_FAILED;
		tally->waiting += state == JOB_WAITING || state == JOB_TO_DO;
	}
}

int runner_run(struct jobs *jobs, const struct store *store, const struct runner_options *options,
	       struct tally *tally)
{
	struct runner runner = {
		.jobs = jobs, .store = store, .options = options, .tally = tally
	};
	int status;

	runner.child = calloc(options->jobs, sizeof(*runner.child));
	if (!runner.child)
		return cli_complain(CLI_FAILED, "no memory");
	sigemptyset(&runner.taken);
	sigaddset(&runner.taken, SIGCHLD);
	lpl_add_unless_ignored(&runner.taken, SIGINT);
	lpl_add_unless_ignored(&runner.taken, SIGTERM);
	lpl_add_unless_ignored(&runner.taken, SIGHUP);
	sigprocmask(SIG_BLOCK, &runner.taken, &runner.before);
	cli_progress_start(&runner.progress, (enum cli_when)options->progress);
	choose(jobs, store, options->only);
	status = run(&runner);
	cli_progress_clear(&runner.progress);
	sigprocmask(SIG_SETMASK, &runner.before, NULL);
	count(jobs, tally);
	free(runner.child);
	return status;
}
