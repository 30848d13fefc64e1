/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Begin, load the tracer's module anew, go on (midrun.h). */
#include "midrun.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define MODULE "/lib/laplace.ko"
#define DEVICE "/dev/laplace"

/*
 * Nothing may happen between the two that a trace would lack for ever: no
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

int main(int argc, char *argv[])
{
	int module = call(open(MODULE, O_RDONLY | O_CLOEXEC), MODULE);
	pid_t actors, family;
	int status;

	if (argc < 2) {
		fprintf(stderr, "usage: midrun TRUTH ARGUMENT...\n");
		return 2;
	}
	actors = actors_begin();
	family = call(fork(), "fork");
	if (!family) {
		execv(argv[1], argv + 1);
		die(argv[1]);
	}
	if (waitpid(family, &status, WUNTRACED) != family || !WIFSTOPPED(status))
		die("the family did not stop in mid-run");

	/* Of this one's own references none is needed, and they are many. */
	command("stop");
	load_anew(module);
	command("start");
	call(kill(family, SIGCONT), "SIGCONT");
	if (waitpid(family, &status, 0) != family || status)
		die("the family failed");
	actors_go_on(actors);
	return 0;
}
