/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A survey's processes.  So many have a record of their own (survey_tasks.h); all that have
 * none share one, and its set of pages, so that they count as one program.
 */
#include "survey_processes.h"

#include <stdlib.h>

#include "base/array.h"
#include "time_series.h"

/* ---- the list of those that are not over ---- */

static void link_living(struct survey_processes *processes, struct survey_process *process)
{
	process->next = processes->living;
	process->link = &processes->living;
	if (process->next)
		process->next->link = &process->next;
	processes->living = process;
}

static void unlink_living(struct survey_process *process)
{
	*process->link = process->next;
	if (process->next)
		process->next->link = process->link;
}

/* ---- the record of all others ---- */

/* It gets one process more. */
static struct survey_process *join_sum(struct survey_processes *processes)
{
	struct survey_process *sum = &processes->sum;

	processes->result.others++;
	if (!sum->link)
		link_living(processes, sum);
	return sum;
}

static void process_free(struct survey_process *process)
{
	lpl_time_series_free(&process->result.alive_by_bin);
	lpl_page_set_free(&process->pages);
}

static void give_up(struct survey_processes *processes, struct survey_process *process)
{
	struct lpl_survey_process *sum = &join_sum(processes)->result;
	const struct lpl_survey_process *part = &process->result;

	sum->tasks += part->tasks;
	sum->references += part->references;
	for (int mode = 0; mode < 2; mode++) {
		sum->walked.references[mode] += part->walked.references[mode];
		sum->walked.walks[mode] += part->walked.walks[mode];
	}
	for (int kind = 0; kind < LPL_PAGE_KINDS; kind++)
		sum->footprint.pages[kind] += part->footprint.pages[kind];
	sum->footprint.all += part->footprint.all;
	sum->footprint.unshared += part->footprint.unshared;
	sum->footprint.proportional += part->footprint.proportional;
	processes->by_number[part->number] = &processes->sum;
	process_free(process);
	free(process);
}

/* Those that may give up their record come first, those with the fewest pages before. */
static int by_loss(const void *a, const void *b)
{
	const struct survey_process *one = *(struct survey_process *const *)a;
	const struct survey_process *other = *(struct survey_process *const *)b;
	uint64_t pages = one->result.footprint.all, other_pages = other->result.footprint.all;

	if (one->over != other->over)
		return one->over ? -1 : 1;
	if (pages != other_pages)
		return pages < other_pages ? -1 : 1;
	return one->result.number > other->result.number ? -1 :
		one->result.number < other->result.number;
}

/* May one more have a record?  Half of those that are over give up theirs if need be. */
static bool make_place(struct survey_processes *processes)
{
	size_t given_up = 0, left = 0;

	if (processes->result.recorded < processes->limit)
		return true;
	if (4 * processes->over < processes->limit)
		return false;
	qsort(processes->record, processes->result.recorded, sizeof(struct survey_process *),
	      by_loss);
	for (size_t i = 0; i < processes->result.recorded; i++) {
		struct survey_process *process = processes->record[i];

		if (2 * given_up < processes->over && process->over &&
		    process != processes->running) {
			give_up(processes, process);
			given_up++;
		} else {
			processes->record[left++] = process;
		}
	}
	processes->result.recorded = left;
	processes->over -= given_up;
	return given_up > 0;
}

/* ---- records ---- */

static struct survey_process *add(struct survey_processes *processes, uint64_t number)
{
	struct survey_process *process;

	if (!lpl_reach(processes->record, processes->record_room, processes->result.recorded))
		return NULL;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->result.number = number;
	link_living(processes, process);
	return processes->record[processes->result.recorded++] = process;
}

struct survey_process *lpl_survey_processes_reach(struct survey_processes *processes,
						  uint64_t number)
{
	struct survey_process *process;

	if (!lpl_reach(processes->by_number, processes->by_number_room, number))
		return NULL;
	process = processes->by_number[number];
	if (process)
		return process;
	/* the kernel has a record always */
	if (!make_place(processes) && number != 0)
		process = join_sum(processes);
	else
		process = add(processes, number);
	return processes->by_number[number] = process;
}

void lpl_survey_process_end(struct survey_processes *processes, struct survey_process *process)
{
	lpl_page_set_free(&process->pages);
	process->result.alive = 0;
	process->over = true;
	processes->over++;
	unlink_living(process);
}

/* ---- time ---- */

bool lpl_survey_processes_close_bin(struct survey_processes *processes, unsigned int bin)
{
	for (size_t i = 0; i < processes->result.recorded; i++) {
		struct survey_process *process = processes->record[i];
		uint64_t *value;

		if (process->bin_most == 0)
			continue;
		value = lpl_time_series_reach(&process->result.alive_by_bin, bin);
		if (!value)
			return false;
		*value = process->bin_most;
		process->bin_most = process->result.alive;
	}
	return true;
}

void lpl_survey_processes_fold(struct survey_processes *processes)
{
	for (size_t i = 0; i < processes->result.recorded; i++)
		lpl_time_series_fold(&processes->record[i]->result.alive_by_bin, FOLD_MOST);
}

/* ---- the whole ---- */

void lpl_survey_processes_init(struct survey_processes *processes, size_t limit)
{
	*processes = (struct survey_processes){
		.limit = limit, .result.sum = &processes->sum.result,
		.sum.result.number = OTHER_PROCESSES
	};
}

void lpl_survey_processes_free(struct survey_processes *processes)
{
	for (size_t i = 0; i < processes->result.recorded; i++) {
		process_free(processes->record[i]);
		free(processes->record[i]);
	}
	process_free(&processes->sum);
	free(processes->by_number);
	free(processes->record);
}
