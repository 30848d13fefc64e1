/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file's bytes are those of docs/format.md: a second reader written from the text alone,
 * and chunks with checksums that are right but contents that are not.
 */
#include <xxhash.h>
#include <zstd.h>

#include "container/index.h"
#include "trace_file.h"

/* ---- a second reader ---- */

struct input {
	const uint8_t *at, *end;
};

static uint64_t take(struct input *input)
{
	uint64_t value = 0, factor = 1;
	uint8_t byte;

	do {
		assert_true(input->at < input->end);
		byte = *input->at++;
		value += (byte % 128) * factor;
		factor *= 128;
	} while (byte >= 128);
	return value;
}

/* The signed number that a zigzag one encodes. */
static uint64_t take_signed(struct input *input)
{
	uint64_t value = take(input);

	return value % 2 ? ~(value / 2) : value / 2;
}

static void take_column(struct input *input, uint64_t *numbers, size_t n)
{
	uint8_t form = *input->at++;
	const uint8_t *end;
	uint64_t size;

	assert_true(form <= 1);
	if (form == 0) {
		numbers[0] = take(input);
		for (size_t i = 1; i < n; i++)
			numbers[i] = numbers[0];
		return;
	}
	size = take(input);
	end = input->at + size;
	for (size_t i = 0; i < n; i++)
		numbers[i] = take(input);
	assert_ptr_equal(input->at, end);
}

struct clocks {
	uint64_t ref, instr, cycle;
};

static struct clocks clocks_at(const uint8_t *header, int offset)
{
	return (struct clocks){ little_endian(header + offset, 8),
				little_endian(header + offset + 8, 8),
				little_endian(header + offset + 16, 8) };
}

static uint64_t signed_of(uint64_t zigzag)
{
	return zigzag % 2 ? ~(zigzag / 2) : zigzag / 2;
}

static void read_refs(struct input *input, struct lpl_ref *refs, size_t n, struct clocks before,
		      uint64_t space)
{
	uint64_t *column[7], last_end[5] = { 0 };

	for (int c = 0; c < 7; c++) {
		column[c] = malloc(n * sizeof(uint64_t));
		assert_non_null(column[c]);
		take_column(input, column[c], n);
	}
	for (size_t i = 0; i < n; i++) {
		struct lpl_ref *r = &refs[i];
		uint64_t address = signed_of(column[6][i]);

		memset(r, 0, sizeof(*r));
		r->type = column[0][i] % 8;
		r->flags = (uint8_t)(column[0][i] / 8);
		r->length = (uint16_t)column[1][i];
		before.ref += column[2][i];
		before.instr += column[3][i];
		before.cycle += column[3][i] + signed_of(column[4][i]);
		r->ref = before.ref;
		r->instr = before.instr;
		r->cycle = before.cycle;
		r->space = space += signed_of(column[5][i]);
		r->address = r->flags & LPL_PAGED ? (last_end[r->type] / 4096 + address) * 4096
						  : last_end[r->type] + address;
		last_end[r->type] = r->address + r->length;
	}
	for (int c = 0; c < 7; c++)
		free(column[c]);
}

static void read_data(struct stream *stream, const uint8_t *header, struct input input)
{
	size_t n = little_endian(header + 24, 4), m = little_endian(header + 28, 4), at = 0;
	struct clocks before = clocks_at(header, 32), last = clocks_at(header, 80);
	struct lpl_ref *refs = malloc((n + 1) * sizeof(*refs));
	uint64_t space = take(&input), position = 0;

	assert_non_null(refs);
	if (n > 0)
		read_refs(&input, refs, n, before, space);
	for (size_t k = 0; k < m; k++) {
		struct item *item;
		struct lpl_event *e;
		uint64_t mask;

		for (position += take(&input); at < position; at++) {
			before = (struct clocks){ refs[at].ref, refs[at].instr, refs[at].cycle };
			stream_add(stream)->ref = refs[at];
		}
		item = stream_add(stream);
		item->is_event = true;
		e = &item->event;
		e->ref = before.ref + take(&input);
		e->instr = take(&input);
		e->cycle = before.cycle + e->instr + take_signed(&input);
		e->instr += before.instr;
		e->tag = (uint32_t)take(&input);
		e->tid = (uint32_t)take(&input);
		e->tgid = (uint32_t)take(&input);
		e->space = take(&input);
		mask = take(&input);
		for (int i = 0; i < 12; i++)
			e->arg[i] = mask >> i & 1 ? take(&input) : 0;
		e->text_length = (uint32_t)take(&input);
		memcpy(e->text, input.at, e->text_length);
		input.at += e->text_length;
		before = (struct clocks){ e->ref, e->instr, e->cycle };
	}
	for (; at < n; at++) {
		before = (struct clocks){ refs[at].ref, refs[at].instr, refs[at].cycle };
		stream_add(stream)->ref = refs[at];
	}
	assert_memory_equal(&before, &last, sizeof(last));
	/* of the types nothing is known as of this record: some_totals are of another */
	assert_true(little_endian(header + 120, 8) == last.ref);
	for (uint64_t i = 0; i < 6; i++)
		assert_true(take(&input) == (last.ref == 150 ? some_totals.refs[i] : 0));
	assert_true(take(&input) == some_totals.tracer_refs);
	assert_true(take(&input) == some_totals.events);
	assert_ptr_equal(input.at, input.end);
	free(refs);
}

static void read_index(const struct bytes *file, const struct layout *layout,
		       struct input input, uint64_t chain)
{
	uint64_t offset = 0, refs = 0, events = 0;
	struct clocks base = { 0, 0, 0 };

	assert_true(take(&input) == 1);
	assert_true(take(&input) == layout->count - 2);
	for (size_t k = 1; k < layout->count - 1; k++) {
		const uint8_t *header = file->data + layout->offset[k];
		struct clocks expected = clocks_at(header, 32);

		offset += take(&input);
		refs += take(&input);
		events += take(&input);
		base.ref += take(&input);
		base.instr += take(&input);
		base.cycle += take(&input);
		assert_true(offset == layout->offset[k]);
		assert_true(refs + events == layout->records[k]);
		assert_true(refs + little_endian(header + 24, 4) == little_endian(header + 104, 8));
		assert_true(events + little_endian(header + 28, 4) ==
			    little_endian(header + 112, 8));
		assert_memory_equal(&base, &expected, sizeof(base));
	}
	for (uint64_t i = 0; i < 5; i++)
		assert_true(take(&input) == (base.ref > 150 ? 0 : some_totals.refs[i]));
	assert_true(take(&input) == (base.ref > 150 ? 0 : some_totals.user_refs));
	assert_true(take(&input) == some_totals.tracer_refs);
	assert_true(take(&input) == some_totals.events);
	assert_true(take(&input) == some_totals.wait_ns);
	assert_true(take(&input) == some_totals.recording.instructions);
	assert_true(take(&input) == some_totals.recording.elapsed_ns);
	assert_true(take(&input) == some_totals.recording.sent_bytes);
	assert_true(take(&input) == some_totals.recording.sent_refs);
	assert_int_equal(input.end - input.at, 8);
	assert_true(little_endian(input.at, 8) == chain);
}

static void second_reader(struct stream *stream, const struct bytes *file)
{
	static const uint8_t magic[] = { 0x89, 'L', 'P', 'L', 0x0d, 0x0a, 0x1a, 0x0a };
	static const char meta[] = "title=a test\nreduction=none\nx.empty-value_1=\n"
				   "machine=a=b\\nc = d\t\xff\n";
	struct layout layout;
	uint64_t chain = 0, last_ref = 0;

	lay_out(&layout, file);
	for (size_t k = 0; k < layout.count; k++) {
		const uint8_t *header = file->data + layout.offset[k];
		size_t stored = little_endian(header + 16, 4);
		size_t plain = little_endian(header + 20, 4);
		uint64_t kind = little_endian(header + 10, 2);
		uint8_t *payload = malloc(plain + 1), link[16];

		assert_non_null(payload);
		assert_memory_equal(header, magic, 8);
		/* an index with accounts is of version 2 */
		assert_int_equal(little_endian(header + 8, 2), k == layout.count - 1 ? 2 : 1);
		assert_int_equal(kind, k == 0 ? 1 : k == layout.count - 1 ? 3 : 2);
		assert_int_equal(little_endian(header + 12, 4), k);
		if (kind != 2)	/* the index: no fewer than the last record says */
			assert_true(little_endian(header + 120, 8) ==
				    (k == 0 ? 0 : last_ref > 150 ? last_ref : 150));
		last_ref = little_endian(header + 80, 8);
		assert_true(little_endian(header + 128, 8) == XXH3_64bits(header + 144, stored));
		assert_true(little_endian(header + 136, 8) == XXH3_64bits(header, 136));
		assert_true(ZSTD_getFrameContentSize(header + 144, stored) == plain);
		assert_int_equal(ZSTD_decompress(payload, plain, header + 144, stored), plain);
		if (kind == 1) {
			assert_int_equal(plain, sizeof(meta) - 1);
			assert_memory_equal(payload, meta, plain);
		} else if (kind == 2) {
			read_data(stream, header, (struct input){ payload, payload + plain });
		} else {
			read_index(file, &layout, (struct input){ payload, payload + plain },
				   chain);
		}
		for (int i = 0; i < 8; i++)
			link[i] = (uint8_t)(chain >> (8 * i));
		memcpy(link + 8, header + 136, 8);
		chain = XXH3_64bits(link, 16);
		free(payload);
	}
}

static void another_reader_agrees(void **unused)
{
	(void)unused;
	for (int style = 0; style < STREAM_STYLES; style++) {
		struct stream stream, found;
		struct bytes file;

		stream_random(&stream, 5000, (enum stream_style)style, 21 + (uint64_t)style);
		stream_init(&found);
		write_file("format.lpl", &stream, 700, 1);
		file = load("format.lpl");
		second_reader(&found, &file);
		assert_int_equal(found.count, stream.count);
		assert_int_equal(stream_difference(&stream, &found, stream.count), stream.count);
		free(file.data);
		stream_free(&stream);
		stream_free(&found);
	}
}

/* ---- right checksums, wrong contents ---- */

static void seal(uint8_t *header)
{
	uint64_t checksum = XXH3_64bits(header, 136);

	for (int i = 0; i < 8; i++)
		header[136 + i] = (uint8_t)(checksum >> (8 * i));
}

static void lying_headers(void **unused)
{
	static const uint8_t values[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
	struct stream stream;
	struct result result;
	struct bytes file, copy;
	struct layout layout;

	(void)unused;
	stream_random(&stream, 40, STREAM_PAGED, 31);
	write_file("lie.lpl", &stream, 13, 1);
	file = load("lie.lpl");
	lay_out(&layout, &file);
	copy.data = malloc(file.size);
	assert_non_null(copy.data);
	for (size_t k = 0; k < layout.count; k++)
		for (size_t at = 8; at < 128; at++)
			for (size_t v = 0; v < sizeof(values); v++) {
				uint8_t *header = copy.data + layout.offset[k];
				enum lpl_error error;

				memcpy(copy.data, file.data, file.size);
				if (header[at] == values[v])
					continue;
				header[at] = values[v];
				seal(header);
				read_bytes(&result, copy.data, file.size);
				error = result.opened ? result.opened : result.read;
				if (at == 8 && values[v] == 1)	/* an index without accounts */
					assert_int_equal(error, LPL_ERR_DAMAGED);
				else if (at < 10)
					assert_int_equal(error, LPL_ERR_FORMAT);
				else if (at < 12)
					assert_true(error == LPL_ERR_FORMAT ||
						    error == LPL_ERR_DAMAGED);
				else if (at >= 16 && at < 20)	/* stored: too few or many bytes */
					assert_true(error == LPL_ERR_TRUNCATED ||
						    error == LPL_ERR_DAMAGED);
				else
					assert_int_equal(error, LPL_ERR_DAMAGED);
				stream_free(&result.stream);
			}
	free(copy.data);
	free(file.data);
	stream_free(&stream);
}

/* A chunk has types when they add up to the number of its last record. */
static struct lpl_totals completed(const struct lpl_totals *totals, const struct bytes *file,
				   size_t offset)
{
	struct lpl_totals result = *totals;
	uint64_t last = little_endian(file->data + offset + 80, 8);

	for (int i = 0; i < LPL_TYPES; i++)
		last -= totals->refs[i];
	if (totals->total == 0)
		result.refs[LPL_FETCH] += last;
	return result;
}

/*
 * The first chunk of a file with `totals`, and what follows it of the same file with
 * `then`: how many records are read.
 */
static size_t read_joined(const struct lpl_totals *totals, const struct lpl_totals *then,
			  const struct stream *stream, struct result *result)
{
	struct layout first, second;
	struct bytes before, after;
	size_t begin, rest;
	uint8_t *joined;

	struct lpl_totals first_totals, second_totals;

	write_file("before.lpl", stream, 20, 1);
	before = load("before.lpl");
	lay_out(&first, &before);
	first_totals = completed(totals, &before, first.offset[1]);
	second_totals = completed(then, &before, first.offset[2]);
	free(before.data);
	write_file_of("before.lpl", stream, 20, 1, &first_totals);
	write_file_of("after.lpl", stream, 20, 1, &second_totals);
	before = load("before.lpl");
	after = load("after.lpl");
	lay_out(&first, &before);
	lay_out(&second, &after);
	assert_true(first.count >= 4 && first.records[2] == second.records[2]);
	begin = first.offset[2];
	rest = after.size - second.offset[2];
	joined = malloc(begin + rest + 1);
	assert_non_null(joined);
	memcpy(joined, before.data, begin);
	memcpy(joined + begin, after.data + second.offset[2], rest);
	read_bytes(result, joined, begin + rest);
	free(joined);
	free(before.data);
	free(after.data);
	return first.records[2];
}

/*
 * Each number that both have, one less than in the chunk before.  Without a total
 * the rest of the references are fetches; with one, there are no types.
 */
static void totals_run_backwards(void **unused)
{
	static const struct {
		struct lpl_totals before, then;
		bool allowed;
	} cases[] = {
		{ { .total = 900 }, { .total = 900 }, true },
		{ { .total = 900, .tracer_refs = 7 }, { .total = 901, .tracer_refs = 6 }, false },
		{ { .total = 900, .events = 3 }, { .total = 900, .events = 2 }, false },
		{ { .refs = { 4 } }, { .refs = { 3 } }, false },
		{ { .refs = { 0, 0, 0, 0, 4 } }, { .refs = { 1, 0, 0, 0, 3 } }, false },
		{ { .refs = { 1 }, .user_refs = 5 }, { .refs = { 1 }, .user_refs = 4 }, false },
		{ { .refs = { 1 }, .user_refs = 5 }, { .refs = { 1 }, .user_refs = 5 }, true },
		/* types and modes that were not counted this time, or the time before */
		{ { .refs = { 4 }, .user_refs = 5 }, { .total = 900 }, true },
		{ { .total = 900 }, { .refs = { 1, 2 }, .user_refs = 5 }, true },
	};
	struct stream stream;

	(void)unused;
	stream_random(&stream, 100, STREAM_RAW, 33);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct result result;
		size_t first = read_joined(&cases[i].before, &cases[i].then, &stream, &result);

		/* (the index is of another first chunk, so that the end may be damaged) */
		if (result.stream.count != (cases[i].allowed ? stream.count : first))
			fail_msg("case %zu: %zu records were read", i, result.stream.count);
		if (!cases[i].allowed) {
			assert_int_equal(result.read, LPL_ERR_DAMAGED);
			assert_non_null(strstr(result.report.text, "chunk 2 at offset"));
		}
		stream_free(&result.stream);
	}
	stream_free(&stream);
}

/* The table is small, however long the trace, and holds what section 5 says. */
static void index_is_thinned(void **unused)
{
	struct lpl_chunk_header header = { .kind = LPL_CHUNK_HEADER };
	struct lpl_index index = { .entries = NULL };
	uint64_t chunks = 0;

	(void)unused;
	assert_true(lpl_index_add(&index, &header, 0));
	header.kind = LPL_CHUNK_DATA;
	header.refs = 3;
	while (chunks < 300000) {
		uint64_t stride = 1;

		header.refs_so_far += 3;
		assert_true(lpl_index_add(&index, &header, 1000 + chunks));
		chunks++;
		if (chunks % 10007 != 0 && (chunks & (chunks - 1)) != 0 &&
		    ((chunks - 1) & (chunks - 2)) != 0)
			continue;
		while ((chunks + stride - 1) / stride > 65536)
			stride *= 2;
		assert_true(index.chunks == chunks);
		assert_true(index.stride == stride);
		assert_true(index.count == (chunks + stride - 1) / stride);
		for (size_t i = 0; i < index.count; i++)
			if (index.entries[i].offset != 1000 + i * stride ||
			    index.entries[i].refs != 3 * i * stride)
				fail_msg("entry %zu of %" PRIu64 " chunks", i, chunks);
	}
	lpl_index_free(&index);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_reader_agrees),
		cmocka_unit_test(lying_headers),
		cmocka_unit_test(totals_run_backwards),
		cmocka_unit_test(index_is_thinned),
	};

	return cmocka_run_group_tests_name("format", tests, make_directory, remove_directory);
}
