/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * schedule-check NOTES A B: does each task do in trace B what it did in A, whenever it did it?  Both
 * have canonical pages.  And is each note of B left before it is read?
 *
 * NOTES has a line for each note (relay.c): what it is called, and its page, in hexadecimal.
 * What a task does are its references and events, but for those that say what runs, what a page is, or
 * which wait has ended: waits end as the machine has it.
 * Which task runs is known here from the events alone: the latest `schedule` brought it, or it reported the
 * latest other event.
 *
 * Prints what was compared, or the first differences.  Exit status: 0, 1 there are some, 2 usage,
 * 3 a trace cannot be read.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <laplace/trace.h>

enum { DIFFERENT = 1, USAGE = 2, UNREADABLE = 3, TIDS = 32768, NOTES = 1024, SHOWN_MAX = 5 };

struct doings {
	uint64_t references, events, digest;
};

struct note {
	char name[32];
	uint64_t page;
	uint64_t left, read;		/* the number of the reference; 0: there was none */
};

struct watch {
	struct lpl_sink sink;
	struct doings task[TIDS];
	uint32_t runs;
	bool in_state;
	struct note note[NOTES];
	size_t notes;
};

static void add(struct doings *doings, uint64_t word)
{
	doings->digest = (doings->digest ^ word) * UINT64_C(0x100000001b3);
	doings->digest ^= doings->digest >> 29;
}

static void see_note(struct watch *watch, const struct lpl_ref *ref)
{
	if ((ref->flags & LPL_USER) == 0)
		return;
	for (size_t i = 0; i < watch->notes; i++) {
		struct note *note = &watch->note[i];

		if (note->page != ref->address >> LPL_PAGE_SHIFT)
			continue;
		if (ref->type == LPL_WRITE && note->left == 0)
			note->left = ref->ref;
		if (ref->type == LPL_READ && note->read == 0)
			note->read = ref->ref;
	}
}

static enum lpl_error take_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	struct watch *watch = (struct watch *)sink;
	struct doings *doings = &watch->task[watch->runs];

	(void)report;
	for (size_t i = 0; i < count; i++) {
		doings->references++;
		add(doings, refs[i].address | (uint64_t)refs[i].type << 8 | refs[i].flags);
		if (refs[i].type != LPL_FETCH)
			see_note(watch, &refs[i]);
	}
	return LPL_OK;
}

static void take_doing(struct doings *doings, const struct lpl_event *event)
{
	doings->events++;
	add(doings, event->tag);
	for (size_t i = 0; i < sizeof(event->arg) / sizeof(*event->arg); i++)
		add(doings, event->arg[i]);
}

static enum lpl_error take_event(struct lpl_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	struct watch *watch = (struct watch *)sink;

	switch (event->tag) {
	case LPL_EVENT_STATE:
		watch->in_state = event->arg[LPL_EVENT_STATE_BEGINS] != 0;
		if (!watch->in_state && event->arg[LPL_EVENT_STATE_RUNS] != KTR_NONE)
			watch->runs = (uint32_t)event->arg[LPL_EVENT_STATE_RUNS] % TIDS;
		break;
	case KTR_SCHEDULE:
		watch->runs = (uint32_t)event->arg[KTR_SCHEDULE_NEXT_TID] % TIDS;
		break;
	case KTR_WAKE:
	case LPL_EVENT_TRACING:
	case LPL_EVENT_PAGE:
		break;
	case LPL_EVENT_GAP:
		return lpl_fail(report, LPL_ERR_UNSUPPORTED, "the trace has a gap");
	default:
		if (watch->in_state)
			break;
		if (event->tag < LPL_EVENT_TRACING)
			watch->runs = event->tid % TIDS;
		take_doing(&watch->task[watch->runs], event);
	}
	return LPL_OK;
}

static enum lpl_error take_end(struct lpl_sink *sink, struct lpl_report *report)
{
	(void)sink;
	(void)report;
	return LPL_OK;
}

/* What the trace has. */
static void watch_trace(struct watch *watch, const char *path)
{
	struct lpl_report report = { 0 };
	struct lpl_reader *reader;

	watch->sink = (struct lpl_sink){ take_refs, take_event, take_end };
	if (lpl_reader_open(&reader, path, &report) ||
	    lpl_reader_run(reader, &watch->sink, &report)) {
		fprintf(stderr, "schedule-check: %s\n", report.text);
		exit(UNREADABLE);
	}
	lpl_reader_close(reader);
}

static void read_notes(struct watch *watch, const char *path)
{
	FILE *file = fopen(path, "r");

	if (!file) {
		perror(path);
		exit(UNREADABLE);
	}
	while (watch->notes < NOTES &&
	       fscanf(file, "%31s %" SCNx64, watch->note[watch->notes].name,
		      &watch->note[watch->notes].page) == 2)
		watch->notes++;
	fclose(file);
}

static int compare_tasks(const struct watch *a, const struct watch *b)
{
	uint64_t tasks = 0, references = 0, events = 0;
	int differences = 0;

	/* the idle task does not run again */
	for (unsigned int tid = 1; tid < TIDS; tid++) {
		const struct doings *was = &a->task[tid], *is = &b->task[tid];

		if (memcmp(was, is, sizeof(*was)) != 0 && differences++ < SHOWN_MAX)
			printf("task %u: %" PRIu64 " references and %" PRIu64 " events in A, %"
			       PRIu64 " and %" PRIu64 " in B, digests %" PRIx64 " and %" PRIx64 "\n",
			       tid, was->references, was->events, is->references, is->events,
			       was->digest, is->digest);
		tasks += was->references != 0;
		references += was->references;
		events += was->events;
	}
	printf("tasks %" PRIu64 " references %" PRIu64 " events %" PRIu64 " different %d\n",
	       tasks, references, events, differences);
	return differences;
}

static int compare_notes(const struct watch *watch)
{
	int early = 0;

	for (size_t i = 0; i < watch->notes; i++) {
		const struct note *note = &watch->note[i];

		if (note->left != 0 && note->read > note->left)
			continue;
		if (early++ < SHOWN_MAX)
			printf("note %s is read at %" PRIu64 " and left at %" PRIu64 "\n",
			       note->name, note->read, note->left);
	}
	printf("notes %zu read too early %d\n", watch->notes, early);
	return early;
}

int main(int argc, char *argv[])
{
	static struct watch a, b;
	int differences;

	if (argc != 4) {
		fprintf(stderr, "usage: schedule-check NOTES A B\n");
		return USAGE;
	}
	read_notes(&b, argv[1]);
	watch_trace(&a, argv[2]);
	watch_trace(&b, argv[3]);
	differences = compare_tasks(&a, &b);
	differences += compare_notes(&b);
	return differences == 0 ? 0 : DIFFERENT;
}
