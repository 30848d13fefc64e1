/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Status lines, and the file of them: what docs/watching.md says of either. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "collect/status.h"
#include "collect/status_file.h"
#include "sender.h"

#define SECOND UINT64_C(1000000000)

static const struct lpl_status_end running = { .state = "running" };

/* ---- a line ---- */

static json_t *parse(const char *line)
{
	size_t length = strlen(line);
	json_t *object;

	assert_true(length && line[length - 1] == '\n');
	assert_ptr_equal(strchr(line, '\n'), line + length - 1);
	object = json_loads(line, 0, NULL);
	assert_true(json_is_object(object));
	assert_int_equal(json_integer_value(json_object_get(object, "laplace-status")), 1);
	return object;
}

static json_t *line_of(struct lpl_status *status, const struct lpl_collector_status *now,
		       struct lpl_pace *pace, struct lpl_status_end end)
{
	char *line = lpl_status_line(status, now, pace, end);
	json_t *object;

	assert_non_null(line);
	object = parse(line);
	free(line);
	return object;
}

static json_int_t integer(const json_t *object, const char *name)
{
	assert_true(json_is_integer(json_object_get(object, name)));
	return json_integer_value(json_object_get(object, name));
}

static const char *string(const json_t *object, const char *name)
{
	assert_true(json_is_string(json_object_get(object, name)));
	return json_string_value(json_object_get(object, name));
}

static struct lpl_event mark(uint32_t tag, const char *text, size_t length, uint64_t instr)
{
	struct lpl_event event = { .tag = tag, .instr = instr, .text_length = (uint32_t)length };

	memcpy(event.text, text, length);
	return event;
}

static void a_line_has_all(void **state)
{
	const struct lpl_collector_status now = {
		.references = 4000, .instructions = 3000, .kept = 20, .events = 5, .bytes = 600,
		.wait_ns = SECOND / 4, .elapsed_ns = 2 * SECOND, .segment = 7, .tracing = true,
		.waiting_for_room = true,
	};
	struct lpl_pace pace = { 0 };
	struct lpl_status status;
	json_t *line;

	(void)state;
	assert_true(lpl_status_init(&status, in_directory("run.lpl")));
	line = line_of(&status, &now, &pace, running);
	assert_string_equal(string(line, "state"), "running");
	assert_null(json_object_get(line, "end"));
	assert_string_equal(string(line, "message"), "");
	assert_string_equal(string(line, "trace"), in_directory("run.lpl"));
	assert_int_equal(strlen(string(line, "time")), strlen("2026-11-22T12:34:56Z"));
	assert_int_equal(integer(line, "pid"), getpid());
	assert_true(json_is_true(json_object_get(line, "tracing")));
	assert_true(json_is_true(json_object_get(line, "waiting_for_room")));
	assert_int_equal(integer(line, "instructions"), 3000);
	assert_int_equal(integer(line, "references"), 4000);
	assert_int_equal(integer(line, "kept"), 20);
	assert_int_equal(integer(line, "events"), 5);
	assert_int_equal(integer(line, "bytes"), 600);
	assert_int_equal(integer(line, "wait_ns"), SECOND / 4);
	assert_int_equal(integer(line, "elapsed_ns"), 2 * SECOND);
	assert_int_equal(integer(line, "segment"), 7);
	assert_true(integer(line, "memory") > 0);
	assert_true(json_is_null(json_object_get(line, "mark")));
	assert_true(json_is_null(json_object_get(line, "checkpoint")));

	/* as long as 300 bytes a second fill what is free, give or take what others write */
	const json_t *disk = json_object_get(line, "disk");

	assert_true(json_is_object(disk));
	assert_int_equal(integer(disk, "seconds"), integer(disk, "free") / 300);
	assert_int_equal(integer(line, "checkpoints_failed"), 0);
	json_decref(line);

	status.checkpoints_failed = 3;
	lpl_status_checkpoint(&status, 2500, SECOND);
	line = line_of(&status, &now, &pace, (struct lpl_status_end){ "ended", "fail", "why" });
	assert_string_equal(string(line, "state"), "ended");
	assert_string_equal(string(line, "end"), "fail");
	assert_string_equal(string(line, "message"), "why");
	assert_int_equal(integer(json_object_get(line, "checkpoint"), "instruction"), 2500);
	assert_int_equal(integer(json_object_get(line, "checkpoint"), "elapsed_ns"), SECOND);
	assert_int_equal(integer(line, "checkpoints_failed"), 3);
	json_decref(line);
	lpl_status_free(&status);
}

/* No file, no disk; and what grows by nothing lasts for ever. */
static void a_disk_may_not_matter(void **state)
{
	const struct lpl_collector_status now = { .elapsed_ns = SECOND };
	struct lpl_status status;
	struct lpl_pace pace = { 0 };
	json_t *line;

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_true(lpl_status_init(&status, i ? "/dev/null" : NULL));
		line = line_of(&status, &now, &pace, running);
		assert_true(json_is_null(json_object_get(line, "disk")));
		json_decref(line);
		lpl_status_free(&status);
	}
	assert_true(lpl_status_init(&status, "unwritten.lpl"));
	line = line_of(&status, &now, &pace, running);
	assert_true(json_is_null(json_object_get(json_object_get(line, "disk"), "seconds")));
	json_decref(line);
	lpl_status_free(&status);
}

static void assert_rates(const json_t *line, const char *which, json_int_t instructions,
			 json_int_t references, json_int_t bytes, double waiting)
{
	const json_t *rates = json_object_get(line, which);

	assert_int_equal(integer(rates, "instructions"), instructions);
	assert_int_equal(integer(rates, "references"), references);
	assert_int_equal(integer(rates, "bytes"), bytes);
	assert_float_equal(json_number_value(json_object_get(rates, "waiting")), waiting, 1e-4);
}

/* What a machine that begins with a snapshot had executed before has no rate. */
static void rates_are_of_what_is_recorded(void **state)
{
	struct lpl_collector_status now = { .instructions = 5000, .elapsed_ns = 2 * SECOND };
	struct lpl_pace pace = { 0 };
	struct lpl_status status;
	json_t *line;

	(void)state;
	assert_true(lpl_status_init(&status, NULL));
	status.begin_instr = 4000;
	line = line_of(&status, &now, &pace, running);
	assert_int_equal(integer(line, "instructions"), 5000);
	assert_rates(line, "rates", 500, 0, 0, 0);
	assert_rates(line, "mean", 500, 0, 0, 0);
	json_decref(line);
	now.instructions = 8000;
	now.elapsed_ns = 4 * SECOND;
	line = line_of(&status, &now, &pace, running);
	assert_rates(line, "rates", 1500, 0, 0, 0);
	assert_rates(line, "mean", 1000, 0, 0, 0);
	json_decref(line);
	lpl_status_free(&status);
}

/* Since the last line, and in all; numbers of a run of years, too. */
static void rates_are_per_second(void **state)
{
	struct lpl_collector_status now = {
		.instructions = 1000, .references = 3000, .bytes = 500, .elapsed_ns = 2 * SECOND,
		.wait_ns = SECOND,
	};
	const uint64_t year = UINT64_C(31536000);
	struct lpl_pace pace = { 0 };
	struct lpl_status status;
	json_t *line;

	(void)state;
	assert_true(lpl_status_init(&status, NULL));
	line = line_of(&status, &now, &pace, running);
	assert_rates(line, "rates", 500, 1500, 250, 0.5);
	assert_rates(line, "mean", 500, 1500, 250, 0.5);
	json_decref(line);
	now.instructions += 4000;
	now.references += 1000;
	now.elapsed_ns += SECOND / 2;
	now.wait_ns += SECOND / 8;
	line = line_of(&status, &now, &pace, running);
	assert_rates(line, "rates", 8000, 2000, 0, 0.25);
	assert_rates(line, "mean", 2000, 1600, 200, 0.45);
	json_decref(line);
	line = line_of(&status, &now, &pace, running);	/* no time has passed */
	assert_rates(line, "rates", 0, 0, 0, 0);
	json_decref(line);

	now = (struct lpl_collector_status){ .instructions = year * 100000000,
					     .references = year * 200000000,
					     .elapsed_ns = year * SECOND };
	line = line_of(&status, &now, &pace, running);
	assert_rates(line, "mean", 100000000, 200000000, 0, 0);
	json_decref(line);
	lpl_status_free(&status);
}

static void the_last_mark_counts(void **state)
{
	const struct lpl_collector_status now = { .elapsed_ns = 1 };
	struct lpl_status status;
	struct lpl_pace pace = { 0 };
	struct lpl_event event;
	json_t *line;

	(void)state;
	assert_true(lpl_status_init(&status, NULL));
	event = mark(KTR_MARK, "first", 5, 10);
	lpl_status_event(&status, &event);
	event = mark(LPL_EVENT_MARK, "second", 6, 20);
	lpl_status_event(&status, &event);
	event = mark(KTR_EXEC, "/bin/sh", 7, 30);	/* is none */
	lpl_status_event(&status, &event);
	line = line_of(&status, &now, &pace, running);
	assert_string_equal(string(json_object_get(line, "mark"), "text"), "second");
	assert_int_equal(integer(json_object_get(line, "mark"), "instruction"), 20);
	json_decref(line);

	assert_false(status.tracing);
	event = (struct lpl_event){ .tag = LPL_EVENT_TRACING, .arg = { 1 } };
	lpl_status_event(&status, &event);
	assert_true(status.tracing);
	event.arg[0] = 0;
	lpl_status_event(&status, &event);
	assert_false(status.tracing);
	lpl_status_free(&status);
}

/* RFC 8259 and Unicode's table of well-formed sequences. */
static void texts_are_characters(void **state)
{
	static const struct {
		const char *given, *expected;
		size_t length;
	} texts[] = {
		{ "a\"b\\c/", "a\"b\\c/", 6 },
		{ "\x1b[31m\n\t\x01\x7f", "\x1b[31m\n\t\x01\x7f", 9 },
		{ "a\0b", "a\xef\xbf\xbd" "b", 3 },
		{ "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9 },
		{ "\xff\xfe", "\xef\xbf\xbd\xef\xbf\xbd", 2 },
		{ "\xc3", "\xef\xbf\xbd", 1 },				/* cut off */
		{ "\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd", 2 },		/* too long a form */
		{ "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", 3 },	/* a surrogate */
		{ "\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", 4 },
	};
	const struct lpl_collector_status now = { .elapsed_ns = 1 };
	struct lpl_status status;
	struct lpl_pace pace = { 0 };
	uint64_t random = 1;

	(void)state;
	assert_true(lpl_status_init(&status, NULL));
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct lpl_event event = mark(KTR_MARK, texts[i].given, texts[i].length, 1);
		json_t *line;

		lpl_status_event(&status, &event);
		line = line_of(&status, &now, &pace, running);
		assert_string_equal(string(json_object_get(line, "mark"), "text"),
				    texts[i].expected);
		json_decref(line);
	}
	for (int i = 0; i < 2000; i++) {	/* a line is a line, whatever a guest says */
		struct lpl_event event = { .tag = KTR_MARK };
		char message[65];

		event.text_length = (uint32_t)next_random(&random) >> (i % 32);
		for (size_t at = 0; at < KTR_TEXT; at++)
			event.text[at] = (char)(next_random(&random) >> 16);
		memcpy(message, event.text, 64);
		message[64] = '\0';
		lpl_status_event(&status, &event);
		json_decref(line_of(&status, &now, &pace,
				    (struct lpl_status_end){ "ended", "error", message }));
	}
	lpl_status_free(&status);
}

/* ---- the file ---- */

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void assert_holds(const char *path, const char *expected)
{
	char text[4096];
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	assert_int_equal(fclose(file), 0);
	assert_string_equal(text, expected);
}

static void assert_refused(const char *path, const char *trace, enum lpl_error expected,
			   const char *why)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_status_file file;

	assert_int_equal(lpl_status_file_open(&file, path, trace, &report), expected);
	assert_int_equal(file.fd, -1);
	if (!strstr(report.text, why))
		fail_msg("'%s' does not contain '%s'", report.text, why);
}

static void other_files_are_refused(void **state)
{
	(void)state;
	write_file(in_directory("other"), "precious\n");
	assert_refused(in_directory("other"), NULL, LPL_ERR_USAGE, "no status file");
	assert_holds(in_directory("other"), "precious\n");
	write_file(in_directory("other"), "{\"laplace-");
	assert_refused(in_directory("other"), NULL, LPL_ERR_USAGE, "no status file");
	assert_holds(in_directory("other"), "{\"laplace-");
	assert_int_equal(unlink(in_directory("other")), 0);
	assert_refused("/dev/null", NULL, LPL_ERR_USAGE, "no status file");
	assert_int_equal(mkfifo(in_directory("fifo"), 0600), 0);
	assert_refused(in_directory("fifo"), NULL, LPL_ERR_USAGE, "no status file");
	assert_refused(in_directory("none/status"), NULL, LPL_ERR_IO, "cannot be opened");
	assert_refused(directory, NULL, LPL_ERR_IO, "cannot be opened");
}

/* By its own name or another, before it is there or after; and no file is left. */
static void the_trace_is_refused(void **state)
{
	char other[256];

	(void)state;
	snprintf(other, sizeof(other), "%s/../%s/t.lpl", directory, strrchr(directory, '/') + 1);
	assert_refused(in_directory("t.lpl"), in_directory("t.lpl"), LPL_ERR_USAGE, "is the trace");
	assert_refused(other, in_directory("t.lpl"), LPL_ERR_USAGE, "is the trace");
	assert_refused(in_directory("t.lpl.part"), in_directory("t.lpl"), LPL_ERR_USAGE,
		       "is the trace");
	assert_false(exists("t.lpl") || exists("t.lpl.part"));
	write_file(in_directory("t.lpl"), "");
	assert_int_equal(symlink(in_directory("t.lpl"), in_directory("link")), 0);
	assert_refused(in_directory("link"), in_directory("t.lpl"), LPL_ERR_USAGE, "is the trace");
	assert_true(exists("t.lpl"));
	assert_int_equal(unlink(in_directory("t.lpl")), 0);
	assert_int_equal(unlink(in_directory("link")), 0);
}

static struct lpl_status_file open_file(const char *path)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_status_file file;

	if (lpl_status_file_open(&file, path, NULL, &report) != LPL_OK)
		fail_msg("%s", report.text);
	return file;
}

static void lines_go_after_those_before(void **state)
{
	static const char one[] = "{\"laplace-status\":1,\"a\":1}\n";
	struct lpl_status_file file = open_file(in_directory("status"));
	char expected[256];

	(void)state;
	lpl_status_file_close(&file);
	assert_false(exists("status"));		/* nothing was written */

	file = open_file(in_directory("status"));
	assert_true(lpl_status_file_append(&file, one));
	lpl_status_file_close(&file);
	assert_holds(in_directory("status"), one);
	file = open_file(in_directory("status"));
	lpl_status_file_close(&file);
	assert_holds(in_directory("status"), one);

	/* that run was killed within a line */
	write_file(in_directory("status"), "{\"laplace-status\":1,\"b");
	file = open_file(in_directory("status"));
	assert_true(lpl_status_file_append(&file, one));
	assert_true(lpl_status_file_append(&file, one));
	lpl_status_file_close(&file);
	snprintf(expected, sizeof(expected), "{\"laplace-status\":1,\"b\n%s%s", one, one);
	assert_holds(in_directory("status"), expected);
	assert_int_equal(unlink(in_directory("status")), 0);
}

static void set_limit(rlim_t bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* No half of a line is left; the first failure is reported, and it goes on when there is room. */
static void no_room_for_a_line(void **state)
{
	static const char one[] = "{\"laplace-status\":1,\"a\":1}\n";
	struct lpl_status_file file = open_file(in_directory("full"));
	char expected[256];

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_true(lpl_status_file_append(&file, one));
	set_limit(sizeof(one) + 5);
	assert_false(lpl_status_file_append(&file, one));
	assert_holds(in_directory("full"), one);
	assert_true(lpl_status_file_append(&file, one));
	assert_true(file.failed);
	assert_holds(in_directory("full"), one);
	set_limit(RLIM_INFINITY);
	assert_true(lpl_status_file_append(&file, one));
	assert_false(file.failed);
	lpl_status_file_close(&file);
	snprintf(expected, sizeof(expected), "%s%s", one, one);
	assert_holds(in_directory("full"), expected);
}

/* ---- a collection's ---- */

static struct lpl_collector *collect(const char *status, enum lpl_stage stage,
				     void (*complain)(void *, const char *), void *context)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_meta *meta = lpl_meta_new();
	struct lpl_collector *collector = NULL;
	struct lpl_plan plan;

	assert_non_null(meta);
	assert_int_equal(lpl_plan_parse(&plan, "none", &report), LPL_OK);
	if (lpl_collector_open(&collector, &(struct lpl_collector_options){
			.path = in_directory("watched.lpl"), .plan = &plan, .meta = meta,
			.stage = stage, .status_fd = -1, .log = true, .status_path = status,
			.complain = complain, .context = context }, &report) != LPL_OK)
		fail_msg("%s", report.text);
	lpl_meta_free(meta);
	return collector;
}

/* A line at the start, and one that reports the end, when the trace is whole and has its name. */
static void a_run_is_reported_from_start_to_end(void **state)
{
	struct lpl_collector *collector = collect(in_directory("run"), LPL_STAGE_FILE, NULL, NULL);
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_event event = mark(KTR_MARK, "half", 4, 5);
	struct kernel_trace_record record = record_of(&event);
	struct lpl_pace pace = { 0 };
	struct logger logger;
	char line[8192], *asked;
	json_t *first = NULL, *last = NULL;
	FILE *lines;

	(void)state;
	logger_open(&logger, collector);
	lpl_log_event(&logger.log, (struct lpl_log_time){ 5, false }, &record);
	logger_close(&logger);
	asked = lpl_collector_status_line(collector, &pace);
	assert_non_null(asked);
	json_t *answer = parse(asked);
	assert_string_equal(string(answer, "state"), "running");
	json_decref(answer);
	free(asked);
	assert_int_equal(lpl_collector_close(collector, "quit", "enough", &report), LPL_OK);

	lines = fopen(in_directory("run"), "r");
	assert_non_null(lines);
	while (fgets(line, sizeof(line), lines)) {
		json_decref(last);
		last = parse(line);
		if (!first)
			first = json_incref(last);
	}
	assert_int_equal(fclose(lines), 0);
	assert_string_equal(string(first, "state"), "running");
	assert_string_equal(string(last, "state"), "ended");
	assert_string_equal(string(last, "end"), "quit");
	assert_string_equal(string(last, "message"), "enough");
	assert_string_equal(string(last, "trace"), in_directory("watched.lpl"));
	assert_string_equal(string(json_object_get(last, "mark"), "text"), "half");
	assert_int_equal(integer(json_object_get(last, "mark"), "instruction"), 5);
	assert_true(exists("watched.lpl"));
	json_decref(first);
	json_decref(last);
}

static void count_complaint(void *context, const char *text)
{
	assert_non_null(strstr(text, "status file"));
	++*(int *)context;
}

/* What cannot be written is reported once, and the collection goes on. */
static void a_full_disk_is_reported_once(void **state)
{
	int complaints = 0;
	struct lpl_collector *collector;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	set_limit(0);
	collector = collect(in_directory("nothing"), LPL_STAGE_REDUCE, count_complaint,
			    &complaints);
	finish(collector);
	set_limit(RLIM_INFINITY);
	assert_int_equal(complaints, 1);
	assert_false(exists("nothing"));
}

/* No trace is begun where the status file is refused, and no status file where the trace is. */
static void nothing_is_begun(void **state)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_meta *meta = lpl_meta_new();
	struct lpl_collector *collector = (void *)&report;
	struct lpl_plan plan;
	struct lpl_collector_options options = {
		.path = in_directory("new.lpl"), .plan = &plan, .meta = meta,
		.stage = LPL_STAGE_FILE, .status_fd = -1, .log = true, .status_path = "/dev/null",
	};

	(void)state;
	assert_int_equal(lpl_plan_parse(&plan, "none", &report), LPL_OK);
	assert_int_equal(lpl_collector_open(&collector, &options, &report), LPL_ERR_USAGE);
	assert_null(collector);
	assert_false(exists("new.lpl.part"));
	options.path = "/nowhere/new.lpl";
	options.status_path = in_directory("new");
	assert_int_equal(lpl_collector_open(&collector, &options, &report), LPL_ERR_IO);
	assert_false(exists("new"));
	lpl_meta_free(meta);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_has_all),
		cmocka_unit_test(a_disk_may_not_matter),
		cmocka_unit_test(rates_are_per_second),
		cmocka_unit_test(rates_are_of_what_is_recorded),
		cmocka_unit_test(the_last_mark_counts),
		cmocka_unit_test(texts_are_characters),
		cmocka_unit_test(other_files_are_refused),
		cmocka_unit_test(the_trace_is_refused),
		cmocka_unit_test(lines_go_after_those_before),
		cmocka_unit_test(no_room_for_a_line),
		cmocka_unit_test(a_run_is_reported_from_start_to_end),
		cmocka_unit_test(a_full_disk_is_reported_once),
		cmocka_unit_test(nothing_is_begun),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
