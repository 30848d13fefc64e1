/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The program counter beside what a reduction keeps.
 *
 * A reference was made by the instruction that was fetched last before it.  A reduction drops most
 * fetches, so that this is lost, and it cannot be carried along, because which references stay is
 * known long after they were made.  But those that stay come in their order and have their numbers:
 * so the trace is read a second time, as far as the reference in hand, and what was fetched last there
 * is its program counter.  This holds for any reduction, takes O(1) memory, and costs another
 * pass, where it is asked for.
 *
 * In a trace that was reduced in this way before, each reference has its event already; the second
 * reading takes it from there.
 */
#include <laplace/select.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/try.h"

struct lpl_program_counters {
	struct lpl_sink sink;
	struct lpl_sink *next;
	struct lpl_reader *reader;	/* the trace, once more */
	bool whole;			/* it has every reference, else events */
	const char *trace;		/* its name */
	/* what was read and not looked at yet */
	const struct lpl_ref *refs;
	size_t left;
	const struct lpl_event *event;	/* after them */
	uint64_t passed;		/* number of the last reference looked at */
	uint64_t counter;		/* the program counter there ... */
	bool known;			/* ... if there was one */
	uint64_t of;			/* the number of its reference, of an event */
};

/* Where the instruction that is fetched begins: the second part of one that crosses a page is not there. */
static void look_at(struct lpl_program_counters *counters, const struct lpl_ref *ref)
{
	counters->passed = ref->ref;
	if (!counters->whole || ref->type != LPL_FETCH || (ref->flags & LPL_SECOND))
		return;
	counters->counter = ref->address;
	counters->known = true;
}

/* Events stand before the reference that they are of, and after the one with the number that they have. */
static void look_at_event(struct lpl_program_counters *counters, const struct lpl_event *event)
{
	/* what ran meanwhile is not known */
	if (event->tag == LPL_EVENT_TRACING || event->tag == LPL_EVENT_GAP)
		counters->known = false;
	if (counters->whole || event->tag != LPL_EVENT_PROGRAM_COUNTER)
		return;
	counters->counter = event->arg[LPL_EVENT_PROGRAM_COUNTER_ADDRESS];
	counters->known = true;
	counters->of = event->ref + 1;
}

/* More of the trace; what is damaged is passed over, as by the first reading. */
static enum lpl_error read_on(struct lpl_program_counters *counters, bool *ended,
			      struct lpl_report *report)
{
	enum lpl_error error;

	if (counters->event)
		look_at_event(counters, counters->event);
	counters->event = NULL;
	error = lpl_reader_next(counters->reader, &counters->refs, &counters->left,
				&counters->event, NULL);
	counters->known &= error != LPL_ERR_DAMAGED;
	if (error == LPL_ERR_DAMAGED)
		return lpl_reader_resume(counters->reader, report);
	*ended = error || (!counters->left && !counters->event);
	return LPL_OK;
}

/* Up to that reference, it included; false: the trace does not have it. */
static enum lpl_error find(struct lpl_program_counters *counters, uint64_t ref, bool *found,
			   struct lpl_report *report)
{
	bool ended = false;

	while (!ended && counters->passed < ref) {
		for (; counters->left && counters->refs->ref <= ref; counters->left--)
			look_at(counters, counters->refs++);
		if (counters->left)
			break;
		if (counters->passed < ref)
			LPL_TRY(read_on(counters, &ended, report));
	}
	*found = counters->passed == ref;
	return LPL_OK;
}

static enum lpl_error send_counter(struct lpl_program_counters *counters, const struct lpl_ref *ref,
				   struct lpl_report *report)
{
	struct lpl_event event = {
		.ref = ref->ref - 1,
		.instr = ref->instr,
		.cycle = ref->cycle,
		.space = ref->space,
		.tag = LPL_EVENT_PROGRAM_COUNTER,
	};
	bool found;

	LPL_TRY(find(counters, ref->ref, &found, report));
	if (!found)
		return lpl_fail(report, LPL_ERR_DAMAGED, "%s: reference %" PRIu64 " was not there when "
				"the trace was read for its program counter", counters->trace,
				ref->ref);
	if (!counters->known || (!counters->whole && counters->of != ref->ref))
		return LPL_OK;
	event.arg[LPL_EVENT_PROGRAM_COUNTER_ADDRESS] = counters->counter;
	return counters->next->event(counters->next, &event, report);
}

static enum lpl_error counters_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				    struct lpl_report *report)
{
	struct lpl_program_counters *counters = (struct lpl_program_counters *)sink;

	for (size_t i = 0; i < count; i++) {
		if (!(refs[i].flags & LPL_SYNTHETIC))
			LPL_TRY(send_counter(counters, &refs[i], report));
		LPL_TRY(counters->next->refs(counters->next, &refs[i], 1, report));
	}
	return LPL_OK;
}

static enum lpl_error counters_event(struct lpl_sink *sink, const struct lpl_event *event,
				     struct lpl_report *report)
{
	struct lpl_program_counters *counters = (struct lpl_program_counters *)sink;

	return counters->next->event(counters->next, event, report);
}

static enum lpl_error counters_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct lpl_program_counters *counters = (struct lpl_program_counters *)sink;

	return counters->next->finish(counters->next, report);
}

static bool has_counters(const struct lpl_meta *meta)
{
	const char *kept = lpl_meta_get(meta, LPL_META_PROGRAM_COUNTERS);

	return kept && strcmp(kept, "kept") == 0;
}

enum lpl_error lpl_program_counters_open(struct lpl_program_counters **result, const char *trace,
					 struct lpl_sink *next, struct lpl_report *report)
{
	struct lpl_program_counters *counters;
	const char *reduction, *only;

	*result = NULL;
	counters = calloc(1, sizeof(*counters));
	if (!counters)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory");
	counters->sink = (struct lpl_sink){ counters_refs, counters_event, counters_finish };
	counters->next = next;
	counters->trace = trace;
	if (lpl_reader_open(&counters->reader, trace, report)) {
		free(counters);
		return report ? report->error : LPL_ERR_IO;
	}
	reduction = lpl_meta_get(lpl_reader_meta(counters->reader), LPL_META_REDUCTION);
	only = lpl_meta_get(lpl_reader_meta(counters->reader), LPL_META_ONLY);
	counters->whole = !only && (!reduction || strcmp(reduction, "none") == 0);
	*result = counters;
	if (counters->whole || has_counters(lpl_reader_meta(counters->reader)))
		return LPL_OK;
	*result = NULL;
	(void)lpl_fail(report, LPL_ERR_UNSUPPORTED, "%s: was reduced (%.80s%s) without program counters: "
		       "the fetches that say them were dropped", trace, reduction ? reduction : "none",
		       only ? ", some references only" : "");
	lpl_program_counters_close(counters);
	return LPL_ERR_UNSUPPORTED;
}

struct lpl_sink *lpl_program_counters_sink(struct lpl_program_counters *counters)
{
	return &counters->sink;
}

void lpl_program_counters_close(struct lpl_program_counters *counters)
{
	if (!counters)
		return;
	lpl_reader_close(counters->reader);
	free(counters);
}
