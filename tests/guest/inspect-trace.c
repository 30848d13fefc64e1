/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * inspect-trace: questions that the guest tests ask a raw trace.
 *
 *	inspect-trace references TRACE START END
 *		every reference to [START, END), in order, by whoever:
 *		MARK PROGRAM TID TGID u|k TYPE LENGTH ADDRESS CANONICAL-PAGE
 *		(MARK: the last user mark; PROGRAM: what its process executes)
 *	inspect-trace counts TRACE PROGRAM
 *		what PROGRAM's processes did in user mode:
 *		instructions N loads N stores N refetches N
 *	inspect-trace touched TRACE NAME START END [NAME START END]...
 *		NAME FETCHES DATA: how many references touch [START, END)
 *	inspect-trace modes TRACE
 *		how many fetches were made in which mode from which half of
 *		the address space, and the walks with their highest address
 *	inspect-trace frames TRACE
 *		is each page where the guest's marks "frames VIRTUAL=FRAME ..." say?
 *		same N, large N (of pages above 4096 bytes), different N
 *
 * Addresses are hexadecimal.  PROGRAM is the last part of an executed path.
 * Exit status: 0, 1 it failed, 2 usage.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <laplace/merge.h>
#include <laplace/trace.h>
#include <laplace/translation.h>

enum { FAILED = 1, USAGE = 2, PROGRAM_SIZE = 32, IDS = 65536, RANGES_MAX = 32 };

static int usage(void)
{
	fprintf(stderr, "usage: inspect-trace references TRACE START END\n"
			"       inspect-trace counts TRACE PROGRAM\n"
			"       inspect-trace touched TRACE NAME START END [...]\n"
			"       inspect-trace modes TRACE\n"
			"       inspect-trace frames TRACE\n");
	return USAGE;
}

static int failed(const struct lpl_report *report)
{
	fprintf(stderr, "inspect-trace: %s\n", report->text);
	return FAILED;
}

static bool address_of(const char *text, uint64_t *address)
{
	char *end;

	*address = strtoull(text, &end, 16);
	return *text && !*end;
}

/* ---- which task ran: what both merging questions keep ---- */

struct watcher {
	struct lpl_merge_output output;
	void (*each)(struct watcher *watcher, const struct lpl_merged *merged);
	char (*program)[PROGRAM_SIZE];	/* by process id */
	char mark[KTR_TEXT + 1];

	uint64_t start, end;		/* `references` */

	/* `counts` */
	const char *wanted;
	struct {
		bool any, interrupted;	/* the kernel ran since its fetch */
		uint64_t address, loads, stores;
	} pending;			/* the latest instruction: it may be retried */
	uint64_t instructions, loads, stores, refetches;
};

static const char *program_of(const struct watcher *w, uint64_t tgid)
{
	return tgid < IDS && w->program[tgid][0] ? w->program[tgid] : "-";
}

static enum lpl_error take_event(struct lpl_merge_output *output, const struct lpl_event *event,
				 const struct lpl_merge_task *task, struct lpl_report *report)
{
	struct watcher *w = (struct watcher *)output;
	char text[KTR_TEXT + 1], *slash;
	uint64_t tgid;

	(void)task;
	(void)report;
	memcpy(text, event->text, event->text_length);
	text[event->text_length] = '\0';
	tgid = event->arg[KTR_TASK_TGID];
	switch (event->tag) {
	case KTR_MARK:
		snprintf(w->mark, sizeof(w->mark), "%s", text);
		break;
	case KTR_TASK_CREATE:
		if (tgid < IDS && tgid != event->tgid)
			snprintf(w->program[tgid], PROGRAM_SIZE, "%s",
				 event->tgid < IDS ? w->program[event->tgid] : "");
		break;
	case KTR_EXEC:
		slash = strrchr(text, '/');
		if (tgid < IDS)
			snprintf(w->program[tgid], PROGRAM_SIZE, "%.*s",
				 PROGRAM_SIZE - 1, slash ? slash + 1 : text);
		break;
	default:
		break;
	}
	return LPL_OK;
}

static enum lpl_error take_reference(struct lpl_merge_output *output, const struct lpl_merged *merged,
				     struct lpl_report *report)
{
	struct watcher *w = (struct watcher *)output;

	(void)report;
	w->each(w, merged);
	return LPL_OK;
}

static enum lpl_error take_end(struct lpl_merge_output *output, struct lpl_report *report)
{
	(void)output;
	(void)report;
	return LPL_OK;
}

static int watch(struct watcher *w, const char *path)
{
	struct lpl_report report = { 0 };
	struct lpl_reader *reader = NULL;
	struct lpl_merge *merge = NULL;
	int status = 0;

	w->output = (struct lpl_merge_output){
		.reference = take_reference, .event = take_event, .finish = take_end };
	w->program = calloc(IDS, sizeof(*w->program));
	w->mark[0] = '-';
	if (!w->program)
		return FAILED;
	if (lpl_reader_open(&reader, path, &report) ||
	    lpl_merge_open(&merge, &w->output, NULL, &report) ||
	    lpl_reader_run(reader, lpl_merge_sink(merge), &report))
		status = failed(&report);
	lpl_merge_close(merge);
	lpl_reader_close(reader);
	free(w->program);
	return status;
}

/* ---- references ---- */

static void print_reference(struct watcher *w, const struct lpl_merged *merged)
{
	const struct lpl_ref *ref = merged->ref;

	if (ref->address >= w->end || ref->address + ref->length <= w->start)
		return;
	printf("%s %s %u %u %c %c %u %" PRIx64 " %" PRIx64 "\n", w->mark,
	       program_of(w, merged->task->tgid), merged->task->tid, merged->task->tgid,
	       ref->flags & LPL_USER ? 'u' : 'k', lpl_type_letter(ref->type), ref->length,
	       ref->address, merged->page);
}

static int references(int argc, char *argv[])
{
	struct watcher w = { .each = print_reference };

	if (argc != 3 || !address_of(argv[1], &w.start) || !address_of(argv[2], &w.end))
		return usage();
	return watch(&w, argv[0]);
}

/* ---- counts ---- */

static void settle(struct watcher *w)
{
	w->instructions += w->pending.any;
	w->loads += w->pending.loads;
	w->stores += w->pending.stores;
	memset(&w->pending, 0, sizeof(w->pending));
}

/*
 * An instruction with an access that faults is fetched again when the kernel returns to
 * it: the same address, with nothing of the program's in between but much of the
 * kernel's.  Its first attempt did not happen, as a program sees it.  (So a
 * jump to itself that an interrupt hits would be miscounted; the programs
 * counted here have none.)
 */
static void count(struct watcher *w, const struct lpl_merged *merged)
{
	const struct lpl_ref *ref = merged->ref;

	if (strcmp(program_of(w, merged->task->tgid), w->wanted) != 0 || !(ref->flags & LPL_USER)) {
		w->pending.interrupted = true;
		return;
	}
	if (ref->flags & LPL_SECOND)
		return;		/* of the same fetch or access */
	if (ref->type == LPL_READ) {
		w->pending.loads++;
	} else if (ref->type == LPL_WRITE) {
		w->pending.stores++;
	} else if (ref->type == LPL_FETCH) {
		if (w->pending.any && w->pending.interrupted &&
		    w->pending.address == ref->address) {
			w->refetches++;
			memset(&w->pending, 0, sizeof(w->pending));
		}
		settle(w);
		w->pending.any = true;
		w->pending.address = ref->address;
	}
}

static int counts(int argc, char *argv[])
{
	struct watcher w = { .each = count };

	if (argc != 2)
		return usage();
	w.wanted = argv[1];
	if (watch(&w, argv[0]))
		return FAILED;
	settle(&w);
	printf("instructions %" PRIu64 " loads %" PRIu64 " stores %" PRIu64 " refetches %"
	       PRIu64 "\n", w.instructions, w.loads, w.stores, w.refetches);
	return 0;
}

/* ---- questions of single references ---- */

static enum lpl_error ignore_event(struct lpl_sink *sink, const struct lpl_event *event,
				   struct lpl_report *report)
{
	(void)sink;
	(void)event;
	(void)report;
	return LPL_OK;
}

static enum lpl_error ignore_end(struct lpl_sink *sink, struct lpl_report *report)
{
	(void)sink;
	(void)report;
	return LPL_OK;
}

static int pass(const char *path, struct lpl_sink *sink)
{
	struct lpl_report report = { 0 };
	struct lpl_reader *reader;

	if (lpl_reader_open(&reader, path, &report) || lpl_reader_run(reader, sink, &report))
		return failed(&report);
	lpl_reader_close(reader);
	return 0;
}

static bool is_walk(const struct lpl_ref *ref)
{
	return ref->type == LPL_WALK_READ || ref->type == LPL_WALK_WRITE;
}

/* ---- touched ---- */

struct range {
	const char *name;
	uint64_t start, end, fetches, data;
};

struct toucher {
	struct lpl_sink sink;
	struct range range[RANGES_MAX];
	size_t ranges;
};

static enum lpl_error touch_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t number,
				 struct lpl_report *report)
{
	struct toucher *t = (struct toucher *)sink;

	(void)report;
	for (size_t i = 0; i < number; i++) {
		const struct lpl_ref *ref = &refs[i];

		if (is_walk(ref))
			continue;	/* physical */
		for (size_t r = 0; r < t->ranges; r++) {
			struct range *range = &t->range[r];

			if (ref->address >= range->end ||
			    ref->address + ref->length <= range->start)
				continue;
			if (ref->type == LPL_FETCH)
				range->fetches++;
			else
				range->data++;
		}
	}
	return LPL_OK;
}

static int touched(int argc, char *argv[])
{
	struct toucher t = { .sink = { touch_refs, ignore_event, ignore_end } };

	if (argc < 4 || argc % 3 != 1 || argc / 3 > RANGES_MAX)
		return usage();
	for (int i = 1; i < argc; i += 3) {
		struct range *range = &t.range[t.ranges++];

		range->name = argv[i];
		if (!address_of(argv[i + 1], &range->start) ||
		    !address_of(argv[i + 2], &range->end) || range->start >= range->end)
			return usage();
	}
	if (pass(argv[0], &t.sink))
		return FAILED;
	for (size_t r = 0; r < t.ranges; r++)
		printf("%s %" PRIu64 " %" PRIu64 "\n", t.range[r].name, t.range[r].fetches,
		       t.range[r].data);
	return 0;
}

/* ---- modes ---- */

struct mode_counter {
	struct lpl_sink sink;
	uint64_t fetches[2][2];		/* user mode?, kernel's half? */
	uint64_t walk_reads, walk_writes, user_walks, highest_walk;
};

static enum lpl_error mode_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t number,
				struct lpl_report *report)
{
	struct mode_counter *m = (struct mode_counter *)sink;

	(void)report;
	for (size_t i = 0; i < number; i++) {
		const struct lpl_ref *ref = &refs[i];
		bool user = ref->flags & LPL_USER;

		if (is_walk(ref)) {
			m->walk_reads += ref->type == LPL_WALK_READ;
			m->walk_writes += ref->type == LPL_WALK_WRITE;
			m->user_walks += user;
			if (ref->address > m->highest_walk)
				m->highest_walk = ref->address;
		} else if (ref->type == LPL_FETCH) {
			m->fetches[user][ref->address >> 63]++;
		}
	}
	return LPL_OK;
}

static int modes(int argc, char *argv[])
{
	struct mode_counter m = { .sink = { mode_refs, ignore_event, ignore_end } };

	if (argc != 1)
		return usage();
	if (pass(argv[0], &m.sink))
		return FAILED;
	for (int user = 0; user < 2; user++)
		for (int half = 0; half < 2; half++)
			printf("%s-fetches-from-%s-half %" PRIu64 "\n",
			       user ? "user" : "kernel", half ? "kernel" : "user",
			       m.fetches[user][half]);
	printf("walk-reads %" PRIu64 "\nwalk-writes %" PRIu64 "\nuser-walks %" PRIu64
	       "\nhighest-walk %" PRIx64 "\n", m.walk_reads, m.walk_writes, m.user_walks,
	       m.highest_walk);
	return 0;
}

/* ---- frames ---- */

struct framer {
	struct lpl_sink sink;
	struct lpl_translations *map;
	uint64_t same, large, different;
};

static enum lpl_error ignore_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t number,
				  struct lpl_report *report)
{
	(void)sink;
	(void)refs;
	(void)number;
	(void)report;
	return LPL_OK;
}

static void compare_frame(struct framer *f, uint64_t space, uint64_t page, uint64_t frame)
{
	struct lpl_translation found = { .frame = KTR_NONE };

	if (lpl_translate(f->map, space, page << 12, &found) && found.frame == frame) {
		f->same++;
		f->large += found.shift > 12;
		return;
	}
	f->different++;
	printf("page %" PRIx64 " of space %" PRIx64 " is in frame %" PRIx64 " for the guest, and in %"
	       PRIx64 " for the trace\n", page, space, frame, found.frame);
}

static enum lpl_error frame_event(struct lpl_sink *sink, const struct lpl_event *event,
				  struct lpl_report *report)
{
	struct framer *f = (struct framer *)sink;
	char text[KTR_TEXT + 1];
	uint64_t page, frame;

	if (event->tag == KTR_MARK && event->text_length > 7 && !memcmp(event->text, "frames ", 7)) {
		memcpy(text, event->text, event->text_length);
		text[event->text_length] = 0;
		for (char *at = strchr(text, ' '); at; at = strchr(at + 1, ' '))
			if (sscanf(at, " %" SCNx64 "=%" SCNx64, &page, &frame) == 2)
				compare_frame(f, event->space, page, frame);
	}
	return lpl_translations_follow(f->map, event, report);
}

static int frames(int argc, char *argv[])
{
	struct framer f = { .sink = { ignore_refs, frame_event, ignore_end } };
	struct lpl_report report = { 0 };

	if (argc != 1)
		return usage();
	if (lpl_translations_open(&f.map, &report))
		return failed(&report);
	if (pass(argv[0], &f.sink))
		return FAILED;
	lpl_translations_close(f.map);
	printf("same %" PRIu64 "\nlarge %" PRIu64 "\ndifferent %" PRIu64 "\n", f.same, f.large,
	       f.different);
	return f.different != 0;
}

int main(int argc, char *argv[])
{
	if (argc < 3)
		return usage();
	if (strcmp(argv[1], "references") == 0)
		return references(argc - 2, argv + 2);
	if (strcmp(argv[1], "counts") == 0)
		return counts(argc - 2, argv + 2);
	if (strcmp(argv[1], "touched") == 0)
		return touched(argc - 2, argv + 2);
	if (strcmp(argv[1], "modes") == 0)
		return modes(argc - 2, argv + 2);
	if (strcmp(argv[1], "frames") == 0)
		return frames(argc - 2, argv + 2);
	return usage();
}
