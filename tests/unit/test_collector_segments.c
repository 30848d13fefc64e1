/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A recording in segments: they hold what one file would, cut where the stream says, and each is
 * reduced as if the trace began there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "collected.h"

#define RECORDS 120000
#define PARTS	3
#define EACH	10000	/* records of a part */

/*
 * What SPEC makes of the parts when it is flushed after each, or, if it `keeps` something then,
 * of each alone; end[i]: of the first i + 1.
 */
static void reduce_parts(const char *spec, bool keeps, const struct stream *parts, size_t *end,
			 struct stream *reduced)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_reducer *reducer;

	stream_init(reduced);
	assert_int_equal(lpl_reducer_open(&reducer, NULL, spec, &reduced->sink, &report), LPL_OK);
	for (size_t i = 0; i < PARTS; i++) {
		assert_int_equal(stream_send(&parts[i], 0, parts[i].count,
					     lpl_reducer_sink(reducer), i, &report), LPL_OK);
		if (keeps) {
			struct lpl_sink *all = lpl_reducer_sink(reducer);

			assert_int_equal(all->finish(all, &report), LPL_OK);
			lpl_reducer_close(reducer);
			assert_int_equal(lpl_reducer_open(&reducer, NULL, spec, &reduced->sink,
							  &report), LPL_OK);
		} else {
			assert_int_equal(lpl_reducer_flush(reducer, &report), LPL_OK);
		}
		end[i] = reduced->count;
	}
	lpl_reducer_close(reducer);
}

/* The simulator asks for a segment's end, and it is just there. */
static void segments_end_where_they_are_asked_to(void **state)
{
	(void)state;
	for (size_t m = 0; m < METHODS; m++) {
		struct lpl_collector *collector = start_segments(methods[m].spec,
			"run.lpl", &(struct lpl_collector_options){ .ring_records = 1024 });
		struct sender sender = { lpl_collector_ring(collector), 0 };
		struct stream sent, kept[PARTS], expected;
		struct logger logger = { .now = { 0 } };
		struct trace trace;
		size_t end[PARTS];

		simulate(&sent, PARTS * EACH, m + 1);
		if (!methods[m].windows)
			logger_open(&logger, collector);
		for (size_t i = 0; i < PARTS; i++) {
			struct stream part = { .items = sent.items + i * EACH, .count = EACH };

			if (methods[m].windows) {
				put_windows(&sender, &part, &kept[i], m);
				if (i + 1 < PARTS)
					assert_true(put(sender.ring, LPL_WIRE_ROTATE, 0, 0,
							LPL_WIRE_KIND(LPL_WIRE_FLUSH)));
				lpl_ring_publish(sender.ring);
			} else {
				stream_init(&kept[i]);
				for (size_t j = 0; j < EACH; j++) {
					*stream_add(&kept[i]) = part.items[j];
					log_item(&logger, &part.items[j]);
				}
				if (i + 1 < PARTS)
					lpl_log_rotate(&logger.log, logger.now);
			}
		}
		if (!methods[m].windows)
			logger_close(&logger);
		finish(collector);

		assert_int_equal(count_segments("run"), PARTS);
		reduce_parts(methods[m].rest, methods[m].keeps, kept, end, &expected);
		read_trace(&trace, in_directory("run.lpl"));
		assert_same(&expected, &trace.stream, m);
		assert_int_equal(trace.totals.total, count(&sent).total);
		stream_free(&trace.stream);
		for (unsigned int i = 0; i < PARTS; i++) {
			const size_t first = i > 0 ? end[i - 1] : 0;
			const struct stream part = { .items = expected.items + first,
						     .count = end[i] - first };

			read_trace(&trace, in_directory(segment_name("run", i + 1)));
			if (i > 0)
				drop_state(&trace.stream);
			assert_same(&part, &trace.stream, m);
			assert_string_equal(trace.title, "a test");
			stream_free(&trace.stream);
		}
		stream_free(&expected);
		for (size_t i = 0; i < PARTS; i++)
			stream_free(&kept[i]);
		stream_free(&sent);
	}
}

/* Segments of a size, with a large ring or a small one. */
static void collect_sized(size_t m, const struct stream *sent, struct stream *kept,
			  size_t ring_records, struct lpl_segment_size size)
{
	struct lpl_collector *collector = start_segments(methods[m].spec, "run.lpl",
		&(struct lpl_collector_options){ .ring_records = ring_records, .segment = size });
	struct logger logger;

	if (methods[m].windows) {
		put_windows(&(struct sender){ lpl_collector_ring(collector), 0 }, sent, kept, m);
	} else {
		stream_init(kept);
		logger_open(&logger, collector);
		for (size_t j = 0; j < sent->count; j++) {
			*stream_add(kept) = sent->items[j];
			log_item(&logger, &sent->items[j]);
		}
		logger_close(&logger);
	}
	finish(collector);
}

static const char *first_name(unsigned int number)
{
	static char name[64];

	(void)snprintf(name, sizeof(name), "first.%u", number);
	return name;
}

/* How the ring is read, by a quick thread or a slow one, is no matter. */
static void segments_repeat(void **state)
{
	/* the windows of these tests have no instructions */
	static const struct {
		size_t method;
		struct lpl_segment_size size;
	} trials[] = {
		{ 0, { .instructions = 5000 } }, { 1, { .bytes = 50000 } },
		{ 1, { .instructions = 5000 } }, { 2, { .instructions = 5000 } },
		{ 3, { .bytes = 50000 } }, { 4, { .bytes = 50000 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++) {
		const size_t m = trials[i].method;
		struct stream sent, kept;
		unsigned int segments;
		struct trace trace;

		simulate(&sent, RECORDS, m + 1);
		collect_sized(m, &sent, &kept, 1 << 20, trials[i].size);
		stream_free(&kept);
		segments = count_segments("run");
		assert_true(segments > (trials[i].size.bytes ? 1 : 3));
		for (unsigned int n = 1; n <= segments; n++) {
			char path[256];

			(void)snprintf(path, sizeof(path), "%s", in_directory(segment_name("run", n)));
			assert_int_equal(rename(path, in_directory(first_name(n))), 0);
		}
		collect_sized(m, &sent, &kept, 1024, trials[i].size);
		assert_int_equal(count_segments("run"), segments);
		/* the last one says how much went through the ring */
		for (unsigned int n = 1; n < segments; n++)
			assert_same_file(first_name(n), segment_name("run", n));
		read_trace(&trace, in_directory("run.lpl"));
		if (strcmp(methods[m].rest, "none") == 0)
			assert_same(&kept, &trace.stream, m);
		assert_int_equal(trace.totals.total, count(&sent).total);
		stream_free(&trace.stream);
		stream_free(&kept);
		stream_free(&sent);
	}
}

/* Of a first pass there is no file that could be forced to the disk, however often that is to be done. */
static void what_is_counted_is_in_no_file(void **state)
{
	struct lpl_collector *collector = start_segments("none", "counted.lpl",
		&(struct lpl_collector_options){ .ring_records = 1024, .pass = LPL_PASS_COUNT, .sync_ns = 1 });
	struct stream sent;
	struct logger logger;

	(void)state;
	simulate(&sent, EACH, 1);
	logger_open(&logger, collector);
	for (size_t i = 0; i < sent.count; i++)
		log_item(&logger, &sent.items[i]);
	logger_close(&logger);
	finish(collector);
	assert_false(exists(segment_name("counted", 1)));
	stream_free(&sent);
}

static void sizes_are_read(void **state)
{
	static const struct {
		const char *spec;
		uint64_t bytes, instructions;
	} good[] = {
		{ "bytes:4G", UINT64_C(4000000000), 0 }, { "bytes:1000000", 1000000, 0 },
		{ "instructions:20M", 0, 20000000 },
		{ "instructions:1T+bytes:5000k", 5000000, UINT64_C(1000000000000) },
		{ "bytes:5000k,instructions:1T", 5000000, UINT64_C(1000000000000) },
	};
	static const char *const bad[] = {
		"", "4G", "bytes", "bytes:", "bytes:0", "bytes:999999", "bytes:4g", "bytes:4GB",
		"bytes:-4G", "bytes:1G+", "bytes:1G+bytes:2G", "bytes:1G, instructions:1G",
		"byte:1G", "bytes:99999999999T", "instructions: 1G", "bytes:18446744073709551616",
	};
	struct lpl_report report;
	struct lpl_segment_size size;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(lpl_segment_size_parse(&size, good[i].spec, &report), LPL_OK);
		assert_int_equal(size.bytes, good[i].bytes);
		assert_int_equal(size.instructions, good[i].instructions);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		report.error = LPL_OK;
		assert_int_equal(lpl_segment_size_parse(&size, bad[i], &report), LPL_ERR_USAGE);
		assert_int_equal(report.error, LPL_ERR_USAGE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(segments_end_where_they_are_asked_to),
		cmocka_unit_test(segments_repeat),
		cmocka_unit_test(what_is_counted_is_in_no_file),
		cmocka_unit_test(sizes_are_read),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
