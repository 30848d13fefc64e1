/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A repair (repair.c) that is under way, and the losses it meets: a loss begins with a chunk that
 * cannot be used, ends before the next one that can, and is counted and reported then.  Several may
 * follow each other before a chunk is saved; one event in the new file stands for them.
 */
#ifndef LAPLACE_CONTAINER_REPAIR_LOSS_H
#define LAPLACE_CONTAINER_REPAIR_LOSS_H

#include <laplace/repair.h>

#include "codec/stream_hash.h"
#include "source.h"
#include "writer.h"

struct lpl_repairing {
	const struct lpl_repair_options *options;
	struct lpl_repaired *repaired;
	struct lpl_source source;
	uint64_t size;			/* of the file, 0 when not known */
	struct lpl_loaded_chunk chunk;	/* at hand */
	struct lpl_writer *writer;	/* NULL: only find out */
	uint64_t segment;		/* that is at hand */
	struct lpl_chunk_header last;	/* of the last chunk that was saved, as it was read */
	struct lpl_totals totals;	/* as of its end */
	struct lpl_ref *expanded;	/* owned: references of blocks */
	struct lpl_stream_hash saved;	/* of all references that were saved */
	struct lpl_stream_hash read;	/* of those in the file at hand ... */
	bool unread;			/* ... but it misses some */
	bool losing;			/* just now: the rest describes that */
	struct lpl_loss loss;
	bool moved;			/* the stream continues later than where that began */
	struct lpl_report why;
	bool missed;			/* records, in or right before the segment at hand */
	bool stateless;			/* or in the one before it, and those between */
	uint32_t states;		/* its chunks of the time before, up to the first gap */
	/* what was lost after the last chunk that was saved, and is to be reported by an event */
	bool gap;
	uint64_t gap_refs, gap_events;
};

/* The chunk at hand cannot be used. */
void lpl_loss_begin(struct lpl_repairing *repair);
/* A loss ends before the chunk at hand, which has this header; NULL: before the end of all. */
void lpl_loss_end(struct lpl_repairing *repair, const struct lpl_chunk_header *next);
/* The same in two steps, between which something else may be found out. */
void lpl_loss_measure(struct lpl_repairing *repair, const struct lpl_chunk_header *next);
void lpl_loss_count(struct lpl_repairing *repair);
/* The file ends within a chunk, after its header: that one is missing, if not more. */
void lpl_loss_measure_cut_off(struct lpl_repairing *repair);
/*
 * The new file reports what was lost since the last chunk that was saved, by an event with the
 * clocks of the last record that is missing, before the chunk with this header (NULL: none).
 */
enum lpl_error lpl_loss_write_gap(struct lpl_repairing *repair,
				  const struct lpl_chunk_header *next,
				  struct lpl_report *report);

#endif
