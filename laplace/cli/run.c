/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace run: a program of this machine, traced in a guest; laplace doctor: is all here that this
 * needs?  Bringing a program and a guest together is the work of scripts (guest-program), one of
 * which becomes this process.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "find.h"
#include "say.h"

/* As of env(1), nohup(1) ...: what the program itself says may be any other. */
#define CANNOT 125

/* Returns only if it cannot: an exit status. */
static int become(const char *name, char **argv, int failed)
{
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *script = find_shared(name);

	if (length <= 0)
		return cli_complain(failed, "/proc/self/exe: %s", strerror(errno));
	self[length] = '\0';
	if (!script)
		return cli_complain(failed, "%s is not installed with laplace; LAPLACE_DATADIR names "
				    "the directory that has it", name);
	if (setenv("LAPLACE", self, 1) < 0)
		return cli_complain(failed, "no memory");
	/* which a program would inherit */
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	argv[0] = script;
	execv(script, argv);
	return cli_complain(failed, "%s: %s", script, strerror(errno));
}

int cmd_run(int argc, char **argv)
{
	(void)argc;
	return become("guest-program/run", argv, CANNOT);
}

int cmd_doctor(int argc, char **argv)
{
	char *bochs = find_bochs_quietly();

	(void)argc;
	if (setenv("LAPLACE_BOCHS", bochs ? bochs : "", 1) < 0)
		return cli_complain(CLI_FAILED, "no memory");
	free(bochs);
	return become("guest-program/doctor", argv, CLI_FAILED);
}
