/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numbers of variable length: LEB128 and zigzag (docs/format.md, section 1).
 *
 * Numbers below 2^56 take a path without a loop: seven-bit groups are spread
 * into (or gathered from) the bytes of one 64-bit word by shifts and masks.
 */
#ifndef LAPLACE_BASE_VARINT_H
#define LAPLACE_BASE_VARINT_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LPL_VARINT_MAX 10	/* bytes of the longest number */

#define LPL_VARINT_STOPS UINT64_C(0x8080808080808080)

static inline uint64_t lpl_zigzag(uint64_t difference)
{
	return (difference << 1) ^ (0 - (difference >> 63));
}

static inline uint64_t lpl_unzigzag(uint64_t value)
{
	return (value >> 1) ^ (0 - (value & 1));
}

/* Write `value`; returns the byte after it.  Needs LPL_VARINT_MAX bytes of room. */
static inline uint8_t *lpl_varint_put(uint8_t *out, uint64_t value)
{
	if (value < 0x80) {
		*out = (uint8_t)value;
		return out + 1;
	}
	if (value < UINT64_C(1) << 56) {
		unsigned int bits = 64U - (unsigned int)__builtin_clzll(value);
		unsigned int length = (bits * 9 + 64) >> 6; /* ceil(bits / 7), to 56 */
		uint64_t word = value;

		word = (word & UINT64_C(0x00fffffff0000000)) << 4 |
		       (word & UINT64_C(0x000000000fffffff));
		word = (word & UINT64_C(0x0fffc0000fffc000)) << 2 |
		       (word & UINT64_C(0x00003fff00003fff));
		word = (word & UINT64_C(0x3f803f803f803f80)) << 1 |
		       (word & UINT64_C(0x007f007f007f007f));
		word |= LPL_VARINT_STOPS & ((UINT64_C(1) << (8 * (length - 1))) - 1);
		word = htole64(word);
		memcpy(out, &word, sizeof(word));
		return out + length;
	}
	while (value >= 0x80) {
		*out++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*out = (uint8_t)value;
	return out + 1;
}

/*
 * Read a number that may end at `end`.  Returns the byte after it; NULL when it
 * is cut off, not in its shortest form or above 64 bits.
 */
static inline const uint8_t *lpl_varint_get_slowly(const uint8_t *in, const uint8_t *end,
						   uint64_t *value)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < LPL_VARINT_MAX && in + i < end; i++) {
		uint64_t byte = in[i];

		if (i == LPL_VARINT_MAX - 1 && byte > 1)
			return NULL;
		sum |= (byte & 0x7f) << (7 * i);
		if (byte < 0x80) {
			if (byte == 0 && i > 0)
				return NULL;
			*value = sum;
			return in + i + 1;
		}
	}
	return NULL;
}

static inline const uint8_t *lpl_varint_get(const uint8_t *in, const uint8_t *end,
					    uint64_t *value)
{
	uint64_t word, stops;
	unsigned int length;

	if (in < end && *in < 0x80) {
		*value = *in;
		return in + 1;
	}
	if (end - in < (ptrdiff_t)sizeof(word))
		return lpl_varint_get_slowly(in, end, value);
	memcpy(&word, in, sizeof(word));
	word = le64toh(word);
	stops = ~word & LPL_VARINT_STOPS;
	if (stops == 0)
		return lpl_varint_get_slowly(in, end, value);
	length = (unsigned int)__builtin_ctzll(stops) / 8 + 1;
	if (in[length - 1] == 0)
		return NULL;
	word &= stops ^ (stops - 1);	/* up to the last byte, ... */
	word &= ~LPL_VARINT_STOPS;	/* ... seven bits of each */
	word = (word & UINT64_C(0x7f007f007f007f00)) >> 1 |
	       (word & UINT64_C(0x007f007f007f007f));
	word = (word & UINT64_C(0x3fff00003fff0000)) >> 2 |
	       (word & UINT64_C(0x00003fff00003fff));
	word = (word & UINT64_C(0x0fffffff00000000)) >> 4 |
	       (word & UINT64_C(0x000000000fffffff));
	*value = word;
	return in + length;
}

#endif
