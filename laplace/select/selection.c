/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is chosen of a trace, by columns.
 *
 * A choice is a sink, to which a trace is pushed, and columns are asked for, so it is pushed as
 * much as columns have room for: a choice passes no more than it gets, and passes it at once.
 * What there was no room for is kept where the reader delivered it, in the reader's memory, which
 * is valid until the next block is read.
 */
#include <stdlib.h>

#include <laplace/reducer.h>
#include <laplace/select.h>

#include "record/columns.h"

struct lpl_selection {
	struct lpl_sink sink;			/* what comes from the choice */
	const struct lpl_ref_columns *columns;	/* of the call that is going on ... */
	size_t count;				/* ... and how much of them is filled */
	struct lpl_reader *reader;
	struct lpl_choice *choice;
	const struct lpl_ref *refs;		/* read, and not yet pushed: so many, ... */
	size_t left;
	const struct lpl_event *event;		/* ... and an event after them, or NULL */
	struct lpl_report failure;		/* of the reader or the choice: for good */
};

static enum lpl_error take_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	struct lpl_selection *selection = (struct lpl_selection *)sink;

	(void)report;
	lpl_ref_columns_put(selection->columns, selection->count, refs, count);
	selection->count += count;
	return LPL_OK;
}

static enum lpl_error take_event(struct lpl_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	(void)sink, (void)event, (void)report;
	return LPL_OK;
}

static enum lpl_error take_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	(void)sink, (void)report;
	return LPL_OK;
}

static enum lpl_need need_of(void *context, const struct lpl_chunk *chunk)
{
	const struct lpl_selection *selection = context;

	return lpl_choice_need(selection->choice, chunk);
}

enum lpl_error lpl_selection_open(struct lpl_selection **selection, struct lpl_reader *reader,
				  const struct lpl_choice_options *options,
				  struct lpl_report *report)
{
	const char *reduction = lpl_meta_get(lpl_reader_meta(reader), LPL_META_REDUCTION);
	struct lpl_selection *made;
	enum lpl_error error;

	*selection = NULL;
	if (lpl_reduction_behaviour(reduction))
		return lpl_fail(report, LPL_ERR_UNSUPPORTED, "a behaviour sequence (%.80s) is of "
				"one memory, of which nothing can be chosen", reduction);
	if (lpl_reduction_records(reduction))
		return lpl_fail(report, LPL_ERR_UNSUPPORTED, "of records of active periods (%.80s) "
				"nothing can be chosen", reduction);
	made = calloc(1, sizeof(*made));
	if (made == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory to choose references");
	made->sink = (struct lpl_sink){ take_refs, take_event, take_finish };
	made->reader = reader;
	error = lpl_choice_open(&made->choice, options, &made->sink, report);
	if (error != LPL_OK) {
		free(made);
		return error;
	}
	lpl_reader_ask(reader, need_of, made);
	*selection = made;
	return LPL_OK;
}

/* Of what was read as much as there is room for. */
static void push(struct lpl_selection *selection, size_t room)
{
	struct lpl_sink *sink = lpl_choice_sink(selection->choice);
	const size_t count = selection->left < room ? selection->left : room;
	enum lpl_error error = LPL_OK;

	if (count > 0) {
		error = sink->refs(sink, selection->refs, count, &selection->failure);
		selection->refs += count;
		selection->left -= count;
	}
	if (selection->left > 0 || !selection->event)
		return;
	if (error == LPL_OK)
		(void)sink->event(sink, selection->event, &selection->failure);
	selection->event = NULL;
}

/* The next block, if the last one was pushed; false: there is none. */
static bool has_more(struct lpl_selection *selection)
{
	if (selection->left > 0 || selection->event)
		return true;
	(void)lpl_reader_next(selection->reader, &selection->refs, &selection->left,
			      &selection->event, &selection->failure);
	return selection->left > 0 || selection->event;
}

enum lpl_error lpl_selection_fill(struct lpl_selection *selection,
				  const struct lpl_ref_columns *columns, size_t most,
				  size_t *count, struct lpl_report *report)
{
	struct lpl_report *failure = &selection->failure;

	*count = 0;
	if (most == 0)
		return lpl_fail(report, LPL_ERR_USAGE, "columns without room for a reference");
	selection->columns = columns;
	selection->count = 0;
	while (failure->error == LPL_OK && selection->count < most && has_more(selection))
		push(selection, most - selection->count);
	*count = selection->count;
	/* what was filled before it is handed over first */
	if (failure->error == LPL_OK || *count > 0)
		return LPL_OK;
	if (report && report->error == LPL_OK)
		*report = *failure;
	return failure->error;
}

const struct lpl_choice *lpl_selection_choice(const struct lpl_selection *selection)
{
	return selection->choice;
}

void lpl_selection_close(struct lpl_selection *selection)
{
	if (selection == NULL)
		return;
	lpl_choice_close(selection->choice);
	free(selection);
}
