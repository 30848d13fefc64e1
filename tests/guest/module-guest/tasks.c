/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tasks: fork and what it shares, threads, exec by a thread, which tasks wait and why. */
#include "guest.h"

#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>

/* Frames before and after, on both sides of a fork. */
static void forks(void)
{
	volatile char *page = map(NULL, 4 * PAGE, RW, PRIVATE, -1, 0);
	char *wiped = map(NULL, PAGE, RW, PRIVATE, -1, 0);
	char *kept = map(NULL, PAGE, RW, PRIVATE, -1, 0);
	uint64_t before, zero;
	pid_t child;
	int status;

	mark("first write after a read");
	(void)page[PAGE];
	zero = frame(page + PAGE);
	page[PAGE] = 1;
	expect_cow(page + PAGE, zero, frame(page + PAGE));

	call(madvise(wiped, PAGE, MADV_WIPEONFORK), "madvise");
	call(madvise(kept, PAGE, MADV_DONTFORK), "madvise");
	*wiped = 1;
	page[0] = 1;
	before = frame(page);
	/* No other process could have it. */
	say("refuse PAGE_OWN");
	mark("fork");
	child = fork_or_die();
	if (!child) {
		say("expect SPACE_DUPLICATE - @%d", getpid());
		say("expect TASK_CREATE %x %x - - \"guest\"", getpid(), getpid());
		say("expect SCHEDULE - - %x %x - \"guest\"", getpid(), getpid());
		say("expect UNMAP @%d %lx %lx", getpid(), (uintptr_t)kept,
		    (uintptr_t)kept + PAGE);
		expect_map(wiped, PAGE, 3, KTR_MAP_ANONYMOUS, NULL, 0, "");
		list_maps();
		mark("child writes");
		if (frame(page) != before)
			die("not shared with the parent");
		page[0] = 2;
		expect_cow(page, before, frame(page));
		if (frame(page) == before)
			die("not copied");
		mark("child touches a new page");
		page[2 * PAGE] = 1;
		say("expect PAGE_OWN @%d %lx %" PRIx64 " 1", getpid(),
		    (uintptr_t)page + 2 * PAGE, frame(page + 2 * PAGE));
		_exit(3);
	}
	if (waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
	    WEXITSTATUS(status) != 3)
		die("fork");
	say("expect EXIT %x %x 300 1", child, child);
	say("expect SPACE_END -");
	mark("the last sharer writes");
	page[0] = 3;
	if (frame(page) != before)
		die("copied though alone");
	expect_cow(page, before, before);
	page[3 * PAGE] = 1;
	say("refuse PAGE_OWN");
	list_maps();
}

/* A page that a device may write to is copied when the process forks. */
static void pinned(void)
{
	volatile char *page = map(NULL, 2 * PAGE, RW, PRIVATE, -1, 0);
	struct iovec buffer = { (void *)page, PAGE };
	char parameters[120] = { 0 };
	uint64_t before;
	pid_t child;
	int ring;

	page[0] = page[PAGE] = 1;
	ring = call((int)syscall(SYS_io_uring_setup, 1, parameters), "io_uring_setup");
	call((int)syscall(SYS_io_uring_register, ring, 0, &buffer, 1), "io_uring_register");
	mark("fork with a pinned page");
	before = frame(page);
	child = fork_or_die();
	if (!child) {
		if (frame(page) == before)
			die("not copied at once");
		say("expect PAGE_OWN @%d %lx %" PRIx64 " 1", getpid(), (uintptr_t)page,
		    frame(page));
		say("refuse PAGE_OWN @%d %lx", getpid(), (uintptr_t)page + PAGE);
		_exit(0);
	}
	join(child, "pinned");
	close(ring);
}

static int thread(void *unused)
{
	(void)unused;
	syscall(SYS_exit, 5);
	return 0;
}

static void threads(void)
{
	char *stack = map(NULL, 16 * PAGE, RW, PRIVATE, -1, 0);
	int tid = 0;
	char path[64];
	int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
		    CLONE_SYSVSEM | CLONE_PARENT_SETTID;

	mark("thread");
	if (clone(thread, stack + 16 * PAGE, flags, NULL, &tid, NULL, NULL) < 0)
		die("clone");
	/* It is a task of this process for as long as it has not exited. */
	snprintf(path, sizeof(path), "/proc/self/task/%d", tid);
	while (!access(path, F_OK))
		sched_yield();
	say("expect TASK_CREATE %x %x - %x - - - - \"guest\"", tid, getpid(),
	    (unsigned int)flags);
	say("expect EXIT %x %x 500 0", tid, getpid());
	list_maps();
}

static int executor(void *unused)
{
	(void)unused;
	execl("/guest", "/guest", (char *)NULL);
	die("exec by a thread");
	return 1;
}

/* A thread that executes another program becomes its process. */
static void thread_executes(void)
{
	char *stack = map(NULL, 16 * PAGE, RW, PRIVATE, -1, 0);
	int tid = 0;
	int status;
	pid_t child;
	int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
		    CLONE_SYSVSEM | CLONE_PARENT_SETTID;

	mark("a thread executes");
	child = fork();
	if (!child) {
		if (clone(executor, stack + 16 * PAGE, flags, NULL, &tid, NULL, NULL) < 0)
			die("clone");
		for (;;)
			pause();
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		die("exec by a thread");
	say("expect SCHEDULE - 80 %x %x", child, child);
	say("expect EXEC %x %x", child, child);
}

/* It has a space for the arguments already; and no event shall name it. */
static void executes_in_vain(void)
{
	static const char text[] = "no program";
	char *argv[] = { NULL };
	int fd = call(open("/in-vain", O_WRONLY | O_CREAT | O_CLOEXEC, 0755), "/in-vain");

	if (write(fd, text, sizeof(text)) != sizeof(text))
		die("/in-vain");
	close(fd);
	mark("exec in vain");
	if (execve("/in-vain", argv, argv) != -1 || errno != ENOEXEC)
		die("exec in vain");
	say("refuse SPACE_END -");
	say("refuse SPACE_ASSIGN -");
}

/* Until a process has this state, as in /proc/PID/stat. */
static void await(pid_t pid, char state)
{
	char path[32], text[512];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	for (;;) {
		int fd = call(open(path, O_RDONLY | O_CLOEXEC), path);
		ssize_t size = read(fd, text, sizeof(text) - 1);
		const char *name_end;

		close(fd);
		if (size < 0)
			die(path);
		text[size] = '\0';
		name_end = strrchr(text, ')');
		if (name_end && name_end[1] == ' ' && name_end[2] == state)
			return;
		sched_yield();
	}
}

/*
 * What a child does; then it exits.  How long anything takes is not said: where somebody has to
 * come between, it is a child of its own, which looks that it does.
 */
static void sleeps(void)
{
	pid_t child = fork_or_die();

	if (!child) {
		await(getppid(), 'S');
		_exit(0);
	}
	join(child, "sleeps");
}

static int sleeper(void *unused)
{
	(void)unused;
	await(getppid(), 'D');
	return 0;
}

static void waits_for_child(void)
{
	char *stack = map(NULL, 16 * PAGE, RW, PRIVATE, -1, 0);

	call(clone(sleeper, stack + 16 * PAGE, CLONE_VM | CLONE_VFORK, NULL), "clone");
}

static void stops(void)
{
	raise(SIGSTOP);
}

static void is_traced(void)
{
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
}

/* On the only processor: the child can run when the parent was made to leave it. */
static void spins(void)
{
	volatile char *flag = map(NULL, PAGE, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child = fork_or_die();

	if (!child) {
		*flag = 1;
		_exit(0);
	}
	while (!*flag)
		;
	join(child, "spins");
}

/* The state in which the child left the processor, at least once. */
static void leaves(const char *name, void (*does)(void), unsigned int state)
{
	pid_t child;
	int status;

	mark(name);
	child = fork_or_die();
	if (!child) {
		does();
		_exit(0);
	}
	call(waitpid(child, &status, WUNTRACED), "waitpid");
	if (WIFSTOPPED(status)) {
		if (does == is_traced)
			call((int)ptrace(PTRACE_DETACH, child, NULL, NULL), "ptrace");
		else
			call(kill(child, SIGCONT), "kill");
		call(waitpid(child, &status, 0), "waitpid");
	}
	if (status)
		die(name);
	say("expect SCHEDULE %x %x", child, state);
	say("expect SCHEDULE %x %x", child, KTR_STATE_DEAD);
}

static void states(void)
{
	leaves("sleeps", sleeps, KTR_STATE_SLEEPING);
	leaves("waits", waits_for_child, KTR_STATE_WAITING);
	leaves("stopped", stops, KTR_STATE_STOPPED);
	leaves("traced", is_traced, KTR_STATE_TRACED);
	leaves("spins", spins, KTR_STATE_RUNNABLE);
}

/* What ends a wait: a task that writes to a pipe, and a timer. */
static void wakes(void)
{
	const struct timespec moment = { .tv_nsec = 20000000 };
	struct stat pipe_of;
	char byte = 0;
	pid_t child;
	int pipes[2];

	call(pipe(pipes), "pipe");
	mark("a writer wakes a reader");
	child = fork_or_die();
	if (!child)
		_exit(read(pipes[0], &byte, 1) != 1);
	await(child, 'S');
	if (write(pipes[1], &byte, 1) != 1)
		die("write");
	join(child, "reader");
	say("expect WAKE/%d %x %x %x", getpid(), child, child, KTR_CONTEXT_TASK);
	call(fstat(pipes[0], &pipe_of), "fstat");
	say("expect PASS/%d - %lx 0", getpid(), (unsigned long)pipe_of.st_ino);
	say("expect PASS/%d - %lx 1", child, (unsigned long)pipe_of.st_ino);
	mark("a timer wakes");
	child = fork_or_die();
	if (!child)
		_exit(nanosleep(&moment, NULL) != 0);
	join(child, "nanosleep");
	say("expect WAKE %x %x %x", child, child, KTR_CONTEXT_INTERRUPT);
	close(pipes[0]);
	close(pipes[1]);
}

void tasks(void)
{
	forks();
	pinned();
	threads();
	thread_executes();
	executes_in_vain();
	states();
	wakes();
}
