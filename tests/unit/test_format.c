/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The bytes are those of docs/format.md: literal payloads worked out by hand, a
 * second reader written from the text alone, and chunks whose checksums are right
 * but whose contents are not.
 */
#include <xxhash.h>
#include <zstd.h>

#include "container/data.h"
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

/* The signed number behind a zigzag one. */
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
		assert_int_equal(little_endian(header + 8, 2), 1);
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

/* ---- payloads worked out by hand ---- */

static const uint8_t two_refs_and_an_event[] = {
	0,				/* base space */
	0, 2 + 8 * 1,			/* kind: twice the same */
	0, 3,				/* length */
	0, 1,				/* ref */
	0, 1,				/* instr */
	1, 3, 0xc8, 0x01, 0,		/* cycle: +100 beyond instr, 0 */
	1, 2, 10, 0,			/* space: +5, 0 */
	1, 3, 0x80, 0x40, 0,		/* address: +4096, as predicted */
	1,				/* event after the first reference, */
	0, 0, 0,			/* at its clocks: */
	17, 7, 0xac, 0x02, 5,		/* tag, tid, tgid, space, */
	2, 9,				/* arg[1] */
	2, 'h', 'i',
	0, 0, 2, 0, 0, 2, 0, 1		/* totals */
};

static void literal_payload(void **unused)
{
	static const struct lpl_ref refs[] = {
		{ .type = LPL_FETCH, .flags = LPL_USER, .length = 3, .ref = 1, .instr = 1,
		  .cycle = 101, .space = 5, .address = 0x1000 },
		{ .type = LPL_FETCH, .flags = LPL_USER, .length = 3, .ref = 2, .instr = 2,
		  .cycle = 102, .space = 5, .address = 0x1003 },
	};
	static const struct lpl_event event = {
		.ref = 1, .instr = 1, .cycle = 101, .tag = KTR_MARK, .tid = 7, .tgid = 300,
		.space = 5, .arg = { 0, 9 }, .text_length = 2, .text = "hi"
	};
	static const struct lpl_totals totals = { .refs = { 0, 0, 2, 0, 0 }, .user_refs = 2,
						  .events = 1, .wait_ns = 99 };
	struct lpl_data_encoder encoder;
	uint8_t *out;

	(void)unused;
	assert_true(lpl_data_encoder_init(&encoder, 10, 10));
	out = malloc(lpl_data_bound(&encoder));
	assert_non_null(out);
	assert_int_equal(lpl_data_encode_refs(&encoder, refs, 1, NULL), LPL_OK);
	assert_int_equal(lpl_data_encode_event(&encoder, &event, NULL), LPL_OK);
	assert_int_equal(lpl_data_encode_refs(&encoder, refs + 1, 1, NULL), LPL_OK);
	assert_int_equal(lpl_data_encode_end(&encoder, &totals, out),
			 sizeof(two_refs_and_an_event));
	assert_memory_equal(out, two_refs_and_an_event, sizeof(two_refs_and_an_event));
	free(out);
	lpl_data_encoder_free(&encoder);
}

/* Whole pages; types are predicted apart; the next chunk starts anew. */
static void literal_pages(void **unused)
{
	static const struct lpl_ref refs[] = {
		{ .type = LPL_WRITE, .flags = LPL_PAGED, .ref = 4, .instr = 2, .cycle = 2,
		  .space = 9, .address = 0x5000 },
		{ .type = LPL_READ, .flags = LPL_PAGED, .ref = 5, .instr = 2, .cycle = 2,
		  .space = 9, .address = 0x1000 },
		{ .type = LPL_WRITE, .flags = LPL_PAGED, .ref = 9, .instr = 4, .cycle = 3,
		  .space = 9, .address = 0x3000 },
		{ .type = LPL_WRITE, .flags = LPL_PAGED, .ref = 10, .instr = 4, .cycle = 3,
		  .space = 9, .address = 0x4000 },
	};
	static const struct lpl_totals totals = { .wait_ns = 0 };
	static const uint8_t first[] = {
		0,
		1, 3, 0x21, 0x20, 0x21,
		0, 0,
		1, 3, 4, 1, 4,
		1, 3, 2, 0, 2,
		1, 3, 0, 0, 1,		/* cycle grew by one less than instr */
		1, 3, 18, 0, 0,
		1, 3, 10, 2, 3,		/* 5 - 0, 1 - 0, 3 - 5 */
		0, 0, 0, 0, 0, 0, 0, 0
	};
	static const uint8_t second[] = {
		9, 0, 0x21, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 8,
		0, 0, 0, 0, 0, 0, 0, 0
	};
	struct lpl_data_encoder encoder;
	uint8_t *out;

	(void)unused;
	assert_true(lpl_data_encoder_init(&encoder, 3, 1));
	out = malloc(lpl_data_bound(&encoder));
	assert_non_null(out);
	assert_int_equal(lpl_data_encode_refs(&encoder, refs, 3, NULL), LPL_OK);
	assert_int_equal(lpl_data_encode_end(&encoder, &totals, out), sizeof(first));
	assert_memory_equal(out, first, sizeof(first));
	lpl_data_encoder_follow(&encoder, &encoder);
	assert_int_equal(lpl_data_encode_refs(&encoder, refs + 3, 1, NULL), LPL_OK);
	assert_int_equal(lpl_data_encode_end(&encoder, &totals, out), sizeof(second));
	assert_memory_equal(out, second, sizeof(second));
	free(out);
	lpl_data_encoder_free(&encoder);
}

/* ---- right checksums, wrong contents ---- */

/* One byte of the payload above changed, one invariant broken. */
static void broken_invariants(void **unused)
{
	static const struct {
		uint8_t at, from, to;
	} cases[] = {
		{ 0, 0, 0x80 },			/* base space: not the shortest form */
		{ 1, 0, 2 },			/* a form there is not */
		{ 2, 0x0a, 0x0d },		/* type 5 */
		{ 2, 0x0a, 0x82 },		/* flags 16, cut short */
		{ 2, 0x0a, 0x22 },		/* LPL_PAGED with a length */
		{ 4, 3, 0 },			/* no length without LPL_PAGED */
		{ 6, 1, 0 },			/* ref stands still */
		{ 10, 3, 2 },			/* too few bytes of cycles */
		{ 10, 3, 4 },			/* too many */
		{ 13, 0, 1 },			/* not the header's last cycle */
		{ 13, 0, 3 },			/* cycle runs backwards */
		{ 23, 1, 3 },			/* an event behind the last reference */
		{ 24, 0, 1 },			/* an event at the next reference's ref */
		{ 25, 0, 2 },			/* an event after the next one's instr */
		{ 26, 0, 1 },			/* an event before the last cycle */
		{ 26, 0, 4 },			/* an event after the next one's cycle */
		{ 33, 9, 0 },			/* an argument that is 0 */
		{ 34, 2, 127 },			/* a text beyond the end */
		{ 34, 2, 1 },			/* bytes left over */
		{ 39, 2, 3 },			/* not the header's sum */
	};
	enum { SIZE = sizeof(two_refs_and_an_event) };
	uint8_t payload[SIZE + 1];
	struct lpl_chunk_header header = {
		.refs = 2, .events = 1, .refs_before = 2,
		.first = { 1, 1, 101 }, .last = { 2, 2, 102 },
	};
	struct lpl_data data;

	(void)unused;
	memset(&data, 0, sizeof(data));
	memcpy(payload, two_refs_and_an_event, SIZE);
	assert_int_equal(lpl_data_decode(&data, &header, payload, SIZE, NULL), LPL_OK);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(payload[cases[i].at], cases[i].from);
		payload[cases[i].at] = cases[i].to;
		if (lpl_data_decode(&data, &header, payload, SIZE, NULL) != LPL_ERR_DAMAGED)
			fail_msg("case %zu was not refused", i);
		payload[cases[i].at] = cases[i].from;
	}
	/* an event after the next reference's instr, though not after its cycle */
	payload[25] = 2;
	payload[26] = 1;
	assert_int_equal(lpl_data_decode(&data, &header, payload, SIZE, NULL), LPL_ERR_DAMAGED);
	payload[25] = payload[26] = 0;
	/* a third cycle for two references */
	memmove(payload + 14, payload + 13, SIZE - 13);
	payload[10]++;
	assert_int_equal(lpl_data_decode(&data, &header, payload, SIZE + 1, NULL),
			 LPL_ERR_DAMAGED);
	lpl_data_free(&data);
}

/* The highest page there is, and the one after it. */
static void page_beyond_the_last(void **unused)
{
	uint8_t payload[] = {
		0, 0, 0x21, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0,
		0, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f,	/* 2^52 - 1 */
		0, 0, 0, 0, 0, 0, 0, 0
	};
	static const uint8_t beyond[] = { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10 };
	struct lpl_chunk_header header = {
		.refs = 1, .first = { 1, 0, 0 }, .last = { 1, 0, 0 },
	};
	struct lpl_data data;

	(void)unused;
	memset(&data, 0, sizeof(data));
	assert_int_equal(lpl_data_decode(&data, &header, payload, sizeof(payload), NULL), LPL_OK);
	assert_true(data.refs[0].address == UINT64_C(0xfffffffffffff000));
	memcpy(payload + 14, beyond, sizeof(beyond));
	assert_int_equal(lpl_data_decode(&data, &header, payload, sizeof(payload), NULL),
			 LPL_ERR_DAMAGED);
	lpl_data_free(&data);
}

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
				if (at < 10)
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

/* Types are told of a chunk when they add up to the number of its last record. */
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
 * Each number that is told in both, one less than in the chunk before.  Without a total
 * the rest of the references are fetches; with one, types are not told.
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

/* What a decoder may return at all, by <laplace/record.h> and section 4.4. */
static bool plausible(const struct lpl_data *data, const struct lpl_chunk_header *header)
{
	struct lpl_clocks before = header->base;
	size_t event = 0;

	for (size_t i = 0; i <= data->ref_count; i++) {
		const struct lpl_ref *r = &data->refs[i];

		for (; event < data->event_count && data->positions[event] == i; event++) {
			const struct lpl_event *e = &data->events[event];

			if (e->ref < before.ref || e->instr < before.instr ||
			    e->cycle < before.cycle || e->text_length > KTR_TEXT)
				return false;
			before = (struct lpl_clocks){ e->ref, e->instr, e->cycle };
		}
		if (i == data->ref_count)
			break;
		if (r->ref < before.ref || (r->ref == before.ref && !(r->flags & LPL_SYNTHETIC)) ||
		    r->instr < before.instr || r->cycle < before.cycle ||
		    r->type >= LPL_TYPES || r->flags > 15 || r->length > 4096 ||
		    (r->flags & LPL_PAGED ? r->length != 0 || r->address % 4096 != 0
					  : r->length == 0))
			return false;
		before = (struct lpl_clocks){ r->ref, r->instr, r->cycle };
	}
	return event == data->event_count && before.ref == header->last.ref &&
	       before.instr == header->last.instr && before.cycle == header->last.cycle;
}

/* Payloads with random damage and no checksums: an error or something plausible. */
static void mutated_payloads(void **unused)
{
	struct lpl_data_encoder encoder;
	struct lpl_data data;
	struct lpl_totals totals = some_totals;
	uint64_t state = 41;
	size_t refused = 0, rounds = 0;

	(void)unused;
	memset(&data, 0, sizeof(data));
	assert_true(lpl_data_encoder_init(&encoder, 400, 100));
	for (int style = 0; style < STREAM_STYLES; style++) {
		uint8_t *payload = malloc(lpl_data_bound(&encoder)), *exact;
		struct lpl_chunk_header header = { .kind = LPL_CHUNK_DATA };
		struct stream stream;
		size_t size;

		assert_non_null(payload);
		stream_random(&stream, 300, (enum stream_style)style, 42);
		memset(&encoder.last, 0, sizeof(encoder.last));
		lpl_data_encoder_follow(&encoder, &encoder);
		for (size_t i = 0; i < stream.count; i++) {
			const struct item *item = &stream.items[i];

			assert_int_equal(item->is_event
					 ? lpl_data_encode_event(&encoder, &item->event, NULL)
					 : lpl_data_encode_refs(&encoder, &item->ref, 1, NULL),
					 LPL_OK);
		}
		size = lpl_data_encode_end(&encoder, &totals, payload);
		header.refs = (uint32_t)encoder.refs;
		header.events = (uint32_t)encoder.event_count;
		header.base = encoder.base;
		header.first = encoder.first;
		header.last = encoder.last;
		header.refs_before = 150;
		assert_int_equal(lpl_data_decode(&data, &header, payload, size, NULL), LPL_OK);
		assert_true(plausible(&data, &header));
		for (int i = 0; i < 3000; i++, rounds++) {
			size_t length = next_random(&state) % 4 ? size
								: next_random(&state) % size;

			exact = malloc(length + 1);
			assert_non_null(exact);
			memcpy(exact, payload, length);
			for (uint64_t k = next_random(&state) % 3; k > 0 && length > 0; k--)
				exact[next_random(&state) % length] = (uint8_t)next_random(&state);
			if (lpl_data_decode(&data, &header, exact, length, NULL) == LPL_OK)
				assert_true(plausible(&data, &header));
			else
				refused++;
			free(exact);
		}
		free(payload);
		stream_free(&stream);
	}
	assert_true(refused > rounds / 4 && refused < rounds);
	lpl_data_free(&data);
	lpl_data_encoder_free(&encoder);
}

/* The table stays small, and holds what section 5 says. */
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
		cmocka_unit_test(literal_payload),
		cmocka_unit_test(literal_pages),
		cmocka_unit_test(broken_invariants),
		cmocka_unit_test(page_beyond_the_last),
		cmocka_unit_test(lying_headers),
		cmocka_unit_test(totals_run_backwards),
		cmocka_unit_test(mutated_payloads),
		cmocka_unit_test(index_is_thinned),
	};

	return cmocka_run_group_tests_name("format", tests, make_directory, remove_directory);
}
