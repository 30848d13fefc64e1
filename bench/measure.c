/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * measure FILE COMMAND...: run COMMAND, and write to FILE in one line
 *
 *	wall seconds, seconds of processor time of its first thread, the same of
 *	all threads, its largest resident set in KiB, its exit status, instructions
 *	of its first thread, the same of all threads
 *
 * The first thread is the simulator's; the collector's is another.  Their times
 * are read when the process is over and still to be waited for.  Instructions are
 * those outside the kernel; -1 where the machine does not let us count them.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
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

/*
 * A counter of the instructions of a process that waits to execute its command; those of
 * its first thread or, inherited, of all that it starts.  < 0: there is none.
 */
static int count_instructions(pid_t pid, bool of_all)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_HARDWARE;
	attr.config = PERF_COUNT_HW_INSTRUCTIONS;
	attr.disabled = 1;
	attr.enable_on_exec = 1;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	attr.inherit = of_all;
	return (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int64_t counted(int counter)
{
	int64_t n;

	return counter >= 0 && read(counter, &n, sizeof(n)) == (ssize_t)sizeof(n) ? n : -1;
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

/* The child: executes the command when its counters are there. */
static void run(int gate[2], char *command[])
{
	char c;

	close(gate[1]);
	if (read(gate[0], &c, 1) >= 0) {
		close(gate[0]);
		execvp(command[0], command);
	}
	fprintf(stderr, "measure: %s: %s\n", command[0], strerror(errno));
	_exit(NOT_RUN);
}

int main(int argc, char *argv[])
{
	int status, first_counter, all_counter, gate[2];
	double began, wall, first, all;
	struct rusage usage;
	siginfo_t info;
	FILE *out;
	pid_t pid;

	if (argc < 3) {
		fprintf(stderr, "usage: measure FILE COMMAND...\n");
		return FAILED;
	}
	if (pipe(gate) < 0)
		return failed("pipe");
	pid = fork();
	if (pid < 0)
		return failed("fork");
	if (pid == 0)
		run(gate, argv + 2);
	close(gate[0]);
	first_counter = count_instructions(pid, false);
	all_counter = count_instructions(pid, true);
	began = seconds();
	close(gate[1]);
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
	fprintf(out, "%.3f %.3f %.3f %ld %d %lld %lld\n", wall, first < 0 ? all : first, all,
		usage.ru_maxrss, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
		(long long)counted(first_counter), (long long)counted(all_counter));
	return fclose(out) == 0 ? 0 : failed(argv[1]);
}
