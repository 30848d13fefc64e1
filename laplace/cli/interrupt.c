/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Signals that end a program, once what it was making is removed; see interrupt.h. */
#include "interrupt.h"

#include "base/host.h"
#include "base/try.h"

static enum lpl_error check(const struct cli_interrupt *interrupt, struct lpl_report *report)
{
	sigset_t pending;

	if (sigpending(&pending) != 0)
		return LPL_OK;
	for (int number = 1; number < NSIG; number++)
		if (sigismember(&pending, number) == 1 && sigismember(&interrupt->held, number) == 1)
			return lpl_fail(report, LPL_ERR_USAGE, "interrupted: nothing is left of what was written");
	return LPL_OK;
}

static enum lpl_error send_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	const struct cli_interrupt *interrupt = (struct cli_interrupt *)sink;

	LPL_TRY(check(interrupt, report));
	return interrupt->next->refs(interrupt->next, refs, count, report);
}

static enum lpl_error send_event(struct lpl_sink *sink, const struct lpl_event *event, struct lpl_report *report)
{
	const struct cli_interrupt *interrupt = (struct cli_interrupt *)sink;

	return interrupt->next->event(interrupt->next, event, report);
}

static enum lpl_error finish(struct lpl_sink *sink, struct lpl_report *report)
{
	const struct cli_interrupt *interrupt = (struct cli_interrupt *)sink;

	LPL_TRY(check(interrupt, report));
	return interrupt->next->finish(interrupt->next, report);
}

void cli_interrupt_hold(struct cli_interrupt *interrupt, bool holds)
{
	*interrupt = (struct cli_interrupt){ .sink = { send_refs, send_event, finish } };
	sigemptyset(&interrupt->held);
	if (holds) {
		lpl_add_unless_ignored(&interrupt->held, SIGINT);
		lpl_add_unless_ignored(&interrupt->held, SIGTERM);
		lpl_add_unless_ignored(&interrupt->held, SIGHUP);
	}
	(void)sigprocmask(SIG_BLOCK, &interrupt->held, &interrupt->before);
}

struct lpl_sink *cli_interrupt_sink(struct cli_interrupt *interrupt, struct lpl_sink *next)
{
	interrupt->next = next;
	return &interrupt->sink;
}

void cli_interrupt_release(const struct cli_interrupt *interrupt)
{
	(void)sigprocmask(SIG_SETMASK, &interrupt->before, NULL);
}
