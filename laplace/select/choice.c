/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The references of some tasks, of a mode, of some types, to a range of addresses.
 *
 * Who is chosen is kept by task, from the event that shows one to its end, so that a reference
 * only looks at a flag of the task that runs:
 *
 *	by name or number	when it appears, executes, or is called so by the kernel later
 *				(a script, which executes as its interpreter; who renames
 *				itself), until it executes again; a thread of a chosen process
 *				when it appears
 *	by descent		with `children`: made by one that was chosen; for good
 */
#include <laplace/select.h>

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "merge/tasks.h"

enum { BATCH = 1024, COMM = 15 };	/* of a name that no exec told, kernels have so much */
enum chosen { NOT_CHOSEN = 1, BY_NAME, BY_DESCENT };

struct wanted {
	char *name;		/* NULL: any */
	bool has_number;
	uint32_t number;
};

struct lpl_choice {
	struct lpl_sink sink;
	struct lpl_sink *next;
	struct wanted process, task;
	bool by_task;		/* either of them is wanted */
	bool children;
	unsigned int modes, types;
	uint64_t address, address_last, page_size;
	struct tasks tasks;
	struct lpl_map spaces;	/* that a duplication told of: whose task is made then is a child */
	struct lpl_map chosen;	/* serial -> enum chosen, of those that live */
	bool runs;		/* the task that runs is chosen */
	uint64_t passed, named;
	size_t count;
	struct lpl_ref batch[BATCH];
};

/* ---- who ---- */

static bool is_called(const char *name, const struct lpl_merge_task *task)
{
	size_t length = strlen(name);

	if (length > COMM && task->name_length == COMM)
		length = COMM;
	return length == task->name_length && memcmp(name, task->name, length) == 0;
}

static bool fits(const struct wanted *wanted, const struct lpl_merge_task *task, uint32_t number)
{
	return wanted->name == NULL || (wanted->has_number && wanted->number == number) ||
	       is_called(wanted->name, task);
}

static enum chosen get(const struct lpl_choice *choice, uint64_t serial)
{
	return (enum chosen)lpl_map_get(&choice->chosen, LPL_KEY(serial));
}

/* A thread that appears goes with the leader of its process, if that is known. */
static bool process_fits(const struct lpl_choice *choice, const struct lpl_merge_task *task,
			 bool appears)
{
	const struct task *leader;

	if (fits(&choice->process, task, task->tgid))
		return true;
	if (!appears || task->tid == task->tgid)
		return false;
	leader = (const struct task *)(uintptr_t)lpl_map_get(&choice->tasks.by_tid,
							     LPL_KEY(task->tgid));
	return leader != NULL && get(choice, leader->view.serial) > NOT_CHOSEN;
}

/* What a task is, when it appears, executes, or is renamed. */
static enum chosen judge(struct lpl_choice *choice, const struct lpl_merge_task *task,
			 enum chosen before)
{
	if (before == BY_DESCENT)
		return before;
	/* that it was made before the trace began is all that is known of who has no parent */
	if (before == 0 && choice->children && task->parent != 0 &&
	    get(choice, task->parent) > NOT_CHOSEN)
		return BY_DESCENT;
	if (process_fits(choice, task, before == 0) && fits(&choice->task, task, task->tid)) {
		choice->named += before != BY_NAME;
		return BY_NAME;
	}
	return NOT_CHOSEN;
}

static bool take_task(struct lpl_choice *choice, struct task *task, bool executes)
{
	const struct lpl_merge_task *view = &task->view;
	enum chosen before = get(choice, view->serial);

	if (view->serial == 0)
		return true;	/* idle is nobody */
	if (task_is_over(task)) {
		(void)lpl_map_remove(&choice->chosen, LPL_KEY(view->serial));
		return true;
	}
	/* until it executes again it stays what it was called once */
	if (before > NOT_CHOSEN && !executes)
		return true;
	return lpl_map_put(&choice->chosen, LPL_KEY(view->serial), judge(choice, view, before));
}

/* Of the space that an event names: was it known before? */
static bool follow_spaces(struct lpl_choice *choice, const struct lpl_event *event, bool *known)
{
	*known = event->tag == KTR_TASK_CREATE &&
		 lpl_map_get(&choice->spaces, LPL_KEY(event->arg[KTR_TASK_CREATE_SPACE])) != 0;
	if (event->tag == KTR_SPACE_END)
		(void)lpl_map_remove(&choice->spaces, LPL_KEY(event->arg[KTR_SPACE_END_SPACE]));
	return event->tag != KTR_SPACE_DUPLICATE ||
	       lpl_map_put(&choice->spaces, LPL_KEY(event->arg[KTR_SPACE_DUPLICATE_CHILD]), 1);
}

static bool follow(struct lpl_choice *choice, const struct lpl_event *event)
{
	struct tasks *tasks = &choice->tasks;
	bool enough = true, space_known;
	struct task *task;

	/* a switch may be among the events that are missing */
	if (event->tag == LPL_EVENT_GAP && event->arg[LPL_EVENT_GAP_EVENTS] != 0)
		lpl_tasks_gap(tasks);
	if (!lpl_tasks_check(tasks, event) || !follow_spaces(choice, event, &space_known) ||
	    !lpl_tasks_event(tasks, event, space_known))
		return false;
	if (event->tag == KTR_SNAPSHOT)
		lpl_tasks_snapshot(tasks, event->arg[KTR_SNAPSHOT_BEGINS] != 0);
	while ((task = lpl_tasks_next_changed(tasks)) != NULL) {
		enough = enough && take_task(choice, task, false);
		if (task_is_over(task))
			lpl_task_free(task);
	}
	if (event->tag == KTR_EXEC) {
		task = (struct task *)(uintptr_t)lpl_map_get(&tasks->by_tid,
							     LPL_KEY(event->arg[KTR_TASK_TID]));
		enough = enough && (task == NULL || take_task(choice, task, true));
	}
	choice->runs = get(choice, tasks->current->view.serial) > NOT_CHOSEN;
	return enough;
}

/* ---- the stream ---- */

static int send(struct lpl_choice *choice, struct lpl_report *report)
{
	size_t count = choice->count;

	choice->count = 0;
	choice->passed += count;
	return count == 0 ? LPL_OK :
			    choice->next->refs(choice->next, choice->batch, count, report);
}

static bool is_chosen(const struct lpl_choice *choice, const struct lpl_ref *ref)
{
	const unsigned int mode = ref->flags & LPL_USER ? LPL_CHOOSE_USER : LPL_CHOOSE_KERNEL;
	const uint64_t bytes = ref->flags & LPL_PAGED ? choice->page_size : ref->length;

	return (choice->modes & mode) != 0 && (choice->types >> ref->type & 1) != 0 &&
	       ref->address <= choice->address_last && ref->address + (bytes - 1) >= choice->address;
}

static int take_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
		     struct lpl_report *report)
{
	struct lpl_choice *choice = (struct lpl_choice *)sink;

	if (choice->by_task && !choice->runs)
		return LPL_OK;
	for (size_t i = 0; i < count; i++) {
		if (!is_chosen(choice, &refs[i]))
			continue;
		choice->batch[choice->count++] = refs[i];
		if (choice->count == BATCH) {
			int error = send(choice, report);

			if (error != LPL_OK)
				return error;
		}
	}
	return LPL_OK;
}

static int take_event(struct lpl_sink *sink, const struct lpl_event *event,
		      struct lpl_report *report)
{
	struct lpl_choice *choice = (struct lpl_choice *)sink;
	int error = send(choice, report);

	if (error == LPL_OK && !follow(choice, event))
		error = lpl_fail(report, LPL_ERR_MEMORY, "no memory for another task");
	return error != LPL_OK ? error : choice->next->event(choice->next, event, report);
}

static int take_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct lpl_choice *choice = (struct lpl_choice *)sink;
	int error = send(choice, report);

	return error != LPL_OK ? error : choice->next->finish(choice->next, report);
}

/* ---- opening and closing ---- */

static bool want(struct wanted *wanted, const char *text)
{
	char *end;
	unsigned long number;

	if (text == NULL)
		return true;
	wanted->name = strdup(text);
	number = strtoul(text, &end, 10);
	wanted->has_number = text[0] >= '0' && text[0] <= '9' && *end == '\0' &&
			     number <= UINT32_MAX;
	wanted->number = (uint32_t)number;
	return wanted->name != NULL;
}

enum lpl_error lpl_choice_open(struct lpl_choice **choice,
			       const struct lpl_choice_options *options,
			       struct lpl_sink *next, struct lpl_report *report)
{
	const bool ranged = options->address != 0 || options->address_end != 0;
	struct lpl_choice *made;

	*choice = NULL;
	if (ranged && options->address_end <= options->address)
		return lpl_fail(report, LPL_ERR_USAGE, "%" PRIx64 ":%" PRIx64 " is no range of "
				"addresses", options->address, options->address_end);
	if (options->children && options->process == NULL && options->task == NULL)
		return lpl_fail(report, LPL_ERR_USAGE, "children of nobody: a process is missing");
	made = calloc(1, sizeof(*made));
	if (made == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory to choose references");
	made->sink = (struct lpl_sink){ take_refs, take_event, take_finish };
	made->next = next;
	made->by_task = options->process != NULL || options->task != NULL;
	made->children = options->children;
	made->modes = options->modes != 0 ? options->modes : LPL_CHOOSE_USER | LPL_CHOOSE_KERNEL;
	made->types = options->types != 0 ? options->types : UINT_MAX;
	made->address = options->address;
	made->page_size = options->page_size != 0 ? options->page_size : 1U << LPL_PAGE_SHIFT;
	made->address_last = ranged ? options->address_end - 1 : UINT64_MAX;
	lpl_tasks_init(&made->tasks);
	lpl_map_init(&made->spaces, 1);
	lpl_map_init(&made->chosen, 1);
	if (!want(&made->process, options->process) || !want(&made->task, options->task)) {
		lpl_choice_close(made);
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory to choose references");
	}
	*choice = made;
	return LPL_OK;
}

struct lpl_sink *lpl_choice_sink(struct lpl_choice *choice)
{
	return &choice->sink;
}

uint64_t lpl_choice_passed(const struct lpl_choice *choice)
{
	return choice->passed;
}

uint64_t lpl_choice_tasks(const struct lpl_choice *choice)
{
	return choice->named;
}

void lpl_choice_close(struct lpl_choice *choice)
{
	if (choice == NULL)
		return;
	lpl_map_free(&choice->spaces);
	lpl_map_free(&choice->chosen);
	lpl_tasks_free(&choice->tasks);
	free(choice->process.name);
	free(choice->task.name);
	free(choice);
}
