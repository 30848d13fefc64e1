/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A run's picture, from what an observer sees; see schedule_timeline.h. */
#include "schedule_timeline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "draw/chart_schedule.h"
#include "say.h"

#define BINS LPL_SURVEY_BINS
#define SHOWN (LPL_SCHEDULE_PAGING + 1)	/* states: ready, suspended, running, paging */

/* Cycles of a bin in each of the states that are shown. */
struct bin {
	uint64_t in[SHOWN];
};

struct observed {
	bool begun;
	enum lpl_schedule_state state;
	uint64_t since;
	unsigned int first, count, room;	/* bins */
	struct bin *bin;
};

struct cli_timeline {
	struct lpl_schedule_observer observer;
	unsigned int shift;		/* a bin has 1 << shift cycles */
	struct observed *task;		/* by serial */
	size_t tasks;
	uint64_t faults[BINS];
	bool failed;			/* no memory */
};

/* ---- bins ---- */

/* That bin of the task, made if need be; NULL: no memory. */
static struct bin *reach_bin(struct observed *task, unsigned int i)
{
	if (task->count == 0)
		task->first = i;
	if (i - task->first >= task->room) {
		const unsigned int room = 2 * (i - task->first) + 4;
		struct bin *bin = realloc(task->bin, room * sizeof(*bin));

		if (!bin)
			return NULL;
		task->bin = bin;
		task->room = room;
	}
	if (i - task->first >= task->count) {
		const unsigned int count = i - task->first + 1;

		memset(task->bin + task->count, 0, (count - task->count) * sizeof(*task->bin));
		task->count = count;
	}
	return &task->bin[i - task->first];
}

static void add_span(struct cli_timeline *timeline, struct observed *task, uint64_t to)
{
	for (uint64_t from = task->since; from < to && !timeline->failed; ) {
		const uint64_t i = from >> timeline->shift, bin_end = (i + 1) << timeline->shift;
		const uint64_t end = bin_end < to ? bin_end : to;
		struct bin *bin = reach_bin(task, (unsigned int)i);

		timeline->failed = !bin;
		if (bin)
			bin->in[task->state] += end - from;
		from = end;
	}
}

/* Two bins become one. */
static void fold_task(struct observed *task)
{
	const struct observed before = *task;

	task->first = before.first / 2;
	task->count = before.count ? (before.first + before.count + 1) / 2 - task->first : 0;
	for (unsigned int i = 0; i < task->count; i++) {
		struct bin sum = { { 0 } };

		for (unsigned int j = 2 * (task->first + i); j < 2 * (task->first + i) + 2; j++)
			for (unsigned int state = 0; state < SHOWN && j >= before.first &&
			     j - before.first < before.count; state++)
				sum.in[state] += before.bin[j - before.first].in[state];
		task->bin[i] = sum;
	}
}

/* Let there be a bin for this moment. */
static void reach_time(struct cli_timeline *timeline, uint64_t cycle)
{
	while (cycle >> timeline->shift >= BINS) {
		timeline->shift++;
		for (size_t i = 0; i < timeline->tasks; i++)
			fold_task(&timeline->task[i]);
		for (unsigned int i = 0; i < BINS; i++)
			timeline->faults[i] = i < BINS / 2 ?
				timeline->faults[2 * i] + timeline->faults[2 * i + 1] : 0;
	}
}

/* ---- observing ---- */

static struct observed *reach_task(struct cli_timeline *timeline, uint64_t serial)
{
	if (serial >= timeline->tasks) {
		const size_t tasks = 2 * (serial + 8);
		struct observed *task = realloc(timeline->task, tasks * sizeof(*task));

		if (!task)
			return NULL;
		memset(task + timeline->tasks, 0, (tasks - timeline->tasks) * sizeof(*task));
		timeline->task = task;
		timeline->tasks = tasks;
	}
	return &timeline->task[serial];
}

static void see_state(struct lpl_schedule_observer *observer, const struct lpl_schedule_task *task,
		      enum lpl_schedule_state state, uint64_t cycle)
{
	struct cli_timeline *timeline = (struct cli_timeline *)observer;
	struct observed *observed = reach_task(timeline, task->serial);

	timeline->failed |= !observed;
	if (timeline->failed)
		return;
	/* what happens now is the end of the time before */
	if (cycle > 0)
		reach_time(timeline, cycle - 1);
	if (observed->begun && observed->state <= LPL_SCHEDULE_PAGING)
		add_span(timeline, observed, cycle);
	observed->begun = true;
	observed->state = state;
	observed->since = cycle;
}

static void see_fault(struct lpl_schedule_observer *observer, const struct lpl_schedule_task *task,
		      uint64_t cycle)
{
	struct cli_timeline *timeline = (struct cli_timeline *)observer;

	(void)task;
	cycle -= cycle > 0;
	reach_time(timeline, cycle);
	timeline->faults[cycle >> timeline->shift]++;
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
	for (size_t i = 0; timeline && i < timeline->tasks; i++)
		free(timeline->task[i].bin);
	if (timeline)
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
	for (unsigned int j = 0; j < task->count; j++) {
		const struct bin *bin = &task->bin[j];

		lane->running[task->first + j] += bin->in[LPL_SCHEDULE_RUNNING];
		lane->paging[task->first + j] += bin->in[LPL_SCHEDULE_PAGING];
		lane->ready[task->first + j] += bin->in[LPL_SCHEDULE_READY] +
			bin->in[LPL_SCHEDULE_SUSPENDED];
		chart->busy[task->first + j] += bin->in[LPL_SCHEDULE_RUNNING];
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
	memcpy(chart->faults, timeline->faults, sizeof(chart->faults));
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
						.bin_shift = timeline->shift };
	chart->time.bins = end ? (unsigned int)((end - 1) >> timeline->shift) + 1 : 1;
	status = picture_begin(&picture, format, out);
	if (!status) {
		(picture.format == PICTURE_TEXT ? schedule_text : schedule_svg)(chart, picture.out);
		status = picture_end(&picture);
	}
	free(chart);
	return status;
}
