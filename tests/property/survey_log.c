/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The survey on trial: the guests, and the log of them; see survey_log.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "survey_log.h"

#define TIMES 40000
#define TOP 7
#define KERNEL UINT64_C(0xffff888000000000)

/* ---- the log ---- */

static struct line *add(struct log *log, enum line_kind is, uint64_t task, uint64_t page)
{
	struct line *line = &log->line[log->lines++];

	assert_true(log->lines < sizeof(log->line) / sizeof(log->line[0]));
	assert_true(page < PAGES && task < TASKS);
	*line = (struct line){ .is = is, .time = log->now, .task = task, .page = page };
	return line;
}

static enum lpl_error log_reference(struct lpl_merge_output *output, const struct lpl_merged *merged,
				    struct lpl_report *report)
{
	struct log *log = (struct log *)output;
	struct line *line = add(log, REFERENCE, merged->task->serial, merged->page);

	line->process = merged->task->process;
	line->kind = merged->kind;
	line->user = (merged->ref->flags & LPL_USER) != 0;
	line->walks = merged->ref->type == LPL_WALK_READ || merged->ref->type == LPL_WALK_WRITE;
	(void)report;
	return LPL_OK;
}

static enum lpl_error log_event(struct lpl_merge_output *output, const struct lpl_event *event,
				const struct lpl_merge_task *task, struct lpl_report *report)
{
	struct log *log = (struct log *)output;
	struct line *line = add(log, EVENT, task->serial, 0);

	line->schedules = event->tag == KTR_SCHEDULE;
	line->blocks = event->arg[KTR_SCHEDULE_PREVIOUS_STATE] != KTR_STATE_RUNNABLE;
	(void)report;
	return LPL_OK;
}

static enum lpl_error log_finish(struct lpl_merge_output *output, struct lpl_report *report)
{
	(void)output;
	(void)report;
	return LPL_OK;
}

static enum lpl_error log_page(struct lpl_merge_output *output, const struct lpl_merge_page *page,
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

static enum lpl_error log_task(struct lpl_merge_output *output, const struct lpl_merge_task *task,
			       struct lpl_report *report)
{
	struct log *log = (struct log *)output;

	if (!log->begun[task->serial])
		add(log, BEGIN, task->serial, 0)->process = task->process;
	else if (log->process[task->serial] != task->process)
		*add(log, MOVE, task->serial, 0) = (struct line){
			.is = MOVE, .time = log->now, .task = task->serial,
			.process = task->process, .before = log->process[task->serial]
		};
	log->begun[task->serial] = true;
	log->process[task->serial] = task->process;
	if (task->state != LPL_TASK_LIVES)
		add(log, END, task->serial, 0)->process = task->process;
	(void)report;
	return LPL_OK;
}

static enum lpl_error log_leave(struct lpl_merge_output *output, uint64_t page, bool for_ever,
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
	uint32_t tgid[TIDS + 1];	/* of those: their space, too */
	bool known[TIDS + 1];		/* and that was reported */
};

static void send(struct guest *guest, const struct lpl_event *event)
{
	for (int i = 0; i < 2; i++)
		assert_int_equal(guest->sink[i]->event(guest->sink[i], event, NULL), LPL_OK);
}

static void send_event(struct log *log, struct guest *guest, uint32_t tag, const uint64_t *arg,
		       size_t args)
{
	struct lpl_event event = { .tag = tag, .ref = guest->ref, .cycle = log->now,
				   .tid = guest->current,
				   .tgid = guest->known[guest->current] ?
					   guest->tgid[guest->current] : 0 };

	memcpy(event.arg, arg, args * sizeof(*arg));
	send(guest, &event);
}

#define SEND(log, guest, tag, ...)                                                  \
	send_event(log, guest, tag, (const uint64_t[]){ __VA_ARGS__ },                    \
		   sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

/* Memory that is known by its name alone. */
static void map_named(struct log *log, struct guest *guest, uint64_t space, uint64_t start,
		      uint64_t end)
{
	struct lpl_event event = {
		.tag = KTR_MAP, .ref = guest->ref, .cycle = log->now, .tid = guest->current,
		.tgid = guest->known[guest->current] ? guest->tgid[guest->current] : 0, .text = { "[name]"[roll(log, 6)] }, .text_length = 1,
		.arg = {
			[KTR_MAP_SPACE] = space, [KTR_MAP_START] = start, [KTR_MAP_END] = end,
			[KTR_MAP_KIND] = KTR_MAP_SPECIAL, [KTR_MAP_INODE] = KTR_NONE
		}
	};

	send(guest, &event);
}

/* How many tasks the process has. */
static uint32_t living(const struct guest *guest, uint32_t tgid)
{
	uint32_t count = 0;

	for (uint32_t tid = 1; tid <= TIDS; tid++)
		count += guest->lives[tid] && guest->tgid[tid] == tgid;
	return count;
}

/* Process n has space n. */
static void schedule(struct log *log, struct guest *guest, uint64_t why)
{
	uint32_t next = roll(log, TIDS + 1);

	while (!guest->lives[next])
		next = (next + 1) % (TIDS + 1);
	guest->known[next] |= roll(log, 4) == 0;
	SEND(log, guest, KTR_SCHEDULE, guest->current, why, next,
	     guest->known[next] ? guest->tgid[next] : 0, guest->tgid[next]);
	guest->current = next;
}

static void do_task(struct log *log, struct guest *guest)
{
	uint32_t tid = 1 + roll(log, TIDS), tgid = tid;

	switch (roll(log, 4)) {
	case 0:
		/* the number is a process' as long as that has a task */
		if (guest->lives[tid] || living(guest, tid))
			return;
		if (guest->current && roll(log, 2))
			tgid = guest->tgid[guest->current];
		else if (roll(log, 2) && guest->current)
			SEND(log, guest, KTR_SPACE_DUPLICATE, guest->tgid[guest->current], tid);
		guest->lives[tid] = true;
		guest->tgid[tid] = tgid;
		/* of which process it is may be reported later */
		guest->known[tid] = tgid == tid || roll(log, 2);
		SEND(log, guest, KTR_TASK_CREATE, tid, guest->known[tid] ? tgid : 0, tgid, 0);
		break;
	case 1:
		if (guest->current == 0 || roll(log, 2))
			return;
		tid = guest->current;
		tgid = guest->tgid[tid];
		if (living(guest, tgid) == 1)
			SEND(log, guest, KTR_SPACE_END, tgid);
		SEND(log, guest, KTR_EXIT, tid, tgid, 0, living(guest, tgid) == 1);
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
		SEND(log, guest, KTR_MAP, space, start, end, 3, KTR_MAP_ANONYMOUS);
		break;
	case 1:
		SEND(log, guest, KTR_MAP, space, start, end, 3,
		     roll(log, 2) ? KTR_MAP_FILE_PRIVATE : KTR_MAP_FILE_SHARED, 8,
		     1 + roll(log, 2), roll(log, 4));
		break;
	case 2:
		SEND(log, guest, KTR_UNMAP, space, start, end);
		break;
	case 6:
		/* a device's memory, which may have the number of a file, or a name */
		if (roll(log, 2))
			SEND(log, guest, KTR_MAP, space, start, end, 3, KTR_MAP_SPECIAL, 8,
			     1 + roll(log, 2));
		else
			map_named(log, guest, space, start, end);
		break;
	case 3:
		SEND(log, guest, KTR_COW_BREAK, space, start, 1, 1 + roll(log, 2));
		break;
	case 4:
		SEND(log, guest, KTR_CACHE_ADD, 8, 1 + roll(log, 2), roll(log, 8), from,
		     1 + roll(log, 4), KERNEL + start);
		break;
	default:
		SEND(log, guest, KTR_CACHE_REMOVE, 8, 1 + roll(log, 2), roll(log, 8), from,
		     1 + roll(log, 4));
	}
}

/* To one of a few page tables. */
static void do_walk(struct log *log, struct guest *guest)
{
	const struct lpl_ref ref = {
		.ref = ++guest->ref, .cycle = log->now, .length = 8,
		.type = (uint8_t)(roll(log, 2) ? LPL_WALK_READ : LPL_WALK_WRITE),
		.address = (uint64_t)(0x100 + roll(log, 4)) << 12
	};

	for (int i = 0; i < 2; i++)
		assert_int_equal(guest->sink[i]->refs(guest->sink[i], &ref, 1, NULL), LPL_OK);
}

static void do_reference(struct log *log, struct guest *guest)
{
	struct lpl_ref ref = {
		.ref = ++guest->ref, .cycle = log->now, .type = (uint8_t)roll(log, 3),
		.flags = (uint8_t)roll(log, 2), .length = 4,
		.space = guest->current ? guest->tgid[guest->current] : 1
	};

	ref.address = (uint64_t)(0x10 + roll(log, 24)) << 12;
	if (roll(log, 4) == 0)
		ref.address += KERNEL;
	for (int i = 0; i < 2; i++)
		assert_int_equal(guest->sink[i]->refs(guest->sink[i], &ref, 1, NULL), LPL_OK);
}

/* ---- what is in it ---- */

uint64_t bin_of(const struct lpl_survey *survey, uint64_t time)
{
	return time >> survey->time->bin_shift;
}

uint64_t at_bin(const struct lpl_time_series *series, unsigned int bin)
{
	return lpl_time_series_get(series, bin);
}

/* ---- the trials ---- */

/* `records`: as in struct lpl_survey_options */
static void run(uint64_t seed, uint32_t lines, uint32_t quiet, uint32_t pace, size_t records,
		survey_check *check)
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
		if (roll(log, 5) == 0)
			do_walk(log, &guest);
		else if (i == 0 || i + 1 == lines || roll(log, quiet) != 0)
			do_reference(log, &guest);
		else if (roll(log, 2))
			do_task(log, &guest);
		else
			do_memory(log, &guest);
	}
	assert_true(log->now < TIMES);
	for (int i = 0; i < 2; i++)
		assert_int_equal(guest.sink[i]->finish(guest.sink[i], NULL), LPL_OK);
	check(log);
	lpl_merge_close(merge);
	lpl_survey_close(log->survey);
	free(log);
}

static void each_has_a_record(void **state)
{
	const struct survey_checks *checks = *state;

	for (uint64_t seed = 1; seed <= 25; seed++) {
		run(seed, 600, 3, 2, 0, checks->recorded);	/* no bin is folded */
		run(seed + 1000, 800, 5, 20, 0, checks->recorded);
		run(seed + 2000, 400, 20, 200, 0, checks->recorded);
	}
}

/* As many live as may have records, and many more come and go. */
static void others_are_summed(void **state)
{
	const struct survey_checks *checks = *state;

	for (uint64_t seed = 1; seed <= 25; seed++) {
		run(seed, 800, 3, 2, TIDS + 4, checks->recorded);
		run(seed + 3000, 600, 2, 20, 2 * TIDS, checks->recorded);
		run(seed + 4000, 400, 5, 200, TIDS + 4, checks->recorded);
	}
}

/* More live than may have records: the last of them are in the sum from the start. */
static void others_are_summed_from_the_start(void **state)
{
	const struct survey_checks *checks = *state;

	for (uint64_t seed = 1; seed <= 25; seed++) {
		run(seed, 800, 3, 2, 1, checks->summed);
		run(seed + 5000, 600, 4, 20, 3, checks->summed);
	}
}

/* A jump over many widths at once: bins in between are empty. */
static void times_may_jump(void **state)
{
	const struct survey_checks *checks = *state;

	for (uint64_t seed = 1; seed <= 10; seed++)
		run(seed, 40, 3, 3000, 0, checks->recorded);
}

int survey_tests(struct survey_checks *checks)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(each_has_a_record, checks),
		cmocka_unit_test_prestate(others_are_summed, checks),
		cmocka_unit_test_prestate(others_are_summed_from_the_start, checks),
		cmocka_unit_test_prestate(times_may_jump, checks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
