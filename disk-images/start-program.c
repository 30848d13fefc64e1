/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * start-program: the workload of `laplace run`.  Runs one program on a disk that has all it
 * needs, as it would have run on the machine that it was taken from, and hands on what it prints
 * and how it ends.
 *
 * The disk's /.laplace/program says what to run, in fields that a null byte ends each: seconds
 * that it may take (0: any number), seconds that what it leaves may take after it, megabytes of
 * swap (0: none), the seed of random numbers (seed.h), the events that are chosen (empty: those that
 * always are), megabytes of memory that are to be
 * available to it (0: all), user, group, umask (octal), the disk's own init (empty: none),
 * working directory, file, how many arguments, these, and the environment.  Of supplementary
 * groups it has none.
 *
 * It runs in a PID namespace, and all that it leaves ends with that.  Process 1 there is one of
 * ours, which does nothing; or the disk's own init, which is systemd, as in a container, where
 * it leaves the machine's devices alone.  That runs us again as a service, which says when it
 * has reached its default target.  The program itself is a child of ours that enters the
 * namespace, and we stay out of it: how the program ended we know from the kernel, and nothing
 * that runs in there can report that in our place.
 *
 * Its standard input is /.laplace/stdin; what it prints, and how it ended, goes to the host by
 * a disk of its own (output.c).  Collection goes from its exec, if it was not on before, to its
 * end.
 *
 * Exit status: 0 the program was run, however it ended; 1 it could not be.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "seed.h"
#include "start-program.h"

#define MOST_FILES 64	/* that are open here, by far */

enum { STATUS_CANNOT = 126, STATUS_NOT_FOUND = 127, STATUS_SIGNAL = 128 };

/* fail() has to find it. */
static struct output *output;
static pid_t writer;	/* of it: no child of ours */

void fail(const char *format, ...)
{
	int problem = errno;
	va_list arguments;
	char why[300];
	size_t length;

	va_start(arguments, format);
	vsnprintf(why, sizeof(why), format, arguments);
	va_end(arguments);
	length = strlen(why);
	snprintf(why + length, sizeof(why) - length, ": %s", strerror(problem));
	printf("start-program: %s\n", why);
	if (writer == getpid())
		(void)output_close(output, LOG_FAILED, 0, why);
	exit(1);
}

/* ---- what to run ---- */

static char *read_file(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *text;
	ssize_t got;

	if (fd < 0 || fstat(fd, &st) < 0)
		fail("%s", path);
	text = malloc((size_t)st.st_size + 1);
	got = text ? read(fd, text, (size_t)st.st_size) : -1;
	if (got != st.st_size)
		fail("%s", path);
	close(fd);
	text[got] = '\0';
	*size = (size_t)got;
	return text;
}

/* The next field, which has to be there. */
static char *field(char **at, const char *end)
{
	char *begin = *at;

	if (begin >= end) {
		errno = EINVAL;
		fail("%sprogram", HERE);
	}
	*at += strlen(begin) + 1;
	return begin;
}

/* `count` of them, and NULL. */
static char **fields(char **at, const char *end, size_t count)
{
	char **list = calloc(count + 1, sizeof(*list));

	if (!list)
		fail("%zu arguments", count);
	for (size_t i = 0; i < count; i++)
		list[i] = field(at, end);
	return list;
}

static size_t fields_left(const char *at, const char *end)
{
	size_t count = 0;

	for (; at < end; at += strlen(at) + 1)
		count++;
	return count;
}

static void read_program(struct program *program, const char *path)
{
	size_t size;
	char *at = read_file(path, &size);
	const char *end = at + size;

	program->seconds = (unsigned int)strtoul(field(&at, end), NULL, 10);
	program->linger = (unsigned int)strtoul(field(&at, end), NULL, 10);
	program->swap = (unsigned int)strtoul(field(&at, end), NULL, 10);
	program->seed = strtoul(field(&at, end), NULL, 10);
	program->events = field(&at, end);
	program->memory = (unsigned int)strtoul(field(&at, end), NULL, 10);
	program->user = (uid_t)strtoul(field(&at, end), NULL, 10);
	program->group = (gid_t)strtoul(field(&at, end), NULL, 10);
	program->mask = (mode_t)strtoul(field(&at, end), NULL, 8);
	program->init = field(&at, end);
	program->directory = field(&at, end);
	program->file = field(&at, end);
	program->argument = fields(&at, end, strtoul(field(&at, end), NULL, 10));
	program->environment = fields(&at, end, fields_left(at, end));
}

static void free_program(struct program *program)
{
	free(program->argument);
	free(program->environment);
}

/* ---- running it ---- */

/* Say why on what is its stderr by now, with the status that a shell would give. */
static _Noreturn void cannot(const char *what)
{
	int problem = errno;

	dprintf(STDERR_FILENO, "%s: %s\n", what, strerror(problem));
	_exit(problem == ENOENT ? STATUS_NOT_FOUND : STATUS_CANNOT);
}

void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)!write(fd, text, strlen(text));
	close(fd);
}

/* A child of ours becomes the program. */
static _Noreturn void become(const struct run *run, const int output_to[2])
{
	const struct program *program = run->program;
	sigset_t none;
	int input;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(output_to[1], STDERR_FILENO) < 0 || dup2(output_to[0], STDOUT_FILENO) < 0)
		_exit(STATUS_CANNOT);
	/* signals that it sends to its group are none of ours */
	setsid();
	write_file("/proc/self/oom_score_adj", "0");
	if (run->mounts < 0 ? chroot(ROOT) < 0 : setns(run->mounts, CLONE_NEWNS) < 0)
		cannot("namespace");
	if (run->mounts >= 0)
		write_file("/sys/fs/cgroup/system.slice/laplace.service/cgroup.procs", "0");
	input = open(HERE "stdin", O_RDONLY);
	if (input < 0 || dup2(input, STDIN_FILENO) < 0)
		cannot("standard input");
	close(input);
	if (chdir(program->directory) < 0)
		cannot(program->directory);
	umask(program->mask);
	if (setgroups(0, NULL) < 0 || setgid(program->group) < 0 || setuid(program->user) < 0)
		cannot("user and group");
	if (run->tracer >= 0 && write(run->tracer, "start", 5) < 0)
		cannot("/dev/laplace");
	execve(program->file, program->argument, program->environment);
	cannot(program->file);
}

static uint32_t exit_status(int wait_status)
{
	return (uint32_t)(WIFEXITED(wait_status) ? WEXITSTATUS(wait_status)
						 : STATUS_SIGNAL + WTERMSIG(wait_status));
}

/*
 * Pipes, and not files: the program may open /dev/stdout again, which of a file would be from the
 * beginning.
 */
static void begin(struct run *run)
{
	int to[2];

	for (int i = 0; i < 2; i++) {
		int ends[2];

		if (pipe2(ends, O_CLOEXEC) < 0 ||
		    fchown(ends[1], run->program->user, run->program->group) < 0 ||
		    fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0)
			fail("pipe");
		run->pipe[i] = ends[0];
		to[i] = ends[1];
	}
	run->begun = output_now();
	run->child = fork();
	if (run->child < 0)
		fail("fork");
	if (run->child == 0)
		become(run, to);
	close(to[0]);
	close(to[1]);
}

void reap(struct run *run, int flags)
{
	struct signalfd_siginfo signal;
	pid_t ended;
	int status;

	while (read(run->signals, &signal, sizeof(signal)) > 0)
		;
	while ((ended = waitpid(-1, &status, flags)) > 0) {
		if (ended == run->init)
			run->init = 0;
		if (ended == run->child) {
			run->child = 0;
			run->how = LOG_ENDED;
			run->status = exit_status(status);
		}
	}
}

/* What the program prints; false: no more of it can be taken. */
static bool take(struct run *run, int stream)
{
	switch (output_take(output, run->pipe[stream - 1], (uint32_t)stream)) {
	case OUTPUT_FULL:
		return false;
	case OUTPUT_FAILED:
		fail("what the program prints cannot be written");
	case OUTPUT_OVER:
		close(run->pipe[stream - 1]);
		run->pipe[stream - 1] = -1;
		break;
	default:
		break;
	}
	return true;
}

static bool flush(void)
{
	enum output_result result = output_flush(output);

	if (result == OUTPUT_FAILED)
		fail("what the program prints cannot be written");
	return result == OUTPUT_TAKEN;
}

static int least(int a, int b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

/* Milliseconds until so many seconds have passed since then; 0: they have; -1: of 0 seconds. */
static int left(uint64_t since, unsigned int seconds)
{
	uint64_t passed = output_now() - since, allowed = (uint64_t)seconds * 1000;

	if (seconds == 0)
		return -1;
	if (passed >= allowed)
		return 0;
	return allowed - passed > 1000000 ? 1000000 : (int)(allowed - passed);
}

/* Wait for something to happen until then, and see to it; false: no room for more output. */
static bool wait_and_take(struct run *run, int until)
{
	struct pollfd fds[] = {
		{ .fd = run->signals, .events = POLLIN },
		{ .fd = run->pipe[0], .events = POLLIN },
		{ .fd = run->pipe[1], .events = POLLIN },
	};

	if (poll(fds, 3, least(until, output_due(output))) > 0) {
		for (int stream = 1; stream <= 2; stream++)
			if (fds[stream].revents && !take(run, stream))
				return false;
		if (fds[0].revents)
			reap(run, WNOHANG);
	}
	return output_due(output) != 0 || flush();
}

/* Until the program has ended, or its time, or all that it left has. */
static void watch(struct run *run)
{
	const struct program *program = run->program;
	uint64_t ended;
	int until = 0;

	while (run->child != 0) {
		until = left(run->begun, program->seconds);
		if (until == 0)
			run->how = LOG_LATE;
		else if (!wait_and_take(run, until))
			run->how = LOG_FULL;
		if (run->child != 0 && run->how != LOG_NOT_YET)
			return;
	}
	ended = output_now();
	if (program->linger != 0)
		close(run->hold);
	while (program->linger != 0 && until != 0 && run->init != 0 && run->how == LOG_ENDED) {
		until = least(left(run->begun, program->seconds), left(ended, program->linger));
		if (until != 0 && !wait_and_take(run, until))
			run->how = LOG_FULL;
	}
}

/* What is in the pipes, when nothing is left that could write to them. */
static void drain(struct run *run)
{
	for (int stream = 1; stream <= 2; stream++) {
		enum output_result result = OUTPUT_TAKEN;

		while (run->pipe[stream - 1] >= 0 && result == OUTPUT_TAKEN)
			result = output_take(output, run->pipe[stream - 1], (uint32_t)stream);
		if (result == OUTPUT_FULL)
			run->how = LOG_FULL;
		if (result == OUTPUT_FAILED)
			fail("what the program printed cannot be read");
	}
	if (run->how != LOG_FULL && !flush())
		run->how = LOG_FULL;
}

/* As laplace-ctl says it: that the machine is ready, and may be saved here, for others to begin with; or that it may go. */
static void say(const struct run *run, const char *what)
{
	if (run->tracer >= 0 && write(run->tracer, what, strlen(what)) < 0)
		fail("/dev/laplace");
}

/* From its exec to its status. */
static void run_program(struct run *run)
{
	begin(run);
	watch(run);
	say(run, "stop");
	/* with it all that there is in the namespace, and nothing gets out of that */
	if (run->init != 0)
		kill(run->init, SIGKILL);
	run->child = 0;
	reap(run, 0);
	drain(run);
}

static int open_signals(void)
{
	sigset_t awaited;
	int fd;

	sigemptyset(&awaited);
	sigaddset(&awaited, SIGCHLD);
	sigprocmask(SIG_BLOCK, &awaited, NULL);
	fd = signalfd(-1, &awaited, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		fail("signalfd");
	return fd;
}

/* Process 1, for those that lost their parents: it leaves no zombies. */
static _Noreturn void stay(int hold)
{
	char nothing;

	signal(SIGCHLD, SIG_IGN);
	mount_proc();
	/* nothing of ours is to be had from us */
	for (int fd = STDERR_FILENO + 1; fd < MOST_FILES; fd++)
		if (fd != hold)
			close(fd);
	(void)!read(hold, &nothing, 1);
	while (wait(NULL) > 0 || errno == EINTR)
		;
	_exit(0);
}

/* Which says that it is ready by closing its end of a pipe. */
static void begin_init(struct run *run)
{
	int ready[2], hold[2];
	char nothing;

	if (unshare(CLONE_NEWPID) < 0 || pipe2(ready, O_CLOEXEC) < 0 || pipe2(hold, O_CLOEXEC) < 0)
		fail("PID namespace");
	fflush(stdout);
	run->init = fork();
	if (run->init < 0)
		fail("fork");
	if (run->init == 0) {
		close(hold[1]);
		stay(hold[0]);
	}
	close(ready[1]);
	close(hold[0]);
	(void)!read(ready[0], &nothing, 1);
	close(ready[0]);
	run->hold = hold[1];
}

/* Before anything runs, for the module may refuse. */
static void choose_events(const struct run *run)
{
	char command[256];
	int length = snprintf(command, sizeof(command), "events %s", run->program->events);

	if (length >= (int)sizeof(command) || write(run->tracer, command, (size_t)length) < 0)
		fail("the events");
}

int main(int count, char **argument)
{
	struct run run = { .mounts = -1, .hold = -1 };
	struct program program;

	if (count > 1)
		serve(argument[1]);
	run.tracer = open("/dev/laplace", O_WRONLY | O_CLOEXEC);
	/* until here all programs and disks have the same machine, which may have been saved */
	await_drives();
	say(&run, "ready");
	run.program = &program;
	output = begin_output();
	writer = getpid();
	mount_all();
	read_program(&program, ROOT HERE "program");
	if (program.swap != 0)
		begin_swap();
	if (program.seed != 0 && seed_random(program.seed) < 0)
		fail("the seed");
	if (program.events[0] != '\0')
		choose_events(&run);
	begin_loopback();
	/* whatever else is killed for want of memory, it is not us */
	write_file("/proc/self/oom_score_adj", "-1000");
	run.signals = open_signals();
	if (program.init[0] != '\0') {
		boot(&run);
		/* until here, which may take long, it is the same whenever this program and this disk are */
		say(&run, "ready");
	} else {
		begin_init(&run);
	}
	leave_memory(program.memory, output);
	run_program(&run);
	unmount_all();
	/* the last: by now all is on the disk, too */
	if (!output_close(output, run.how, run.status, ""))
		fail("how the program ended cannot be written");
	/* nothing is left to do, and a machine that is switched off properly takes a while */
	say(&run, "quit");
	free_program(&program);
	return 0;
}
