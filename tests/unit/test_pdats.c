/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * PDATS and PDATS II against a second coder (pdats_coder.h): what is written, what is read, and what is
 * recognised.
 */
#include "conversion.h"
#include "pdats_coder.h"

/* ---- the code under test ---- */

static int file_of_bits(const struct bits *bits)
{
	const int fd = file_of("");

	assert_int_equal(write(fd, bits->bytes, bits->count / 8), bits->count / 8);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static struct lpl_ref ref_of(const struct reference *from, size_t number)
{
	const uint8_t type[] = { LPL_READ, LPL_WRITE, LPL_FETCH, LPL_WALK_READ,
				 LPL_READ, LPL_WRITE, LPL_FETCH, LPL_WALK_WRITE };

	return (struct lpl_ref){
		.ref = number + 1, .cycle = from->time, .address = from->address, .length = 1,
		.type = type[from->class], .flags = from->class <= FETCH ? LPL_USER : 0,
	};
}

static void export(const struct wish *wish, const struct reference *refs, size_t count,
		   struct bits *bits)
{
	struct lpl_meta *meta = meta_of("none");
	struct lpl_export_options options = {
		.format = format_of(wish->version == 1 ? "pdats" : "pdats2"), .meta = meta,
		.fd = file_of(""), .trace = "trace", .output = "output",
		.pdats = { .bare = !wish->header, .times = wish->times, .modes = wish->modes },
	};
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_exporter *exporter;
	struct lpl_sink *sink;
	off_t size;

	if (wish->header)
		options.pdats.stride = wish->stride;
	if (wish->header)
		options.pdats.address_bits = wish->bits;
	assert_int_equal(lpl_exporter_open(&exporter, &options, &report), LPL_OK);
	sink = lpl_exporter_sink(exporter);
	for (size_t i = 0; i < count; i++) {
		const struct lpl_ref ref = ref_of(&refs[i], i);

		if (sink->refs(sink, &ref, 1, &report))
			fail_msg("%s", report.text);
	}
	assert_int_equal(sink->finish(sink, &report), LPL_OK);
	lpl_exporter_close(exporter);
	lpl_meta_free(meta);
	size = lseek(options.fd, 0, SEEK_END);
	*bits = (struct bits){ .count = 8 * (size_t)size, .bytes = malloc((size_t)size + 1) };
	assert_int_equal(pread(options.fd, bits->bytes, (size_t)size, 0), size);
	close(options.fd);
}

/* What import makes of a file is what the oracle does, up to what is wrong with it. */
static void compare(const struct bits *bits, const struct wish *wish,
		    const struct decoded *expected, const char *what, uint64_t seed)
{
	const struct lpl_import_options options = {
		.format = format_of(wish->version == 1 ? "pdats" : "pdats2"), .input = "input",
	};
	struct lpl_report report = { .error = LPL_OK };
	struct stream received;
	enum lpl_error error;
	uint64_t fetches = 0;

	stream_init(&received);
	error = import(&options, file_of_bits(bits), &received.sink, &report);
	if ((lpl_error_status(error) == 3) == expected->good || received.finished != expected->good)
		fail_msg("%s, seed %" PRIu64 ": %s", what, seed, report.text);
	if (received.count != expected->count)
		fail_msg("%s, seed %" PRIu64 ": %zu references, not %zu", what, seed,
			 received.count, expected->count);
	for (size_t i = 0; i < received.count; i++) {
		struct lpl_ref ref = ref_of(&expected->refs[i], i);

		fetches += ref.type == LPL_FETCH;
		ref.instr = fetches ? fetches - 1 : 0;
		if (!wish->times)
			ref.cycle = ref.instr;
		if (!wish->modes)
			ref.flags = 0;
		if (memcmp(&ref, &received.items[i].ref, sizeof(ref)) != 0)
			fail_msg("%s, seed %" PRIu64 ": reference %zu is another one", what, seed,
				 i + 1);
	}
	stream_free(&received);
}

/* ---- random streams ---- */

static uint64_t any_offset(uint64_t *random)
{
	static const uint64_t edges[] = {
		0, 1, 4, 8, 16, 127, 128, 129, 32767, 32768, 32769, UINT64_C(1) << 31,
		(UINT64_C(1) << 31) - 1, UINT64_C(1) << 32, UINT64_C(1) << 62, UINT64_C(1) << 63,
	};
	const uint64_t dice = next_random(random);
	const uint64_t offset = dice >> 8 & 1 ? edges[dice >> 9 & 15] :
						next_random(random) >> (dice >> 9 & 63);

	return dice >> 16 & 1 ? offset : 0 - offset;
}

static size_t make_refs(const struct wish *wish, struct reference *refs, size_t room,
			uint64_t *random)
{
	uint64_t address[8] = { 0 }, fetch = 0, time = 0;
	size_t count = 0;

	while (count < room) {
		const uint64_t dice = next_random(random);
		const unsigned int class = dice & 7;
		uint64_t *at = pdats_plain(class) == FETCH ? &fetch : &address[dice >> 8 & 7];
		uint64_t offset = dice >> 16 & 1 ? wish->stride : any_offset(random);
		size_t run = dice >> 20 & 3 ? dice >> 24 & 3 : dice >> 24 & 511;
		const uint64_t later = next_random(random) >> (32 + (dice >> 48 & 31));

		if (pdats_plain(class) == FETCH)
			offset &= ~(uint64_t)(wish->stride - 1);
		do {
			*at = pdats_wrap(wish, *at + offset);
			if (wish->times)
				time += dice >> 40 & 3 ? dice >> 42 & 1 : dice >> 43 & 1 ? later :
					next_random(random) >> (20 + (dice >> 44 & 31));
			refs[count++] = (struct reference){ class, *at, time };
		} while (run-- > 0 && count < room);
	}
	return count;
}

static const struct wish wishes[] = {
	{ 1, false, false, false, 32, 4 }, { 1, true, true, true, 64, 4 },
	{ 1, true, true, false, 32, 4 }, { 1, true, false, true, 64, 1 },
	{ 1, true, true, true, 32, 16 }, { 2, false, false, false, 32, 4 },
	{ 2, true, false, false, 32, 4 }, { 2, true, false, false, 64, 1 },
	{ 2, true, false, false, 64, 4 }, { 2, true, false, false, 32, 1 },
	{ 2, true, false, false, 64, 16 }, { 2, true, false, false, 64, 2 },
};
enum { WISHES = sizeof(wishes) / sizeof(wishes[0]), SEEDS = 40, REFS = 2000 };

static struct decoded decoded;

/* What the format has of what was sent. */
static void check_sent(const struct wish *wish, const struct reference *refs, size_t count,
		       uint64_t seed)
{
	assert_true(decoded.good);
	assert_int_equal(decoded.count, count);
	for (size_t i = 0; i < count; i++) {
		const struct reference *got = &decoded.refs[i];

		if (got->address != refs[i].address ||
		    got->class != (wish->modes ? refs[i].class : pdats_plain(refs[i].class)) ||
		    (wish->times && got->time != refs[i].time))
			fail_msg("seed %" PRIu64 ": reference %zu is lost", seed, i + 1);
	}
}

static void files_are_as_the_paper_has_them(void **unused)
{
	static struct reference refs[REFS];

	(void)unused;
	for (uint64_t seed = 0; seed < (uint64_t)WISHES * SEEDS; seed++) {
		const struct wish *wish = &wishes[seed % WISHES];
		uint64_t random = seed;
		const size_t count = make_refs(wish, refs, seed ? REFS : 0, &random);
		struct bits expected, written;
		struct wish found;

		pdats_encode(&expected, wish, refs, count);
		export(wish, refs, count, &written);
		if (written.count != expected.count ||
		    (written.count > 0 && memcmp(written.bytes, expected.bytes, written.count / 8) != 0))
			fail_msg("seed %" PRIu64 ": the file is another one", seed);
		pdats_decode(&expected, wish->version, &found, &decoded);
		check_sent(wish, refs, count, seed);
		compare(&written, &found, &decoded, "a file", seed);
		free(expected.bytes);
		free(written.bytes);
	}
}

static void put_any_record(struct bits *bits, const struct wish *wish, uint64_t *random)
{
	const uint64_t dice = next_random(random);
	const unsigned int code = dice & 3, type = (dice >> 2 & 255) % (wish->modes ? 8 : 3);
	const unsigned int time_code = wish->times ? (dice >> 10 & 255) % 3 : 0;

	if (wish->times && dice >> 20 & 1) {
		pdats_put(bits, 8, 0x18);
		pdats_put(bits, 56, next_random(random) >> (dice >> 58));
	}
	pdats_put(bits, 1, dice >> 21 & 1);
	pdats_put(bits, 2, code);
	pdats_put(bits, 2, time_code);
	pdats_put(bits, 3, type);
	if (dice >> 21 & 1)
		pdats_put(bits, 8, dice >> 24 & 63);
	pdats_put(bits, pdats_width_of(wish, code), any_offset(random));
	pdats_put(bits, 8 * time_code, next_random(random));
}

/* Any code that holds an offset will do, and a record may be repeated no times. */
static void files_of_any_writer_are_read(void **unused)
{
	(void)unused;
	for (uint64_t seed = 0; seed < (uint64_t)WISHES * SEEDS; seed++) {
		const struct wish *wish = &wishes[seed % WISHES];
		uint64_t random = ~seed;
		struct bits bits = { 0 };
		struct wish found;

		if (wish->header)
			pdats_put_header(&bits, wish);
		for (int record = 0; record < 100; record++) {
			if (wish->version == 1)
				put_any_record(&bits, wish, &random);
			else
				pdats_put(&bits, 64, next_random(&random));
		}
		pdats_decode(&bits, wish->version, &found, &decoded);
		assert_true(decoded.good || wish->version == 2);
		compare(&bits, &found, &decoded, "any writer's file", seed);
		free(bits.bytes);
	}
}

static void damage_is_seen_where_it_is(void **unused)
{
	static struct reference refs[60];

	(void)unused;
	for (uint64_t seed = 0; seed < WISHES; seed++) {
		const struct wish *wish = &wishes[seed];
		uint64_t random = seed;
		const size_t count = make_refs(wish, refs, sizeof(refs) / sizeof(refs[0]), &random);
		struct bits bits;
		struct wish found;
		size_t size;

		pdats_encode(&bits, wish, refs, count);
		size = bits.count / 8;
		for (size_t i = 0; i < size; i++) {
			bits.count = 8 * i;
			pdats_decode(&bits, wish->version, &found, &decoded);
			compare(&bits, &found, &decoded, "cut off", seed);
		}
		bits.count = 8 * size;
		for (size_t i = 0; i < size; i++) {
			const uint8_t before = bits.bytes[i];

			for (unsigned int bit = 0; bit < 9; bit++) {
				bits.bytes[i] = bit < 8 ? before ^ (uint8_t)(1U << bit) :
						(uint8_t)next_random(&random);
				pdats_decode(&bits, wish->version, &found, &decoded);
				compare(&bits, &found, &decoded, "a changed byte", seed);
			}
			bits.bytes[i] = before;
		}
		free(bits.bytes);
	}
}

/* ---- which of the two it is ---- */

/* The format that is recognised; NULL: none is. */
static const struct lpl_format *recognised(const struct bits *bits)
{
	const struct lpl_import_options options = { .input = "input" };
	struct lpl_report report = { .error = LPL_OK };
	const struct lpl_format *format;
	const int fd = file_of_bits(bits);
	struct lpl_importer *importer;
	struct stream received;
	enum lpl_error error;

	stream_init(&received);
	assert_int_equal(lpl_importer_open(&importer, &options, &report), LPL_OK);
	assert_null(lpl_importer_result(importer)->format);
	error = lpl_importer_run(importer, fd, &received.sink, &report);
	format = lpl_importer_result(importer)->format;
	assert_true(error == (format ? LPL_OK : LPL_ERR_FORMAT));
	assert_true(format || !received.count);
	lpl_importer_close(importer);
	stream_free(&received);
	close(fd);
	return format;
}

/* Sequences of fetches and jumps, and data in two places: a program of a RISC processor. */
static void make_program(struct reference *refs, size_t count, uint64_t *random)
{
	uint64_t fetch = 0x400000;

	for (size_t i = 0; i < count; i++) {
		const uint64_t dice = next_random(random);

		if (dice % 3 == 0) {
			refs[i] = (struct reference){ dice >> 8 & 1, (dice >> 9 & 1 ? 0x10000000 : 0x7fff0000) +
						      4 * (dice >> 10 & 255), 0 };
			continue;
		}
		fetch += dice >> 16 & 7 ? 4 : 4 * ((dice >> 20 & 4095) - 2048);
		refs[i] = (struct reference){ FETCH, fetch & UINT32_MAX, 0 };
	}
}

static void no_file_is_taken_for_another(void **unused)
{
	static struct reference refs[REFS];
	unsigned int found = 0;

	(void)unused;
	for (uint64_t seed = 0; seed < 300; seed++) {
		struct wish wish = { 1 + seed % 2, seed / 2 % 4 == 0, false, false, 32, 4 };
		const size_t count = seed / 8 % 2 ? REFS : 1 + seed % 100;
		const struct lpl_format *format;
		uint64_t random = seed;
		struct bits bits;

		make_program(refs, count, &random);
		pdats_encode(&bits, &wish, refs, count);
		format = recognised(&bits);
		if (format && format != format_of(wish.version == 1 ? "pdats" : "pdats2"))
			fail_msg("seed %" PRIu64 ": taken for the other", seed);
		if (!format && (wish.header || count == REFS))
			fail_msg("seed %" PRIu64 ": not recognised", seed);
		found += format != NULL;
		/* what no writer wrote */
		for (size_t i = 0; i < bits.count / 8; i++)
			bits.bytes[i] = (uint8_t)next_random(&random);
		assert_null(recognised(&bits));
		free(bits.bytes);
	}
	assert_in_range(found, 150, 299);
}

/* One record that no writer makes, at the end, is enough; and so is that both are possible. */
static void what_speaks_against_it_counts(void **unused)
{
	static struct reference refs[REFS];
	uint64_t random = 1;

	(void)unused;
	make_program(refs, REFS, &random);
	for (unsigned int version = 1; version <= 2; version++) {
		static const struct {
			unsigned int version;
			uint64_t bytes;		/* three, of a record or two */
		} wrong[] = {
			{ 1, 0x420005 },	/* 5 in two bytes */
			{ 1, 0x220422 },	/* a stride in one; the input ends */
			{ 1, 0x820002 },	/* repeated no times */
			{ 1, 0x07217f },	/* a type of modes */
			{ 1, 0x00217f },	/* a read of the stride in no byte */
			{ 2, 0xc00005 },	/* 5 in two bytes */
			{ 2, 0x330005 },	/* likewise, of a datum */
			{ 2, 0xa19080 },	/* a fetch that the count had room for */
			{ 2, 0x2804a1 },	/* 4 in a byte; the input ends */
		};
		const struct wish wish = { version, false, false, false, 32, 4 };
		struct bits bits;

		pdats_encode(&bits, &wish, refs, REFS);
		assert_non_null(recognised(&bits));
		for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
			if (wrong[i].version != version)
				continue;
			pdats_put(&bits, 24, wrong[i].bytes);
			if (recognised(&bits))
				fail_msg("%06" PRIx64 " is not seen", wrong[i].bytes);
			bits.count -= 24;
		}
		free(bits.bytes);
	}
	for (size_t records = 10; records < 400; records += 30) {
		struct bits bits = { 0 };

		/* PDATS: offsets 4000, 4100; PDATS II: reads and writes at one address */
		for (size_t i = 0; i < records; i++)
			pdats_put(&bits, 24, i % 2 ? 0x414000 : 0x414100);
		assert_null(recognised(&bits));
		/* a fetch in sequence, which PDATS II would have counted */
		pdats_put(&bits, 24, 0x228002);
		assert_true(recognised(&bits) == (records > 15 ? format_of("pdats") : NULL));
		free(bits.bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_as_the_paper_has_them),
		cmocka_unit_test(files_of_any_writer_are_read),
		cmocka_unit_test(damage_is_seen_where_it_is),
		cmocka_unit_test(no_file_is_taken_for_another),
		cmocka_unit_test(what_speaks_against_it_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
