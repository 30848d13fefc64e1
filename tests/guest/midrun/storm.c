/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Processes that never rest: they fork, execute, part what they share, map and
 * unmap, while the module is loaded; and that stand still on request,
 * in the middle of sharing, with children of some moments before.
 */
#include "midrun.h"

#include <signal.h>
#include <sys/wait.h>

/* They are many, and whoever loads the module is to come to an end, too. */
enum { STORMERS = 3, NICE = 5 };
enum { PAGES = 12, SLEEPERS = 4 };

static struct {
	volatile bool over;
	int resting;
} *weather;

static volatile char *map_some(void)
{
	volatile char *at = mmap(NULL, PAGES * PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		die("mmap");
	return at;
}

static void write_some(volatile char *at, unsigned int first)
{
	for (unsigned int i = first % 3; i < PAGES; i += 3)
		at[i * PAGE]++;
}

static _Noreturn void sleep_on(void)
{
	for (;;)
		pause();
}

static _Noreturn void rest(void)
{
	__atomic_add_fetch(&weather->resting, 1, __ATOMIC_SEQ_CST);
	sleep_on();
}

static _Noreturn void be_child(volatile char *at, unsigned int turn, bool over)
{
	static char *const argv[] = { "true", NULL };

	write_some(at, turn + 1);
	if (over)
		rest();
	if (turn % 2)
		sleep_on();
	if (turn % 4)
		execv("/bin/true", argv);
	_exit(0);
}

static void end(pid_t child)
{
	call(kill(child, SIGKILL), "SIGKILL");
	waitpid(child, NULL, 0);
}

static _Noreturn void storm(void)
{
	volatile char *kept = map_some();
	pid_t sleeper[SLEEPERS] = { 0 };

	call(nice(NICE), "nice");
	for (unsigned int turn = 0;; turn++) {
		volatile char *at = map_some();
		bool over = weather->over;
		pid_t child, *old = &sleeper[turn / 2 % SLEEPERS];

		write_some(kept, turn);
		for (unsigned int i = 0; i < PAGES; i++)
			at[i * PAGE] = 1;
		child = call(fork(), "fork");
		if (!child) {
			write_some(kept, turn + 1);
			be_child(at, turn, over);
		}
		write_some(at, turn);
		if (over)
			rest();
		if (turn % 2 == 0) {
			waitpid(child, NULL, 0);
		} else {
			if (*old)
				end(*old);
			*old = child;
		}
		munmap((void *)at, PAGES * PAGE);
	}
}

void storm_begins(void)
{
	weather = mmap(NULL, PAGE, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (weather == MAP_FAILED)
		die("mmap");
	for (int i = 0; i < STORMERS; i++)
		if (!call(fork(), "fork"))
			storm();
	usleep(30000);
}

void storm_ends(void)
{
	weather->over = true;
	while (__atomic_load_n(&weather->resting, __ATOMIC_SEQ_CST) < 2 * STORMERS)
		usleep(10000);
}
