/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Keeps the state that the segments of a trace begin with (docs/format.md, section 11), which
 * lets a reader begin at any of them.  The container does not know what a state consists of: to
 * a writer, its keeper is something that takes events and can be asked for others.
 */
#ifndef LAPLACE_CONTAINER_KEEPER_H
#define LAPLACE_CONTAINER_KEEPER_H

#include <laplace/error.h>
#include <laplace/record.h>

struct lpl_state_keeper {
	/* An event of the stream, in its order, right after it was taken by the writer. */
	enum lpl_error (*take)(struct lpl_state_keeper *keeper, const struct lpl_event *event,
			       struct lpl_report *report);
	/*
	 * Send to `sink` the events that describe the state as it is after all that were taken.
	 * Their clocks are ignored: they get those of the segment's beginning.  No finish().
	 */
	enum lpl_error (*send)(struct lpl_state_keeper *keeper, struct lpl_sink *sink,
			       struct lpl_report *report);
};

#endif
