/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The totals of what was chosen; see chosen.h. */
#include <string.h>

#include "chosen.h"

static void report_total(struct lpl_chosen *chosen, uint64_t total)
{
	chosen->totals.total = total;
	chosen->totals.events = chosen->all->events;
	chosen->totals.tracer_refs = chosen->all->tracer_refs;
	if (chosen->writer)
		lpl_writer_totals(chosen->writer, &chosen->totals);
}

static int take_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
		     struct lpl_report *report)
{
	struct lpl_chosen *chosen = (struct lpl_chosen *)sink;

	for (size_t i = 0; chosen->every && i < count; i++) {
		chosen->totals.refs[refs[i].type]++;
		chosen->totals.user_refs += refs[i].flags & LPL_USER;
	}
	report_total(chosen, refs[count - 1].ref);
	return chosen->next->refs(chosen->next, refs, count, report);
}

static int take_event(struct lpl_sink *sink, const struct lpl_event *event,
		      struct lpl_report *report)
{
	struct lpl_chosen *chosen = (struct lpl_chosen *)sink;

	report_total(chosen, event->ref);
	return chosen->next->event(chosen->next, event, report);
}

static int take_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct lpl_chosen *chosen = (struct lpl_chosen *)sink;

	return chosen->next->finish(chosen->next, report);
}

enum lpl_error lpl_chosen_open(struct lpl_chosen *chosen, const char *spec, bool every,
			       uint64_t cycles_a_second, struct lpl_report *report)
{
	struct lpl_choice_options options;
	char words[LPL_CHOICE_SIZE];
	enum lpl_error error = lpl_choice_parse(&options, words, spec, report);

	if (!error && (options.kinds != NULL || options.file != NULL))
		error = lpl_fail(report, LPL_ERR_USAGE, "what is behind a page is known when the trace is "
				 "merged; only of canonical traces kinds and files can be chosen");
	options.cycles_a_second = cycles_a_second;
	options.numbering = every ? LPL_NUMBERS_COUNTED : LPL_NUMBERS_BY_EVENTS;
	if (!error)
		error = lpl_choice_say(chosen->spec, &options, report);
	if (!error)
		error = lpl_choice_open(&chosen->choice, &options, &chosen->sink, report);
	chosen->every = every;
	chosen->sink = (struct lpl_sink){ take_refs, take_event, take_finish };
	return error;
}

struct lpl_sink *lpl_chosen_sink(struct lpl_chosen *chosen)
{
	return lpl_choice_sink(chosen->choice);
}

void lpl_chosen_end(const struct lpl_chosen *chosen, struct lpl_totals *totals)
{
	totals->total = lpl_choice_before(chosen->choice, totals->total);
	memcpy(totals->refs, chosen->totals.refs, sizeof(totals->refs));
	totals->user_refs = chosen->totals.user_refs;
}

void lpl_chosen_close(struct lpl_chosen *chosen)
{
	lpl_choice_close(chosen->choice);
	chosen->choice = NULL;
}
