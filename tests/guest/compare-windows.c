/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * compare-windows [-c1] [-e EVERY -l LENGTH -f FROM] WHOLE WINDOWS: does the trace WINDOWS, which was
 * recorded in windows of time, hold in each of them what the trace WHOLE of the same run, which
 * was recorded without windows, holds there: every reference, in every field but its number; and
 * every event of the whole?
 *
 *	-c	both are canonical: pages have other numbers, but the same page of one is always
 *		the same page of the other; of events only the references' are looked at
 *	-e ...	windows are of LENGTH instructions, the first at FROM, one every EVERY: each begins
 *		and ends at its count, or so few instructions later as straight code has
 *	-1	there is one; else there are several
 *
 * A window is what lies between an event "tracing on" and the next "tracing off"; at the
 * instructions where these stand, it may hold a part of the references.
 *
 * Prints what is equal, or the first difference.
 * Exit status: 0 equal, 1 they differ, 2 usage, 3 one cannot be read.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/map.h"
#include "items.h"

enum { DIFFERENT = 1, USAGE = 2, UNREADABLE = 3, STRAIGHT_MAX = 32 };

struct comparison {
	struct items refs, events;	/* the whole trace, twice: each reads its own */
	const struct lpl_ref *ref;	/* the next of the whole's references; NULL: none */
	const struct lpl_event *event;	/* likewise, without those of tracing */
	bool canonical;
	struct lpl_map there, back;	/* pages of the whole and of the windows, plus 1 */
	uint64_t every, length, from;

	bool within, first;		/* in a window; before its first reference */
	uint64_t begin;			/* its first instruction */
	uint64_t end, late;		/* where it should end; fetches from there on */
	uint64_t offset;		/* by which the whole's numbers are larger */
	uint64_t windows, compared, passed, events_compared;
};

static _Noreturn void unreadable(const struct lpl_report *report)
{
	fprintf(stderr, "compare-windows: %s\n", report->text);
	exit(UNREADABLE);
}

static _Noreturn void differ(const struct comparison *c, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static _Noreturn void differ(const struct comparison *c, const char *format, ...)
{
	va_list arguments;

	printf("window %" PRIu64 ", after %" PRIu64 " references: ", c->windows, c->compared);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
	exit(DIFFERENT);
}

static void open_items(struct items *items, const char *path)
{
	struct lpl_report report = { 0 };

	*items = (struct items){ 0 };
	if (lpl_reader_open(&items->reader, path, &report))
		unreadable(&report);
}

/* false: there are no more. */
static bool next_item(struct items *items, const struct lpl_ref **ref,
		      const struct lpl_event **event)
{
	struct lpl_report report = { 0 };

	*ref = NULL;
	*event = NULL;
	if (items_fill(items, &report))
		unreadable(&report);
	if (items->next < items->count) {
		*ref = &items->refs[items->next++];
		return true;
	}
	*event = items->event;
	items->event = NULL;
	return *event != NULL;
}

static void next_ref_of_whole(struct comparison *c)
{
	const struct lpl_event *event;

	do {
		if (!next_item(&c->refs, &c->ref, &event))
			return;
	} while (!c->ref);
}

/* What only a window, or a canonical trace, has. */
static bool is_own(const struct lpl_event *event)
{
	return event->tag == LPL_EVENT_TRACING || event->tag == LPL_EVENT_PAGE;
}

static void next_event_of_whole(struct comparison *c)
{
	const struct lpl_ref *ref;

	do {
		if (!next_item(&c->events, &ref, &c->event))
			return;
	} while (!c->event || is_own(c->event));
}

/* Each page of one is one page of the other. */
static bool same_page(struct comparison *c, uint64_t a, uint64_t b)
{
	uint64_t *there = lpl_map_reach(&c->there, LPL_KEY(a >> LPL_PAGE_SHIFT));
	uint64_t *back = lpl_map_reach(&c->back, LPL_KEY(b >> LPL_PAGE_SHIFT));

	if (!there || !back)
		unreadable(&(struct lpl_report){ .text = "no memory for pages" });
	if (!*there && !*back) {
		*there = (b >> LPL_PAGE_SHIFT) + 1;
		*back = (a >> LPL_PAGE_SHIFT) + 1;
	}
	bool same = *there == (b >> LPL_PAGE_SHIFT) + 1 && *back == (a >> LPL_PAGE_SHIFT) + 1;
	/* a place that was reached is not left empty */
	*there += !*there;
	*back += !*back;
	return same;
}

static bool is_fetch(const struct lpl_ref *ref)
{
	return ref->type == LPL_FETCH && !(ref->flags & LPL_SECOND);
}

static bool same_ref(struct comparison *c, const struct lpl_ref *a, const struct lpl_ref *b)
{
	return a->instr == b->instr && a->cycle == b->cycle && a->type == b->type &&
	       a->flags == b->flags && a->length == b->length && a->space == b->space &&
	       (c->canonical ? same_page(c, a->address, b->address) : a->address == b->address);
}

/*
 * Go on in the whole to where the window's first reference stands.  At its first instruction,
 * what precedes the event is not in it; it is found by its time and kind.
 */
static void find_first(struct comparison *c, const struct lpl_ref *b)
{
	while (c->ref && (c->ref->instr < c->begin ||
			  (c->ref->instr == c->begin && b->instr == c->begin &&
			   (c->ref->cycle != b->cycle || c->ref->type != b->type ||
			    (!c->canonical && c->ref->address != b->address))))) {
		next_ref_of_whole(c);
		c->passed++;
	}
	if (c->ref)
		c->offset = c->ref->ref - b->ref;
	c->first = false;
}

static void take_ref(struct comparison *c, const struct lpl_ref *b)
{
	if (!c->within)
		differ(c, "reference %" PRIu64 " is in no window", b->ref);
	if (c->first)
		find_first(c, b);
	if (!c->ref)
		differ(c, "the whole trace has ended");
	if (!same_ref(c, c->ref, b) || c->ref->ref - b->ref != c->offset)
		differ(c, "%c at %" PRIx64 ", instruction %" PRIu64 ", should be %c at %" PRIx64
		       ", instruction %" PRIu64, lpl_type_letter(b->type), b->address, b->instr,
		       lpl_type_letter(c->ref->type), c->ref->address, c->ref->instr);
	c->compared++;
	c->late += c->every && b->instr >= c->end && is_fetch(b);
	next_ref_of_whole(c);
}

/* No more than straight code lies between where it should begin and where it does. */
static void check_begin(struct comparison *c, uint64_t instr)
{
	uint64_t asked = c->from + c->windows * c->every, fetches = 0;

	if (instr < asked)
		differ(c, "it begins at instruction %" PRIu64 ", before %" PRIu64, instr, asked);
	for (; c->ref && c->ref->instr < instr; c->passed++) {
		fetches += c->ref->instr >= asked && is_fetch(c->ref);
		next_ref_of_whole(c);
	}
	if (fetches > STRAIGHT_MAX)
		differ(c, "it begins %" PRIu64 " instructions late", fetches);
	c->end = asked + c->length;
	c->late = 0;
}

static void check_end(struct comparison *c, uint64_t instr)
{
	if (c->ref && instr < c->end)
		differ(c, "it ends at instruction %" PRIu64 ", before %" PRIu64, instr, c->end);
	if (c->late > STRAIGHT_MAX)
		differ(c, "it ends %" PRIu64 " instructions late", c->late);
}

static void take_tracing(struct comparison *c, const struct lpl_event *event)
{
	bool on = event->arg[LPL_EVENT_TRACING_ON] != 0;

	if (on == c->within)
		differ(c, "tracing goes %s twice", on ? "on" : "off");
	c->within = on;
	if (on) {
		if (c->every)
			check_begin(c, event->instr);
		c->begin = event->instr;
		c->first = true;
		c->windows++;
		return;
	}
	if (c->ref && !c->first && c->ref->instr < event->instr)
		differ(c, "it ends at instruction %" PRIu64 ", but the whole has %c at %" PRIu64,
		       event->instr, lpl_type_letter(c->ref->type), c->ref->instr);
	if (c->every)
		check_end(c, event->instr);
}

static void take_event(struct comparison *c, const struct lpl_event *b)
{
	const struct lpl_event *a = c->event;

	if (!a)
		differ(c, "the whole trace has no more events");
	if (!events_equal(a, b))
		differ(c, "event %u at instruction %" PRIu64 " should be %u at %" PRIu64, b->tag,
		       b->instr, a->tag, a->instr);
	if (c->within && !c->first && a->ref - b->ref != c->offset)
		differ(c, "event %u at instruction %" PRIu64 " stands elsewhere", b->tag, b->instr);
	c->events_compared++;
	next_event_of_whole(c);
}

static void compare(struct comparison *c, struct items *windows)
{
	const struct lpl_ref *ref;
	const struct lpl_event *event;

	next_ref_of_whole(c);
	next_event_of_whole(c);
	while (next_item(windows, &ref, &event)) {
		if (ref) {
			take_ref(c, ref);
		} else if (event->tag == LPL_EVENT_TRACING) {
			take_tracing(c, event);
		} else if (!is_own(event) && !c->canonical) {
			take_event(c, event);
		}
	}
	if (c->event && !c->canonical)
		differ(c, "event %u of the whole, at instruction %" PRIu64 ", is missing",
		       c->event->tag, c->event->instr);
	for (; c->ref; c->passed++)
		next_ref_of_whole(c);
}

static uint64_t number(const char *text)
{
	char *end;
	uint64_t value = strtoull(text, &end, 10);

	return *end ? 0 : value;
}

int main(int argc, char *argv[])
{
	struct comparison c = { .canonical = false };
	struct items windows;
	bool one = false;
	int option;

	while ((option = getopt(argc, argv, "c1e:l:f:")) != -1) {
		if (option == 'c')
			c.canonical = true;
		else if (option == '1')
			one = true;
		else if (option == 'e')
			c.every = number(optarg);
		else if (option == 'l')
			c.length = number(optarg);
		else if (option == 'f')
			c.from = number(optarg);
		else
			return USAGE;
	}
	if (argc - optind != 2 || !c.every != !c.length) {
		fprintf(stderr, "usage: compare-windows [-c1] [-e EVERY -l LENGTH -f FROM] "
			"WHOLE WINDOWS\n");
		return USAGE;
	}
	lpl_map_init(&c.there, 1);
	lpl_map_init(&c.back, 1);
	open_items(&c.refs, argv[optind]);
	open_items(&c.events, argv[optind]);
	open_items(&windows, argv[optind + 1]);
	compare(&c, &windows);
	lpl_reader_close(c.refs.reader);
	lpl_reader_close(c.events.reader);
	lpl_reader_close(windows.reader);
	lpl_map_free(&c.there);
	lpl_map_free(&c.back);
	printf("%" PRIu64 " windows, %" PRIu64 " references and %" PRIu64 " events compared, "
	       "all equal; %" PRIu64 " references between windows\n", c.windows, c.compared,
	       c.events_compared, c.passed);
	if ((one ? c.windows != 1 : c.windows < 2) || !c.compared || !c.passed) {
		printf("nothing to compare proves nothing\n");
		return DIFFERENT;
	}
	return 0;
}
