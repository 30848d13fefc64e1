/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A reader that is given for each chunk how much is needed: what it delivers is the stream without
 * what is not, from a file, a pipe and segments; and what is not needed may be damaged.
 */
#include <sys/wait.h>

#include "segmented.h"
#include "chunk_clocks.h"

/* What is asked, and what has to be delivered then. */
struct asked {
	uint64_t seed;
	const struct stream *stream;
	size_t records;			/* of the stream, in the chunks up to here */
	struct stream expected;
	struct bytes *damage;		/* what is not needed is damaged in these; or NULL */
	size_t count[LPL_NEED_NOTHING + 1];
};

/* A chunk of the stream has the next so many records of it, and their clocks. */
static void check_clocks(const struct asked *asked, const struct lpl_chunk *chunk, size_t end)
{
	struct lpl_chunk clocks;

	assert_true(end > asked->records && end <= asked->stream->count);
	clocks = chunk_clocks(&asked->stream->items[asked->records], &asked->stream->items[end - 1]);
	assert_true(chunk->first_ref == clocks.first_ref && chunk->last_ref == clocks.last_ref);
	assert_true(chunk->first_instr == clocks.first_instr && chunk->last_instr == clocks.last_instr);
	assert_true(chunk->first_cycle == clocks.first_cycle && chunk->last_cycle == clocks.last_cycle);
}

static enum lpl_need answer(void *context, const struct lpl_chunk *chunk)
{
	struct asked *asked = context;
	const size_t end = asked->records + chunk->refs + chunk->events;
	const enum lpl_need need = (enum lpl_need)(next_random(&asked->seed) % (LPL_NEED_NOTHING + 1));

	check_clocks(asked, chunk, end);
	asked->count[need]++;
	for (; asked->records < end; asked->records++) {
		const struct item *item = &asked->stream->items[asked->records];

		if (need <= LPL_NEED_REFS || (need == LPL_NEED_EVENTS && item->is_event))
			*stream_add(&asked->expected) = *item;
	}
	if (asked->damage && need == LPL_NEED_NOTHING)
		for (uint64_t i = 144; i < chunk->bytes; i++)
			asked->damage->data[chunk->offset + i] ^= 0x55;
	return need;
}

static void read_asking(struct asked *asked, struct lpl_reader *reader, unsigned int jobs)
{
	struct lpl_report report = { .error = LPL_OK };
	struct stream found;

	stream_init(&found);
	stream_init(&asked->expected);
	lpl_reader_jobs(reader, jobs);
	lpl_reader_ask(reader, answer, asked);
	if (lpl_reader_run(reader, &found.sink, &report) != LPL_OK)
		fail_msg("%s", report.text);
	assert_true(lpl_reader_complete(reader));
	assert_int_equal(asked->records, asked->stream->count);
	assert_int_equal(found.count, asked->expected.count);
	assert_int_equal(stream_difference(&found, &asked->expected, found.count), found.count);
	for (int need = 0; need <= LPL_NEED_NOTHING; need++)
		assert_true(asked->count[need] > 0);
	lpl_reader_close(reader);
	stream_free(&found);
	stream_free(&asked->expected);
}

static void read_named(struct asked asked, const char *name, unsigned int jobs)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_reader *reader;

	if (lpl_reader_open(&reader, in_directory(name), &report) != LPL_OK)
		fail_msg("%s", report.text);
	read_asking(&asked, reader, jobs);
}

static void read_through_pipe(struct asked asked, const char *name)
{
	struct lpl_report report = { .error = LPL_OK };
	struct bytes file = load(name);
	struct lpl_reader *reader;
	int end[2], status;
	pid_t writer;

	assert_int_equal(pipe(end), 0);
	writer = fork();
	assert_true(writer >= 0);
	if (writer == 0) {
		(void)close(end[0]);
		_exit(write(end[1], file.data, file.size) != (ssize_t)file.size);
	}
	(void)close(end[1]);
	if (lpl_reader_open_fd(&reader, end[0], true, "pipe", &report) != LPL_OK)
		fail_msg("%s", report.text);
	read_asking(&asked, reader, 1);
	assert_int_equal(waitpid(writer, &status, 0), writer);
	assert_int_equal(status, 0);
	free(file.data);
}

/* Chunk after chunk otherwise decided, packed either way. */
static void what_is_needed(void **unused)
{
	(void)unused;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		const bool runs = seed % 2 == 0;
		struct stream stream;
		struct asked asked;

		stream_random(&stream, RECORDS, runs ? STREAM_RAW : (enum stream_style)(seed % STREAM_STYLES), seed);
		asked = (struct asked){ .seed = seed, .stream = &stream };
		write_file("one.lpl", &stream, 500, seed);
		read_named(asked, "one.lpl", 1);
		read_named(asked, "one.lpl", 3);
		read_through_pipe(asked, "one.lpl");
		write_cut("cut.lpl", &stream, even, PARTS, runs, NULL);
		read_named(asked, "cut.lpl", 1);
		read_named(asked, "cut.lpl", 3);
		stream_free(&stream);
	}
}

static enum lpl_need nothing(void *context, const struct lpl_chunk *chunk)
{
	(void)chunk;
	++*(size_t *)context;
	return LPL_NEED_NOTHING;
}

/* What a reader delivers that needs nothing; `chunks`: about how many it was asked. */
static struct stream read_nothing(const char *name, size_t *chunks)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_reader *reader;
	struct stream found;

	*chunks = 0;
	stream_init(&found);
	if (lpl_reader_open(&reader, in_directory(name), &report) != LPL_OK)
		fail_msg("%s", report.text);
	lpl_reader_ask(reader, nothing, chunks);
	if (lpl_reader_run(reader, &found.sink, &report) != LPL_OK)
		fail_msg("%s", report.text);
	lpl_reader_close(reader);
	return found;
}

static enum lpl_error take_event(struct lpl_state_keeper *keeper, const struct lpl_event *event,
				 struct lpl_report *report)
{
	(void)keeper, (void)event, (void)report;
	return LPL_OK;
}

static enum lpl_error send_state(struct lpl_state_keeper *keeper, struct lpl_sink *sink,
				 struct lpl_report *report)
{
	const struct lpl_event event = { .tag = KTR_MARK };

	(void)keeper;
	return sink->event(sink, &event, report);
}

/* What there was before a segment read alone is delivered, whatever is needed of the rest. */
static void a_state_is_always_delivered(void **unused)
{
	struct lpl_state_keeper keeper = { take_event, send_state };
	struct stream stream, found;
	size_t chunks;

	(void)unused;
	stream_random(&stream, RECORDS, STREAM_PAGED, 3);
	write_cut("kept.lpl", &stream, even, PARTS, false, &keeper);
	found = read_nothing(segment_name("kept", 3), &chunks);
	assert_true(chunks > 2);
	assert_int_equal(found.count, 1);
	assert_true(found.items[0].is_event && found.items[0].event.tag == KTR_MARK);
	stream_free(&found);
	stream_free(&stream);
}

/* Bytes that this process has read so far, as the kernel counts them; 0: it does not say. */
static uint64_t bytes_read(void)
{
	FILE *file = fopen("/proc/self/io", "r");
	uint64_t bytes = 0;

	if (file && fscanf(file, "rchar: %" SCNu64, &bytes) != 1)
		bytes = 0;
	if (file)
		assert_int_equal(fclose(file), 0);
	return bytes;
}

/* Of a file no payload is read, but headers. */
static void how_little_is_read(void **unused)
{
	uint64_t before = bytes_read(), read;
	struct stream stream, found;
	struct bytes file;
	size_t chunks;

	(void)unused;
	if (before == 0)
		skip();
	stream_random(&stream, RECORDS, STREAM_WILD, 3);
	write_file("one.lpl", &stream, 5000, 3);
	file = load("one.lpl");
	before = bytes_read();
	found = read_nothing("one.lpl", &chunks);
	read = bytes_read() - before;
	assert_int_equal(found.count, 0);
	assert_true(chunks > 2 && file.size > 100000);
	assert_true(read < file.size / 10);
	free(file.data);
	stream_free(&stream);
}

/* And so it may be damaged. */
static void what_is_not_read(void **unused)
{
	(void)unused;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct stream stream;
		struct bytes file;
		struct asked asked;

		stream_random(&stream, RECORDS, STREAM_PAGED, seed);
		write_file("one.lpl", &stream, 500, seed);
		file = load("one.lpl");
		asked = (struct asked){ .seed = seed, .stream = &stream, .damage = &file };
		read_named(asked, "one.lpl", 1);
		write_bytes("damaged.lpl", file.data, file.size);
		asked.damage = NULL;
		read_named(asked, "damaged.lpl", 3);
		free(file.data);
		stream_free(&stream);
	}
}

/* A file that ends within what is passed over is cut off there. */
static void what_is_cut_off(void **unused)
{
	struct lpl_report report = { .error = LPL_OK };
	struct layout *layout = malloc(sizeof(*layout));
	struct asked asked = { .seed = 1 };
	struct lpl_reader *reader;
	struct stream stream, found;
	struct bytes file;

	(void)unused;
	assert_non_null(layout);
	stream_random(&stream, RECORDS, STREAM_PAGED, 1);
	asked.stream = &stream;
	write_file("one.lpl", &stream, 500, 1);
	file = load("one.lpl");
	lay_out(layout, &file);
	for (size_t chunk = 1; chunk + 1 < layout->count; chunk++) {
		struct asked now = asked;

		write_bytes("cut-off.lpl", file.data, layout->offset[chunk + 1] - 1);
		stream_init(&found);
		stream_init(&now.expected);
		assert_int_equal(lpl_reader_open(&reader, in_directory("cut-off.lpl"), &report), LPL_OK);
		lpl_reader_ask(reader, answer, &now);
		report.error = LPL_OK;
		assert_int_equal(lpl_reader_run(reader, &found.sink, &report), LPL_ERR_TRUNCATED);
		lpl_reader_close(reader);
		stream_free(&found);
		stream_free(&now.expected);
	}
	free(layout);
	free(file.data);
	stream_free(&stream);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_needed),
		cmocka_unit_test(a_state_is_always_delivered),
		cmocka_unit_test(how_little_is_read),
		cmocka_unit_test(what_is_not_read),
		cmocka_unit_test(what_is_cut_off),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
