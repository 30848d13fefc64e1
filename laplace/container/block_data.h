/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The payload of a RUNS chunk (docs/format.md, section 9): packed blocks, events, totals, and the
 * hash of the stream so far.  Knows nothing of files, compression or checksums.
 */
#ifndef LAPLACE_CONTAINER_BLOCK_DATA_H
#define LAPLACE_CONTAINER_BLOCK_DATA_H

#include "codec/block_packer.h"
#include "data.h"

/*
 * Write the payload of what was packed since the chunk began; `events` has its events and clocks.
 * `*out` grows.  Returns the size; 0: no memory.
 */
size_t lpl_block_data_encode(struct lpl_block_packer *packer, const struct lpl_data_encoder *events,
			     const struct lpl_totals *totals, uint8_t **out, size_t *room);

/* What was read.  Starts as zeros. */
struct lpl_unpacked_blocks {
	struct lpl_block_decoder decoder;
	bool ready;			/* the decoder was initialized */
	bool stepping;			/* to be decoded to steps; cleared if they would be too many */
	uint64_t hash;			/* of the stream up to the chunk's end */
	size_t column[LPL_BLOCK_COLUMNS];	/* sizes */
};

/*
 * Decode the payload of the chunk that `header` describes, and check every invariant within it.
 * Events, their places and totals go into `data`, without references: those are expanded from
 * `blocks` as they are asked for.  Errors as those of lpl_data_decode().
 */
enum lpl_error lpl_block_data_decode(struct lpl_unpacked_blocks *blocks, struct lpl_data *data,
				     const struct lpl_chunk_header *header,
				     const uint8_t *payload, size_t size,
				     struct lpl_report *cause);
void lpl_block_data_free(struct lpl_unpacked_blocks *blocks);

#endif
