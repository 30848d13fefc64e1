/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A run's picture, from what an observer sees; see schedule_timeline.h. */
#include "schedule_timeline.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "draw/chart.h"
#include "draw/chart_schedule.h"
#include "say.h"
#include "survey/time_series.h"

#define SHOWN (LPL_SCHEDULE_PAGING + 1)	/* states: ready, suspended, running, paging */

struct observed {
	bool begun;
	enum lpl_schedule_state state;
	uint64_t since;
	struct lpl_time_series in[SHOWN];	/* cycles in each state that is shown */
};

struct cli_timeline {
	struct lpl_schedule_observer observer;
	struct survey_time time;	/* of which the length of a bin counts, in cycles */
	struct observed *task;		/* by serial */
	size_t tasks;
	struct lpl_time_series faults;
	bool failed;			/* no memory */
};

/* Let there be a bin for this moment. */
static void reach_time(struct cli_timeline *timeline, uint64_t cycle)
{
	for (; !has_bin(&timeline->time, cycle); timeline->time.result.bin_shift++) {
		for (size_t i = 0; i < timeline->tasks; i++) {
			for (unsigned int state = 0; state < SHOWN; state++)
				lpl_time_series_fold(&timeline->task[i].in[state], FOLD_SUM);
		}
		lpl_time_series_fold(&timeline->faults, FOLD_SUM);
	}
}

/* ---- observing ---- */

static void see_state(struct lpl_schedule_observer *observer, const struct lpl_schedule_task *task,
		      enum lpl_schedule_state state, uint64_t cycle)
{
	struct cli_timeline *timeline = (struct cli_timeline *)observer;
	struct observed *observed;

	timeline->failed |= !lpl_reach(timeline->task, timeline->tasks, task->serial);
	if (timeline->failed)
		return;
	observed = &timeline->task[task->serial];
	/* what happens now is the end of the time before */
	if (cycle > 0)
		reach_time(timeline, cycle - 1);
	if (observed->begun && observed->state <= LPL_SCHEDULE_PAGING)
		timeline->failed |= !lpl_time_series_add_span(&observed->in[observed->state],
							      &timeline->time, observed->since, cycle);
	observed->begun = true;
	observed->state = state;
	observed->since = cycle;
}

static void see_fault(struct lpl_schedule_observer *observer, const struct lpl_schedule_task *task,
		      uint64_t cycle)
{
	struct cli_timeline *timeline = (struct cli_timeline *)observer;
	uint64_t *faults;

	(void)task;
	cycle -= cycle > 0;
	reach_time(timeline, cycle);
	faults = lpl_time_series_reach(&timeline->faults, bin_of(&timeline->time, cycle));
	timeline->failed |= !faults;
	if (faults)
		++*faults;
}

struct cli_timeline *cli_timeline_open(void)
{
	struct cli_timeline *timeline = calloc(1, sizeof(*timeline));

	if (timeline)
		timeline->observer = (struct lpl_schedule_observer){ see_state, see_fault };
	return timeline;
}

struct lpl_schedule_observer *cli_timeline_observer(struct cli_timeline *timeline)
{
	return &timeline->observer;
}

void cli_timeline_close(struct cli_timeline *timeline)
{
	if (!timeline)
		return;
	for (size_t i = 0; i < timeline->tasks; i++) {
		for (unsigned int state = 0; state < SHOWN; state++)
			lpl_time_series_free(&timeline->task[i].in[state]);
	}
	lpl_time_series_free(&timeline->faults);
	free(timeline->task);
	free(timeline);
}

/* ---- lanes ---- */

static int by_running(const void *a, const void *b)
{
	const struct lpl_schedule_task *one = *(const struct lpl_schedule_task *const *)a;
	const struct lpl_schedule_task *other = *(const struct lpl_schedule_task *const *)b;

	if (one->running != other->running)
		return one->running > other->running ? -1 : 1;
	return one->serial < other->serial ? -1 : 1;
}

static int by_begin(const void *a, const void *b)
{
	const struct lpl_schedule_task *one = *(const struct lpl_schedule_task *const *)a;
	const struct lpl_schedule_task *other = *(const struct lpl_schedule_task *const *)b;

	if (one->begin != other->begin)
		return one->begin < other->begin ? -1 : 1;
	return one->serial < other->serial ? -1 : 1;
}

/* Those with most running time, in the order in which they began; all others are the last one. */
static void name_lanes(struct schedule_chart *chart, const struct lpl_schedule_task **row,
		       size_t rows, enum cli_schedule_unit unit)
{
	const size_t shown = rows > SCHEDULE_LANES ? SCHEDULE_LANES : rows;

	qsort(row, rows, sizeof(*row), by_running);
	qsort(row, shown, sizeof(*row), by_begin);
	for (size_t i = 0; i < shown; i++) {
		const uint32_t number = unit == CLI_SCHEDULE_TASK ? row[i]->tid : row[i]->tgid;
		struct schedule_lane *lane = &chart->lane[chart->lanes++];

		lane->begin = row[i]->begin;
		lane->end = row[i]->end;
		if (number)
			snprintf(lane->name, sizeof(lane->name), "%.15s (%" PRIu32 ")", row[i]->name,
				 number);
		else
			snprintf(lane->name, sizeof(lane->name), "%.15s", row[i]->name);
	}
	if (rows == shown)
		return;
	snprintf(chart->lane[shown].name, sizeof(chart->lane[shown].name), "%zu others", rows - shown);
	chart->lane[shown].begin = UINT64_MAX;
	for (size_t i = shown; i < rows; i++) {
		struct schedule_lane *lane = &chart->lane[shown];

		lane->begin = row[i]->begin < lane->begin ? row[i]->begin : lane->begin;
		lane->end = row[i]->end > lane->end ? row[i]->end : lane->end;
	}
	chart->lanes++;
}

static void add_task(struct schedule_chart *chart, size_t i, const struct observed *task,
		     const struct lpl_schedule_task *result)
{
	struct schedule_lane *lane = &chart->lane[i];

	lane->all_running += result->running;
	for (unsigned int bin = 0; bin < LPL_SURVEY_BINS; bin++) {
		const uint64_t running = lpl_time_series_get(&task->in[LPL_SCHEDULE_RUNNING], bin);

		lane->running[bin] += running;
		lane->paging[bin] += lpl_time_series_get(&task->in[LPL_SCHEDULE_PAGING], bin);
		lane->ready[bin] += lpl_time_series_get(&task->in[LPL_SCHEDULE_READY], bin) +
			lpl_time_series_get(&task->in[LPL_SCHEDULE_SUSPENDED], bin);
		chart->busy[bin] += running;
	}
}

static const struct lpl_schedule_task **rows_of(const struct cli_schedule_report *run, size_t *rows)
{
	const bool tasks = run->unit == CLI_SCHEDULE_TASK;
	const struct lpl_schedule_task **row;

	*rows = tasks ? lpl_schedule_tasks(run->schedule) : lpl_schedule_processes(run->schedule);
	row = calloc(*rows + 1, sizeof(*row));
	for (size_t i = 0; row && i < *rows; i++)
		row[i] = tasks ? lpl_schedule_task(run->schedule, i) :
			lpl_schedule_process(run->schedule, i);
	return row;
}

static bool fill_chart(struct schedule_chart *chart, const struct cli_timeline *timeline,
		       const struct cli_schedule_report *run)
{
	size_t rows;
	const struct lpl_schedule_task **row = rows_of(run, &rows);

	if (!row)
		return false;
	name_lanes(chart, row, rows, run->unit);
	for (size_t i = 0; i < lpl_schedule_tasks(run->schedule); i++) {
		const struct lpl_schedule_task *task = lpl_schedule_task(run->schedule, i);
		const uint64_t serial = run->unit == CLI_SCHEDULE_TASK ? task->serial : task->process;
		size_t lane = 0;

		while (lane < chart->lanes - 1 && row[lane]->serial != serial)
			lane++;
		if (task->serial < timeline->tasks)
			add_task(chart, lane, &timeline->task[task->serial], task);
	}
	free(row);
	chart_values(&timeline->faults, chart->faults);
	return true;
}

int cli_timeline_draw(const struct cli_timeline *timeline, const struct cli_schedule_report *run,
		      enum picture_format format, FILE *out)
{
	struct schedule_chart *chart = calloc(1, sizeof(*chart));
	const uint64_t end = lpl_schedule_result(run->schedule)->end;
	struct picture picture;
	int status;

	if (!chart || timeline->failed || !fill_chart(chart, timeline, run)) {
		free(chart);
		return cli_complain(CLI_FAILED, "no memory for the picture");
	}
	chart->cpus = run->machine->cpus;
	chart->cycles_a_second = run->cycles_a_second;
	chart->time = (struct lpl_survey_time){ .begun = true, .length = end,
						.bin_shift = timeline->time.result.bin_shift };
	chart->time.bins = end ? bin_of(&timeline->time, end - 1) + 1 : 1;
	status = picture_begin(&picture, format, out);
	if (!status) {
		(picture.format == PICTURE_TEXT ? schedule_text : schedule_svg)(chart, picture.out);
		status = picture_end(&picture);
	}
	free(chart);
	return status;
}
