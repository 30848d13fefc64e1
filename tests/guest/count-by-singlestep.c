/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * count-by-singlestep PROGRAM [ARGUMENT...]: run a program under ptrace, one
 * instruction at a time, and print how many it executed from its entry to its
 * exit ("instructions N").  Meant for static programs: of a dynamic one, the
 * loader counts too.  A `rep` instruction counts once for each iteration.
 *
 * Exit status: 0 counted, 1 it could not be run or ended badly, 2 usage,
 * 77 this machine does not let us trace.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STATUS_FAILED = 1, STATUS_USAGE = 2, STATUS_SKIP = 77 };

/* In the child: stop at the program's first instruction. */
static void run_traced(char *const arguments[])
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0) {
		fprintf(stderr, "count-by-singlestep: ptrace: %s\n", strerror(errno));
		_exit(STATUS_SKIP);
	}
	execv(arguments[0], arguments);
	fprintf(stderr, "count-by-singlestep: %s: %s\n", arguments[0], strerror(errno));
	_exit(STATUS_FAILED);
}

int main(int argc, char *argv[])
{
	unsigned long long count = 0;
	int status, deliver = 0;
	pid_t child;

	if (argc < 2) {
		fprintf(stderr, "usage: count-by-singlestep PROGRAM [ARGUMENT...]\n");
		return STATUS_USAGE;
	}
	child = fork();
	if (child == 0)
		run_traced(argv + 1);
	if (child < 0 || waitpid(child, &status, 0) < 0) {
		perror("count-by-singlestep");
		return STATUS_FAILED;
	}
	while (WIFSTOPPED(status)) {
		if (ptrace(PTRACE_SINGLESTEP, child, NULL, (void *)(long)deliver) < 0 ||
		    waitpid(child, &status, 0) < 0) {
			perror("count-by-singlestep");
			return STATUS_FAILED;
		}
		count++;
		/* A stop for anything but our own trap is a signal of the program's. */
		deliver = WIFSTOPPED(status) && WSTOPSIG(status) != SIGTRAP
			? WSTOPSIG(status) : 0;
	}
	if (!WIFEXITED(status)) {
		fprintf(stderr, "count-by-singlestep: %s: killed by signal %d\n",
			argv[1], WTERMSIG(status));
		return STATUS_FAILED;
	}
	if (count == 0)
		return WEXITSTATUS(status);	/* it never started */
	if (WEXITSTATUS(status) != 0) {
		fprintf(stderr, "count-by-singlestep: %s: exit status %d\n",
			argv[1], WEXITSTATUS(status));
		return STATUS_FAILED;
	}
	printf("instructions %llu\n", count);
	return 0;
}
