/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tasks ROUNDS PROGRAM: processes that come by fork and by posix_spawn, and go in every
 * way: by themselves, by a signal, without a parent, and into another program.
 */
#include "busy.h"

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

static char *arguments[] = { NULL, NULL };
static char *const environment[] = { NULL };

static void spin(uint64_t unused)
{
	(void)unused;
	for (volatile uint64_t i = 0;; i++)
		;
}

static void crash(uint64_t address)
{
	*(volatile unsigned char *)(uintptr_t)address = 1;
}

static void rest(uint64_t unused)
{
	(void)unused;
	for (;;)
		pause();
}

static void *rest_too(void *unused)
{
	rest(0);
	return unused;
}

static void ends_by(pid_t child, int number)
{
	int status;

	if (waitpid(child, &status, 0) != child)
		die("waitpid");
	require(WIFSIGNALED(status) && WTERMSIG(status) == number, "not the signal that was sent");
}

static void by_signals(void)
{
	pid_t child = start(spin, 0);
	int status;

	call(kill(child, SIGKILL), "kill");
	ends_by(child, SIGKILL);
	ends_by(start(crash, PAGE), SIGSEGV);
	child = start(rest, 0);
	call(kill(child, SIGSTOP), "kill");
	require(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status), "stopped");
	call(kill(child, SIGCONT), "kill");
	call(kill(child, SIGTERM), "kill");
	ends_by(child, SIGTERM);
}

/* Only process 1 waits for the grandchild; its pipe shows that it has ended. */
static void orphan(void)
{
	char byte;
	int ends[2];

	call(pipe(ends), "pipe");
	if (call(fork(), "fork") == 0) {
		if (call(fork(), "fork") == 0) {
			if (write(ends[1], "x", 1) != 1)
				die("write");
		}
		_exit(0);
	}
	close(ends[1]);
	require(read(ends[0], &byte, 1) == 1 && read(ends[0], &byte, 1) == 0, "an orphan");
	close(ends[0]);
	while (waitpid(-1, NULL, 0) > 0)
		;
}

static void *execute(void *unused)
{
	(void)unused;
	execve(arguments[0], arguments, environment);
	die(arguments[0]);
}

/* A thread becomes the program, and takes the place of all of them. */
static void by_thread(uint64_t unused)
{
	pthread_t other, thread;

	(void)unused;
	if (pthread_create(&other, NULL, rest_too, NULL) ||
	    pthread_create(&thread, NULL, execute, NULL))
		die("pthread_create");
	rest(0);
}

static void programs(void)
{
	static char nowhere[] = "/nonexistent/program";
	pid_t child;

	errno = posix_spawn(&child, arguments[0], NULL, NULL, arguments, environment);
	if (errno)
		die(arguments[0]);
	join(child);
	require(posix_spawn(&child, nowhere, NULL, NULL, arguments, environment) == ENOENT,
		"a program that is not there");
	join(start(by_thread, 0));
}

void tasks(int argc, char *argv[])
{
	require(argc == 3, "tasks ROUNDS PROGRAM");
	arguments[0] = argv[2];
	for (int i = 0; i < atoi(argv[1]); i++) {
		by_signals();
		orphan();
		programs();
	}
}
