/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace run: a program of this machine, traced in a guest; laplace doctor: is all here that this
 * needs?  Bringing a program and a guest together is the work of scripts (guest-program), one of
 * which becomes this process.
 */
#include <stdlib.h>

#include "commands.h"
#include "find.h"
#include "say.h"

/* As of env(1), nohup(1) ...: what the program itself says may be any other. */
#define CANNOT 125

int cmd_run(int argc, char **argv)
{
	char *bochs = find_bochs_quietly();

	(void)argc;
	/* whose hash the trace tells */
	if (bochs && setenv("LAPLACE_BOCHS", bochs, 1) < 0)
		return cli_complain(CANNOT, "no memory");
	free(bochs);
	return cli_become("guest-program/run", argv, CANNOT);
}

int cmd_doctor(int argc, char **argv)
{
	char *bochs = find_bochs_quietly();

	(void)argc;
	if (setenv("LAPLACE_BOCHS", bochs ? bochs : "", 1) < 0)
		return cli_complain(CLI_FAILED, "no memory");
	free(bochs);
	return cli_become("guest-program/doctor", argv, CLI_FAILED);
}
