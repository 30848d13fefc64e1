/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is in a file: itself, or if it is one of gzip or zip what that holds, in order, as one stream.
 */
#ifndef LAPLACE_CONVERT_UNPACK_H
#define LAPLACE_CONVERT_UNPACK_H

#include "inflate.h"

struct lpl_unpack {
	struct lpl_input input;
	struct lpl_inflate inflate;
	enum { UNPACK_PLAIN, UNPACK_GZIP, UNPACK_ZIP } kind;
	enum { UNPACK_BETWEEN, UNPACK_INFLATING, UNPACK_STORED, UNPACK_OVER } state;
	const uint8_t *bytes;	/* unpacked and not yet taken ... */
	size_t count;		/* ... so many */
	uint64_t stored;	/* left of a part that was not packed */
	uint32_t flags;		/* of this part of a zip */
	uint32_t crc, size;	/* of what was unpacked of this part */
	uint32_t said;		/* by the part of itself: the CRC */
};

/* From the present offset of `fd` on, which is not owned. */
void lpl_unpack_begin(struct lpl_unpack *unpack, int fd);
void lpl_unpack_end(struct lpl_unpack *unpack);		/* frees; zeroed is fine */

/*
 * *got: as many bytes as are wanted, or fewer at the end.  NULL, or what is wrong: "" where the file cannot
 * be read (errno).
 */
const char *lpl_unpack_read(struct lpl_unpack *unpack, void *bytes, size_t wanted, size_t *got);

#endif
