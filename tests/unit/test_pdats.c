/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * PDATS and PDATS II against an oracle: an encoder and a decoder written from Johnson's paper, and
 * from docs/formats.md where that is silent, a field of bits at a time.
 *
 * The encoder says what a file has to be, byte for byte; the decoder what is in any file at all,
 * also one that no writer makes, or that is damaged.
 */
#include "conversion.h"

struct wish {
	unsigned int version;		/* 1, 2 */
	bool header, times, modes;
	unsigned int bits, stride;
};

/* A reference by its class, which is the type in PDATS where types say the mode. */
struct reference {
	unsigned int class;
	uint64_t address, time;
};

enum { READ, WRITE, FETCH, WALK_READ, KERNEL_READ, KERNEL_WRITE, KERNEL_FETCH, WALK_WRITE };

/* ---- bits ---- */

struct bits {
	uint8_t *bytes;
	size_t room, count;		/* bits */
	size_t at;
	bool over;			/* more was read than there is */
};

static void put(struct bits *bits, unsigned int width, uint64_t value)
{
	while (width-- > 0) {
		if (bits->count == 8 * bits->room) {
			bits->room = 2 * bits->room + 64;
			bits->bytes = realloc(bits->bytes, bits->room);
			assert_non_null(bits->bytes);
		}
		if (bits->count % 8 == 0)
			bits->bytes[bits->count / 8] = 0;
		if (value >> width & 1)
			bits->bytes[bits->count / 8] |= (uint8_t)(0x80 >> bits->count % 8);
		bits->count++;
	}
}

static uint64_t get(struct bits *bits, unsigned int width)
{
	uint64_t value = 0;

	while (width-- > 0) {
		if (bits->at >= bits->count) {
			bits->over = true;
			return 0;
		}
		value = 2 * value + (bits->bytes[bits->at / 8] >> (7 - bits->at % 8) & 1);
		bits->at++;
	}
	return value;
}

static uint64_t get_signed(struct bits *bits, unsigned int width)
{
	const uint64_t value = get(bits, width);

	if (width == 64 || !(value >> (width - 1)))
		return value;
	return value - (UINT64_C(1) << width);
}

/* Does an offset modulo 2^bits have that many bits in two's complement? */
static bool has_bits(uint64_t offset, unsigned int bits, unsigned int width)
{
	uint64_t shifted = offset + (UINT64_C(1) << (width - 1));

	if (bits < 64)
		shifted &= (UINT64_C(1) << bits) - 1;
	return width >= bits || shifted < UINT64_C(1) << width;
}

static unsigned int widest(const struct wish *wish)
{
	return wish->bits / 8;
}

/* 1, 2 or 3, as Table 1 has it: in 1, 2, 4 (or all) bytes. */
static unsigned int code_of(const struct wish *wish, uint64_t offset, unsigned int bits)
{
	(void)wish;
	if (has_bits(offset, bits, 8))
		return 1;
	return has_bits(offset, bits, 16) ? 2 : 3;
}

static unsigned int width_of(const struct wish *wish, unsigned int code)
{
	const unsigned int width[] = { 0, 8, 16, 8 * widest(wish) };

	return width[code];
}

static uint64_t wrap(const struct wish *wish, uint64_t address)
{
	return wish->bits == 32 ? address % (UINT64_C(1) << 32) : address;
}

static void put_header(struct bits *bits, const struct wish *wish)
{
	put(bits, 16, 0x2f00);
	for (const char *at = "PDATS"; *at; at++)
		put(bits, 8, (uint8_t)*at);
	put(bits, 8, wish->version);
	put(bits, 8, widest(wish));
	put(bits, 8, wish->stride);
	put(bits, 8, wish->times + 2 * wish->modes);
	put(bits, 40, 0);
}

/* ---- the encoder ---- */

static bool is_fetch(unsigned int class)
{
	return class == FETCH || class == KERNEL_FETCH;
}

/* As a type of 0 to 2. */
static unsigned int plain(unsigned int class)
{
	const unsigned int type[] = { 0, 1, 2, 0, 0, 1, 2, 1 };

	return type[class];
}

static void put_pdats(struct bits *bits, const struct wish *wish, const struct reference *refs,
		      size_t count)
{
	uint64_t last[8] = { 0 }, time = 0;

	for (size_t i = 0; i < count;) {
		const unsigned int type = wish->modes ? refs[i].class : plain(refs[i].class);
		const uint64_t usual = is_fetch(refs[i].class) ? 1 : 0;
		const uint64_t offset = wrap(wish, refs[i].address - last[type]);
		uint64_t later = wish->times ? refs[i].time - time : usual;
		unsigned int code, time_code, repeats = 0;
		size_t next = i + 1;

		/* how often the same comes again */
		while (next < count && repeats < 255 && later < 65536 &&
		       (wish->modes ? refs[next].class : plain(refs[next].class)) == type &&
		       wrap(wish, refs[next].address - refs[next - 1].address) == offset &&
		       (!wish->times || refs[next].time - refs[next - 1].time == later)) {
			repeats++;
			next++;
		}
		if (later >= 65536) {
			for (later -= usual; later > 0;) {
				const uint64_t most = (UINT64_C(1) << 56) - 1;
				const uint64_t part = later < most ? later : most;

				put(bits, 8, 0x18);
				put(bits, 56, part);
				later -= part;
			}
			later = usual;
		}
		code = is_fetch(type) && offset == wish->stride ? 0 : code_of(wish, offset, wish->bits);
		time_code = later == usual ? 0 : later < 256 ? 1 : 2;
		put(bits, 1, repeats > 0);
		put(bits, 2, code);
		put(bits, 2, time_code);
		put(bits, 3, type);
		if (repeats)
			put(bits, 8, repeats);
		put(bits, width_of(wish, code), offset);
		put(bits, 8 * time_code, later);
		last[type] = refs[next - 1].address;
		time = refs[next - 1].time;
		i = next;
	}
}

/* A code for a datum's offset, 0 to 7, and the bits that follow it. */
static unsigned int data_code(const struct wish *wish, uint64_t offset, unsigned int *width)
{
	static const int common[] = { 0, 4, -4, 8, -8 };

	*width = 0;
	for (unsigned int code = 0; code < 5; code++)
		if (offset == wrap(wish, (uint64_t)(int64_t)common[code]))
			return code;
	*width = width_of(wish, code_of(wish, offset, wish->bits));
	return 4 + code_of(wish, offset, wish->bits);
}

static size_t fetches_in_sequence(const struct wish *wish, const struct reference *refs,
				  size_t count, size_t at, uint64_t fetch, size_t most)
{
	size_t found = 0;

	while (found < most && at + found < count && plain(refs[at + found].class) == FETCH &&
	       refs[at + found].address == wrap(wish, fetch + wish->stride)) {
		fetch = wrap(wish, fetch + wish->stride);
		found++;
	}
	return found;
}

static void put_pdats2(struct bits *bits, const struct wish *wish, const struct reference *refs,
		       size_t count)
{
	const unsigned int scale = (unsigned int)__builtin_ctz(wish->stride);
	uint64_t fetch = 0, zone[2] = { 0, 0 };
	unsigned int latest = 1;

	for (size_t i = 0; i < count;) {
		const uint64_t address = refs[i].address;
		size_t followers;

		if (plain(refs[i].class) == FETCH) {
			/* stored as offset / stride, which has so many bits less */
			const unsigned int left = wish->bits - scale;
			const uint64_t offset = wrap(wish, address - fetch) >> scale;
			const bool negative = offset >> (left - 1) & 1;
			const uint64_t whole = negative && scale ?
				offset | ~UINT64_C(0) << left : offset;
			const unsigned int code = offset == 1 ? 0 : code_of(wish, offset, left);

			followers = fetches_in_sequence(wish, refs, count, i + 1, address, 31);
			put(bits, 1, 1);
			put(bits, 2, code);
			put(bits, 5, followers);
			put(bits, width_of(wish, code), whole);
			fetch = address;
		} else {
			unsigned int width[2], code[2], chosen;
			uint64_t offset[2];

			for (unsigned int z = 0; z < 2; z++) {
				offset[z] = wrap(wish, address - zone[z]);
				code[z] = data_code(wish, offset[z], &width[z]);
			}
			chosen = latest;
			if (width[!latest] < width[latest] ||
			    (width[0] == width[1] && width[0] == wish->bits))
				chosen = !latest;
			followers = fetches_in_sequence(wish, refs, count, i + 1, fetch, 3);
			put(bits, 1, 0);
			put(bits, 1, plain(refs[i].class) == WRITE);
			put(bits, 3, code[chosen]);
			put(bits, 1, chosen);
			put(bits, 2, followers);
			put(bits, width[chosen], offset[chosen]);
			zone[chosen] = address;
			latest = chosen;
		}
		fetch = wrap(wish, fetch + followers * wish->stride);
		i += 1 + followers;
	}
}

static void encode(struct bits *bits, const struct wish *wish, const struct reference *refs,
		   size_t count)
{
	*bits = (struct bits){ 0 };
	if (wish->header)
		put_header(bits, wish);
	(wish->version == 1 ? put_pdats : put_pdats2)(bits, wish, refs, count);
}

/* ---- the decoder ---- */

struct decoded {
	struct reference refs[60000];
	size_t count;
	bool good;
};

static void add(struct decoded *out, const struct wish *wish, unsigned int class, uint64_t address,
		uint64_t time)
{
	assert_true(out->count < sizeof(out->refs) / sizeof(out->refs[0]));
	out->refs[out->count++] = (struct reference){ class, wrap(wish, address), time };
}

static bool get_record(struct bits *bits, const struct wish *wish, uint64_t last[8],
		       uint64_t *time, struct decoded *out)
{
	const bool repeat = get(bits, 1);
	const unsigned int code = (unsigned int)get(bits, 2);
	const unsigned int time_code = (unsigned int)get(bits, 2);
	const unsigned int type = (unsigned int)get(bits, 3);
	uint64_t times = 1, offset, later;

	if (wish->times && !repeat && code == 0 && time_code == 3 && type == 0) {
		later = get(bits, 56);
		*time += later;
		return !bits->over && *time >= later;
	}
	if ((!wish->modes && type > 2) || (!wish->times && time_code) || time_code == 3)
		return false;
	if (repeat)
		times += get(bits, 8);
	offset = code ? get_signed(bits, width_of(wish, code)) : wish->stride;
	later = time_code ? get(bits, 8 * time_code) : is_fetch(type);
	if (bits->over)
		return false;
	while (times-- > 0) {
		last[type] = wrap(wish, last[type] + offset);
		*time += later;
		if (wish->times && *time < later)
			return false;
		add(out, wish, type, last[type], *time);
	}
	return true;
}

static bool get_record2(struct bits *bits, const struct wish *wish, uint64_t *fetch,
			uint64_t zone[2], struct decoded *out)
{
	static const int common[] = { 0, 4, -4, 8, -8 };
	uint64_t count, offset, *address = fetch;
	unsigned int class = FETCH, code, z;

	if (get(bits, 1)) {
		code = (unsigned int)get(bits, 2);
		count = get(bits, 5);
		offset = code ? get_signed(bits, width_of(wish, code)) : 1;
		offset *= wish->stride;
	} else {
		class = get(bits, 1) ? WRITE : READ;
		code = (unsigned int)get(bits, 3);
		z = (unsigned int)get(bits, 1);
		count = get(bits, 2);
		offset = code < 5 ? (uint64_t)(int64_t)common[code] :
				    get_signed(bits, width_of(wish, code - 4));
		address = &zone[z];
	}
	if (bits->over)
		return false;
	*address += offset;
	add(out, wish, class, *address, 0);
	while (count-- > 0) {
		*fetch += wish->stride;
		add(out, wish, FETCH, *fetch, 0);
	}
	return true;
}

/* The header, if there is one, or what is so without. */
static bool get_header(struct bits *bits, struct wish *wish)
{
	static const uint8_t magic[] = { 0x2f, 0, 'P', 'D', 'A', 'T', 'S' };
	unsigned int flags, bytes;

	wish->header = bits->count >= 8 * sizeof(magic) &&
		       memcmp(bits->bytes, magic, sizeof(magic)) == 0;
	wish->bits = 32;
	wish->stride = 4;
	wish->times = wish->modes = false;
	if (!wish->header)
		return true;
	bits->at = 8 * sizeof(magic);
	if (get(bits, 8) != wish->version)
		return false;
	bytes = (unsigned int)get(bits, 8);
	wish->bits = 8 * bytes;
	wish->stride = (unsigned int)get(bits, 8);
	flags = (unsigned int)get(bits, 8);
	wish->times = flags & 1;
	wish->modes = flags & 2;
	return (bytes == 4 || bytes == 8) && __builtin_popcount(wish->stride) == 1 &&
	       wish->stride <= 16 && flags <= (wish->version == 1 ? 3 : 0) &&
	       get(bits, 40) == 0 && !bits->over;
}

static void decode(struct bits *bits, unsigned int version, struct wish *wish,
		   struct decoded *out)
{
	uint64_t last[8] = { 0 }, time = 0;

	wish->version = version;
	bits->at = 0;
	bits->over = false;
	out->count = 0;
	out->good = get_header(bits, wish);
	while (out->good && bits->at < bits->count)
		out->good = version == 1 ? get_record(bits, wish, last, &time, out) :
					   get_record2(bits, wish, &last[0], &last[1], out);
}

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
		uint64_t *at = plain(class) == FETCH ? &fetch : &address[dice >> 8 & 7];
		uint64_t offset = dice >> 16 & 1 ? wish->stride : any_offset(random);
		size_t run = dice >> 20 & 3 ? dice >> 24 & 3 : dice >> 24 & 511;
		const uint64_t later = next_random(random) >> (32 + (dice >> 48 & 31));

		if (plain(class) == FETCH)
			offset &= ~(uint64_t)(wish->stride - 1);
		do {
			*at = wrap(wish, *at + offset);
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
		    got->class != (wish->modes ? refs[i].class : plain(refs[i].class)) ||
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

		encode(&expected, wish, refs, count);
		export(wish, refs, count, &written);
		if (written.count != expected.count ||
		    memcmp(written.bytes, expected.bytes, written.count / 8) != 0)
			fail_msg("seed %" PRIu64 ": the file is another one", seed);
		decode(&expected, wish->version, &found, &decoded);
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
		put(bits, 8, 0x18);
		put(bits, 56, next_random(random) >> (dice >> 58));
	}
	put(bits, 1, dice >> 21 & 1);
	put(bits, 2, code);
	put(bits, 2, time_code);
	put(bits, 3, type);
	if (dice >> 21 & 1)
		put(bits, 8, dice >> 24 & 63);
	put(bits, width_of(wish, code), any_offset(random));
	put(bits, 8 * time_code, next_random(random));
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
			put_header(&bits, wish);
		for (int record = 0; record < 100; record++) {
			if (wish->version == 1)
				put_any_record(&bits, wish, &random);
			else
				put(&bits, 64, next_random(&random));
		}
		decode(&bits, wish->version, &found, &decoded);
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

		encode(&bits, wish, refs, count);
		size = bits.count / 8;
		for (size_t i = 0; i < size; i++) {
			bits.count = 8 * i;
			decode(&bits, wish->version, &found, &decoded);
			compare(&bits, &found, &decoded, "cut off", seed);
		}
		bits.count = 8 * size;
		for (size_t i = 0; i < size; i++) {
			const uint8_t before = bits.bytes[i];

			for (unsigned int bit = 0; bit < 9; bit++) {
				bits.bytes[i] = bit < 8 ? before ^ (uint8_t)(1U << bit) :
						(uint8_t)next_random(&random);
				decode(&bits, wish->version, &found, &decoded);
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
		encode(&bits, &wish, refs, count);
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

		encode(&bits, &wish, refs, REFS);
		assert_non_null(recognised(&bits));
		for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
			if (wrong[i].version != version)
				continue;
			put(&bits, 24, wrong[i].bytes);
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
			put(&bits, 24, i % 2 ? 0x414000 : 0x414100);
		assert_null(recognised(&bits));
		/* a fetch in sequence, which PDATS II would have counted */
		put(&bits, 24, 0x228002);
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
