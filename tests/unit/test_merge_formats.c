/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The output formats of the post-processor. */
#include "merge_keeper.h"

#include <laplace/trace.h>

#define KEPT 64

static void format_global(void **state)
{
	struct lpl_ref ref[300];
	struct lpl_merge_output *output;
	struct lpl_merge *merge;
	struct lpl_sink *sink;
	char line[32], expected[32];
	FILE *file = tmpfile();

	(void)state;
	memset(ref, 0, sizeof(ref));
	for (int i = 0; i < 300; i++)
		ref[i] = (struct lpl_ref){ .ref = i + 1, .address = KERNEL + i % 270 * PAGE };
	assert_non_null(file);
	assert_int_equal(lpl_merge_global_open(&output, file, NULL), LPL_OK);
	assert_int_equal(lpl_merge_open(&merge, output, NULL, NULL), LPL_OK);
	sink = lpl_merge_sink(merge);
	for (int i = 0; i < 100; i++)
		assert_int_equal(sink->refs(sink, ref, 300, NULL), LPL_OK);
	assert_int_equal(sink->finish(sink, NULL), LPL_OK);
	lpl_merge_close(merge);
	lpl_merge_global_close(output);
	rewind(file);
	for (int i = 0; i < 30000; i++) {
		snprintf(expected, sizeof(expected), "%x\n", i % 300 % 270 + 1);
		assert_non_null(fgets(line, sizeof(line), file));
		assert_string_equal(line, expected);
	}
	assert_null(fgets(line, sizeof(line), file));
	fclose(file);
}

struct collector {
	struct lpl_sink sink;
	struct lpl_ref ref[KEPT];
	struct lpl_event event[KEPT];
	uint64_t refs_before[KEPT];
	size_t refs, events, finished;
};

static enum lpl_error collect_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				   struct lpl_report *report)
{
	struct collector *collector = (struct collector *)sink;

	(void)report;
	assert_true(collector->refs + count <= KEPT);
	memcpy(collector->ref + collector->refs, refs, count * sizeof(*refs));
	collector->refs += count;
	return LPL_OK;
}

static enum lpl_error collect_event(struct lpl_sink *sink, const struct lpl_event *event,
				    struct lpl_report *report)
{
	struct collector *collector = (struct collector *)sink;

	(void)report;
	collector->refs_before[collector->events] = collector->refs;
	assert_true(collector->events < KEPT);
	collector->event[collector->events++] = *event;
	return LPL_OK;
}

static enum lpl_error collect_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	(void)report;
	((struct collector *)sink)->finished++;
	return LPL_OK;
}

static void format_canonical(void **state)
{
	struct collector c = { .sink = { collect_refs, collect_event, collect_finish } };
	struct lpl_ref ref[2] = {
		{ .ref = 5, .instr = 6, .cycle = 7, .address = 0x12345, .space = 9,
		  .type = LPL_WRITE, .flags = LPL_USER, .length = 8 },
		{ .ref = 9, .instr = 8, .cycle = 8, .address = KERNEL + 5, .space = 9,
		  .type = LPL_FETCH, .flags = LPL_SECOND, .length = 3 },
	};
	struct lpl_event event = { .ref = 5, .tag = KTR_UNMAP, .arg = { 9, 0x12000, 0x13000 } };
	struct lpl_merge_output *output;
	struct lpl_merge *merge;
	struct lpl_sink *sink;

	(void)state;
	assert_int_equal(lpl_merge_canonical_open(&output, &c.sink, NULL), LPL_OK);
	assert_int_equal(lpl_merge_open(&merge, output, NULL, NULL), LPL_OK);
	sink = lpl_merge_sink(merge);
	assert_int_equal(sink->refs(sink, &ref[0], 1, NULL), LPL_OK);
	assert_int_equal(sink->event(sink, &event, NULL), LPL_OK);
	event.tag = KTR_MARK;
	assert_int_equal(sink->event(sink, &event, NULL), LPL_OK);
	assert_int_equal(sink->refs(sink, &ref[1], 1, NULL), LPL_OK);
	assert_int_equal(sink->finish(sink, NULL), LPL_OK);
	assert_int_equal(c.finished, 1);
	assert_int_equal(c.events, 3);
	assert_int_equal(c.event[0].tag, LPL_EVENT_PAGE);
	assert_int_equal(c.event[0].ref, 4);
	assert_int_equal(c.event[0].instr, 6);
	assert_int_equal(c.event[0].cycle, 7);
	assert_int_equal(c.event[0].arg[0], 1);
	assert_int_equal(c.event[0].arg[1], LPL_PAGE_UNRESOLVED);
	assert_int_equal(c.event[0].arg[6], 9);
	assert_int_equal(c.event[0].arg[7], 0x12);
	assert_int_equal(c.refs_before[0], 0);
	assert_int_equal(c.event[1].tag, KTR_MARK);
	assert_int_equal(c.refs_before[1], 1);
	assert_int_equal(c.event[2].tag, LPL_EVENT_PAGE);
	assert_int_equal(c.event[2].ref, 8);
	assert_int_equal(c.event[2].arg[0], 2);
	assert_int_equal(c.event[2].arg[1], LPL_PAGE_KERNEL);
	assert_int_equal(c.event[2].arg[7], (KERNEL + 5) >> LPL_PAGE_SHIFT);
	assert_int_equal(c.refs_before[2], 1);
	assert_int_equal(c.refs, 2);
	ref[0].address = 0x1000;
	ref[0].space = 0;
	ref[0].flags = LPL_USER | LPL_PAGED;
	ref[0].length = 0;
	ref[1].address = 0x2000;
	ref[1].space = 0;
	ref[1].flags = LPL_SECOND | LPL_PAGED;
	ref[1].length = 0;
	assert_memory_equal(c.ref, ref, sizeof(ref));
	lpl_merge_close(merge);
	lpl_merge_canonical_close(output);
}

/* Which task makes a reference can be followed: the events of tasks pass as they are. */
static void canonical_events(void **state)
{
	static const uint32_t pass[] = {
		KTR_TASK_CREATE, KTR_SCHEDULE, KTR_SPACE_ASSIGN, KTR_EXEC, KTR_EXIT, KTR_MARK,
		KTR_CONTROL, KTR_SYSCALL_ENTER, KTR_SYSCALL_EXIT, KTR_FILE, KTR_SNAPSHOT,
		LPL_EVENT_TRACING, LPL_EVENT_MARK
	};
	static const uint32_t stay[] = {
		KTR_MAP, KTR_UNMAP, KTR_REMAP, KTR_BRK, KTR_SHM_ATTACH, KTR_SHM_DETACH,
		KTR_SPACE_DUPLICATE, KTR_SPACE_END, KTR_COW_BREAK, KTR_CACHE_ADD,
		KTR_CACHE_REMOVE, KTR_DISCARD, KTR_PAGE_OWN, KTR_PRESENT
	};
	struct collector c = { .sink = { collect_refs, collect_event, collect_finish } };
	struct lpl_event sent = {
		.ref = 4, .instr = 5, .cycle = 6, .space = 7, .tid = 8, .tgid = 9,
		.arg = { 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31 },
		.text_length = 5, .text = "a\0b\nc"
	};
	struct lpl_merge_output *output;
	struct lpl_merge *merge;
	struct lpl_sink *sink;

	(void)state;
	assert_int_equal(lpl_merge_canonical_open(&output, &c.sink, NULL), LPL_OK);
	assert_int_equal(lpl_merge_open(&merge, output, NULL, NULL), LPL_OK);
	sink = lpl_merge_sink(merge);
	for (size_t i = 0; i < sizeof(pass) / sizeof(*pass); i++) {
		sent.tag = pass[i];
		assert_int_equal(sink->event(sink, &sent, NULL), LPL_OK);
		assert_int_equal(c.events, i + 1);
		assert_memory_equal(&c.event[i], &sent, sizeof(sent));
	}
	for (size_t i = 0; i < sizeof(stay) / sizeof(*stay); i++) {
		sent.tag = stay[i];
		assert_int_equal(sink->event(sink, &sent, NULL), LPL_OK);
	}
	assert_int_equal(c.events, sizeof(pass) / sizeof(*pass));
	lpl_merge_close(merge);
	lpl_merge_canonical_close(output);
}

static void canonical_meta(void **state)
{
	struct lpl_meta *source = lpl_meta_new(), *meta;

	(void)state;
	assert_int_equal(lpl_meta_set(source, LPL_META_TITLE, "run"), LPL_OK);
	assert_int_equal(lpl_meta_set(source, LPL_META_ADDRESSES, "virtual"), LPL_OK);
	meta = lpl_merge_canonical_meta(source);
	assert_string_equal(lpl_meta_get(meta, LPL_META_TITLE), "run");
	assert_string_equal(lpl_meta_get(meta, LPL_META_ADDRESSES), "canonical");
	assert_string_equal(lpl_meta_get(source, LPL_META_ADDRESSES), "virtual");
	lpl_meta_free(meta);
	lpl_meta_free(source);
}

static void statistics_as_text(void **state)
{
	struct keeper *k = *state;
	char text[4096] = "";
	FILE *file = fmemopen(text, sizeof(text), "w");

	rd(k, 7, 0x1000);
	SEND(k, KTR_UNMAP, 7, 0x1000, 0x2000);
	lpl_merge_stats_print(stats(k), file);
	fclose(file);
	assert_non_null(strstr(text, "references, unresolved: 1\n"));
	assert_non_null(strstr(text, "user references unresolved: 1\n"));
	assert_non_null(strstr(text, "canonical pages, unresolved: 1\n"));
	assert_non_null(strstr(text, "odd events, unmap: 1\n"));
	assert_null(strstr(text, "remap"));
	for (int i = 0; i < LPL_ANOMALIES; i++)
		for (int j = 0; j < i; j++)
			assert_string_not_equal(lpl_merge_anomaly_name(i), lpl_merge_anomaly_name(j));
	for (int i = 0; i < LPL_PAGE_KINDS; i++)
		for (int j = 0; j < i; j++)
			assert_string_not_equal(lpl_page_kind_name(i), lpl_page_kind_name(j));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(format_global),
		cmocka_unit_test(format_canonical),
		cmocka_unit_test(canonical_events),
		cmocka_unit_test(canonical_meta),
		T(statistics_as_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
