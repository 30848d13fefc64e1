/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tasks and their spaces, as a log of kVMTrace has them: each record becomes the events that
 * our own kernels would have sent.  Which task runs is not in it, but which task made a record.
 */
#include <inttypes.h>
#include <string.h>

#include "kvmtrace_log.h"

#define CLONE_VM 0x100

/* ---- the tasks ---- */

void lpl_kvmtrace_tasks_init(struct kvmtrace_tasks *tasks)
{
	lpl_map_init(&tasks->tgid, 1);
	lpl_map_init(&tasks->space, 1);
}

void lpl_kvmtrace_tasks_free(struct kvmtrace_tasks *tasks)
{
	lpl_map_free(&tasks->tgid);
	lpl_map_free(&tasks->space);
}

static bool set_task(struct lpl_importer *importer, uint32_t pid, uint32_t tgid, uint32_t space)
{
	struct kvmtrace_tasks *tasks = &((struct kvmtrace_log *)importer->state)->tasks;

	return (lpl_map_put(&tasks->tgid, LPL_KEY(pid), (uint64_t)tgid + 1) &&
		lpl_map_put(&tasks->space, LPL_KEY(pid), (uint64_t)space + 1)) ||
	       lpl_import_no_memory(importer);
}

/* What the map has of a task; `otherwise` for one that is not known. */
static uint64_t of_task(const struct lpl_map *map, uint32_t pid, uint64_t otherwise)
{
	const uint64_t value = lpl_map_get(map, LPL_KEY(pid));

	return value ? value - 1 : otherwise;
}

/* ---- the events ---- */

static void set_text(struct lpl_event *event, const char name[KVMTRACE_NAME])
{
	event->text_length = (uint32_t)strnlen(name, KVMTRACE_NAME);
	memcpy(event->text, name, event->text_length);
}

static void set_task_args(struct lpl_event *event, uint32_t tid, uint32_t tgid, uint32_t space)
{
	event->arg[KTR_TASK_TID] = tid;
	event->arg[KTR_TASK_TGID] = tgid;
	event->arg[KTR_TASK_SPACE] = space;
}

bool lpl_kvmtrace_run(struct lpl_importer *importer, const struct kvmtrace_record *record)
{
	struct kvmtrace_log *log = importer->state;
	const struct kvmtrace_tasks *tasks = &log->tasks;
	struct lpl_event event = kvmtrace_event(importer, record, KTR_SCHEDULE);

	if (record->pid == log->running)
		return true;
	event.tid = log->running;
	event.tgid = (uint32_t)of_task(&tasks->tgid, log->running, 0);
	event.space = of_task(&tasks->space, log->running, 0);
	event.arg[KTR_SCHEDULE_PREVIOUS_TID] = log->running;
	event.arg[KTR_SCHEDULE_PREVIOUS_STATE] =
		log->running_exited ? KTR_STATE_DEAD : KTR_STATE_RUNNABLE;
	event.arg[KTR_SCHEDULE_NEXT_TID] = record->pid;
	event.arg[KTR_SCHEDULE_NEXT_TGID] = record->tgid;
	event.arg[KTR_SCHEDULE_NEXT_SPACE] = of_task(&tasks->space, record->pid, record->space);
	log->running = record->pid;
	log->running_exited = false;
	return lpl_import_event(importer, &event);
}

bool lpl_kvmtrace_snapshot(struct lpl_importer *importer, const struct kvmtrace_record *record,
			   bool begins)
{
	struct kvmtrace_log *log = importer->state;
	struct lpl_event event = kvmtrace_event(importer, record, KTR_SNAPSHOT);

	log->in_snapshot = begins;
	event.tid = event.tgid = 0;
	event.space = 0;
	event.arg[KTR_SNAPSHOT_BEGINS] = begins;
	event.arg[KTR_SNAPSHOT_KERNEL_BASE] = KVMTRACE_KERNEL_BASE;
	return lpl_import_event(importer, &event);
}

bool lpl_kvmtrace_task(struct lpl_importer *importer, const struct kvmtrace_record *record)
{
	struct lpl_event event = kvmtrace_event(importer, record, KTR_TASK_CREATE);

	event.tid = event.tgid = 0;
	event.space = 0;
	set_task_args(&event, record->pid, record->tgid, record->space);
	set_text(&event, record->is.name);
	return set_task(importer, record->pid, record->tgid, record->space) &&
	       lpl_import_event(importer, &event);
}

/* The child gets a copy of a space of which something is known. */
static bool duplicate(struct lpl_importer *importer, const struct kvmtrace_record *record,
		      uint32_t child)
{
	struct kvmtrace_log *log = importer->state;
	struct lpl_event event = kvmtrace_event(importer, record, KTR_SPACE_DUPLICATE);

	if (child == record->space)
		return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "space %" PRIx32 " is its own "
					 "copy", child);
	if (!lpl_kvmtrace_space_known(&log->pages, record->space))
		return true;
	if (!lpl_kvmtrace_space_copy(&log->pages, record->space, child))
		return lpl_import_no_memory(importer);
	event.arg[KTR_SPACE_DUPLICATE_PARENT] = record->space;
	event.arg[KTR_SPACE_DUPLICATE_CHILD] = child;
	return lpl_import_event(importer, &event);
}

bool lpl_kvmtrace_fork(struct lpl_importer *importer, const struct kvmtrace_record *record)
{
	const uint32_t pid = record->is.word[0], tgid = record->is.word[1];
	const uint32_t space = record->is.word[2], flags = record->is.word[3];
	struct lpl_event event = kvmtrace_event(importer, record, KTR_TASK_CREATE);

	if (!(flags & CLONE_VM) && !duplicate(importer, record, space))
		return false;
	set_task_args(&event, pid, tgid, space);
	event.arg[KTR_TASK_CREATE_FLAGS] = flags;
	return set_task(importer, pid, tgid, space) && lpl_import_event(importer, &event);
}

bool lpl_kvmtrace_exec(struct lpl_importer *importer, const struct kvmtrace_record *record)
{
	struct lpl_event event = kvmtrace_event(importer, record, KTR_EXEC);

	set_task_args(&event, record->pid, record->tgid, record->space);
	event.arg[KTR_EXEC_INODE] = KTR_NONE;
	set_text(&event, record->is.name);
	return set_task(importer, record->pid, record->tgid, record->space) &&
	       lpl_import_event(importer, &event);
}

bool lpl_kvmtrace_exit(struct lpl_importer *importer, const struct kvmtrace_record *record)
{
	struct kvmtrace_log *log = importer->state;
	struct lpl_event event = kvmtrace_event(importer, record, KTR_EXIT);

	event.arg[KTR_EXIT_TID] = record->pid;
	event.arg[KTR_EXIT_TGID] = record->tgid;
	event.arg[KTR_EXIT_CODE] = record->is.word[0];
	event.arg[KTR_EXIT_LAST] = record->is.word[1];
	log->running_exited = true;
	lpl_map_remove(&log->tasks.tgid, LPL_KEY(record->pid));
	lpl_map_remove(&log->tasks.space, LPL_KEY(record->pid));
	return lpl_import_event(importer, &event);
}

bool lpl_kvmtrace_space(struct lpl_importer *importer, const struct kvmtrace_record *record)
{
	struct kvmtrace_log *log = importer->state;
	struct lpl_event event = kvmtrace_event(importer, record, KTR_SPACE_END);

	if (!lpl_kvmtrace_space_known(&log->pages, record->space))
		return true;
	lpl_kvmtrace_space_end(&log->pages, record->space);
	event.arg[KTR_SPACE_END_SPACE] = record->space;
	return lpl_import_event(importer, &event);
}

bool lpl_kvmtrace_remap(struct lpl_importer *importer, const struct kvmtrace_record *record)
{
	struct kvmtrace_log *log = importer->state;
	const uint64_t from = record->address, to = record->is.word[0], bytes = record->is.word[1];
	struct lpl_event event = kvmtrace_event(importer, record, KTR_REMAP);

	if (from + bytes > KVMTRACE_KERNEL_BASE || to + bytes > KVMTRACE_KERNEL_BASE || !bytes)
		return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "%" PRIx64 " bytes are moved "
					 "from %" PRIx64 " to %" PRIx64, bytes, from, to);
	switch (lpl_kvmtrace_space_move(&log->pages, record->space, from >> LPL_PAGE_SHIFT,
					to >> LPL_PAGE_SHIFT, bytes >> LPL_PAGE_SHIFT)) {
	case 0:
		return true;	/* of pages that no record has named */
	case 1:
		event.arg[KTR_REMAP_SPACE] = record->space;
		event.arg[KTR_REMAP_OLD_START] = from;
		event.arg[KTR_REMAP_OLD_END] = from + bytes;
		event.arg[KTR_REMAP_NEW_START] = to;
		event.arg[KTR_REMAP_NEW_END] = to + bytes;
		return lpl_import_event(importer, &event);
	default:
		return lpl_import_no_memory(importer);
	}
}
