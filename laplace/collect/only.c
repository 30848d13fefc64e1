/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A recording of only some of the references; see only.h. */
#include <string.h>

#include "base/try.h"
#include "only.h"

static void report_total(struct lpl_only *only, uint64_t total)
{
	only->totals.total = total;
	only->totals.events = only->all->events;
	only->totals.tracer_refs = only->all->tracer_refs;
	if (only->writer)
		lpl_writer_totals(only->writer, &only->totals);
}

static enum lpl_error take_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	struct lpl_only *only = (struct lpl_only *)sink;

	for (size_t i = 0; only->every && i < count; i++) {
		only->totals.refs[refs[i].type]++;
		only->totals.user_refs += refs[i].flags & LPL_USER;
	}
	report_total(only, refs[count - 1].ref);
	return only->next->refs(only->next, refs, count, report);
}

static enum lpl_error take_event(struct lpl_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	struct lpl_only *only = (struct lpl_only *)sink;

	report_total(only, event->ref);
	return only->next->event(only->next, event, report);
}

static enum lpl_error take_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct lpl_only *only = (struct lpl_only *)sink;

	return only->next->finish(only->next, report);
}

enum lpl_error lpl_only_open(struct lpl_only *only, const char *spec, bool every,
			     uint64_t cycles_a_second, struct lpl_report *report)
{
	struct lpl_choice_options options;
	char words[LPL_CHOICE_SIZE];

	only->every = every;
	only->sink = (struct lpl_sink){ take_refs, take_event, take_finish };
	LPL_TRY(lpl_choice_parse(&options, words, spec, report));
	if (options.kinds != NULL || options.file != NULL)
		return lpl_fail(report, LPL_ERR_USAGE, "what a page holds is known only when the "
				"trace is merged; kinds and files can be chosen from canonical "
				"traces alone");
	options.cycles_a_second = cycles_a_second;
	options.numbering = every ? LPL_NUMBERS_COUNTED : LPL_NUMBERS_BY_EVENTS;
	LPL_TRY(lpl_choice_say(only->spec, &options, report));
	return lpl_choice_open(&only->choice, &options, &only->sink, report);
}

struct lpl_sink *lpl_only_sink(struct lpl_only *only)
{
	return lpl_choice_sink(only->choice);
}

void lpl_only_end(const struct lpl_only *only, struct lpl_totals *totals)
{
	totals->total = lpl_choice_before(only->choice, totals->total);
	memcpy(totals->refs, only->totals.refs, sizeof(totals->refs));
	totals->user_refs = only->totals.user_refs;
}

void lpl_only_close(struct lpl_only *only)
{
	lpl_choice_close(only->choice);
	only->choice = NULL;
}
