/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The merge as a sink: every reference gets its canonical page and its task. */
#include "internal.h"

#include <stdlib.h>

#define DEFAULT_KERNEL_BASE (UINT64_C(1) << 63)

static enum lpl_error no_memory(struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY,
			"merge: no memory left for the reconstructed address spaces");
}

struct space *merge_space(const struct lpl_merge *merge, uint64_t number)
{
	return (struct space *)(uintptr_t)lpl_map_get(&merge->spaces, LPL_KEY(number));
}

struct space *merge_space_make(struct lpl_merge *merge, uint64_t number)
{
	struct space *space = merge_space(merge, number);

	if (space != NULL)
		return space;
	space = calloc(1, sizeof(*space));
	if (space == NULL)
		return NULL;
	if (!lpl_map_put(&merge->spaces, LPL_KEY(number), (uintptr_t)space)) {
		free(space);
		return NULL;
	}
	LIST_INSERT_HEAD(&merge->all_spaces, space, in_all);
	space->number = number;
	space->stamp = new_stamp(merge);
	space->moved_first = UINT64_MAX;	/* nothing was moved */
	merge->stats.spaces++;
	merge->stats.live_spaces++;
	if (merge->audit != NULL)
		audit_space_begins(merge, number);
	return space;
}

static void space_free(struct space *space)
{
	LIST_REMOVE(space, in_all);
	tree_free(&space->mapped);
	tree_free(&space->unresolved);
	free(space);
}

bool merge_space_end(struct lpl_merge *merge, uint64_t number)
{
	struct space *space = merge_space(merge, number);

	if (space != NULL) {
		(void)lpl_map_remove(&merge->spaces, LPL_KEY(number));
		if (merge->last_space == space)
			merge->last_space = NULL;
		space_free(space);
		merge->stats.live_spaces--;
	}
	return merge->audit == NULL || audit_space_over(merge, number, space != NULL);
}

/*
 * Events are missing here, so that what they changed is not known, and that is all of the
 * state there is: who runs, what is mapped, what the page cache holds.  Only the page that a
 * key names is what it was.
 */
static void forget(struct lpl_merge *merge)
{
	struct space *space;

	merge->forget = false;
	if (merge->audit != NULL)
		audit_forget(merge);
	LIST_FOREACH(space, &merge->all_spaces, in_all) {
		tree_free(&space->mapped);
		tree_free(&space->unresolved);
		space->stamp = new_stamp(merge);
		space->moved_first = UINT64_MAX;
	}
	tree_free(&merge->kernel);
	tree_free(&merge->frames);
	merge->kernel_stamp = new_stamp(merge);
	merge_snapshot(merge, false);
	tasks_forget(&merge->tasks);
}

/* Records are missing.  The state lasts when no event is among them, or nothing follows. */
static void on_gap(struct lpl_merge *merge, const struct lpl_event *event)
{
	uint64_t references = event->arg[0], events = event->arg[1];

	merge->stats.gaps++;
	merge->stats.gap_references += references != KTR_NONE ? references : 0;
	merge->stats.gap_events += events != KTR_NONE ? events : 0;
	merge_odd(merge, LPL_ANOMALY_GAP);
	merge->forget |= events != 0;
}

static int tell_page(struct lpl_merge *merge, struct lpl_report *report)
{
	merge->last_told = merge->last_page;
	if (merge->output->page == NULL)
		return LPL_OK;
	return merge->output->page(merge->output, &merge->fresh, report);
}

/* Tell the output which pages are gone. */
static int tell_left(struct lpl_merge *merge, struct lpl_report *report)
{
	int error = LPL_OK;

	while (error == LPL_OK && merge->dead != NULL) {
		struct page *page = merge->dead;

		merge->dead = page->twin;
		error = merge->output->leave(merge->output, page->canonical, true, report);
		free(page);
	}
	for (size_t i = 0; i < merge->uncached.count && error == LPL_OK; i++)
		error = merge->output->leave(merge->output, merge->uncached.page[i], false,
					     report);
	merge->uncached.count = 0;
	return error;
}

static int merge_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
		      struct lpl_report *report)
{
	struct lpl_merge *merge = (struct lpl_merge *)sink;
	struct lpl_merged merged = { .page = 0 };
	struct lpl_merge_task *task;
	int error;

	if (merge->forget)
		forget(merge);
	if (merge->tasks.gaps != 0 && !merge->tasks.current_known)
		merge->stats.gap_unknown += count;
	task = &merge->tasks.current->name;
	merged.task = task;
	for (size_t i = 0; i < count; i++) {
		struct translation *translation = merge_translate(merge, &refs[i]);

		if (translation == NULL)
			return no_memory(report);
		if (merge->last_page != merge->last_told) {
			error = tell_page(merge, report);
			if (error != LPL_OK)
				return error;
		}
		merged.ref = &refs[i];
		merged.page = translation->page;
		merged.kind = translation->kind;
		task->references++;
		merge->stats.references[merged.kind]++;
		if (merged.kind == LPL_PAGE_UNRESOLVED && (refs[i].flags & LPL_USER) != 0)
			merge->stats.user_unresolved++;
		if (merge->audit != NULL)
			audit_reference(merge, &refs[i], translation);
		error = merge->output->reference(merge->output, &merged, report);
		if (error != LPL_OK)
			return error;
	}
	return tell_left(merge, report);
}

/* Events that tell of something else than who runs and what is mapped. */
static bool changes_nothing(uint32_t tag)
{
	switch (tag) {
	case KTR_MARK:
	case KTR_CONTROL:
	case KTR_SYSCALL_ENTER:
	case KTR_SYSCALL_EXIT:
	case KTR_MPROTECT:
	case KTR_SWAP_OUT:
	case KTR_SWAP_IN:
	case KTR_HUGE_MAP:
	case KTR_HUGE_SPLIT:
	case KTR_SNAPSHOT:
	case LPL_EVENT_TRACING:
	case LPL_EVENT_MARK:
		return true;
	default:
		return false;
	}
}

void merge_odd(struct lpl_merge *merge, enum lpl_merge_anomaly kind)
{
	merge->stats.anomalies[kind]++;
	if (merge->audit != NULL)
		audit_odd(merge, kind, merge->event);
}

static void odd_task(void *context, enum lpl_merge_anomaly kind, const struct lpl_event *event)
{
	struct lpl_merge *merge = context;

	merge->stats.anomalies[kind]++;
	if (merge->audit != NULL)
		audit_odd(merge, kind, event);
}

/* Tell the output what has changed of tasks; those that are over go. */
static int tell_tasks(struct lpl_merge *merge, struct lpl_report *report)
{
	struct task *task;
	int error = LPL_OK;

	merge->stats.tasks = merge->tasks.last_serial;
	merge->stats.live_tasks = merge->tasks.live;
	while (error == LPL_OK && (task = tasks_next_changed(&merge->tasks)) != NULL) {
		if (merge->output->task != NULL)
			error = merge->output->task(merge->output, &task->name, report);
		if (!task_is_over(task))
			continue;
		if (merge->audit != NULL)
			audit_task_over(merge, &task->name);
		task_free(task);
	}
	return error;
}

/* The space that an event of a task names; *told: something told of it before. */
static bool note_space(struct lpl_merge *merge, const struct lpl_event *event, bool *told)
{
	*told = true;
	if ((event->tag != KTR_TASK_CREATE && event->tag != KTR_SPACE_ASSIGN &&
	     event->tag != KTR_EXEC) || event->arg[2] == 0)
		return true;
	*told = merge_space(merge, event->arg[2]) != NULL;
	return merge_space_make(merge, event->arg[2]) != NULL;
}

/*
 * The kernel tells where its half of an address space begins, once, and first of all.
 * No kernel takes more than three quarters of an address space of 32 bits.
 */
static void take_base(struct lpl_merge *merge, uint64_t base)
{
	if (merge->base_known || base < UINT64_C(1) << 30 || (base & ((UINT64_C(1) << LPL_PAGE_SHIFT) - 1)) != 0)
		return;
	merge->kernel_base = base;
	merge->base_known = true;
}

static bool take_effect(struct lpl_merge *merge, const struct lpl_event *event)
{
	bool task_known, mapping_known, space_told;

	if (!note_space(merge, event, &space_told) ||
	    !tasks_event(&merge->tasks, event, space_told, &task_known) ||
	    !merge_mapping_event(merge, event, &mapping_known))
		return false;
	if (event->tag == KTR_SNAPSHOT) {
		take_base(merge, event->arg[1]);
		merge_snapshot(merge, event->arg[0] != 0);
		if (merge->audit != NULL)
			audit_snapshot(merge, event->arg[0] != 0);
	}
	if (!task_known && !mapping_known && !changes_nothing(event->tag))
		merge_odd(merge, LPL_ANOMALY_TAG);
	return true;
}

static int merge_event(struct lpl_sink *sink, const struct lpl_event *event,
		       struct lpl_report *report)
{
	struct lpl_merge *merge = (struct lpl_merge *)sink;
	const struct lpl_merge_task *task;
	int error = LPL_OK;
	bool done;

	merge->event = event;
	if (event->tag == LPL_EVENT_GAP) {
		on_gap(merge, event);
		task = &merge->tasks.current->name;
		merge->event = NULL;
		return merge->output->event == NULL ? LPL_OK :
			merge->output->event(merge->output, event, task, report);
	}
	if (merge->forget)
		forget(merge);
	merge->stats.events++;
	if (merge->audit != NULL)
		audit_event(merge, event);
	/* the simulator's own events know nothing of tasks */
	done = event->tag >= LPL_EVENT_TRACING || tasks_check(&merge->tasks, event);
	task = &merge->tasks.current->name;
	done = done && take_effect(merge, event);
	merge->event = NULL;
	if (!done)
		return no_memory(report);
	if (merge->output->event != NULL)
		error = merge->output->event(merge->output, event, task, report);
	if (error == LPL_OK)
		error = tell_left(merge, report);
	return error != LPL_OK ? error : tell_tasks(merge, report);
}

static int merge_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct lpl_merge *merge = (struct lpl_merge *)sink;
	int error;

	tasks_finish(&merge->tasks);
	error = tell_tasks(merge, report);
	if (error != LPL_OK)
		return error;
	if (merge->audit != NULL)
		audit_close(merge);
	return merge->output->finish(merge->output, report);
}

enum lpl_error lpl_merge_open(struct lpl_merge **merge, struct lpl_merge_output *output,
			      const struct lpl_merge_options *options,
			      struct lpl_report *report)
{
	static const struct mapping stray = {
		.kind = LPL_PAGE_UNRESOLVED, .sharing = MAPPING_ANONYMOUS
	};
	struct lpl_merge *made = calloc(1, sizeof(*made));

	*merge = NULL;
	if (made == NULL)
		return no_memory(report);
	made->stray = mapping_new(&stray);
	if (options != NULL && options->audit)
		made->audit = audit_open(options->problems);
	if (made->stray == NULL || (options != NULL && options->audit && made->audit == NULL)) {
		free(made->stray);
		audit_free(made->audit);
		free(made);
		return no_memory(report);
	}
	made->sink = (struct lpl_sink){ merge_refs, merge_event, merge_finish };
	made->output = output;
	if (output->leave != NULL)
		made->stray->dead = &made->dead;
	made->kernel_base = DEFAULT_KERNEL_BASE;
	made->base_known = options != NULL && options->kernel_base != 0;
	if (made->base_known)
		made->kernel_base = options->kernel_base;
	tasks_init(&made->tasks);
	made->tasks.odd = odd_task;
	made->tasks.context = made;
	made->tasks.keep_events = made->audit != NULL;
	LIST_INIT(&made->all_spaces);
	lpl_map_init(&made->spaces, 1);
	LIST_INIT(&made->all_objects);
	lpl_map_init(&made->objects, 2);
	lpl_map_init(&made->identities, 3);
	lpl_map_init(&made->present, 2);
	made->kernel_stamp = new_stamp(made);
	made->physical_stamp = new_stamp(made);
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
		space_free(LIST_FIRST(&merge->all_spaces));
	while (!LIST_EMPTY(&merge->all_objects))
		object_free(LIST_FIRST(&merge->all_objects));
	tasks_free(&merge->tasks);
	merge_snapshot(merge, false);
	audit_free(merge->audit);
	lpl_map_free(&merge->objects);
	lpl_map_free(&merge->spaces);
	lpl_map_free(&merge->identities);
	free(merge->kept);
	tree_free(&merge->kernel);
	tree_free(&merge->frames);
	slot_release(slot_of_mapping(merge->stray));
	while (merge->dead != NULL) {
		struct page *page = merge->dead;

		merge->dead = page->twin;
		free(page);
	}
	free(merge->uncached.page);
	free(merge);
}
