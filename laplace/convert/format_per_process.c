/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A directory of traces by process, as laplace merge makes them (docs/merging.md), back into one
 * trace of canonical pages.  Read, not written.
 *
 * The files are merged by their clocks: of all next lines the earliest is taken.  A file is opened
 * at its first cycle, which the index has, and of each only the time of its next line is kept.
 * Where times are equal, the task that runs goes on until a line says which task runs next.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "importer.h"
#include "merge/event_line.h"
#include "merge/output/canonical.h"
#include "merge/output/per_process.h"
#include "task_index.h"

struct per_process {
	struct task_files files;
	struct task_index index;
	/* those that have a next line, as a heap: the earliest first */
	struct task_entry **waiting;
	size_t count, room;
	struct task_entry **tied;		/* of those, the earliest, if several are */
	size_t tied_room;
	uint64_t running;			/* task of the last line */
	bool switched;				/* that line said which one runs next ... */
	uint32_t next_tid;			/* ... by this id */
};

/* ---- which comes first ---- */

/* Below, above or 0. */
static int compare(const struct task_time *a, const struct task_time *b)
{
	if (a->cycle != b->cycle)
		return a->cycle < b->cycle ? -1 : 1;
	if (a->instr != b->instr)
		return a->instr < b->instr ? -1 : 1;
	return (a->ref > b->ref) - (a->ref < b->ref);
}

/* Of equals, those of which the first line was not looked at come first, and then the index's order. */
static bool is_before(const struct task_entry *a, const struct task_entry *b)
{
	const int order = compare(&a->next, &b->next);

	if (order)
		return order < 0;
	return a->begun != b->begun ? b->begun : a < b;
}

/* There is room for all entries. */
static void put(struct per_process *p, struct task_entry *entry)
{
	size_t i = p->count++;

	for (; i && is_before(entry, p->waiting[(i - 1) / 2]); i = (i - 1) / 2)
		p->waiting[i] = p->waiting[(i - 1) / 2];
	p->waiting[i] = entry;
}

static struct task_entry *take(struct per_process *p)
{
	struct task_entry *first = p->waiting[0], *last = p->waiting[--p->count];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < p->count) {
		if (child + 1 < p->count && is_before(p->waiting[child + 1], p->waiting[child]))
			child++;
		if (!is_before(p->waiting[child], last))
			break;
		p->waiting[i] = p->waiting[child];
		i = child;
	}
	if (p->count)
		p->waiting[i] = last;
	return first;
}

/* How good a guess is it that, at one time, this line was first? */
static unsigned int guess(const struct per_process *p, const struct task_entry *entry)
{
	if (p->switched && entry->tid == p->next_tid)
		return 2;
	return !p->switched && entry->source.name == p->running;
}

/* The earliest; its first line has been looked at. */
static struct task_entry *take_next(struct per_process *p)
{
	struct task_entry *best = take(p);
	size_t tied = 0;

	while (p->count && compare(&p->waiting[0]->next, &best->next) == 0) {
		struct task_entry *other = take(p);
		const bool better = guess(p, other) > guess(p, best);

		p->tied[tied++] = better ? best : other;
		best = better ? other : best;
	}
	while (tied)
		put(p, p->tied[--tied]);
	p->switched = false;
	return best;
}

/* ---- lines ---- */

struct record {
	struct task_time time;
	bool is_event;
	struct lpl_ref ref;
	struct task_numbers numbers;		/* that ref's */
	struct lpl_event event;
	const char *newline;
};

/* A clock, of which differences are not below 0; NULL, too, when the sum has no 64 bits. */
static const char *scan_clock(const char *at, bool difference, uint64_t before, uint64_t *value)
{
	at = scan_hex_field(at, value);
	if (!difference)
		return at;
	*value += before;
	return at && *value >= before ? at : NULL;
}

static const char *scan_page(const char *at, bool difference, uint64_t before, uint64_t *page)
{
	return difference ? scan_difference(at, before, page) : scan_hex_field(at, page);
}

static const char *read_reference(struct lpl_importer *importer, const char *at,
				  const struct task_entry *entry, struct record *record)
{
	const struct task_numbers *last = &entry->last;
	struct task_numbers *numbers = &record->numbers;
	struct lpl_ref *ref = &record->ref;
	const bool difference = entry->differences;
	const char type = *at;
	uint64_t length;

	at = scan_clock(at + 1, difference, last->cycle, &numbers->cycle);
	if (!at)
		return lpl_import_no_field(importer, "cycle");
	at = scan_decimal_field(at, &length);
	if (!at || length > IMPORT_LENGTH_MAX)
		return lpl_import_no_field(importer, "length");
	at = scan_page(at, difference, last->virtual_page, &numbers->virtual_page);
	if (!at)
		return lpl_import_no_field(importer, "virtual page");
	at = scan_page(at, difference, last->page, &numbers->page);
	if (!at)
		return lpl_import_no_field(importer, "canonical page");
	at = scan_clock(at, difference, last->instr, &numbers->instr);
	if (!at)
		return lpl_import_no_field(importer, "instruction");
	at = scan_clock(at, difference, last->ref, &numbers->ref);
	if (!at)
		return lpl_import_no_field(importer, "reference");
	*ref = (struct lpl_ref){ .type = (uint8_t)scan_type(type), .cycle = numbers->cycle,
				 .instr = numbers->instr, .ref = numbers->ref };
	record->time = (struct task_time){ ref->cycle, ref->instr, ref->ref };
	return lpl_import_line_end(importer, at);
}

/* What the line leaves out is the task's; a switch may be reported on either side of it. */
static const char *read_event(struct lpl_importer *importer, const char *at,
			      const struct task_entry *entry, struct record *record)
{
	struct lpl_event *event = &record->event;
	uint64_t *arg = event->arg;

	at = lpl_scan_event_line(at, event);
	if (!at)
		return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "neither a reference nor an "
					 "event");
	event->tgid = entry->tgid;
	if (event->tag == KTR_SCHEDULE) {
		const bool by_next = event->tid != entry->tid &&
				     event->tid == arg[KTR_SCHEDULE_NEXT_TID];

		arg[KTR_SCHEDULE_PREVIOUS_TID] = by_next ? entry->tid : event->tid;
		if (by_next)
			event->tgid = (uint32_t)arg[KTR_SCHEDULE_NEXT_TGID];
	}
	record->time = (struct task_time){ event->cycle, event->instr, event->ref };
	return at;
}

/* The next line of a file; at its end `newline` is NULL.  False after a complaint. */
static bool read_next(struct lpl_importer *importer, struct task_entry *entry,
		      struct record *record)
{
	struct per_process *p = importer->state;
	const char *at;

	record->newline = NULL;
	if (!lpl_task_line(importer, &p->files, &entry->source, &at))
		return false;
	if (!at)
		return true;
	record->is_event = scan_type(*at) == LPL_TYPES;
	record->newline = record->is_event ? read_event(importer, at, entry, record) :
					     read_reference(importer, at, entry, record);
	return record->newline != NULL;
}

/* ---- what they say ---- */

static bool send_reference(struct lpl_importer *importer, struct record *record)
{
	return lpl_import_set_page(importer, &record->ref, record->numbers.page) &&
	       lpl_import_numbered_ref(importer, &record->ref);
}

static bool send_event(struct lpl_importer *importer, const struct lpl_event *event)
{
	struct per_process *p = importer->state;

	if (!lpl_import_check_clock(importer, "cycle", event->cycle, importer->cycle) ||
	    !lpl_import_check_clock(importer, "instruction", event->instr, importer->instr) ||
	    !lpl_import_check_clock(importer, "reference", event->ref, importer->ref))
		return false;
	p->switched = event->tag == KTR_SCHEDULE;
	p->next_tid = (uint32_t)event->arg[KTR_SCHEDULE_NEXT_TID];
	if (lpl_canonical_passes(event))
		return lpl_import_event(importer, event);
	importer->cycle = event->cycle;
	importer->instr = event->instr;
	importer->ref = event->ref;
	return true;
}

/* The index says how a file ends, so that none is cut off without notice. */
static bool check_end(struct lpl_importer *importer, const struct task_entry *entry)
{
	return (entry->references_read == entry->references &&
		entry->events_read == entry->events && entry->next.cycle == entry->last_cycle) ||
	       lpl_import_refuse(importer, LPL_ERR_TRUNCATED, "the file ends after %" PRIu64
				 " references and %" PRIu64 " events, in cycle %" PRIu64 "; "
				 TASKS_INDEX " says after %" PRIu64 " and %" PRIu64 ", in cycle %"
				 PRIu64 ": was it cut off?", entry->references_read,
				 entry->events_read, entry->next.cycle, entry->references,
				 entry->events, entry->last_cycle);
}

/* ---- all files ---- */

static bool send(struct lpl_importer *importer, struct task_entry *entry, struct record *record)
{
	struct per_process *p = importer->state;

	p->running = entry->source.name;
	p->switched = false;
	if (record->is_event ? !send_event(importer, &record->event) :
			       !send_reference(importer, record))
		return false;
	if (!record->is_event)
		entry->last = record->numbers;
	entry->references_read += !record->is_event;
	entry->events_read += record->is_event;
	lpl_task_line_read(&entry->source, record->newline);
	return true;
}

/* Does another file's line come before this one's next? */
static bool is_others_turn(const struct per_process *p, const struct task_entry *entry)
{
	const int order = p->count ? compare(&p->waiting[0]->next, &entry->next) : 1;

	return order < 0 || (order == 0 && (p->switched || !p->waiting[0]->begun));
}

/* Send a file's lines, until it is another's turn. */
static bool run(struct lpl_importer *importer, struct task_entry *entry)
{
	struct per_process *p = importer->state;
	struct record record = { 0 };

	for (;;) {
		if (!read_next(importer, entry, &record))
			return false;
		if (!record.newline) {
			lpl_task_source_close(&entry->source);
			return check_end(importer, entry);
		}
		entry->next = record.time;
		if (is_others_turn(p, entry)) {
			put(p, entry);
			return true;
		}
		if (!send(importer, entry, &record))
			return false;
	}
}

/* Look at a file's first line. */
static bool begin_file(struct lpl_importer *importer, struct task_entry *entry)
{
	struct per_process *p = importer->state;
	struct record record = { 0 };

	if (!read_next(importer, entry, &record))
		return false;
	if (!record.newline || record.time.cycle != entry->first_cycle)
		return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "the file does not begin in "
					 "cycle %" PRIu64 ", as " TASKS_INDEX " says",
					 entry->first_cycle);
	entry->begun = true;
	entry->next = record.time;
	put(p, entry);
	return true;
}

static bool read_index(struct lpl_importer *importer)
{
	struct per_process *p = importer->state;

	if (!lpl_task_index_read(importer, &p->files, &p->index))
		return false;
	if (!lpl_reach(p->waiting, p->room, p->index.count) ||
	    !lpl_reach(p->tied, p->tied_room, p->index.count))
		return lpl_import_no_memory(importer);
	for (size_t i = 0; i < p->index.count; i++) {
		struct task_entry *entry = &p->index.entry[i];

		entry->next.cycle = entry->first_cycle;
		if (!entry->empty)
			put(p, entry);
	}
	return true;
}

static bool read_directory(struct lpl_importer *importer)
{
	struct per_process *p = importer->state;

	if (!read_index(importer))
		return false;
	while (p->count)
		if (p->waiting[0]->begun ? !run(importer, take_next(p)) :
					   !begin_file(importer, take(p)))
			return false;
	return true;
}

static void free_state(void *state)
{
	struct per_process *p = state;

	lpl_task_files_close(&p->files);
	lpl_task_index_free(&p->index);
	free(p->waiting);
	free(p->tied);
}

const struct lpl_format lpl_format_per_process = {
	.name = "per-process",
	.fields = "TYPE CYCLE LENGTH PAGE CANONICAL-PAGE INSTRUCTION REFERENCE",
	.traits = LPL_FORMAT_IMPORT_ONLY | LPL_FORMAT_DIRECTORY | LPL_FORMAT_CANONICAL |
		  LPL_FORMAT_REDUCED | LPL_WITH_REF | LPL_WITH_INSTR | LPL_WITH_CYCLE |
		  LPL_WITH_TYPES,
	.read_directory = read_directory,
	.import_state = sizeof(struct per_process),
	.import_free = free_state,
};
