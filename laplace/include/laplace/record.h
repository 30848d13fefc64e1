/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a trace is made of: references and kernel events, in one ordered
 * stream.
 *
 * Order.  References carry three clocks, all of which never run backwards:
 * `ref` (strictly increasing, but for LPL_SYNTHETIC references, which may repeat
 * the number before them), `instr` and `cycle`.  An event carries the number
 * of the last reference before it, so an event with ref == r stands after
 * reference r and before reference r + 1, and its own moment's `instr` and
 * `cycle`.
 */
#ifndef LAPLACE_RECORD_H
#define LAPLACE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <laplace/kernel_trace_record.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum lpl_type {
	LPL_READ = 0,
	LPL_WRITE = 1,
	LPL_FETCH = 2,		/* of an instruction */
	LPL_WALK_READ = 3,	/* of a page table by the processor: physical, optional */
	LPL_WALK_WRITE = 4,
	LPL_TYPES = 5
};

/* 'r', 'w', 'i', 'p', 'q' */
char lpl_type_letter(enum lpl_type type);

#define LPL_PAGE_SHIFT 12	/* pages are of 4096 bytes unless a header says more */

/* enum lpl_flags, in lpl_ref.flags */
#define LPL_USER	0x01	/* made in user mode (CPL 3) */
#define LPL_SECOND	0x02	/* the second part of an access that crosses a page;
				 * of a fetch: the same instruction goes on */
#define LPL_PAGED	0x04	/* address is a page's first byte: the offset and the
				 * length are lost (set by every reducer but `none`) */
#define LPL_SYNTHETIC	0x08	/* put in by a reducer (`olr`), to be replayed in its place:
				 * nothing was referenced here, and the clocks are
				 * those of the reference it was put behind */

/* One reference. */
struct lpl_ref {
	uint64_t ref;		/* this reference's number, from 1 at trace-on */
	uint64_t instr;		/* the simulator's count of instructions completed
				 * since power-on, see docs/references.md */
	uint64_t cycle;		/* the simulated processor's cycle counter */
	uint64_t address;	/* virtual (physical for walks), in bytes */
	uint64_t space;		/* page number of the top-level page table */
	uint8_t type;		/* enum lpl_type */
	uint8_t flags;		/* LPL_USER ... */
	uint16_t length;	/* bytes, 1 to 4096 (the simulator and import make none
				 * above 64); 0 with LPL_PAGED */
	uint32_t reserved;	/* 0 */
};

/* One kernel event (or a mark of the user's or of ours). */
struct lpl_event {
	uint64_t ref;			/* number of the last reference before it */
	uint64_t instr, cycle;		/* its own moment's */
	uint64_t space;			/* as the kernel told */
	uint64_t arg[KTR_ARGS];
	uint32_t tag;			/* enum ktr_tag, or LPL_EVENT_* */
	uint32_t tid, tgid;
	uint32_t text_length;		/* at most KTR_TEXT */
	char text[KTR_TEXT];		/* guest input: print only through lpl_text_escape() */
};

/* Events that the simulator makes itself; above all kernel tags. */
enum lpl_event_tag {
	/* tracing goes on or off -> 1 or 0; after "off" clocks may jump */
	LPL_EVENT_TRACING = 0x10000,
	/* a mark from outside (debugger, control socket); text */
	LPL_EVENT_MARK = 0x10001,
	/*
	 * in a behaviour sequence (`lrubs:K`): the reference before, a fetch, evicts
	 * a page from the memory of K pages -> its space, its address, was it dirty
	 */
	LPL_EVENT_EVICTED = 0x10002,
	/*
	 * in a canonical trace, before the first reference to a page: what it is
	 * -> its number, enum lpl_page_kind (merge.h), device, inode, page of the file,
	 *    generation of the inode's number (of page tables: the physical page
	 *    instead of the page of the file), and for what has none of these
	 *    the space and the virtual page of the first reference; text: the
	 *    file's name, where known.  Clocks are those of the reference to come.
	 */
	LPL_EVENT_PAGE = 0x10003,
	/*
	 * records are missing here: a trace, or the one that it was made from, was
	 * damaged, or cut off -> how many references, how many events
	 * (KTR_NONE: nobody knows).  Clocks are those of the record before.
	 */
	LPL_EVENT_GAP = 0x10004
};

/*
 * Does an event change what a virtual page means (map, unmap, remap, brk,
 * exec, exit of a space, duplication, COW break, SysV, page cache)?  Reducers
 * end a window there.
 */
bool lpl_event_is_fence(uint32_t tag);

/* "map", "cow-break" ...; "tag-N" style names are never returned: NULL if unknown. */
const char *lpl_event_name(uint32_t tag);

/*
 * Copy guest text for printing: bytes outside the printable ASCII range, and
 * the backslash, become \xHH.  Always terminates.  Returns out.
 */
char *lpl_text_escape(char *out, size_t size, const char *text, size_t length);

/*
 * Would a spreadsheet take a table's cell that begins with this byte for a formula, and
 * evaluate what a guest wrote?
 */
static inline bool lpl_text_is_formula(char first)
{
	return first == '=' || first == '+' || first == '-' || first == '@';
}

/*
 * Print escaped text as a cell of a table of comma-separated values: in quotes, and the
 * first byte of a formula as \xHH.
 */
void lpl_text_print_cell(FILE *table, const char *escaped);

/*
 * A consumer of a stream.  Each stage of a pipeline (reducer, writer,
 * simulator, printer) is a sink; a reducer owns no next stage but is told it.
 * Calls come in stream order, on one thread.  After an error nothing more may
 * be sent but `close`.  `finish` ends the stream: everything held back is sent
 * on, and `finish` of the next stage is called.
 */
struct lpl_report;
struct lpl_sink {
	int (*refs)(struct lpl_sink *sink, const struct lpl_ref *refs,
		    size_t count, struct lpl_report *report);
	int (*event)(struct lpl_sink *sink, const struct lpl_event *event,
		     struct lpl_report *report);
	int (*finish)(struct lpl_sink *sink, struct lpl_report *report);
};

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
