/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Repair, on files that are damaged in every way that comes to mind.  What has to be saved is
 * known from where the chunks of the undamaged file stand (docs/format.md, section 2.1): each of
 * them that has all of its bytes.
 */
#include <laplace/repair.h>

#include "container/chunk.h"
#include "trace_file.h"

#define TRIALS 150

static void write_trace(const char *name, const struct stream *stream, bool runs, uint64_t seed)
{
	struct lpl_writer_options options = { .chunk_refs = 50 + seed % 200, .blocks = runs };
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_meta *meta = some_meta();
	struct lpl_totals totals = { .wait_ns = 7, .recording = { .instructions = 8 } };
	struct lpl_writer *writer;
	size_t part = 1 + seed % 700;
	const bool has_totals = seed % 2;

	assert_int_equal(lpl_writer_open(&writer, in_directory(name), meta, &options, true, &report),
			 LPL_OK);
	lpl_meta_free(meta);
	lpl_writer_totals(writer, &totals);
	for (size_t at = 0; at < stream->count; at += part) {
		size_t count = part < stream->count - at ? part : stream->count - at;

		/* of so many, before reduction: the last one is kept */
		for (size_t i = at; has_totals && i < at + count; i++)
			if (!stream->items[i].is_event)
				totals.total = stream->items[i].ref.ref;
		lpl_writer_totals(writer, &totals);
		if (stream_send(stream, at, count, lpl_writer_sink(writer), seed, &report) ||
		    lpl_writer_flush(writer, &report))
			fail_msg("%s", report.text);
	}
	if (lpl_writer_close(writer, &report) != LPL_OK)
		fail_msg("%s", report.text);
}

/* ---- damage ---- */

/* The file, damaged, and which of its chunks are not whole any more. */
struct damage {
	struct bytes bytes;
	bool hurt[CHUNKS_MAX];
};

static void hurt(struct damage *damage, const struct layout *layout, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < layout->count; i++)
		damage->hurt[i] |= from < layout->offset[i + 1] && to > layout->offset[i];
}

/* In one or two places, the later one first, so that offsets before it stay as they are. */
static void do_damage(struct damage *damage, const struct bytes *file,
		      const struct layout *layout, uint64_t *random)
{
	uint8_t *data = damage->bytes.data = malloc(file->size + 1);
	uint64_t end = file->size;

	memset(damage->hurt, 0, sizeof(damage->hurt));
	assert_non_null(data);
	memcpy(data, file->data, file->size);
	damage->bytes.size = file->size;
	for (uint64_t places = 1 + next_random(random) % 2; places > 0 && end > 1; places--) {
		uint64_t at = next_random(random) % end, most = end - at;
		uint64_t size = 1 + next_random(random) % (most < 3000 ? most : 3000);

		switch (next_random(random) % 4) {
		case 0:		/* a bit */
			size = 1;
			data[at] ^= (uint8_t)(1 << next_random(random) % 8);
			break;
		case 1:		/* a sector that was never written; bytes that are 0 stay as they are */
			for (uint64_t i = 0; i < size; i++)
				if (data[at + i] != 0)
					hurt(damage, layout, at + i, at + i + 1);
			memset(data + at, 0, size);
			end = at;
			continue;
		case 2:		/* bytes that got lost */
			memmove(data + at, data + at + size, damage->bytes.size - at - size);
			damage->bytes.size -= size;
			break;
		default:	/* the rest */
			if (end != file->size)
				continue;
			damage->bytes.size = at;
			size = file->size - at;
			break;
		}
		hurt(damage, layout, at, at + size);
		end = at;
	}
}

/* ---- what is expected ---- */

struct lost {
	uint64_t places, refs, events, bytes_from;
	bool unknown;
};

static void note(void *context, const struct lpl_loss *loss)
{
	struct lost *lost = context;

	assert_true(loss->why[0] != '\0');
	assert_true(lost->places == 0 || loss->offset >= lost->bytes_from);
	lost->places++;
	lost->bytes_from = loss->offset + loss->bytes;
	lost->unknown |= loss->refs == KTR_NONE;
	lost->refs += loss->refs != KTR_NONE ? loss->refs : 0;
	lost->events += loss->events != KTR_NONE ? loss->events : 0;
}

static enum lpl_error repair(const char *output, struct lost *lost, struct lpl_repaired *repaired,
			     struct lpl_report *report)
{
	struct lpl_repair_options options = {
		.output = output ? in_directory(output) : NULL, .overwrite = true,
		.lost = note, .context = lost
	};

	memset(lost, 0, sizeof(*lost));
	return lpl_repair(in_directory("damaged.lpl"), &options, repaired, report);
}

/* All of the chunks that are whole, with a gap wherever records are missing, and no more. */
static void assert_saved(const char *name, const struct stream *stream,
			 const struct layout *layout, const struct damage *damage, bool cut,
			 uint64_t seed)
{
	struct lpl_report report = { .error = LPL_OK };
	struct stream found;
	struct lpl_reader *reader;
	bool missing = false;
	size_t at = 0;

	stream_init(&found);
	if (lpl_reader_open(&reader, in_directory(name), &report) != LPL_OK)
		fail_msg("seed %" PRIu64 ": %s", seed, report.text);
	lpl_reader_compare_hash(reader);
	if (lpl_reader_run(reader, &found.sink, &report) != LPL_OK)
		fail_msg("seed %" PRIu64 ": %s", seed, report.text);
	assert_true(lpl_reader_complete(reader));
	lpl_reader_close(reader);
	for (size_t i = 0; i < layout->count; i++) {
		size_t first = layout->records[i], end = layout->records[i + 1];

		if (damage->hurt[i]) {
			missing |= end > first;
			continue;
		}
		if (end > first && missing) {
			assert_true(at < found.count && found.items[at].is_event);
			assert_int_equal(found.items[at].event.tag, LPL_EVENT_GAP);
			at++;
			missing = false;
		}
		for (size_t r = first; r < end; r++, at++) {
			struct stream one = { .items = &stream->items[r], .count = 1 };
			struct stream other = { .items = &found.items[at], .count = 1 };

			if (at >= found.count || stream_difference(&one, &other, 1) != 1)
				fail_msg("seed %" PRIu64 ": record %zu of chunk %zu is not there",
					 seed, r, i);
		}
	}
	/* at the end it may not be known whether records are missing */
	if (at < found.count && (missing || cut)) {
		assert_true(found.items[at].is_event);
		assert_int_equal(found.items[at].event.tag, LPL_EVENT_GAP);
		at++;
	} else if (missing) {
		fail_msg("seed %" PRIu64 ": the end is missing, and that is not reported", seed);
	}
	if (at != found.count)
		fail_msg("seed %" PRIu64 ": %zu records too many", seed, found.count - at);
	stream_free(&found);
}

/* Known numbers of references made are those numbered until then; at a gap too. */
static void assert_totals(const char *name, uint64_t seed)
{
	struct lpl_report report = { .error = LPL_OK };
	const struct lpl_event *event;
	const struct lpl_ref *refs;
	struct lpl_reader *reader;
	size_t count;

	assert_int_equal(lpl_reader_open(&reader, in_directory(name), &report), LPL_OK);
	while (lpl_reader_next(reader, &refs, &count, &event, &report) == LPL_OK &&
	       (count > 0 || event)) {
		const uint64_t total = lpl_reader_totals(reader)->total;
		const uint64_t last = lpl_reader_chunk(reader)->last_ref;

		if (total != 0 && total != last)
			fail_msg("seed %" PRIu64 ": %" PRIu64 " references were made, up to number %"
				 PRIu64, seed, total, last);
	}
	assert_int_equal(report.error, LPL_OK);
	lpl_reader_close(reader);
}

static void all_that_is_whole(void **unused)
{
	(void)unused;
	for (uint64_t seed = 1; seed <= TRIALS; seed++) {
		const bool runs = seed % 3 == 0;
		struct lpl_report report = { .error = LPL_OK };
		struct lpl_repaired repaired, dry;
		uint64_t random = seed, chunks = 0;
		struct lost lost, dry_lost;
		struct damage damage;
		struct stream stream;
		struct layout layout;
		struct bytes file;
		size_t last;
		bool any = false;

		stream_random(&stream, 2000, seed % STREAM_STYLES, seed);
		write_trace("whole.lpl", &stream, runs, seed);
		file = load("whole.lpl");
		lay_out(&layout, &file);
		last = layout.count - 1;
		do_damage(&damage, &file, &layout, &random);
		write_bytes("damaged.lpl", damage.bytes.data, damage.bytes.size);
		for (size_t i = 1; i < last; i++)
			chunks += !damage.hurt[i];
		if (repair("repaired.lpl", &lost, &repaired, &report) != LPL_OK) {
			/* there is nothing to save */
			if (chunks > 0 || !damage.hurt[0])
				fail_msg("seed %" PRIu64 ": %s", seed, report.text);
		} else {
			assert_saved("repaired.lpl", &stream, &layout, &damage,
				     damage.hurt[last], seed);
			assert_totals("repaired.lpl", seed);
			for (size_t i = 0; i < last; i++)
				any |= damage.hurt[i];
			if (repaired.chunks != chunks || lost.places != repaired.losses ||
			    (any && lost.places == 0) ||
			    (!any && !damage.hurt[last] && lost.places != 0))
				fail_msg("seed %" PRIu64 ": %" PRIu64 " chunks of %" PRIu64 ", %" PRIu64
					 " losses", seed, repaired.chunks, chunks, lost.places);
			/* how many there were follows from what comes after them */
			if (!lost.unknown && repaired.had_index)
				assert_true(repaired.refs + repaired.events + lost.refs + lost.events ==
					    stream.count);
			/* a dry run gives the same answer */
			assert_int_equal(repair(NULL, &dry_lost, &dry, &report), LPL_OK);
			assert_memory_equal(&dry, &repaired, sizeof(dry));
			assert_memory_equal(&dry_lost, &lost, sizeof(lost));
		}
		free(damage.bytes.data);
		free(file.data);
		stream_free(&stream);
	}
}

/* Nothing is changed that need not be: what is whole is left as it is, byte for byte. */
static void what_is_whole_is_kept(void **unused)
{
	(void)unused;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct lpl_report report = { .error = LPL_OK };
		struct bytes file, again, cut;
		struct lpl_repaired repaired;
		struct layout layout;
		struct stream stream;
		struct lost lost;

		stream_random(&stream, 3000, seed % STREAM_STYLES, seed);
		write_trace("whole.lpl", &stream, seed % 2, seed);
		file = load("whole.lpl");
		lay_out(&layout, &file);
		write_bytes("damaged.lpl", file.data, file.size);
		assert_int_equal(repair("repaired.lpl", &lost, &repaired, &report), LPL_OK);
		assert_true(repaired.had_index && repaired.losses == 0);
		again = load("repaired.lpl");
		assert_int_equal(again.size, file.size);
		assert_memory_equal(again.data, file.data, file.size);
		free(again.data);

		/* without its index it is the same up to there */
		cut = (struct bytes){ file.data, layout.offset[layout.count - 1] };
		write_bytes("damaged.lpl", cut.data, cut.size);
		assert_int_equal(repair("repaired.lpl", &lost, &repaired, &report), LPL_OK);
		assert_true(!repaired.had_index && repaired.losses == 0 && lost.places == 0);
		again = load("repaired.lpl");
		assert_true(again.size > cut.size);
		assert_memory_equal(again.data, file.data, cut.size);
		free(again.data);
		free(file.data);
		stream_free(&stream);
	}
}

/* Whatever headers say: what goes on later than where a loss began has a gap before it. */
static void headers_that_lie(void **unused)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_chunk_header header;
	struct lpl_repaired repaired;
	uint64_t refs, events;
	struct layout layout;
	struct result result;
	struct stream stream;
	struct bytes file;
	struct lost lost;

	(void)unused;
	stream_random(&stream, 2000, 1, 1);
	write_trace("whole.lpl", &stream, false, 1);
	file = load("whole.lpl");
	lay_out(&layout, &file);
	assert_true(layout.count > 5);
	/* a chunk that says that it has no records, and those after it agree */
	(void)lpl_chunk_decode(&header, file.data + layout.offset[2]);
	refs = header.refs;
	events = header.events;
	for (size_t i = 2; i < layout.count; i++) {
		(void)lpl_chunk_decode(&header, file.data + layout.offset[i]);
		if (i == 2)
			header.refs = header.events = 0;
		header.refs_so_far -= refs;
		header.events_so_far -= events;
		lpl_chunk_encode(&header, file.data + layout.offset[i]);
	}
	write_bytes("damaged.lpl", file.data, file.size);
	free(file.data);
	assert_int_equal(repair("repaired.lpl", &lost, &repaired, &report), LPL_OK);
	assert_int_equal(repaired.losses, 1);
	assert_int_equal(repaired.refs + repaired.events, stream.count - refs - events);
	file = load("repaired.lpl");
	read_bytes(&result, file.data, file.size);
	assert_int_equal(result.read, LPL_OK);
	assert_true(result.complete);
	assert_int_equal(result.stream.count, stream.count - refs - events + 1);
	assert_int_equal(result.stream.items[layout.records[2]].event.tag, LPL_EVENT_GAP);
	free(file.data);
	stream_free(&result.stream);
	stream_free(&stream);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_that_is_whole),
		cmocka_unit_test(what_is_whole_is_kept),
		cmocka_unit_test(headers_that_lie),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
