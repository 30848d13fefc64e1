/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file of zip that grows: parts, deflated by zlib, which is optional, one after the other.  All sizes have 64 bits
 * (zip64).  The first bytes of the first part are not packed, so that they can be others at the end.
 */
#ifndef LAPLACE_CONVERT_ZIP_OUTPUT_H
#define LAPLACE_CONVERT_ZIP_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LPL_ZIP_HEAD = 36 };	/* so many */

struct lpl_zip;

bool lpl_can_zip(void);		/* was zlib there when this was compiled? */
/* NULL: no memory. */
struct lpl_zip *lpl_zip_open(void);
void lpl_zip_close(struct lpl_zip *zip);	/* NULL is fine */

/*
 * `fd` is of the file, whatever its offset is, and may be another one each time.  False: see errno, and nothing more can
 * be written.
 */
bool lpl_zip_write(struct lpl_zip *zip, int fd, const void *bytes, size_t count);
/* This part is over; what comes is of the next one.  Names are chunk.00000000 and so on. */
bool lpl_zip_next(struct lpl_zip *zip, int fd);
/* All is there.  `head`: what the first bytes are; there must have been as many. */
bool lpl_zip_end(struct lpl_zip *zip, int fd, const uint8_t head[LPL_ZIP_HEAD]);
/* Of the file, up to now. */
uint64_t lpl_zip_size(const struct lpl_zip *zip);
/* The first bytes as they were written. */
const uint8_t *lpl_zip_head(const struct lpl_zip *zip);

#endif
