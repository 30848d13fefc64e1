/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For programs that compare traces: a trace that is read an item at a time. */
#ifndef LAPLACE_TESTS_ITEMS_H
#define LAPLACE_TESTS_ITEMS_H

#include <string.h>

#include <laplace/trace.h>

struct items {
	struct lpl_reader *reader;
	const struct lpl_ref *refs;	/* those from `next` on are at hand */
	size_t count, next;
	const struct lpl_event *event;	/* at hand after them, or NULL */
	bool ended;
};

/* Have something at hand, unless it has ended. */
static inline enum lpl_error items_fill(struct items *items, struct lpl_report *report)
{
	enum lpl_error error;

	if (items->next < items->count || items->event || items->ended)
		return LPL_OK;
	items->next = 0;
	error = lpl_reader_next(items->reader, &items->refs, &items->count, &items->event, report);
	items->ended = items->count == 0 && !items->event;
	return error;
}

/* In every field but the number of the reference before them. */
static inline bool events_equal(const struct lpl_event *a, const struct lpl_event *b)
{
	return a->instr == b->instr && a->cycle == b->cycle && a->space == b->space &&
	       a->tag == b->tag && a->tid == b->tid && a->tgid == b->tgid &&
	       a->text_length == b->text_length &&
	       memcmp(a->arg, b->arg, sizeof(a->arg)) == 0 &&
	       memcmp(a->text, b->text, a->text_length) == 0;
}

#endif
