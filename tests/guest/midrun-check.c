/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * midrun-check [-c] [-r] [-s] BOOT MID: two traces of one run, of which MID
 * begins in mid-run.  From its beginning on, both have to give the same
 * canonical trace: the same references and events by the same tasks, to the same
 * canonical pages but for their numbers, which are paired one to one.
 *
 *	-c	cut MID: what stands before its last snapshot is left out, as if
 *		the guest's module had been loaded then
 *	-s	of snapshots that are not a trace's first nothing is taken
 *	-r	BOOT was reduced: each of its references is one of MID's
 *
 * They are compared from MID's first reference on; with -c, the first after the
 * snapshot.  One thing a snapshot cannot show (docs/merging.md): memory that fork
 * shares and that was not written, for which the kernel has no page.  There one page
 * of BOOT may be several of MID's.  They are counted, and in all of BOOT there is
 * no write to them.
 *
 * Exit status: 0 the same, 1 they differ, 2 usage, 3 one cannot be read.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <laplace/merge.h>
#include <laplace/trace.h>

enum { DIFFERENT = 1, USAGE = 2, UNREADABLE = 3, SHOWN_MAX = 5 };

/* Growing arrays, by canonical page, task or process; 0 is free. */
struct numbers {
	uint64_t *of;
	size_t room;
};

struct pages {
	struct lpl_merge_page *of;	/* names are copies */
	size_t room;
};

/* What the merge of one trace says of a record. */
struct record {
	const struct lpl_ref *ref;		/* NULL: an event */
	const struct lpl_event *event;
	const struct lpl_merge_task *task;
	uint64_t page;
	enum lpl_page_kind kind;
};

struct side {
	struct lpl_sink sink;			/* takes the trace ... */
	struct lpl_merge_output output;		/* ... and this what the merge makes of it */
	struct lpl_merge *merge;
	struct lpl_reader *reader;
	const char *path;
	uint64_t snapshots;			/* of a trace to cut, in the whole */
	uint64_t begun, ended;			/* up to now */
	uint32_t snapshooter;			/* the task that sends one; 0: none now */
	bool cut;				/* take nothing before the last of them */
	bool bare;				/* take none but the first */
	struct pages pages;
};

struct queue {
	struct record *records;
	size_t count, next, room;
	const struct lpl_event *coming;		/* MID's, after them */
	bool ended;
};

struct checker {
	struct side boot, mid;
	struct queue queue;			/* of MID's records */
	bool reduced;
	bool begun;				/* BOOT has come to where MID begins */
	uint64_t refs, passed, events;		/* compared; MID's that BOOT has not */
	struct lpl_event anchor;		/* MID's last before its first reference */
	uint64_t ref_offset;			/* from MID's count of references to BOOT's */
	uint64_t differences;
	/* from numbers of BOOT to those of MID, and back */
	struct numbers page, page_back, task, task_back, process, process_back;
	struct numbers use;			/* of BOOT's pages: enum page_use */
	uint64_t pairs, named, split_pages, split_refs;
};

enum page_use { WRITTEN = 1, SPLIT = 2 };

static _Noreturn void unreadable(const char *what)
{
	fprintf(stderr, "midrun-check: %s\n", what);
	exit(UNREADABLE);
}

static void *grown(void *array, size_t *room, size_t index, size_t size)
{
	size_t more = *room ? *room : 1024;

	if (index < *room)
		return array;
	while (more <= index)
		more *= 2;
	array = realloc(array, more * size);
	if (!array)
		unreadable("no memory");
	memset((char *)array + *room * size, 0, (more - *room) * size);
	*room = more;
	return array;
}

static uint64_t *number(struct numbers *numbers, uint64_t index)
{
	numbers->of = grown(numbers->of, &numbers->room, index, sizeof(*numbers->of));
	return &numbers->of[index];
}

static const struct lpl_merge_page *page_of(const struct side *side, uint64_t page)
{
	return &side->pages.of[page];
}

/* ---- what differs ---- */

static void show(const struct checker *c, const char *which, const struct record *r)
{
	const struct side *side = *which == 'B' ? &c->boot : &c->mid;
	const struct lpl_merge_page *page;

	if (!r->ref) {
		const char *name = lpl_event_name(r->event->tag);

		printf("  %s: event %s, cycle %" PRIu64 ", task %u/%u, arguments %" PRIx64
		       " %" PRIx64 " %" PRIx64 " %" PRIx64 "\n", which, name ? name : "?",
		       r->event->cycle, r->event->tid, r->event->tgid, r->event->arg[0],
		       r->event->arg[1], r->event->arg[2], r->event->arg[3]);
		return;
	}
	page = page_of(side, r->page);
	printf("  %s: %c reference %" PRIu64 ", instr %" PRIu64 ", cycle %" PRIu64
	       ", address %" PRIx64 ", space %" PRIx64 ", task %u/%u (%" PRIu64 " of %" PRIu64
	       ", %.*s), page %" PRIx64 ": %s as %s, %" PRIx64 " %" PRIx64 " %" PRIx64
	       " %" PRIx64 " space %" PRIx64 " at %" PRIx64 " %.*s\n", which,
	       lpl_type_letter(r->ref->type), r->ref->ref, r->ref->instr, r->ref->cycle,
	       r->ref->address, r->ref->space, r->task->tid, r->task->tgid, r->task->serial,
	       r->task->process, (int)r->task->name_length, r->task->name, r->page,
	       lpl_page_kind_name(page->kind), lpl_page_kind_name(r->kind), page->device,
	       page->inode, page->generation, page->offset, page->space, page->virtual_page,
	       (int)page->name_length, page->name ? page->name : "");
}

/* Nothing follows the last one that is shown. */
static int differ(struct checker *c, const char *what, const struct record *boot,
		  const struct record *mid)
{
	printf("%s, after %" PRIu64 " references and %" PRIu64 " events:\n", what, c->refs,
	       c->events);
	if (boot)
		show(c, "BOOT", boot);
	if (mid)
		show(c, "MID", mid);
	return ++c->differences < SHOWN_MAX ? LPL_OK : LPL_ERR_ORDER;
}

/* ---- pairs ---- */

/* false: one of them is another one's already. */
static bool pair(struct numbers *there, struct numbers *back, uint64_t a, uint64_t b)
{
	uint64_t *to = number(there, a), *from = number(back, b);

	if (!*to && !*from) {
		*to = b + 1;
		*from = a + 1;
	}
	return *to == b + 1 && *from == a + 1;
}

static bool same_facts(const struct lpl_merge_page *a, const struct lpl_merge_page *b)
{
	return a->kind == b->kind && a->device == b->device && a->inode == b->inode &&
	       a->generation == b->generation && a->offset == b->offset &&
	       /* a page without a name is called after its first reference */
	       (a->kind != LPL_PAGE_KERNEL || a->virtual_page == b->virtual_page) &&
	       a->name_length == b->name_length && memcmp(a->name, b->name, a->name_length) == 0;
}

/* A page of BOOT that MID knows as several, for the kernel has none yet. */
static bool may_split(struct checker *c, const struct record *a, const struct record *b)
{
	uint64_t *from = number(&c->page_back, b->page);

	if (a->kind != LPL_PAGE_ANONYMOUS || b->kind != LPL_PAGE_ANONYMOUS ||
	    (*from && *from != a->page + 1))
		return false;
	if (!*from)
		c->split_pages++;
	*from = a->page + 1;
	*number(&c->use, a->page) |= SPLIT;
	return true;
}

static int check_page(struct checker *c, const struct record *a, const struct record *b)
{
	const struct lpl_merge_page *of_a = page_of(&c->boot, a->page), *of_b = page_of(&c->mid, b->page);
	bool fresh = !*number(&c->page, a->page);
	uint64_t *use = number(&c->use, a->page);

	if (a->kind != b->kind)
		return differ(c, "the pages are of other kinds", a, b);
	if (!pair(&c->page, &c->page_back, a->page, b->page) && !may_split(c, a, b))
		return differ(c, "the pages are not one", a, b);
	c->split_refs += (*use & SPLIT) != 0;
	if (*use == (WRITTEN | SPLIT))
		return differ(c, "a page that is written is several", a, b);
	if (!fresh)
		return LPL_OK;
	c->pairs++;
	c->named += of_a->inode != 0;
	return same_facts(of_a, of_b) ? LPL_OK : differ(c, "the pages are reported as others", a, b);
}

static int check_task(struct checker *c, const struct record *a, const struct record *b)
{
	if (a->task->tid != b->task->tid || a->task->tgid != b->task->tgid ||
	    a->task->name_length != b->task->name_length ||
	    memcmp(a->task->name, b->task->name, a->task->name_length) != 0 ||
	    !pair(&c->task, &c->task_back, a->task->serial, b->task->serial) ||
	    !pair(&c->process, &c->process_back, a->task->process, b->task->process) ||
	    (a->task->process == 0) != (b->task->process == 0))
		return differ(c, "the tasks are not one", a, b);
	return LPL_OK;
}

/* ---- two records ---- */

/* What was reduced is of whole pages, and a dropped write shows in the next one. */
static bool same_ref(const struct checker *c, const struct lpl_ref *a, const struct lpl_ref *b)
{
	bool paged = a->flags & LPL_PAGED;
	uint8_t ignored = paged ? LPL_PAGED | LPL_SECOND : 0;

	return a->ref == b->ref + c->ref_offset && a->instr == b->instr && a->cycle == b->cycle &&
	       a->space == b->space && (a->flags | ignored) == (b->flags | ignored) &&
	       (a->type == b->type ||
		(c->reduced && a->type == LPL_WRITE && b->type == LPL_READ)) &&
	       (paged ? a->address >> LPL_PAGE_SHIFT == b->address >> LPL_PAGE_SHIFT :
			a->address == b->address && a->length == b->length);
}

static bool same_event(const struct lpl_event *a, const struct lpl_event *b)
{
	return a->instr == b->instr && a->cycle == b->cycle && a->space == b->space &&
	       a->tag == b->tag && a->tid == b->tid && a->tgid == b->tgid &&
	       memcmp(a->arg, b->arg, sizeof(a->arg)) == 0 && a->text_length == b->text_length &&
	       memcmp(a->text, b->text, a->text_length) == 0;
}

/* An event may end tasks, so it waits until all before it is compared. */
static void pull(struct checker *c)
{
	struct queue *queue = &c->queue;
	struct lpl_sink *sink = &c->mid.sink;
	struct lpl_report report = { 0 };
	const struct lpl_ref *refs;
	size_t count;
	int error = LPL_OK;

	while (queue->next == queue->count && !queue->ended) {
		queue->next = queue->count = 0;
		if (queue->coming) {
			error = sink->event(sink, queue->coming, &report);
			queue->coming = NULL;
		} else {
			error = lpl_reader_next(c->mid.reader, &refs, &count, &queue->coming,
						&report);
			queue->ended = error == LPL_OK && !count && !queue->coming;
			if (error == LPL_OK && count)
				error = sink->refs(sink, refs, count, &report);
		}
		if (error != LPL_OK)
			unreadable(report.text);
	}
}

/* MID's next record; NULL: it has ended. */
static const struct record *next(struct checker *c)
{
	pull(c);
	return c->queue.next < c->queue.count ? &c->queue.records[c->queue.next] : NULL;
}

/* MID's record for this one; a reduced BOOT has not kept what stands before it. */
static const struct record *find(struct checker *c, const struct record *a)
{
	const struct record *b = next(c);

	while (c->reduced && b && b->ref &&
	       (!a->ref || b->ref->ref + c->ref_offset < a->ref->ref)) {
		c->queue.next++;
		c->passed++;
		b = next(c);
	}
	return b;
}

static int compare_refs(struct checker *c, const struct record *a, const struct record *b)
{
	int error;

	if (!same_ref(c, a->ref, b->ref))
		return differ(c, "the references differ", a, b);
	error = check_task(c, a, b);
	return error == LPL_OK ? check_page(c, a, b) : error;
}

static int compare(struct checker *c, const struct record *a)
{
	const struct record *b = find(c, a);
	int error;

	if (!b || !a->ref != !b->ref) {
		/* nothing can be paired from here on */
		c->differences = SHOWN_MAX;
		return differ(c, b ? "the streams differ" : "MID has ended", a, b);
	}
	if (a->ref) {
		error = compare_refs(c, a, b);
		c->refs++;
	} else {
		error = same_event(a->event, b->event) ? LPL_OK :
							differ(c, "the events differ", a, b);
		c->events++;
	}
	c->queue.next++;
	return error;
}

/* ---- what the merges say ---- */

static int take_page(struct side *side, const struct lpl_merge_page *page)
{
	struct lpl_merge_page *kept;

	side->pages.of = grown(side->pages.of, &side->pages.room, page->page, sizeof(*page));
	kept = &side->pages.of[page->page];
	*kept = *page;
	kept->name = page->name_length ? strndup(page->name, page->name_length) : "";
	if (!kept->name)
		unreadable("no memory");
	return LPL_OK;
}

static struct checker *of_boot(struct lpl_merge_output *output)
{
	return (struct checker *)((char *)output - offsetof(struct checker, boot.output));
}

static struct checker *of_mid(struct lpl_merge_output *output)
{
	return (struct checker *)((char *)output - offsetof(struct checker, mid.output));
}

static enum lpl_error boot_page(struct lpl_merge_output *output, const struct lpl_merge_page *page,
				struct lpl_report *report)
{
	(void)report;
	return take_page(&of_boot(output)->boot, page);
}

static enum lpl_error mid_page(struct lpl_merge_output *output, const struct lpl_merge_page *page,
			       struct lpl_report *report)
{
	(void)report;
	return take_page(&of_mid(output)->mid, page);
}

static enum lpl_error boot_reference(struct lpl_merge_output *output, const struct lpl_merged *merged,
				     struct lpl_report *report)
{
	struct checker *c = of_boot(output);
	const struct record *first = c->begun ? NULL : next(c);

	(void)report;
	if (merged->ref->type == LPL_WRITE)
		*number(&c->use, merged->page) |= WRITTEN;
	if (first && merged->ref->cycle < first->ref->cycle)
		return LPL_OK;
	c->begun = true;
	return compare(c, &(struct record){ .task = merged->task, .page = merged->page,
					    .kind = merged->kind, .ref = merged->ref });
}

static enum lpl_error boot_event(struct lpl_merge_output *output, const struct lpl_event *event,
				 const struct lpl_merge_task *task, struct lpl_report *report)
{
	struct checker *c = of_boot(output);

	(void)task;
	(void)report;
	if (!c->begun && event->tag == c->anchor.tag && event->cycle == c->anchor.cycle)
		c->ref_offset = event->ref - c->anchor.ref;
	return c->begun ? compare(c, &(struct record){ .event = event }) : LPL_OK;
}

static struct record *add(struct queue *queue)
{
	queue->records = grown(queue->records, &queue->room, queue->count,
			       sizeof(*queue->records));
	return &queue->records[queue->count++];
}

static bool has_begun(const struct side *mid)
{
	return !mid->cut || mid->ended == mid->snapshots;
}

static enum lpl_error mid_reference(struct lpl_merge_output *output, const struct lpl_merged *merged,
				    struct lpl_report *report)
{
	struct checker *c = of_mid(output);

	(void)report;
	if (has_begun(&c->mid))
		*add(&c->queue) = (struct record){ .task = merged->task, .page = merged->page,
						   .kind = merged->kind, .ref = merged->ref };
	return LPL_OK;
}

static enum lpl_error mid_event(struct lpl_merge_output *output, const struct lpl_event *event,
				const struct lpl_merge_task *task, struct lpl_report *report)
{
	struct checker *c = of_mid(output);

	(void)task;
	(void)report;
	if (c->begun)
		*add(&c->queue) = (struct record){ .event = event };
	else if (event->tag < LPL_EVENT_TRACING)
		c->anchor = *event;
	return LPL_OK;
}

static enum lpl_error finish(struct lpl_merge_output *output, struct lpl_report *report)
{
	(void)output;
	(void)report;
	return LPL_OK;
}

/* ---- what the merges take ---- */

static bool is_out(const struct side *side)
{
	return side->cut && side->begun < side->snapshots;
}

static enum lpl_error take_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	struct side *side = (struct side *)sink;
	struct lpl_sink *merge = lpl_merge_sink(side->merge);

	return is_out(side) ? LPL_OK : merge->refs(merge, refs, count, report);
}

static bool reports_what_exists(uint32_t tag)
{
	switch (tag) {
	case KTR_TASK_CREATE:
	case KTR_SPACE_ASSIGN:
	case KTR_EXIT:
	case KTR_MAP:
	case KTR_FILE:
	case KTR_CACHE_ADD:
	case KTR_PRESENT:
	case KTR_SNAPSHOT:
		return true;
	default:
		return false;
	}
}

static enum lpl_error take_event(struct lpl_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	struct side *side = (struct side *)sink;
	struct lpl_sink *merge = lpl_merge_sink(side->merge);
	bool bound = event->tag == KTR_SNAPSHOT;
	bool left_out;

	if (bound && event->arg[KTR_SNAPSHOT_BEGINS])
		side->begun++;
	left_out = is_out(side) ||
		   (side->bare && !side->cut && side->begun > 1 && side->ended < side->begun &&
		    event->tid == (bound ? event->tid : side->snapshooter) &&
		    reports_what_exists(event->tag));
	if (bound && event->arg[KTR_SNAPSHOT_BEGINS])
		side->snapshooter = event->tid;
	else if (bound)
		side->ended++;
	return left_out ? LPL_OK : merge->event(merge, event, report);
}

static enum lpl_error take_end(struct lpl_sink *sink, struct lpl_report *report)
{
	struct lpl_sink *merge = lpl_merge_sink(((struct side *)sink)->merge);

	return merge->finish(merge, report);
}

static void open_side(struct side *side)
{
	struct lpl_report report = { 0 };

	if (lpl_reader_open(&side->reader, side->path, &report) ||
	    lpl_merge_open(&side->merge, &side->output, NULL, &report))
		unreadable(report.text);
}

static void count_snapshots(struct side *side)
{
	struct lpl_report report = { 0 };
	const struct lpl_event *event;
	const struct lpl_ref *refs;
	struct lpl_reader *reader;
	size_t count;

	if (lpl_reader_open(&reader, side->path, &report))
		unreadable(report.text);
	do {
		if (lpl_reader_next(reader, &refs, &count, &event, &report))
			unreadable(report.text);
		if (event && event->tag == KTR_SNAPSHOT && event->arg[KTR_SNAPSHOT_BEGINS])
			side->snapshots++;
	} while (count || event);
	lpl_reader_close(reader);
	if (!side->snapshots)
		unreadable("there is no snapshot in MID");
}

static void close_side(struct side *side)
{
	lpl_merge_close(side->merge);
	lpl_reader_close(side->reader);
	for (size_t i = 0; i < side->pages.room; i++)
		if (side->pages.of[i].name_length)
			free((char *)side->pages.of[i].name);
	free(side->pages.of);
}

/* Whatever does not fit in MID. */
static uint64_t odd(const struct side *mid)
{
	const struct lpl_merge_stats *stats = lpl_merge_stats(mid->merge);
	uint64_t sum = 0;

	for (enum lpl_merge_anomaly kind = 0; kind < LPL_ANOMALIES; kind++) {
		if (stats->anomalies[kind])
			printf("odd in MID, %s: %" PRIu64 "\n", lpl_merge_anomaly_name(kind),
			       stats->anomalies[kind]);
		sum += stats->anomalies[kind];
	}
	if (stats->user_unresolved)
		printf("unresolved in MID: %" PRIu64 "\n", stats->user_unresolved);
	return sum + stats->user_unresolved;
}

static int usage(void)
{
	fprintf(stderr, "usage: midrun-check [-c] [-r] [-s] BOOT MID\n");
	return USAGE;
}

static void print(const struct checker *c)
{
	printf("%" PRIu64 " references and %" PRIu64 " events compared, %s\n", c->refs, c->events,
	       c->differences ? "they differ" : "all the same");
	printf("%" PRIu64 " canonical pages, %" PRIu64 " of them of files; %" PRIu64
	       " more for pages that were not written, with %" PRIu64 " references\n",
	       c->pairs, c->named, c->split_pages, c->split_refs);
	if (c->reduced)
		printf("%" PRIu64 " references of MID are not in BOOT\n", c->passed);
}

int main(int argc, char *argv[])
{
	static struct checker c = {
		.boot = { .sink = { take_refs, take_event, take_end },
			  .output = { .reference = boot_reference, .event = boot_event,
				      .finish = finish, .page = boot_page } },
		.mid = { .sink = { take_refs, take_event, take_end },
			 .output = { .reference = mid_reference, .event = mid_event,
				     .finish = finish, .page = mid_page } },
	};
	struct numbers *all[] = { &c.page, &c.page_back, &c.task, &c.task_back, &c.process,
				  &c.process_back, &c.use };
	struct lpl_report report = { 0 };
	const struct record *left;
	int option;

	while ((option = getopt(argc, argv, "crs")) != -1) {
		if (option == 'c')
			c.mid.cut = true;
		else if (option == 'r')
			c.reduced = true;
		else if (option == 's')
			c.boot.bare = c.mid.bare = true;
		else
			return usage();
	}
	if (argc - optind != 2)
		return usage();
	c.boot.path = argv[optind];
	c.mid.path = argv[optind + 1];
	if (c.mid.cut)
		count_snapshots(&c.mid);
	open_side(&c.boot);
	open_side(&c.mid);
	if (lpl_reader_run(c.boot.reader, &c.boot.sink, &report) && !c.differences)
		unreadable(report.text);
	left = next(&c);
	if (!c.differences && left && !c.reduced)
		differ(&c, "BOOT has ended", NULL, left);
	print(&c);
	c.differences += odd(&c.mid);
	close_side(&c.boot);
	close_side(&c.mid);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		free(all[i]->of);
	free(c.queue.records);
	if (!c.refs)
		printf("nothing to compare proves nothing\n");
	return c.differences || !c.refs ? DIFFERENT : 0;
}
