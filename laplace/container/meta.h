/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Meta data as the payload of the HEADER chunk (docs/format.md, section 3). */
#ifndef LAPLACE_CONTAINER_META_H
#define LAPLACE_CONTAINER_META_H

#include <laplace/trace.h>

/* The text's size, and the text (not terminated). */
size_t lpl_meta_size(const struct lpl_meta *meta);
void lpl_meta_encode(const struct lpl_meta *meta, char *out);
/* Add what `text` says; LPL_ERR_DAMAGED when it is malformed, LPL_ERR_MEMORY. */
enum lpl_error lpl_meta_decode(struct lpl_meta *meta, const char *text, size_t size);

#endif
