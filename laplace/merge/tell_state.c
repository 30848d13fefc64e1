/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Telling a guest's state, in this order, so that each event finds what it needs:
 *
 *	LPL_EVENT_STATE		begins; the kernel's base
 *	spaces			tell_spaces.c
 *	KTR_FILE		what files are, whatever mappings said of them; some by KTR_MAP
 *	KTR_CACHE_ADD		what each frame holds
 *	LPL_EVENT_TASK_STATE	tasks, parents before children
 *	LPL_EVENT_TRACING	as it was told last
 *	LPL_EVENT_STATE		ends; who runs
 */
#include "guest_state.h"

#include <stdlib.h>
#include <string.h>

/* ---- sending ---- */

void lpl_teller_send(struct teller *teller, uint32_t tag, const uint64_t arg[KTR_ARGS],
		     const char *text, size_t length)
{
	struct lpl_event *event = &teller->event;

	if (teller->error != LPL_OK)
		return;
	event->tag = tag;
	memcpy(event->arg, arg, sizeof(event->arg));
	event->text_length = (uint32_t)(length < KTR_TEXT ? length : KTR_TEXT);
	memset(event->text, 0, sizeof(event->text));
	if (event->text_length > 0)
		memcpy(event->text, text, event->text_length);
	teller->error = teller->sink->event(teller->sink, event, teller->report);
}

void lpl_teller_no_memory(struct teller *teller)
{
	if (teller->error == LPL_OK)
		teller->error = lpl_fail(teller->report, LPL_ERR_MEMORY,
					 "no memory left to tell what the guest has mapped");
}

struct object_name lpl_told_name(const struct mapping *mapping)
{
	switch (class_of(mapping)) {
	case OBJECT_FILE:
	case OBJECT_SEGMENT:
		return (struct object_name){ device_of(mapping), mapping->object };
	case OBJECT_UNIQUE:
		return (struct object_name){ LPL_STATE_NAMELESS, mapping->object };
	default:	/* a special mapping is named by its text, anonymous memory not at all */
		return (struct object_name){ 0, 0 };
	}
}

/* ---- files ---- */

/*
 * What only a mapping tells of a file, that it is shared memory, or its name, is told by a
 * mapping: in a space that the guest does not have, and which ends at once.
 */
static void tell_as_mapping(struct teller *teller, const struct object *object,
			    struct object_name name)
{
	const struct mapping shows = { .domain = object->domain };
	const uint64_t arg[KTR_ARGS] = {
		[KTR_MAP_SPACE] = teller->nowhere, [KTR_MAP_END] = 1,
		[KTR_MAP_KIND] = object->memory ? KTR_MAP_ANONYMOUS_SHARED :
				 class_of(&shows) == OBJECT_SEGMENT ? KTR_MAP_SHM :
								      KTR_MAP_FILE_SHARED,
		[KTR_MAP_DEVICE] = name.device, [KTR_MAP_INODE] = name.inode
	};

	lpl_teller_send(teller, KTR_MAP, arg, object->name, object->name_length);
	TELL(teller, KTR_SPACE_END, teller->nowhere);
}

static void tell_files(struct teller *teller)
{
	const struct object *object;

	LIST_FOREACH(object, &teller->merge->all_objects, in_all) {
		const struct mapping shows = { .domain = object->domain,
					       .object = object->number };
		struct object_name name = lpl_told_name(&shows);
		const uint64_t arg[KTR_ARGS] = {
			[KTR_FILE_DEVICE] = name.device, [KTR_FILE_INODE] = name.inode,
			[KTR_FILE_KIND] = object->file_kind,
			[KTR_FILE_GENERATION] = object->generation,
			[KTR_FILE_OWN_DEVICE] = object->own_device
		};

		if (object->has_generation)
			lpl_teller_send(teller, KTR_FILE, arg, object->name,
					object->name_length);
		if (class_of(&shows) != OBJECT_NAMED &&
		    (object->memory || (!object->has_generation && object->name != NULL)))
			tell_as_mapping(teller, object, name);
	}
}

/* ---- the page cache ---- */

static void tell_frames(struct teller *teller, uint64_t first, uint64_t last,
			const struct mapping *held, uint64_t address)
{
	struct object_name name = lpl_told_name(held);

	TELL(teller, KTR_CACHE_ADD, name.device, name.inode, first + held->delta, first,
	     last - first + 1, address);
}

/*
 * A run of frames that the kernel was told to see at addresses of its own.  Where these show
 * something else by now, because another frame was told to be there, the address is nobody's
 * that leaves it, and is not told.
 */
static void tell_aliased(struct teller *teller, const struct run *run)
{
	const struct mapping *held = slot_mapping(run->slot);
	struct runs seen = { 0 };
	uint64_t next = run->first;

	if (!lpl_tree_collect(&teller->merge->kernel, run->first + held->alias,
			      run->last + held->alias, &seen))
		lpl_teller_no_memory(teller);
	for (size_t i = 0; i < seen.count; i++) {
		uint64_t first = seen.run[i].first - held->alias;
		uint64_t last = seen.run[i].last - held->alias;

		if (!mapping_shows_frames(slot_mapping(seen.run[i].slot), held))
			continue;
		if (next < first)
			tell_frames(teller, next, first - 1, held, KTR_NONE);
		tell_frames(teller, first, last, held, seen.run[i].first << LPL_PAGE_SHIFT);
		next = last + 1;
	}
	if (next <= run->last)
		tell_frames(teller, next, run->last, held, KTR_NONE);
	lpl_runs_free(&seen);
}

static void tell_page_cache(struct teller *teller)
{
	struct runs runs = { 0 };

	if (!lpl_tree_collect(&teller->merge->frames, 0, TREE_LAST, &runs))
		lpl_teller_no_memory(teller);
	for (size_t i = 0; i < runs.count; i++) {
		const struct run *run = &runs.run[i];

		if (slot_mapping(run->slot)->aliased)
			tell_aliased(teller, run);
		else
			tell_frames(teller, run->first, run->last, slot_mapping(run->slot),
				    KTR_NONE);
	}
	lpl_runs_free(&runs);
}

/* ---- tasks ---- */

/* `tids`: of those told before, by their numbers. */
static void tell_task(struct teller *teller, const struct task *task, const struct lpl_map *tids)
{
	const struct tasks *tasks = &teller->merge->tasks;
	const struct lpl_merge_task *view = &task->view;
	const struct process *process = task->in_process ?
					lpl_process_find(tasks, task->process_tgid) : NULL;
	const uint64_t arg[KTR_ARGS] = {
		[LPL_EVENT_TASK_STATE_TID] = view->tid,
		[LPL_EVENT_TASK_STATE_TGID] = view->tgid,
		[LPL_EVENT_TASK_STATE_SPACE] = view->space,
		[LPL_EVENT_TASK_STATE_PARENT] = lpl_map_get(tids, LPL_KEY(view->parent)),
		[LPL_EVENT_TASK_STATE_PROCESS] = process != NULL ? task->process_tgid : KTR_NONE,
		[LPL_EVENT_TASK_STATE_LEADER_EXITED] = process != NULL && process->leader_exited,
		[LPL_EVENT_TASK_STATE_EXITED] = task->exited,
		[LPL_EVENT_TASK_STATE_CODE] = view->exit_code,
		[LPL_EVENT_TASK_STATE_OLD_TID] = task->old_tid,
		[LPL_EVENT_TASK_STATE_TOLD] = !task->implied,
		[LPL_EVENT_TASK_STATE_HEARD] = task->named_after == tasks->gaps,
		[LPL_EVENT_TASK_STATE_LEFT] = task->left
	};

	lpl_teller_send(teller, LPL_EVENT_TASK_STATE, arg, view->name, view->name_length);
}

static void tell_tasks(struct teller *teller)
{
	const struct tasks *tasks = &teller->merge->tasks;
	const struct task *task;
	struct lpl_map tids;

	lpl_map_init(&tids, 1);
	tell_task(teller, &tasks->idle, &tids);
	TAILQ_FOREACH(task, &tasks->all, in_all) {
		tell_task(teller, task, &tids);
		if (!lpl_map_put(&tids, LPL_KEY(task->view.serial), task->view.tid))
			lpl_teller_no_memory(teller);
	}
	lpl_map_free(&tids);
}

/* ---- the whole ---- */

static enum lpl_state_snapshot snapshot_of(const struct tasks *tasks)
{
	return tasks->in_snapshot ? LPL_STATE_IN_SNAPSHOT :
	       tasks->snapshot_ended ? LPL_STATE_AFTER_SNAPSHOT :
	       tasks->snapshot_begun ? LPL_STATE_LOST_SNAPSHOT : LPL_STATE_NO_SNAPSHOT;
}

enum lpl_error lpl_state_send(struct lpl_state *state, struct lpl_sink *sink,
			      struct lpl_report *report)
{
	struct lpl_merge *merge = state->merge;
	struct teller teller = {
		.merge = merge, .sink = sink, .report = report, .event = {
			.ref = state->ref, .instr = state->instr, .cycle = state->cycle
		},
		.nowhere = KTR_NONE
	};

	lpl_merge_after_gap(merge);
	while (lpl_space_find(merge, teller.nowhere) != NULL)
		teller.nowhere--;
	TELL(&teller, LPL_EVENT_STATE, [LPL_EVENT_STATE_BEGINS] = 1,
	     [LPL_EVENT_STATE_KERNEL_BASE] = merge->base_known ? merge->kernel_base : 0);
	lpl_tell_spaces(&teller);
	tell_files(&teller);
	tell_page_cache(&teller);
	tell_tasks(&teller);
	if (state->tracing_told)
		TELL(&teller, LPL_EVENT_TRACING, state->tracing.arg[LPL_EVENT_TRACING_ON]);
	TELL(&teller, LPL_EVENT_STATE, [LPL_EVENT_STATE_BEGINS] = 0,
	     [LPL_EVENT_STATE_SNAPSHOT] = snapshot_of(&merge->tasks),
	     [LPL_EVENT_STATE_RUNS] = merge->tasks.current_known ?
				      merge->tasks.current->view.tid : KTR_NONE,
	     [LPL_EVENT_STATE_LEFT_OUT] = state->left_out);
	return (enum lpl_error)teller.error;
}
