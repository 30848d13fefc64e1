/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The second coder of PDATS and PDATS II; see pdats_coder.h. */
#include "pdats_coder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

/* ---- bits ---- */

void pdats_put(struct bits *bits, unsigned int width, uint64_t value)
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

unsigned int pdats_width_of(const struct wish *wish, unsigned int code)
{
	const unsigned int width[] = { 0, 8, 16, 8 * widest(wish) };

	return width[code];
}

uint64_t pdats_wrap(const struct wish *wish, uint64_t address)
{
	return wish->bits == 32 ? address % (UINT64_C(1) << 32) : address;
}

void pdats_put_header(struct bits *bits, const struct wish *wish)
{
	pdats_put(bits, 16, 0x2f00);
	for (const char *at = "PDATS"; *at; at++)
		pdats_put(bits, 8, (uint8_t)*at);
	pdats_put(bits, 8, wish->version);
	pdats_put(bits, 8, widest(wish));
	pdats_put(bits, 8, wish->stride);
	pdats_put(bits, 8, wish->times + 2 * wish->modes);
	pdats_put(bits, 40, 0);
}

/* ---- the encoder ---- */

static bool is_fetch(unsigned int class)
{
	return class == FETCH || class == KERNEL_FETCH;
}

/* As a type of 0 to 2. */
unsigned int pdats_plain(unsigned int class)
{
	const unsigned int type[] = { 0, 1, 2, 0, 0, 1, 2, 1 };

	return type[class];
}

static void put_pdats(struct bits *bits, const struct wish *wish, const struct reference *refs,
		      size_t count)
{
	uint64_t last[8] = { 0 }, time = 0;

	for (size_t i = 0; i < count;) {
		const unsigned int type = wish->modes ? refs[i].class : pdats_plain(refs[i].class);
		const uint64_t usual = is_fetch(refs[i].class) ? 1 : 0;
		const uint64_t offset = pdats_wrap(wish, refs[i].address - last[type]);
		uint64_t later = wish->times ? refs[i].time - time : usual;
		unsigned int code, time_code, repeats = 0;
		size_t next = i + 1;

		/* how often the same comes again */
		while (next < count && repeats < 255 && later < 65536 &&
		       (wish->modes ? refs[next].class : pdats_plain(refs[next].class)) == type &&
		       pdats_wrap(wish, refs[next].address - refs[next - 1].address) == offset &&
		       (!wish->times || refs[next].time - refs[next - 1].time == later)) {
			repeats++;
			next++;
		}
		if (later >= 65536) {
			for (later -= usual; later > 0;) {
				const uint64_t most = (UINT64_C(1) << 56) - 1;
				const uint64_t part = later < most ? later : most;

				pdats_put(bits, 8, 0x18);
				pdats_put(bits, 56, part);
				later -= part;
			}
			later = usual;
		}
		code = is_fetch(type) && offset == wish->stride ? 0 : code_of(wish, offset, wish->bits);
		time_code = later == usual ? 0 : later < 256 ? 1 : 2;
		pdats_put(bits, 1, repeats > 0);
		pdats_put(bits, 2, code);
		pdats_put(bits, 2, time_code);
		pdats_put(bits, 3, type);
		if (repeats)
			pdats_put(bits, 8, repeats);
		pdats_put(bits, pdats_width_of(wish, code), offset);
		pdats_put(bits, 8 * time_code, later);
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
		if (offset == pdats_wrap(wish, (uint64_t)(int64_t)common[code]))
			return code;
	*width = pdats_width_of(wish, code_of(wish, offset, wish->bits));
	return 4 + code_of(wish, offset, wish->bits);
}

static size_t fetches_in_sequence(const struct wish *wish, const struct reference *refs,
				  size_t count, size_t at, uint64_t fetch, size_t most)
{
	size_t found = 0;

	while (found < most && at + found < count && pdats_plain(refs[at + found].class) == FETCH &&
	       refs[at + found].address == pdats_wrap(wish, fetch + wish->stride)) {
		fetch = pdats_wrap(wish, fetch + wish->stride);
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

		if (pdats_plain(refs[i].class) == FETCH) {
			/* stored as offset / stride, which has so many bits less */
			const unsigned int left = wish->bits - scale;
			const uint64_t offset = pdats_wrap(wish, address - fetch) >> scale;
			const bool negative = offset >> (left - 1) & 1;
			const uint64_t whole = negative && scale ?
				offset | ~UINT64_C(0) << left : offset;
			const unsigned int code = offset == 1 ? 0 : code_of(wish, offset, left);

			followers = fetches_in_sequence(wish, refs, count, i + 1, address, 31);
			pdats_put(bits, 1, 1);
			pdats_put(bits, 2, code);
			pdats_put(bits, 5, followers);
			pdats_put(bits, pdats_width_of(wish, code), whole);
			fetch = address;
		} else {
			unsigned int width[2], code[2], chosen;
			uint64_t offset[2];

			for (unsigned int z = 0; z < 2; z++) {
				offset[z] = pdats_wrap(wish, address - zone[z]);
				code[z] = data_code(wish, offset[z], &width[z]);
			}
			chosen = latest;
			if (width[!latest] < width[latest] ||
			    (width[0] == width[1] && width[0] == wish->bits))
				chosen = !latest;
			followers = fetches_in_sequence(wish, refs, count, i + 1, fetch, 3);
			pdats_put(bits, 1, 0);
			pdats_put(bits, 1, pdats_plain(refs[i].class) == WRITE);
			pdats_put(bits, 3, code[chosen]);
			pdats_put(bits, 1, chosen);
			pdats_put(bits, 2, followers);
			pdats_put(bits, width[chosen], offset[chosen]);
			zone[chosen] = address;
			latest = chosen;
		}
		fetch = pdats_wrap(wish, fetch + followers * wish->stride);
		i += 1 + followers;
	}
}

void pdats_encode(struct bits *bits, const struct wish *wish, const struct reference *refs,
		size_t count)
{
	*bits = (struct bits){ 0 };
	if (wish->header)
		pdats_put_header(bits, wish);
	(wish->version == 1 ? put_pdats : put_pdats2)(bits, wish, refs, count);
}

/* ---- the decoder ---- */

static void add(struct decoded *out, const struct wish *wish, unsigned int class, uint64_t address,
		uint64_t time)
{
	assert_true(out->count < sizeof(out->refs) / sizeof(out->refs[0]));
	out->refs[out->count++] = (struct reference){ class, pdats_wrap(wish, address), time };
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
	offset = code ? get_signed(bits, pdats_width_of(wish, code)) : wish->stride;
	later = time_code ? get(bits, 8 * time_code) : is_fetch(type);
	if (bits->over)
		return false;
	while (times-- > 0) {
		last[type] = pdats_wrap(wish, last[type] + offset);
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
		offset = code ? get_signed(bits, pdats_width_of(wish, code)) : 1;
		offset *= wish->stride;
	} else {
		class = get(bits, 1) ? WRITE : READ;
		code = (unsigned int)get(bits, 3);
		z = (unsigned int)get(bits, 1);
		count = get(bits, 2);
		offset = code < 5 ? (uint64_t)(int64_t)common[code] :
				    get_signed(bits, pdats_width_of(wish, code - 4));
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

void pdats_decode(struct bits *bits, unsigned int version, struct wish *wish,
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
