/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A second coder of PDATS and PDATS II, an oracle: an encoder and a decoder written from Johnson's paper, and
 * from docs/formats.md where that is silent, a field of bits at a time.
 *
 * The encoder says what a file has to be, byte for byte; the decoder what is in any file at all,
 * also one that no writer makes, or that is damaged.
 */
#ifndef LAPLACE_TESTS_PDATS_CODER_H
#define LAPLACE_TESTS_PDATS_CODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

struct bits {
	uint8_t *bytes;
	size_t room, count;		/* bits */
	size_t at;
	bool over;			/* more was read than there is */
};

/* Append a field.  The bytes are the caller's to free. */
void pdats_put(struct bits *bits, unsigned int width, uint64_t value);
/* The bits of an offset with this code. */
unsigned int pdats_width_of(const struct wish *wish, unsigned int code);
/* An address of as many bits as there are. */
uint64_t pdats_wrap(const struct wish *wish, uint64_t address);
void pdats_put_header(struct bits *bits, const struct wish *wish);
/* A class as a type of 0 to 2. */
unsigned int pdats_plain(unsigned int class);
/* All of a file. */
void pdats_encode(struct bits *bits, const struct wish *wish, const struct reference *refs, size_t count);

struct decoded {
	struct reference refs[60000];
	size_t count;
	bool good;			/* all of it could be read */
};

/* Whatever a file has; its header is put in `wish`. */
void pdats_decode(struct bits *bits, unsigned int version, struct wish *wish, struct decoded *out);

#endif
