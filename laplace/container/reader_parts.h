/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a reader of traces consists of: for reader.c, which delivers what is read, and
 * reader_open.c, which opens and closes, and answers what a reader is asked.
 */
#ifndef LAPLACE_CONTAINER_READER_PARTS_H
#define LAPLACE_CONTAINER_READER_PARTS_H

#include <laplace/trace.h>

#include "base/work_queue.h"
#include "codec/stream_hash.h"
#include "index.h"
#include "loaded_chunk.h"
#include "source.h"

/* As lpl_reader_next() delivers them: references, and the event after them. */
struct lpl_batch {
	const struct lpl_ref *refs;
	size_t count;
	const struct lpl_event *event;	/* NULL: none */
};

struct lpl_reader {
	struct lpl_source source;
	bool owned;			/* its descriptor */
	bool folding;			/* three references are enough for many: `fold` */
	bool hashing;			/* `hash` is compared */
	bool stepping;			/* chunks of blocks are delivered as steps, in: */
	struct lpl_page_steps steps;		/* what was delivered, if `stepped` */
	bool stepped;
	size_t next_step;		/* in the chunk */
	uint64_t size;			/* of the file, 0 when not known */
	struct lpl_meta *meta;
	unsigned int jobs;
	struct lpl_work_queue *queue;		/* NULL until records are asked for */
	struct lpl_loaded_chunk *slot;		/* by slot of the queue */
	struct lpl_loaded_chunk *now;	/* its records are being delivered; NULL: none */
	size_t next_ref, next_event;	/* in that */
	struct lpl_batch held;		/* what lpl_reader_fill() had no room for */
	struct lpl_block_cursor cursor;	/* likewise, where it has blocks */
	struct lpl_ref *expanded;	/* owned: references of them, or of steady ones */
	struct lpl_ref fold[3];
	uint64_t folded;		/* for so many they stand, in what was delivered; 0: others */
	struct lpl_stream_hash hash;	/* of what was delivered */
	/* owned: what it still has to take in, once a chunk has a hash to compare it with */
	struct lpl_unhashed {
		struct lpl_steady steady;
		uint64_t count;
	} *unhashed;
	size_t unhashed_count, unhashed_room;
	struct lpl_packing packing;
	struct lpl_chunk_header last;	/* of the last chunk delivered */
	uint64_t consumed;
	struct lpl_index index, old_index;	/* as it is written, and as it was */
	struct lpl_totals totals;
	struct lpl_chunk chunk;		/* of what is being delivered */
	bool ended, complete;
	bool gap;			/* something is missing before the next record */
	bool gaps;			/* or was, at any time, in this file */
	bool stateless;			/* what happened before this file is not known */
	uint32_t states;		/* chunks in this file of it, up to the first missing */
	uint64_t segment;		/* of what was delivered last; 0: none */
	uint64_t segments;		/* that had a header which could be read */
	struct lpl_event gap_event;
	struct lpl_report failure;	/* what stopped the delivery */
};

/* The first error (LPL_OK: there was none), described in `report` if that has no other. */
enum lpl_error lpl_reader_failed(const struct lpl_reader *reader, struct lpl_report *report);
/* The index that the file should have knows of a chunk more.  false: no memory. */
bool lpl_reader_count_chunk(struct lpl_reader *reader, const struct lpl_chunk_header *header,
			    uint64_t offset);

#endif
