/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The survey of `laplace report` against its definitions (docs/report.md), by brute force: tasks
 * and processes, what they do at each time and how often they refer to memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "survey_log.h"

/* What each task does in each unit of time. */
static void check_times(const struct log *log)
{
	const struct lpl_survey *survey = log->survey;
	const struct lpl_survey_task *sum = survey->tasks->sum;
	static uint64_t bins[TASKS][LPL_SURVEY_ACTIVITIES][LPL_SURVEY_BINS];
	int doing[TASKS];
	size_t next = 0;
	uint64_t time = 0, all = 0, of_others = 0;

	memset(bins, 0, sizeof(bins));
	for (int i = 0; i < TASKS; i++)
		doing[i] = -1;
	for (; time < log->now; time++) {
		for (; next < log->lines && log->line[next].time <= time; next++) {
			const struct line *line = &log->line[next];

			if (line->is == BEGIN && line->task != 0)
				doing[line->task] = LPL_SURVEY_READY;
			else if (line->is == END)
				doing[line->task] = -1;
			else if (line->is == EVENT && line->schedules)
				doing[line->task] = line->task == 0 ? -1 : line->blocks ?
					LPL_SURVEY_BLOCKED : LPL_SURVEY_READY;
			/* the next to do anything has run since */
			for (size_t i = next + 1; line->schedules && i < log->lines; i++) {
				if (log->line[i].is > EVENT)
					continue;
				doing[log->line[i].task] = LPL_SURVEY_RUNNING;
				break;
			}
			if (next == 0)
				doing[line->task] = LPL_SURVEY_RUNNING;
		}
		for (int i = 0; i < TASKS; i++) {
			if (doing[i] >= 0)
				bins[i][doing[i]][bin_of(survey, time)]++;
		}
	}
	for (uint64_t i = 0; i < survey->tasks->recorded; i++) {
		const struct lpl_survey_task *task = lpl_survey_task_at(survey, i);

		for (int what = 0; what < LPL_SURVEY_ACTIVITIES; what++) {
			for (unsigned int bin = 0; bin < LPL_SURVEY_BINS; bin++)
				assert_int_equal(at_bin(&task->activity[what], bin),
						 bins[task->serial][what][bin]);
		}
	}
	/* the sum of the others: all that ran, less those that have a record */
	for (unsigned int bin = 0; bin < LPL_SURVEY_BINS; bin++) {
		uint64_t runs = 0;

		for (int i = 0; i < TASKS; i++) {
			all += bins[i][LPL_SURVEY_RUNNING][bin];
			if (!lpl_survey_task(survey, (uint64_t)i))
				runs += bins[i][LPL_SURVEY_RUNNING][bin];
		}
		of_others += runs;
		assert_int_equal(at_bin(&sum->activity[LPL_SURVEY_RUNNING], bin), runs);
		assert_int_equal(at_bin(&sum->activity[LPL_SURVEY_READY], bin), 0);
		assert_int_equal(at_bin(&sum->activity[LPL_SURVEY_BLOCKED], bin), 0);
	}
	assert_int_equal(sum->time[LPL_SURVEY_RUNNING], of_others);
	assert_int_equal(survey->tasks->running, all);
}

/* References of each that has a record, and of all others. */
static void check_counts(const struct log *log)
{
	const struct lpl_survey *survey = log->survey;
	size_t limit = log->records ? log->records : LPL_SURVEY_RECORDS;
	uint64_t by_task[TASKS] = { 0 }, by_process[TASKS] = { 0 }, tasks = 0, processes = 0;
	bool is_recorded[TASKS] = { false }, seen[TASKS] = { false };
	uint64_t others = 0, schedules = 0;
	uint64_t scheduled = survey->tasks->sum->scheduled, left = 0;
	uint64_t user = survey->tasks->sum->user_references;

	for (size_t i = 0; i < log->lines; i++) {
		const struct line *line = &log->line[i];

		schedules += line->is == EVENT && line->schedules;
		by_task[line->task] += line->is == REFERENCE;
		by_process[line->process] += line->is == REFERENCE;
		if (line->is == BEGIN || line->is == END || line->is == REFERENCE)
			seen[line->process] = true;
	}
	for (int i = 0; i < TASKS; i++) {
		tasks += log->begun[i] || i == 0;
		processes += seen[i];
		others += lpl_survey_task(survey, (uint64_t)i) ? 0 : by_task[i];
	}
	assert_int_equal(survey->tasks->sum->references, others);
	assert_int_equal(survey->tasks->recorded + survey->tasks->others, tasks);
	assert_int_equal(survey->processes->recorded + survey->processes->others, processes);
	assert_true(survey->tasks->recorded <= limit + 1 &&
		    survey->processes->recorded <= limit + 1);
	for (int reason = 0; reason < LPL_SURVEY_REASONS; reason++)
		left += survey->tasks->sum->left[reason];
	for (uint64_t i = 0; i < survey->tasks->recorded; i++) {
		const struct lpl_survey_task *task = lpl_survey_task_at(survey, i);

		assert_int_equal(task->references, by_task[task->serial]);
		scheduled += task->scheduled;
		user += task->user_references;
		for (int reason = 0; reason < LPL_SURVEY_REASONS; reason++)
			left += task->left[reason];
	}
	assert_int_equal(scheduled, survey->tasks->switches);
	assert_int_equal(user, survey->references->user);
	assert_int_equal(left, schedules);
	others = 0;
	for (uint64_t i = 0; i < survey->processes->recorded; i++) {
		const struct lpl_survey_process *process = lpl_survey_process_at(survey, i);

		is_recorded[process->number] = true;
		assert_int_equal(process->references, by_process[process->number]);
	}
	for (int i = 0; i < TASKS; i++)
		others += is_recorded[i] ? 0 : by_process[i];
	assert_int_equal(survey->processes->sum->references, others);
}

static void check(const struct log *log)
{
	check_counts(log);
	check_times(log);
}

int main(void)
{
	return survey_tests(&(struct survey_checks){ check, check });
}
