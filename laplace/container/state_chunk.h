/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a segment begins with: who and what there is in the guest, as events, for whoever begins
 * to read there (docs/format.md, section 11).  What that is, a keeper knows, which has listened.
 */
#ifndef LAPLACE_CONTAINER_STATE_CHUNK_H
#define LAPLACE_CONTAINER_STATE_CHUNK_H

#include <laplace/error.h>
#include <laplace/record.h>
#include <laplace/trace.h>

struct lpl_writer;

struct lpl_state_keeper {
	/* An event of the stream, in its order, right after being taken by the writer. */
	enum lpl_error (*take)(struct lpl_state_keeper *keeper, const struct lpl_event *event,
			       struct lpl_report *report);
	/*
	 * Send to `sink` the events that say what holds now, after all that were taken.  Their
	 * clocks are of no account: those of the segment's beginning are theirs.  No finish().
	 */
	enum lpl_error (*send)(struct lpl_state_keeper *keeper, struct lpl_sink *sink,
			       struct lpl_report *report);
};

/*
 * The writer's file has its header: after it is put what the writer's keeper sends, in as many
 * chunks as it takes; none for nothing.  `totals`: as of the end of the file before.
 */
enum lpl_error lpl_state_chunk_put(struct lpl_writer *writer, const struct lpl_totals *totals);

#endif
