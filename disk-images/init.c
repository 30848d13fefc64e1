/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * init: process 1 of the guest image.  Mounts what a workload needs, loads drivers and the
 * tracer's module, runs one workload, says how it went, and ends the machine.
 *
 * Kernel command line:
 *	laplace.workload=NAME	/workloads/NAME, or /workloads/NAME/run when
 *				that is a directory; an absolute path is taken
 *				as it is.  Default: demo.
 *	laplace.timeout=SECONDS	of guest time; the workload fails after it
 *	laplace.syscalls=SET	what laplace-ctl calls the same; default none
 *	laplace.events=SET	what laplace-ctl calls the same; default none
 *	laplace.mode=MODE	of /dev/laplace, in octal; default 0660, root's
 *	laplace.start=workload	the workload says itself when to begin to collect;
 *				else (init) we do, just before it
 *
 * The last thing it says on the console is "LAPLACE-END ok" or "LAPLACE-END fail
 * CODE": the workload's exit status, 128 + N when signal N ended it, 124 when it
 * ran out of time, 125 when the image itself is at fault, 126 or 127 when the
 * workload could not be run or is not there.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "seed.h"

#define DRIVERS "/lib/drivers"
#define MODULE "/lib/laplace.ko"
#define CTL "/bin/laplace-ctl"
#define BOCHS_SHUTDOWN_PORT 0x8900

enum { STATUS_TIMEOUT = 124, STATUS_IMAGE = 125, STATUS_SIGNAL = 128 };

/* Also what a workload runs with. */
static char *const environment[] = {
	"PATH=/bin", "HOME=/tmp", "TMPDIR=/tmp", "LC_ALL=C", "TERM=dumb", NULL,
};

/*
 * Both ways to end a machine: the port that Bochs watches, which does nothing
 * elsewhere, and the kernel's own power-off.  Returning would panic the
 * kernel, which ends the machine too (see the command line in `build`).
 */
static void power_off(void)
{
	tcdrain(STDOUT_FILENO);
	if (ioperm(BOCHS_SHUTDOWN_PORT, 1, 1) == 0)
		for (const char *c = "Shutdown"; *c; c++)
			outb((unsigned char)*c, BOCHS_SHUTDOWN_PORT);
	reboot(RB_POWER_OFF);
	_exit(1);
}

static void end(int status)
{
	if (status)
		printf("LAPLACE-END fail %d\n", status);
	else
		printf("LAPLACE-END ok\n");
	fflush(stdout);
	power_off();
}

static void fail_image(const char *what)
{
	printf("laplace-init: %s: %s\n", what, strerror(errno));
	end(STATUS_IMAGE);
}

static void mount_or_fail(const char *type, const char *where)
{
	if (mount(type, where, type, 0, NULL) < 0)
		fail_image(where);
}

/* The console was not there before /dev was: take it for all that follows. */
static void open_console(void)
{
	int console = open("/dev/console", O_RDWR | O_NOCTTY);

	if (console < 0)
		return;
	for (int fd = 0; fd <= 2; fd++)
		dup2(console, fd);
	if (console > 2)
		close(console);
}

/* The value of KEY= in the kernel's command line, or FALLBACK. */
static const char *option(char *line, size_t size, const char *key, const char *fallback)
{
	int fd = open("/proc/cmdline", O_RDONLY);
	ssize_t got = fd < 0 ? -1 : read(fd, line, size - 1);
	const char *value = fallback;

	if (got < 0)
		fail_image("/proc/cmdline");
	close(fd);
	line[got] = '\0';
	for (char *word = strtok(line, " \n"); word; word = strtok(NULL, " \n"))
		if (strncmp(word, key, strlen(key)) == 0)
			value = word + strlen(key);
	return value;
}

static int exit_status(int wait_status)
{
	if (WIFEXITED(wait_status))
		return WEXITSTATUS(wait_status);
	return STATUS_SIGNAL + WTERMSIG(wait_status);
}

static pid_t start(char *const arguments[])
{
	pid_t child = fork();

	if (child < 0)
		fail_image("fork");
	if (child == 0) {
		int nothing = open("/dev/null", O_RDONLY);
		sigset_t none;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		setsid();
		if (nothing >= 0) {
			dup2(nothing, STDIN_FILENO);
			close(nothing);
		}
		execve(arguments[0], arguments, environment);
		fprintf(stderr, "laplace-init: %s: %s\n", arguments[0], strerror(errno));
		_exit(errno == ENOENT ? 127 : 126);
	}
	return child;
}

/*
 * Wait for CHILD, and for whatever else process 1 inherits.  The signals were
 * blocked before it was started, so none is missed.  With no LIMIT (0) it may
 * take as long as it likes.
 */
static int wait_for(pid_t child, unsigned int limit, const sigset_t *awaited)
{
	if (limit)
		alarm(limit);
	for (;;) {
		int status, signal_number;
		pid_t ended;

		while ((ended = waitpid(-1, &status, WNOHANG)) > 0) {
			if (ended == child) {
				alarm(0);
				return exit_status(status);
			}
		}
		if (sigwait(awaited, &signal_number) == 0 && signal_number == SIGALRM) {
			kill(-1, SIGKILL);
			return STATUS_TIMEOUT;
		}
	}
}

/* A kernel module, if there is one. */
static void load(const char *path, const char *parameters)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT)
		return;		/* an image that was built without */
	if (fd < 0 || syscall(SYS_finit_module, fd, parameters, 0) < 0)
		fail_image(path);
	close(fd);
}

/* Of a disk, if the image has any; their names are in the order of their needs. */
static void load_drivers(void)
{
	struct dirent **driver;
	int count = scandir(DRIVERS, &driver, NULL, alphasort);

	for (int i = 0; i < count; i++) {
		char path[sizeof(DRIVERS) + 256];

		if (driver[i]->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, DRIVERS "/%s", driver[i]->d_name);
		load(path, "");
	}
}

static void load_module(const char *syscalls, const char *events, const char *mode)
{
	char parameters[3 * 4096];

	snprintf(parameters, sizeof parameters, "syscalls=%s events=%s mode=%s", syscalls, events, mode);
	load(MODULE, parameters);
}

static void control(char *command, const sigset_t *awaited)
{
	char *arguments[] = { CTL, command, NULL };
	int status;

	if (access(CTL, X_OK) < 0)
		return;
	status = wait_for(start(arguments), 0, awaited);
	if (status) {
		printf("laplace-init: %s %s: status %d\n", CTL, command, status);
		end(STATUS_IMAGE);
	}
}

int main(void)
{
	char line[4096], limit_line[4096], calls_line[4096], events_line[4096], start_line[4096];
	char mode_line[4096];
	char path[4096], *workload[] = { path, NULL };
	const char *name, *limit, *start_by;
	struct stat st;
	sigset_t awaited;
	int status;

	sigemptyset(&awaited);
	sigaddset(&awaited, SIGCHLD);
	sigaddset(&awaited, SIGALRM);
	sigprocmask(SIG_BLOCK, &awaited, NULL);

	if (mount("devtmpfs", "/dev", "devtmpfs", 0, NULL) < 0)
		fail_image("/dev");
	open_console();
	mount_or_fail("proc", "/proc");
	mount_or_fail("sysfs", "/sys");
	mount_or_fail("tmpfs", "/tmp");
	if (seed_random(0) < 0)
		fail_image("/dev/urandom");

	name = option(line, sizeof line, "laplace.workload=", "demo");
	limit = option(limit_line, sizeof limit_line, "laplace.timeout=", "0");
	start_by = option(start_line, sizeof start_line, "laplace.start=", "init");
	snprintf(path, sizeof path, "%s%s", name[0] == '/' ? "" : "/workloads/", name);
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		strncat(path, "/run", sizeof path - strlen(path) - 1);

	load_drivers();
	load_module(option(calls_line, sizeof calls_line, "laplace.syscalls=", "none"),
		    option(events_line, sizeof events_line, "laplace.events=", "none"),
		    option(mode_line, sizeof mode_line, "laplace.mode=", "0660"));
	printf("LAPLACE-BEGIN %s\n", name);
	fflush(stdout);
	if (chdir("/tmp") < 0)
		fail_image("/tmp");
	if (strcmp(start_by, "workload") != 0)
		control("start", &awaited);
	status = wait_for(start(workload), (unsigned int)strtoul(limit, NULL, 10), &awaited);
	control("stop", &awaited);
	control(status ? "fail" : "end", &awaited);
	end(status);
}
