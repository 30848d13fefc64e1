/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * compare-traces [-o] [-r SPEC] [-s] [-t] [-w] A B: is the stream of trace A, reduced by SPEC,
 * that of trace B, in every field of every reference and event?
 *
 *	-o	A begins outside of windows of time, and what is before its first event `tracing`
 *		took no time in B: all has A's first clocks up to there
 *	-r SPEC	reduce A on its way (`window:64+sad:64`)
 *	-s	only up to where A's recording stops
 *	-t	leave translations, flushes of the TLB, and the bytes of instructions out of both
 *	-w	leave page walks out of both, and so do without the references'
 *		numbers, which walks take part in
 *
 * Prints what is equal, or the first differences.
 * Exit status: 0 equal, 1 they differ, 2 usage, 3 one cannot be read.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <laplace/reducer.h>

#include "items.h"

enum { DIFFERENT = 1, USAGE = 2, UNREADABLE = 3, SHOWN_MAX = 5 };

struct comparison {
	struct lpl_sink sink;		/* takes A */
	struct items b;
	bool without_walks, without_translations, until_stop;
	bool outside, begun;		/* (-o) before the first window; A has begun */
	struct lpl_ref first, lost;	/* clocks of A: where it begins; what passed before that window */
	bool stopped;			/* what follows does not matter */
	uint64_t refs, events, differences;
};

static _Noreturn void unreadable(const struct lpl_report *report)
{
	fprintf(stderr, "compare-traces: %s\n", report->text);
	exit(UNREADABLE);
}

static void print_ref(const char *which, const struct lpl_ref *r)
{
	printf("  %s: reference %" PRIu64 " instr %" PRIu64 " cycle %" PRIu64
	       " type %c address %" PRIx64 " space %" PRIx64 " flags %x length %u\n",
	       which, r->ref, r->instr, r->cycle, lpl_type_letter(r->type), r->address,
	       r->space, r->flags, r->length);
}

static void print_event(const char *which, const struct lpl_event *e)
{
	const char *name = lpl_event_name(e->tag);

	printf("  %s: event %s after reference %" PRIu64 " instr %" PRIu64 " cycle %" PRIu64
	       " task %u/%u space %" PRIx64 " arguments %" PRIx64 " %" PRIx64 " %" PRIx64 "\n",
	       which, name ? name : "?", e->ref, e->instr, e->cycle, e->tid, e->tgid,
	       e->space, e->arg[0], e->arg[1], e->arg[2]);
}

static bool is_walk(const struct lpl_ref *ref)
{
	return ref->type == LPL_WALK_READ || ref->type == LPL_WALK_WRITE;
}

static bool is_left_out(const struct comparison *c, const struct lpl_event *event)
{
	return (c->without_translations && ((event->tag >= LPL_EVENT_TRANSLATION &&
					     event->tag <= LPL_EVENT_TLB_FLUSH) || event->tag == LPL_EVENT_CODE ||
					    event->tag == LPL_EVENT_SYSTEM_CALL)) ||
	       (c->without_walks && event->tag >= LPL_EVENT_PAGE_TABLE && event->tag <= LPL_EVENT_LARGE_ENTRY);
}

/* Have something of B at hand, unless it has ended. */
static void fill(struct comparison *c)
{
	struct lpl_report report = { 0 };
	struct items *b = &c->b;

	do {
		if (items_fill(b, &report))
			unreadable(&report);
		while (c->without_walks && b->next < b->count && is_walk(&b->refs[b->next]))
			b->next++;
		if (b->next == b->count && b->event && is_left_out(c, b->event))
			b->event = NULL;
	} while (b->next == b->count && !b->event && !b->ended);
}

static void show_next_of_b(const struct comparison *c)
{
	const struct items *b = &c->b;

	if (b->next < b->count)
		print_ref("B", &b->refs[b->next]);
	else if (b->event)
		print_event("B", b->event);
	else
		printf("  B has ended\n");
}

static int differ(struct comparison *c)
{
	printf("difference after %" PRIu64 " references and %" PRIu64 " events\n", c->refs,
	       c->events);
	return ++c->differences < SHOWN_MAX ? LPL_OK : LPL_ERR_ORDER;
}

static bool same_ref(const struct comparison *c, const struct lpl_ref *a,
		     const struct lpl_ref *b)
{
	return (c->without_walks || a->ref == b->ref) && a->instr == b->instr &&
	       a->cycle == b->cycle && a->address == b->address && a->space == b->space &&
	       a->type == b->type && a->flags == b->flags && a->length == b->length;
}

static bool same_event(const struct comparison *c, const struct lpl_event *a,
		       const struct lpl_event *b)
{
	return (c->without_walks || a->ref == b->ref) && events_equal(a, b);
}

/* Clocks of A as they are to be in B; `last`: up to here A was outside. */
static void correct_clocks(struct comparison *c, uint64_t *instr, uint64_t *cycle, bool last)
{
	if (!c->begun) {
		c->begun = true;
		c->first.instr = *instr;
		c->first.cycle = *cycle;
	}
	if (c->outside) {
		c->lost.instr = *instr - c->first.instr;
		c->lost.cycle = *cycle - c->first.cycle;
	}
	*instr -= c->lost.instr;
	*cycle -= c->lost.cycle;
	c->outside &= !last;
}

static enum lpl_error take_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	struct comparison *c = (struct comparison *)sink;

	(void)report;
	for (size_t i = 0; i < count && !c->stopped; i++) {
		struct lpl_ref corrected = refs[i];
		const struct lpl_ref *a = &corrected;

		if (c->without_walks && is_walk(a))
			continue;
		correct_clocks(c, &corrected.instr, &corrected.cycle, true);
		fill(c);
		if (c->b.next == c->b.count) {
			/* nothing can be paired from here on */
			c->differences = SHOWN_MAX;
			differ(c);
			print_ref("A", a);
			show_next_of_b(c);
			return LPL_ERR_ORDER;
		}
		const struct lpl_ref *b = &c->b.refs[c->b.next];
		if (!same_ref(c, a, b)) {
			int over = differ(c);

			print_ref("A", a);
			print_ref("B", b);
			if (over)
				return over;
		}
		c->b.next++;
		c->refs++;
	}
	return LPL_OK;
}

static enum lpl_error take_event(struct lpl_sink *sink, const struct lpl_event *sent,
				 struct lpl_report *report)
{
	struct comparison *c = (struct comparison *)sink;
	struct lpl_event corrected = *sent;
	const struct lpl_event *event = &corrected;

	(void)report;
	if (c->stopped || is_left_out(c, event))
		return LPL_OK;
	correct_clocks(c, &corrected.instr, &corrected.cycle, sent->tag == LPL_EVENT_TRACING);
	c->stopped = c->until_stop && event->tag == LPL_EVENT_TRACING &&
		event->arg[LPL_EVENT_TRACING_ON] == 0;
	fill(c);
	if (c->b.next < c->b.count || !c->b.event) {
		c->differences = SHOWN_MAX;
		differ(c);
		print_event("A", event);
		show_next_of_b(c);
		return LPL_ERR_ORDER;
	}
	if (!same_event(c, event, c->b.event)) {
		int over = differ(c);

		print_event("A", event);
		print_event("B", c->b.event);
		if (over)
			return over;
	}
	c->b.event = NULL;
	c->events++;
	return LPL_OK;
}

static enum lpl_error take_end(struct lpl_sink *sink, struct lpl_report *report)
{
	struct comparison *c = (struct comparison *)sink;

	(void)report;
	fill(c);
	if (c->b.ended || c->stopped)
		return LPL_OK;
	differ(c);
	printf("  A has ended\n");
	show_next_of_b(c);
	return LPL_OK;
}

static int usage(void)
{
	fprintf(stderr, "usage: compare-traces [-o] [-r SPEC] [-s] [-t] [-w] A B\n");
	return USAGE;
}

int main(int argc, char *argv[])
{
	struct comparison c = { .sink = { take_refs, take_event, take_end } };
	struct lpl_report report = { 0 };
	struct lpl_reducer *reducer;
	struct lpl_reader *a;
	const char *spec = "none";
	int option;

	while ((option = getopt(argc, argv, "or:stw")) != -1) {
		if (option == 'r')
			spec = optarg;
		else if (option == 'o')
			c.outside = true;
		else if (option == 's')
			c.until_stop = true;
		else if (option == 't')
			c.without_translations = true;
		else if (option == 'w')
			c.without_walks = true;
		else
			return usage();
	}
	if (argc - optind != 2)
		return usage();
	if (lpl_reader_open(&a, argv[optind], &report) ||
	    lpl_reader_open(&c.b.reader, argv[optind + 1], &report) ||
	    lpl_reducer_open(&reducer, NULL, spec, &c.sink, &report))
		unreadable(&report);
	if (lpl_reader_run(a, lpl_reducer_sink(reducer), &report) && !c.differences)
		unreadable(&report);
	lpl_reducer_close(reducer);
	lpl_reader_close(a);
	lpl_reader_close(c.b.reader);
	printf("%" PRIu64 " references and %" PRIu64 " events compared, %s\n", c.refs, c.events,
	       c.differences ? "they differ" : "all equal");
	if (!c.refs || !c.events) {
		printf("nothing to compare proves nothing\n");
		return DIFFERENT;
	}
	return c.differences ? DIFFERENT : 0;
}
