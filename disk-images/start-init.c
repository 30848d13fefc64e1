/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* start-program: with the disk's own init, which is systemd, as process 1 of the namespace. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "start-program.h"

#define US "/bin/start-program"
#define US_WITHIN "/run/laplace/start-program"	/* as the disk's own init has us */
#define REACHED "/run/laplace/reached"		/* a pipe, by which its service says so */
#define UNITS ROOT "/run/systemd/system/"

static void write_unit(const char *name, const char *text)
{
	char path[128];
	FILE *unit;

	snprintf(path, sizeof(path), UNITS "%s", name);
	unit = fopen(path, "we");
	if (!unit || fputs(text, unit) < 0 || fclose(unit) != 0)
		fail("%s", path);
}

static void write_service(const char *name, const char *after, const char *argument)
{
	char text[512];

	snprintf(text, sizeof(text), "[Unit]\nDefaultDependencies=no\n%s"
		 "[Service]\nType=oneshot\nStandardOutput=file:/dev/console\n"
		 "ExecStart=" US_WITHIN " %s\n", after, argument);
	write_unit(name, text);
}

/* Once all is reached that the disk would boot to, we are run; and where it gives up. */
static void write_units(void)
{
	static const char *const lost[] = { "emergency.service", "rescue.service" };
	int fd;

	if (mkdir(ROOT "/run/systemd", 0755) < 0 || mkdir(UNITS, 0755) < 0 ||
	    mkdir(ROOT "/run/laplace", 0755) < 0 || mkfifo(ROOT REACHED, 0600) < 0)
		fail(UNITS);
	fd = open(ROOT US_WITHIN, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	if (fd < 0 || mount(US, ROOT US_WITHIN, NULL, MS_BIND, NULL) < 0)
		fail(US_WITHIN);
	close(fd);
	write_unit("laplace.target", "[Unit]\n"
		   "Wants=default.target laplace.service\nAfter=default.target\n");
	write_service("laplace.service", "After=default.target\n", "reached");
	for (size_t i = 0; i < sizeof(lost) / sizeof(lost[0]); i++)
		write_service(lost[i], "", lost[i]);
}

/* Does not return. */
static void become_init(const struct program *program)
{
	char *const arguments[] = { (char *)program->init, "--unit=laplace.target", NULL };
	char *const environment[] = { "container=laplace", "TERM=dumb", NULL };
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	write_file("/proc/self/oom_score_adj", "0");
	/* what it sees of processes are its own, and all of the disk is below its root */
	if (unshare(CLONE_NEWNS) < 0)
		fail("namespace");
	mount_proc();
	if (chdir(ROOT) < 0 || mount(".", "/", NULL, MS_MOVE, NULL) < 0 || chroot(".") < 0)
		fail("namespace");
	execve(program->init, arguments, environment);
	fail("%s", program->init);
}

/* The disk's own init, until it says that all is reached. */
void boot(struct run *run)
{
	struct pollfd fds[2] = { { .events = POLLIN }, { .events = POLLIN } };
	char word[64], mounts[64];
	ssize_t got = 0;

	write_units();
	fds[0].fd = open(ROOT REACHED, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	fds[1].fd = run->signals;
	fflush(stdout);
	if (fds[0].fd < 0 || unshare(CLONE_NEWPID) < 0)
		fail("PID namespace");
	run->init = fork();
	if (run->init < 0)
		fail("fork");
	if (run->init == 0)
		become_init(run->program);
	while (run->init != 0 && got <= 0) {
		(void)poll(fds, 2, -1);
		reap(run, WNOHANG);
		got = read(fds[0].fd, word, sizeof(word) - 1);
	}
	close(fds[0].fd);
	word[got > 0 ? got : 0] = '\0';
	errno = ECANCELED;
	if (strcmp(word, "reached") != 0)
		fail("the disk's init did not get beyond %s", got > 0 ? word : "its own end");
	snprintf(mounts, sizeof(mounts), "/proc/%d/ns/mnt", (int)run->init);
	run->mounts = open(mounts, O_RDONLY | O_CLOEXEC);
	if (run->mounts < 0)
		fail("%s", mounts);
}

/* As its service: say how far it has got, and wait until all ends. */
_Noreturn void serve(const char *reached)
{
	write_file(REACHED, reached);
	for (;;)
		pause();
}
