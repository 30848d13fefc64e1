/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See regret-tasks.h. */
#include "regret-tasks.h"

#include <string.h>

/* The last one that had the number, for it is given again; 0: none. */
static uint32_t task_of(const struct books *b, uint64_t tid)
{
	uint32_t i = b->tasks - 1;

	while (i > 0 && b->task[i].tid != tid)
		i--;
	return i;
}

static uint32_t new_task(struct books *b, uint64_t tid, uint64_t tgid)
{
	b->task = with_room(b->task, b->tasks, sizeof(*b->task));
	b->task[b->tasks] = (struct task){ .tid = tid, .tgid = tgid, .lives = true };
	return b->tasks++;
}

/* A process is that of the living tasks with its tgid, or a new one. */
static uint32_t process_of(struct books *b, uint64_t tgid)
{
	for (uint32_t i = 0; i < b->tasks; i++)
		if (b->task[i].tgid == tgid && b->task[i].lives && b->task[i].process != 0)
			return b->task[i].process;
	b->process = with_room(b->process, b->processes, sizeof(*b->process));
	b->process[b->processes] = (struct process){ .number = b->processes, .tgid = tgid };
	return b->processes++;
}

/* Named as its leader is, or, as long as that has no name, as the first that has one. */
static void name_process(struct books *b, const struct task *task)
{
	struct process *of = &b->process[task->process];

	if (task->process != 0 && task->name != NULL && (of->name == NULL || task->tid == task->tgid))
		of->name = task->name;
}

static void name_task(struct books *b, uint32_t number, const char *name)
{
	if (number == 0 || strcmp(name, "-") == 0)
		return;
	b->task[number].name = kept(b, name);
	name_process(b, &b->task[number]);
}

static void own_space(struct books *b, uint32_t process, uint64_t space)
{
	for (uint32_t i = 0; i < b->owners; i++)
		if (b->owner[i].space == space)
			return;
	b->owner = with_room(b->owner, b->owners, sizeof(*b->owner));
	b->owner[b->owners++] = (struct owner){ space, process };
}

/* The task is seen with its space. */
static void see_space(struct books *b, struct task *task)
{
	if (task->space != 0 && !task->seen)
		own_space(b, task->process, task->space);
	task->seen = true;
}

/* A task that gets a space is the kernel's no longer. */
static void give_space(struct books *b, uint32_t number, uint64_t space)
{
	if (number == 0 || space == 0)
		return;
	if (b->task[number].process == 0) {
		const uint32_t process = process_of(b, b->task[number].tgid);

		b->task[number].process = process;
		name_process(b, &b->task[number]);
	}
	b->task[number].seen &= b->task[number].space == space;
	b->task[number].space = space;
	see_space(b, &b->task[number]);
}

static void end_owner(struct books *b, uint64_t space)
{
	for (uint32_t i = 0; i < b->owners; i++)
		if (b->owner[i].space == space)
			b->owner[i] = (struct owner){ .space = 0 };
}

/* The task with this tid now, which may be the first that is heard of it. */
static uint32_t living_task(struct books *b, uint64_t tid, uint64_t tgid)
{
	const uint32_t known = task_of(b, tid);

	if (tid == 0 || (known != 0 && (tgid == 0 || b->task[known].tgid == tgid)))
		return known;
	b->task[known].lives = known == 0;
	return new_task(b, tid, tgid);
}

/* The simulator's own events are of no task; with others it runs, and has their space if it has not been heard of before. */
static void run(struct books *b, const struct event *e)
{
	const uint32_t tasks = b->tasks;

	if (strcmp(e->name, "gap") == 0 || strcmp(e->name, "tracing") == 0 || strcmp(e->name, "host-mark") == 0)
		return;
	b->running = living_task(b, e->tid, e->tgid);
	if (b->running == tasks) {
		b->task[b->running].implied = true;
		give_space(b, b->running, e->space);
	}
	see_space(b, &b->task[b->running]);
}

void task_event(struct books *b, const struct event *e)
{
	uint32_t task;

	run(b, e);
	task = task_of(b, e->a[0]);
	if (strcmp(e->name, "snapshot") == 0) {
		b->in_snapshot = e->a[0] != 0;
	} else if (strcmp(e->name, "task-create") == 0) {
		if (task == 0 || !b->task[task].lives || (!b->in_snapshot && !b->task[task].implied)) {
			b->task[task].lives = task == 0;
			task = new_task(b, e->a[0], e->a[1]);
		}
		b->task[task].implied = false;
		give_space(b, task, e->a[2]);
		name_task(b, task, e->text);
	} else if (strcmp(e->name, "schedule") == 0) {
		b->running = living_task(b, e->a[2], e->a[3]);
		give_space(b, b->running, e->a[4]);
		name_task(b, b->running, e->text);
	} else if (strcmp(e->name, "space-assign") == 0 || strcmp(e->name, "exec") == 0) {
		give_space(b, task, e->a[2]);
	} else if (strcmp(e->name, "exit") == 0) {
		b->task[task].lives = task == 0;
	} else if (strcmp(e->name, "space-end") == 0) {
		end_owner(b, e->a[0]);
	} else if (strcmp(e->name, "gap") == 0 && e->a[1] != 0) {
		b->running = b->owners = 0;
		for (uint32_t i = 0; i < b->tasks; i++)
			b->task[i].seen = false;
		b->in_snapshot = false;
	}
}

uint32_t process_in(const struct books *b, uint64_t space)
{
	if (b->task[b->running].space == space)
		return b->task[b->running].process;
	for (uint32_t i = 0; i < b->owners; i++)
		if (b->owner[i].space == space)
			return b->owner[i].process;
	return NO_PROCESS;
}
