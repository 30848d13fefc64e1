/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Conversion by the library alone (convert.h): there and back in each format, what is lost and
 * counted, and into a trace file.  What a format keeps is docs/formats.md's.
 */
#include "conversion.h"

/* ---- both ways ---- */

/* What is written goes to the file that is returned. */
static int export(const char *format, bool events, const struct stream *stream,
		  struct lpl_export_result *result)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_meta *meta = meta_of("none");
	const int fd = file_of("");
	const struct lpl_export_options options = {
		.format = format_of(format), .meta = meta, .fd = fd, .trace = "trace",
		.output = "output", .events = events,
	};
	struct lpl_exporter *exporter;
	struct lpl_sink *sink;

	assert_int_equal(lpl_exporter_open(&exporter, &options, &report), LPL_OK);
	lpl_meta_free(meta);
	sink = lpl_exporter_sink(exporter);
	if (stream_send(stream, 0, stream->count, sink, 1, &report) ||
	    sink->finish(sink, &report))
		fail_msg("%s: %s", format, report.text);
	lpl_exporter_result(exporter, result);
	lpl_exporter_close(exporter);
	assert_int_equal(lseek(fd, 0, SEEK_END), result->bytes);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

enum {
	REFS = 3000,
	/* what a format has, by docs/formats.md */
	CLOCKS = 1, CYCLE = 2, SPACE = 4, LENGTH = 8, ADDRESS = 16, TYPE = 32, FLAGS = 64,
	EVENTS = 128, WRITES = 256,	/* of types, only which references are writes */
	ALL = 255
};

/*
 * Fetches are multiples of 4 bytes apart, and nothing has more than 32 bits, so that any
 * format can express it.  With `paged` references are to whole pages.
 */
static void make_refs(struct stream *stream, bool paged, bool spaces, uint64_t seed)
{
	uint64_t state = seed, space = 7, cycle = 0;

	stream_init(stream);
	for (uint64_t i = 1; i <= REFS; i++) {
		const uint64_t dice = next_random(&state);
		struct lpl_ref *ref = &stream_add(stream)->ref;

		if (spaces && dice % 64 == 0)
			space = 1 + dice / 64 % 4000;
		cycle += dice / 8 % 4;
		*ref = (struct lpl_ref){
			.ref = i, .instr = i, .cycle = cycle, .space = space,
			.address = dice >> 34 << 2, .length = 4, .type = (uint8_t)(dice % 3),
		};
		if (paged) {
			ref->address &= ~(uint64_t)4095;
			ref->flags = LPL_PAGED;
			ref->length = 0;
		}
		if (i % 100 == 0)
			stream_add(stream)->is_event = true;
		if (i % 100 == 0)
			stream->items[stream->count - 1].event = (struct lpl_event){
				.tag = KTR_MARK, .ref = i, .instr = i, .cycle = cycle,
				.space = space, .tid = 3, .tgid = 4, .arg = { i },
				.text = "a mark", .text_length = 6,
			};
	}
}

/* Of what was sent, what the format has; the rest as import makes it. */
static void expect(struct stream *expected, const struct stream *sent, unsigned int fields)
{
	stream_init(expected);
	for (size_t i = 0; i < sent->count; i++) {
		const struct item *from = &sent->items[i];
		struct item *to;

		if (from->is_event && !(fields & EVENTS))
			continue;
		to = stream_add(expected);
		*to = *from;
		if (from->is_event)
			continue;
		if (!(fields & SPACE))
			to->ref.space = 0;
		if (!(fields & LENGTH))
			to->ref.length = 1;
		if (!(fields & TYPE) && !(fields & WRITES && to->ref.type == LPL_WRITE))
			to->ref.type = LPL_READ;
	}
}

/* Clocks that a format does not have are its own affair, and not compared. */
static void forget_clocks(struct stream *stream, unsigned int fields)
{
	for (size_t i = 0; i < stream->count; i++) {
		struct item *item = &stream->items[i];

		if (!(fields & CLOCKS)) {
			item->ref.instr = item->event.instr = 0;
			item->ref.ref = item->event.ref = 0;
		}
		if (!(fields & CYCLE))
			item->ref.cycle = item->event.cycle = 0;
	}
}

static void there_and_back(void **unused)
{
	static const struct {
		const char *name;
		bool paged, spaces;
		unsigned int fields;
	} formats[] = {
		{ "raw", false, true, ALL & ~(unsigned int)CLOCKS },
		{ "raw", true, true, ALL & ~(unsigned int)CLOCKS },
		{ "diff", false, true, ALL & ~(unsigned int)CLOCKS },
		{ "raw17", false, true, CYCLE | SPACE | LENGTH | TYPE },
		{ "raw18", false, true, CYCLE | SPACE | LENGTH | TYPE },
		{ "sad", true, true, ALL },
		{ "sad-diff", true, true, ALL },
		{ "pages", true, false, TYPE | EVENTS | LENGTH },
		{ "time-passed", true, false, TYPE | EVENTS | LENGTH },
		{ "csv", false, true, ALL },
		{ "csv", true, true, ALL },
		{ "npy", false, true, ALL & ~(unsigned int)EVENTS },
		{ "npy", true, true, ALL & ~(unsigned int)EVENTS },
		{ "din", false, false, TYPE },
		{ "lackey", false, false, TYPE | LENGTH },
		{ "hex", false, false, WRITES },
		{ "oracleGeneral", true, true, SPACE | LENGTH },
		{ "pdats", false, false, TYPE },
		{ "pdats2", false, false, TYPE },
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		const char *name = formats[i].name;
		const struct lpl_import_options options = { .format = format_of(name),
							    .input = "input" };
		struct lpl_report report = { .error = LPL_OK };
		struct lpl_export_result result;
		struct stream sent, expected, received;
		int fd;

		make_refs(&sent, formats[i].paged, formats[i].spaces, i);
		fd = export(name, formats[i].fields & EVENTS, &sent, &result);
		assert_int_equal(result.refs, REFS);
		stream_init(&received);
		if (import(&options, fd, &received.sink, &report))
			fail_msg("%s: %s", name, report.text);
		assert_true(received.finished);
		expect(&expected, &sent, formats[i].fields);
		forget_clocks(&expected, formats[i].fields);
		forget_clocks(&received, formats[i].fields);
		if (strcmp(name, "lackey") == 0)	/* all in user mode */
			for (size_t j = 0; j < expected.count; j++)
				expected.items[j].ref.flags |= LPL_USER;
		assert_int_equal(received.count, expected.count);
		if (stream_difference(&received, &expected, received.count) != received.count)
			fail_msg("%s: record %zu is another one", name,
				 stream_difference(&received, &expected, received.count));
		stream_free(&sent);
		stream_free(&expected);
		stream_free(&received);
	}
}

/* ---- the table ---- */

static void formats_are_listed(void **unused)
{
	char list[LPL_FORMAT_LIST_SIZE];
	size_t count = 0;

	(void)unused;
	for (const struct lpl_format *format; (format = lpl_format_at(count)); count++)
		assert_ptr_equal(lpl_format_find(lpl_format_name(format)), format);
	assert_in_range(count, 20, 100);	/* one after the other, each by its name */
	assert_null(lpl_format_at(count + 1));
	assert_null(lpl_format_find(""));
	assert_null(lpl_format_find("Raw"));
	assert_string_equal(lpl_format_list(list, LPL_FORMAT_BINARY, " or "),
			    "raw, diff, sad, sad-diff, pages, time-passed, behaviour, annotated, csv, "
			    "din, lackey, hex, disasm, ramulator2, ramulator2-o3, dramsim3 or per-process");
	assert_string_equal(lpl_format_list(list, LPL_FORMAT_EVENTS | LPL_FORMAT_BINARY |
						  LPL_WITH_LENGTH, " or "),
			    "din, hex, ramulator2, ramulator2-o3, dramsim3 or per-process");
	assert_string_equal(lpl_format_list(list, ~(unsigned int)(LPL_FORMAT_BINARY | LPL_WITH_TYPES),
					    " or "),
			    "din, hex, pdats or pdats2");
}

/* ---- what is lost ---- */

static void losses_are_counted(void **unused)
{
	struct lpl_ref ref = { .ref = 1, .flags = LPL_PAGED, .address = 0x3000, .space = 1 };
	struct lpl_export_result result;
	char text[LPL_WARNINGS_SIZE];
	struct stream stream;

	(void)unused;
	stream_init(&stream);
	stream_add(&stream)->ref = ref;
	ref = (struct lpl_ref){ .ref = 2, .address = 0x3004, .space = 2, .length = 4,
				.type = LPL_WALK_WRITE };
	stream_add(&stream)->ref = ref;
	ref.ref = 3;
	ref.space = 3;
	stream_add(&stream)->ref = ref;
	/* a change of address space, and one back; the walks are none */
	ref = (struct lpl_ref){ .ref = 4, .address = 0x4000, .space = 2 };
	stream_add(&stream)->ref = ref;
	ref.ref = 5;
	ref.space = 1;
	stream_add(&stream)->ref = ref;
	stream_add(&stream)->is_event = true;
	stream.items[5].event.ref = 5;

	close(export("din", false, &stream, &result));
	assert_int_equal(result.losses.addresses, 1);
	assert_int_equal(result.losses.lengths, 0);
	assert_int_equal(result.losses.spaces, 2);
	assert_int_equal(result.losses.walks, 2);
	assert_int_equal(result.losses.events, 1);
	assert_string_equal(lpl_losses_text(&result.losses, text),
			    "reduced to pages: addresses are those of pages\n"
			    "has several address spaces, and their pages look alike in this format\n"
			    "references to page tables are printed as reads and writes, of "
			    "physical addresses\n"
			    "1 events are left out\n");

	close(export("raw", true, &stream, &result));
	assert_int_equal(result.losses.addresses, 1);
	assert_int_equal(result.losses.lengths, 1);
	assert_int_equal(result.losses.spaces + result.losses.walks + result.losses.events, 0);

	close(export("csv", true, &stream, &result));
	assert_string_equal(lpl_losses_text(&result.losses, text), "");
	stream_free(&stream);
}

static void what_is_no_format_for_it_is_refused(void **unused)
{
	struct lpl_meta *meta = meta_of("sad:4");
	struct lpl_export_options options = { .format = format_of("kvmtrace"), .meta = meta,
					      .fd = STDOUT_FILENO, .trace = "t", .output = "o" };
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_exporter *exporter;

	(void)unused;
	assert_int_equal(lpl_exporter_open(&exporter, &options, &report), LPL_ERR_UNSUPPORTED);
	assert_null(exporter);
	options.format = format_of("behaviour");
	assert_int_equal(lpl_exporter_open(&exporter, &options, NULL), LPL_ERR_UNSUPPORTED);
	/* a file that is completed at its beginning has to be one, and empty */
	options.format = format_of("npy");
	options.fd = file_of("something");
	assert_int_equal(lpl_exporter_open(&exporter, &options, NULL), LPL_ERR_USAGE);
	close(options.fd);
	options.format = format_of("csv");
	assert_int_equal(lpl_meta_set(meta, LPL_META_PAGE_SIZE, "5000"), LPL_OK);
	assert_int_equal(lpl_exporter_open(&exporter, &options, NULL), LPL_ERR_UNSUPPORTED);
	lpl_meta_free(meta);
}

/* ---- import ---- */

static void options_are_checked(void **unused)
{
	static const struct {
		const char *format, *reduction;
		uint64_t memory, page_size;
		enum lpl_error error;
	} options[] = {
		{ "raw", NULL, 0, 0, LPL_OK },
		{ "raw", "nonsense", 0, 0, LPL_ERR_USAGE },
		{ "raw", NULL, 4, 0, LPL_ERR_USAGE },
		{ "raw", NULL, 0, 8192, LPL_ERR_USAGE },
		{ "behaviour", NULL, 0, 0, LPL_ERR_USAGE },
		{ "behaviour", NULL, 4, 0, LPL_OK },
		{ "pages", NULL, 0, 8192, LPL_OK },
		{ "pages", NULL, 0, 2048, LPL_OK },
		{ "pages", NULL, 0, 8, LPL_ERR_USAGE },
		{ "pages", "block:512+sad:4", 0, 512, LPL_OK },
		{ "pages", "sad:4", 0, 512, LPL_ERR_USAGE },
		{ "pages", "unknown", 0, 512, LPL_ERR_USAGE },
		{ "pages", NULL, 0, 12288, LPL_ERR_USAGE },
		{ "pages", NULL, 0, UINT64_C(1) << 31, LPL_ERR_USAGE },
		{ "pages", "block:8192", 0, 4096, LPL_ERR_USAGE },
		{ "pages", "block:8192", 0, 0, LPL_OK },
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		const struct lpl_import_options tried = {
			.format = format_of(options[i].format), .input = "i",
			.reduction = options[i].reduction, .memory = options[i].memory,
			.page_size = options[i].page_size,
		};
		struct lpl_report report = { .error = LPL_OK };
		struct lpl_importer *importer;

		assert_int_equal(lpl_importer_open(&importer, &tried, &report), options[i].error);
		assert_true((importer != NULL) == (options[i].error == LPL_OK));
		assert_int_equal(report.error, options[i].error);
		lpl_importer_close(importer);
	}
}

static void a_wrong_line_is_named(void **unused)
{
	const struct lpl_import_options options = { .format = format_of("sad"), .input = "name" };
	struct lpl_report report = { .error = LPL_OK };
	struct stream received;

	(void)unused;
	stream_init(&received);
	assert_int_equal(import(&options, file_of("r 1 1 1 5 a0\nw 3 2 2 5 a1\nr 2 3 3 5 a2\n"),
				&received.sink, &report), LPL_ERR_ORDER);
	assert_non_null(strstr(report.text, "name: line 3: "));
	/* what precedes it was sent */
	assert_int_equal(received.count, 2);
	assert_false(received.finished);
	assert_int_equal(received.items[1].ref.address, 0xa1000);
	stream_free(&received);
}

static enum lpl_error refuse_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				  struct lpl_report *report)
{
	(void)sink;
	(void)refs;
	(void)count;
	(void)report;
	return LPL_ERR_FULL;
}

static void a_sinks_error_comes_back(void **unused)
{
	const struct lpl_import_options options = { .format = format_of("pages"), .input = "i" };
	struct stream received;

	(void)unused;
	stream_init(&received);
	received.sink.refs = refuse_refs;
	assert_int_equal(import(&options, file_of("800a3\n"), &received.sink, NULL), LPL_ERR_FULL);
	assert_false(received.finished);
}

static void what_was_passed_over_is_counted(void **unused)
{
	const struct lpl_import_options options = { .format = format_of("din"), .input = "i" };
	const struct lpl_import_result *result;
	const int fd = file_of("3 10\n4\n4 flush\n3 20\n3 30\n0 40");
	char text[LPL_WARNINGS_SIZE];
	struct lpl_importer *importer;
	struct stream received;

	(void)unused;
	stream_init(&received);
	assert_int_equal(lpl_importer_open(&importer, &options, NULL), LPL_OK);
	assert_int_equal(lpl_importer_run(importer, fd, &received.sink, NULL), LPL_OK);
	result = lpl_importer_result(importer);
	assert_int_equal(result->bytes, 29);
	assert_int_equal(result->refs, 4);
	assert_int_equal(result->unknown, 3);
	assert_int_equal(result->flushes, 2);
	assert_int_equal(result->no_end, 6);
	assert_string_equal(lpl_importer_warnings(importer, text),
			    "line 6, the last, has no end: was the file cut off?\n"
			    "3 references of unknown type became reads\n"
			    "2 cache flushes were passed over\n");
	lpl_importer_close(importer);
	stream_free(&received);
	close(fd);
}

/* ---- into a trace ---- */

/* Import `text`, and read the trace. */
static void import_into(const char *name, struct lpl_import_options *options, const char *text,
			struct lpl_import_result *result, struct lpl_report *report)
{
	const int fd = file_of(text);
	struct lpl_importer *importer;
	enum lpl_error error;

	assert_int_equal(lpl_importer_open(&importer, options, report), LPL_OK);
	error = lpl_importer_write(importer, fd, in_directory(name), report);
	assert_int_equal(report->error, error);
	*result = *lpl_importer_result(importer);
	lpl_importer_close(importer);
	close(fd);
}

static void a_trace_is_made(void **unused)
{
	struct lpl_import_options options = { .format = format_of("raw"), .input = "/some/input",
					      .title = "a title", .producer = "a test" };
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_import_result result;
	struct lpl_reader *reader;
	const struct lpl_meta *meta;
	struct stream received;
	struct bytes file;

	(void)unused;
	import_into("whole", &options, "E mark 1 0 0 5 1 1 0 hello\nr 1 4 5 1000\ni 2 3 6 1ffe\n",
		    &result, &report);
	assert_int_equal(report.error, LPL_OK);
	assert_int_equal(result.refs, 3);	/* the fetch crosses a page */
	assert_int_equal(result.events, 1);
	assert_int_equal(result.spaces, 2);
	assert_int_equal(result.page_size, 4096);
	assert_string_equal(result.reduction, "none");
	assert_string_equal(result.exact, "all");
	assert_false(result.part);
	file = load("whole");
	assert_int_equal(result.trace_bytes, file.size);
	free(file.data);

	assert_int_equal(lpl_reader_open(&reader, in_directory("whole"), &report), LPL_OK);
	meta = lpl_reader_meta(reader);
	assert_string_equal(lpl_meta_get(meta, LPL_META_TITLE), "a title");
	assert_string_equal(lpl_meta_get(meta, LPL_META_PRODUCER), "a test");
	assert_string_equal(lpl_meta_get(meta, LPL_META_ADDRESSES), "virtual");
	assert_string_equal(lpl_meta_get(meta, LPL_META_REDUCTION), "none");
	assert_string_equal(lpl_meta_get(meta, LPL_META_SOURCE), "input");
	stream_init(&received);
	assert_int_equal(lpl_reader_run(reader, &received.sink, &report), LPL_OK);
	assert_int_equal(lpl_reader_totals(reader)->total, 3);
	assert_int_equal(lpl_reader_totals(reader)->refs[LPL_FETCH], 2);
	assert_int_equal(received.count, 4);
	assert_true(received.items[0].is_event);
	assert_int_equal(received.items[3].ref.address, 0x2000);
	assert_int_equal(received.items[3].ref.length, 1);
	assert_int_equal(received.items[3].ref.flags, LPL_SECOND);
	stream_free(&received);
	lpl_reader_close(reader);
}

/* A first reference to a page says that it was reduced; a later one that it is not known. */
static void the_first_reference_decides(void **unused)
{
	struct lpl_import_options options = { .format = format_of("raw"), .input = "i" };
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_import_result result;

	(void)unused;
	import_into("paged", &options, "r 1 0 5 1000\nr 2 4 5 1000\n", &result, &report);
	assert_int_equal(report.error, LPL_OK);
	assert_string_equal(result.reduction, "unknown");
	assert_true(result.paged);
	import_into("mixed", &options, "r 1 4 5 1000\nr 2 0 5 1000\n", &result, &report);
	assert_int_equal(report.error, LPL_ERR_USAGE);
	assert_false(result.part);
	report = (struct lpl_report){ .error = LPL_OK };
	options.reduction = "block";
	import_into("said", &options, "r 1 4 5 1000\nr 2 0 5 1000\n", &result, &report);
	assert_int_equal(report.error, LPL_OK);
	assert_string_equal(result.reduction, "block");
}

static void what_precedes_an_error_is_kept(void **unused)
{
	struct lpl_import_options options = { .format = format_of("pages"), .input = "i" };
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_import_result result;
	struct result read;
	struct bytes part;

	(void)unused;
	import_into("torn", &options, "1\n2\n3\nnonsense\n", &result, &report);
	assert_int_equal(report.error, LPL_ERR_DAMAGED);
	assert_true(result.part);
	assert_int_equal(result.refs, 3);
	assert_false(exists("torn"));
	part = load("torn.part");
	read_bytes(&read, part.data, part.size);
	assert_int_equal(read.stream.count, 3);
	stream_free(&read.stream);
	free(part.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(formats_are_listed),
		cmocka_unit_test(losses_are_counted),
		cmocka_unit_test(what_is_no_format_for_it_is_refused),
		cmocka_unit_test(options_are_checked),
		cmocka_unit_test(a_wrong_line_is_named),
		cmocka_unit_test(a_sinks_error_comes_back),
		cmocka_unit_test(what_was_passed_over_is_counted),
		cmocka_unit_test(a_trace_is_made),
		cmocka_unit_test(the_first_reference_decides),
		cmocka_unit_test(what_precedes_an_error_is_kept),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
