/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The collector: the trace has to hold the streams that are sent to it (sender.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include <jansson.h>

#include "sender.h"

static void every_reference_is_written(void **state)
{
	(void)state;
	/* some of them longer than any buffer between log and file */
	for (uint64_t seed = 1; seed <= 16; seed++) {
		/* as runs, and as references by way of reducers, which do nothing */
		const char *spec = seed / 4 % 2 ? "none" : "none+none";
		struct stream sent;
		struct trace trace;
		struct lpl_totals totals;
		struct lpl_collector *collector;
		struct logger logger;

		simulate(&sent, seed % 4 ? seed * 50 : seed * 5000, seed);
		collector = start(spec, in_directory("all.lpl"), LPL_STAGE_FILE, -1);
		logger_open(&logger, collector);
		log_stream(&logger, &sent);
		log_left_out(&logger, 67);
		logger_close(&logger);
		totals = count(&sent);
		finish(collector);
		read_trace(&trace, in_directory("all.lpl"));
		assert_same(&sent, &trace.stream, seed);
		assert_string_equal(trace.reduction, "none");
		assert_string_equal(trace.page_size, "4096");
		assert_string_equal(trace.title, "a test");
		assert_int_equal(trace.totals.total, totals.total);
		assert_memory_equal(trace.totals.refs, totals.refs, sizeof(totals.refs));
		assert_int_equal(trace.totals.user_refs, totals.user_refs);
		assert_int_equal(trace.totals.tracer_refs, 67);
		stream_free(&sent);
		stream_free(&trace.stream);
	}
}

/* Three references, of two pages, in a window; then how far the machine is.  Returns bytes. */
static uint64_t put_three(struct lpl_ring *ring)
{
	const uint64_t page = LPL_WIRE_KIND(LPL_WIRE_PAGE);
	const uint64_t reference[3] = { 1 << 3 | LPL_FETCH, 2 << 3 | LPL_READ, 3 << 3 | LPL_FETCH };

	assert_true(put(ring, reference[0], 10, 10, page | 7));
	assert_true(put(ring, reference[2], 11, 11, 0));
	assert_true(put(ring, reference[1], 10, 10, page | 8));
	assert_true(put(ring, reference[1], 10, 10, 0));
	assert_true(put(ring, 3, 0, 12, LPL_WIRE_KIND(LPL_WIRE_WINDOW)));
	assert_true(put(ring, 3, 0, 1234567, LPL_WIRE_KIND(LPL_WIRE_TOTALS)));
	return 6 * sizeof(struct lpl_ring_record);
}

/* The same by a log, with counts that rise in small steps; how many words that is, log.h says. */
static uint64_t log_three(struct lpl_collector *collector)
{
	enum { COUNT = 2, ON = 1, DEFINE = 4, TRACE = 1, DATA = 1, OFF = 1, TOTALS = 2 };
	const struct lpl_ref ref[3] = {
		{ .instr = 10, .cycle = 10, .address = 0x7000, .type = LPL_FETCH, .length = 4 },
		{ .instr = 10, .cycle = 10, .address = 0x8000, .type = LPL_READ, .length = 4 },
		{ .instr = 11, .cycle = 11, .address = 0x7004, .type = LPL_FETCH, .length = 4 },
	};
	struct logger logger;

	logger_open(&logger, collector);
	for (int i = 0; i < 3; i++)
		log_ref(&logger, &ref[i]);
	logger.now = (struct lpl_log_time){ 123, false };
	logger_close(&logger);
	return (COUNT + ON + 2 * (DEFINE + TRACE) + DATA + OFF + TOTALS) * sizeof(uint64_t);
}

static void never_due(void *context)
{
	(void)context;
}

/* What it cost is in the trace; but no host time where that is not to say when to flush. */
static void the_recording_is_accounted_for(void **state)
{
	static const struct {
		const char *spec;
		uint64_t instructions;
	} reductions[] = {
		{ "none", 123 }, { "none+none", 123 },
		{ "window:9", 1234567 }, { "sad:9", 1234567 },
	};
	const struct lpl_collector_options timed = {
		.flush_ns = UINT64_C(1000000000000), .flush_due = never_due
	};

	(void)state;
	for (int i = 0; i < 8; i++) {
		struct lpl_collector *collector =
			start_flushing(reductions[i % 4].spec, in_directory("cost.lpl"),
				       LPL_STAGE_FILE, -1,
				       i < 4 ? &(struct lpl_collector_options){ 0 } : &timed);
		uint64_t bytes = i % 4 < 2 ? log_three(collector) :
				 put_three(lpl_collector_ring(collector));
		struct trace trace;

		finish(collector);
		read_trace(&trace, in_directory("cost.lpl"));
		assert_int_equal(trace.totals.recording.instructions,
				 reductions[i % 4].instructions);
		assert_int_equal(trace.totals.recording.sent_bytes, bytes);
		assert_int_equal(trace.totals.recording.sent_refs, 3);
		assert_int_equal(trace.totals.recording.elapsed_ns != 0, i >= 4);
		stream_free(&trace.stream);
	}
}

/* Looks at a running collection, from a thread of its own, to its end. */
struct watcher {
	const struct lpl_collector *collector;
	uint64_t references, instructions, events;	/* when it is at its end */
	bool backwards;			/* a number got smaller */
	bool too_many;			/* more were kept than there were */
	struct lpl_collector_status last;
};

static void *watch(void *argument)
{
	struct watcher *w = argument;
	const uint64_t too_long = UINT64_C(600000000000);	/* ns */

	do {
		struct lpl_collector_status now;

		lpl_collector_status(w->collector, &now);
		w->backwards |= now.references < w->last.references ||
				now.instructions < w->last.instructions ||
				now.kept < w->last.kept || now.events < w->last.events ||
				now.bytes < w->last.bytes || now.wait_ns < w->last.wait_ns ||
				now.elapsed_ns < w->last.elapsed_ns;
		w->too_many |= now.kept > now.references;
		w->last = now;
	} while ((w->last.references < w->references ||
		  w->last.instructions < w->instructions || w->last.events < w->events) &&
		 w->last.elapsed_ns < too_long);
	return NULL;
}

/* What is said of numbers that change meanwhile is ThreadSanitizer's to say. */
static void any_thread_may_look(void **state)
{
	struct stream sent;
	struct lpl_collector *collector;
	struct watcher watcher = { .backwards = false };
	struct logger logger;
	pthread_t thread;
	size_t last;

	(void)state;
	simulate(&sent, 60000, 7);
	for (last = sent.count - 1; sent.items[last].is_event;)
		last--;
	collector = start("none", in_directory("watched.lpl"), LPL_STAGE_FILE, -1);
	watcher.collector = collector;
	watcher.references = count(&sent).total;
	watcher.instructions = sent.items[last].ref.instr;
	watcher.events = sent.count - watcher.references;
	assert_int_equal(pthread_create(&thread, NULL, watch, &watcher), 0);
	logger_open(&logger, collector);
	log_stream(&logger, &sent);
	logger_close(&logger);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_false(watcher.backwards);
	assert_false(watcher.too_many);
	assert_int_equal(watcher.last.references, watcher.references);
	assert_int_equal(watcher.last.instructions, watcher.instructions);
	assert_int_equal(watcher.last.events, watcher.events);
	assert_true(watcher.last.kept > 0 && watcher.last.bytes > 0);
	finish(collector);
	stream_free(&sent);
}

static void windows_are_put_in_order(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct stream sent, kept;
		struct trace trace;
		struct lpl_collector *collector;

		simulate(&sent, seed * 100, seed);
		collector = start("window:9", in_directory("window.lpl"), LPL_STAGE_FILE, -1);
		put_windows(&(struct sender){ lpl_collector_ring(collector), 0 }, &sent, &kept,
			    seed);
		finish(collector);
		read_trace(&trace, in_directory("window.lpl"));
		assert_same(&kept, &trace.stream, seed);
		assert_string_equal(trace.reduction, "window:9");
		stream_free(&sent);
		stream_free(&kept);
		stream_free(&trace.stream);
	}
}

/* What `spec` makes of a stream. */
static void reduce(const char *spec, const struct stream *in, struct stream *reduced, uint64_t seed)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_reducer *reducer;
	struct lpl_sink *sink;

	stream_init(reduced);
	assert_int_equal(lpl_reducer_open(&reducer, NULL, spec, &reduced->sink, &report), LPL_OK);
	sink = lpl_reducer_sink(reducer);
	assert_int_equal(stream_send(in, 0, in->count, sink, seed, &report), LPL_OK);
	assert_int_equal(sink->finish(sink, &report), LPL_OK);
	lpl_reducer_close(reducer);
}

/*
 * What the plan leaves to the collector is done to the windows; of some methods the
 * result is that of the whole stream.
 */
static void windows_are_reduced_further(void **state)
{
	static const struct {
		const char *spec, *same_as, *reduction;
		bool as_without;
	} methods[] = {
		{ "sad:9", "fence+sad:9", "window:9+sad:9", false },
		{ "olr:9", "olr:9", "window:9+olr:9", true },
		{ "lrubs:9", "lrubs:9", "window:9+lrubs:9", true },
		{ "lrubs:9+olr:9", "olr:9", "window:9+lrubs:9+olr:9", true },
	};

	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
			const char *spec = methods[i].spec;
			struct stream sent, kept, reduced;
			struct trace trace;
			struct lpl_collector *collector;

			simulate(&sent, 4000, seed);
			collector = start(spec, in_directory("reduced.lpl"), LPL_STAGE_FILE, -1);
			put_windows(&(struct sender){ lpl_collector_ring(collector), 0 }, &sent,
				    &kept, seed);
			finish(collector);
			read_trace(&trace, in_directory("reduced.lpl"));

			reduce(methods[i].same_as, methods[i].as_without ? &sent : &kept,
			       &reduced, seed);
			assert_int_not_equal(reduced.count, kept.count);
			assert_same(&reduced, &trace.stream, seed);
			assert_string_equal(trace.reduction, methods[i].reduction);
			stream_free(&sent);
			stream_free(&kept);
			stream_free(&reduced);
			stream_free(&trace.stream);
		}
	}
}

/* The header says how large pages are. */
static void pages_may_be_larger(void **state)
{
	struct lpl_report report = { .error = LPL_OK };
	struct stream sent, larger;
	struct trace trace;
	struct lpl_reducer *block;
	struct lpl_collector *collector;
	struct logger logger;

	(void)state;
	simulate(&sent, 4000, 1);
	collector = start("block:16384", in_directory("block.lpl"), LPL_STAGE_FILE, -1);
	logger_open(&logger, collector);
	log_stream(&logger, &sent);
	logger_close(&logger);
	finish(collector);
	read_trace(&trace, in_directory("block.lpl"));

	stream_init(&larger);
	assert_int_equal(lpl_reducer_open(&block, NULL, "block:16384", &larger.sink, &report),
			 LPL_OK);
	assert_int_equal(stream_send(&sent, 0, sent.count, lpl_reducer_sink(block), 1, &report),
			 LPL_OK);
	assert_int_equal(lpl_reducer_sink(block)->finish(lpl_reducer_sink(block), &report), LPL_OK);
	lpl_reducer_close(block);
	assert_same(&larger, &trace.stream, 1);
	assert_string_equal(trace.reduction, "block:16384");
	assert_string_equal(trace.page_size, "16384");
	stream_free(&sent);
	stream_free(&larger);
	stream_free(&trace.stream);
}

static void nothing_at_all_is_a_trace(void **state)
{
	struct trace trace;

	(void)state;
	finish(start("sad:64", in_directory("empty.lpl"), LPL_STAGE_FILE, -1));
	read_trace(&trace, in_directory("empty.lpl"));
	assert_int_equal(trace.stream.count, 0);
	assert_int_equal(trace.totals.total, 0);
	stream_free(&trace.stream);
}

/* The collector has failed, for this reason, and the file says it is not whole. */
static void assert_failed(struct lpl_collector *collector, const char *why)
{
	struct lpl_report report = { .error = LPL_OK };

	assert_int_equal(lpl_collector_failure(collector, &report), LPL_ERR_INTERNAL);
	assert_non_null(strstr(report.text, why));
	report = (struct lpl_report){ .error = LPL_OK };
	assert_int_equal(lpl_collector_close(collector, "error", NULL, &report), LPL_ERR_INTERNAL);
	assert_false(exists("failed.lpl"));
	assert_true(exists("failed.lpl.part"));
}

/* A record that cannot be, in the ring or in the log: the producer is stopped. */
static void failure_stops_the_producer(void **state)
{
	struct lpl_collector *collector;
	struct logger logger;
	size_t records = 0;

	(void)state;
	collector = start("window:9", in_directory("failed.lpl"), LPL_STAGE_FILE, -1);
	while (records < 100000 && put(lpl_collector_ring(collector), 0, 0, 0, LPL_WIRE_KIND(99)))
		records++;
	assert_true(records < 100000);
	assert_failed(collector, "99");

	collector = start("none", in_directory("failed.lpl"), LPL_STAGE_FILE, -1);
	logger_open(&logger, collector);
	for (records = 0; records < 100000 && !logger.log.failed; records++) {
		lpl_log_word(&logger.log, 0, 0, LPL_LOG_KINDS);
		lpl_log_totals(&logger.log, 0);
	}
	assert_true(records < 100000);
	assert_failed(collector, "no kind");
	lpl_log_close(&logger.log);
}

static void what_cannot_be_written_is_refused(void **state)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_plan plan;
	struct lpl_meta *meta = lpl_meta_new();
	struct lpl_collector_options options = {
		.path = in_directory("no-such-directory/t.lpl"), .plan = &plan, .meta = meta,
		.stage = LPL_STAGE_FILE, .status_fd = -1, .log = true,
	};
	struct lpl_collector *collector = (void *)&report;

	(void)state;
	assert_int_equal(lpl_plan_parse(&plan, "none", &report), LPL_OK);
	assert_int_equal(lpl_collector_open(&collector, &options, &report), LPL_ERR_IO);
	assert_null(collector);
	assert_int_equal(report.system_errno, ENOENT);
	assert_non_null(strstr(report.text, "no-such-directory"));
	lpl_meta_free(meta);
}

/* There is no place beside it for another file. */
static void a_stream_has_no_segments(void **state)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_plan plan;
	struct lpl_meta *meta = lpl_meta_new();
	const struct lpl_collector_options options = {
		.path = "/dev/fd/1", .plan = &plan, .meta = meta, .stage = LPL_STAGE_FILE,
		.status_fd = -1, .log = true, .segmented = true,
	};
	struct lpl_collector *collector = (void *)&report;

	(void)state;
	assert_int_equal(lpl_plan_parse(&plan, "none", &report), LPL_OK);
	assert_int_equal(lpl_collector_open(&collector, &options, &report), LPL_ERR_USAGE);
	assert_null(collector);
	assert_non_null(strstr(report.text, "/dev/fd/1"));
	lpl_meta_free(meta);
}

/* What comes out of the ring would be taken for what it is not. */
static void a_log_goes_with_the_plan(void **state)
{
	(void)state;
	for (int log = 0; log < 2; log++) {
		struct lpl_report report = { .error = LPL_OK };
		struct lpl_plan plan;
		const struct lpl_collector_options options = {
			.plan = &plan, .stage = LPL_STAGE_REDUCE, .status_fd = -1, .log = log
		};
		struct lpl_collector *collector = (void *)&report;

		assert_int_equal(lpl_plan_parse(&plan, log ? "sad:9" : "none", &report), LPL_OK);
		assert_int_equal(lpl_collector_open(&collector, &options, &report), LPL_ERR_USAGE);
		assert_null(collector);
		assert_non_null(strstr(report.text, log ? "window:9+sad:9: " : "none: "));
	}
}

/* The stages that throw the stream away want no file, and take everything. */
static void stages_without_a_file(void **state)
{
	static const enum lpl_stage stages[] = { LPL_STAGE_RING, LPL_STAGE_REDUCE };
	struct stream sent, kept;

	(void)state;
	simulate(&sent, 4000, 5);
	for (size_t i = 0; i < 2; i++) {
		struct lpl_collector *collector = start("sad:9", NULL, stages[i], -1);

		put_windows(&(struct sender){ lpl_collector_ring(collector), 0 }, &sent, &kept,
			    5);
		finish(collector);
		stream_free(&kept);
	}
	stream_free(&sent);
}

/* Each line is a JSON object; the last one reports the end, in the guest's words. */
static void status_is_a_line_of_json(void **state)
{
	static const char message[] = "a \"quoted\" \\ word,\n\ta\x01 and more";
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_collector *collector;
	struct logger logger;
	struct stream sent;
	char line[4096];
	int fd[2], objects = 0;
	json_t *last = NULL;

	(void)state;
	assert_int_equal(pipe(fd), 0);
	simulate(&sent, 3000, 7);
	collector = start("none", in_directory("status.lpl"), LPL_STAGE_FILE, fd[1]);
	logger_open(&logger, collector);
	log_stream(&logger, &sent);
	logger_close(&logger);
	assert_int_equal(lpl_collector_close(collector, "fail", message, &report), LPL_OK);
	assert_int_equal(close(fd[1]), 0);
	FILE *lines = fdopen(fd[0], "r");
	assert_non_null(lines);
	while (fgets(line, sizeof(line), lines)) {
		json_decref(last);
		last = json_loads(line, 0, NULL);
		assert_true(json_is_object(last));
		objects++;
	}
	assert_true(objects > 0);
	assert_string_equal(json_string_value(json_object_get(last, "state")), "ended");
	assert_string_equal(json_string_value(json_object_get(last, "end")), "fail");
	assert_non_null(strstr(json_string_value(json_object_get(last, "message")),
			       "a \"quoted\" \\ word,"));
	assert_int_equal(json_integer_value(json_object_get(last, "references")),
			 count(&sent).total);
	json_decref(last);
	(void)fclose(lines);
	stream_free(&sent);
}

/* ---- plans ---- */

static void plans(void **state)
{
	static const struct {
		const char *spec;
		uint64_t window;
		const char *reduction, *rest;
	} expected[] = {
		{ "none", 0, "none", "none" },
		{ "block", 0, "block", "block" },
		{ "window:16", 16, "window:16", "none" },
		{ "sad:1", 1, "window:1+sad:1", "fence+sad:1" },
		{ "sad:64", 64, "window:64+sad:64", "fence+sad:64" },
		{ "window:64+sad:64", 64, "window:64+sad:64", "fence+sad:64" },
		{ "window:16+sad:64", 16, "window:16+sad:64", "fence+sad:64" },
		{ "sad:64+block", 64, "window:64+sad:64+block", "fence+sad:64+block" },
		{ "block+sad:64", 0, "block+sad:64", "block+sad:64" },
		{ "sad:65536", 65536, "window:65536+sad:65536", "fence+sad:65536" },
		{ "olr:64", 64, "window:64+olr:64", "fence+olr:64" },
		{ "lrubs:64", 64, "window:64+lrubs:64", "fence+lrubs:64" },
		{ "lrubs:64+olr:64", 64, "window:64+lrubs:64+olr:64",
			"fence+lrubs:64+olr:64" },
		{ "block+olr:64", 0, "block+olr:64", "block+olr:64" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		struct lpl_report report = { .error = LPL_OK };
		struct lpl_plan plan;

		if (lpl_plan_parse(&plan, expected[i].spec, &report) != LPL_OK)
			fail_msg("%s: %s", expected[i].spec, report.text);
		assert_int_equal(plan.window, expected[i].window);
		assert_string_equal(plan.reduction, expected[i].reduction);
		assert_string_equal(plan.rest, expected[i].rest);
	}
}

static void bad_plans(void **state)
{
	static const char *const specs[] = {
		"", "sad", "sad:", "sad:0", "sad:-1", "sad: 1", "sad:+1", "sad:x", "sad:64x",
		"sad:64+", "+sad:64", "sad:64++sad:64", "window", "window:0", "window:64+",
		"window:65537", "sad:65537", "sad:16777217", "sad:18446744073709551680",
		"nonsense", "none:1", "SAD:64", "sad:64,block", "olr", "olr:65537", "olr:64x",
		"lrubs:65537", "lrubs:64+sad:64",
	};
	char longest[4096];

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		struct lpl_report report = { .error = LPL_OK };
		struct lpl_plan plan;
		enum lpl_error error = lpl_plan_parse(&plan, specs[i], &report);

		if (error != LPL_ERR_USAGE || !*report.text)
			fail_msg("'%s' gives %s: '%s'", specs[i], lpl_error_name(error), report.text);
	}
	memset(longest, '+', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	memcpy(longest, "sad:64", 6);
	assert_int_equal(lpl_plan_parse(&(struct lpl_plan){ 0 }, longest, NULL), LPL_ERR_USAGE);
}

/* What is wrong with a number is said of the SPEC that was given, not of windows. */
static void bad_numbers_are_shown_as_given(void **state)
{
	static const char *const specs[] = { "sad:-1", "sad: 1", "olr:99999999999999999999" };

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		struct lpl_report report = { .error = LPL_OK };
		struct lpl_plan plan;
		char begin[64];

		assert_int_equal(lpl_plan_parse(&plan, specs[i], &report), LPL_ERR_USAGE);
		snprintf(begin, sizeof(begin), "reduction '%s':", specs[i]);
		assert_memory_equal(report.text, begin, strlen(begin));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_reference_is_written),
		cmocka_unit_test(the_recording_is_accounted_for),
		cmocka_unit_test(any_thread_may_look),
		cmocka_unit_test(windows_are_put_in_order),
		cmocka_unit_test(windows_are_reduced_further),
		cmocka_unit_test(pages_may_be_larger),
		cmocka_unit_test(nothing_at_all_is_a_trace),
		cmocka_unit_test(failure_stops_the_producer),
		cmocka_unit_test(what_cannot_be_written_is_refused),
		cmocka_unit_test(a_stream_has_no_segments),
		cmocka_unit_test(a_log_goes_with_the_plan),
		cmocka_unit_test(stages_without_a_file),
		cmocka_unit_test(status_is_a_line_of_json),
		cmocka_unit_test(plans),
		cmocka_unit_test(bad_plans),
		cmocka_unit_test(bad_numbers_are_shown_as_given),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
