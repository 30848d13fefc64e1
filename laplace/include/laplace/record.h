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

#include <laplace/error.h>
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
				 * length are lost (set by every reducer but `none`, where
				 * pages are of 4096 bytes or more) */
#define LPL_SYNTHETIC	0x08	/* put in by a reducer (`olr`; `block:BYTES`, where an access
				 * lies in several pages), to be replayed in its place:
				 * nothing was referenced here, and the clocks are
				 * those of the reference it was put after */
/*
 * Of a walk's references alone, where walks are described (LPL_META_WALKS; walk.h), and without
 * LPL_PAGED; none of them: that is not known, or (of a read) it was made to load CR3.
 */
#define LPL_FOR_READ	0x10	/* of LPL_WALK_READ: what the tables are walked for */
#define LPL_FOR_WRITE	0x20
#define LPL_FOR_FETCH	0x30
#define LPL_ACCESSED	0x10	/* of LPL_WALK_WRITE: which bits of the entry it sets */
#define LPL_DIRTY	0x20
#define LPL_WALK_FLAGS	0x30

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
				 * above 64, reducers that of a page finer than 4096
				 * bytes); 0 with LPL_PAGED */
	uint32_t reserved;	/* 0 */
};

/*
 * References by columns: an array for each field, for whoever wants whole arrays of them (bindings,
 * mostly).  A column that is NULL is not wanted.
 */
struct lpl_ref_columns {
	uint64_t *ref, *instr, *cycle, *address, *space;
	uint16_t *length;
	uint8_t *type, *flags;
};

/* One kernel event (or a mark of the user's or of ours). */
struct lpl_event {
	uint64_t ref;			/* number of the last reference before it */
	uint64_t instr, cycle;		/* its own moment's */
	uint64_t space;			/* as the kernel reported */
	uint64_t arg[KTR_ARGS];
	uint32_t tag;			/* enum ktr_tag, or LPL_EVENT_* */
	uint32_t tid, tgid;
	uint32_t text_length;		/* at most KTR_TEXT */
	char text[KTR_TEXT];		/* guest input: print only through lpl_text_escape() */
};

/* Those of the two events that say where a page is. */
#define LPL_TRANSLATION_ARGS(ARG, EVENT) \
	ARG(EVENT, ADDRESS, 0, "address", KTR_HEX)	/* of the page's first byte */ \
	ARG(EVENT, FRAME, 1, "frame", KTR_HEX)	/* that byte's, of 4096 bytes; KTR_NONE: not known */ \
	ARG(EVENT, SHIFT, 2, "shift", KTR_DECIMAL)	/* its size: 12, 21, 22, 30; 64: no paging */ \
	ARG(EVENT, GLOBAL, 3, "global", KTR_DECIMAL)	/* 1: in all spaces */

/*
 * Events that the simulator makes itself, and reducers and mergers; above all tags of a
 * kernel.  The table is made like KTR_EVENTS, and `event->arg[LPL_EVENT_GAP_EVENTS]` has an
 * argument.
 */
#define LPL_EVENTS(EVENT, ARG) \
	/* tracing goes on (1) or off (0); after "off" instr and cycle may jump, and references \
	 * are numbered consecutively */ \
	EVENT(LPL_EVENT_TRACING, 0x10000, "tracing", KTR_PLAIN, "") \
	ARG(LPL_EVENT_TRACING, ON, 0, "on", KTR_DECIMAL) \
\
	/* a mark from outside (debugger, control socket); KTR_MARK is the guest's */ \
	EVENT(LPL_EVENT_MARK, 0x10001, "host-mark", KTR_PLAIN, "mark") \
\
	/* in a behaviour sequence (`lrubs:K`): the reference before, a fetch, evicts this \
	 * page from the memory of K pages; dirty: 1 when it was */ \
	EVENT(LPL_EVENT_EVICTED, 0x10002, "evicted", KTR_PLAIN, "") \
	ARG(LPL_EVENT_EVICTED, SPACE, 0, "space", KTR_HEX) \
	ARG(LPL_EVENT_EVICTED, ADDRESS, 1, "address", KTR_HEX) \
	ARG(LPL_EVENT_EVICTED, DIRTY, 2, "dirty", KTR_DECIMAL) \
\
	/* in a canonical trace, before the first reference to a page: what it is, and \
	 * where it was referenced first.  The offset of a page table is its physical \
	 * page; what is of no file has space and virtual page instead.  The text is the \
	 * file's name, where known.  Clocks are those of the reference to come. */ \
	EVENT(LPL_EVENT_PAGE, 0x10003, "page", KTR_PLAIN, "name") \
	ARG(LPL_EVENT_PAGE, NUMBER, 0, "number", KTR_HEX) \
	ARG(LPL_EVENT_PAGE, KIND, 1, "kind", KTR_DECIMAL)	/* enum lpl_page_kind */ \
	ARG(LPL_EVENT_PAGE, DEVICE, 2, "device", KTR_HEX) \
	ARG(LPL_EVENT_PAGE, INODE, 3, "inode", KTR_HEX) \
	ARG(LPL_EVENT_PAGE, OFFSET, 4, "offset", KTR_HEX) \
	ARG(LPL_EVENT_PAGE, GENERATION, 5, "generation", KTR_HEX)	/* of the inode's number */ \
	ARG(LPL_EVENT_PAGE, SPACE, 6, "space", KTR_HEX) \
	ARG(LPL_EVENT_PAGE, VIRTUAL_PAGE, 7, "virtual page", KTR_HEX) \
\
	/* records are missing here: a trace, or the one that it was made from, was damaged, \
	 * or cut off.  How many (KTR_NONE: not known).  Clocks are those of the record \
	 * before, or of the last one missing. */ \
	EVENT(LPL_EVENT_GAP, 0x10004, "gap", KTR_PLAIN, "") \
	ARG(LPL_EVENT_GAP, REFERENCES, 0, "references", KTR_DECIMAL) \
	ARG(LPL_EVENT_GAP, EVENTS, 1, "events", KTR_DECIMAL) \
\
	/* what there is at this point of the stream, for readers that begin here: 1 \
	 * from here, 0 up to here.  What was known before is replaced.  The \
	 * kernel's base where it begins; a snapshot of the guest's, what runs (KTR_NONE: \
	 * not known), and what could not be described, where it ends. */ \
	EVENT(LPL_EVENT_STATE, 0x10005, "state", KTR_PLAIN, "") \
	ARG(LPL_EVENT_STATE, BEGINS, 0, "begins", KTR_DECIMAL) \
	ARG(LPL_EVENT_STATE, KERNEL_BASE, 1, "kernel's base", KTR_HEX) \
	ARG(LPL_EVENT_STATE, SNAPSHOT, 2, "snapshot", KTR_DECIMAL) /* enum lpl_state_snapshot */ \
	ARG(LPL_EVENT_STATE, RUNS, 3, "running tid", KTR_DECIMAL) \
	ARG(LPL_EVENT_STATE, LEFT_OUT, 4, "left out", KTR_DECIMAL) \
\
	/* in a state: a task as it is; in the order in which they began, so that a parent \
	 * comes before its children.  Parent: its tid, 0 for one that has ended, or is not \
	 * known, or is the idle task.  Process: the tgid of the process that it belongs to, \
	 * KTR_NONE for the kernel's.  Old tid: its own before it took over its leader's (0: \
	 * none); the exit of that tid is still to come.  Left: in which KTR_STATE_* it left \
	 * the processor, KTR_NONE where that is not known. */ \
	EVENT(LPL_EVENT_TASK_STATE, 0x10006, "task-state", KTR_PLAIN, "name") \
	KTR_TASK_ARGS(ARG, LPL_EVENT_TASK_STATE) \
	ARG(LPL_EVENT_TASK_STATE, PARENT, 3, "parent's tid", KTR_DECIMAL) \
	ARG(LPL_EVENT_TASK_STATE, PROCESS, 4, "process's tgid", KTR_DECIMAL) \
	ARG(LPL_EVENT_TASK_STATE, LEADER_EXITED, 5, "leader exited", KTR_DECIMAL) /* 1: of its process */ \
	ARG(LPL_EVENT_TASK_STATE, EXITED, 6, "exited", KTR_DECIMAL) /* 1: but it may run on */ \
	ARG(LPL_EVENT_TASK_STATE, CODE, 7, "code", KTR_DECIMAL) /* of that exit */ \
	ARG(LPL_EVENT_TASK_STATE, OLD_TID, 8, "old tid", KTR_DECIMAL) \
	ARG(LPL_EVENT_TASK_STATE, REPORTED, 9, "reported", KTR_DECIMAL) /* 1: that it began */ \
	ARG(LPL_EVENT_TASK_STATE, MENTIONED, 10, "mentioned", KTR_DECIMAL) /* 1: since the last gap */ \
	ARG(LPL_EVENT_TASK_STATE, LEFT, 11, "left", KTR_HEX) \
\
	/* in a state: an address space; from which range its last KTR_REMAP moved pages (0, 0: \
	 * none) */ \
	EVENT(LPL_EVENT_SPACE_STATE, 0x10007, "space-state", KTR_PLAIN, "") \
	ARG(LPL_EVENT_SPACE_STATE, SPACE, 0, "space", KTR_HEX) \
	ARG(LPL_EVENT_SPACE_STATE, MOVED_START, 1, "moved from", KTR_HEX) \
	ARG(LPL_EVENT_SPACE_STATE, MOVED_END, 2, "moved up to", KTR_HEX) \
\
	/* in a state: the space has in this range what another one has there, as after a \
	 * fork: pages, and those that were not touched yet, are one until a write parts them */ \
	EVENT(LPL_EVENT_SHARED, 0x10008, "shared", KTR_FENCE, "") \
	ARG(LPL_EVENT_SHARED, SPACE, 0, "space", KTR_HEX) \
	ARG(LPL_EVENT_SHARED, OTHER, 1, "other space", KTR_HEX) \
	ARG(LPL_EVENT_SHARED, START, 2, "start", KTR_HEX) \
	ARG(LPL_EVENT_SHARED, END, 3, "end", KTR_HEX) \
\
	/* what a page held when a memory of so many pages (LPL_META_IMAGES) would have evicted \
	 * it, before the reference that fetches another; it belongs to the last reference to \
	 * that page before it.  Space: KTR_NONE for page tables.  Word: what a filled page \
	 * consists of.  Hash: XXH3, of 128 bits, of what a stored one holds, which the parts \
	 * just before say, or those of an earlier image with that hash.  Clocks are those of \
	 * the reference to come. */ \
	EVENT(LPL_EVENT_IMAGE, 0x10009, "image", KTR_PLAIN, "") \
	ARG(LPL_EVENT_IMAGE, SPACE, 0, "space", KTR_HEX) \
	ARG(LPL_EVENT_IMAGE, ADDRESS, 1, "address", KTR_HEX) \
	ARG(LPL_EVENT_IMAGE, FRAME, 2, "frame", KTR_HEX)	/* physical; KTR_NONE: not known */ \
	ARG(LPL_EVENT_IMAGE, KIND, 3, "kind", KTR_DECIMAL)	/* enum lpl_image_kind */ \
	ARG(LPL_EVENT_IMAGE, WORD, 4, "word", KTR_HEX) \
	ARG(LPL_EVENT_IMAGE, HASH_LOW, 5, "low hash", KTR_HEX) \
	ARG(LPL_EVENT_IMAGE, HASH_HIGH, 6, "high hash", KTR_HEX) \
	ARG(LPL_EVENT_IMAGE, PARTS, 7, "parts", KTR_DECIMAL)	/* that stand before it */ \
\
	/* a part of what the next image holds; what no part says is zero */ \
	EVENT(LPL_EVENT_IMAGE_PART, 0x1000a, "image-part", KTR_PLAIN, "contents") \
	ARG(LPL_EVENT_IMAGE_PART, OFFSET, 0, "offset", KTR_DECIMAL)	/* in bytes */ \
\
	/* a record of `in-out:N`: a page has not been referenced for a whole segment; the \
	 * clocks of its last reference, and 1 if one after the first of its period wrote */ \
	EVENT(LPL_EVENT_OUT, 0x1000b, "out", KTR_PLAIN, "") \
	ARG(LPL_EVENT_OUT, SPACE, 0, "space", KTR_HEX) \
	ARG(LPL_EVENT_OUT, ADDRESS, 1, "address", KTR_HEX) \
	ARG(LPL_EVENT_OUT, REFERENCE, 2, "last reference", KTR_DECIMAL) \
	ARG(LPL_EVENT_OUT, INSTRUCTION, 3, "instruction", KTR_DECIMAL) \
	ARG(LPL_EVENT_OUT, CYCLE, 4, "cycle", KTR_DECIMAL) \
	ARG(LPL_EVENT_OUT, WRITTEN, 5, "written", KTR_DECIMAL) \
\
	/* at the end of `in-out:N`: the smallest memory that LRU can be simulated with */ \
	EVENT(LPL_EVENT_LEAST_MEMORY, 0x1000c, "least-memory", KTR_PLAIN, "") \
	ARG(LPL_EVENT_LEAST_MEMORY, PAGES, 0, "pages", KTR_DECIMAL) \
\
	/* at the end of `irg:THETA`: the sum of all distances in references between \
	 * successive references to a page that are not above THETA; what the end of the \
	 * trace cuts off of the THETA references for which pages stay after their last one; \
	 * and THETA */ \
	EVENT(LPL_EVENT_GAPS, 0x1000d, "gaps", KTR_PLAIN, "") \
	ARG(LPL_EVENT_GAPS, SUM, 0, "sum", KTR_DECIMAL) \
	ARG(LPL_EVENT_GAPS, CUT, 1, "cut off", KTR_DECIMAL) \
	ARG(LPL_EVENT_GAPS, THETA, 2, "theta", KTR_DECIMAL) \
	ARG(LPL_EVENT_GAPS, LAST, 3, "last reference", KTR_DECIMAL) \
\
	/* before a reference that a reduction kept: where the instruction begins that made it; \
	 * the clocks are those of the reference, but for its number, which is still to come */ \
	EVENT(LPL_EVENT_PROGRAM_COUNTER, 0x1000e, "program-counter", KTR_PLAIN, "") \
	ARG(LPL_EVENT_PROGRAM_COUNTER, ADDRESS, 0, "address", KTR_HEX) \
\
	/* where a page is in physical memory, by the processor's own walk, from here on in the \
	 * event's space, or in all (translation.h); nothing else was known of it */ \
	EVENT(LPL_EVENT_TRANSLATION, 0x1000f, "translation", KTR_PLAIN, "") \
	LPL_TRANSLATION_ARGS(ARG, LPL_EVENT_TRANSLATION) \
\
	/* the same where references may have found it elsewhere before */ \
	EVENT(LPL_EVENT_RETRANSLATION, 0x10010, "retranslation", KTR_FENCE, "") \
	LPL_TRANSLATION_ARGS(ARG, LPL_EVENT_RETRANSLATION) \
\
	/* the processor empties its TLB (enum lpl_tlb_flush); space: of the tables that it walks \
	 * from here on, where CR3 was loaded another one than the event's, maybe */ \
	EVENT(LPL_EVENT_TLB_FLUSH, 0x10011, "tlb-flush", KTR_PLAIN, "") \
	ARG(LPL_EVENT_TLB_FLUSH, KIND, 0, "kind", KTR_DECIMAL) \
	ARG(LPL_EVENT_TLB_FLUSH, ADDRESS, 1, "address", KTR_HEX)	/* of LPL_TLB_PAGE */ \
	ARG(LPL_EVENT_TLB_FLUSH, SPACE, 2, "space", KTR_HEX) \
\
	/* the processor walks this frame as a table, from here on (walk.h).  Tables are numbered from \
	 * the last one, an entry of which maps 4096 bytes: 1 to 5.  A frame of `none`: of no frame \
	 * and no entry anything is known. */ \
	EVENT(LPL_EVENT_PAGE_TABLE, 0x10012, "page-table", KTR_PLAIN, "") \
	ARG(LPL_EVENT_PAGE_TABLE, FRAME, 0, "frame", KTR_HEX) \
	ARG(LPL_EVENT_PAGE_TABLE, TABLE, 1, "table", KTR_DECIMAL) \
\
	/* the entry of a page table at this physical address maps a page, larger than 4096 bytes, by \
	 * itself (1), or not any more (0) */ \
	EVENT(LPL_EVENT_LARGE_ENTRY, 0x10013, "large-entry", KTR_PLAIN, "") \
	ARG(LPL_EVENT_LARGE_ENTRY, ADDRESS, 0, "address", KTR_HEX) \
	ARG(LPL_EVENT_LARGE_ENTRY, LARGE, 1, "large", KTR_DECIMAL) \
\
	/* what is in physical memory at this address, as the processor decoded it with so many bits; before \
	 * any of it is fetched (code.h).  An address of KTR_NONE, without text: of no code anything is known. */ \
	EVENT(LPL_EVENT_CODE, 0x10014, "code", KTR_PLAIN, "bytes") \
	ARG(LPL_EVENT_CODE, ADDRESS, 0, "address", KTR_HEX) \
	ARG(LPL_EVENT_CODE, BITS, 1, "bits", KTR_DECIMAL) \
\
	/* the processor executes an instruction that calls the kernel; after its fetch, before what else it \
	 * refers to.  The number is in EAX; traces with code have this (code.h). */ \
	EVENT(LPL_EVENT_SYSTEM_CALL, 0x10015, "system-call", KTR_PLAIN, "") \
	ARG(LPL_EVENT_SYSTEM_CALL, NUMBER, 0, "number", KTR_DECIMAL) \
	ARG(LPL_EVENT_SYSTEM_CALL, INSTRUCTION, 1, "instruction", KTR_DECIMAL) /* enum lpl_system_call */

enum lpl_event_tag {
	LPL_EVENTS(KTR_DEFINE_TAG, KTR_NO_ARG)
	LPL_EVENT_TAGS		/* all of ours are below */
};

LPL_EVENTS(KTR_NO_EVENT, KTR_DEFINE_ARG)

/* What the guest had reported by a snapshot of its own (KTR_SNAPSHOT) when a state was written. */
enum lpl_state_snapshot {
	LPL_STATE_NO_SNAPSHOT = 0,
	LPL_STATE_IN_SNAPSHOT = 1,	/* it has begun, and goes on */
	LPL_STATE_AFTER_SNAPSHOT = 2,
	LPL_STATE_LOST_SNAPSHOT = 3	/* it has begun, and events were missing before its end */
};

/* Which entries of its TLB the processor invalidates (LPL_EVENT_TLB_FLUSH). */
enum lpl_tlb_flush {
	LPL_TLB_ALL = 0,	/* global ones, too */
	LPL_TLB_NONGLOBAL = 1,	/* CR3 was loaded: all but those of global pages */
	LPL_TLB_PAGE = 2	/* those of the page with this address, global or not */
};

/* By which instruction the kernel is called (LPL_EVENT_SYSTEM_CALL). */
enum lpl_system_call {
	LPL_CALL_SYSCALL = 0,
	LPL_CALL_SYSENTER = 1,
	LPL_CALL_INTERRUPT = 2	/* INT 80h */
};

/* What is known of a page that was evicted (LPL_EVENT_IMAGE). */
enum lpl_image_kind {
	LPL_IMAGE_UNKNOWN = 0,	/* no memory of the machine backed the page: a device, say */
	LPL_IMAGE_FILLED = 1,	/* one word of eight bytes, again and again; mostly 0 */
	LPL_IMAGE_STORED = 2	/* anything else */
};

/*
 * Where 0 is no device and KTR_NONE no inode: in a state this is the device of files that
 * the kernel did not name, and they are numbered by inode, so that two of them stay two.
 */
#define LPL_STATE_NAMELESS KTR_NONE

/*
 * In a state, the frames (and swap entries) of KTR_PRESENT from here up are none of the
 * machine's: equal ones are one page, and they mean no more than that.
 */
#define LPL_STATE_PAGES (UINT64_C(1) << 63)

/* How many events there are in both tables; neither leaves out a number. */
enum { LPL_EVENT_KINDS = KTR_TAGS - 1 + (LPL_EVENT_TAGS - LPL_EVENT_TRACING) };

/* An event's row in its table. */
struct lpl_event_kind {
	const char *name;	/* "map", "cow-break" ... */
	const char *text;	/* what its text is; "" for an event that has none */
	struct lpl_event_arg {
		const char *name;	/* "start", "old frame" ... */
		enum ktr_how how;
	} arg[KTR_ARGS + 1];	/* the first one without a name (NULL) ends them */
	uint32_t tag;
	bool fence;		/* see lpl_event_is_fence() */
};

/* The row of a tag; NULL for one that is in neither table. */
const struct lpl_event_kind *lpl_event_kind(uint32_t tag);

/* All rows, LPL_EVENT_KINDS of them, by ascending tags. */
const struct lpl_event_kind *lpl_event_kinds(void);

/*
 * May an event change what a virtual page means (KTR_FENCE in its table)?  Reducers end a
 * window there.
 */
bool lpl_event_is_fence(uint32_t tag);

/*
 * Does an event say, by the kernel, what virtual pages are?  Canonical pages can be had of a stream with such
 * ones (merge.h).  An exec alone only says what runs.
 */
bool lpl_event_maps(uint32_t tag);

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
 * simulator, printer) is a sink; a reducer does not own its next stage but is given it.
 * Calls come in stream order, on one thread.  After an error nothing more may
 * be sent but `close`.  `finish` ends the stream: everything held back is sent
 * on, and `finish` of the next stage is called.
 */
struct lpl_sink {
	enum lpl_error (*refs)(struct lpl_sink *sink, const struct lpl_ref *refs,
			       size_t count, struct lpl_report *report);
	enum lpl_error (*event)(struct lpl_sink *sink, const struct lpl_event *event,
				struct lpl_report *report);
	enum lpl_error (*finish)(struct lpl_sink *sink, struct lpl_report *report);
};

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
