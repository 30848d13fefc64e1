/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The simulators of a recording that several processes make; see record_process.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/host.h"
#include "collect/collector.h"
#include "record_process.h"
#include "say.h"

#define LAUNCHER_NS UINT64_C(10000000000)	/* for it to end what it has started */
#define LOOK_NS 10000000			/* between looks at whether it has */

/* ---- start ---- */

/* Without us it has no use; but a launcher has something to end before it ends. */
static int end_signal(const struct record_simulator *simulator, const struct record_process *process)
{
	return *process->part && simulator->launcher ? SIGTERM : SIGKILL;
}

static _Noreturn void become(const struct record_simulator *simulator, const struct record_process *process,
			     char *const *argv, int status_fd, int out, pid_t parent)
{
	const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	/* a terminal's signals are ours */
	(void)setpgid(0, 0);
	(void)prctl(PR_SET_PDEATHSIG, end_signal(simulator, process));
	(void)sigprocmask(SIG_SETMASK, &simulator->signals, NULL);
	if (getppid() == parent && null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
	    dup2(out, STDERR_FILENO) >= 0 && (status_fd < 0 || fcntl(status_fd, F_SETFD, 0) == 0))
		(void)execv(argv[0], argv);
	_exit(127);
}

/* `launcher`: a command for a shell; NULL: none.  To be freed without the words, NULL: no memory. */
static char **make_argv(char *launcher, char *bochs, char *const *words, char *line)
{
	static char shell[] = "/bin/sh", command[] = "-c", name[] = "sh";
	char *const start[] = { shell, command, launcher, name };
	const size_t before = launcher ? sizeof(start) / sizeof(start[0]) : 0;
	size_t count = 0;
	char **argv;

	while (words[count])
		count++;
	argv = calloc(before + count + 3, sizeof(*argv));
	if (!argv)
		return NULL;
	memcpy(argv, start, before * sizeof(*argv));
	argv[before] = bochs;
	memcpy(argv + before + 1, words, count * sizeof(*argv));
	argv[before + 1 + count] = line;
	return argv;
}

/* `line`, which may be NULL for want of memory, is all of the last word. */
static int start(const struct record_simulator *simulator, struct record_process *process, char *launcher,
		 char *const *words, char *line, int status_fd, int out)
{
	const pid_t parent = getpid();
	char **argv = line ? make_argv(launcher, simulator->bochs, words, line) : NULL;
	pid_t pid = -1;

	fflush(NULL);
	if (argv)
		pid = fork();
	if (pid == 0)
		become(simulator, process, argv, status_fd, out, parent);
	if (pid > 0)
		(void)setpgid(pid, pid);	/* whichever of us comes first */
	process->machine.pid = pid;
	if (!argv)
		return cli_complain(CLI_FAILED, "no memory");
	free(argv);
	return pid > 0 ? CLI_DONE : cli_complain(CLI_FAILED, "no process for a machine: %s", strerror(errno));
}

int record_process_count(const struct record_simulator *simulator, struct record_process *process, char *const *words,
			 const char *line, int out)
{
	char *own = NULL;
	int fd[2], status;

	if (pipe2(fd, O_CLOEXEC) < 0)
		return cli_complain(CLI_FAILED, "no pipe to a machine: %s", strerror(errno));
	(void)fcntl(fd[0], F_SETFL, O_NONBLOCK);
	*process = (struct record_process){ .machine = { .status_fd = fd[0] } };
	if (asprintf(&own, "%sstatus=%d, pass=\"count\"", line, fd[1]) < 0)
		own = NULL;
	status = start(simulator, process, NULL, words, own, fd[1], out);
	(void)close(fd[1]);
	if (status)
		(void)close(fd[0]);
	free(own);
	return status;
}

int record_process_segment(const struct record_simulator *simulator, struct record_process *process, char *const *words,
			   const char *line, const char *pass, int out)
{
	char *own = NULL, *launcher = NULL;
	int status = CLI_DONE;

	process->machine = (struct machine){ .status_fd = -1 };
	if (asprintf(&own, "%spass=\"%s\", part=\"%s\"", line, pass, process->part) < 0)
		own = NULL;
	if (simulator->launcher && asprintf(&launcher, "exec %s \"$@\"", simulator->launcher) < 0)
		status = cli_complain(CLI_FAILED, "no memory");
	if (!status)
		status = start(simulator, process, launcher, words, own, -1, out);
	free(launcher);
	free(own);
	return status;
}

/* ---- the end ---- */

static void ignore(const struct machine *machine, void *context)
{
	(void)machine, (void)context;
}

bool record_process_runs(const struct record_process *process)
{
	return process->machine.pid > 0;
}

bool record_process_has_ended(const struct record_simulator *simulator, struct record_process *process)
{
	struct machine *machine = &process->machine;
	const bool ended = waitpid(machine->pid, &machine->wait_status, WNOHANG) == machine->pid;
	char path[PATH_MAX];

	if (ended && *process->part && record_part_path(path, simulator->trace, process->part, LPL_PART_STATUS))
		machine->status_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (machine->status_fd >= 0)
		(void)machine_read(machine, ignore, NULL);
	if (!ended)
		return false;
	machine->pid = -1;
	if (machine->status_fd >= 0)
		(void)close(machine->status_fd);
	return true;
}

static void kill_group(const struct record_process *process, int number)
{
	if (record_process_runs(process))
		(void)kill(-process->machine.pid, number);
}

void record_processes_end(const struct record_simulator *simulator, struct record_process *process, unsigned int count)
{
	const uint64_t until = lpl_now_ns() + LAUNCHER_NS;
	unsigned int left = count;

	for (unsigned int i = 0; i < count; i++)
		kill_group(&process[i], end_signal(simulator, &process[i]));
	while (left) {
		left = 0;
		for (unsigned int i = 0; i < count; i++) {
			if (lpl_now_ns() > until)
				kill_group(&process[i], SIGKILL);
			left += record_process_runs(&process[i]) && !record_process_has_ended(simulator, &process[i]);
		}
		if (left)
			(void)nanosleep(&(struct timespec){ .tv_nsec = LOOK_NS }, NULL);
	}
}
