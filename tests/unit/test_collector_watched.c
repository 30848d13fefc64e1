/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A watcher of a recording that another process continues sees it continue.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "sender.h"

#define RECORDS	20000
#define SEED	3
static const uint64_t CHECKPOINT = 4711;	/* instructions, as whoever makes it says */

struct noted {
	struct lpl_resume_point point;
	struct lpl_collector_status status;
};

static struct lpl_collector *begin(const char *spec, const struct lpl_resume_point *point)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_meta *meta = lpl_meta_new();
	struct lpl_collector *collector;
	struct lpl_plan plan;
	struct lpl_collector_options options = {
		.path = in_directory("run.lpl"), .plan = &plan, .meta = meta,
		.stage = LPL_STAGE_FILE, .status_fd = -1, .overwrite = true, .segmented = true,
		.sync_ns = 1, .resume_point = point, .resume_guest = in_directory("guest"),
		.resume_instr = CHECKPOINT,
	};

	assert_non_null(meta);
	assert_int_equal(lpl_plan_parse(&plan, spec, &report), LPL_OK);
	if (lpl_collector_open(&collector, &options, &report) != LPL_OK)
		fail_msg("%s", report.text);
	lpl_meta_free(meta);
	return collector;
}

static void put_part(struct sender *sender, const struct stream *part)
{
	struct stream kept;

	put_windows(sender, part, &kept, SEED);
	stream_free(&kept);
	lpl_ring_publish(sender->ring);
}

/* A segment's end, and wait for it. */
static void end_segment(struct sender *sender, struct lpl_collector *collector,
			struct noted *noted)
{
	assert_true(put(sender->ring, LPL_WIRE_ROTATE, 0, 0, LPL_WIRE_KIND(LPL_WIRE_FLUSH)));
	lpl_ring_publish(sender->ring);
	do {
		assert_int_equal(lpl_collector_failure(collector, NULL), LPL_OK);
		lpl_collector_status(collector, &noted->status);
	} while (noted->status.flushes == 0);
	assert_int_equal(lpl_collector_resume_point(collector, &noted->point), 2);
}

static void close_well(struct lpl_collector *collector)
{
	struct lpl_report report = { .error = LPL_OK };

	if (lpl_collector_close(collector, "clean", "", &report) != LPL_OK)
		fail_msg("%s", report.text);
}

/* What was counted, and what was said last, is reported from where it was. */
static void a_watcher_sees_it_continue(void **state)
{
	struct stream sent;
	struct noted noted;
	struct lpl_collector_status before, now;
	struct lpl_pace pace = { 0 };
	struct lpl_event *mark = NULL;
	char expected[96], *line;

	(void)state;
	simulate(&sent, RECORDS, SEED);
	for (size_t i = 0; i < sent.count; i++) {
		if (sent.items[i].is_event && sent.items[i].event.tag == KTR_MARK)
			sent.items[i].event.tag = KTR_EXIT;
		if (sent.items[i].is_event)
			mark = &sent.items[i].event;
	}
	assert_non_null(mark);
	mark->tag = KTR_MARK;
	mark->text_length = 4;
	memcpy(mark->text, "half", 4);

	struct lpl_collector *collector = begin("window:9", NULL);
	struct sender sender = { lpl_collector_ring(collector), 0 };
	struct lpl_report report = { .error = LPL_OK };

	put_part(&sender, &sent);
	/* a sync that was counted before the point was noted is counted there */
	do {
		assert_int_equal(lpl_collector_failure(collector, NULL), LPL_OK);
		lpl_collector_status(collector, &before);
	} while (before.syncs == 0);
	lpl_collector_checkpoint_failed(collector);
	end_segment(&sender, collector, &noted);
	assert_int_equal(lpl_collector_save_guest(collector, in_directory("guest"), &report),
			 LPL_OK);
	lpl_collector_leave(collector);

	collector = begin("window:9", &noted.point);
	lpl_collector_status(collector, &now);
	assert_true(now.syncs >= before.syncs);
	assert_true(now.sync_ns >= before.sync_ns);
	assert_true(now.wait_ns >= before.wait_ns);
	assert_int_equal(now.references, noted.status.references);
	assert_int_equal(now.events, noted.status.events);
	line = lpl_collector_status_line(collector, &pace);
	assert_non_null(line);
	assert_non_null(strstr(line, ",\"mark\":{\"text\":\"half\","));
	(void)snprintf(expected, sizeof(expected), ",\"checkpoint\":{\"instruction\":%" PRIu64 ",",
		       CHECKPOINT);
	assert_non_null(strstr(line, expected));
	assert_non_null(strstr(line, ",\"checkpoints_failed\":1}"));
	free(line);
	close_well(collector);
	stream_free(&sent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_watcher_sees_it_continue),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
