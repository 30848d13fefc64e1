/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sending a guest's state as events, in this order, so that each event finds what it needs:
 *
 *	LPL_EVENT_STATE		begins; the kernel's base
 *	spaces			send_spaces.c
 *	KTR_FILE		what files are, whatever mappings said of them; some by KTR_MAP
 *	KTR_CACHE_ADD		what each frame holds
 *	LPL_EVENT_TASK_STATE	tasks, parents before children
 *	LPL_EVENT_TRACING	as it was reported last
 *	LPL_EVENT_STATE		ends; which task runs
 */
#include "guest_state.h"
#include "state_sender.h"

#include <stdlib.h>
#include <string.h>

/* ---- sending ---- */

void lpl_send_event(struct sender *sender, uint32_t tag, const uint64_t arg[KTR_ARGS],
		    const char *text, size_t length)
{
	struct lpl_event *event = &sender->event;

	if (sender->error != LPL_OK)
		return;
	event->tag = tag;
	memcpy(event->arg, arg, sizeof(event->arg));
	event->text_length = (uint32_t)(length < KTR_TEXT ? length : KTR_TEXT);
	memset(event->text, 0, sizeof(event->text));
	if (event->text_length > 0)
		memcpy(event->text, text, event->text_length);
	sender->error = sender->sink->event(sender->sink, event, sender->report);
}

void lpl_sender_no_memory(struct sender *sender)
{
	if (sender->error == LPL_OK)
		sender->error = lpl_fail(sender->report, LPL_ERR_MEMORY,
					 "no memory left to write down what the guest has mapped");
}

struct object_name lpl_sent_name(const struct mapping *mapping)
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
 * What only a mapping says of a file, that it is shared memory, or its name, is sent by a
 * mapping: in a space that the guest does not have, and which ends at once.
 */
static void send_as_mapping(struct sender *sender, const struct object *object,
			    struct object_name name)
{
	const struct mapping shows = { .domain = object->domain };
	const uint64_t arg[KTR_ARGS] = {
		[KTR_MAP_SPACE] = sender->nowhere, [KTR_MAP_END] = 1,
		[KTR_MAP_KIND] = object->memory ? KTR_MAP_ANONYMOUS_SHARED :
				 class_of(&shows) == OBJECT_SEGMENT ? KTR_MAP_SHM :
								      KTR_MAP_FILE_SHARED,
		[KTR_MAP_DEVICE] = name.device, [KTR_MAP_INODE] = name.inode
	};

	lpl_send_event(sender, KTR_MAP, arg, object->name, object->name_length);
	SEND(sender, KTR_SPACE_END, sender->nowhere);
}

static void send_files(struct sender *sender)
{
	const struct object *object;

	LIST_FOREACH(object, &sender->merge->all_objects, in_all) {
		const struct mapping shows = { .domain = object->domain,
					       .object = object->number };
		struct object_name name = lpl_sent_name(&shows);
		const uint64_t arg[KTR_ARGS] = {
			[KTR_FILE_DEVICE] = name.device, [KTR_FILE_INODE] = name.inode,
			[KTR_FILE_KIND] = object->file_kind,
			[KTR_FILE_GENERATION] = object->generation,
			[KTR_FILE_OWN_DEVICE] = object->own_device
		};

		if (object->has_generation)
			lpl_send_event(sender, KTR_FILE, arg, object->name,
				       object->name_length);
		if (class_of(&shows) != OBJECT_NAMED &&
		    (object->memory || (!object->has_generation && object->name != NULL)))
			send_as_mapping(sender, object, name);
	}
}

/* ---- the page cache ---- */

static void send_frames(struct sender *sender, uint64_t first, uint64_t last,
			const struct mapping *held, uint64_t address)
{
	struct object_name name = lpl_sent_name(held);

	SEND(sender, KTR_CACHE_ADD, name.device, name.inode, first + held->delta, first,
	     last - first + 1, address);
}

/*
 * A run of frames that were reported at addresses of the kernel's own.  Where these show
 * something else by now, because another frame was reported there since, a frame that
 * leaves the address has none, and none is sent.
 */
static void send_aliased(struct sender *sender, const struct run *run)
{
	const struct mapping *held = slot_mapping(run->slot);
	struct runs seen = { 0 };
	uint64_t next = run->first;

	if (!lpl_tree_collect(&sender->merge->kernel, run->first + held->alias,
			      run->last + held->alias, &seen))
		lpl_sender_no_memory(sender);
	for (size_t i = 0; i < seen.count; i++) {
		uint64_t first = seen.run[i].first - held->alias;
		uint64_t last = seen.run[i].last - held->alias;

		if (!mapping_shows_frames(slot_mapping(seen.run[i].slot), held))
			continue;
		if (next < first)
			send_frames(sender, next, first - 1, held, KTR_NONE);
		send_frames(sender, first, last, held, seen.run[i].first << LPL_PAGE_SHIFT);
		next = last + 1;
	}
	if (next <= run->last)
		send_frames(sender, next, run->last, held, KTR_NONE);
	lpl_runs_free(&seen);
}

static void send_page_cache(struct sender *sender)
{
	struct runs runs = { 0 };

	if (!lpl_tree_collect(&sender->merge->frames, 0, TREE_LAST, &runs))
		lpl_sender_no_memory(sender);
	for (size_t i = 0; i < runs.count; i++) {
		const struct run *run = &runs.run[i];

		if (slot_mapping(run->slot)->aliased)
			send_aliased(sender, run);
		else
			send_frames(sender, run->first, run->last, slot_mapping(run->slot),
				    KTR_NONE);
	}
	lpl_runs_free(&runs);
}

/* ---- tasks ---- */

/* `tids`: of those sent before, by their numbers. */
static void send_task(struct sender *sender, const struct task *task, const struct lpl_map *tids)
{
	const struct tasks *tasks = &sender->merge->tasks;
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
		[LPL_EVENT_TASK_STATE_REPORTED] = !task->implied,
		[LPL_EVENT_TASK_STATE_MENTIONED] = task->named_after == tasks->gaps,
		[LPL_EVENT_TASK_STATE_LEFT] = task->left
	};

	lpl_send_event(sender, LPL_EVENT_TASK_STATE, arg, view->name, view->name_length);
}

static void send_tasks(struct sender *sender)
{
	const struct tasks *tasks = &sender->merge->tasks;
	const struct task *task;
	struct lpl_map tids;

	lpl_map_init(&tids, 1);
	send_task(sender, &tasks->idle, &tids);
	TAILQ_FOREACH(task, &tasks->all, in_all) {
		send_task(sender, task, &tids);
		if (!lpl_map_put(&tids, LPL_KEY(task->view.serial), task->view.tid))
			lpl_sender_no_memory(sender);
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
	struct sender sender = {
		.merge = merge, .sink = sink, .report = report, .event = {
			.ref = state->ref, .instr = state->instr, .cycle = state->cycle
		},
		.nowhere = KTR_NONE
	};

	lpl_merge_after_gap(merge);
	while (lpl_space_find(merge, sender.nowhere) != NULL)
		sender.nowhere--;
	SEND(&sender, LPL_EVENT_STATE, [LPL_EVENT_STATE_BEGINS] = 1,
	     [LPL_EVENT_STATE_KERNEL_BASE] = merge->base_known ? merge->kernel_base : 0);
	lpl_send_spaces(&sender);
	send_files(&sender);
	send_page_cache(&sender);
	send_tasks(&sender);
	if (state->tracing_known)
		SEND(&sender, LPL_EVENT_TRACING, state->tracing.arg[LPL_EVENT_TRACING_ON]);
	SEND(&sender, LPL_EVENT_STATE, [LPL_EVENT_STATE_BEGINS] = 0,
	     [LPL_EVENT_STATE_SNAPSHOT] = snapshot_of(&merge->tasks),
	     [LPL_EVENT_STATE_RUNS] = merge->tasks.current_known ?
				      merge->tasks.current->view.tid : KTR_NONE,
	     [LPL_EVENT_STATE_LEFT_OUT] = state->left_out);
	return sender.error;
}
