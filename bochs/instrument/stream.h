/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The recording in progress, and the stream of references and events that it sends.
 *
 * There are two simulators.  That of windows (producer.cc, stream_windows.cc) and that of every reference
 * (producer_all.cc) each make what is declared here; recorder.h has what follows from it in both.
 */
#ifndef LAPLACE_STREAM_H
#define LAPLACE_STREAM_H

#include <atomic>

#include "collect/collector.h"

#if defined(LAPLACE_ALL)
#include "hooks_all.h"
#else
#include "hooks.h"
#endif

enum laplace_state {
	LAPLACE_OFF,		/* nothing is recorded */
	LAPLACE_ON,
	LAPLACE_SUPPRESSED	/* between a record's begin and its trigger */
};

/* The kernel's record, and what is known by it. */
struct laplace_watch {
	bool known;
	uint64_t address;
	unsigned hello;		/* handshake: words seen */
	uint32_t low;
	uint64_t records, malformed, abandoned;
	bool end_seen, fail_seen;
	uint32_t tid, tgid;	/* the task that has the processor, and its process; 0: not known */
	/* An access to the record's page, if it is known; true: it is the tracer's own. */
	bool (*accessed)(uint64_t address, unsigned length, bool write);
};

struct laplace_recording {
	struct laplace_processor *processor;
	struct lpl_collector *collector;	/* NULL: there is none, or no more */
	enum laplace_state state;
	bool failed;			/* the collector gave up */
	std::atomic<bool> flush_due;	/* another thread asks for it */
	bool ending;			/* the trace is being closed */
	uint64_t space;			/* of the processor now */
	uint64_t flushes;		/* sent */
	uint64_t exception_at;		/* the count of the latest exception */
	uint64_t suppressed_since;	/* instruction count */
	uint64_t tracer_refs;		/* left out as the tracer's own, as far as it is known here */
	struct laplace_watch watch;
	/*
	 * Where a trace of instructions begins that takes the slow path: whatever there is to be done
	 * between two instructions.
	 */
	void (*look)(void);
	/* Recording has begun; and an instruction that comes reaches into the page at this address.  NULL: nothing
	 * is to be done. */
	void (*begins)(void);
	void (*crosses)(uint64_t page);
};

extern struct laplace_recording laplace;

/* The count of the instruction that is being executed. */
static inline uint64_t laplace_icount(void)
{
	return laplace_instructions(laplace.processor);
}

/* The processor, whether anything is to be recorded or not. */
void laplace_stream_attach(struct laplace_processor *p);
/*
 * Windows have so many pages, or end at every event, too; no ring: what would be sent is thrown
 * away, to measure.
 */
void laplace_stream_open(struct lpl_ring *ring, uint64_t window, bool ends_at_events);

/* Page images, of what a memory of so many pages evicts; no fewer than a window has. */
void laplace_stream_images(uint64_t pages);

/*
 * The same machine goes on, and what it sends goes to another collector, which knows what was sent until now.  And: look
 * at the trace of instructions that begins at this count.
 */
void laplace_stream_reopen(struct lpl_ring *ring);
void laplace_stream_look_at(uint64_t instr);

/* From one state to another: the references from here on are recorded, or left out, or not counted. */
void laplace_stream_switch(enum laplace_state to);
/* In a new process, with the machine restored from a checkpoint, or a snapshot: what the stream has comes next ... */
void laplace_stream_restart(void);
/* ... and on from there: so many references until then. */
void laplace_stream_continue(uint64_t references);
/* All that was sent goes to the collector, which makes it readable; and the end of a segment. */
void laplace_stream_flush(bool rotates);

void laplace_emit_event(const struct kernel_trace_record *record);
/* One that the simulator makes itself: the task that runs, as far as that is known, is filled in. */
void laplace_emit_own_event(struct kernel_trace_record *record);
/* One from before a snapshot (snapshot.cc), as it was then: recording was off. */
struct laplace_past {
	struct kernel_trace_record record;
	uint64_t instr, offset;		/* the count of instructions, and how many cycles more there were */
	bool executing;			/* the instruction at that count was fetched */
};
void laplace_emit_past(const struct laplace_past *past);
void laplace_emit_totals(void);		/* how far references and instructions are */
/* Recorded so far; a simulator that logs waits until the collector has read the log. */
uint64_t laplace_references(void);

void laplace_forget_slots(void);	/* what the TLB says of pages no longer holds */
void laplace_time_jumps(void);		/* the next trace of instructions takes the slow path */
void laplace_ask_look(void);		/* from any thread: one does soon */

/* No instruction has begun since the last. */
bool laplace_machine_is_between(void);

#endif
