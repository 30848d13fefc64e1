/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Signals that end a run.
 *
 * A handler would not do: Bochs sets its own for SIGINT (with a terminal for its
 * screen, also for SIGTERM and SIGHUP), and gives SIGINT its default back before
 * the trace is closed, when who asks twice would kill us.  So these signals are
 * blocked in Bochs' thread and in all that it starts, whatever their handlers, and
 * a thread of our own waits for them.  The first one counts; what comes after it
 * stays pending for ever.  Who started us with a signal ignored (nohup, a
 * background job of a script) means it: nobody waits for that one.
 *
 * Blocked, too, is what the kernel sends with a write that fails: SIGPIPE, when a
 * message's reader went away, and SIGXFSZ, when a file may grow no further.  The
 * write's error is enough, where anybody wants to know.
 *
 * In the debugger SIGINT is Bochs': it brings the prompt back.
 */
#include "bochs.h"
#include "cpu/cpu.h"
#include "pc_system.h"
#include "bx_debug/debug.h"

#include <atomic>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "signals.h"

static const int ENDING[] = { SIGHUP, SIGINT, SIGTERM };
static const long NAG_NS = 20000000;

static struct {
	bool ignored[sizeof(ENDING) / sizeof(ENDING[0])];
	sigset_t ending;		/* those that somebody waits for */
	pthread_t simulator, waiter;
	bool waits;
	bool debugger;
	std::atomic<bool> stop, heeded;
} signals;

void laplace_signals_note(void)
{
	struct sigaction action;

	for (size_t i = 0; i < sizeof(ENDING) / sizeof(ENDING[0]); i++)
		signals.ignored[i] = sigaction(ENDING[i], NULL, &action) == 0 &&
				     action.sa_handler == SIG_IGN;
	/* Bochs has much to say before there is anything to be closed */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

bool laplace_signals_stop(void)
{
	return signals.stop.load(std::memory_order_relaxed);
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
	while (!signals.heeded) {
		bx_pc_system.kill_bochs_request = 1;
		__atomic_store_n(&BX_CPU(0)->async_event, 1, __ATOMIC_RELAXED);
		if (signals.debugger) {
			bx_guard.interrupt_requested = 1;	/* a guest that runs stops, too */
			pthread_kill(signals.simulator, SIGUSR2);
		}
		nanosleep(&nap, NULL);
	}
}

static void *wait_for_signal(void *)
{
	int number;

	if (sigwait(&signals.ending, &number) == 0) {
		signals.stop = true;
		stop_simulator();
	}
	return NULL;
}

static void interrupt_read(int)
{
}

bool laplace_signals_take(bool debugger)
{
	struct sigaction wake;
	sigset_t blocked;
	bool any = false;

	signals.simulator = pthread_self();
	signals.debugger = debugger;
	sigemptyset(&signals.ending);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGPIPE);
	sigaddset(&blocked, SIGXFSZ);
	for (size_t i = 0; i < sizeof(ENDING) / sizeof(ENDING[0]); i++) {
		if (debugger && ENDING[i] == SIGINT)
			continue;
		sigaddset(&blocked, ENDING[i]);
		if (!signals.ignored[i]) {
			sigaddset(&signals.ending, ENDING[i]);
			any = true;
		}
	}
	if (debugger) {
		memset(&wake, 0, sizeof(wake));	/* no SA_RESTART */
		wake.sa_handler = interrupt_read;
		sigaction(SIGUSR2, &wake, NULL);
	}
	pthread_sigmask(SIG_BLOCK, &blocked, NULL);
	signals.waits = any && pthread_create(&signals.waiter, NULL, wait_for_signal, NULL) == 0;
	return !any || signals.waits;
}

bool laplace_signals_leave(void)
{
	if (signals.waits) {
		pthread_cancel(signals.waiter);	/* it waits, or it has noted one */
		pthread_join(signals.waiter, NULL);
		signals.waits = false;
	}
	return signals.stop;
}
