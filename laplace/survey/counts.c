/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts of what is in a stream; see laplace/counts.h. */
#include <laplace/counts.h>

#include <stdlib.h>

#include <laplace/error.h>

#include "base/array.h"
#include "base/map.h"
#include "base/try.h"

/* ---- events by kind ---- */

void lpl_event_counts_add(struct lpl_event_counts *counts, const struct lpl_event *event)
{
	const struct lpl_event_kind *kind = lpl_event_kind(event->tag);

	counts->all++;
	if (kind)
		counts->kind[kind - lpl_event_kinds()]++;
	else
		counts->unknown++;
}

uint64_t lpl_event_counts_of(const struct lpl_event_counts *counts, uint32_t tag)
{
	const struct lpl_event_kind *kind = lpl_event_kind(tag);

	return kind ? counts->kind[kind - lpl_event_kinds()] : 0;
}

void lpl_event_counts_each(const struct lpl_event_counts *counts,
			   void (*each)(void *context, const char *name, uint64_t count),
			   void *context)
{
	for (int i = 0; i < LPL_EVENT_KINDS; i++) {
		if (counts->kind[i])
			each(context, lpl_event_kinds()[i].name, counts->kind[i]);
	}
	if (counts->unknown)
		each(context, "unknown", counts->unknown);
}

/* ---- a whole stream ---- */

static bool note_space(struct lpl_counts *counts, uint64_t space)
{
	if (!counts->known_spaces) {
		counts->known_spaces = malloc(sizeof(*counts->known_spaces));
		if (!counts->known_spaces)
			return false;
		lpl_map_init(counts->known_spaces, 1);
	}
	if (!lpl_map_put(counts->known_spaces, LPL_KEY(space), 1))
		return false;
	counts->spaces = counts->known_spaces->count;
	return true;
}

/* The stream is here, in a window that goes on. */
static void move_window(struct lpl_counts *counts, uint64_t instr, uint64_t ref)
{
	struct lpl_recorded_window *window = &counts->window[counts->windows - 1];

	window->last_instr = instr;
	window->last_ref = ref;
	window->tasks_known = lpl_event_counts_of(&counts->events, KTR_TASK_CREATE) +
		       lpl_event_counts_of(&counts->events, KTR_SCHEDULE) > 0;
}

static bool note_tracing(struct lpl_counts *counts, const struct lpl_event *event)
{
	bool on = event->arg[LPL_EVENT_TRACING_ON] != 0;

	if (on && !counts->recording) {
		if (!lpl_reach(counts->window, counts->window_room, counts->windows))
			return false;
		counts->window[counts->windows++] = (struct lpl_recorded_window){
			.first_instr = event->instr, .first_ref = event->ref, .tid = event->tid,
		};
	}
	if (counts->recording || on)
		move_window(counts, event->instr, event->ref);
	counts->recording = on;
	return true;
}

static enum lpl_error count_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				 struct lpl_report *report)
{
	struct lpl_counts *counts = (struct lpl_counts *)sink;
	uint64_t space = counts->last.space;

	if (count == 0)
		return LPL_OK;
	if (counts->all_refs == 0)
		counts->first = refs[0];
	for (size_t i = 0; i < count; i++) {
		const struct lpl_ref *ref = &refs[i];

		if (ref->type < LPL_TYPES)
			counts->refs[ref->type]++;
		counts->user_refs += ref->flags & LPL_USER;
		counts->synthetic += (ref->flags & LPL_SYNTHETIC) / LPL_SYNTHETIC;
		/* spaces change seldom */
		if (counts->spaces == 0 || ref->space != space) {
			if (!note_space(counts, ref->space))
				return lpl_fail(report, LPL_ERR_MEMORY,
						"no memory for %zu address spaces",
						counts->spaces);
			space = ref->space;
		}
	}
	counts->all_refs += count;
	counts->last = refs[count - 1];
	if (counts->recording) {
		counts->window[counts->windows - 1].kept += count;
		move_window(counts, counts->last.instr, counts->last.ref);
	}
	return LPL_OK;
}

enum lpl_error lpl_counts_fold(struct lpl_counts *counts, const struct lpl_ref refs[3],
			       uint64_t count, struct lpl_report *report)
{
	const uint64_t others = count - 3;

	LPL_TRY(count_refs(&counts->sink, refs, 3, report));
	if (refs->type < LPL_TYPES)
		counts->refs[refs->type] += others;
	counts->user_refs += refs->flags & LPL_USER ? others : 0;
	counts->synthetic += refs->flags & LPL_SYNTHETIC ? others : 0;
	counts->all_refs += others;
	if (counts->recording)
		counts->window[counts->windows - 1].kept += others;
	return LPL_OK;
}

static enum lpl_error count_event(struct lpl_sink *sink, const struct lpl_event *event,
				  struct lpl_report *report)
{
	struct lpl_counts *counts = (struct lpl_counts *)sink;

	lpl_event_counts_add(&counts->events, event);
	if (event->tag == LPL_EVENT_TRACING && !note_tracing(counts, event))
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for %zu windows of time",
				counts->windows);
	return LPL_OK;
}

static enum lpl_error finish(struct lpl_sink *sink, struct lpl_report *report)
{
	(void)sink;
	(void)report;
	return LPL_OK;
}

void lpl_counts_init(struct lpl_counts *counts)
{
	*counts = (struct lpl_counts){ .sink = { count_refs, count_event, finish } };
}

void lpl_counts_free(struct lpl_counts *counts)
{
	if (counts->known_spaces)
		lpl_map_free(counts->known_spaces);
	free(counts->known_spaces);
	free(counts->window);
	counts->known_spaces = NULL;
	counts->window = NULL;
	counts->windows = counts->window_room = 0;
	counts->recording = false;
}
