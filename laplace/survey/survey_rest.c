/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tasks and processes that a survey tells of in sum.  A guest may start millions, and
 * nobody looks at all of them.
 *
 * So many (survey->limit) have a record.  When another one comes and they all are taken,
 * half of those that have ended give up theirs, tasks that ran least and processes with
 * the fewest pages, and are added to the record of all others.  This is done only where a
 * quarter of the limit has ended, so that it costs little for each: at least an eighth of
 * the limit had more than each of them.  Where fewer have ended, the new one has no record
 * of its own from the start: what it does is done by the others.
 *
 * What is summed is what adds up: time on the processor and references (also over time),
 * calls, switches.  The others' time as ready or blocked is not: several are at once.  A
 * process that shares the others' record shares their set of pages, too, so that all of
 * them count as one program.
 */
#include <stdlib.h>
#include <string.h>

#include "survey.h"

void survey_rest_init(struct survey *survey)
{
	survey->limit = 8 * survey->top > SURVEY_KEPT ? 8 * survey->top : SURVEY_KEPT;
	survey->other_task.since = SURVEY_NEVER;
	survey->other_process.number = SURVEY_OTHERS;
	page_set_init(&survey->other_process.set, survey_page_lives, survey);
}

struct survey_task *survey_task_shared(struct survey *survey)
{
	survey->other_tasks++;
	return &survey->other_task;
}

struct survey_process *survey_process_shared(struct survey *survey)
{
	struct survey_process *others = &survey->other_process;

	survey->other_processes++;
	if (!others->link) {
		others->next = survey->living;
		others->link = &survey->living;
		if (others->next)
			others->next->link = &others->next;
		survey->living = others;
	}
	return others;
}

/* ---- tasks ---- */

/* Those that may go come first, those that did least before. */
static int by_task_loss(const void *a, const void *b)
{
	const struct survey_task *one = *(struct survey_task *const *)a;
	const struct survey_task *other = *(struct survey_task *const *)b;

	if ((one->state == LPL_TASK_LIVES) != (other->state == LPL_TASK_LIVES))
		return one->state == LPL_TASK_LIVES ? 1 : -1;
	if (one->time[SURVEY_RUNS] != other->time[SURVEY_RUNS])
		return one->time[SURVEY_RUNS] < other->time[SURVEY_RUNS] ? -1 : 1;
	if (one->references != other->references)
		return one->references < other->references ? -1 : 1;
	return one->serial > other->serial ? -1 : one->serial < other->serial;
}

static bool add_series(struct series *sum, const struct series *part)
{
	for (unsigned int i = 0; i < part->count; i++) {
		uint64_t *value = part->value[i] ? series_at(sum, part->first + i) : NULL;

		if (value)
			*value += part->value[i];
		else if (part->value[i])
			return false;
	}
	return true;
}

static bool give_up_task(struct survey *survey, struct survey_task *task)
{
	struct survey_task *sum = survey_task_shared(survey);

	sum->references += task->references;
	sum->user_references += task->user_references;
	sum->scheduled += task->scheduled;
	for (int why = 0; why < SURVEY_WHYS; why++)
		sum->left[why] += task->left[why];
	sum->time[SURVEY_RUNS] += task->time[SURVEY_RUNS];
	sum->calls += task->calls;
	sum->errors += task->errors;
	if (!add_series(&sum->doing[SURVEY_RUNS], &task->doing[SURVEY_RUNS]) ||
	    !add_series(&sum->referenced, &task->referenced))
		return false;
	survey->slot[task->serial].task = sum;
	survey_task_free(task);
	free(task);
	return true;
}

bool survey_task_fits(struct survey *survey, bool *enough)
{
	uint64_t count = 0, left = 0;

	*enough = true;
	if (survey->kept_tasks < survey->limit)
		return true;
	if (4 * survey->ended < survey->limit)
		return false;
	qsort(survey->kept_task, survey->kept_tasks, sizeof(struct survey_task *), by_task_loss);
	for (uint64_t i = 0; i < survey->kept_tasks; i++) {
		struct survey_task *task = survey->kept_task[i];

		/* the one that ran last may have ended, and is still looked at */
		if (2 * count < survey->ended && task->state != LPL_TASK_LIVES &&
		    task != survey->runs) {
			*enough &= give_up_task(survey, task);
			count++;
		} else {
			survey->kept_task[left++] = task;
		}
	}
	survey->kept_tasks = left;
	survey->ended -= count;
	return count > 0;
}

/* ---- processes ---- */

static int by_process_loss(const void *a, const void *b)
{
	const struct survey_process *one = *(struct survey_process *const *)a;
	const struct survey_process *other = *(struct survey_process *const *)b;
	uint64_t pages = survey_own_pages(one), other_pages = survey_own_pages(other);

	if (one->over != other->over)
		return one->over ? -1 : 1;
	if (pages != other_pages)
		return pages < other_pages ? -1 : 1;
	return one->number > other->number ? -1 : one->number < other->number;
}

static void give_up_process(struct survey *survey, struct survey_process *process)
{
	struct survey_process *sum = survey_process_shared(survey);

	sum->tasks += process->tasks;
	sum->references += process->references;
	for (int kind = 0; kind < LPL_PAGE_KINDS; kind++)
		sum->footprint.pages[kind] += process->footprint.pages[kind];
	sum->footprint.alone += process->footprint.alone;
	sum->footprint.proportional += process->footprint.proportional;
	survey->process[process->number] = sum;
	survey_process_free(process);
	free(process);
}

bool survey_process_fits(struct survey *survey)
{
	uint64_t count = 0, left = 0;

	if (survey->kept_processes < survey->limit)
		return true;
	if (4 * survey->over_processes < survey->limit)
		return false;
	qsort(survey->kept_process, survey->kept_processes, sizeof(struct survey_process *),
	      by_process_loss);
	for (uint64_t i = 0; i < survey->kept_processes; i++) {
		struct survey_process *process = survey->kept_process[i];

		if (2 * count < survey->over_processes && process->over &&
		    process != survey->runs_process) {
			give_up_process(survey, process);
			count++;
		} else {
			survey->kept_process[left++] = process;
		}
	}
	survey->kept_processes = left;
	survey->over_processes -= count;
	return count > 0;
}
