/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A machine as a child process; see machine.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/host.h"
#include "machine.h"
#include "say.h"

int machine_prepare(struct machine *machine, bool debugger, int *child_fd)
{
	sigset_t mask;
	int fd[2];

	*machine = (struct machine){ .pid = -1, .status_fd = -1, .signal_fd = -1, .stream_fd = -1 };
	sigemptyset(&mask);
	lpl_add_unless_ignored(&mask, SIGINT);
	lpl_add_unless_ignored(&mask, SIGTERM);
	lpl_add_unless_ignored(&mask, SIGHUP);
	lpl_add_unless_ignored(&mask, SIGUSR1);
	lpl_add_unless_ignored(&mask, SIGUSR2);
	sigaddset(&mask, SIGCHLD);
	sigprocmask(SIG_BLOCK, &mask, &machine->old_mask);
	machine->taken = mask;
	if (debugger)	/* the terminal's goes to both; it stops the guest and ends nothing */
		sigdelset(&mask, SIGINT);
	machine->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (machine->signal_fd < 0 || pipe2(fd, O_CLOEXEC) < 0)
		return cli_complain(CLI_FAILED, "no pipe to the machine: %s", strerror(errno));
	machine->status_fd = fd[0];
	fcntl(fd[0], F_SETFL, O_NONBLOCK);
	*child_fd = fd[1];
	return CLI_DONE;
}

/* ---- start ---- */

static bool hand_on(int fd)
{
	return fd < 0 || fcntl(fd, F_SETFD, 0) == 0;
}

static _Noreturn void become(const struct machine *machine, char **argv, int child_fd,
			     int failure_fd, pid_t parent)
{
	sigset_t first = machine->old_mask;
	int error;

	/* those that end it by default wait until it takes them */
	sigaddset(&first, SIGUSR1);
	sigaddset(&first, SIGUSR2);
	sigprocmask(SIG_SETMASK, &first, NULL);
	/* if we are killed before we can end the machine, it ends, too, and closes its trace */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(127);
	/* our stdout is for the summary, or the trace; what the machine prints is chatter */
	if (dup2(STDERR_FILENO, STDOUT_FILENO) >= 0 && hand_on(child_fd) &&
	    hand_on(machine->stream_fd))
		execv(argv[0], argv);
	error = errno;
	if (write(failure_fd, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

static int start(struct machine *machine, char **argv, int child_fd)
{
	const pid_t parent = getpid();
	int failure[2], error = 0;
	ssize_t n;

	if (pipe2(failure, O_CLOEXEC) < 0)
		return cli_complain(CLI_FAILED, "no pipe: %s", strerror(errno));
	fflush(NULL);
	machine->pid = fork();
	if (machine->pid < 0) {
		error = errno;
	} else if (machine->pid == 0) {
		become(machine, argv, child_fd, failure[1], parent);
	} else {
		close(failure[1]);
		do
			n = read(failure[0], &error, sizeof(error));
		while (n < 0 && errno == EINTR);
		/* exec closes the pipe: nothing to read is success */
		if (n == 0) {
			close(failure[0]);
			return CLI_DONE;
		}
		waitpid(machine->pid, NULL, 0);
	}
	close(failure[0]);
	return cli_complain(CLI_FAILED, "%s: cannot be run: %s", argv[0], strerror(error));
}

/* ---- what it reports ---- */

bool machine_read(struct machine *machine,
		  void (*update)(const struct machine *machine, void *context), void *context)
{
	for (;;) {
		char *start = machine->line, *end;
		ssize_t n = read(machine->status_fd, start + machine->line_used,
				 sizeof(machine->line) - 1 - machine->line_used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0;
		machine->line_used += (size_t)n;
		start[machine->line_used] = '\0';
		while ((end = strchr(start, '\n'))) {
			*end = '\0';
			(void)cli_collection_take(&machine->status, start);
			update(machine, context);
			start = end + 1;
		}
		machine->line_used -= (size_t)(start - machine->line);
		memmove(machine->line, start, machine->line_used);
		/* a line longer than any status is none */
		if (machine->line_used == sizeof(machine->line) - 1)
			machine->line_used = 0;
	}
}

/* ---- signals ---- */

/*
 * A request for the end may be made several times, and meant once: timeout(1) signals
 * its child and then the child's group, a terminal that goes away is reported by
 * the kernel and by the shell.  So the first signal is passed on and the others
 * change nothing, until closing has taken so long that we have said what a
 * person at the terminal can do about it.
 */
#define PATIENCE_MS 3000

static int64_t now_ms(void)
{
	return (int64_t)(lpl_now_ns() / 1000000);
}

static void ask_to_end(struct machine *machine, int number, const char *said)
{
	if (machine->ending)
		return;
	machine->ending = true;
	machine->patient_until = now_ms() + PATIENCE_MS;
	cli_complain(0, "%s", said);
	/* it may have it from the terminal already; to it, too, two are one */
	kill(machine->pid, number);
}

static void interrupt(struct machine *machine, int number)
{
	if (machine->killable && number == SIGINT)
		kill(machine->pid, SIGKILL);
	machine->interrupted |= !machine->ending;
	ask_to_end(machine, number, "closing the trace");
}

/* For poll(): until patience ends, or for ever. */
static int milliseconds_left(const struct machine *machine)
{
	int64_t left = machine->patient_until - now_ms();

	if (!machine->ending || machine->killable)
		return -1;
	return left > 0 ? (int)left : 0;
}

static void lose_patience(struct machine *machine)
{
	if (milliseconds_left(machine) != 0)
		return;
	machine->killable = true;
	cli_complain(0, "still closing the trace; Ctrl-C (SIGINT) now kills the machine, and %s",
		     machine->stream_fd < 0 ?
			     "leaves what it has written in a file that ends in .part" :
			     "the trace ends where it is");
}

/* Returns true when the machine has ended. */
static bool take_signals(struct machine *machine)
{
	struct signalfd_siginfo info;
	bool ended = false;

	while (read(machine->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGUSR1 || info.ssi_signo == SIGUSR2)
			kill(machine->pid, (int)info.ssi_signo);
		else if (info.ssi_signo != SIGCHLD)
			interrupt(machine, (int)info.ssi_signo);
		else if (waitpid(machine->pid, &machine->wait_status, WNOHANG) == machine->pid)
			ended = true;
	}
	return ended;
}

/* A signal that arrived too late to matter does not end us before we have said how it went. */
static void give_signals_back(struct machine *machine)
{
	const struct timespec now = { 0 };

	while (sigtimedwait(&machine->taken, NULL, &now) > 0)
		;
	sigprocmask(SIG_SETMASK, &machine->old_mask, NULL);
}

int machine_run(struct machine *machine, char **argv, int child_fd,
		void (*update)(const struct machine *machine, void *context), void *context)
{
	int status = start(machine, argv, child_fd);
	struct pollfd wait[3] = {
		{ .fd = machine->signal_fd, .events = POLLIN },
		{ .fd = machine->status_fd, .events = POLLIN },
		{ .fd = machine->stream_fd },	/* for its end alone */
	};
	bool ended = false;

	close(child_fd);
	while (!status && !ended) {
		if (poll(wait, 3, milliseconds_left(machine)) < 0 && errno != EINTR)
			break;
		ended = take_signals(machine);
		if (!ended && wait[2].fd >= 0 && wait[2].revents) {
			ask_to_end(machine, SIGTERM, "the trace is not read any more: the run ends");
			wait[2].fd = -1;
		}
		if (!ended)
			lose_patience(machine);
		/* after the pipe's end only the signal is waited for */
		if (wait[1].fd >= 0 && !machine_read(machine, update, context))
			wait[1].fd = -1;
	}
	if (!status && ended)
		machine_read(machine, update, context);
	close(machine->status_fd);
	close(machine->signal_fd);
	give_signals_back(machine);
	return status;
}
