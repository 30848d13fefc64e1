/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state-check [-r] TRACE PARTS: cut a trace where 1, 2 ... PARTS - 1 of so many equal parts of its
 * events are over, each time anew, and hold the merge of the state there and of what follows
 * against that of the whole (tests/property/cut.h).
 *
 *	-r	the state sees references, too: for a guest that does not report all breaks of
 *		copy-on-write
 *
 * Exit status: 0 the same, 1 they differ, 2 usage, 3 the trace cannot be read.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <laplace/trace.h>

#include "../property/cut.h"

enum { DIFFERENT = 1, USAGE = 2, UNREADABLE = 3 };

struct checker {
	struct cut *cut;		/* NULL: events are only counted */
	uint64_t events, refs;		/* of the trace */
	uint64_t refs_after;		/* the cut */
	uint64_t at;			/* this event comes before the cut */
};

static int unreadable(const char *path, const struct lpl_report *report)
{
	fprintf(stderr, "%s: %s\n", path, report->text);
	return UNREADABLE;
}

/* One record, or several references. */
static void take(struct checker *checker, const struct lpl_ref *refs, size_t count,
		 const struct lpl_event *event)
{
	checker->refs += count;
	checker->events += event != NULL;
	if (checker->cut == NULL)
		return;
	checker->refs_after += checker->cut->is_cut ? count : 0;
	for (size_t i = 0; i < count; i++)
		cut_ref(checker->cut, &refs[i]);
	if (event != NULL)
		cut_event(checker->cut, event);
	if (event != NULL && checker->events == checker->at)
		cut_here(checker->cut);
}

static int read_trace(struct checker *checker, const char *path)
{
	struct lpl_report report = { .error = LPL_OK };
	const struct lpl_event *event;
	struct lpl_reader *reader;
	const struct lpl_ref *refs;
	size_t count;

	checker->events = checker->refs = checker->refs_after = 0;
	if (lpl_reader_open(&reader, path, &report) != LPL_OK)
		return unreadable(path, &report);
	do {
		if (lpl_reader_next(reader, &refs, &count, &event, &report) != LPL_OK) {
			lpl_reader_close(reader);
			return unreadable(path, &report);
		}
		take(checker, refs, count, event);
	} while (count > 0 || event != NULL);
	lpl_reader_close(reader);
	return 0;
}

/* One cut; the status. */
static int check(const char *path, uint64_t at, bool references_too)
{
	struct checker checker = { .at = at, .cut = cut_open(references_too, true) };
	int status = read_trace(&checker, path);

	cut_finish(checker.cut);
	if (status == 0 && checker.cut->why[0] != '\0') {
		printf("cut after event %" PRIu64 ": %s\n", at, checker.cut->why);
		status = DIFFERENT;
	} else if (status == 0) {
		printf("cut after event %" PRIu64 ": a state of %" PRIu64 " events, and %" PRIu64
		       " references, all the same\n", at, checker.cut->state_events,
		       checker.refs_after);
	}
	cut_close(checker.cut);
	return status;
}

int main(int argc, char *argv[])
{
	struct checker counter = { .cut = NULL };
	bool references_too = argc == 4 && argv[1][0] == '-' && argv[1][1] == 'r';
	const char *path = argc > 2 ? argv[argc - 2] : NULL;
	uint64_t parts = argc > 2 ? strtoull(argv[argc - 1], NULL, 10) : 0;
	int status;

	if (parts < 2 || argc != 3 + references_too) {
		fprintf(stderr, "usage: state-check [-r] TRACE PARTS\n");
		return USAGE;
	}
	status = read_trace(&counter, path);
	if (status == 0 && counter.events < parts) {
		printf("%" PRIu64 " events: nothing to cut proves nothing\n", counter.events);
		return DIFFERENT;
	}
	for (uint64_t part = 1; part < parts && status == 0; part++)
		status = check(path, counter.events / parts * part, references_too);
	return status;
}
