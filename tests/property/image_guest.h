/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A guest whose memory is known: what it references, and the images of what a memory evicts. */
#ifndef LAPLACE_TESTS_IMAGE_GUEST_H
#define LAPLACE_TESTS_IMAGE_GUEST_H

#include <laplace/image.h>

#include "oracle.h"

enum { IMAGE_PAGES = 24, IMAGE_REFERENCES = 400, IMAGE_SPACE = 7 };

/* What a page held when it was evicted, in order; of the last page of all nothing is known. */
struct image_shown {
	uint32_t page;
	uint8_t bytes[LPL_IMAGE_BYTES];
};
extern struct image_shown image_shown[IMAGE_REFERENCES];
extern size_t image_shown_count;

void image_guest_seed(uint64_t seed);
uint32_t image_guest_below(uint32_t limit);	/* chance */

/* References of this guest, unreduced, and the images of a memory of `room` pages. */
void image_guest_play(uint32_t room, struct stream *stream);

#endif
