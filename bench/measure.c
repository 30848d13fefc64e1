/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * measure FILE COMMAND...: run COMMAND, and write to FILE in one line
 *
 *	wall seconds, seconds of processor time of its first thread, the same of
 *	all threads, its largest resident set in KiB, its exit status
 *
 * The first thread is the simulator's; the collector's is another.  Their times
 * are read when the process is over and still to be waited for.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FAILED = 125, NOT_RUN = 127 };

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int failed(const char *what)
{
	fprintf(stderr, "measure: %s: %s\n", what, strerror(errno));
	return FAILED;
}

/* Seconds on a processor of the thread that has the process's id; < 0: not known. */
static double first_thread(pid_t pid)
{
	char path[64];
	unsigned long long ns;
	FILE *file;
	int fields;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)pid, (int)pid);
	file = fopen(path, "r");
	if (!file)
		return -1;
	fields = fscanf(file, "%llu", &ns);
	fclose(file);
	return fields == 1 ? (double)ns / 1e9 : -1;
}

static double of(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int main(int argc, char *argv[])
{
	struct rusage usage;
	siginfo_t info;
	double began, wall, first, all;
	int status;
	FILE *out;
	pid_t pid;

	if (argc < 3) {
		fprintf(stderr, "usage: measure FILE COMMAND...\n");
		return FAILED;
	}
	began = seconds();
	pid = fork();
	if (pid < 0)
		return failed("fork");
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		fprintf(stderr, "measure: %s: %s\n", argv[2], strerror(errno));
		_exit(NOT_RUN);
	}
	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0)
		return failed("waitid");
	wall = seconds() - began;
	first = first_thread(pid);
	if (wait4(pid, &status, 0, &usage) < 0)
		return failed("wait4");
	all = of(usage.ru_utime) + of(usage.ru_stime);
	out = fopen(argv[1], "w");
	if (!out)
		return failed(argv[1]);
	fprintf(out, "%.3f %.3f %.3f %ld %d\n", wall, first < 0 ? all : first, all,
		usage.ru_maxrss, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return fclose(out) == 0 ? 0 : failed(argv[1]);
}
