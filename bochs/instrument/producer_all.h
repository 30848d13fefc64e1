/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The simulator thread's half of a recording of every reference: it watches kernel records and
 * fills the log.  One instance; all of it belongs to the simulator's thread.  What the other
 * files of this directory use of it has the names that it has where windows are sent
 * (producer.h).
 */
#ifndef LAPLACE_PRODUCER_ALL_H
#define LAPLACE_PRODUCER_ALL_H

#include <atomic>

#include <laplace/collector.h>

#include "hooks_all.h"

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

struct laplace_producer {
	enum laplace_state state;
	bool failed;			/* the collector gave up */
	std::atomic<bool> flush_due;	/* another thread asks for it */
	bool ending;			/* the trace is being closed */
	bool user;			/* mode, as last logged ... */
	uint64_t space;			/* ... and address space */
	uint64_t flushes;		/* sent */
	uint64_t suppressed_since;	/* instruction count */
	uint64_t tracer_refs;		/* left out, as of the last laplace_references() */

	/* the latest read that a write may follow, where it takes the slow path */
	unsigned parts;			/* one for each page; 0: it was written, or took the fast path */
	struct {
		uint64_t address;
		unsigned length;
		bool second, supervisor;
	} part[2];

	struct {
		bool known;
		uint64_t address;	/* of the kernel's record */
		unsigned hello;		/* handshake: words seen */
		uint32_t low;
		uint64_t records, malformed, abandoned;
		bool end_seen, fail_seen;
	} watch;
};

extern struct laplace_producer laplace;

/* Bochs' count of instructions: of the one that is being executed. */
#define laplace_icount()	(BX_CPU(0)->laplace.icount)

/* producer_all.cc */
static inline void laplace_producer_attach(struct laplace_processor *)
{
}
void laplace_producer_init(struct lpl_ring *ring, uint64_t window);
void laplace_forget_slots(void);	/* the kernel's record is elsewhere */
void laplace_start(void);		/* OFF -> ON, with a TRACING event */
void laplace_stop(void);
void laplace_end(void);			/* the same for good, wherever the processor is */
void laplace_suppress(void);		/* ON -> SUPPRESSED */
void laplace_resume(void);		/* SUPPRESSED -> ON */
void laplace_emit_event(const struct kernel_trace_record *record);
void laplace_emit_totals(void);		/* how far references and instructions are */
void laplace_emit_mark(const char *text);	/* from the debugger */
void laplace_flush(void);
void laplace_ask_flush(void);		/* from any thread: flush soon */
/* Recorded so far: only the collector knows, so this waits until it has read the log. */
uint64_t laplace_references(void);

/* watch.cc */
/* An access to a page that holds the kernel's record; true: it is the tracer's own. */
bool laplace_watched(uint64_t address, unsigned length, bool write);
bool laplace_watch(uint64_t address, bool present, char *why, unsigned size);
void laplace_suppression_check(void);

/* session.cc */
void laplace_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
[[noreturn]] void laplace_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
