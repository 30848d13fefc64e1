/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Page images on their way into a stream: each content once, by its hash, in parts, and then an event
 * for the image.  C++ may include this header.
 *
 * Which contents are in the stream is known by a table of hashes that has room for LPL_IMAGE_KNOWN; when
 * that is full, all are forgotten, and written again when they occur again.
 */
#ifndef LAPLACE_IMAGE_WRITER_H
#define LAPLACE_IMAGE_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include <laplace/image.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
	LPL_IMAGE_KNOWN = 1 << 20,	/* contents: 24 MiB at most twice */
	LPL_IMAGE_PART_BYTES = KTR_TEXT
};

struct lpl_image_writer;

/* NULL: no memory. */
struct lpl_image_writer *lpl_image_writer_open(void);
void lpl_image_writer_close(struct lpl_image_writer *writer);	/* NULL is fine */
/* What was written cannot be read from here on: a segment ends. */
void lpl_image_writer_forget(struct lpl_image_writer *writer);

/*
 * An image of this page.  `bytes`: LPL_IMAGE_BYTES of them; NULL: no memory backs it.  `send`
 * is called for each event, which has its tag, arguments and text; the clocks are the caller's.
 */
void lpl_image_write(struct lpl_image_writer *writer, uint64_t space, uint64_t address,
		     uint64_t frame, const uint8_t *bytes,
		     void (*send)(void *context, const struct lpl_event *event), void *context);

#ifdef __cplusplus
}
#endif
#endif
