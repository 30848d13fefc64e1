/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Unpacking what was deflated (RFC 1951), piece by piece, out of a file that is read as it is needed: by zlib, which
 * is optional.  Traces of other tools come in files of gzip and zip.
 */
#ifndef LAPLACE_CONVERT_INFLATE_H
#define LAPLACE_CONVERT_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef LAPLACE_ZLIB
#include <zlib.h>
#endif

/* A file, read from its present offset on. */
struct lpl_input {
	int fd;
	size_t at, end;
	uint64_t read;		/* bytes that left the buffer */
	bool over, failed;	/* it has ended; it could not be read: errno */
	uint8_t buffer[16384];
};

/* The next byte; -1: there is none. */
int lpl_input_byte(struct lpl_input *input);
/* So many bytes, or as many as there are. */
size_t lpl_input_bytes(struct lpl_input *input, void *bytes, size_t count);

struct lpl_inflate {
	struct lpl_input *input;
#ifdef LAPLACE_ZLIB
	z_stream stream;
#endif
	bool begun, done;
	uint8_t out[32768];
};

/* From the input's next byte on.  It was zeroed, or was there before.  NULL, or what is wrong. */
const char *lpl_inflate_begin(struct lpl_inflate *inflate, struct lpl_input *input);
void lpl_inflate_end(struct lpl_inflate *inflate);	/* frees; zeroed is fine */

/*
 * Unpack on: *bytes are `*count` more bytes, until the next call; 0 at the end, after which the input
 * goes on after the packed bytes.  NULL, or what is wrong; no more can be had then.
 */
const char *lpl_inflate_next(struct lpl_inflate *inflate, const uint8_t **bytes, size_t *count);

/* The CRC of gzip and zip (RFC 1952, 8), 0 before the first byte, with these bytes taken in. */
uint32_t lpl_crc(uint32_t crc, const uint8_t *bytes, size_t count);

#endif
