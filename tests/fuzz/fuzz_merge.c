/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fuzzing the merge, and a choice of tasks, by what a guest may send (guest.h).  Nothing may crash,
 * and the books have to add up.
 */
#include <laplace/merge.h>
#include <laplace/select.h>

#include "guest.h"

static enum lpl_error take_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	(void)sink;
	(void)refs;
	(void)count;
	(void)report;
	return LPL_OK;
}

static enum lpl_error take_event(struct lpl_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	(void)sink;
	(void)event;
	(void)report;
	return LPL_OK;
}

static enum lpl_error take_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	(void)sink;
	(void)report;
	return LPL_OK;
}

/* How many references of a process and its children are made in such modes. */
static uint64_t chosen(const uint8_t *data, size_t size, unsigned int modes)
{
	const struct lpl_choice_options options = { .process = "1", .children = true, .modes = modes };
	struct lpl_sink end = { take_refs, take_event, take_finish };
	struct guest guest = { .input = { data, size } };
	struct lpl_choice *choice;
	uint64_t passed;

	require(lpl_choice_open(&choice, &options, &end, NULL) == LPL_OK);
	guest.sink = lpl_choice_sink(choice);
	guest_run(&guest);
	passed = lpl_choice_passed(choice);
	require(passed <= guest.references);
	lpl_choice_close(choice);
	return passed;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct lpl_merge_options options = { .audit = true, .problems = 2 };
	struct lpl_sink end = { take_refs, take_event, take_finish };
	struct guest guest = { .input = { data, size } };
	const struct lpl_merge_audit *books;
	struct lpl_merge_output *output;
	struct lpl_kinds *kinds;
	struct lpl_merge *merge;

	/* what a canonical trace says of its pages is enough to choose by kind */
	require(lpl_kinds_open(&kinds, "file,anonymous", NULL, &end, NULL) == LPL_OK);
	require(lpl_merge_canonical_open(&output, lpl_kinds_sink(kinds), NULL) == LPL_OK);
	require(lpl_merge_open(&merge, output, &options, NULL) == LPL_OK);
	guest.sink = lpl_merge_sink(merge);
	guest_run(&guest);
	books = lpl_merge_audit(merge);
	require(books->references == guest.references && books->events == guest.events);
	require(books->by_kind == guest.references && books->by_task == guest.references);
	require(books->tasks == books->tasks_ended + books->tasks_live);
	require(books->spaces == books->spaces_ended + books->spaces_live);
	require(books->cache_added == books->cache_removed + books->cache_displaced +
					      books->cache_lost + books->cache_held);
	lpl_merge_close(merge);
	lpl_merge_canonical_close(output);
	lpl_kinds_close(kinds);
	require(chosen(data, size, LPL_CHOOSE_USER) + chosen(data, size, LPL_CHOOSE_KERNEL) ==
		chosen(data, size, 0));
	return 0;
}
