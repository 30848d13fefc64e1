/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The simulator thread's half of the pipeline: it watches references and kernel
 * records and fills the ring.  One instance; all of it belongs to the
 * simulator's thread.
 */
#ifndef LAPLACE_PRODUCER_H
#define LAPLACE_PRODUCER_H

#if defined(LAPLACE_ALL)
#include "producer_all.h"
#else

#include <atomic>

#include <laplace/collector.h>

#include "hooks.h"

/* Where the cycle counter left the instruction count behind: cycle = instr + offset from `instr` on. */
struct laplace_jump {
	uint64_t instr, offset;
};

/* The rest of what is known of a page of the window. */
struct laplace_entry {
	uint64_t page, space;	/* identity; walks have a space of their own */
	uint64_t first;		/* number << 3, mode and type of its first reference */
	uint64_t first_instr, first_cycle;
	uint64_t last_cycle;	/* when cycle_known is the page's last_instr */
	uint64_t cycle_known;
};

enum laplace_state {
	LAPLACE_OFF,		/* nothing is recorded */
	LAPLACE_ON,
	LAPLACE_SUPPRESSED	/* between a record's begin and its trigger */
};

enum {
	LAPLACE_JUMPS = 1024,
	LAPLACE_SLOTS = 4096,
	LAPLACE_CODE_PAGES = 256,
	/*
	 * A kernel needs a few thousand instructions for a record.  One that never
	 * comes to its trigger must not silence the trace.
	 */
	LAPLACE_SUPPRESSED_MAX = 1000000
};

struct laplace_producer {
	struct laplace_page nowhere;	/* where references go that are not recorded */
	struct lpl_ring *ring;		/* NULL: windows are thrown away (to measure) */
	enum laplace_state state;
	bool failed;			/* the collector gave up */
	std::atomic<bool> flush_due;	/* another thread asks for it */
	bool each;			/* every reference is sent */
	bool ending;			/* the trace is being closed */
	bool uncounted;			/* `data` is one low until the next fetch */

	/* the current window; no pages when every reference is sent */
	struct laplace_page *page;
	struct laplace_entry *entry;	/* of the same index */
	uint32_t pages, pages_max;
	uint32_t *bucket;		/* hash table of page index + 1 */
	uint32_t bucket_mask;
	uint32_t events;
	struct laplace_page **slot[LAPLACE_SLOTS];	/* the filled ones */
	uint32_t slots;

	/* the latest read that a write may follow: a part for each page */
	uint32_t modified_parts;	/* 0: it was written, or was none of the slow path's */
	struct {
		struct laplace_page **slot;
		uint64_t address;
		unsigned how;		/* of the read */
	} modified[2];

	uint64_t space;			/* of the processor now */
	uint64_t cycle_offset;		/* as last sent with LPL_WIRE_OFFSET */
	struct laplace_jump jump[LAPLACE_JUMPS];
	uint32_t jumps;

	/* where instructions come from (windows) */
	uint64_t code_page;		/* LAPLACE_NOWHERE: not known until a trace begins */
	struct laplace_page *fetch;	/* its struct; NULL: not entered in this window yet */
	uint64_t entered_after;		/* then: fetches after this instruction count it */
	struct {			/* code pages of this window, by page */
		uint64_t page;
		struct laplace_page *entered;
	} code[LAPLACE_CODE_PAGES];

	/* one instruction, several counts or many references */
	uint64_t repeat_first, repeat_last, repeat_data;
	uint64_t long_instr, long_data;

	/* the running trace's instructions (every reference is sent) */
	struct {
		uint64_t address, next;	/* of the next one: where, and its count */
		unsigned at, count;
		uint8_t length[64];
	} walk;
	uint64_t sent;			/* the last number */
	uint64_t flushes;		/* sent */

	uint64_t resume_number;		/* when not ON: references so far */
	uint64_t suppressed_since;	/* instruction count */
	uint64_t suppressed_number;	/* references then, the tracer's own included */
	uint64_t tracer_refs;

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

/* producer.cc */
void laplace_producer_init(struct lpl_ring *ring, uint64_t window);
void laplace_window_end(void);
void laplace_forget_slots(void);	/* pointers in TLB entries no longer hold */
void laplace_emit(uint64_t a, uint64_t b, uint64_t c, uint64_t d);
/* All fetches up to this instruction count have happened: account for them. */
void laplace_fetched_until(uint64_t latest);
void laplace_skip_fetches(uint64_t latest);	/* they were the tracer's own */
void laplace_between_instructions(void);

/* cycles.cc */
uint64_t laplace_cycle_at(uint64_t instr);
void laplace_add_jump(uint64_t instr, uint64_t offset);
void laplace_sync_cycles(void);		/* look whether the cycle counter has jumped */
void laplace_drop_old_jumps(void);

/* recording.cc */
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
uint64_t laplace_references(void);	/* recorded so far */

/* watch.cc */
/* An access to a page that holds the kernel's record; true: it is the tracer's own. */
bool laplace_watched(uint64_t address, unsigned length, bool write);
bool laplace_watch(uint64_t address, bool present, char *why, unsigned size);
void laplace_suppression_check(void);

/* session.cc */
void laplace_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
[[noreturn]] void laplace_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
#endif
