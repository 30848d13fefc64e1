/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What can be read of a recording's file before its end: a flush makes readable all that
 * happened, it is asked for in time, and each chunk knows what it stands for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "sender.h"

#define PATIENCE 6000		/* hundredths of a second until something is taken for hanging */

static void nap(void)
{
	(void)nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
}

/* ---- each chunk's totals ---- */

struct chunk {
	struct lpl_totals totals;
	uint64_t last_ref;
	size_t records;		/* in the file, this chunk included */
};

struct chunks {
	struct chunk chunk[512];
	size_t count;
	struct lpl_totals end;
};

static void read_chunks(struct chunks *chunks, const char *path)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_reader *reader = NULL;
	size_t records = 0;

	chunks->count = 0;
	assert_int_equal(lpl_reader_open(&reader, path, &report), LPL_OK);
	for (uint32_t sequence = 0;;) {
		const struct lpl_chunk *chunk;
		const struct lpl_event *event;
		const struct lpl_ref *refs;
		size_t count;

		assert_int_equal(lpl_reader_next(reader, &refs, &count, &event, &report), LPL_OK);
		if (count == 0 && !event)
			break;
		chunk = lpl_reader_chunk(reader);
		if (chunk->sequence == sequence)
			continue;
		sequence = chunk->sequence;
		records += chunk->refs + chunk->events;
		assert_true(chunks->count < sizeof(chunks->chunk) / sizeof(chunks->chunk[0]));
		chunks->chunk[chunks->count++] = (struct chunk){
			*lpl_reader_totals(reader), chunk->last_ref, records
		};
	}
	chunks->end = *lpl_reader_totals(reader);
	lpl_reader_close(reader);
}

/* References, events and what the tracer left out, over the first records of a stream. */
static struct lpl_totals count_first(const struct stream *stream, size_t records)
{
	struct stream first = { .items = stream->items, .count = records };
	struct lpl_totals totals = count(&first);

	for (size_t i = 0; i < records; i++)
		totals.events += stream->items[i].is_event;
	totals.tracer_refs = 3 * totals.events;
	return totals;
}

/* As a simulator does: before an event it leaves out what the tracer does for it. */
static void log_exactly(struct logger *logger, const struct stream *stream)
{
	for (size_t i = 0; i < stream->count; i++) {
		if (stream->items[i].is_event)
			log_left_out(logger, 3);
		log_item(logger, &stream->items[i]);
	}
}

static void assert_same_totals(const struct lpl_totals *found, struct lpl_totals expected)
{
	expected.wait_ns = 0;	/* host time has no place in a run that is to repeat */
	assert_int_equal(found->recording.elapsed_ns, 0);
	expected.recording = found->recording;	/* test_collector tries it */
	assert_memory_equal(found, &expected, sizeof(expected));
}

/* Chunks that are full of references; and of runs, which are flushed before they are full. */
static void totals_of_all_references(void **state)
{
	static const struct {
		const char *spec;
		size_t flushed;			/* after so many records */
	} methods[] = { { "none+none", 300000 }, { "none", 60000 } };

	(void)state;
	for (size_t m = 0; m < 2; m++) {
		struct lpl_collector *collector;
		struct logger logger;
		struct chunks chunks;
		struct stream sent;

		simulate(&sent, 300000, 11);
		collector = start(methods[m].spec, in_directory("totals.lpl"), LPL_STAGE_FILE, -1);
		logger_open(&logger, collector);
		for (size_t i = 0; i < sent.count; i += methods[m].flushed) {
			const struct stream part = { .items = sent.items + i,
						     .count = methods[m].flushed };

			log_exactly(&logger, &part);
			lpl_log_flush(&logger.log, logger.now);
		}
		logger_close(&logger);
		finish(collector);
		read_chunks(&chunks, in_directory("totals.lpl"));
		assert_true(chunks.count > 4);
		for (size_t i = 0; i < chunks.count; i++)
			assert_same_totals(&chunks.chunk[i].totals,
					   count_first(&sent, chunks.chunk[i].records));
		assert_same_totals(&chunks.end, count_first(&sent, sent.count));
		stream_free(&sent);
	}
}

static void totals_of_windows(void **state)
{
	struct lpl_collector *collector;
	struct stream sent, kept;
	struct chunks chunks;

	(void)state;
	simulate(&sent, 200000, 12);
	collector = start("window:9", in_directory("totals.lpl"), LPL_STAGE_FILE, -1);
	put_windows(&(struct sender){ lpl_collector_ring(collector), 0 }, &sent, &kept, 12);
	finish(collector);
	read_chunks(&chunks, in_directory("totals.lpl"));
	assert_true(chunks.count > 2);
	for (size_t i = 0; i < chunks.count; i++) {
		const struct chunk *chunk = &chunks.chunk[i];

		assert_same_totals(&chunk->totals, (struct lpl_totals){
			.total = chunk->last_ref,
			.events = count_first(&kept, chunk->records).events,
			.tracer_refs = count_first(&kept, chunk->records).tracer_refs,
		});
	}
	assert_int_equal(chunks.end.total, count(&sent).total);
	assert_int_equal(chunks.end.tracer_refs, count_first(&sent, sent.count).tracer_refs);
	stream_free(&sent);
	stream_free(&kept);
}

/* A reducer holds back what was counted already: of types nothing is said, or the truth. */
static void totals_of_what_is_held(void **state)
{
	struct lpl_collector *collector;
	struct logger logger;
	struct chunks chunks;
	struct stream sent;

	(void)state;
	simulate(&sent, 300000, 13);
	collector = start("sad-ws:40", in_directory("totals.lpl"), LPL_STAGE_FILE, -1);
	logger_open(&logger, collector);
	log_exactly(&logger, &sent);
	logger_close(&logger);
	finish(collector);
	read_chunks(&chunks, in_directory("totals.lpl"));
	assert_true(chunks.count > 2);
	for (size_t i = 0; i < chunks.count; i++) {
		const struct lpl_totals *found = &chunks.chunk[i].totals;
		struct lpl_totals expected = { .total = chunks.chunk[i].last_ref };
		size_t records = 0;

		while (records < sent.count && (sent.items[records].is_event ||
						sent.items[records].ref.ref <= expected.total))
			records++;
		if (found->refs[LPL_READ] != 0)
			expected = count_first(&sent, records);
		assert_int_equal(found->total, expected.total);
		assert_memory_equal(found->refs, expected.refs, sizeof(expected.refs));
		assert_int_equal(found->user_refs, expected.user_refs);
		assert_true(found->events <= count_first(&sent, sent.count).events);
	}
	assert_same_totals(&chunks.end, count_first(&sent, sent.count));
	stream_free(&sent);
}

/* ---- a flush ---- */

/* Wait until the file that is being written holds so many records; read them. */
static void read_part(struct stream *found, const char *path, size_t records)
{
	char part[256];

	(void)snprintf(part, sizeof(part), "%s.part", path);
	for (int tries = 0; tries < PATIENCE; tries++) {
		struct lpl_report report = { .error = LPL_OK };
		struct lpl_reader *reader = NULL;

		stream_init(found);
		if (lpl_reader_open(&reader, part, &report) == LPL_OK)
			(void)lpl_reader_run(reader, &found->sink, &report);
		lpl_reader_close(reader);
		/* it may have been read while the last chunk was being written */
		if (found->count >= records)
			return;
		stream_free(found);
		nap();
	}
	fail_msg("%s did not get its %zu records", part, records);
}

/* What SPEC makes of the parts when it is flushed after each. */
static void reduce_parts(const char *spec, const struct stream *parts, size_t count,
			 struct stream *reduced)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_reducer *reducer;

	stream_init(reduced);
	assert_int_equal(lpl_reducer_open(&reducer, NULL, spec, &reduced->sink, &report), LPL_OK);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(stream_send(&parts[i], 0, parts[i].count,
					     lpl_reducer_sink(reducer), i, &report), LPL_OK);
		assert_int_equal(lpl_reducer_flush(reducer, &report), LPL_OK);
	}
	lpl_reducer_close(reducer);
}

static void a_flush_makes_all_readable(void **state)
{
	static const struct {
		const char *spec, *rest;
		bool windows;
	} methods[] = {
		{ "none", "none", false }, { "sad-ws:500", "sad-ws:500", false },
		{ "block", "block", false }, { "window:9", "none", true },
		{ "sad:9", "fence+sad:9", true },
	};
	enum { PARTS = 3, RECORDS = 4000 };

	(void)state;
	for (size_t m = 0; m < sizeof(methods) / sizeof(methods[0]); m++) {
		const char *path = in_directory("flush.lpl");
		struct stream sent, kept[PARTS];
		struct lpl_collector *collector;
		struct sender sender;
		struct logger logger;

		simulate(&sent, PARTS * RECORDS, m + 1);
		collector = start(methods[m].spec, path, LPL_STAGE_FILE, -1);
		sender = (struct sender){ lpl_collector_ring(collector), 0 };
		if (!methods[m].windows)
			logger_open(&logger, collector);
		for (size_t i = 0; i < PARTS; i++) {
			struct stream part = { .items = sent.items + i * RECORDS,
					       .count = RECORDS };
			struct stream found, expected;

			if (methods[m].windows) {
				put_windows(&sender, &part, &kept[i], m);
				assert_true(put(sender.ring, 0, 0, 0,
						LPL_WIRE_KIND(LPL_WIRE_FLUSH)));
				lpl_ring_publish(sender.ring);
			} else {
				stream_init(&kept[i]);
				for (size_t j = 0; j < RECORDS; j++)
					*stream_add(&kept[i]) = part.items[j];
				log_exactly(&logger, &part);
				lpl_log_flush(&logger.log, logger.now);
			}
			reduce_parts(methods[m].rest, kept, i + 1, &expected);
			read_part(&found, path, expected.count);
			assert_same(&expected, &found, m + 1);
			stream_free(&found);
			stream_free(&expected);
		}
		if (!methods[m].windows)
			logger_close(&logger);
		finish(collector);
		for (size_t i = 0; i < PARTS; i++)
			stream_free(&kept[i]);
		stream_free(&sent);
	}
}

/* ---- in time ---- */

static void note(void *context)
{
	atomic_fetch_add((atomic_int *)context, 1);
}

/* The simulator is asked though it sends nothing, and again until it answers. */
static void a_flush_is_asked_for(void **state)
{
	atomic_int asked = 0;
	const struct lpl_collector_options options = {
		.flush_ns = 1, .flush_due = note, .context = &asked
	};
	struct lpl_collector *collector = start_flushing("none", in_directory("asked.lpl"),
							 LPL_STAGE_FILE, -1, &options);

	(void)state;
	for (int tries = 0; tries < PATIENCE && atomic_load(&asked) < 3; tries++)
		nap();
	assert_true(atomic_load(&asked) >= 3);
	finish(collector);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(totals_of_all_references),
		cmocka_unit_test(totals_of_windows),
		cmocka_unit_test(totals_of_what_is_held),
		cmocka_unit_test(a_flush_makes_all_readable),
		cmocka_unit_test(a_flush_is_asked_for),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
