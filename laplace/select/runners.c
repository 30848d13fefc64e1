/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Faults by the task or process that runs: a sink in front of a simulator.  It knows tasks by their
 * events, numbers those that make references in the order of their first ones, and has the
 * simulator charge them.
 */
#include <laplace/select.h>

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/map.h"
#include "base/try.h"
#include "merge/tasks.h"
#include "runner.h"

struct lpl_runners {
	struct lpl_sink sink;
	struct lpl_simulator *simulator;
	enum lpl_runner_unit unit;
	struct tasks tasks;
	struct lpl_runner *runner;	/* [0] is for no known task */
	size_t count, room;
	struct lpl_map by_number;	/* of a process, or of a task -> index */
	size_t now;			/* which one runs; known since the last event if: */
	bool now_known;
};

/* ---- which runner a task is ---- */

/* The idle task is a task of the kernel, whatever space it is said to have. */
static bool is_of_process(const struct lpl_merge_task *task)
{
	return task->process != 0 && task->serial != 0;
}

static struct lpl_key key_of(const struct lpl_runners *runners, const struct lpl_merge_task *task)
{
	return runners->unit == LPL_RUNNER_PROCESS && is_of_process(task) ?
		LPL_KEY(1, task->process) : LPL_KEY(0, task->serial);
}

void lpl_runner_describe(struct lpl_runner *runner, const struct tasks *tasks,
			 const struct lpl_merge_task *task, bool whole)
{
	const struct task *leader = whole && task->tid != task->tgid ?
		lpl_task_find(tasks, task->tgid) : NULL;

	runner->id = whole && task->tgid != 0 ? task->tgid : task->tid;
	if (leader != NULL && leader->view.process == task->process && leader->view.name_length != 0)
		task = &leader->view;
	if (task->name_length != 0 &&
	    (!whole || task->tid == task->tgid || runner->name[0] == '\0'))
		lpl_text_escape(runner->name, sizeof(runner->name), task->name,
				task->name_length);
	else if (task->serial == 0 && runner->name[0] == '\0')
		snprintf(runner->name, sizeof(runner->name), "idle");
}

/* What is known of it now. */
static void describe(const struct lpl_runners *runners, struct lpl_runner *runner,
		     const struct lpl_merge_task *task)
{
	lpl_runner_describe(runner, &runners->tasks, task,
			    runners->unit == LPL_RUNNER_PROCESS && is_of_process(task));
}

/* Whoever runs.  false: no memory. */
static bool find_runner(struct lpl_runners *runners, size_t *found)
{
	const struct lpl_merge_task *task = &runners->tasks.current->view;
	const struct lpl_key key = key_of(runners, task);

	*found = runners->tasks.current_known ? lpl_map_get(&runners->by_number, key) : 0;
	if (*found != 0 || !runners->tasks.current_known)
		return true;
	if (runners->count > UINT32_MAX ||
	    !lpl_reach(runners->runner, runners->room, runners->count) ||
	    !lpl_map_put(&runners->by_number, key, runners->count))
		return false;
	*found = runners->count++;
	describe(runners, &runners->runner[*found], task);
	return true;
}

/* A task has changed that may have run. */
static void take_task(struct lpl_runners *runners, const struct lpl_merge_task *task)
{
	size_t known = lpl_map_get(&runners->by_number, key_of(runners, task));

	if (known != 0)
		describe(runners, &runners->runner[known], task);
}

/* ---- the stream ---- */

static enum lpl_error no_memory(struct lpl_report *report)
{
	return lpl_fail(report, LPL_ERR_MEMORY, "no memory to count tasks separately");
}

static enum lpl_error take_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	struct lpl_runners *runners = (struct lpl_runners *)sink;
	struct lpl_sink *next = lpl_simulator_sink(runners->simulator);
	size_t before = runners->now;

	if (count == 0)
		return LPL_OK;
	if (!runners->now_known) {
		if (!find_runner(runners, &runners->now))
			return no_memory(report);
		runners->now_known = true;
		if (runners->now != before)
			LPL_TRY(lpl_simulator_charge(runners->simulator, (uint32_t)runners->now,
						     report));
	}
	assert(runners->now < runners->count);
	runners->runner[runners->now].references += count;
	return next->refs(next, refs, count, report);
}

static enum lpl_error take_event(struct lpl_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	struct lpl_runners *runners = (struct lpl_runners *)sink;
	struct tasks *tasks = &runners->tasks;
	struct task *task;

	runners->now_known = false;
	/* a switch may be among the events that are missing */
	if (event->tag == LPL_EVENT_GAP && event->arg[LPL_EVENT_GAP_EVENTS] != 0)
		lpl_tasks_gap(tasks);
	if (!lpl_tasks_check(tasks, event) || !lpl_tasks_event(tasks, event, false))
		return no_memory(report);
	while ((task = lpl_tasks_next_changed(tasks)) != NULL) {
		take_task(runners, &task->view);
		if (task_is_over(task))
			lpl_task_free(task);
	}
	return LPL_OK;
}

static enum lpl_error take_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct lpl_runners *runners = (struct lpl_runners *)sink;
	struct lpl_sink *next = lpl_simulator_sink(runners->simulator);

	return next->finish(next, report);
}

/* ---- opening and closing ---- */

enum lpl_error lpl_runners_open(struct lpl_runners **runners, struct lpl_simulator *simulator,
				enum lpl_runner_unit unit, struct lpl_report *report)
{
	struct lpl_runners *made = calloc(1, sizeof(*made));
	enum lpl_error error;

	*runners = NULL;
	if (made == NULL)
		return no_memory(report);
	made->sink = (struct lpl_sink){ take_refs, take_event, take_finish };
	made->simulator = simulator;
	made->unit = unit;
	lpl_tasks_init(&made->tasks);
	lpl_map_init(&made->by_number, 2);
	error = lpl_reach(made->runner, made->room, 0) ?
		lpl_simulator_charge(simulator, 0, report) : no_memory(report);
	if (error != LPL_OK) {
		lpl_runners_close(made);
		return error;
	}
	snprintf(made->runner[0].name, sizeof(made->runner[0].name), "unknown");
	made->count = 1;
	*runners = made;
	return LPL_OK;
}

struct lpl_sink *lpl_runners_sink(struct lpl_runners *runners)
{
	return &runners->sink;
}

size_t lpl_runners_count(const struct lpl_runners *runners)
{
	return runners->count;
}

const struct lpl_runner *lpl_runners_at(const struct lpl_runners *runners, size_t i)
{
	assert(i < runners->count);
	return &runners->runner[i];
}

void lpl_runners_close(struct lpl_runners *runners)
{
	if (runners == NULL)
		return;
	lpl_tasks_free(&runners->tasks);
	lpl_map_free(&runners->by_number);
	free(runners->runner);
	free(runners);
}
