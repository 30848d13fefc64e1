/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the tests of the post-processor share: a merge with an output that keeps
 * what it is given last and checks what must always hold, and streams made by
 * hand, a record a call.
 */
#ifndef LAPLACE_TESTS_MERGE_KEEPER_H
#define LAPLACE_TESTS_MERGE_KEEPER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <laplace/merge.h>

#define PAGE 0x1000u
#define KERNEL UINT64_C(0xffff888000000000)
#define SERIALS 65536

/* Keeps what the merge says of each reference; `seen` counts over the whole test. */
struct keeper {
	struct lpl_merge_output output;
	struct lpl_merge *merge;
	struct lpl_sink *sink;
	uint64_t clock;
	struct lpl_merged last;
	struct lpl_merge_task last_task;
	uint64_t seen;
	struct lpl_merge_task event_task;
	uint64_t events_seen;
	struct lpl_merge_page page;	/* the last that was reported ... */
	char page_name[KTR_TEXT + 1];	/* ... with its name */
	struct lpl_merge_task task;	/* likewise */
	uint8_t final[SERIALS];		/* the last state of a task, by serial */
	int finished;
	int fail_with;
};

static inline enum lpl_error keep_reference(struct lpl_merge_output *output,
					    const struct lpl_merged *merged, struct lpl_report *report)
{
	struct keeper *keeper = (struct keeper *)output;

	if (keeper->fail_with != 0)
		return lpl_fail(report, keeper->fail_with, "asked to fail");
	assert_in_range(merged->page, 1, keeper->page.page);
	if (merged->page == keeper->page.page && merged->kind != LPL_PAGE_CACHE)
		assert_int_equal(merged->kind, keeper->page.kind);
	else if (merged->page == keeper->page.page)
		assert_true(keeper->page.kind == LPL_PAGE_FILE ||
			    keeper->page.kind == LPL_PAGE_SHM);
	keeper->last = *merged;
	keeper->last_task = *merged->task;
	keeper->seen++;
	return LPL_OK;
}

static inline enum lpl_error keep_event(struct lpl_merge_output *output, const struct lpl_event *event,
					const struct lpl_merge_task *task, struct lpl_report *report)
{
	struct keeper *keeper = (struct keeper *)output;

	(void)event;
	(void)report;
	keeper->event_task = *task;
	keeper->events_seen++;
	return LPL_OK;
}

static inline enum lpl_error keep_finish(struct lpl_merge_output *output, struct lpl_report *report)
{
	(void)report;
	((struct keeper *)output)->finished++;
	return LPL_OK;
}

static inline enum lpl_error keep_page(struct lpl_merge_output *output, const struct lpl_merge_page *page,
				       struct lpl_report *report)
{
	struct keeper *keeper = (struct keeper *)output;

	(void)report;
	assert_int_equal(page->page, keeper->page.page + 1);
	keeper->page = *page;
	memcpy(keeper->page_name, page->name_length > 0 ? page->name : "", page->name_length);
	keeper->page_name[page->name_length] = '\0';
	return LPL_OK;
}

/* Every task is reported until its last state, which comes once. */
static inline enum lpl_error keep_task(struct lpl_merge_output *output, const struct lpl_merge_task *task,
				       struct lpl_report *report)
{
	struct keeper *keeper = (struct keeper *)output;

	(void)report;
	assert_true(task->serial < SERIALS);
	assert_int_equal(keeper->final[task->serial], LPL_TASK_LIVES);
	assert_int_equal(keeper->finished, 0);
	keeper->final[task->serial] = (uint8_t)task->state;
	keeper->task = *task;
	return LPL_OK;
}

static inline void keeper_open(struct keeper *keeper, const struct lpl_merge_options *options)
{
	*keeper = (struct keeper){ .output = { .reference = keep_reference, .event = keep_event,
					       .finish = keep_finish, .page = keep_page,
					       .task = keep_task } };
	assert_int_equal(lpl_merge_open(&keeper->merge, &keeper->output, options, NULL), LPL_OK);
	keeper->sink = lpl_merge_sink(keeper->merge);
}

static inline int setup(void **state)
{
	struct keeper *keeper = malloc(sizeof(*keeper));

	keeper_open(keeper, NULL);
	*state = keeper;
	return 0;
}

static inline int teardown(void **state)
{
	struct keeper *keeper = *state;

	lpl_merge_close(keeper->merge);
	free(keeper);
	return 0;
}

static inline void finish(struct keeper *keeper)
{
	assert_int_equal(keeper->sink->finish(keeper->sink, NULL), LPL_OK);
	assert_int_equal(keeper->finished, 1);
}

/* The canonical page of one reference. */
static inline uint64_t touch(struct keeper *keeper, enum lpl_type type, uint8_t flags,
			     uint64_t space, uint64_t address)
{
	struct lpl_ref ref = {
		.ref = ++keeper->clock, .instr = keeper->clock, .cycle = keeper->clock,
		.address = address, .space = space, .type = type, .flags = flags, .length = 4
	};

	assert_int_equal(keeper->sink->refs(keeper->sink, &ref, 1, NULL), LPL_OK);
	assert_ptr_equal(keeper->last.ref, &ref);
	return keeper->last.page;
}

static inline uint64_t rd(struct keeper *keeper, uint64_t space, uint64_t address)
{
	return touch(keeper, LPL_READ, LPL_USER, space, address);
}

static inline uint64_t wr(struct keeper *keeper, uint64_t space, uint64_t address)
{
	return touch(keeper, LPL_WRITE, LPL_USER, space, address);
}

static inline void send_by(struct keeper *keeper, uint32_t tid, uint32_t tgid, uint32_t tag,
			   const uint64_t *arg, size_t args, const char *text)
{
	struct lpl_event event = {
		.ref = keeper->clock, .instr = keeper->clock, .cycle = keeper->clock,
		.tag = tag, .tid = tid, .tgid = tgid
	};

	memcpy(event.arg, arg, args * sizeof(*arg));
	if (text != NULL) {
		event.text_length = (uint32_t)strlen(text);
		memcpy(event.text, text, event.text_length);
	}
	assert_int_equal(keeper->sink->event(keeper->sink, &event, NULL), LPL_OK);
}

/* An event by tid 0, tgid 0. */
#define SEND(keeper, tag, ...) SEND_BY(keeper, 0, 0, tag, __VA_ARGS__)
#define SEND_BY(keeper, tid, tgid, tag, ...) SEND_TEXT(keeper, tid, tgid, NULL, tag, __VA_ARGS__)
#define SEND_TEXT(keeper, tid, tgid, text, tag, ...)                                \
	send_by(keeper, tid, tgid, tag, (const uint64_t[]){ __VA_ARGS__ },          \
		sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t), text)

static inline void map(struct keeper *keeper, uint64_t space, uint64_t start, uint64_t pages,
		       enum ktr_map_kind kind, uint64_t device, uint64_t inode, uint64_t offset)
{
	SEND(keeper, KTR_MAP, space, start, start + pages * PAGE, KTR_PROT_READ, kind, device,
	     inode, offset);
}

static inline void anonymous(struct keeper *keeper, uint64_t space, uint64_t start,
			     uint64_t pages)
{
	map(keeper, space, start, pages, KTR_MAP_ANONYMOUS, 0, 0, 0);
}

static inline const struct lpl_merge_stats *stats(const struct keeper *keeper)
{
	return lpl_merge_stats(keeper->merge);
}

static inline uint64_t anomalies(const struct keeper *keeper)
{
	uint64_t sum = 0;

	for (int i = 0; i < LPL_ANOMALIES; i++)
		sum += stats(keeper)->anomalies[i];
	return sum;
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
