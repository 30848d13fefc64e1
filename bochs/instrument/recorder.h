/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the other files of this directory use of the producer, whichever this simulator has:
 * that of windows (producer.h) or that of every reference (producer_all.h).
 */
#ifndef LAPLACE_RECORDER_H
#define LAPLACE_RECORDER_H

#include "collect/collector.h"

enum laplace_state {
	LAPLACE_OFF,		/* nothing is recorded */
	LAPLACE_ON,
	LAPLACE_SUPPRESSED	/* between a record's begin and its trigger */
};

enum {
	/*
	 * A kernel needs a few thousand instructions for a record.  One that never
	 * comes to its trigger must not silence the trace.
	 */
	LAPLACE_SUPPRESSED_MAX = 1000000
};

/* The kernel's record, and what is known of it. */
struct laplace_watch {
	bool known;
	uint64_t address;
	unsigned hello;		/* handshake: words seen */
	uint32_t low;
	uint64_t records, malformed, abandoned;
	bool end_seen, fail_seen;
};

/* recording.cc, producer_all.cc */
void laplace_producer_init(struct lpl_ring *ring, uint64_t window, bool ends_at_events);
void laplace_forget_slots(void);	/* what the TLB says of pages no longer holds */
void laplace_start(void);		/* OFF -> ON, with a TRACING event */
void laplace_stop(void);
void laplace_end(void);			/* the same for good, wherever the processor is */
void laplace_pause(void);		/* ON -> OFF, without an event: for a checkpoint ... */
void laplace_restart(void);		/* ... in a new process, with the machine restored ... */
/* ... and on from there: so many references until then, and what the tracer made. */
void laplace_continue(uint64_t references, uint64_t tracer_refs, bool on);
void laplace_suppress(void);		/* ON -> SUPPRESSED */
void laplace_resume(void);		/* SUPPRESSED -> ON */
void laplace_emit_event(const struct kernel_trace_record *record);
void laplace_emit_totals(void);		/* how far references and instructions are */
void laplace_flush(void);
void laplace_rotate(void);		/* a flush, and the end of a segment */
void laplace_flush_if_due(void);
void laplace_ask_flush(void);		/* from any thread: flush soon */
void laplace_ask_look(void);		/* likewise: come to laplace_session_poll() soon */
void laplace_time_jumps(void);		/* the next trace of instructions goes there, too */
/* Recorded so far; a simulator that logs waits until the collector has read the log. */
uint64_t laplace_references(void);

/* own_event.cc */
void laplace_own_event(uint32_t tag, uint64_t on, const char *text);
void laplace_emit_mark(const char *text);	/* from the debugger */

/* watch.cc */
/* An access to a page that holds the kernel's record; true: it is the tracer's own. */
bool laplace_watched(uint64_t address, unsigned length, bool write);
bool laplace_watch(uint64_t address, bool present, char *why, unsigned size);
void laplace_suppression_check(void);

#endif
