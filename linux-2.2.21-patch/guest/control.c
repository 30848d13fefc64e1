/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * control: process 1 of a guest in which a user that is not root tries to steer the
 * collection.  Booted with "laplace=open open" he has to be able to, else not.
 */
#include "guest.h"

enum { USER = 1000, EACCES = 13 };

int main(int argc, char **argv)
{
	long expected = argc > 1 && argv[1][0] == 'o' ? 0 : -EACCES;
	int pid;

	must("mount", CALL5(mount, "proc", "/proc", "proc", 0, 0));
	must("root's mark", store("/proc/laplace", "mark root"));
	pid = (int)must("fork", CALL0(fork));
	if (pid == 0) {
		must("setuid", CALL1(setuid, USER));
		CALL1(exit, store("/proc/laplace", "mark user") != expected);
	}
	if (wait_for(pid) != 0)
		fail(expected == 0 ? "a user may not" : "a user may", 0);
	return 0;
}
