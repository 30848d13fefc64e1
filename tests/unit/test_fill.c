/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Columns that are filled hold the stream that was written, or what was chosen of it, whatever
 * their length, before and after every event; what is before damage is handed over.
 */
#include "trace_file.h"

#include <laplace/select.h>

#define RECORDS 6000
#define ROOM 4099
#define SENTINEL 0x5a

/* One element more than is asked for, which has to stay what it was. */
struct arrays {
	uint64_t ref[ROOM + 1], instr[ROOM + 1], cycle[ROOM + 1], address[ROOM + 1], space[ROOM + 1];
	uint16_t length[ROOM + 1];
	uint8_t type[ROOM + 1], flags[ROOM + 1];
};

static struct lpl_ref_columns columns_of(struct arrays *a)
{
	memset(a, SENTINEL, sizeof(*a));
	return (struct lpl_ref_columns){ a->ref, a->instr, a->cycle, a->address, a->space, a->length,
				     a->type, a->flags };
}

static void write_stream(const struct stream *stream, bool runs, size_t chunk_refs)
{
	const struct lpl_writer_options options = { .chunk_refs = chunk_refs, .blocks = runs };
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_meta *meta = some_meta();
	struct lpl_writer *writer;

	assert_int_equal(lpl_writer_open(&writer, in_directory("t.lpl"), meta, &options, true,
					 &report), LPL_OK);
	lpl_meta_free(meta);
	if (stream_send(stream, 0, stream->count, lpl_writer_sink(writer), 7, &report) != LPL_OK ||
	    lpl_writer_close(writer, &report) != LPL_OK)
		fail_msg("%s", report.text);
}

static struct lpl_reader *open_it(void)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_reader *reader;

	if (lpl_reader_open(&reader, in_directory("t.lpl"), &report) != LPL_OK)
		fail_msg("%s", report.text);
	return reader;
}

/* What was filled as references of a stream; after it nothing was touched. */
static void add_filled(struct stream *found, const struct arrays *a, size_t count)
{
	for (size_t i = 0; i < count; i++)
		stream_add(found)->ref = (struct lpl_ref){
			.ref = a->ref[i], .instr = a->instr[i], .cycle = a->cycle[i],
			.address = a->address[i], .space = a->space[i], .length = a->length[i],
			.type = a->type[i], .flags = a->flags[i] };
	assert_true(a->ref[count] == UINT64_C(0x5a5a5a5a5a5a5a5a));
	assert_true(a->address[count] == UINT64_C(0x5a5a5a5a5a5a5a5a));
	assert_int_equal(a->length[count], 0x5a5a);
	assert_int_equal(a->type[count], SENTINEL);
	assert_int_equal(a->flags[count], SENTINEL);
}

static void add_event(struct stream *found, const struct lpl_event *event)
{
	struct item *item;

	if (!event)
		return;
	item = stream_add(found);
	item->is_event = true;
	item->event = *event;
}

static void assert_same(const struct stream *found, const struct stream *expected, uint64_t seed)
{
	const size_t same = stream_difference(found, expected, expected->count);

	if (found->count != expected->count || same != expected->count)
		fail_msg("seed %" PRIu64 ": record %zu of %zu differs", seed, same, expected->count);
}

/* Fill with `most`, or where it is 0 with another number each time, now and then by blocks. */
static void fill_all(struct stream *found, struct lpl_reader *reader, size_t most, uint64_t seed)
{
	struct arrays *a = malloc(sizeof(*a));
	struct lpl_report report = { .error = LPL_OK };
	const struct lpl_event *event;
	const struct lpl_ref *refs;
	enum lpl_error error;
	bool ended = false;
	size_t count;

	assert_non_null(a);
	do {
		const struct lpl_ref_columns columns = columns_of(a);
		const size_t room = most ? most : 1 + next_random(&seed) % ROOM;

		if (most || next_random(&seed) % 4) {
			error = lpl_reader_fill(reader, &columns, room, &count, &event, &report);
			assert_true(count <= room);
			add_filled(found, a, count);
			/* nothing but an event and the end stops it early */
			assert_true(!ended || (count == 0 && !event));
			ended = count < room && !event;
		} else {
			error = lpl_reader_next(reader, &refs, &count, &event, &report);
			for (size_t i = 0; i < count; i++)
				stream_add(found)->ref = refs[i];
		}
		if (error != LPL_OK)
			fail_msg("%s", report.text);
		add_event(found, event);
	} while (count > 0 || event);
	free(a);
}

/* Odd numbers, every style of stream, packed either way, one thread and several. */
static void as_the_plain_reader(void **unused)
{
	static const size_t most[] = { 0, 1, 3, 7, 255, 257, 1021, ROOM };

	(void)unused;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		const bool runs = seed % 4 < 2;
		struct stream stream, found;

		stream_random(&stream, RECORDS,
			      runs ? STREAM_RAW : (enum stream_style)(seed % STREAM_STYLES), seed);
		write_stream(&stream, runs, seed % 3 ? 701 : 0);
		for (size_t i = 0; i < sizeof(most) / sizeof(most[0]); i++) {
			struct lpl_reader *reader = open_it();

			lpl_reader_jobs(reader, 1 + i % 3);
			stream_init(&found);
			fill_all(&found, reader, most[i], seed);
			assert_same(&found, &stream, seed);
			assert_true(lpl_reader_complete(reader));
			lpl_reader_close(reader);
			stream_free(&found);
		}
		stream_free(&stream);
	}
}

/* Where no events are wanted the columns get full, up to the last ones. */
static void without_events(void **unused)
{
	struct arrays *a = malloc(sizeof(*a));
	const struct lpl_ref_columns columns = columns_of(a);
	struct stream stream, references;
	struct lpl_reader *reader;
	size_t count, left;

	(void)unused;
	stream_random(&stream, RECORDS, STREAM_PAGED, 5);
	write_stream(&stream, false, 701);
	stream_init(&references);
	for (size_t i = 0; i < stream.count; i++)
		if (!stream.items[i].is_event)
			*stream_add(&references) = stream.items[i];
	assert_true(references.count < stream.count);
	reader = open_it();
	for (left = references.count; left > 0; left -= count) {
		assert_int_equal(lpl_reader_fill(reader, &columns, 997, &count, NULL, NULL), LPL_OK);
		assert_int_equal(count, left < 997 ? left : 997);
		for (size_t i = 0; i < count; i++)
			assert_true(a->address[i] ==
				    references.items[references.count - left + i].ref.address);
	}
	assert_int_equal(lpl_reader_fill(reader, &columns, 997, &count, NULL, NULL), LPL_OK);
	assert_int_equal(count, 0);
	lpl_reader_close(reader);
	stream_free(&references);
	stream_free(&stream);
	free(a);
}

/* A column that is NULL is left out, and no room is a mistake. */
static void what_is_asked_for(void **unused)
{
	uint64_t address[100];
	const struct lpl_ref_columns columns = { .address = address };
	struct lpl_report report = { .error = LPL_OK };
	const struct lpl_event *event = NULL;
	struct lpl_reader *reader;
	struct stream stream;
	size_t count = 1;

	(void)unused;
	stream_random(&stream, RECORDS, STREAM_WILD, 9);
	write_stream(&stream, false, 0);
	reader = open_it();
	assert_int_equal(lpl_reader_fill(reader, &columns, 0, &count, &event, &report),
			 LPL_ERR_USAGE);
	assert_true(count == 0 && !event);
	for (size_t done = 0; done < stream.count; done += count + (event != NULL)) {
		assert_int_equal(lpl_reader_fill(reader, &columns, 100, &count, &event, NULL),
				 LPL_OK);
		for (size_t i = 0; i < count; i++)
			assert_true(address[i] == stream.items[done + i].ref.address);
	}
	lpl_reader_close(reader);
	stream_free(&stream);
}

/* What precedes damage is handed over, and then the error comes, each time. */
static void in_front_of_damage(void **unused)
{
	struct layout *layout = malloc(sizeof(*layout));
	uint64_t address[ROOM];
	const struct lpl_ref_columns columns = { .address = address };
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_reader *reader;
	struct stream stream;
	struct bytes file;
	size_t count, whole = 0;

	(void)unused;
	assert_non_null(layout);
	stream_random(&stream, RECORDS, STREAM_WILD, 4);
	write_stream(&stream, false, 701);
	file = load("t.lpl");
	lay_out(layout, &file);
	file.data[layout->offset[4] + 150] ^= 1;
	write_bytes("t.lpl", file.data, file.size);
	for (size_t i = 0; i < layout->records[4]; i++)
		whole += !stream.items[i].is_event;
	reader = open_it();
	assert_int_equal(lpl_reader_fill(reader, &columns, ROOM, &count, NULL, &report), LPL_OK);
	assert_int_equal(count, whole);
	assert_int_equal(report.error, LPL_OK);
	for (int again = 0; again < 2; again++) {
		report.error = LPL_OK;
		assert_int_equal(lpl_reader_fill(reader, &columns, ROOM, &count, NULL, &report),
				 LPL_ERR_DAMAGED);
		assert_int_equal(count, 0);
		assert_non_null(strstr(report.text, "t.lpl"));
	}
	lpl_reader_close(reader);
	free(file.data);
	free(layout);
	stream_free(&stream);
}

/* Three tasks take turns, so that there is somebody to choose. */
static void take_turns(struct stream *stream, uint64_t seed)
{
	for (size_t i = 0; i < stream->count; i++) {
		struct lpl_event *event = &stream->items[i].event;

		if (!stream->items[i].is_event)
			continue;
		event->tag = KTR_SCHEDULE;
		memset(event->arg, 0, sizeof(event->arg));
		event->arg[KTR_SCHEDULE_NEXT_TID] = event->arg[KTR_SCHEDULE_NEXT_TGID] =
			1 + next_random(&seed) % 3;
		event->text_length = 0;
	}
}

/* What a choice passes that is pushed all of the trace. */
static void choose(struct stream *chosen, const struct lpl_choice_options *options)
{
	struct lpl_reader *reader = open_it();
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_choice *choice;
	struct stream passed;

	stream_init(&passed);
	stream_init(chosen);
	if (lpl_choice_open(&choice, options, &passed.sink, &report) != LPL_OK ||
	    lpl_reader_run(reader, lpl_choice_sink(choice), &report) != LPL_OK)
		fail_msg("%s", report.text);
	lpl_choice_close(choice);
	lpl_reader_close(reader);
	for (size_t i = 0; i < passed.count; i++)
		if (!passed.items[i].is_event)
			*stream_add(chosen) = passed.items[i];
	stream_free(&passed);
}

static void fill_chosen(struct stream *found, const struct lpl_choice_options *options, size_t most)
{
	struct arrays *a = malloc(sizeof(*a));
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_reader *reader = open_it();
	struct lpl_selection *selection;
	size_t count = most;

	assert_non_null(a);
	stream_init(found);
	if (lpl_selection_open(&selection, reader, options, &report) != LPL_OK)
		fail_msg("%s", report.text);
	do {
		const struct lpl_ref_columns columns = columns_of(a);

		assert_int_equal(count, most);	/* full, but for the last ones */
		if (lpl_selection_fill(selection, &columns, most, &count, &report) != LPL_OK)
			fail_msg("%s", report.text);
		add_filled(found, a, count);
	} while (count == most);
	assert_true(!options->task || lpl_choice_tasks(lpl_selection_choice(selection)) > 0);
	lpl_selection_close(selection);
	lpl_reader_close(reader);
	free(a);
}

/* A selection is what the choice passes that is pushed the whole. */
static void what_is_chosen(void **unused)
{
	static const char *const spec[] = { "type:write+walk-read+user", "task:2",
					    "from:references:1500+to:references:4000", "task:3+kernel",
					    "task:1+from:references:3000" };
	static const size_t most[] = { 1, 7, 509, ROOM };

	(void)unused;
	for (size_t i = 0; i < sizeof(spec) / sizeof(spec[0]); i++) {
		struct lpl_choice_options options;
		char words[LPL_CHOICE_SIZE];
		struct stream stream, chosen, found;

		stream_random(&stream, RECORDS, i % 2 ? STREAM_RAW : STREAM_PAGED, i);
		take_turns(&stream, i);
		write_stream(&stream, i % 2, 701);
		assert_int_equal(lpl_choice_parse(&options, words, spec[i], NULL), LPL_OK);
		choose(&chosen, &options);
		assert_true(chosen.count > 100 && chosen.count < stream.count);
		for (size_t k = 0; k < sizeof(most) / sizeof(most[0]); k++) {
			fill_chosen(&found, &options, most[k]);
			assert_same(&found, &chosen, i);
			stream_free(&found);
		}
		stream_free(&chosen);
		stream_free(&stream);
	}
}

/* A selection of what is damaged hands over what precedes it; one of no process is refused. */
static void what_cannot_be_chosen(void **unused)
{
	struct lpl_choice_options options = { .types = 1U << LPL_WRITE };
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_ref_columns columns = { 0 };
	struct lpl_selection *selection;
	struct lpl_reader *reader;
	struct stream stream;
	struct bytes file;
	size_t count;

	(void)unused;
	stream_random(&stream, RECORDS, STREAM_PAGED, 2);
	write_stream(&stream, false, 701);
	file = load("t.lpl");
	file.data[file.size / 2] ^= 1;
	write_bytes("t.lpl", file.data, file.size);
	reader = open_it();
	assert_int_equal(lpl_selection_open(&selection, reader, &options, &report), LPL_OK);
	assert_int_equal(lpl_selection_fill(selection, &columns, 0, &count, NULL), LPL_ERR_USAGE);
	assert_int_equal(lpl_selection_fill(selection, &columns, RECORDS, &count, &report), LPL_OK);
	assert_true(count > 0 && report.error == LPL_OK);
	assert_int_equal(lpl_selection_fill(selection, &columns, RECORDS, &count, &report),
			 LPL_ERR_DAMAGED);
	assert_true(count == 0 && strstr(report.text, "t.lpl"));
	lpl_selection_close(selection);
	options.children = true;
	assert_int_equal(lpl_selection_open(&selection, reader, &options, NULL), LPL_ERR_USAGE);
	assert_null(selection);
	lpl_reader_close(reader);
	free(file.data);
	stream_free(&stream);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_the_plain_reader),
		cmocka_unit_test(without_events),
		cmocka_unit_test(what_is_asked_for),
		cmocka_unit_test(in_front_of_damage),
		cmocka_unit_test(what_is_chosen),
		cmocka_unit_test(what_cannot_be_chosen),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
