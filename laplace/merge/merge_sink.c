/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The merge as a sink: every reference gets its canonical page and its task. */
#include <stdlib.h>

#include "base/try.h"
#include "audit.h"
#include "pages.h"
#include "state.h"

#define DEFAULT_KERNEL_BASE (UINT64_C(1) << 63)

static enum lpl_error no_memory(struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY,
			"merge: no memory left for the reconstructed address spaces");
}

void lpl_merge_anomaly(struct lpl_merge *merge, enum lpl_merge_anomaly kind,
		       const struct lpl_event *event)
{
	/* what was odd was counted when it happened */
	if (merge->tasks.in_state)
		return;
	merge->stats.anomalies[kind]++;
	if (merge->audit != NULL)
		lpl_audit_anomaly(merge, kind, event);
}

static void task_anomaly(void *context, enum lpl_merge_anomaly kind,
			 const struct lpl_event *event)
{
	lpl_merge_anomaly(context, kind, event);
}

/* ---- what the output is given ---- */

static enum lpl_error pass_page(struct lpl_merge *merge, const struct lpl_merge_page *page,
				struct lpl_report *report)
{
	return merge->output->page == NULL ? LPL_OK :
					     merge->output->page(merge->output, page, report);
}

/* Which pages are in memory no more. */
static enum lpl_error pass_left(struct lpl_merge *merge, struct lpl_report *report)
{
	while (merge->store.ended != NULL) {
		struct page *page = merge->store.ended;
		const uint64_t canonical = page->canonical;

		merge->store.ended = page->next_ended;
		free(page);
		LPL_TRY(merge->output->leave(merge->output, canonical, true, report));
	}
	for (size_t i = 0; i < merge->left_count; i++)
		LPL_TRY(merge->output->leave(merge->output, merge->left_cache[i], false, report));
	merge->left_count = 0;
	return LPL_OK;
}

/* What has changed of tasks; those that are over go. */
static enum lpl_error pass_tasks(struct lpl_merge *merge, struct lpl_report *report)
{
	struct task *task;
	enum lpl_error error = LPL_OK;

	merge->stats.tasks = merge->tasks.last_serial;
	merge->stats.live_tasks = merge->tasks.live;
	while (error == LPL_OK && (task = lpl_tasks_next_changed(&merge->tasks)) != NULL) {
		if (merge->output->task != NULL)
			error = merge->output->task(merge->output, &task->view, report);
		if (!task_is_over(task))
			continue;
		if (merge->audit != NULL)
			lpl_audit_task_over(merge, &task->view);
		lpl_task_free(task);
	}
	return error;
}

static enum lpl_error pass_event(struct lpl_merge *merge, const struct lpl_event *event,
				 const struct lpl_merge_task *task, struct lpl_report *report)
{
	return merge->output->event == NULL ? LPL_OK :
			merge->output->event(merge->output, event, task, report);
}

/* ---- gaps ---- */

/* Records are missing.  The state lasts when no event is among them, or nothing follows. */
static enum lpl_error take_gap(struct lpl_merge *merge, const struct lpl_event *event,
			       struct lpl_report *report)
{
	uint64_t references = event->arg[LPL_EVENT_GAP_REFERENCES];
	uint64_t events = event->arg[LPL_EVENT_GAP_EVENTS];

	merge->stats.gaps++;
	merge->stats.gap_references += references != KTR_NONE ? references : 0;
	merge->stats.gap_events += events != KTR_NONE ? events : 0;
	lpl_merge_anomaly(merge, LPL_ANOMALY_GAP, event);
	merge->gap |= events != 0 || merge->tasks.in_state;
	return pass_event(merge, event, &merge->tasks.current->view, report);
}

/* Only the page that a key names is what it was. */
void lpl_merge_forget(struct lpl_merge *merge)
{
	struct space *space;

	if (merge->audit != NULL)
		lpl_audit_gap(merge);
	LIST_FOREACH(space, &merge->all_spaces, in_all)
		lpl_space_clear(merge, space);
	lpl_tree_free(&merge->kernel);
	lpl_tree_free(&merge->frames);
	merge->kernel_asid = new_asid(merge);
	lpl_present_clear(merge);
}

/*
 * Events were missing, so that what they changed is not known, and that is all of the state
 * there is: which task runs, what is mapped, what the page cache holds.
 */
void lpl_merge_after_gap(struct lpl_merge *merge)
{
	if (!merge->gap)
		return;
	merge->gap = false;
	lpl_merge_forget(merge);
	lpl_tasks_gap(&merge->tasks);
}

/*
 * Only these make up a state.  Any other record before it ends shows that its end is missing,
 * and more of it may be: what was read of it is treated as if events were missing after it.
 */
static bool is_of_state(uint32_t tag)
{
	switch (tag) {
	case LPL_EVENT_STATE:
	case LPL_EVENT_TASK_STATE:
	case LPL_EVENT_SPACE_STATE:
	case LPL_EVENT_SHARED:
	case LPL_EVENT_TRACING:
	case KTR_MAP:
	case KTR_PAGE_OWN:
	case KTR_PRESENT:
	case KTR_FILE:
	case KTR_CACHE_ADD:
	case KTR_SPACE_END:
		return true;
	default:
		return false;
	}
}

/* ---- the stream ---- */

/* References come, and a gap may stand before them.  Returns the task that makes them. */
static struct lpl_merge_task *begin_refs(struct lpl_merge *merge, size_t count)
{
	merge->gap |= merge->tasks.in_state;
	lpl_merge_after_gap(merge);
	if (merge->stats.gaps != 0 && !merge->tasks.current_known)
		merge->stats.gap_unknown += count;
	return &merge->tasks.current->view;
}

/* The slow way: NULL, or what the reference is translated to, and its page if that is new. */
static struct translation *resolve(struct lpl_merge *merge, const struct lpl_ref *ref,
				   struct effect *effect)
{
	struct translation *translation;

	effect->page.page = 0;
	effect->implied_break = false;
	translation = merge->canonical.given ? lpl_canonical_translate(merge, ref, effect) :
					       lpl_merge_translate(merge, ref, effect);
	merge->stats.implied_breaks += effect->implied_break;
	return translation;
}

static enum lpl_error take_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	struct lpl_merge *merge = (struct lpl_merge *)sink;
	struct lpl_merge_task *task = begin_refs(merge, count);
	struct lpl_merged merged = { .task = task };

	for (size_t i = 0; i < count; i++) {
		struct effect effect;
		struct translation *translation;

		translation = resolve(merge, &refs[i], &effect);
		if (translation == NULL)
			return no_memory(report);
		if (effect.page.page != 0)
			LPL_TRY(pass_page(merge, &effect.page, report));
		merged.ref = &refs[i];
		merged.page = translation->page;
		merged.kind = translation->kind;
		task->references++;
		merge->stats.references[merged.kind]++;
		if (merged.kind == LPL_PAGE_UNRESOLVED && (refs[i].flags & LPL_USER) != 0)
			merge->stats.user_unresolved++;
		if (merge->audit != NULL && !merge->canonical.given)
			lpl_audit_reference(merge, &refs[i], translation,
					    effect.implied_break);
		LPL_TRY(merge->output->reference(merge->output, &merged, report));
	}
	return pass_left(merge, report);
}

size_t lpl_merge_pages(struct lpl_merge *merge, const struct lpl_ref *refs, size_t count,
		       uint64_t *pages, struct lpl_report *report)
{
	struct lpl_merge_task *task = begin_refs(merge, count);
	struct effect effect = { .page = { .page = 0 } };
	size_t i = 0;

	while (i < count && effect.page.page == 0) {
		const struct translation *translation;

		/* most are where they were a moment ago */
		i += lpl_merge_translate_cached(merge, &refs[i], count - i, &pages[i]);
		if (i == count)
			break;
		translation = resolve(merge, &refs[i], &effect);
		if (translation == NULL) {
			no_memory(report);
			return 0;
		}
		pages[i++] = translation->page;
	}
	task->references += i;
	if (effect.page.page != 0 && pass_page(merge, &effect.page, report) != LPL_OK)
		return 0;
	return pass_left(merge, report) == LPL_OK ? i : 0;
}

enum lpl_error lpl_merge_page_at(struct lpl_merge *merge, uint64_t space, uint64_t address,
				 uint64_t *page, struct lpl_report *report)
{
	const struct lpl_ref read = { .address = address, .space = space, .type = LPL_READ };
	const uint64_t at = address >> LPL_PAGE_SHIFT;
	const struct space *found = lpl_space_find(merge, space);
	const struct translation *translation;
	struct effect effect;

	*page = 0;
	if (found == NULL || merge->canonical.given || address >= merge->kernel_base ||
	    !lpl_space_maps(found, (struct range){ at, at }))
		return LPL_OK;
	translation = resolve(merge, &read, &effect);
	if (translation == NULL)
		return no_memory(report);
	*page = translation->page;
	return effect.page.page != 0 ? pass_page(merge, &effect.page, report) : LPL_OK;
}

const struct lpl_merge_task *lpl_merge_running(const struct lpl_merge *merge)
{
	return &merge->tasks.current->view;
}

/* The space that an event of a task names, if any; *known: it was known before. */
static bool make_space(struct lpl_merge *merge, const struct lpl_event *event, bool *known)
{
	uint64_t space = event->arg[KTR_TASK_SPACE];

	*known = true;
	if ((event->tag != KTR_TASK_CREATE && event->tag != KTR_SPACE_ASSIGN &&
	     event->tag != KTR_EXEC) || space == 0)
		return true;
	*known = lpl_space_find(merge, space) != NULL;
	return lpl_space_make(merge, space) != NULL;
}

/*
 * The kernel reports where its half of an address space begins, once, and first of all.  No
 * kernel takes more than three quarters of an address space of 32 bits.
 */
void lpl_merge_take_kernel_base(struct lpl_merge *merge, uint64_t base)
{
	if (merge->base_known || base < UINT64_C(1) << 30 ||
	    (base & ((UINT64_C(1) << LPL_PAGE_SHIFT) - 1)) != 0)
		return;
	merge->kernel_base = base;
	merge->base_known = true;
	note_change(merge);
}

static void take_snapshot(struct lpl_merge *merge, const struct lpl_event *event)
{
	bool begins = event->arg[KTR_SNAPSHOT_BEGINS] != 0;

	lpl_merge_take_kernel_base(merge, event->arg[KTR_SNAPSHOT_KERNEL_BASE]);
	lpl_tasks_snapshot(&merge->tasks, begins);
	lpl_present_clear(merge);
	if (merge->audit != NULL)
		lpl_audit_snapshot(merge, begins);
}

/* Those that only traces of canonical pages and of active periods have make no sense here. */
static bool is_known(uint32_t tag)
{
	return tag != LPL_EVENT_OUT && tag != LPL_EVENT_PAGE && lpl_event_kind(tag) != NULL;
}

static bool take_effect(struct lpl_merge *merge, const struct lpl_event *event)
{
	bool space_known;

	if (!make_space(merge, event, &space_known) ||
	    !lpl_tasks_event(&merge->tasks, event, space_known) ||
	    (!merge->canonical.given && !lpl_merge_apply(merge, event)))
		return false;
	if (event->tag == KTR_SNAPSHOT)
		take_snapshot(merge, event);
	if (!is_known(event->tag))
		lpl_merge_anomaly(merge, LPL_ANOMALY_TAG, event);
	return true;
}

/* After each event, which may have made more of everything. */
static enum lpl_error keep_bound(struct lpl_merge *merge, const struct lpl_event *event,
				 struct lpl_report *report)
{
	if (!lpl_memory_is_full(merge))
		return LPL_OK;
	if (!lpl_memory_forget(merge, event))
		return no_memory(report);
	LPL_TRY(pass_left(merge, report));
	return pass_tasks(merge, report);
}

static enum lpl_error take_event(struct lpl_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	struct lpl_merge *merge = (struct lpl_merge *)sink;
	const struct lpl_merge_task *task;

	if (event->tag == LPL_EVENT_GAP)
		return take_gap(merge, event, report);
	if (event->tag == LPL_EVENT_PAGE && (merge->canonical.given || merge->last_page == 0)) {
		note_change(merge);
		return lpl_canonical_describe(merge, event) ? LPL_OK : no_memory(report);
	}
	merge->gap |= merge->tasks.in_state && !is_of_state(event->tag);
	lpl_merge_after_gap(merge);
	merge->stats.events++;
	if (merge->audit != NULL)
		lpl_audit_event(merge, event);
	if (!lpl_tasks_check(&merge->tasks, event))
		return no_memory(report);
	task = &merge->tasks.current->view;
	if (!take_effect(merge, event))
		return no_memory(report);
	LPL_TRY(pass_event(merge, event, task, report));
	LPL_TRY(pass_left(merge, report));
	LPL_TRY(pass_tasks(merge, report));
	return keep_bound(merge, event, report);
}

static enum lpl_error take_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct lpl_merge *merge = (struct lpl_merge *)sink;

	lpl_tasks_finish(&merge->tasks);
	LPL_TRY(pass_tasks(merge, report));
	if (merge->audit != NULL)
		lpl_audit_close(merge);
	return merge->output->finish(merge->output, report);
}

/* ---- opening and closing ---- */

enum lpl_error lpl_merge_open(struct lpl_merge **merge, struct lpl_merge_output *output,
			      const struct lpl_merge_options *options,
			      struct lpl_report *report)
{
	static const struct mapping unresolved = {
		.kind = LPL_PAGE_UNRESOLVED, .sharing = MAPPING_ANONYMOUS
	};
	struct lpl_merge *made = calloc(1, sizeof(*made));

	*merge = NULL;
	if (made == NULL)
		return no_memory(report);
	made->store.keeps_ended = output->leave != NULL;
	made->kernel.store = made->frames.store = &made->store;
	made->unresolved = lpl_mapping_new(&made->store, &unresolved);
	if (options != NULL && options->audit)
		made->audit = lpl_audit_open(options->problems);
	if (made->unresolved == NULL ||
	    (options != NULL && options->audit && made->audit == NULL)) {
		free(made->unresolved);
		lpl_audit_free(made->audit);
		free(made);
		return no_memory(report);
	}
	made->sink = (struct lpl_sink){ take_refs, take_event, take_finish };
	made->output = output;
	made->memory = options != NULL && options->memory != 0 ? options->memory :
							     LPL_MERGE_MEMORY;
	made->kernel_base = DEFAULT_KERNEL_BASE;
	made->base_known = options != NULL && options->kernel_base != 0;
	if (made->base_known)
		made->kernel_base = options->kernel_base;
	lpl_tasks_init(&made->tasks);
	made->tasks.anomaly = task_anomaly;
	made->tasks.context = made;
	made->tasks.keep_events = made->audit != NULL;
	LIST_INIT(&made->all_spaces);
	lpl_map_init(&made->spaces, 1);
	LIST_INIT(&made->all_objects);
	lpl_map_init(&made->objects, 2);
	lpl_map_init(&made->identities, 3);
	lpl_map_init(&made->present, 2);
	lpl_canonical_pages_init(&made->canonical);
	made->kernel_asid = new_asid(made);
	made->physical_asid = new_asid(made);
	*merge = made;
	return LPL_OK;
}

struct lpl_sink *lpl_merge_sink(struct lpl_merge *merge)
{
	return &merge->sink;
}

const struct lpl_merge_stats *lpl_merge_stats(const struct lpl_merge *merge)
{
	return &merge->stats;
}

void lpl_merge_close(struct lpl_merge *merge)
{
	if (merge == NULL)
		return;
	while (!LIST_EMPTY(&merge->all_spaces))
		lpl_space_free(LIST_FIRST(&merge->all_spaces));
	while (!LIST_EMPTY(&merge->all_objects))
		lpl_object_free(merge, LIST_FIRST(&merge->all_objects));
	lpl_tasks_free(&merge->tasks);
	lpl_present_clear(merge);
	lpl_audit_free(merge->audit);
	lpl_map_free(&merge->objects);
	lpl_map_free(&merge->spaces);
	lpl_map_free(&merge->identities);
	lpl_tree_free(&merge->kernel);
	lpl_tree_free(&merge->frames);
	lpl_slot_release(slot_of_mapping(merge->unresolved));
	while (merge->store.ended != NULL) {
		struct page *page = merge->store.ended;

		merge->store.ended = page->next_ended;
		free(page);
	}
	lpl_canonical_pages_free(&merge->canonical);
	free(merge->present_page);
	free(merge->left_cache);
	free(merge);
}
