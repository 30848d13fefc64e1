/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Unpacking what was deflated (RFC 1951), piece by piece, out of a file that is read as it is needed.
 * Traces of other tools come in files of gzip and zip.
 */
#ifndef LAPLACE_CONVERT_INFLATE_H
#define LAPLACE_CONVERT_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INFLATE_INPUT 16384
#define INFLATE_BACK 8			/* bytes that can be given back */
#define INFLATE_WINDOW 32768		/* how far back a match may lie */
#define INFLATE_PIECE 32768		/* bytes unpacked at a time, and a match more */
#define INFLATE_MATCH 258
#define INFLATE_CODE 15			/* bits of the longest code */
#define INFLATE_QUICK 9			/* ... that is looked up */

/* A file, read from its present offset on. */
struct lpl_input {
	int fd;
	size_t at, end;
	uint64_t read;		/* bytes that left the buffer */
	bool over, failed;	/* it has ended; it could not be read: errno */
	uint8_t buffer[INFLATE_BACK + INFLATE_INPUT];	/* first, what was read last before */
};

/* The next byte; -1: there is none. */
int lpl_input_byte(struct lpl_input *input);
/* So many bytes, or as many as there are. */
size_t lpl_input_bytes(struct lpl_input *input, void *bytes, size_t count);

/*
 * A code: how many there are of each length, and the symbols in their order; and for what begins with the code
 * of a symbol, if that is short, symbol * 16 + its length, 0 if it is not.
 */
struct inflate_code {
	uint16_t quick[1 << INFLATE_QUICK];
	uint16_t count[INFLATE_CODE + 1];
	uint16_t symbol[288];
};

struct lpl_inflate {
	struct lpl_input *input;
	uint64_t bits;		/* read and not used, the next one lowest; after the end fewer than 8 */
	unsigned int bit_count;
	enum { INFLATE_HEAD, INFLATE_STORED, INFLATE_CODES, INFLATE_DONE } state;
	bool last;		/* this block is */
	unsigned int stored;	/* bytes left of a stored block */
	struct inflate_code length, distance;
	size_t from, used;	/* in `out`: what was unpacked last */
	uint8_t out[INFLATE_WINDOW + INFLATE_PIECE + INFLATE_MATCH];
};

void lpl_inflate_begin(struct lpl_inflate *inflate, struct lpl_input *input);

/*
 * Unpack on: *bytes are `*count` more bytes, until the next call; 0 at the end, after which the input
 * goes on behind the packed bytes.  NULL, or what is wrong; no more can be had then.
 */
const char *lpl_inflate_next(struct lpl_inflate *inflate, const uint8_t **bytes, size_t *count);

#endif
