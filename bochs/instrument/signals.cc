/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Signals that end a run (SIGHUP, SIGINT, SIGTERM), that have it flushed (SIGUSR1), or begin the
 * next segment of its trace (SIGUSR2, as in `perf record --switch-output`).
 *
 * A handler would not do: Bochs sets its own for SIGINT (with a terminal for its
 * screen, also for SIGTERM and SIGHUP), and gives SIGINT its default back before
 * the trace is closed, when a second one would kill us.  So these signals are
 * blocked in Bochs' thread and in all that it starts, whatever their handlers, and
 * a thread of our own waits for them.  The first that ends the run counts; later ones
 * are pending for ever.  A signal that was ignored when we were started (nohup, a
 * background job of a script) is to be ignored: no thread waits for it.
 *
 * Blocked, too, is what the kernel sends with a write that fails: SIGPIPE, when a
 * pipe's reader has closed it, and SIGXFSZ, when a file may grow no further.  The
 * write's error is enough, where anybody wants to know.
 *
 * In the debugger SIGINT is Bochs': it brings the prompt back; and SIGUSR2 is ours, to wake it.
 */
#include "bochs.h"
#include "cpu/cpu.h"
#include "pc_system.h"
#include "bx_debug/debug.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "duties.h"
#include "option.h"
#include "signals.h"

static const struct {
	int number;
	unsigned wants;		/* enum laplace_wants; 0: the end */
	bool in_debugger;	/* it is ours there, too */
} TAKEN[] = {
	{ SIGHUP, 0, true }, { SIGINT, 0, false }, { SIGTERM, 0, true },
	{ SIGUSR1, LAPLACE_WANTS_FLUSH, true }, { SIGUSR2, LAPLACE_WANTS_ROTATION, false },
};
static const size_t TAKEN_COUNT = sizeof(TAKEN) / sizeof(TAKEN[0]);
#define LEAVE SIGRTMIN			/* from our own thread to the one that waits */
static const long NAG_NS = 20000000;

static struct {
	bool ignored[TAKEN_COUNT];
	sigset_t awaited;		/* those that somebody waits for */
	pthread_t simulator, waiter;
	bool waits;
	bool debugger;
	std::atomic<bool> stop, heeded, leaving;
	std::atomic<unsigned> wants;
} signals;

void laplace_signals_note(void)
{
	struct sigaction action;

	for (size_t i = 0; i < TAKEN_COUNT; i++)
		signals.ignored[i] = sigaction(TAKEN[i].number, NULL, &action) == 0 &&
				     action.sa_handler == SIG_IGN;
	/* Bochs has much to say before there is anything to be closed */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

bool laplace_signals_stop(void)
{
	return signals.stop.load(std::memory_order_relaxed);
}

unsigned laplace_signals_want(void)
{
	return signals.wants.exchange(0);
}

void laplace_signals_heeded(void)
{
	signals.heeded = true;
}

/*
 * Bochs leaves its loop, be the processor halted or spinning on one page.  Its own
 * thread may write async_event at the same moment, so this is repeated until it
 * was noticed.  At the debugger's prompt it waits for a line: the input ends, and
 * a signal to that thread has it look.
 */
static void stop_simulator(void)
{
	const struct timespec nap = { 0, NAG_NS };
	int nothing = signals.debugger ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;

	if (nothing >= 0)
		dup2(nothing, STDIN_FILENO);
	while (!signals.heeded && !signals.leaving) {
		laplace_request_look();
		/* others can go as far only where a trace of instructions begins: that is looked at */
		if (laplace_option.jobs) {
			nanosleep(&nap, NULL);
			continue;
		}
		bx_pc_system.kill_bochs_request = 1;
		__atomic_store_n(&BX_CPU(0)->async_event, 1, __ATOMIC_RELAXED);
		if (signals.debugger) {
			bx_guard.interrupt_requested = 1;	/* a guest that runs stops, too */
			pthread_kill(signals.simulator, SIGUSR2);
		}
		nanosleep(&nap, NULL);
	}
}

/* The next one.  Meanwhile the simulator is asked until it has noticed what the last one wants. */
static int next_signal(void)
{
	const struct timespec nap = { 0, NAG_NS };
	int number;

	do {
		const bool wants = signals.wants != 0;

		if (wants)
			laplace_request_look();
		number = sigtimedwait(&signals.awaited, NULL, wants ? &nap : NULL);
	} while (number < 0 && (errno == EAGAIN || errno == EINTR));
	return number;
}

static void *wait_for_signals(void *)
{
	for (;;) {
		const int number = next_signal();
		unsigned wants = 0;

		if (number == LEAVE && signals.leaving)
			return NULL;
		if (number == LEAVE)		/* somebody else's: it says nothing */
			continue;
		for (const auto &taken : TAKEN)
			if (taken.number == number)
				wants = taken.wants;
		if (!wants)
			break;
		signals.wants |= wants;
	}
	signals.stop = true;
	stop_simulator();
	return NULL;
}

static void interrupt_read(int)
{
}

bool laplace_signals_take(bool debugger)
{
	struct sigaction wake;
	sigset_t blocked, waking;
	bool any = false;

	signals.simulator = pthread_self();
	signals.debugger = debugger;
	sigemptyset(&signals.awaited);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGPIPE);
	sigaddset(&blocked, SIGXFSZ);
	sigaddset(&blocked, LEAVE);
	sigaddset(&signals.awaited, LEAVE);
	for (size_t i = 0; i < TAKEN_COUNT; i++) {
		if (debugger && !TAKEN[i].in_debugger)
			continue;
		sigaddset(&blocked, TAKEN[i].number);
		if (!signals.ignored[i]) {
			sigaddset(&signals.awaited, TAKEN[i].number);
			any = true;
		}
	}
	if (debugger) {
		memset(&wake, 0, sizeof(wake));	/* no SA_RESTART */
		wake.sa_handler = interrupt_read;
		sigaction(SIGUSR2, &wake, NULL);
		/* whoever started us may have blocked it, until it is taken */
		sigemptyset(&waking);
		sigaddset(&waking, SIGUSR2);
		pthread_sigmask(SIG_UNBLOCK, &waking, NULL);
	}
	pthread_sigmask(SIG_BLOCK, &blocked, NULL);
	signals.waits = any && pthread_create(&signals.waiter, NULL, wait_for_signals, NULL) == 0;
	return !any || signals.waits;
}

bool laplace_signals_leave(void)
{
	if (signals.waits) {
		/* Asked, and not cancelled, which might lose a signal that it has just taken. */
		signals.leaving = true;
		pthread_kill(signals.waiter, LEAVE);
		pthread_join(signals.waiter, NULL);
		signals.waits = false;
	}
	return signals.stop;
}
