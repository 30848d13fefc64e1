/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Trace files, written and read through the public interface: what goes in comes
 * out, what must not go in does not, and the bytes repeat.
 */
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "trace_file.h"

static void round_trips(void **unused)
{
	static const size_t chunk_refs[] = { 1, 7, 256, 1000, 0 };
	static const size_t counts[] = { 0, 1, 300, 6000 };
	uint64_t seed = 1;

	(void)unused;
	for (size_t c = 0; c < 4; c++)
		for (size_t k = 0; k < 5; k++)
			for (int style = 0; style < STREAM_STYLES; style++, seed++) {
				struct stream stream;
				struct result result;
				struct bytes file;
				size_t same;

				if (counts[c] / (chunk_refs[k] + 1) >= CHUNKS_MAX)
					continue;
				stream_random(&stream, counts[c], (enum stream_style)style, seed);
				write_file("round.lpl", &stream, chunk_refs[k], seed);
				assert_false(exists("round.lpl.part"));
				file = load("round.lpl");
				read_bytes(&result, file.data, file.size);
				if (result.opened != LPL_OK || result.read != LPL_OK)
					fail_msg("seed %" PRIu64 ": %s", seed, result.report.text);
				assert_true(result.complete);
				assert_int_equal(result.stream.count, stream.count);
				same = stream_difference(&stream, &result.stream, stream.count);
				if (same != stream.count)
					fail_msg("seed %" PRIu64 ": record %zu differs", seed, same);
				free(file.data);
				stream_free(&stream);
				stream_free(&result.stream);
			}
}

/* The extremes a difference can take. */
static void extreme_values(void **unused)
{
	static const uint64_t addresses[] = {
		0, UINT64_MAX, 0, UINT64_C(1) << 63, UINT64_MAX, (UINT64_C(1) << 63) - 1, 0
	};
	struct stream stream;
	struct result result;
	struct bytes file;
	uint64_t clock = 0;

	(void)unused;
	stream_init(&stream);
	for (int paged = 0; paged < 2; paged++)
		for (size_t i = 0; i < 7; i++) {
			struct lpl_ref *r = &stream_add(&stream)->ref;

			r->ref = ++clock;
			r->address = paged ? addresses[i] & ~UINT64_C(4095) : addresses[i];
			r->space = addresses[6 - i];
			r->length = paged ? 0 : 4096;
			r->flags = paged ? LPL_PAGED : 0;
		}
	for (int i = 0; i < 2; i++) {
		struct item *item = stream_add(&stream);

		item->is_event = i == 0;
		if (i == 0) {
			struct lpl_event *e = &item->event;

			e->ref = UINT64_MAX - 1;
			e->instr = UINT64_MAX - 1;
			e->cycle = UINT64_MAX;
			e->space = UINT64_MAX;
			e->tag = e->tid = e->tgid = UINT32_MAX;
			memset(e->arg, 0xff, sizeof(e->arg));
			e->text_length = KTR_TEXT;
			memset(e->text, 0xff, sizeof(e->text));
		} else {
			item->ref = (struct lpl_ref){
				.ref = UINT64_MAX, .instr = UINT64_MAX, .cycle = UINT64_MAX,
				.length = 1,
			};
		}
	}
	write_file("extreme.lpl", &stream, 0, 1);
	file = load("extreme.lpl");
	read_bytes(&result, file.data, file.size);
	assert_int_equal(result.read, LPL_OK);
	assert_int_equal(result.stream.count, stream.count);
	assert_int_equal(stream_difference(&stream, &result.stream, stream.count), stream.count);
	free(file.data);
	stream_free(&stream);
	stream_free(&result.stream);
}

/* References before reduction: all of them, or by type too, but then they add up. */
static void totals_add_up(void **unused)
{
	static const struct lpl_totals good = { .total = 99 }, also = { .total = 9, .refs = { 4, 5 } },
				       bad = { .total = 10, .refs = { 4, 5 } };
	static const struct lpl_totals *const totals[] = { &good, &also, &bad };
	static const struct lpl_ref ref = { .ref = 1, .length = 1 };

	(void)unused;
	for (int i = 0; i < 3; i++) {
		struct lpl_writer *writer = start(in_directory("totals.lpl"), 0, true);
		struct lpl_report report = { .error = LPL_OK };
		struct result result;
		struct layout layout;
		struct bytes file;

		assert_int_equal(lpl_writer_sink(writer)->refs(lpl_writer_sink(writer), &ref, 1,
							       &report), LPL_OK);
		lpl_writer_totals(writer, totals[i]);
		if (totals[i] == &bad) {
			assert_int_equal(lpl_writer_close(writer, &report), LPL_ERR_USAGE);
			continue;
		}
		assert_int_equal(lpl_writer_close(writer, &report), LPL_OK);
		file = load("totals.lpl");
		read_bytes(&result, file.data, file.size);
		assert_int_equal(result.read, LPL_OK);
		/* the last eight of a header before its two checksums: one reference was made
		 * until the chunk's end, all that were reported until the trace's */
		lay_out(&layout, &file);
		assert_int_equal(layout.count, 3);
		assert_true(little_endian(file.data + layout.offset[1] + 120, 8) == 1);
		assert_true(little_endian(file.data + layout.offset[2] + 120, 8) ==
			    totals[i]->total);
		free(file.data);
		stream_free(&result.stream);
	}
}

/* Totals that run backwards are not taken: no reader would take the rest. */
static void totals_do_not_run_backwards(void **unused)
{
	static const struct lpl_totals more = { .total = 9, .events = 2 },
				       less = { .total = 9, .events = 1 };
	static const struct lpl_ref ref = { .ref = 1, .length = 1 };
	struct lpl_writer *writer = start(in_directory("less.lpl"), 0, true);
	struct lpl_report report = { .error = LPL_OK };

	(void)unused;
	lpl_writer_totals(writer, &more);
	lpl_writer_totals(writer, &more);
	assert_int_equal(lpl_writer_sink(writer)->refs(lpl_writer_sink(writer), &ref, 1, &report),
			 LPL_OK);
	lpl_writer_totals(writer, &less);
	assert_int_equal(lpl_writer_close(writer, &report), LPL_ERR_USAGE);
	assert_non_null(strstr(report.text, "backwards"));
	assert_false(exists("less.lpl"));
}

/* What may replace a file does not replace one that another process is writing. */
static void two_writers_of_one_name(void **unused)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_writer *writer = start(in_directory("two.lpl"), 0, true), *other;
	struct lpl_meta *meta = some_meta();
	static const struct lpl_ref ref = { .ref = 1, .length = 1 };
	struct result result;
	struct bytes file;

	(void)unused;
	assert_int_equal(lpl_writer_open(&other, in_directory("two.lpl"), meta, NULL, true, &report),
			 LPL_ERR_USAGE);
	assert_null(other);
	assert_non_null(strstr(report.text, "two.lpl.part"));
	report = (struct lpl_report){ .error = LPL_OK };
	assert_int_equal(lpl_writer_sink(writer)->refs(lpl_writer_sink(writer), &ref, 1, &report),
			 LPL_OK);
	assert_int_equal(lpl_writer_close(writer, &report), LPL_OK);
	file = load("two.lpl");
	read_bytes(&result, file.data, file.size);
	assert_int_equal(result.read, LPL_OK);
	assert_int_equal(result.stream.count, 1);
	free(file.data);
	stream_free(&result.stream);
	/* what was left is replaced, and the name can be written again */
	lpl_writer_abandon(start(in_directory("two.lpl"), 0, true));
	assert_int_equal(lpl_writer_close(start(in_directory("two.lpl"), 0, true), &report), LPL_OK);
	lpl_meta_free(meta);
}

/* The number that the record before item `end` has. */
static uint64_t last_number(const struct stream *stream, size_t end)
{
	const struct item *item = &stream->items[end - 1];

	return item->is_event ? item->event.ref : item->ref.ref;
}

/* What is known of a trace besides its records. */
static void describes_itself(void **unused)
{
	struct lpl_totals totals = { .refs = { 0, 4, 3, 2, 1 }, .user_refs = 9,
				     .tracer_refs = 8, .events = 7, .wait_ns = 6 };
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_meta *expected = some_meta();
	const struct lpl_event *event;
	const struct lpl_chunk *chunk;
	const struct lpl_ref *refs;
	const char *key, *value, *key2, *value2;
	struct lpl_writer *writer;
	struct lpl_reader *reader;
	struct stream stream;
	struct bytes file;
	struct layout layout;
	size_t count, first = 0, third;
	uint64_t last_ref = 0;

	(void)unused;
	stream_random(&stream, 900, STREAM_PAGED, 5);
	third = stream.count / 3;
	writer = start(in_directory("self.lpl"), 0, true);
	for (uint64_t part = 0; part < 3; part++) {
		assert_int_equal(stream_send(&stream, part * third, third,
					     lpl_writer_sink(writer), part, &report), LPL_OK);
		/* in the second part, counted as of one reference later */
		totals.refs[0] = last_number(&stream, (part + 1) * third) - (4 + 3 + 2 + 1) +
				 (part == 1);
		lpl_writer_totals(writer, &totals);
		assert_int_equal(lpl_writer_flush(writer, &report), LPL_OK);
		/* nothing pending: no empty chunk */
		assert_int_equal(lpl_writer_flush(writer, &report), LPL_OK);
		file = load("self.lpl.part");
		assert_true(lpl_writer_bytes(writer) == file.size);
		free(file.data);
	}
	totals.wait_ns = 1234567;
	lpl_writer_totals(writer, &totals);
	assert_int_equal(lpl_writer_close(writer, &report), LPL_OK);
	file = load("self.lpl");
	lay_out(&layout, &file);
	assert_int_equal(layout.count, 5);
	/* no accounts, no version that older readers do not know */
	assert_int_equal(little_endian(file.data + layout.offset[4] + 8, 2), 1);

	assert_int_equal(lpl_reader_open(&reader, in_directory("self.lpl"), &report), LPL_OK);
	assert_true(lpl_reader_size(reader) == file.size);
	assert_int_equal(lpl_meta_count(lpl_reader_meta(reader)), lpl_meta_count(expected));
	for (size_t i = 0; i < lpl_meta_count(expected); i++) {
		lpl_meta_at(expected, i, &key, &value);
		lpl_meta_at(lpl_reader_meta(reader), i, &key2, &value2);
		assert_string_equal(key, key2);
		assert_string_equal(value, value2);
	}
	for (uint32_t sequence = 0;;) {
		assert_int_equal(lpl_reader_next(reader, &refs, &count, &event, &report), LPL_OK);
		if (count == 0 && !event)
			break;
		assert_false(lpl_reader_complete(reader));
		chunk = lpl_reader_chunk(reader);
		if (chunk->sequence != sequence) {
			uint64_t records = layout.records[sequence + 2] -
					   layout.records[sequence + 1];

			assert_int_equal(chunk->sequence, ++sequence);
			assert_int_equal(chunk->kind, 2);
			assert_true(chunk->offset == layout.offset[sequence]);
			assert_true(chunk->bytes ==
				    layout.offset[sequence + 1] - layout.offset[sequence]);
			assert_true(chunk->refs + chunk->events == records);
			assert_true(chunk->plain ==
				    little_endian(file.data + chunk->offset + 20, 4));
			assert_true(chunk->first_ref ==
				    (count > 0 ? refs[0].ref : event->ref));
			assert_true(lpl_reader_totals(reader)->total == chunk->last_ref);
			assert_int_equal(lpl_reader_totals(reader)->refs[1], sequence == 2 ? 0 : 4);
			assert_int_equal(lpl_reader_totals(reader)->user_refs,
					 sequence == 2 ? 0 : 9);
			assert_int_equal(lpl_reader_totals(reader)->tracer_refs, 8);
			assert_int_equal(lpl_reader_totals(reader)->wait_ns, 0);
			assert_true(first == 0 || last_ref <= chunk->first_ref);
			last_ref = chunk->last_ref;
		}
		first += count + (event != NULL);
	}
	assert_int_equal(first, stream.count);
	assert_true(lpl_reader_complete(reader));
	assert_true(lpl_reader_bytes(reader) == file.size);
	totals.total = last_number(&stream, 3 * third);
	assert_memory_equal(lpl_reader_totals(reader), &totals, sizeof(totals));
	/* the end remains the end */
	assert_int_equal(lpl_reader_next(reader, &refs, &count, &event, &report), LPL_OK);
	assert_true(count == 0 && !event);
	lpl_reader_close(reader);
	lpl_meta_free(expected);
	free(file.data);
	stream_free(&stream);
}

static void bytes_repeat(void **unused)
{
	struct stream stream;
	struct bytes a, b;

	(void)unused;
	for (int style = 0; style < STREAM_STYLES; style++) {
		stream_random(&stream, 20000, (enum stream_style)style, 16);
		write_file("a.lpl", &stream, 4096, 1);
		write_file("b.lpl", &stream, 4096, 2);
		a = load("a.lpl");
		b = load("b.lpl");
		assert_int_equal(a.size, b.size);
		assert_memory_equal(a.data, b.data, a.size);
		free(a.data);
		free(b.data);
		stream_free(&stream);
	}
}

/* Chunks end after so many references or 4096 events, whatever the batches. */
static void chunks_end(void **unused)
{
	struct lpl_event event = { .tag = KTR_MARK };
	struct lpl_writer *writer = start(in_directory("ends.lpl"), 10, true);
	struct lpl_sink *sink = lpl_writer_sink(writer);
	struct lpl_ref refs[35];
	struct layout layout;
	struct bytes file;

	(void)unused;
	memset(refs, 0, sizeof(refs));
	for (size_t i = 0; i < 35; i++) {
		refs[i].ref = i + 1;
		refs[i].length = 1;
	}
	assert_int_equal(sink->refs(sink, refs, 35, NULL), LPL_OK);
	assert_true(lpl_writer_refs(writer) == 30);
	event.ref = 35;
	for (int i = 0; i < 5000; i++)
		assert_int_equal(sink->event(sink, &event, NULL), LPL_OK);
	assert_int_equal(sink->finish(sink, NULL), LPL_OK);
	assert_true(lpl_writer_refs(writer) == 35);
	assert_int_equal(lpl_writer_close(writer, NULL), LPL_OK);
	file = load("ends.lpl");
	lay_out(&layout, &file);
	assert_int_equal(layout.count, 7);	/* header, 3, 5 + 4096, 904, index */
	assert_int_equal(layout.records[2], 10);
	assert_int_equal(layout.records[4], 30);
	assert_int_equal(layout.records[5], 35 + 4096);
	assert_int_equal(layout.records[6], 35 + 5000);
	free(file.data);
}

/* Records that may not be written; each ends the file before it. */
static void refused_records(void **unused)
{
	static const struct {
		struct lpl_ref ref;
		enum lpl_error error;
	} refs[] = {
		{ { .ref = 10, .length = 1 }, LPL_ERR_ORDER },
		{ { .ref = 11, .length = 1, .instr = 4, .cycle = 10 }, LPL_ERR_ORDER },
		{ { .ref = 11, .length = 1, .instr = 5, .cycle = 9 }, LPL_ERR_ORDER },
		{ { .ref = 11, .length = 1, .instr = 5, .cycle = 10, .type = LPL_TYPES },
		  LPL_ERR_USAGE },
		{ { .ref = 11, .length = 1, .instr = 5, .cycle = 10, .type = 255 }, LPL_ERR_USAGE },
		{ { .ref = 11, .length = 1, .instr = 5, .cycle = 10, .flags = 16 }, LPL_ERR_USAGE },
		{ { .ref = 11, .length = 1, .instr = 5, .cycle = 10, .reserved = 1 },
		  LPL_ERR_USAGE },
		{ { .ref = 11, .length = 0, .instr = 5, .cycle = 10 }, LPL_ERR_USAGE },
		{ { .ref = 11, .length = 4097, .instr = 5, .cycle = 10 }, LPL_ERR_USAGE },
		{ { .ref = 11, .length = 1, .instr = 5, .cycle = 10, .flags = LPL_PAGED },
		  LPL_ERR_USAGE },
		{ { .ref = 11, .instr = 5, .cycle = 10, .flags = LPL_PAGED, .address = 1 },
		  LPL_ERR_USAGE },
	};
	static const struct {
		struct lpl_event event;
		enum lpl_error error;
	} events[] = {
		{ { .ref = 9, .instr = 5, .cycle = 10 }, LPL_ERR_ORDER },
		{ { .ref = 10, .instr = 4, .cycle = 10 }, LPL_ERR_ORDER },
		{ { .ref = 10, .instr = 5, .cycle = 9 }, LPL_ERR_ORDER },
		{ { .ref = 10, .instr = 5, .cycle = 10, .text_length = KTR_TEXT + 1 },
		  LPL_ERR_USAGE },
	};
	static const struct lpl_ref good = { .ref = 3, .length = 1, .instr = 2, .cycle = 2 };
	static const struct lpl_event mark = { .ref = 10, .instr = 5, .cycle = 10 };
	size_t ref_cases = sizeof(refs) / sizeof(refs[0]);
	size_t event_cases = sizeof(events) / sizeof(events[0]);

	(void)unused;
	for (size_t i = 0; i < ref_cases + event_cases; i++) {
		struct lpl_writer *writer = start(in_directory("bad.lpl"), 0, true);
		struct lpl_sink *sink = lpl_writer_sink(writer);
		struct lpl_report report = { .error = LPL_OK }, again = { .error = LPL_OK };
		struct result result;
		struct bytes part;
		enum lpl_error expected;

		assert_int_equal(sink->refs(sink, &good, 1, &report), LPL_OK);
		assert_int_equal(sink->event(sink, &mark, &report), LPL_OK);
		assert_int_equal(lpl_writer_flush(writer, &report), LPL_OK);
		if (i < ref_cases) {
			expected = refs[i].error;
			assert_int_equal(sink->refs(sink, &refs[i].ref, 1, &report), expected);
		} else {
			expected = events[i - ref_cases].error;
			assert_int_equal(sink->event(sink, &events[i - ref_cases].event, &report),
					 expected);
		}
		assert_int_equal(report.error, expected);
		assert_non_null(strstr(report.text, "bad.lpl"));
		assert_int_equal(lpl_writer_close(writer, &again), expected);
		assert_string_equal(report.text, again.text);
		assert_false(exists("bad.lpl"));
		part = load("bad.lpl.part");
		read_bytes(&result, part.data, part.size);
		assert_int_equal(result.read, LPL_OK);
		assert_int_equal(result.stream.count, 2);
		stream_free(&result.stream);
		free(part.data);
	}
}

static void refused_options(void **unused)
{
	static const struct lpl_writer_options options[] = {
		{ .level = 1000 }, { .level = INT32_MIN }, { .chunk_refs = (1U << 20) + 1 },
		{ .chunk_refs = SIZE_MAX },
	};
	struct lpl_meta *meta = some_meta();
	struct lpl_writer *writer;
	char *long_value = malloc((1U << 20) + 1);

	(void)unused;
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(lpl_writer_open(&writer, in_directory("option.lpl"), meta,
						 &options[i], false, NULL), LPL_ERR_USAGE);
		assert_null(writer);
		assert_false(exists("option.lpl.part"));
	}
	assert_non_null(long_value);
	memset(long_value, 'x', 1U << 20);
	long_value[1U << 20] = '\0';
	assert_int_equal(lpl_meta_set(meta, "long", long_value), LPL_OK);
	assert_int_equal(lpl_writer_open(&writer, in_directory("option.lpl"), meta, NULL, false,
					 NULL), LPL_ERR_USAGE);
	assert_false(exists("option.lpl.part"));
	free(long_value);
	lpl_meta_free(meta);
}

static void meta_is_a_map(void **unused)
{
	static const char *const bad[] = { "", "A", "a b", "a=b", "a\n", "\xc3\xa4" };
	struct lpl_meta *meta = lpl_meta_new(), *copy;
	const char *key, *value;
	char name[16];

	(void)unused;
	assert_non_null(meta);
	assert_int_equal(lpl_meta_set(meta, "b", "1"), LPL_OK);
	assert_int_equal(lpl_meta_set(meta, "a", "2"), LPL_OK);
	assert_int_equal(lpl_meta_set(meta, "b", "3"), LPL_OK);
	assert_int_equal(lpl_meta_set(meta, "a", "x\ny"), LPL_ERR_USAGE);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(lpl_meta_set(meta, bad[i], "1"), LPL_ERR_USAGE);
	copy = lpl_meta_copy(meta);
	assert_non_null(copy);
	assert_int_equal(lpl_meta_set(meta, "b", "4"), LPL_OK);
	assert_int_equal(lpl_meta_count(copy), 2);
	lpl_meta_at(copy, 0, &key, &value);
	assert_string_equal(key, "b");
	assert_string_equal(value, "3");
	assert_string_equal(lpl_meta_get(copy, "a"), "2");
	assert_string_equal(lpl_meta_get(meta, "b"), "4");
	assert_null(lpl_meta_get(meta, "c"));
	assert_null(lpl_meta_get(meta, ""));
	for (int i = 0; i < 1022; i++) {
		(void)snprintf(name, sizeof(name), "k%d", i);
		assert_int_equal(lpl_meta_set(meta, name, ""), LPL_OK);
	}
	assert_int_equal(lpl_meta_set(meta, "one-more", ""), LPL_ERR_USAGE);
	lpl_meta_free(meta);
	lpl_meta_free(copy);
}

static void interrupt(int number)
{
	(void)number;
}

/* From one process to another, with signals that interrupt both. */
static void pass_through_a_pipe(int pipe_flags)
{
	const struct itimerval often = { { 0, 2000 }, { 0, 2000 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = interrupt };	/* no SA_RESTART */
	struct lpl_report report = { .error = LPL_OK };
	struct stream stream, found;
	struct lpl_reader *reader;
	int ends[2], status, saved;
	pid_t child;

	stream_random(&stream, 30000, STREAM_WILD, 17);
	stream_init(&found);
	assert_int_equal(pipe2(ends, pipe_flags), 0);
	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		struct lpl_writer *writer;
		bool ok = dup2(ends[1], STDOUT_FILENO) == STDOUT_FILENO &&
			  close(ends[0]) == 0 && close(ends[1]) == 0 &&
			  setitimer(ITIMER_REAL, &often, NULL) == 0;

		writer = start("-", 3000, false);
		ok = ok && stream_send(&stream, 0, stream.count, lpl_writer_sink(writer), 1,
				       NULL) == LPL_OK;
		ok = lpl_writer_close(writer, NULL) == LPL_OK && ok;
		_exit(ok ? 0 : 1);
	}
	assert_int_equal(close(ends[1]), 0);
	saved = dup(STDIN_FILENO);
	assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
	assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
	if (lpl_reader_open(&reader, "-", &report) != LPL_OK ||
	    lpl_reader_run(reader, &found.sink, &report) != LPL_OK)
		fail_msg("%s", report.text);
	assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
	assert_true(lpl_reader_complete(reader));
	assert_true(lpl_reader_size(reader) == 0);
	assert_int_equal(found.count, stream.count);
	assert_int_equal(stream_difference(&stream, &found, stream.count), stream.count);
	lpl_reader_close(reader);
	if (saved >= 0) {
		assert_int_equal(dup2(saved, STDIN_FILENO), STDIN_FILENO);
		(void)close(saved);
	}
	(void)close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	stream_free(&stream);
	stream_free(&found);
}

static void through_a_pipe(void **unused)
{
	(void)unused;
	pass_through_a_pipe(0);
	pass_through_a_pipe(O_NONBLOCK);
}

/* The error of a sink is passed on, and the sink gets nothing more. */
struct failing_sink {
	struct lpl_sink sink;
	int calls;
};

static enum lpl_error fail_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	(void)refs;
	(void)count;
	((struct failing_sink *)sink)->calls++;
	return lpl_fail(report, LPL_ERR_UNSUPPORTED, "not today");
}

static enum lpl_error fail_event(struct lpl_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	(void)event;
	return fail_refs(sink, NULL, 0, report);
}

static enum lpl_error fail_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	return fail_refs(sink, NULL, 0, report);
}

static void failing_sinks(void **unused)
{
	static const size_t counts[] = { 0, 50 };

	(void)unused;
	for (size_t i = 0; i < 2; i++) {
		struct failing_sink sink = { { fail_refs, fail_event, fail_finish }, 0 };
		struct lpl_report report = { .error = LPL_OK };
		struct lpl_reader *reader;
		struct stream stream;

		stream_random(&stream, counts[i], STREAM_PAGED, 18);
		write_file("sink.lpl", &stream, 0, 1);
		assert_int_equal(lpl_reader_open(&reader, in_directory("sink.lpl"), NULL), LPL_OK);
		assert_int_equal(lpl_reader_run(reader, &sink.sink, &report), LPL_ERR_UNSUPPORTED);
		assert_string_equal(report.text, "not today");
		assert_int_equal(sink.calls, 1);
		lpl_reader_close(reader);
		stream_free(&stream);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trips),
		cmocka_unit_test(extreme_values),
		cmocka_unit_test(totals_add_up),
		cmocka_unit_test(totals_do_not_run_backwards),
		cmocka_unit_test(two_writers_of_one_name),
		cmocka_unit_test(describes_itself),
		cmocka_unit_test(bytes_repeat),
		cmocka_unit_test(chunks_end),
		cmocka_unit_test(refused_records),
		cmocka_unit_test(refused_options),
		cmocka_unit_test(meta_is_a_map),
		cmocka_unit_test(through_a_pipe),
		cmocka_unit_test(failing_sinks),
	};

	return cmocka_run_group_tests_name("container", tests, make_directory,
					   remove_directory);
}
