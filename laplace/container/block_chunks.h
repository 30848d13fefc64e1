/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* RUNS chunks, for a writer; what a sink of blocks (block_writer.c) needs of them. */
#ifndef LAPLACE_CONTAINER_BLOCK_CHUNKS_H
#define LAPLACE_CONTAINER_BLOCK_CHUNKS_H

#include "chunk_encoder.h"
#include "codec/block_finder.h"

struct lpl_block_chunks {
	struct lpl_chunk_encoder encoder;	/* first */
	struct lpl_block_packer packer;
	struct lpl_block_finder finder;		/* for references that are not sent as blocks */
	size_t found_in;		/* so many of those since the chunk began */
};

#endif
