/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Begin, load the tracer's module anew, go on (midrun.h). */
#include "midrun.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define MODULE "/lib/laplace.ko"
#define DEVICE "/dev/laplace"

/*
 * At rest nothing happens between the two that a trace would lack for ever: no
 * other program runs, and we touch nothing for the first time.
 */
static void load_anew(int module)
{
	call((int)syscall(SYS_delete_module, "laplace", O_NONBLOCK), "delete_module");
	call((int)syscall(SYS_finit_module, module, "", 0), "finit_module");
}

static void command(const char *text)
{
	ssize_t length = (ssize_t)strlen(text);
	int device = call(open(DEVICE, O_WRONLY | O_CLOEXEC), DEVICE);

	if (write(device, text, (size_t)length) != length)
		die(text);
	close(device);
}

static void join(pid_t child, const char *what)
{
	int status;

	if (waitpid(child, &status, 0) != child || status)
		die(what);
}

static pid_t run(char *argv[])
{
	pid_t child = call(fork(), "fork");

	if (child)
		return child;
	execv(argv[0], argv);
	die(argv[0]);
}

static void in_a_storm(int module, char *truth)
{
	char *sample[] = { truth, "sample", "1", NULL };

	storm_begins();
	load_anew(module);
	command("start");
	storm_ends();
	command("stop");
	join(run(sample), "the sample failed");
	/* the storm's processes end with us */
	call(kill(-1, SIGKILL), "SIGKILL");
}

static void at_rest(int module, char *family_argv[])
{
	pid_t actors = actors_begin(), family = run(family_argv);
	int status;

	if (waitpid(family, &status, WUNTRACED) != family || !WIFSTOPPED(status))
		die("the family did not stop in mid-run");

	/* Of this one's own references none is needed, and they are many. */
	command("stop");
	load_anew(module);
	command("start");
	call(kill(family, SIGCONT), "SIGCONT");
	join(family, "the family failed");
	actors_go_on(actors);
}

int main(int argc, char *argv[])
{
	int module = call(open(MODULE, O_RDONLY | O_CLOEXEC), MODULE);

	if (argc == 3 && !strcmp(argv[1], "storm")) {
		in_a_storm(module, argv[2]);
	} else if (argc > 1) {
		at_rest(module, argv + 1);
	} else {
		fprintf(stderr, "usage: midrun [storm] TRUTH [ARGUMENT...]\n");
		return 2;
	}
	return 0;
}
