/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace run: a program of this machine, traced in a guest.  Bringing a program and a guest
 * together is a script's work (guest-program/run), which becomes this process.
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

/* Nothing of ours is below this; what the program itself says may be anything. */
#define CANNOT 125

int cmd_run(int argc, char **argv)
{
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *script = find_shared("guest-program/run");

	(void)argc;
	if (length <= 0)
		return cli_complain(CANNOT, "/proc/self/exe: %s", strerror(errno));
	self[length] = '\0';
	if (!script)
		return cli_complain(CANNOT, "guest-program/run is not installed with laplace; "
				    "LAPLACE_DATADIR names the directory that has it");
	if (setenv("LAPLACE", self, 1) < 0)
		return cli_complain(CANNOT, "no memory");
	/* which a program would inherit */
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	argv[0] = script;
	execv(script, argv);
	return cli_complain(CANNOT, "%s: %s", script, strerror(errno));
}
