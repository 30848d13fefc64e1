/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The survey of `laplace report` against its definitions (docs/report.md), counted by brute
 * force.  What a second merge of the same stream tells is written down, and every number is
 * then found by going through all of it: for each bin, for each page, for each process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <laplace/survey.h>

#define RECORDS 3000
#define PAGES 4096		/* canonical: more than there are references */
#define TASKS 512
#define TIMES 40000
#define TOP 7
#define KERNEL UINT64_C(0xffff888000000000)

/* What the merge tells, in its order. */
enum line_kind { REFERENCE, EVENT, BEGIN, END, LEAVE, LEAVE_FOR_EVER };

struct line {
	enum line_kind is;
	uint64_t time, task, process, page;
	enum lpl_page_kind kind;	/* of the reference */
	bool schedules;			/* the event is a KTR_SCHEDULE ... */
	bool blocks;			/* ... that leaves the task unable to run */
};

struct log {
	struct lpl_merge_output output;
	struct lpl_survey *survey;
	size_t records;			/* that were asked for; 0: not */
	struct line line[4 * RECORDS + PAGES];
	size_t lines;
	uint64_t now, pages;
	enum lpl_page_kind kind[PAGES];
	struct file {			/* that the page is of; device, inode and name 0: none */
		uint64_t device, inode, generation;
		char name[8];
	} file[PAGES];
	bool begun[TASKS];
	uint64_t last_process[TASKS];
	uint64_t state;			/* of the generator */
};

static struct line *add(struct log *log, enum line_kind is, uint64_t task, uint64_t page)
{
	struct line *line = &log->line[log->lines++];

	assert_true(log->lines < sizeof(log->line) / sizeof(log->line[0]));
	assert_true(page < PAGES && task < TASKS);
	*line = (struct line){ .is = is, .time = log->now, .task = task, .page = page };
	return line;
}

static int log_reference(struct lpl_merge_output *output, const struct lpl_merged *merged,
			 struct lpl_report *report)
{
	struct log *log = (struct log *)output;
	struct line *line = add(log, REFERENCE, merged->task->serial, merged->page);

	line->process = merged->task->process;
	line->kind = merged->kind;
	(void)report;
	return LPL_OK;
}

static int log_event(struct lpl_merge_output *output, const struct lpl_event *event,
		     const struct lpl_merge_task *task, struct lpl_report *report)
{
	struct log *log = (struct log *)output;
	struct line *line = add(log, EVENT, task->serial, 0);

	line->schedules = event->tag == KTR_SCHEDULE;
	line->blocks = event->arg[KTR_SCHEDULE_PREVIOUS_STATE] != KTR_STATE_RUNNABLE;
	(void)report;
	return LPL_OK;
}

static int log_finish(struct lpl_merge_output *output, struct lpl_report *report)
{
	(void)output;
	(void)report;
	return LPL_OK;
}

static int log_page(struct lpl_merge_output *output, const struct lpl_merge_page *page,
		    struct lpl_report *report)
{
	struct log *log = (struct log *)output;

	log->pages = page->page;
	log->kind[page->page] = page->kind;
	log->file[page->page] = (struct file){ page->device, page->inode, page->generation, "" };
	if (page->name_length > 0)
		memcpy(log->file[page->page].name, page->name, page->name_length);
	(void)report;
	return LPL_OK;
}

static int log_task(struct lpl_merge_output *output, const struct lpl_merge_task *task,
		    struct lpl_report *report)
{
	struct log *log = (struct log *)output;

	if (!log->begun[task->serial])
		add(log, BEGIN, task->serial, 0)->process = task->process;
	log->begun[task->serial] = true;
	log->last_process[task->serial] = task->process;
	if (task->state != LPL_TASK_LIVES)
		add(log, END, task->serial, 0)->process = task->process;
	(void)report;
	return LPL_OK;
}

static int log_leave(struct lpl_merge_output *output, uint64_t page, bool for_ever,
		     struct lpl_report *report)
{
	struct log *log = (struct log *)output;

	add(log, for_ever ? LEAVE_FOR_EVER : LEAVE, 0, page);
	(void)report;
	return LPL_OK;
}

/* ---- a guest ---- */

static uint32_t roll(struct log *log, uint32_t below)
{
	log->state = log->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((log->state >> 33) % below);
}

#define TIDS 6

struct guest {
	struct lpl_sink *sink[2];	/* the survey's, and the log's */
	uint64_t ref;
	uint32_t current;		/* tid; 0: idle */
	bool lives[TIDS + 1];		/* by tid */
};

static void send(struct guest *guest, const struct lpl_event *event)
{
	for (int i = 0; i < 2; i++)
		assert_int_equal(guest->sink[i]->event(guest->sink[i], event, NULL), LPL_OK);
}

static void tell(struct log *log, struct guest *guest, uint32_t tag, const uint64_t *arg,
		 size_t args)
{
	struct lpl_event event = { .tag = tag, .ref = guest->ref, .cycle = log->now,
				   .tid = guest->current, .tgid = guest->current };

	memcpy(event.arg, arg, args * sizeof(*arg));
	send(guest, &event);
}

#define TELL(log, guest, tag, ...)                                                  \
	tell(log, guest, tag, (const uint64_t[]){ __VA_ARGS__ },                    \
	     sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

/* Memory that is known by its name alone. */
static void tell_named(struct log *log, struct guest *guest, uint64_t space, uint64_t start,
		       uint64_t end)
{
	struct lpl_event event = {
		.tag = KTR_MAP, .ref = guest->ref, .cycle = log->now, .tid = guest->current,
		.tgid = guest->current, .text = { "[name]"[roll(log, 6)] }, .text_length = 1,
		.arg = {
			[KTR_MAP_SPACE] = space, [KTR_MAP_START] = start, [KTR_MAP_END] = end,
			[KTR_MAP_KIND] = KTR_MAP_SPECIAL, [KTR_MAP_INODE] = KTR_NONE
		}
	};

	send(guest, &event);
}

/* Task n has space n. */
static void schedule(struct log *log, struct guest *guest, uint64_t why)
{
	uint32_t next = roll(log, TIDS + 1);

	while (!guest->lives[next])
		next = (next + 1) % (TIDS + 1);
	TELL(log, guest, KTR_SCHEDULE, guest->current, why, next, next, next);
	guest->current = next;
}

static void do_task(struct log *log, struct guest *guest)
{
	uint32_t tid = 1 + roll(log, TIDS);

	switch (roll(log, 4)) {
	case 0:
		if (guest->lives[tid])
			return;
		if (roll(log, 2) && guest->current)
			TELL(log, guest, KTR_SPACE_DUPLICATE, guest->current, tid);
		TELL(log, guest, KTR_TASK_CREATE, tid, tid, tid, 0);
		guest->lives[tid] = true;
		break;
	case 1:
		if (guest->current == 0 || roll(log, 2))
			return;
		tid = guest->current;
		TELL(log, guest, KTR_SPACE_END, tid);
		TELL(log, guest, KTR_EXIT, tid, tid, 0, 1);
		guest->lives[tid] = false;
		schedule(log, guest, KTR_STATE_DEAD);
		break;
	default:
		schedule(log, guest, roll(log, 2) ? 0 : KTR_STATE_SLEEPING);
	}
}

static void do_memory(struct log *log, struct guest *guest)
{
	uint64_t space = 1 + roll(log, TIDS), from = 0x10 + roll(log, 24);
	uint64_t start = from << 12, end = (from + 1 + roll(log, 8)) << 12;

	switch (roll(log, 7)) {
	case 0:
		TELL(log, guest, KTR_MAP, space, start, end, 3, KTR_MAP_ANONYMOUS);
		break;
	case 1:
		TELL(log, guest, KTR_MAP, space, start, end, 3,
		     roll(log, 2) ? KTR_MAP_FILE_PRIVATE : KTR_MAP_FILE_SHARED, 8,
		     1 + roll(log, 2), roll(log, 4));
		break;
	case 2:
		TELL(log, guest, KTR_UNMAP, space, start, end);
		break;
	case 6:
		/* a device's memory, which may have the number of a file, or a name */
		if (roll(log, 2))
			TELL(log, guest, KTR_MAP, space, start, end, 3, KTR_MAP_SPECIAL, 8,
			     1 + roll(log, 2));
		else
			tell_named(log, guest, space, start, end);
		break;
	case 3:
		TELL(log, guest, KTR_COW_BREAK, space, start, 1, 1 + roll(log, 2));
		break;
	case 4:
		TELL(log, guest, KTR_CACHE_ADD, 8, 1 + roll(log, 2), roll(log, 8), from,
		     1 + roll(log, 4), KERNEL + start);
		break;
	default:
		TELL(log, guest, KTR_CACHE_REMOVE, 8, 1 + roll(log, 2), roll(log, 8), from,
		     1 + roll(log, 4));
	}
}

static void do_reference(struct log *log, struct guest *guest)
{
	struct lpl_ref ref = {
		.ref = ++guest->ref, .cycle = log->now, .type = (uint8_t)roll(log, 3),
		.flags = (uint8_t)roll(log, 2), .length = 4,
		.space = guest->current ? guest->current : 1
	};

	ref.address = (uint64_t)(0x10 + roll(log, 24)) << 12;
	if (roll(log, 4) == 0)
		ref.address += KERNEL;
	for (int i = 0; i < 2; i++)
		assert_int_equal(guest->sink[i]->refs(guest->sink[i], &ref, 1, NULL), LPL_OK);
}

/* ---- the definitions ---- */

static uint64_t bin_of(const struct lpl_survey *survey, uint64_t time)
{
	return time >> survey->time->bin_shift;
}

static uint64_t at_bin(const struct lpl_time_series *series, unsigned int bin)
{
	return lpl_time_series_get(series, bin);
}

static bool is_kernels(const struct log *log, uint64_t page)
{
	return log->kind[page] == LPL_PAGE_KERNEL || log->kind[page] == LPL_PAGE_PHYSICAL;
}

/* Programs that have referenced the page in the first lines. */
static uint64_t programs(const struct log *log, uint64_t page, size_t lines)
{
	bool did[TASKS] = { false };
	uint64_t count = 0;

	for (size_t i = 0; i < lines; i++) {
		const struct line *line = &log->line[i];

		if (line->is == REFERENCE && line->page == page && line->process != 0 &&
		    !did[line->process]) {
			did[line->process] = true;
			count++;
		}
	}
	return count;
}

static void check_bins(const struct log *log)
{
	const struct lpl_survey *survey = log->survey;
	static uint64_t heat[PAGES][LPL_SURVEY_BINS];

	memset(heat, 0, sizeof(heat));
	/* as narrow as it can be */
	assert_true(bin_of(survey, log->now) < LPL_SURVEY_BINS);
	assert_true(survey->time->bin_shift == 0 ||
		    log->now >> (survey->time->bin_shift - 1) >= LPL_SURVEY_BINS);
	assert_int_equal(survey->time->length, log->now);
	assert_int_equal(survey->time->bins, bin_of(survey, log->now) + 1);
	for (size_t i = 0; i < log->lines; i++) {
		if (log->line[i].is == REFERENCE)
			heat[log->line[i].page][bin_of(survey, log->line[i].time)]++;
	}
	for (unsigned int bin = 0; bin < LPL_SURVEY_BINS; bin++) {
		uint64_t row[LPL_SURVEY_ROWS] = { 0 }, set = 0;

		for (uint64_t page = 1; page <= log->pages; page++) {
			set += heat[page][bin] != 0;
			row[page >> survey->heatmap->row_shift] += heat[page][bin];
		}
		assert_int_equal(at_bin(&survey->pages->working_set, bin), set);
		for (unsigned int i = 0; i < LPL_SURVEY_ROWS; i++)
			assert_int_equal(survey->heatmap->references[i][bin], row[i]);
	}
}

/* Replays the lines: what is alive after each, of all and of each process. */
static void check_alive(const struct log *log)
{
	const struct lpl_survey *survey = log->survey;
	static bool uses[TASKS][PAGES];		/* by process, until it ends */
	bool alive[PAGES] = { false };
	uint64_t level[LPL_PAGE_KINDS] = { 0 }, peak = 0;
	uint64_t most[TASKS][LPL_SURVEY_BINS] = { { 0 } }, size[TASKS] = { 0 };
	uint64_t living[TASKS] = { 0 };
	uint64_t at_end[LPL_PAGE_KINDS][LPL_SURVEY_BINS] = { { 0 } };
	size_t next = 0;

	memset(uses, 0, sizeof(uses));
	for (uint64_t time = 0; time <= log->now; time++) {
		uint64_t bin = bin_of(survey, time);

		/* what was there when the bin began counts in it, too */
		for (int i = 0; i < TASKS; i++)
			most[i][bin] = size[i] > most[i][bin] ? size[i] : most[i][bin];
		for (; next < log->lines && log->line[next].time == time; next++) {
			const struct line *line = &log->line[next];
			uint64_t total = 0;

			if (line->is == REFERENCE) {
				alive[line->page] = true;
				uses[line->process][line->page] = true;
			} else if (line->is == LEAVE || line->is == LEAVE_FOR_EVER) {
				alive[line->page] = false;
			} else if (line->is == BEGIN) {
				living[line->process]++;
			} else if (line->is == END && --living[line->process] == 0 &&
				   line->process != 0) {
				memset(uses[line->process], 0, sizeof(uses[0]));
			}
			memset(level, 0, sizeof(level));
			memset(size, 0, sizeof(size));
			for (uint64_t page = 1; page <= log->pages; page++) {
				if (!alive[page])
					continue;
				level[log->kind[page]]++;
				total++;
				for (int i = 0; i < 64 && !is_kernels(log, page); i++)
					size[i] += uses[i][page];
			}
			peak = total > peak ? total : peak;
			for (int i = 0; i < 64; i++)
				most[i][bin] = size[i] > most[i][bin] ? size[i] : most[i][bin];
		}
		for (int kind = 0; kind < LPL_PAGE_KINDS; kind++)
			at_end[kind][bin] = level[kind];
	}
	assert_int_equal(survey->pages->most_alive, peak);
	for (unsigned int bin = 0; bin < survey->time->bins; bin++) {
		for (int kind = 0; kind < LPL_PAGE_KINDS; kind++)
			assert_int_equal(at_bin(&survey->pages->alive_by_bin[kind], bin),
					 at_end[kind][bin]);
		for (uint64_t i = 0; i < survey->processes->recorded; i++) {
			const struct lpl_survey_process *process =
				lpl_survey_process_at(survey, i);

			if (process->number < 64)
				assert_int_equal(at_bin(&process->alive_by_bin, bin),
						 most[process->number][bin]);
		}
	}
}

static void check_sharing(const struct log *log)
{
	const struct lpl_survey *survey = log->survey;
	uint64_t shared[LPL_PAGE_KINDS][LPL_SURVEY_SHARINGS] = { { 0 } };

	for (uint64_t page = 1; page <= log->pages; page++) {
		uint64_t n = programs(log, page, log->lines);

		shared[log->kind[page]][n <= 2 ? n : n <= 4 ? 3 : n <= 8 ? 4 : 5]++;
	}
	assert_memory_equal(survey->pages->by_sharing, shared, sizeof(shared));
}

/* Where a process or a page ends: the line's index, or that of the end. */
static size_t end_of(const struct log *log, uint64_t process, uint64_t page)
{
	uint64_t living = 0;

	for (size_t i = 0; i < log->lines; i++) {
		const struct line *line = &log->line[i];

		if (line->is == LEAVE_FOR_EVER && line->page == page)
			return i;
		if (line->is == BEGIN && line->process == process)
			living++;
		if (line->is == END && line->process == process && --living == 0 && process != 0)
			return i;
	}
	return log->lines;
}

static void check_footprints(const struct log *log)
{
	const struct lpl_survey *survey = log->survey;

	for (uint64_t i = 0; i < survey->processes->recorded; i++) {
		const struct lpl_survey_process *recorded = lpl_survey_process_at(survey, i);
		const struct lpl_survey_footprint *footprint = &recorded->footprint;
		uint64_t process = recorded->number;
		struct lpl_survey_footprint sum = { .all = 0 };
		bool did[PAGES] = { false };

		for (size_t j = 0; j < log->lines; j++) {
			if (log->line[j].is == REFERENCE && log->line[j].process == process)
				did[log->line[j].page] = true;
		}
		for (uint64_t page = 1; page <= log->pages; page++) {
			uint64_t n;

			if (!did[page])
				continue;
			sum.pages[log->kind[page]]++;
			if (is_kernels(log, page))
				continue;
			n = programs(log, page, end_of(log, process, page));
			sum.all++;
			sum.unshared += n == (process != 0);
			sum.proportional += process ? 1 / (double)n : 0;
		}
		assert_memory_equal(footprint->pages, sum.pages, sizeof(sum.pages));
		assert_int_equal(footprint->all, sum.all);
		assert_int_equal(footprint->unshared, sum.unshared);
		assert_true(footprint->proportional - sum.proportional < 1e-6 &&
			    sum.proportional - footprint->proportional < 1e-6);
	}
}

/* Who does what in each unit of time. */
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

static void check_heat(const struct log *log)
{
	const struct lpl_survey *survey = log->survey;
	uint64_t count[PAGES] = { 0 }, all = 0, covered = 0, pages = 0;
	bool taken[PAGES] = { false };

	for (size_t i = 0; i < log->lines; i++) {
		count[log->line[i].page] += log->line[i].is == REFERENCE;
		all += log->line[i].is == REFERENCE;
	}
	assert_int_equal(survey->references->all, all);
	for (int side = 0; side < LPL_SURVEY_SIDES; side++) {
		for (uint64_t i = 0; i < survey->hottest[side].count; i++) {
			uint64_t best = 0;

			for (uint64_t page = 1; page <= log->pages; page++) {
				if (!taken[page] &&
				    is_kernels(log, page) == (side == LPL_SURVEY_OF_KERNEL) &&
				    (best == 0 || count[page] > count[best]))
					best = page;
			}
			taken[best] = true;
			assert_int_equal(survey->hottest[side].page[i].page, best);
			assert_int_equal(survey->hottest[side].page[i].references, count[best]);
			assert_int_equal(survey->hottest[side].page[i].programs,
					 programs(log, best, log->lines));
		}
	}
	for (; 10 * covered < 9 * all; pages++) {
		uint64_t best = 0;

		for (uint64_t page = 1; page <= log->pages; page++)
			best = count[page] > count[best] ? page : best;
		/* steps are of one number below 128 only */
		if (count[best] >= 128)
			return;
		covered += count[best];
		count[best] = 0;
	}
	assert_int_equal(lpl_survey_concentration(survey, 0.9), pages);
}

static bool is_of_file(const struct log *log, uint64_t page)
{
	const struct file *file = &log->file[page];

	return (file->inode != 0 && file->inode != KTR_NONE) || file->name[0] != 0;
}

/* What has no inode is known by its name instead. */
static bool is_same_file(const struct log *log, uint64_t page, const struct lpl_survey_file *file)
{
	const struct file *own = &log->file[page];

	return log->kind[page] == file->kind && own->device == file->device &&
	       own->inode == file->inode && own->generation == file->generation &&
	       (own->inode != KTR_NONE || strcmp(own->name, file->name) == 0);
}

static void check_files(const struct log *log)
{
	const struct lpl_survey *survey = log->survey;
	uint64_t count[PAGES] = { 0 }, of_files = 0, pages = 0;

	for (size_t i = 0; i < log->lines; i++)
		count[log->line[i].page] += log->line[i].is == REFERENCE;
	for (uint64_t page = 1; page <= log->pages; page++)
		of_files += is_of_file(log, page);
	for (size_t i = 0; i < survey->files->count; i++) {
		const struct lpl_survey_file *file = &survey->files->file[i];
		struct lpl_survey_file sum = { .pages = 0 };

		for (uint64_t page = 1; page <= log->pages; page++) {
			uint64_t n;

			if (!is_of_file(log, page) || !is_same_file(log, page, file))
				continue;
			n = programs(log, page, log->lines);
			sum.pages++;
			sum.references += count[page];
			sum.most_programs = n > sum.most_programs ? n : sum.most_programs;
		}
		assert_true(sum.pages > 0);
		assert_int_equal(file->pages, sum.pages);
		assert_int_equal(file->references, sum.references);
		assert_int_equal(file->most_programs, sum.most_programs);
		pages += sum.pages;
	}
	/* no file is there twice */
	assert_int_equal(pages, of_files);
}

/* ---- the trials ---- */

/* `records`: as in struct lpl_survey_options */
static void run(uint64_t seed, uint32_t lines, uint32_t quiet, uint32_t pace, size_t records)
{
	const struct lpl_survey_options options = { .hottest = TOP, .records = records };
	struct log *log = calloc(1, sizeof(*log));
	struct guest guest = { .lives = { true } };
	struct lpl_merge *merge;

	assert_non_null(log);
	log->records = records;
	log->output = (struct lpl_merge_output){ log_reference, log_event, log_finish, log_page,
						 log_task, log_leave };
	log->state = seed;
	assert_int_equal(lpl_survey_open(&log->survey, &options, NULL), LPL_OK);
	assert_int_equal(lpl_merge_open(&merge, &log->output, NULL, NULL), LPL_OK);
	guest.sink[0] = lpl_survey_sink(log->survey);
	guest.sink[1] = lpl_merge_sink(merge);
	for (uint32_t i = 0; i < lines; i++) {
		if (i && roll(log, 3) == 0)
			log->now += roll(log, pace);
		/* time is counted from the first record to the last: there is one at each end */
		if (i == 0 || i + 1 == lines || roll(log, quiet) != 0)
			do_reference(log, &guest);
		else if (roll(log, 2))
			do_task(log, &guest);
		else
			do_memory(log, &guest);
	}
	assert_true(log->now < TIMES);
	for (int i = 0; i < 2; i++)
		assert_int_equal(guest.sink[i]->finish(guest.sink[i], NULL), LPL_OK);
	check_bins(log);
	check_counts(log);
	check_times(log);
	/* where no more live than have a record */
	if (records == 0 || records > TIDS + 3) {
		check_alive(log);
		check_sharing(log);
		check_footprints(log);
		check_heat(log);
		check_files(log);
	}
	lpl_merge_close(merge);
	lpl_survey_close(log->survey);
	free(log);
}

static void is_what_it_is_defined_to_be(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 25; seed++) {
		run(seed, 600, 3, 2, 0);		/* no bin is folded */
		run(seed + 1000, 800, 5, 20, 0);
		run(seed + 2000, 400, 20, 200, 0);
	}
}

/* As many live as may have records, and many more come and go. */
static void others_are_summed(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 25; seed++) {
		run(seed, 800, 3, 2, TIDS + 4);
		run(seed + 3000, 600, 2, 20, 2 * TIDS);
		run(seed + 4000, 400, 5, 200, TIDS + 4);
	}
}

/* More live than may have records: the last of them are in the sum from the start. */
static void others_are_summed_from_the_start(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 25; seed++) {
		run(seed, 800, 3, 2, 1);
		run(seed + 5000, 600, 4, 20, 3);
	}
}

/* A jump over many widths at once: bins in between are empty. */
static void times_may_jump(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++)
		run(seed, 40, 3, 3000, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_what_it_is_defined_to_be),
		cmocka_unit_test(others_are_summed),
		cmocka_unit_test(others_are_summed_from_the_start),
		cmocka_unit_test(times_may_jump),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
