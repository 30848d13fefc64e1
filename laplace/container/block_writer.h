/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A writer of traces that takes blocks, for the collector. */
#ifndef LAPLACE_CONTAINER_BLOCK_WRITER_H
#define LAPLACE_CONTAINER_BLOCK_WRITER_H

#include <laplace/trace.h>

#include "codec/block.h"

/*
 * The writer as a sink of blocks; owned by the writer, which was opened with options.blocks.  Blocks
 * and lpl_writer_sink() are not mixed.  How many references there were before reduction, of
 * each type and in user mode, the writer counts itself, for it gets all of them; of
 * lpl_writer_totals() the rest is taken.
 */
struct lpl_block_sink *lpl_writer_blocks(struct lpl_writer *writer);

/* The hash of the file's references so far (docs/format.md, section 10). */
uint64_t lpl_writer_hash(struct lpl_writer *writer);

#endif
