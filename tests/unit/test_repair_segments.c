/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Repair of traces in segments, and of segments alone, where any of them is damaged, missing, or
 * another recording's.  What has to be saved is known from where the chunks of the undamaged
 * files stand (docs/format.md, sections 2.1 and 11).
 */
#include <laplace/repair.h>

#include "trace_file.h"

#include "container/data.h"
#include "container/manifest_line.h"
#include "container/segments.h"

#define TRIALS	120
#define PARTS	5
#define RECORDS	2500
#define STATES	3		/* events of what each segment begins with */

#define KIND_STATE 5

/* ---- writing ---- */

static enum lpl_error take_event(struct lpl_state_keeper *keeper, const struct lpl_event *event,
				 struct lpl_report *report)
{
	(void)keeper, (void)event, (void)report;
	return LPL_OK;
}

struct sending {
	struct lpl_state_keeper keeper;	/* first */
	int events;			/* that it sends */
};

/* In a task of its own, by which it is known. */
static enum lpl_error send_state(struct lpl_state_keeper *keeper, struct lpl_sink *sink,
				 struct lpl_report *report)
{
	for (int i = 0; i < ((struct sending *)keeper)->events; i++) {
		const struct lpl_event event = { .tag = KTR_MARK, .tid = 987654321 };

		if (sink->event(sink, &event, report) != LPL_OK)
			return report->error;
	}
	return LPL_OK;
}

static void write_segments(const char *name, const struct stream *stream, bool runs, int states)
{
	struct sending sending = { { take_event, send_state }, states };
	const struct lpl_writer_options options = { .chunk_refs = 90, .blocks = runs };
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_meta *meta = some_meta();
	struct lpl_segments *segments;

	if (lpl_segments_open(&segments, in_directory(name), meta, &options, &sending.keeper, true,
			      &report) != LPL_OK)
		fail_msg("%s", report.text);
	lpl_meta_free(meta);
	for (size_t i = 0; i < PARTS; i++) {
		struct lpl_writer *writer = lpl_segments_writer(segments);
		const size_t part = stream->count / PARTS;

		if (i > 0)
			assert_int_equal(lpl_segments_rotate(segments, &report), LPL_OK);
		/* several chunks each, of runs too */
		for (size_t at = 0; at < part; at += part / 5) {
			assert_int_equal(stream_send(stream, i * part + at, part / 5,
						     lpl_writer_sink(writer), i, &report), LPL_OK);
			assert_int_equal(lpl_writer_flush(writer, &report), LPL_OK);
		}
	}
	assert_int_equal(lpl_segments_close(segments, &report), LPL_OK);
}

/* ---- damage ---- */

struct segment {
	struct bytes file;
	struct layout layout;
	bool left_out;			/* it is not the one that is named */
	size_t hurt;			/* else: this chunk of it; 0: none */
};

static uint64_t kind_of(const struct segment *segment, size_t chunk)
{
	return little_endian(segment->file.data + segment->layout.offset[chunk] + 10, 2);
}

static size_t records_in(const struct segment *segment, size_t chunk)
{
	return segment->layout.records[chunk + 1] - segment->layout.records[chunk];
}

static void do_damage(struct segment *segment, unsigned int number, uint64_t *random)
{
	const struct layout *layout = &segment->layout;
	struct bytes bytes = { malloc(segment->file.size), segment->file.size };
	const size_t index = layout->count - 1;
	uint64_t at;

	assert_non_null(bytes.data);
	memcpy(bytes.data, segment->file.data, bytes.size);
	segment->left_out = true;
	switch (next_random(random) % 6) {
	case 0:
		assert_int_equal(unlink(in_directory(segment_name("run", number))), 0);
		break;
	case 1:		/* of a run that was made again */
		free(bytes.data);
		bytes = load(segment_name("other", number));
		write_bytes(segment_name("run", number), bytes.data, bytes.size);
		break;
	case 2:
		bytes.size = next_random(random) % bytes.size;
		write_bytes(segment_name("run", number), bytes.data, bytes.size);
		break;
	case 3:		/* by which the manifest knows it */
		bytes.data[layout->offset[index] + next_random(random) % 144] ^= 4;
		write_bytes(segment_name("run", number), bytes.data, bytes.size);
		break;
	default:	/* any chunk but the index, the header included */
		at = next_random(random) % layout->offset[index];
		bytes.data[at] ^= 16;
		write_bytes(segment_name("run", number), bytes.data, bytes.size);
		segment->left_out = false;
		while (layout->offset[segment->hurt + 1] <= at)
			segment->hurt++;
		/* the header's loss harms nothing else */
		if (segment->hurt == 0)
			segment->hurt = SIZE_MAX;
		break;
	}
	free(bytes.data);
}

/* ---- what is expected ---- */

/* The next record found is a gap of so many, if any are missing. */
static void expect_gap(const struct stream *found, size_t *at, size_t *missing, uint64_t seed)
{
	const struct lpl_event *event = *at < found->count ? &found->items[*at].event : NULL;

	if (*missing == 0)
		return;
	if (!event || !found->items[*at].is_event || event->tag != LPL_EVENT_GAP ||
	    event->arg[LPL_EVENT_GAP_REFERENCES] + event->arg[LPL_EVENT_GAP_EVENTS] != *missing)
		fail_msg("seed %" PRIu64 ": no gap of %zu at %zu", seed, *missing, *at);
	*missing = 0;
	++*at;
}

/* All of whole chunks, gaps between, and what there is in the guest where that is not known. */
static void assert_saved(const struct stream *found, const struct stream *stream,
			 const struct segment segments[PARTS], size_t *lost, uint64_t seed)
{
	size_t at = 0, next = 0, missing = 0;
	bool gap_before = false, gap_now = false;

	*lost = 0;
	for (size_t s = 0; s < PARTS; s++) {
		const struct segment *segment = &segments[s];

		gap_before = gap_now;
		gap_now = false;
		for (size_t chunk = 1; chunk + 1 < segment->layout.count; chunk++) {
			const size_t records = records_in(segment, chunk);
			const bool state = kind_of(segment, chunk) == KIND_STATE;

			if (segment->left_out || segment->hurt == chunk) {
				if (!state) {
					missing += records;
					*lost += records;
					next += records;
					gap_now = true;
				}
				continue;
			}
			if (state && !gap_before)
				continue;
			expect_gap(found, &at, &missing, seed);
			for (size_t i = 0; i < records; i++, at++) {
				struct stream one = { .items = &stream->items[next], .count = 1 };
				struct stream other = { .items = &found->items[at], .count = 1 };

				if (at >= found->count ||
				    (state ? found->items[at].event.tid != 987654321 :
					     stream_difference(&one, &other, 1) != 1))
					fail_msg("seed %" PRIu64 ": segment %zu, chunk %zu: record %zu"
						 " is not there", seed, s + 1, chunk, i);
				next += !state;
			}
		}
	}
	expect_gap(found, &at, &missing, seed);
	if (at != found->count)
		fail_msg("seed %" PRIu64 ": %zu records too many", seed, found->count - at);
}

static void read_whole(struct stream *found, const char *name, uint64_t seed)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_reader *reader;

	stream_init(found);
	if (lpl_reader_open(&reader, in_directory(name), &report) != LPL_OK)
		fail_msg("seed %" PRIu64 ": %s", seed, report.text);
	lpl_reader_compare_hash(reader);
	if (lpl_reader_run(reader, &found->sink, &report) != LPL_OK)
		fail_msg("seed %" PRIu64 ": %s", seed, report.text);
	assert_true(lpl_reader_complete(reader));
	assert_null(lpl_meta_get(lpl_reader_meta(reader), LPL_META_SEGMENT));
	assert_string_equal(lpl_meta_get(lpl_reader_meta(reader), LPL_META_TITLE), "a test");
	lpl_reader_close(reader);
}

/* What a segment says of the guest is of the stream there or left out: the file is no segment. */
static void assert_no_state(const char *name)
{
	struct segment file = { .file = load(name) };

	lay_out(&file.layout, &file.file);
	for (size_t i = 0; i < file.layout.count; i++)
		assert_int_not_equal(kind_of(&file, i), KIND_STATE);
	free(file.file.data);
}

struct noted {
	uint64_t places, segments;	/* of these each has a bit */
};

static void note(void *context, const struct lpl_loss *loss)
{
	struct noted *noted = context;

	assert_true(loss->segment >= 1 && loss->segment <= PARTS);
	assert_true(loss->why[0] != '\0');
	noted->places++;
	noted->segments |= UINT64_C(1) << loss->segment;
}

static void one_file_of_all(void **unused)
{
	(void)unused;
	for (uint64_t seed = 1; seed <= TRIALS; seed++) {
		const enum stream_style style = seed % 2 ? STREAM_RAW : STREAM_PAGED;
		const bool runs = style == STREAM_RAW && seed % 3 == 0;
		struct segment segments[PARTS] = { 0 };
		struct lpl_report report = { .error = LPL_OK };
		struct noted noted = { 0 };
		struct lpl_repaired repaired;
		struct stream stream, other, found;
		uint64_t random = seed, expected = 0;
		char output[256], trace[256];
		const struct lpl_repair_options options = {
			.output = output, .overwrite = true, .lost = note, .context = &noted
		};
		size_t lost;

		(void)snprintf(output, sizeof(output), "%s", in_directory("repaired.lpl"));
		(void)snprintf(trace, sizeof(trace), "%s", in_directory("run.lpl"));
		stream_random(&stream, RECORDS, style, seed);
		stream_random(&other, RECORDS, style, seed + 1000);
		write_segments("run.lpl", &stream, runs, STATES);
		write_segments("other.lpl", &other, runs, STATES);
		for (unsigned int i = 0; i < PARTS; i++) {
			segments[i].file = load(segment_name("run", i + 1));
			lay_out(&segments[i].layout, &segments[i].file);
		}
		for (unsigned int i = 0; i < PARTS; i++) {
			/* every tenth is left whole */
			if (seed % 10 && next_random(&random) % 5 < 2)
				do_damage(&segments[i], i + 1, &random);
			if (segments[i].left_out || segments[i].hurt)
				expected |= UINT64_C(1) << (i + 1);
		}
		if (lpl_repair(trace, &options, &repaired, &report) != LPL_OK)
			fail_msg("seed %" PRIu64 ": %s", seed, report.text);
		read_whole(&found, "repaired.lpl", seed);
		assert_saved(&found, &stream, segments, &lost, seed);
		assert_no_state("repaired.lpl");
		assert_true(noted.segments == expected && noted.places == repaired.losses);
		assert_true(repaired.had_index && !repaired.lost_more);
		assert_int_equal(repaired.lost_refs + repaired.lost_events, lost);
		assert_int_equal(repaired.refs + repaired.events + lost, stream.count);
		for (unsigned int i = 0; i < PARTS; i++)
			free(segments[i].file.data);
		stream_free(&found);
		stream_free(&other);
		stream_free(&stream);
	}
}

/* ---- a manifest that is damaged ---- */

static void assert_found(const char *manifest, const struct stream *stream, bool damaged, size_t at)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_repaired repaired;
	struct stream found;
	char output[256];
	const struct lpl_repair_options options = { .output = output, .overwrite = true };

	(void)snprintf(output, sizeof(output), "%s", in_directory("repaired.lpl"));
	if (lpl_repair(in_directory(manifest), &options, &repaired, &report) != LPL_OK)
		fail_msg("byte %zu: %s", at, report.text);
	assert_true((repaired.manifest.error != LPL_OK) == damaged);
	assert_true(repaired.had_index == !damaged && repaired.losses == 0);
	read_whole(&found, "repaired.lpl", at);
	assert_int_equal(found.count, stream->count);
	assert_int_equal(stream_difference(&found, stream, found.count), found.count);
	stream_free(&found);
}

/* Wherever it is, in the first line too, all segments are found. */
static void damaged_manifest(void **unused)
{
	struct stream stream;
	struct bytes manifest;

	(void)unused;
	stream_random(&stream, RECORDS, STREAM_RAW, 7);
	write_segments("found.lpl", &stream, true, STATES);
	assert_found("found.lpl", &stream, false, 0);
	manifest = load("found.lpl");
	for (size_t at = strlen(LPL_MANIFEST_MAGIC); at < manifest.size; at += 41) {
		manifest.data[at] ^= 1;
		write_bytes("found.lpl", manifest.data, manifest.size);
		manifest.data[at] ^= 1;
		assert_found("found.lpl", &stream, true, at);
	}
	/* what a killed recording leaves, cut off within its first line; and something after its end */
	write_bytes("found.lpl.part", manifest.data, 60);
	assert_found("found.lpl.part", &stream, true, 60);
	manifest.data[manifest.size] = '\n';
	write_bytes("found.lpl", manifest.data, manifest.size + 1);
	assert_found("found.lpl", &stream, true, manifest.size);
	free(manifest.data);
	stream_free(&stream);
}

/* ---- one alone ---- */

static enum lpl_error repair_alone(struct lpl_repaired *repaired, struct lpl_report *report)
{
	char output[256];
	const struct lpl_repair_options options = { .output = output, .overwrite = true };

	(void)snprintf(output, sizeof(output), "%s", in_directory("repaired.lpl"));
	return lpl_repair(in_directory("alone.lpl"), &options, repaired, report);
}

/* A whole segment is left as it is; cut off and repaired it is still one, and ends earlier. */
static void a_segment_remains_one(void **unused)
{
	(void)unused;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct lpl_report report = { .error = LPL_OK };
		struct lpl_repaired repaired;
		struct segment segment = { 0 };
		struct bytes again, part;
		struct stream stream, found;
		struct lpl_reader *reader;

		stream_random(&stream, RECORDS, STREAM_RAW, seed);
		write_segments("run.lpl", &stream, seed % 2, STATES);
		segment.file = load(segment_name("run", 3));
		lay_out(&segment.layout, &segment.file);
		assert_int_equal(kind_of(&segment, 1), KIND_STATE);
		write_bytes("alone.lpl", segment.file.data, segment.file.size);
		assert_int_equal(repair_alone(&repaired, &report), LPL_OK);
		assert_true(repaired.had_index && repaired.losses == 0);
		assert_int_equal(repaired.refs + repaired.events, stream.count / PARTS);
		again = load("repaired.lpl");
		assert_int_equal(again.size, segment.file.size);
		assert_memory_equal(again.data, segment.file.data, again.size);
		free(again.data);

		/* as a killed recording leaves it */
		part = (struct bytes){ segment.file.data, segment.layout.offset[4] };
		write_bytes("alone.lpl", part.data, part.size);
		assert_int_equal(repair_alone(&repaired, &report), LPL_OK);
		assert_true(!repaired.had_index && repaired.losses == 0 && repaired.chunks == 2);
		again = load("repaired.lpl");
		assert_true(again.size > part.size);
		assert_memory_equal(again.data, part.data, part.size);
		free(again.data);

		/* without its header: what that said of the stream stands in the next one, too */
		segment.file.data[20] ^= 1;
		write_bytes("alone.lpl", segment.file.data, segment.file.size);
		segment.file.data[20] ^= 1;
		assert_int_equal(repair_alone(&repaired, &report), LPL_OK);
		assert_true(repaired.losses == 1 && repaired.lost_refs == 0 &&
			    repaired.lost_events == 0 && !repaired.lost_more);
		stream_init(&found);
		assert_int_equal(lpl_reader_open(&reader, in_directory("repaired.lpl"), &report),
				 LPL_OK);
		assert_int_equal(lpl_reader_run(reader, &found.sink, &report), LPL_OK);
		assert_int_equal(found.count, STATES + stream.count / PARTS);
		for (size_t i = 0; i < stream.count / PARTS; i++) {
			struct stream one = {
				.items = &stream.items[2 * (stream.count / PARTS) + i], .count = 1
			};
			struct stream other = { .items = &found.items[STATES + i], .count = 1 };

			assert_int_equal(stream_difference(&one, &other, 1), 1);
		}
		lpl_reader_close(reader);
		stream_free(&found);
		free(segment.file.data);
		stream_free(&stream);
	}
}

/* How many events of a state are delivered, whatever else is damaged. */
static size_t count_state_events(const char *name)
{
	struct lpl_report report = { .error = LPL_OK };
	const struct lpl_event *event;
	const struct lpl_ref *refs;
	struct lpl_reader *reader;
	size_t count, events = 0;

	assert_int_equal(lpl_reader_open(&reader, in_directory(name), &report), LPL_OK);
	for (;;) {
		if (lpl_reader_next(reader, &refs, &count, &event, &report) != LPL_OK) {
			report.error = LPL_OK;
			assert_int_equal(lpl_reader_resume(reader, NULL), LPL_OK);
			continue;
		}
		if (count == 0 && !event)
			break;
		events += event && event->tid == 987654321;
	}
	lpl_reader_close(reader);
	return events;
}

/* Of a state nothing is delivered, or saved, after a part that is missing. */
static void part_of_a_state(void **unused)
{
	const int events = 2 * LPL_CHUNK_EVENTS_WRITTEN + 1;

	(void)unused;
	for (size_t hurt = 1; hurt <= 4; hurt++) {
		const size_t expected = hurt == 4 ? (size_t)events :
						    (hurt - 1) * LPL_CHUNK_EVENTS_WRITTEN;
		struct lpl_report report = { .error = LPL_OK };
		struct lpl_repaired repaired;
		struct segment segment = { 0 };
		struct stream stream;

		stream_random(&stream, RECORDS, STREAM_RAW, hurt);
		write_segments("run.lpl", &stream, false, events);
		segment.file = load(segment_name("run", 3));
		lay_out(&segment.layout, &segment.file);
		assert_int_equal(kind_of(&segment, 3), KIND_STATE);
		segment.file.data[segment.layout.offset[hurt] + 150] ^= 1;
		write_bytes("alone.lpl", segment.file.data, segment.file.size);
		assert_int_equal(count_state_events("alone.lpl"), expected);
		assert_int_equal(repair_alone(&repaired, &report), LPL_OK);
		assert_int_equal(count_state_events("repaired.lpl"), expected);
		free(segment.file.data);
		stream_free(&stream);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_file_of_all),
		cmocka_unit_test(damaged_manifest),
		cmocka_unit_test(a_segment_remains_one),
		cmocka_unit_test(part_of_a_state),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
