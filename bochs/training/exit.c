/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * laplace-bochs ends by _exit(), which writes no profile.  The one that is trained is
 * linked with --wrap=_exit and this, so that it does.
 */
#include <stdnoreturn.h>

void __gcov_dump(void);
noreturn void __real__exit(int status);
noreturn void __wrap__exit(int status);

noreturn void __wrap__exit(int status)
{
	__gcov_dump();
	__real__exit(status);
}
