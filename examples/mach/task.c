/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The first task of GNU Mach: writes to each of PAGES pages ROUNDS times, and is
 * done for.  No library, no system call: what it does to memory is all written here.
 */
enum { PAGES = 300, ROUNDS = 7, PAGE = 4096 };

/* Found by name: see `run`. */
volatile char pages[PAGES][PAGE] __attribute__((aligned(PAGE)));

void _start(void);
void _start(void)
{
	for (int round = 0; round < ROUNDS; round++)
		for (int page = 0; page < PAGES; page++)
			pages[page][round] = (char)round;
	__builtin_trap();
}
