/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Codecs of pages: how long an image gets when it is compressed alone, as a kernel does.
 */
#ifndef LAPLACE_IMAGE_PAGE_CODEC_H
#define LAPLACE_IMAGE_PAGE_CODEC_H

#include <stdint.h>

#include <laplace/error.h>

struct lpl_page_codec;

/*
 * By name: `zstd`, `zstd:LEVEL`, `lz4`, `lzo`.  LPL_ERR_USAGE: no such codec; LPL_ERR_UNSUPPORTED: this library
 * was built without; LPL_ERR_MEMORY.
 */
enum lpl_error lpl_page_codec_open(struct lpl_page_codec **codec, const char *name,
				   struct lpl_report *report);
void lpl_page_codec_close(struct lpl_page_codec *codec);	/* NULL is fine */
/* The bytes that an image takes; LPL_IMAGE_BYTES if it does not get smaller. */
uint32_t lpl_page_codec_size(struct lpl_page_codec *codec, const uint8_t *bytes);

#endif
