/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A guest's state (guest_state.h) is a merge that sees no references.  guest_state.c feeds
 * it and keeps it small; send_state.c sends it as events, send_spaces.c what its spaces map.
 */
#ifndef LAPLACE_MERGE_STATE_SENDER_H
#define LAPLACE_MERGE_STATE_SENDER_H

#include "state.h"

struct lpl_state {
	struct lpl_merge_output output;	/* of the merge: not looked at */
	struct lpl_merge *merge;
	uint64_t pieces_limit, tasks_limit;
	uint64_t pieces;		/* at most, since they were counted */
	uint64_t left_out;
	bool tracing_known;
	struct lpl_event tracing;	/* the last LPL_EVENT_TRACING, with tracing_known */
	uint64_t ref, instr, cycle;	/* of the last event */
};

/* A state on its way to a sink. */
struct sender {
	struct lpl_merge *merge;
	struct lpl_sink *sink;
	struct lpl_report *report;
	struct lpl_event event;		/* the next one; its clocks stay */
	uint64_t nowhere;		/* the number of a space that the guest does not have */
	enum lpl_error error;		/* the first */
};

/* What an event says, and nothing more: an event with these arguments is sent. */
#define SEND(sender, event_tag, ...) \
	lpl_send_event(sender, event_tag, (const uint64_t[KTR_ARGS]){ __VA_ARGS__ }, NULL, 0)
void lpl_send_event(struct sender *sender, uint32_t tag, const uint64_t arg[KTR_ARGS],
		    const char *text, size_t length);
/* There was none. */
void lpl_sender_no_memory(struct sender *sender);

/* What names a mapping's object, as lpl_object_name() takes it: (device, inode). */
struct object_name {
	uint64_t device, inode;
};
struct object_name lpl_sent_name(const struct mapping *mapping);

/* All spaces: that they are there, and what they map and share. */
void lpl_send_spaces(struct sender *sender);

#endif
