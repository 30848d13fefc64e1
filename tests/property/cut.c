/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Two merges of a stream that is cut; see cut.h. */
#include "cut.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static void must(bool done)
{
	if (!done)
		abort();
}

__attribute__((format(printf, 2, 3)))
static void differ(struct cut *cut, const char *format, ...)
{
	va_list args;

	if (cut->why[0] != '\0')
		return;
	va_start(args, format);
	(void)vsnprintf(cut->why, sizeof(cut->why), format, args);
	va_end(args);
}

/* ---- a merge's output ---- */

static struct cut_side *side_of(struct lpl_merge_output *output)
{
	return (struct cut_side *)((char *)output - offsetof(struct cut_side, output));
}

static enum lpl_error on_reference(struct lpl_merge_output *output, const struct lpl_merged *merged,
				   struct lpl_report *report)
{
	struct cut_side *side = side_of(output);

	(void)report;
	side->merged = *merged;
	side->serial = merged->task->serial;
	side->process = merged->task->process;
	side->tid = merged->task->tid;
	return LPL_OK;
}

static enum lpl_error on_event(struct lpl_merge_output *output, const struct lpl_event *event,
			       const struct lpl_merge_task *task, struct lpl_report *report)
{
	struct cut_side *side = side_of(output);

	(void)report;
	(void)event;
	side->serial = task->serial;
	side->process = task->process;
	side->tid = task->tid;
	return LPL_OK;
}

static enum lpl_error on_page(struct lpl_merge_output *output, const struct lpl_merge_page *page,
			      struct lpl_report *report)
{
	struct cut_side *side = side_of(output);
	uint64_t hash = page->name_length;

	(void)report;
	for (uint32_t i = 0; i < page->name_length; i++)
		hash = hash * 31 + (unsigned char)page->name[i];
	must(lpl_reach(side->page, side->page_room, page->page) &&
	     lpl_reach(side->page_name, side->name_room, page->page));
	side->page[page->page] = *page;
	side->page[page->page].name = NULL;
	side->page_name[page->page] = hash;
	side->pages = page->page;
	return LPL_OK;
}

static enum lpl_error on_task(struct lpl_merge_output *output, const struct lpl_merge_task *task,
			      struct lpl_report *report)
{
	struct cut_side *side = side_of(output);
	uint32_t before;

	(void)report;
	must(lpl_reach(side->task, side->task_room, task->serial) &&
	     lpl_reach(side->changed, side->changed_room, side->changes));
	before = side->task[task->serial].tid;
	if (lpl_map_get(&side->living, LPL_KEY(before)) == task->serial)
		(void)lpl_map_remove(&side->living, LPL_KEY(before));
	side->task[task->serial] = *task;
	if (task->state == LPL_TASK_LIVES && task->serial != 0)
		must(lpl_map_put(&side->living, LPL_KEY(task->tid), task->serial));
	side->changed[side->changes++] = task->serial;
	return LPL_OK;
}

static enum lpl_error on_finish(struct lpl_merge_output *output, struct lpl_report *report)
{
	(void)output;
	(void)report;
	return LPL_OK;
}

static void side_open(struct cut_side *side, bool audit)
{
	const struct lpl_merge_options options = { .audit = audit, .problems = 4 };
	struct lpl_report report = { .error = LPL_OK };

	side->output = (struct lpl_merge_output){
		.reference = on_reference, .event = on_event, .finish = on_finish,
		.page = on_page, .task = on_task
	};
	lpl_map_init(&side->living, 1);
	must(lpl_reach(side->task, side->task_room, 0));	/* the idle task */
	must(lpl_merge_open(&side->merge, &side->output, &options, &report) == LPL_OK);
}

static void side_close(struct cut_side *side)
{
	lpl_merge_close(side->merge);
	lpl_map_free(&side->living);
	free(side->page);
	free(side->page_name);
	free(side->task);
	free(side->changed);
}

/* ---- numbers ---- */

static void pairs_init(struct cut_pairs *pairs)
{
	lpl_map_init(&pairs->there, 1);
	lpl_map_init(&pairs->back, 1);
}

static void pairs_free(struct cut_pairs *pairs)
{
	lpl_map_free(&pairs->there);
	lpl_map_free(&pairs->back);
}

/* Do these stand for the same?  From now on they do, if nothing is known of either. */
static bool pair(struct cut_pairs *pairs, uint64_t whole, uint64_t part, bool may_split)
{
	uint64_t there = lpl_map_get(&pairs->there, LPL_KEY(whole));
	uint64_t back = lpl_map_get(&pairs->back, LPL_KEY(part));

	if (back == 0 && (there == 0 || may_split)) {
		must(lpl_map_put(&pairs->there, LPL_KEY(whole), part + 1) &&
		     lpl_map_put(&pairs->back, LPL_KEY(part), whole + 1));
		return true;
	}
	return back == whole + 1 && (may_split || there == part + 1);
}

struct cut *cut_open(bool references_too, bool audit)
{
	struct cut *cut = calloc(1, sizeof(*cut));
	struct lpl_report report = { .error = LPL_OK };

	must(cut != NULL);
	cut->references_too = references_too;
	side_open(&cut->whole, audit);
	side_open(&cut->part, audit);
	must(lpl_state_new(&cut->state, NULL, &report) == LPL_OK);
	pairs_init(&cut->pages);
	pairs_init(&cut->tasks);
	pairs_init(&cut->processes);
	must(pair(&cut->tasks, 0, 0, false) && pair(&cut->processes, 0, 0, false));
	return cut;
}

void cut_close(struct cut *cut)
{
	side_close(&cut->whole);
	side_close(&cut->part);
	lpl_state_free(cut->state);
	pairs_free(&cut->pages);
	pairs_free(&cut->tasks);
	pairs_free(&cut->processes);
	free(cut);
}

/* ---- what must be the same ---- */

/* A parent that had ended at the cut is not known any more. */
static bool same_parent(struct cut *cut, uint64_t whole, uint64_t part)
{
	if (part == 0)
		return lpl_map_get(&cut->tasks.there, LPL_KEY(whole)) == 0 || whole == 0;
	return lpl_map_get(&cut->tasks.there, LPL_KEY(whole)) == part + 1;
}

static void compare_tasks(struct cut *cut, uint64_t in_whole, uint64_t in_part)
{
	const struct lpl_merge_task *whole = &cut->whole.task[in_whole];
	const struct lpl_merge_task *part = &cut->part.task[in_part];

	if (whole->tid != part->tid || whole->tgid != part->tgid || whole->space != part->space ||
	    whole->state != part->state ||
	    (whole->state == LPL_TASK_EXITED && whole->exit_code != part->exit_code) ||
	    whole->name_length != part->name_length ||
	    memcmp(whole->name, part->name, part->name_length) != 0)
		differ(cut, "task %" PRIu32 " of %" PRIu32 " in space %" PRIx64 " '%.*s' state %d"
		       " code %" PRIu64 ": of %" PRIu32 " in %" PRIx64 " '%.*s' state %d code %"
		       PRIu64, whole->tid, whole->tgid, whole->space, (int)whole->name_length,
		       whole->name, whole->state, whole->exit_code, part->tgid, part->space,
		       (int)part->name_length, part->name, part->state, part->exit_code);
	if (!pair(&cut->processes, whole->process, part->process, false))
		differ(cut, "task %" PRIu32 ": of process %" PRIu64 ", %" PRIu64, whole->tid,
		       whole->process, part->process);
	if (!same_parent(cut, whole->parent, part->parent))
		differ(cut, "task %" PRIu32 ": its parent is %" PRIu64 ", %" PRIu64, whole->tid,
		       whole->parent, part->parent);
}

/* Both report the same tasks, in the same order. */
static void compare_changed(struct cut *cut)
{
	struct cut_side *whole = &cut->whole, *part = &cut->part;

	if (whole->changes != part->changes)
		differ(cut, "%zu tasks have changed: %zu", whole->changes, part->changes);
	for (size_t i = 0; i < part->changes && cut->why[0] == '\0'; i++) {
		if (!pair(&cut->tasks, whole->changed[i], part->changed[i], false))
			differ(cut, "task %" PRIu32 " (number %" PRIu64 ") has changed: %" PRIu32
			       " (%" PRIu64 ")", whole->task[whole->changed[i]].tid,
			       whole->changed[i], part->task[part->changed[i]].tid,
			       part->changed[i]);
		compare_tasks(cut, whole->changed[i], part->changed[i]);
	}
	whole->changes = part->changes = 0;
}

static void compare_runners(struct cut *cut)
{
	const struct cut_side *whole = &cut->whole, *part = &cut->part;

	if (whole->tid != part->tid || !pair(&cut->tasks, whole->serial, part->serial, false) ||
	    !pair(&cut->processes, whole->process, part->process, false))
		differ(cut, "task %" PRIu32 " (number %" PRIu64 " of process %" PRIu64 ") ran: %"
		       PRIu32 " (%" PRIu64 " of %" PRIu64 ")", whole->tid, whole->serial,
		       whole->process, part->tid, part->serial, part->process);
}

static void compare_pages(struct cut *cut)
{
	uint64_t in_whole = cut->whole.merged.page, in_part = cut->part.merged.page;
	const struct lpl_merge_page *whole = &cut->whole.page[in_whole];
	const struct lpl_merge_page *part = &cut->part.page[in_part];

	if (!pair(&cut->pages, in_whole, in_part, cut->may_split))
		differ(cut, "page %" PRIx64 " (%" PRIx64 ") and %" PRIx64 " (%" PRIx64 ")",
		       in_whole, lpl_map_get(&cut->pages.there, LPL_KEY(in_whole)) - 1, in_part,
		       lpl_map_get(&cut->pages.back, LPL_KEY(in_part)) - 1);
	if (cut->whole.merged.kind != cut->part.merged.kind ||
	    whole->device != part->device || whole->inode != part->inode ||
	    whole->offset != part->offset)
		differ(cut, "page %" PRIx64 ": %s, %" PRIx64 " %" PRIx64 " %" PRIx64
		       "; %s, %" PRIx64 " %" PRIx64 " %" PRIx64, in_whole,
		       lpl_page_kind_name(cut->whole.merged.kind), whole->device, whole->inode,
		       whole->offset, lpl_page_kind_name(cut->part.merged.kind), part->device,
		       part->inode, part->offset);
	/* what was known when it was referenced first, and where that was */
	if (in_whole > cut->pages_before &&
	    (whole->kind != part->kind || whole->generation != part->generation ||
	     whole->space != part->space || whole->virtual_page != part->virtual_page ||
	     cut->whole.page_name[in_whole] != cut->part.page_name[in_part]))
		differ(cut, "page %" PRIx64 ": first at %" PRIx64 " in %" PRIx64 ", %" PRIx64
		       " in %" PRIx64 ", or another name", in_whole, whole->virtual_page,
		       whole->space, part->virtual_page, part->space);
}

/* ---- the stream ---- */

static void send_ref(struct cut_side *side, const struct lpl_ref *ref)
{
	struct lpl_sink *sink = lpl_merge_sink(side->merge);
	struct lpl_report report = { .error = LPL_OK };

	must(sink->refs(sink, ref, 1, &report) == LPL_OK);
}

static void send_event(struct cut_side *side, const struct lpl_event *event)
{
	struct lpl_sink *sink = lpl_merge_sink(side->merge);
	struct lpl_report report = { .error = LPL_OK };

	must(sink->event(sink, event, &report) == LPL_OK);
}

void cut_ref(struct cut *cut, const struct lpl_ref *ref)
{
	struct lpl_report report = { .error = LPL_OK };

	if (cut->why[0] != '\0')
		return;
	send_ref(&cut->whole, ref);
	if (cut->references_too && !cut->is_cut)
		must(lpl_state_refs(cut->state, ref, 1, &report) == LPL_OK);
	if (!cut->is_cut)
		return;
	send_ref(&cut->part, ref);
	compare_runners(cut);
	compare_pages(cut);
}

void cut_event(struct cut *cut, const struct lpl_event *event)
{
	struct lpl_report report = { .error = LPL_OK };

	if (cut->why[0] != '\0')
		return;
	send_event(&cut->whole, event);
	if (!cut->is_cut) {
		cut->whole.changes = 0;
		must(lpl_state_take(cut->state, event, &report) == LPL_OK);
		return;
	}
	cut->snapshot_after |= event->tag == KTR_SNAPSHOT;
	send_event(&cut->part, event);
	compare_changed(cut);
	compare_runners(cut);
}

struct forwarder {
	struct lpl_sink sink;
	struct cut *cut;
};

static enum lpl_error forward_event(struct lpl_sink *sink, const struct lpl_event *event,
				    struct lpl_report *report)
{
	struct cut *cut = ((struct forwarder *)sink)->cut;

	(void)report;
	cut->state_events++;
	send_event(&cut->part, event);
	return LPL_OK;
}

/* Those that live, and no others, are in the part: each by its tid. */
static void compare_living(struct cut *cut)
{
	struct cut_side *whole = &cut->whole, *part = &cut->part;

	for (size_t i = 0; i < part->changes && cut->why[0] == '\0'; i++) {
		uint64_t serial = part->changed[i];
		uint64_t twin = lpl_map_get(&whole->living, LPL_KEY(part->task[serial].tid));

		if ((twin == 0) != (serial == 0) || !pair(&cut->tasks, twin, serial, false))
			differ(cut, "task %" PRIu32 " is not in the whole",
			       part->task[serial].tid);
		compare_tasks(cut, twin, serial);
	}
	if (part->living.count != whole->living.count)
		differ(cut, "%zu tasks live: %zu", whole->living.count, part->living.count);
	whole->changes = part->changes = 0;
}

void cut_here(struct cut *cut)
{
	struct forwarder forwarder = { .sink = { .event = forward_event }, .cut = cut };
	struct lpl_report report = { .error = LPL_OK };

	must(lpl_state_send(cut->state, &forwarder.sink, &report) == LPL_OK);
	cut->is_cut = true;
	cut->pages_before = cut->whole.pages;
	memcpy(cut->anomalies_before, lpl_merge_stats(cut->whole.merge)->anomalies,
	       sizeof(cut->anomalies_before));
	compare_living(cut);
}

/* Of a page that is in two frames a state does not say which one it entered last. */
static bool is_ambiguous(const struct cut *cut, enum lpl_merge_anomaly kind)
{
	return (kind == LPL_ANOMALY_CACHED_TWICE || kind == LPL_ANOMALY_NOT_CACHED) &&
	       cut->anomalies_before[LPL_ANOMALY_CACHED_TWICE] > 0;
}

/* The guest's first snapshot lets an audit forgive what precedes it. */
static void compare_books(struct cut *cut)
{
	const uint64_t *whole = lpl_merge_stats(cut->whole.merge)->anomalies;
	const uint64_t *part = lpl_merge_stats(cut->part.merge)->anomalies;
	const struct lpl_merge_audit *books = lpl_merge_audit(cut->part.merge);

	for (int i = 0; i < LPL_ANOMALIES; i++) {
		uint64_t before = cut->snapshot_after ? 0 : cut->anomalies_before[i];

		if (part[i] + before > whole[i] && !is_ambiguous(cut, (enum lpl_merge_anomaly)i))
			differ(cut, "odd, %s: %" PRIu64 " after %" PRIu64 ": %" PRIu64,
			       lpl_merge_anomaly_name((enum lpl_merge_anomaly)i), whole[i],
			       before, part[i]);
	}
	if (books == NULL)
		return;
	if (books->by_kind != books->references || books->by_task != books->references ||
	    books->tasks_ended + books->tasks_live != books->tasks ||
	    books->spaces_ended + books->spaces_live != books->spaces ||
	    books->cache_removed + books->cache_displaced + books->cache_lost +
			    books->cache_held != books->cache_added)
		differ(cut, "the books do not balance");
}

void cut_finish(struct cut *cut)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_sink *whole = lpl_merge_sink(cut->whole.merge);
	struct lpl_sink *part = lpl_merge_sink(cut->part.merge);

	if (cut->why[0] != '\0')
		return;
	must(whole->finish(whole, &report) == LPL_OK);
	must(part->finish(part, &report) == LPL_OK);
	if (cut->is_cut)
		compare_changed(cut);
	compare_books(cut);
}
