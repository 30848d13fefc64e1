/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Traces in segments: however a stream is cut, what is read is the stream; and whatever becomes
 * of a segment or the manifest, nothing else is reported for it.
 */
#include <dirent.h>
#include <errno.h>

#include "segmented.h"

#include "container/chunk.h"

/* Which way the records are kept. */
static const struct {
	enum stream_style style;
	bool runs;
} ways[] = {
	{ STREAM_RAW, false }, { STREAM_RAW, true }, { STREAM_PAGED, false }, { STREAM_WILD, true },
};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

/* ---- whole ---- */

static void cuts_do_not_show(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 16; seed++) {
		const size_t way = seed % WAYS;
		size_t cut[16] = { 0 }, count = 1 + seed * 7 % 13;
		uint64_t random = seed, bytes = 0;
		struct lpl_report report = { .error = LPL_OK };
		struct result one, cut_up;
		struct lpl_reader *reader;
		struct stream stream;
		struct bytes file;

		stream_random(&stream, RECORDS / 4, ways[way].style, seed);
		/* some come one after the other, with one record between them */
		for (size_t i = 1; i < count; i++)
			cut[i] = cut[i - 1] + 1 + (next_random(&random) % 3 ? next_random(&random) %
				 (stream.count / count - 1) : 0);
		write_cut("run.lpl", &stream, cut, count, ways[way].runs, NULL);
		write_file("one.lpl", &stream, 700, seed);

		read_path(&one, "one.lpl", 1);
		for (unsigned int jobs = 1; jobs <= 3; jobs++) {
			read_path(&cut_up, "run.lpl", jobs);
			if (cut_up.read != LPL_OK)
				fail_msg("seed %" PRIu64 ": %s", seed, cut_up.report.text);
			assert_int_equal(cut_up.stream.count, one.stream.count);
			assert_int_equal(stream_difference(&one.stream, &cut_up.stream,
							   stream.count), stream.count);
			assert_true(cut_up.complete);
			stream_free(&cut_up.stream);
		}
		stream_free(&one.stream);

		/* and each alone */
		for (size_t i = 0; i < count; i++) {
			const struct stream part = part_of(&stream, cut[i], i + 1 < count ?
							   cut[i + 1] : stream.count);

			assert_reads(segment_name("run", (unsigned int)i + 1), &part, true);
			file = load(segment_name("run", (unsigned int)i + 1));
			bytes += file.size;
			free(file.data);
		}
		assert_int_equal(lpl_reader_open(&reader, in_directory("run.lpl"), &report), LPL_OK);
		assert_int_equal(lpl_reader_size(reader), bytes);
		assert_string_equal(lpl_meta_get(lpl_reader_meta(reader), LPL_META_MACHINE),
				    "a=b\\nc = d\t\xff");
		assert_null(lpl_meta_get(lpl_reader_meta(reader), LPL_META_SEGMENT));
		lpl_reader_close(reader);
		stream_free(&stream);
	}
}

/* Chunk headers and totals go on; what the recording has cost is written once. */
static void counts_go_on(void **state)
{
	struct lpl_totals totals, some = some_totals;
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_reader *reader;
	uint64_t refs = 0, records = 0;
	const struct lpl_event *event;
	const struct lpl_ref *ref;
	uint32_t segment = 0;
	struct stream stream;
	size_t count;

	(void)state;
	stream_random(&stream, RECORDS, STREAM_RAW, 5);
	for (size_t i = 0; i < stream.count; i++)
		refs = stream.items[i].is_event ? refs : stream.items[i].ref.ref;
	/* references before reduction: more than are numbered */
	some.total = refs + 7;
	memset(some.refs, 0, sizeof(some.refs));
	some.user_refs = 0;
	for (int in_segments = 0; in_segments < 2; in_segments++) {
		struct lpl_segments *segments = NULL;
		struct lpl_writer *writer;

		if (in_segments)
			segments = open_segments("run.lpl", false, NULL);
		writer = segments ? lpl_segments_writer(segments) :
				    start(in_directory("one.lpl"), 700, true);
		for (size_t i = 0; i < PARTS; i++) {
			lpl_writer_totals(writer, &some);
			if (segments && i > 0)
				rotate(segments);
			assert_int_equal(stream_send(&stream, even[i], even[1],
						     lpl_writer_sink(writer), 3, &report), LPL_OK);
		}
		if (segments)
			close_segments(segments);
		else
			assert_int_equal(lpl_writer_close(writer, &report), LPL_OK);

		assert_int_equal(lpl_reader_open(&reader, in_directory(segments ? "run.lpl" :
								       "one.lpl"), &report), LPL_OK);
		while (lpl_reader_next(reader, &ref, &count, &event, &report) == LPL_OK &&
		       (count > 0 || event)) {
			const struct lpl_chunk *chunk = lpl_reader_chunk(reader);

			if (chunk->segment != segment)
				assert_int_equal(chunk->segment, ++segment);
			records += count + (event != NULL);
			assert_true(lpl_reader_totals(reader)->total >= chunk->last_ref);
		}
		assert_int_equal(report.error, LPL_OK);
		assert_int_equal(lpl_reader_segments(reader), segments ? PARTS : 0);
		if (segments)
			assert_memory_equal(&totals, lpl_reader_totals(reader), sizeof(totals));
		totals = *lpl_reader_totals(reader);
		lpl_reader_close(reader);
	}
	assert_int_equal(segment, PARTS);
	assert_int_equal(records, 2 * stream.count);
	assert_memory_equal(&totals, &some, sizeof(some));

	/* alone: as of its end, without what the whole has cost */
	assert_int_equal(lpl_reader_open(&reader, in_directory(segment_name("run", 2)), &report),
			 LPL_OK);
	while (lpl_reader_next(reader, &ref, &count, &event, &report) == LPL_OK &&
	       (count > 0 || event))
		refs = count ? ref[count - 1].ref : event->ref;
	assert_int_equal(lpl_reader_totals(reader)->total, refs);
	assert_int_equal(lpl_reader_totals(reader)->recording.instructions, 0);
	assert_string_equal(lpl_meta_get(lpl_reader_meta(reader), LPL_META_SEGMENT), "2");
	lpl_reader_close(reader);
	stream_free(&stream);
}

static int count_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	int count = 0;

	assert_non_null(directory);
	while (readdir(directory))
		count++;
	assert_int_equal(closedir(directory), 0);
	return count;
}

static void many_segments_are_one_file_at_a_time(void **state)
{
	enum { MANY = 200 };
	struct lpl_segments *segments = open_segments("many.lpl", false, NULL);
	struct lpl_report report = { .error = LPL_OK };
	const struct lpl_event *event;
	const struct lpl_ref *refs;
	struct lpl_reader *reader;
	int before = count_descriptors();
	struct stream stream;
	size_t count, records = 0;

	(void)state;
	stream_random(&stream, 2 * MANY, STREAM_RAW, 6);
	for (size_t i = 0; i < MANY; i++) {
		if (i > 0)
			rotate(segments);
		send(segments, &stream, 2 * i, 2 * i + 2);
	}
	assert_int_equal(count_descriptors(), before);
	close_segments(segments);
	before = count_descriptors();
	assert_int_equal(lpl_reader_open(&reader, in_directory("many.lpl"), &report), LPL_OK);
	while (lpl_reader_next(reader, &refs, &count, &event, &report) == LPL_OK &&
	       (count > 0 || event)) {
		records += count + (event != NULL);
		assert_true(count_descriptors() <= before + 2);
	}
	assert_int_equal(records, stream.count);
	assert_int_equal(lpl_reader_segments(reader), MANY);
	assert_true(lpl_reader_complete(reader));
	lpl_reader_close(reader);
	assert_int_equal(count_descriptors(), before);
	stream_free(&stream);
}

/* A rotation without records makes no segment. */
static void nothing_is_no_segment(void **state)
{
	struct lpl_segments *segments = open_segments("none.lpl", true, NULL);
	struct stream stream;

	(void)state;
	stream_random(&stream, 100, STREAM_RAW, 7);
	rotate(segments);
	send(segments, &stream, 0, 50);
	assert_false(lpl_segments_is_empty(segments));
	rotate(segments);
	rotate(segments);
	assert_true(lpl_segments_is_empty(segments));
	assert_int_equal(lpl_segments_number(segments), 2);
	send(segments, &stream, 50, 100);
	rotate(segments);
	close_segments(segments);	/* the last one may be empty */
	assert_reads("none.lpl", &stream, true);
	assert_true(exists(segment_name("none", 3)));
	assert_false(exists(segment_name("none", 4)));
	stream_free(&stream);
}

/* ---- what there is when a segment begins ---- */

/* Says of every event that it was sent, the number of them before it. */
struct counter {
	struct lpl_state_keeper keeper;
	uint64_t events;
};

static enum lpl_error take_event(struct lpl_state_keeper *keeper, const struct lpl_event *event,
				 struct lpl_report *report)
{
	(void)event, (void)report;
	((struct counter *)keeper)->events++;
	return LPL_OK;
}

static enum lpl_error send_state(struct lpl_state_keeper *keeper, struct lpl_sink *sink,
				 struct lpl_report *report)
{
	const uint64_t events = ((struct counter *)keeper)->events;

	for (uint64_t i = 0; i < events; i++) {
		const struct lpl_event event = { .tag = KTR_MARK, .arg = { i, events } };
		enum lpl_error error = sink->event(sink, &event, report);

		if (error)
			return error;
	}
	return LPL_OK;
}

static size_t count_events(const struct stream *stream)
{
	size_t events = 0;

	for (size_t i = 0; i < stream->count; i++)
		events += stream->items[i].is_event;
	return events;
}

/* The stream's first records are the state after `events`; the rest is `expected`. */
static void assert_state_and(const struct stream *found, uint64_t events,
			     const struct stream *expected)
{
	const struct stream rest = part_of(found, (size_t)events, found->count);

	assert_int_equal(found->count, events + expected->count);
	for (uint64_t i = 0; i < events; i++) {
		const struct lpl_event *event = &found->items[i].event;

		assert_true(found->items[i].is_event);
		assert_int_equal(event->tag, KTR_MARK);
		assert_int_equal(event->arg[0], i);
		assert_int_equal(event->arg[1], events);
	}
	assert_int_equal(stream_difference(expected, &rest, expected->count), expected->count);
}

static void a_reader_that_begins_gets_the_state(void **state)
{
	struct counter counter = { .keeper = { take_event, send_state } };
	struct stream stream;

	(void)state;
	/* so many events that the state takes several chunks */
	stream_random(&stream, 150000, STREAM_PAGED, 8);
	for (size_t way = 0; way < 2; way++) {
		const size_t cut[3] = { 0, 70000, 140000 };
		const struct stream first = part_of(&stream, 0, cut[1]);
		const struct stream second = part_of(&stream, cut[1], cut[2]);
		const struct stream third = part_of(&stream, cut[2], stream.count);
		const size_t events = count_events(&first);
		struct result result;

		counter.events = 0;
		write_cut("kept.lpl", &stream, cut, 3, way == 1, &counter.keeper);
		assert_int_equal(counter.events, count_events(&stream));
		assert_true(events > 4096);
		assert_reads("kept.lpl", &stream, true);
		assert_reads(segment_name("kept", 1), &first, true);
		read_path(&result, segment_name("kept", 2), 2);
		assert_int_equal(result.read, LPL_OK);
		assert_state_and(&result.stream, events, &second);
		stream_free(&result.stream);
		read_path(&result, segment_name("kept", 3), 1);
		assert_int_equal(result.read, LPL_OK);
		assert_state_and(&result.stream, events + count_events(&second), &third);
		stream_free(&result.stream);
	}
	stream_free(&stream);
}

/* ---- damage ---- */

/* All that can be read, and what was complained of. */
struct rest {
	struct stream stream;
	size_t complaints;
	char first[LPL_REPORT_SIZE];
};

static void read_rest(struct rest *rest, const char *name, unsigned int jobs)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_reader *reader;
	enum lpl_error error;

	*rest = (struct rest){ .complaints = 0 };
	stream_init(&rest->stream);
	assert_int_equal(lpl_reader_open(&reader, in_directory(name), &report), LPL_OK);
	lpl_reader_jobs(reader, jobs);
	while ((error = lpl_reader_run(reader, &rest->stream.sink, &report)) != LPL_OK) {
		assert_int_equal(error, LPL_ERR_DAMAGED);
		if (rest->complaints++ == 0)
			(void)snprintf(rest->first, sizeof(rest->first), "%s", report.text);
		report.error = LPL_OK;
		assert_int_equal(lpl_reader_resume(reader, &report), LPL_OK);
	}
	lpl_reader_close(reader);
}

/* One segment's records are missing, and a gap says how many. */
static void assert_without(const struct rest *rest, const struct stream *stream, size_t missing)
{
	const size_t first = even[missing], end = missing + 1 < PARTS ? even[missing + 1] :
						      stream->count;
	const struct stream before = part_of(stream, 0, first);
	const struct stream after = part_of(stream, end, stream->count);
	const struct stream lost = part_of(stream, first, end);
	const struct stream found_before = part_of(&rest->stream, 0, first);
	const struct stream found = part_of(&rest->stream, first + 1, rest->stream.count);
	const struct item *gap = &rest->stream.items[first];

	assert_int_equal(rest->complaints, 1);
	assert_int_equal(rest->stream.count, before.count + 1 + after.count);
	assert_int_equal(stream_difference(&before, &found_before, before.count), before.count);
	assert_int_equal(stream_difference(&after, &found, after.count), after.count);
	assert_true(gap->is_event);
	assert_int_equal(gap->event.tag, LPL_EVENT_GAP);
	if (end == stream->count)	/* it is not known what else there was */
		return;
	assert_int_equal(gap->event.arg[LPL_EVENT_GAP_EVENTS], count_events(&lost));
	assert_int_equal(gap->event.arg[LPL_EVENT_GAP_REFERENCES],
			 lost.count - count_events(&lost));
}

static void replace_byte(const char *name, size_t at)
{
	struct bytes file = load(name);

	file.data[at] ^= 1;
	write_bytes(name, file.data, file.size);
	free(file.data);
}

enum harm { MISSING, SHORTER, LONGER, EMPTY, SWAPPED, FOREIGN, RESEALED, HARMS };

static void harm_segment(enum harm harm, unsigned int number)
{
	struct bytes file = load(segment_name("run", number)), other;
	const uint8_t zero[1] = { 0 };
	struct lpl_chunk_header header;
	struct layout layout;
	uint8_t *index;

	switch (harm) {
	case MISSING:
		assert_int_equal(unlink(in_directory(segment_name("run", number))), 0);
		break;
	case SHORTER:
		write_bytes(segment_name("run", number), file.data, file.size - 1);
		break;
	case LONGER:
		write_bytes(segment_name("run", number), file.data, file.size);
		other.data = realloc(file.data, file.size + 1);
		assert_non_null(other.data);
		file.data = other.data;
		file.data[file.size] = zero[0];
		write_bytes(segment_name("run", number), file.data, file.size + 1);
		break;
	case EMPTY:
		write_bytes(segment_name("run", number), zero, 0);
		break;
	case SWAPPED:		/* by its neighbour */
		other = load(segment_name("run", number > 1 ? number - 1 : number + 1));
		write_bytes(segment_name("run", number), other.data, other.size);
		free(other.data);
		break;
	case FOREIGN:		/* by one of another recording, with the same clocks */
		other = load(segment_name("other", number));
		write_bytes(segment_name("run", number), other.data, other.size);
		free(other.data);
		break;
	case RESEALED:		/* as large, with an index that is another one, and well-formed */
		lay_out(&layout, &file);
		index = file.data + layout.offset[layout.count - 1];
		(void)lpl_chunk_decode(&header, index);
		header.refs_before++;
		lpl_chunk_encode(&header, index);
		write_bytes(segment_name("run", number), file.data, file.size);
		break;
	case HARMS:
		break;
	}
	free(file.data);
}

static void segments_are_those_that_are_named(void **state)
{
	struct stream stream, other;

	(void)state;
	stream_random(&stream, RECORDS, STREAM_RAW, 9);
	stream_random(&other, RECORDS, STREAM_RAW, 9);
	for (size_t i = 0; i < other.count; i++) {	/* other addresses, all else is the same */
		if (!other.items[i].is_event)
			other.items[i].ref.address ^= 0x1000;
	}
	write_cut("other.lpl", &other, even, PARTS, false, NULL);
	for (unsigned int number = 1; number <= PARTS; number++) {
		for (enum harm harm = MISSING; harm < HARMS; harm++) {
			struct result result;
			struct rest rest;

			write_cut("run.lpl", &stream, even, PARTS, false, NULL);
			harm_segment(harm, number);
			read_path(&result, "run.lpl", 1 + number % 3);
			assert_int_equal(result.read, LPL_ERR_DAMAGED);
			assert_non_null(strstr(result.report.text, segment_name("run", number)));
			/* nothing of it was delivered */
			assert_int_equal(result.stream.count, even[number - 1]);
			stream_free(&result.stream);
			read_rest(&rest, "run.lpl", 1 + harm % 2);
			assert_non_null(strstr(rest.first, segment_name("run", number)));
			assert_without(&rest, &stream, number - 1);
			stream_free(&rest.stream);
			if (harm == MISSING)	/* the next recording finds it where it was */
				write_bytes(segment_name("run", number), (const uint8_t *)"", 0);
		}
	}
	stream_free(&stream);
	stream_free(&other);
}

/* After what is missing the state is delivered; where all was read, it is not. */
static void the_state_is_delivered_after_a_gap(void **state)
{
	struct counter counter = { .keeper = { take_event, send_state } };
	struct stream stream, expected;
	struct rest rest;
	size_t events;

	(void)state;
	stream_random(&stream, RECORDS, STREAM_RAW, 10);
	write_cut("run.lpl", &stream, even, PARTS, false, &counter.keeper);
	harm_segment(MISSING, 2);
	read_rest(&rest, "run.lpl", 2);
	assert_int_equal(rest.complaints, 1);
	expected = part_of(&stream, 0, even[2]);
	events = count_events(&expected);
	expected = part_of(&stream, even[2], stream.count);
	assert_int_equal(rest.stream.items[even[1]].event.tag, LPL_EVENT_GAP);
	{
		const struct stream after = part_of(&rest.stream, even[1] + 1, rest.stream.count);

		assert_state_and(&after, events, &expected);
	}
	stream_free(&rest.stream);
	write_bytes(segment_name("run", 2), (const uint8_t *)"", 0);
	stream_free(&stream);
}

/* Bytes within a segment that change: a chunk is missing, and the rest is there. */
static void damage_within_a_segment_is_passed(void **state)
{
	struct stream stream;
	struct layout layout;
	struct bytes file;

	(void)state;
	stream_random(&stream, RECORDS, STREAM_RAW, 11);
	for (unsigned int number = 1; number <= PARTS; number++) {
		write_cut("run.lpl", &stream, even, PARTS, false, NULL);
		file = load(segment_name("run", number));
		lay_out(&layout, &file);
		for (size_t chunk = 0; chunk < layout.count; chunk++) {
			const size_t records = chunk + 1 < layout.count ? layout.records[chunk + 1] -
					       layout.records[chunk] : 0;

			/* in its payload, and in its header; that of the index is the name */
			for (size_t at = 150; at > 0; at = at == 150 ? 20 : 0) {
				struct rest rest;

				if (chunk + 1 == layout.count && at == 20)
					continue;
				replace_byte(segment_name("run", number),
					     (size_t)layout.offset[chunk] + at);
				read_rest(&rest, "run.lpl", 1 + chunk % 3);
				assert_true(rest.complaints >= 1);
				assert_non_null(strstr(rest.first, segment_name("run", number)));
				assert_int_equal(rest.stream.count, stream.count - records + 1);
				stream_free(&rest.stream);
				write_bytes(segment_name("run", number), file.data, file.size);
			}
		}
		free(file.data);
	}
	assert_reads("run.lpl", &stream, true);
	stream_free(&stream);
}

/*
 * After the manifest's end, where nothing says what a segment is, and in one that has no end
 * either: the last chunk there is damaged, and the next segment is what to go on with.
 */
static void damage_without_an_end_is_passed(void **state)
{
	struct stream stream;

	(void)state;
	stream_random(&stream, RECORDS, STREAM_RAW, 21);
	for (unsigned int number = 1; number < PARTS; number++) {
		struct bytes manifest, file;
		struct layout layout;
		struct rest rest;
		size_t last, line = 0;

		write_cut("run.lpl", &stream, even, PARTS, false, NULL);
		manifest = load("run.lpl");
		while (manifest.data[line++] != '\n')
			;
		write_bytes("run.lpl.part", manifest.data, line);
		assert_int_equal(unlink(in_directory("run.lpl")), 0);
		file = load(segment_name("run", number));
		lay_out(&layout, &file);
		last = layout.count - 2;
		file.data[layout.offset[last] + 20] ^= 1;
		write_bytes(segment_name("run", number), file.data, layout.offset[last + 1]);
		read_rest(&rest, "run.lpl.part", 1 + number % 2);
		assert_int_equal(rest.stream.count, stream.count + 1 -
				 (layout.records[last + 1] - layout.records[last]));
		stream_free(&rest.stream);
		free(manifest.data);
		free(file.data);
		assert_int_equal(unlink(in_directory("run.lpl.part")), 0);
		for (unsigned int i = 1; i <= PARTS; i++)
			assert_int_equal(unlink(in_directory(segment_name("run", i))), 0);
	}
	stream_free(&stream);
}

/* Whatever byte of it changes is noticed; whatever of it is missing, the rest is read. */
static void manifests_are_checked(void **state)
{
	struct stream stream;
	struct bytes file;
	size_t lines = 0;

	(void)state;
	stream_random(&stream, 2000, STREAM_RAW, 12);
	{
		const size_t cut[3] = { 0, 500, 1500 };

		write_cut("run.lpl", &stream, cut, 3, false, NULL);
	}
	file = load("run.lpl");
	for (size_t at = 0; at < file.size; at++) {
		struct result result;

		/* a newline would end a line, and one less is one that was being written */
		file.data[at] ^= 1;
		write_bytes("run.lpl", file.data, file.size);
		file.data[at] ^= 1;
		read_path(&result, "run.lpl", 1);
		if (result.opened == LPL_OK && result.complete)
			fail_msg("byte %zu of a manifest was not looked at", at);
		assert_true(result.opened == LPL_OK || result.opened == LPL_ERR_DAMAGED ||
			    (result.opened == LPL_ERR_FORMAT && at < 22));
		stream_free(&result.stream);
	}
	/* cut anywhere after its first line it is that of a trace being written: all is found */
	for (size_t size = 0; size < file.size; size++) {
		struct result result;

		lines += size > 0 && file.data[size - 1] == '\n';
		if (lines == 0)
			continue;
		write_bytes("run.lpl", file.data, size);
		read_path(&result, "run.lpl", 1);
		if (result.read != LPL_OK)
			fail_msg("%s", result.report.text);
		assert_int_equal(result.stream.count, stream.count);
		assert_false(result.complete);
		stream_free(&result.stream);
	}
	write_bytes("run.lpl", file.data, file.size);
	assert_reads("run.lpl", &stream, true);
	free(file.data);
	stream_free(&stream);
}

/* A way out of the directory, a directory, a pipe: none of them is opened as a segment. */
static void strange_segments_are_refused(void **state)
{
	static const char outside[] = "{\"laplace-segments\":1,\"base\":\"../x\",\"header\":{}";
	struct stream stream;
	struct result result;
	char line[256];
	int length;

	(void)state;
	length = snprintf(line, sizeof(line), "%s,\"check\":\"%016" PRIx64 "\"}\n", outside,
			  lpl_checksum(outside, strlen(outside)));
	write_bytes("outside.lpl", (const uint8_t *)line, (size_t)length);
	read_path(&result, "outside.lpl", 1);
	assert_int_equal(result.opened, LPL_ERR_DAMAGED);

	stream_random(&stream, RECORDS, STREAM_RAW, 13);
	write_cut("run.lpl", &stream, even, PARTS, false, NULL);
	assert_int_equal(unlink(in_directory(segment_name("run", 2))), 0);
	assert_int_equal(mkfifo(in_directory(segment_name("run", 2)), 0600), 0);
	read_path(&result, "run.lpl", 1);
	assert_int_equal(result.read, LPL_ERR_DAMAGED);
	assert_int_equal(result.stream.count, even[1]);
	stream_free(&result.stream);
	assert_int_equal(unlink(in_directory(segment_name("run", 2))), 0);
	write_bytes(segment_name("run", 2), (const uint8_t *)"", 0);
	stream_free(&stream);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cuts_do_not_show),
		cmocka_unit_test(counts_go_on),
		cmocka_unit_test(many_segments_are_one_file_at_a_time),
		cmocka_unit_test(nothing_is_no_segment),
		cmocka_unit_test(a_reader_that_begins_gets_the_state),
		cmocka_unit_test(segments_are_those_that_are_named),
		cmocka_unit_test(the_state_is_delivered_after_a_gap),
		cmocka_unit_test(damage_within_a_segment_is_passed),
		cmocka_unit_test(damage_without_an_end_is_passed),
		cmocka_unit_test(manifests_are_checked),
		cmocka_unit_test(strange_segments_are_refused),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
