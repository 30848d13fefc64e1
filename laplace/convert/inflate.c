/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Unpacking what was deflated; see inflate.h.  A short code is looked up by the bits that are to come, some
 * of which may be behind its end; what was read in vain for that is given back.  A longer one is followed bit by
 * bit along the numbers of codes of each length: the codes of one length are successive numbers, in the
 * order of their symbols (RFC 1951, 3.2.2), so a code of that length is a symbol's if it is less than their
 * number above the first.
 */
#include "inflate.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const char ends[] = "the file ends within packed bytes: was it cut off?";
static const char damaged[] = "the packed bytes are damaged";

/* ---- the file ---- */

static bool fill_input(struct lpl_input *input)
{
	ssize_t n;

	if (input->end > INFLATE_BACK)
		memmove(input->buffer, input->buffer + input->end - INFLATE_BACK, INFLATE_BACK);
	do
		n = input->over ? 0 : read(input->fd, input->buffer + INFLATE_BACK, INFLATE_INPUT);
	while (n < 0 && errno == EINTR);
	input->failed |= n < 0;
	input->over |= n <= 0;
	input->at = INFLATE_BACK;
	input->end = INFLATE_BACK + (n > 0 ? (size_t)n : 0);
	return n > 0;
}

int lpl_input_byte(struct lpl_input *input)
{
	if (input->at == input->end && !fill_input(input))
		return -1;
	input->read++;
	return input->buffer[input->at++];
}

size_t lpl_input_bytes(struct lpl_input *input, void *bytes, size_t count)
{
	size_t done = 0;

	while (done < count && (input->at < input->end || fill_input(input))) {
		size_t now = input->end - input->at;

		if (now > count - done)
			now = count - done;
		memcpy((uint8_t *)bytes + done, input->buffer + input->at, now);
		input->at += now;
		input->read += now;
		done += now;
	}
	return done;
}

/* ---- bits ---- */

/* So many, up to 16, are in `bits`. */
static bool need_bits(struct lpl_inflate *inflate, unsigned int count)
{
	while (inflate->bit_count < count) {
		const int byte = lpl_input_byte(inflate->input);

		if (byte < 0)
			return false;
		inflate->bits |= (uint64_t)byte << inflate->bit_count;
		inflate->bit_count += 8;
	}
	return true;
}

static bool take_bits(struct lpl_inflate *inflate, unsigned int count, unsigned int *value)
{
	if (!need_bits(inflate, count))
		return false;
	*value = (unsigned int)(inflate->bits & ((1U << count) - 1));
	inflate->bits >>= count;
	inflate->bit_count -= count;
	return true;
}

/* ---- codes ---- */

/* A code of so many bits is a symbol's, the first one highest; in `bits` it is lowest. */
static void add_quick(struct inflate_code *code, unsigned int number, unsigned int length,
		      unsigned int symbol)
{
	unsigned int bits = 0;

	if (length > INFLATE_QUICK)
		return;
	for (unsigned int i = 0; i < length; i++)
		bits |= (number >> i & 1) << (length - 1 - i);
	for (; bits < 1U << INFLATE_QUICK; bits += 1U << length)
		code->quick[bits] = (uint16_t)(symbol << 4 | length);
}

/* Of the lengths of each symbol's code; false: more codes than there are, or a part of them. */
static bool make_code(struct inflate_code *code, const uint8_t *lengths, unsigned int symbols)
{
	uint16_t next[INFLATE_CODE + 1], number[INFLATE_CODE + 1];
	int left = 1;

	memset(code, 0, sizeof(*code));
	for (unsigned int i = 0; i < symbols; i++)
		code->count[lengths[i]]++;
	next[1] = number[1] = 0;
	for (int length = 1; length <= INFLATE_CODE; length++) {
		left = 2 * left - code->count[length];
		if (left < 0)
			return false;
		if (length == INFLATE_CODE)
			break;
		next[length + 1] = (uint16_t)(next[length] + code->count[length]);
		number[length + 1] = (uint16_t)((number[length] + code->count[length]) << 1);
	}
	for (unsigned int i = 0; i < symbols; i++) {
		const unsigned int length = lengths[i];

		if (!length)
			continue;
		add_quick(code, number[length]++, length, i);
		code->symbol[next[length]++] = (uint16_t)i;
	}
	/* one code alone may have one bit (3.2.7), and there may be none */
	return left == 0 || symbols - code->count[0] <= 1;
}

/* The next symbol, bit by bit; -1: none, or the file ends. */
static int take_long_symbol(struct lpl_inflate *inflate, const struct inflate_code *code)
{
	int first = 0, index = 0, number = 0;

	for (int length = 1; length <= INFLATE_CODE; length++) {
		if (!need_bits(inflate, 1))
			return -1;
		number |= (int)(inflate->bits & 1);
		inflate->bits >>= 1;
		inflate->bit_count--;
		if (number - first < code->count[length])
			return code->symbol[index + number - first];
		index += code->count[length];
		first = (first + code->count[length]) << 1;
		number <<= 1;
	}
	return -1;
}

static int take_symbol(struct lpl_inflate *inflate, const struct inflate_code *code)
{
	unsigned int quick;

	if (!need_bits(inflate, INFLATE_QUICK))
		return take_long_symbol(inflate, code);
	quick = code->quick[inflate->bits & ((1U << INFLATE_QUICK) - 1)];
	if (!quick)
		return take_long_symbol(inflate, code);
	inflate->bits >>= quick & 15;
	inflate->bit_count -= quick & 15;
	return (int)(quick >> 4);
}

static const char *wrong(const struct lpl_inflate *inflate)
{
	return inflate->input->over ? ends : damaged;
}

/* ---- blocks ---- */

static bool make_fixed(struct lpl_inflate *inflate)
{
	uint8_t lengths[288];

	memset(lengths, 8, 144);
	memset(lengths + 144, 9, 112);
	memset(lengths + 256, 7, 24);
	memset(lengths + 280, 8, 8);
	if (!make_code(&inflate->length, lengths, 288))
		return false;
	memset(lengths, 5, 30);
	/* two of the 32 codes stand for nothing */
	(void)make_code(&inflate->distance, lengths, 30);
	return true;
}

/* The lengths of the codes of both, which are a code themselves (3.2.7). */
static bool take_lengths(struct lpl_inflate *inflate, uint8_t *lengths, unsigned int count)
{
	for (unsigned int at = 0; at < count;) {
		const int symbol = take_symbol(inflate, &inflate->length);
		unsigned int repeat = 1, more;
		uint8_t length = (uint8_t)symbol;

		if (symbol < 0 || (symbol == 16 && !at))
			return false;
		if (symbol >= 16) {
			static const uint8_t bits[] = { 2, 3, 7 }, least[] = { 3, 3, 11 };

			length = symbol == 16 ? lengths[at - 1] : 0;
			if (!take_bits(inflate, bits[symbol - 16], &more))
				return false;
			repeat = least[symbol - 16] + more;
		}
		if (repeat > count - at)
			return false;
		memset(lengths + at, length, repeat);
		at += repeat;
	}
	return true;
}

static bool make_dynamic(struct lpl_inflate *inflate)
{
	static const uint8_t order[19] = { 16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2,
					   14, 1, 15 };
	uint8_t lengths[288 + 32] = { 0 };
	unsigned int symbols, distances, codes, value;

	if (!take_bits(inflate, 5, &symbols) || !take_bits(inflate, 5, &distances) ||
	    !take_bits(inflate, 4, &codes))
		return false;
	symbols += 257;
	distances++;
	if (symbols > 286 || distances > 30)
		return false;
	for (unsigned int i = 0; i < codes + 4; i++) {
		if (!take_bits(inflate, 3, &value))
			return false;
		lengths[order[i]] = (uint8_t)value;
	}
	if (!make_code(&inflate->length, lengths, 19))
		return false;
	memset(lengths, 0, sizeof(lengths));
	if (!take_lengths(inflate, lengths, symbols + distances) || !lengths[256])
		return false;
	return make_code(&inflate->length, lengths, symbols) &&
	       make_code(&inflate->distance, lengths + symbols, distances);
}

static bool begin_stored(struct lpl_inflate *inflate)
{
	const unsigned int beside = inflate->bit_count % 8;
	unsigned int length, inverse;

	inflate->bits >>= beside;
	inflate->bit_count -= beside;
	if (!take_bits(inflate, 16, &length) || !take_bits(inflate, 16, &inverse) ||
	    (length ^ 0xffff) != inverse)
		return false;
	inflate->stored = length;
	inflate->state = INFLATE_STORED;
	return true;
}

static bool begin_block(struct lpl_inflate *inflate)
{
	unsigned int last, type;

	if (!take_bits(inflate, 1, &last) || !take_bits(inflate, 2, &type))
		return false;
	inflate->last = last;
	inflate->state = INFLATE_CODES;
	return type == 0 ? begin_stored(inflate) : type == 1 ? make_fixed(inflate) :
	       type == 2 ? make_dynamic(inflate) : false;
}

/* After the last one, bytes that were read and not used are given back. */
static void end_block(struct lpl_inflate *inflate)
{
	const unsigned int bytes = inflate->bit_count / 8;

	inflate->state = inflate->last ? INFLATE_DONE : INFLATE_HEAD;
	if (!inflate->last)
		return;
	inflate->input->at -= bytes;
	inflate->input->read -= bytes;
	inflate->bit_count = 0;
}

static bool copy_stored(struct lpl_inflate *inflate)
{
	unsigned int byte;

	if (!inflate->stored) {
		end_block(inflate);
		return true;
	}
	if (!take_bits(inflate, 8, &byte))
		return false;
	inflate->out[inflate->used++] = (uint8_t)byte;
	inflate->stored--;
	return true;
}

/* Bytes that have been there before, of which some may be made by this. */
static bool copy_match(struct lpl_inflate *inflate, unsigned int symbol)
{
	static const uint16_t lengths[29] = { 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31,
					      35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258 };
	static const uint8_t length_bits[29] = { 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3,
						 3, 4, 4, 4, 4, 5, 5, 5, 5, 0 };
	static const uint16_t distances[30] = { 1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193,
						257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145,
						8193, 12289, 16385, 24577 };
	unsigned int more, length, distance;
	int code;

	if (symbol >= 29 || !take_bits(inflate, length_bits[symbol], &more))
		return false;
	length = lengths[symbol] + more;
	code = take_symbol(inflate, &inflate->distance);
	if (code < 0 || code >= 30 ||
	    !take_bits(inflate, code < 2 ? 0 : (unsigned int)code / 2 - 1, &more))
		return false;
	distance = distances[code] + more;
	if (distance > inflate->used)
		return false;
	for (; length; length--, inflate->used++)
		inflate->out[inflate->used] = inflate->out[inflate->used - distance];
	return true;
}

static bool take_coded(struct lpl_inflate *inflate)
{
	const int symbol = take_symbol(inflate, &inflate->length);

	if (symbol < 0)
		return false;
	if (symbol < 256)
		inflate->out[inflate->used++] = (uint8_t)symbol;
	else if (symbol == 256)
		end_block(inflate);
	else
		return copy_match(inflate, (unsigned int)symbol - 257);
	return true;
}

/* ---- pieces ---- */

void lpl_inflate_begin(struct lpl_inflate *inflate, struct lpl_input *input)
{
	inflate->input = input;
	inflate->bits = 0;
	inflate->bit_count = 0;
	inflate->state = INFLATE_HEAD;
	inflate->from = inflate->used = 0;
}

static bool step(struct lpl_inflate *inflate)
{
	switch (inflate->state) {
	case INFLATE_HEAD:
		return begin_block(inflate);
	case INFLATE_STORED:
		return copy_stored(inflate);
	default:
		return take_coded(inflate);
	}
}

const char *lpl_inflate_next(struct lpl_inflate *inflate, const uint8_t **bytes, size_t *count)
{
	if (inflate->used > INFLATE_WINDOW) {
		memmove(inflate->out, inflate->out + inflate->used - INFLATE_WINDOW, INFLATE_WINDOW);
		inflate->used = INFLATE_WINDOW;
	}
	inflate->from = inflate->used;
	while (inflate->state != INFLATE_DONE && inflate->used - inflate->from < INFLATE_PIECE)
		if (!step(inflate))
			return wrong(inflate);
	*bytes = inflate->out + inflate->from;
	*count = inflate->used - inflate->from;
	return NULL;
}
