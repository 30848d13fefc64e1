/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-or-later */
/*
 * kernel_trace_record: how a guest kernel reports to the simulator what it does.
 *
 * The kernel owns one statically allocated instance named
 * `kernel_trace_record`.  With interrupts off on its processor it
 *
 *	1. stores any value to `begin`,
 *	2. fills the fields below `begin` (and nothing else of its own that
 *	   should be traced),
 *	3. stores any value to `trigger`.
 *
 * The simulator watches the record for kernel-mode stores.  It copies the
 * record out at the store to `trigger` and gives it the time of that moment.
 * References to the record are never traced, nor is anything between the two
 * stores: that is the tracer's own work.  It is counted instead.  On a machine
 * that does not watch, the stores do nothing.
 *
 * The record should have a page of its own: the simulator takes its slow path
 * for every access to that page.
 *
 * How the simulator gets the address: from the bochsrc option
 * (`laplace: kernel=ADDRESS`, or a System.map or vmlinux to find the symbol
 * in), or by the handshake below.
 *
 * This header compiles as C89 in a Linux 2.2 kernel and as C11 on a host, for
 * 32 and 64 bits, with the same layout: every field has a fixed width and its
 * natural alignment, so no compiler inserts padding.  All fields are
 * little-endian.  (Laplace, WOSP 2004, section 3.2.)
 */
#ifndef LAPLACE_KERNEL_TRACE_RECORD_H
#define LAPLACE_KERNEL_TRACE_RECORD_H

#ifdef __KERNEL__
#include <linux/types.h>
typedef __u16 ktr_u16;
typedef __u32 ktr_u32;
typedef __u64 ktr_u64;
#else
#include <stdint.h>
typedef uint16_t ktr_u16;
typedef uint32_t ktr_u32;
typedef uint64_t ktr_u64;
#endif

#define KTR_MAGIC	0x524b504cU	/* "LPKR" in memory */
#define KTR_VERSION	1
#define KTR_ARGS	12
#define KTR_TEXT	256

struct kernel_trace_record {
	ktr_u32 magic;		/* KTR_MAGIC; set once */
	ktr_u16 version;	/* KTR_VERSION; set once */
	ktr_u16 size;		/* sizeof(struct kernel_trace_record); set once */
	ktr_u32 begin;		/* a store here begins a record */
	ktr_u32 tag;		/* KTR_TASK_CREATE ... */
	ktr_u32 tid;		/* the current task: its own id ... */
	ktr_u32 tgid;		/* ... and that of its process */
	ktr_u64 space;		/* the current address space, see KTR_SPACE_OF */
	ktr_u64 arg[KTR_ARGS];	/* by tag; unused ones are 0 */
	ktr_u32 text_length;	/* bytes used in text, at most KTR_TEXT */
	ktr_u32 reserved0;
	char text[KTR_TEXT];	/* a name; not terminated; may hold any byte */
	ktr_u32 reserved1;
	ktr_u32 trigger;	/* a store here ends the record */
};

/*
 * An address space is named as references name it: by the page number of its
 * top-level page table, which is what the simulator sees in CR3.
 * 0 stands for "none" (a kernel thread, which borrows one).
 */
#define KTR_SPACE_OF(pgd_physical_address) \
	((ktr_u64)(pgd_physical_address) >> 12)

/* "None" where 0 is a valid value (an inode, a frame, an address). */
#define KTR_NONE	(~(ktr_u64)0)

/*
 * System V segments are files of a file system that other shared memory is in, too,
 * and both are numbered from small numbers.  A kernel distinguishes them by this bit
 * in a segment's inode number, wherever it names one (KTR_MAP, KTR_SHM_ATTACH,
 * KTR_CACHE_ADD ...).  In a KTR_CACHE_REMOVE it may be missing: by then a kernel
 * may have forgotten that the file was a segment.
 */
#define KTR_INODE_SYSV	((ktr_u64)1 << 63)

/*
 * The table of events: what a record's tag says, and what its arguments are.  Whatever
 * has to do with all events is made from it: the numbers below, what the library knows of
 * them (lpl_event_kind() in record.h), and laplace-trace(5), which has the comments as well: of an
 * event before it, of an argument after it (docs/man/events.awk).
 *
 * EVENT(tag, number, name, fence, text)
 *	name	as it is printed, and read
 *	fence	KTR_FENCE: a virtual page may be another page from here on, or shared, or
 *		no longer shared.  KTR_PLAIN: nothing of that kind
 *	text	what the record's text is; "" for an event that has none
 *
 * ARG(tag, ARGUMENT, number, name, how)
 *	an argument of the event above it: code says arg[KTR_MAP_START]
 *	how	enum ktr_how: how its value is read best
 *
 * Addresses are in bytes, ranges are [start, end), devices are major << 20 | minor,
 * offsets and frames are in pages.  Numbers are never given to something else.
 */
#define KTR_PLAIN	0
#define KTR_FENCE	1

enum ktr_how {
	KTR_HEX,
	KTR_DECIMAL,
	KTR_SIGNED		/* decimal, too; here KTR_NONE is the number -1 */
};

/* Arguments that several events have in the same places. */
#define KTR_TASK_ARGS(ARG, tag) \
	ARG(tag, TID, 0, "tid", KTR_DECIMAL) \
	ARG(tag, TGID, 1, "tgid", KTR_DECIMAL) \
	ARG(tag, SPACE, 2, "space", KTR_HEX)
#define KTR_RANGE_ARGS(ARG, tag) \
	ARG(tag, SPACE, 0, "space", KTR_HEX) \
	ARG(tag, START, 1, "start", KTR_HEX) \
	ARG(tag, END, 2, "end", KTR_HEX)
#define KTR_PAGES_ARGS(ARG, tag) \
	ARG(tag, SPACE, 0, "space", KTR_HEX) \
	ARG(tag, ADDRESS, 1, "address", KTR_HEX) \
	ARG(tag, FRAME, 2, "frame", KTR_HEX)	/* the first */ \
	ARG(tag, PAGES, 3, "pages", KTR_DECIMAL)
#define KTR_CACHE_ARGS(ARG, tag) \
	ARG(tag, DEVICE, 0, "device", KTR_HEX) \
	ARG(tag, INODE, 1, "inode", KTR_HEX) \
	ARG(tag, OFFSET, 2, "offset", KTR_HEX) \
	ARG(tag, FRAME, 3, "frame", KTR_HEX) \
	ARG(tag, PAGES, 4, "pages", KTR_DECIMAL)
#define KTR_SWAP_ARGS(ARG, tag) \
	ARG(tag, SPACE, 0, "space", KTR_HEX) \
	ARG(tag, ADDRESS, 1, "address", KTR_HEX) \
	ARG(tag, SLOT, 2, "swap entry", KTR_HEX) \
	ARG(tag, FRAME, 3, "frame", KTR_HEX) \
	ARG(tag, PAGES, 4, "pages", KTR_DECIMAL) \
	ARG(tag, DEVICE, 5, "device", KTR_HEX) \
	ARG(tag, INODE, 6, "inode", KTR_HEX) \
	ARG(tag, OFFSET, 7, "offset", KTR_HEX)
/* A file's page; or, without an inode, an anonymous page or one of shared memory, which has a swap \
 * entry if there is a place in swap for it. */
#define KTR_FOLIO_ARGS(ARG, tag) \
	KTR_CACHE_ARGS(ARG, tag) \
	ARG(tag, SLOT, 5, "swap entry", KTR_HEX)
#define KTR_SYSCALL_ARGS(ARG, tag) \
	ARG(tag, NUMBER, 0, "number", KTR_DECIMAL) \
	ARG(tag, ABI, 1, "ABI", KTR_DECIMAL)		/* KTR_ABI_* */

#define KTR_EVENTS(EVENT, ARG) \
	/* a task begins; the arguments are the child's */ \
	EVENT(KTR_TASK_CREATE, 1, "task-create", KTR_PLAIN, "name") \
	KTR_TASK_ARGS(ARG, KTR_TASK_CREATE) \
	ARG(KTR_TASK_CREATE, FLAGS, 3, "flags", KTR_HEX)	/* of clone */ \
\
	/* another task runs; next space 0: it keeps the one before */ \
	EVENT(KTR_SCHEDULE, 2, "schedule", KTR_PLAIN, "next name") \
	ARG(KTR_SCHEDULE, PREVIOUS_TID, 0, "previous tid", KTR_DECIMAL) \
	ARG(KTR_SCHEDULE, PREVIOUS_STATE, 1, "previous state", KTR_HEX)	/* KTR_STATE_* */ \
	ARG(KTR_SCHEDULE, NEXT_TID, 2, "next tid", KTR_DECIMAL) \
	ARG(KTR_SCHEDULE, NEXT_TGID, 3, "next tgid", KTR_DECIMAL) \
	ARG(KTR_SCHEDULE, NEXT_SPACE, 4, "next space", KTR_HEX) \
\
	/* a task gets (another) address space */ \
	EVENT(KTR_SPACE_ASSIGN, 3, "space-assign", KTR_PLAIN, "") \
	KTR_TASK_ARGS(ARG, KTR_SPACE_ASSIGN) \
\
	/* a program begins; the file is its image */ \
	EVENT(KTR_EXEC, 4, "exec", KTR_FENCE, "path") \
	KTR_TASK_ARGS(ARG, KTR_EXEC) \
	ARG(KTR_EXEC, DEVICE, 3, "device", KTR_HEX) \
	ARG(KTR_EXEC, INODE, 4, "inode", KTR_HEX) \
\
	/* a task ends, not its space: that is KTR_SPACE_END; last: 1 for the last one of \
	 * its process */ \
	EVENT(KTR_EXIT, 5, "exit", KTR_PLAIN, "") \
	ARG(KTR_EXIT, TID, 0, "tid", KTR_DECIMAL) \
	ARG(KTR_EXIT, TGID, 1, "tgid", KTR_DECIMAL) \
	ARG(KTR_EXIT, CODE, 2, "code", KTR_DECIMAL) \
	ARG(KTR_EXIT, LAST, 3, "last", KTR_DECIMAL) \
\
	/* offset: of start in the file; page bytes: 0 for the usual pages, else it is \
	 * hugetlbfs */ \
	EVENT(KTR_MAP, 6, "map", KTR_FENCE, "name") \
	KTR_RANGE_ARGS(ARG, KTR_MAP) \
	ARG(KTR_MAP, PROT, 3, "protection", KTR_HEX)	/* KTR_PROT_* */ \
	ARG(KTR_MAP, KIND, 4, "kind", KTR_DECIMAL)	/* enum ktr_map_kind */ \
	ARG(KTR_MAP, DEVICE, 5, "device", KTR_HEX) \
	ARG(KTR_MAP, INODE, 6, "inode", KTR_HEX)	/* or KTR_NONE */ \
	ARG(KTR_MAP, OFFSET, 7, "offset", KTR_HEX) \
	ARG(KTR_MAP, PAGE_BYTES, 8, "page bytes", KTR_DECIMAL) \
\
	EVENT(KTR_UNMAP, 7, "unmap", KTR_FENCE, "") \
	KTR_RANGE_ARGS(ARG, KTR_UNMAP) \
\
	EVENT(KTR_REMAP, 8, "remap", KTR_FENCE, "") \
	ARG(KTR_REMAP, SPACE, 0, "space", KTR_HEX) \
	ARG(KTR_REMAP, OLD_START, 1, "old start", KTR_HEX) \
	ARG(KTR_REMAP, OLD_END, 2, "old end", KTR_HEX) \
	ARG(KTR_REMAP, NEW_START, 3, "new start", KTR_HEX) \
	ARG(KTR_REMAP, NEW_END, 4, "new end", KTR_HEX) \
\
	/* the heap ends elsewhere */ \
	EVENT(KTR_BRK, 9, "brk", KTR_FENCE, "") \
	ARG(KTR_BRK, SPACE, 0, "space", KTR_HEX) \
	ARG(KTR_BRK, OLD_END, 1, "old end", KTR_HEX) \
	ARG(KTR_BRK, NEW_END, 2, "new end", KTR_HEX) \
\
	/* no device: a segment is named by its inode alone, see KTR_INODE_SYSV */ \
	EVENT(KTR_SHM_ATTACH, 10, "shm-attach", KTR_FENCE, "") \
	KTR_RANGE_ARGS(ARG, KTR_SHM_ATTACH) \
	ARG(KTR_SHM_ATTACH, SEGMENT, 3, "segment", KTR_DECIMAL)	/* its id */ \
	ARG(KTR_SHM_ATTACH, INODE, 4, "inode", KTR_HEX) \
\
	EVENT(KTR_SHM_DETACH, 11, "shm-detach", KTR_FENCE, "") \
	ARG(KTR_SHM_DETACH, SPACE, 0, "space", KTR_HEX) \
	ARG(KTR_SHM_DETACH, START, 1, "start", KTR_HEX) \
\
	/* fork copies an address space */ \
	EVENT(KTR_SPACE_DUPLICATE, 12, "space-duplicate", KTR_FENCE, "") \
	ARG(KTR_SPACE_DUPLICATE, PARENT, 0, "parent's space", KTR_HEX) \
	ARG(KTR_SPACE_DUPLICATE, CHILD, 1, "child's space", KTR_HEX) \
\
	EVENT(KTR_SPACE_END, 13, "space-end", KTR_FENCE, "") \
	ARG(KTR_SPACE_END, SPACE, 0, "space", KTR_HEX) \
\
	/* a write ends sharing; equal frames: the page was the last sharer's and is kept */ \
	EVENT(KTR_COW_BREAK, 14, "cow-break", KTR_FENCE, "") \
	ARG(KTR_COW_BREAK, SPACE, 0, "space", KTR_HEX) \
	ARG(KTR_COW_BREAK, ADDRESS, 1, "address", KTR_HEX) \
	ARG(KTR_COW_BREAK, OLD_FRAME, 2, "old frame", KTR_HEX) \
	ARG(KTR_COW_BREAK, NEW_FRAME, 3, "new frame", KTR_HEX) \
\
	/* a file's pages enter the page cache; the kernel's address is that of the first, \
	 * or KTR_NONE */ \
	EVENT(KTR_CACHE_ADD, 15, "cache-add", KTR_FENCE, "") \
	KTR_CACHE_ARGS(ARG, KTR_CACHE_ADD) \
	ARG(KTR_CACHE_ADD, ADDRESS, 5, "kernel's address", KTR_HEX) \
\
	EVENT(KTR_CACHE_REMOVE, 16, "cache-remove", KTR_FENCE, "") \
	KTR_CACHE_ARGS(ARG, KTR_CACHE_REMOVE) \
\
	/* the guest's user says this */ \
	EVENT(KTR_MARK, 17, "mark", KTR_PLAIN, "mark") \
\
	/* the guest steers the collection */ \
	EVENT(KTR_CONTROL, 18, "control", KTR_PLAIN, "") \
	ARG(KTR_CONTROL, REQUEST, 0, "request", KTR_DECIMAL)	/* enum ktr_control */ \
\
	/* of the calls that were chosen; any call has six arguments here */ \
	EVENT(KTR_SYSCALL_ENTER, 19, "syscall-enter", KTR_PLAIN, "call") \
	KTR_SYSCALL_ARGS(ARG, KTR_SYSCALL_ENTER) \
	ARG(KTR_SYSCALL_ENTER, ARG1, 2, "argument 1", KTR_HEX) \
	ARG(KTR_SYSCALL_ENTER, ARG2, 3, "argument 2", KTR_HEX) \
	ARG(KTR_SYSCALL_ENTER, ARG3, 4, "argument 3", KTR_HEX) \
	ARG(KTR_SYSCALL_ENTER, ARG4, 5, "argument 4", KTR_HEX) \
	ARG(KTR_SYSCALL_ENTER, ARG5, 6, "argument 5", KTR_HEX) \
	ARG(KTR_SYSCALL_ENTER, ARG6, 7, "argument 6", KTR_HEX) \
\
	/* a small negative result is an error's number, and from -512 down the call is \
	 * begun again after a signal */ \
	EVENT(KTR_SYSCALL_EXIT, 20, "syscall-exit", KTR_PLAIN, "call") \
	KTR_SYSCALL_ARGS(ARG, KTR_SYSCALL_EXIT) \
	ARG(KTR_SYSCALL_EXIT, RESULT, 2, "result", KTR_SIGNED) \
\
	/* what may be done in a range changes */ \
	EVENT(KTR_MPROTECT, 21, "mprotect", KTR_PLAIN, "") \
	KTR_RANGE_ARGS(ARG, KTR_MPROTECT) \
	ARG(KTR_MPROTECT, PROT, 3, "protection", KTR_HEX)	/* KTR_PROT_* */ \
\
	/* pages that were the space's own (anonymous, or copied from a file by a write) \
	 * are no more; what is mapped there remains */ \
	EVENT(KTR_DISCARD, 22, "discard", KTR_FENCE, "") \
	KTR_RANGE_ARGS(ARG, KTR_DISCARD) \
\
	/* pages that were shared by fork, or not there, are the space's own from now on, \
	 * without a write to a shared one; a page that is not shared remains what it is */ \
	EVENT(KTR_PAGE_OWN, 23, "page-own", KTR_FENCE, "") \
	KTR_PAGES_ARGS(ARG, KTR_PAGE_OWN) \
\
	/* pages leave for swap; those of shared memory have 0, 0 for space and address, and \
	 * only they have a device, an inode, an offset (the others 0, KTR_NONE, 0) */ \
	EVENT(KTR_SWAP_OUT, 24, "swap-out", KTR_PLAIN, "") \
	KTR_SWAP_ARGS(ARG, KTR_SWAP_OUT) \
\
	/* they come back, with the same arguments */ \
	EVENT(KTR_SWAP_IN, 25, "swap-in", KTR_PLAIN, "") \
	KTR_SWAP_ARGS(ARG, KTR_SWAP_IN) \
\
	/* one entry of a page table maps many pages, the first of them in this frame */ \
	EVENT(KTR_HUGE_MAP, 26, "huge-map", KTR_PLAIN, "") \
	KTR_PAGES_ARGS(ARG, KTR_HUGE_MAP) \
\
	/* these pages have an entry each again */ \
	EVENT(KTR_HUGE_SPLIT, 27, "huge-split", KTR_PLAIN, "") \
	KTR_PAGES_ARGS(ARG, KTR_HUGE_SPLIT) \
\
	/* what a file is, before its first page enters the page cache; the path is that in \
	 * its file system, or the end of it */ \
	EVENT(KTR_FILE, 28, "file", KTR_PLAIN, "path") \
	ARG(KTR_FILE, DEVICE, 0, "device", KTR_HEX) \
	ARG(KTR_FILE, INODE, 1, "inode", KTR_HEX) \
	ARG(KTR_FILE, KIND, 2, "kind", KTR_DECIMAL)		/* enum ktr_file */ \
	ARG(KTR_FILE, GENERATION, 3, "generation", KTR_HEX)	/* of the inode's number */ \
	ARG(KTR_FILE, OWN_DEVICE, 4, "own device", KTR_HEX)	/* of a KTR_FILE_BLOCK */ \
\
	/* in a snapshot, pages that exist already and are not what the mapping says: shared \
	 * by fork, or the space's own instead of a file's; where frames, or swap entries, \
	 * are equal it is one page.  The first frame or KTR_NONE, the first KTR_SWAP_ENTRY \
	 * or KTR_NONE, below bit 63 both */ \
	EVENT(KTR_PRESENT, 29, "present", KTR_FENCE, "") \
	KTR_RANGE_ARGS(ARG, KTR_PRESENT) \
	ARG(KTR_PRESENT, FRAME, 3, "frame", KTR_HEX) \
	ARG(KTR_PRESENT, SLOT, 4, "swap entry", KTR_HEX) \
\
	/* what exists already is reported: 1 from here, 0 up to here; where the kernel's half \
	 * of an address space begins (0: at bit 63) */ \
	EVENT(KTR_SNAPSHOT, 30, "snapshot", KTR_PLAIN, "") \
	ARG(KTR_SNAPSHOT, BEGINS, 0, "begins", KTR_DECIMAL) \
	ARG(KTR_SNAPSHOT, KERNEL_BASE, 1, "kernel's base", KTR_HEX) \
\
	/* a task that waited may run again; context: what woke it, the current task (0) or an \
	 * interrupt (1) */ \
	EVENT(KTR_WAKE, 31, "wake", KTR_PLAIN, "") \
	ARG(KTR_WAKE, TID, 0, "tid", KTR_DECIMAL) \
	ARG(KTR_WAKE, TGID, 1, "tgid", KTR_DECIMAL) \
	ARG(KTR_WAKE, CONTEXT, 2, "context", KTR_DECIMAL)	/* enum ktr_context */ \
\
	/* the task has put data into a pipe, or begins to put in more than a page; or it has \
	 * taken some from it, or begins to; taken: 0, or 1 */ \
	EVENT(KTR_PASS, 32, "pass", KTR_PLAIN, "") \
	ARG(KTR_PASS, DEVICE, 0, "device", KTR_HEX) \
	ARG(KTR_PASS, INODE, 1, "inode", KTR_HEX) \
	ARG(KTR_PASS, TAKEN, 2, "taken", KTR_DECIMAL) \
\
	/* reclaim takes a page's frame: the page has left memory, and was not truncated, invalidated or \
	 * migrated.  A file's page has no swap entry (KTR_NONE); one that is anonymous or of shared \
	 * memory has 0, KTR_NONE, 0 for device, inode and offset, and the entry by which its \
	 * KTR_SWAP_OUT named it, or KTR_NONE if it was dropped without swap (MADV_FREE).  The current \
	 * task is the one that reclaims.  Dirty: 1 for a page that was written to its device or to swap \
	 * for this, 0 for one that was clean, KTR_NONE if that is not known */ \
	EVENT(KTR_RECLAIM, 33, "reclaim", KTR_PLAIN, "") \
	KTR_FOLIO_ARGS(ARG, KTR_RECLAIM) \
	ARG(KTR_RECLAIM, RECLAIMER, 6, "reclaimer", KTR_DECIMAL)	/* enum ktr_reclaimer */ \
	ARG(KTR_RECLAIM, DIRTY, 7, "dirty", KTR_SIGNED) \
\
	/* a page that reclaim had taken comes back, named as in KTR_RECLAIM, in another frame; \
	 * activated: 1 if the kernel finds that it came back so soon that more memory for active \
	 * pages would have kept it, and counts it in workingset_activate, else 0; counted: 0 if it \
	 * does not even count it in workingset_refault; restored: 1 if it was active when it was \
	 * taken, and is counted in workingset_restore */ \
	EVENT(KTR_REFAULT, 34, "refault", KTR_PLAIN, "") \
	KTR_FOLIO_ARGS(ARG, KTR_REFAULT) \
	ARG(KTR_REFAULT, ACTIVATED, 6, "activated", KTR_DECIMAL) \
	ARG(KTR_REFAULT, COUNTED, 7, "counted", KTR_DECIMAL) \
	ARG(KTR_REFAULT, RESTORED, 8, "restored", KTR_DECIMAL) \
\
	/* reclaim has looked through a part of a list; scanned: so many pages, as the kernel counts \
	 * them in pgscan, or in pgrefill for lists of active pages; taken: those that it took from the \
	 * list, to look at each.  Of generations, both are the pages taken */ \
	EVENT(KTR_SCAN, 35, "scan", KTR_PLAIN, "") \
	ARG(KTR_SCAN, LIST, 0, "list", KTR_DECIMAL)		/* enum ktr_list */ \
	ARG(KTR_SCAN, SCANNED, 1, "scanned", KTR_DECIMAL) \
	ARG(KTR_SCAN, TAKEN, 2, "taken", KTR_DECIMAL) \
	ARG(KTR_SCAN, RECLAIMER, 3, "reclaimer", KTR_DECIMAL)	/* enum ktr_reclaimer */ \
\
	/* a page is active from now on, named as in KTR_RECLAIM */ \
	EVENT(KTR_ACTIVATE, 36, "activate", KTR_PLAIN, "") \
	KTR_FOLIO_ARGS(ARG, KTR_ACTIVATE) \
	ARG(KTR_ACTIVATE, CAUSE, 6, "cause", KTR_DECIMAL)	/* enum ktr_move */ \
\
	/* a page is no longer active, named as in KTR_RECLAIM */ \
	EVENT(KTR_DEACTIVATE, 37, "deactivate", KTR_PLAIN, "") \
	KTR_FOLIO_ARGS(ARG, KTR_DEACTIVATE) \
	ARG(KTR_DEACTIVATE, CAUSE, 6, "cause", KTR_DECIMAL)	/* enum ktr_move */ \
\
	/* reclaim begins to write a page, named as in KTR_RECLAIM, to its device or to swap */ \
	EVENT(KTR_WRITE_OUT, 38, "write-out", KTR_PLAIN, "") \
	KTR_FOLIO_ARGS(ARG, KTR_WRITE_OUT) \
\
	/* a page, named as in KTR_RECLAIM, is written to the device of its swap area */ \
	EVENT(KTR_SWAP_WRITE, 39, "swap-write", KTR_PLAIN, "") \
	KTR_FOLIO_ARGS(ARG, KTR_SWAP_WRITE) \
\
	/* a page, named as in KTR_RECLAIM, is read from swap, wanted or read ahead; counted: 0 if it \
	 * did not come from the device (it was known to be zeros, or was in compressed memory) */ \
	EVENT(KTR_SWAP_READ, 40, "swap-read", KTR_PLAIN, "") \
	KTR_FOLIO_ARGS(ARG, KTR_SWAP_READ) \
	ARG(KTR_SWAP_READ, COUNTED, 6, "counted", KTR_DECIMAL) \
\
	/* a page fault is over; cause: what was there when it began; write: 1 if that was wanted; \
	 * major: 1 if the page was not in memory */ \
	EVENT(KTR_FAULT, 41, "fault", KTR_PLAIN, "") \
	ARG(KTR_FAULT, SPACE, 0, "space", KTR_HEX) \
	ARG(KTR_FAULT, ADDRESS, 1, "address", KTR_HEX) \
	ARG(KTR_FAULT, CAUSE, 2, "cause", KTR_DECIMAL)		/* enum ktr_fault */ \
	ARG(KTR_FAULT, WRITE, 3, "write", KTR_DECIMAL) \
	ARG(KTR_FAULT, MAJOR, 4, "major", KTR_DECIMAL) \
	ARG(KTR_FAULT, OUTCOME, 5, "outcome", KTR_DECIMAL)	/* enum ktr_fault_outcome */ \
\
	/* kswapd begins to reclaim, because too little is free (awake: 1), or sleeps again (0); order: \
	 * of the free pages that are wanted */ \
	EVENT(KTR_KSWAPD, 42, "kswapd", KTR_PLAIN, "") \
	ARG(KTR_KSWAPD, AWAKE, 0, "awake", KTR_DECIMAL) \
	ARG(KTR_KSWAPD, NODE, 1, "node", KTR_DECIMAL) \
	ARG(KTR_KSWAPD, ORDER, 2, "order", KTR_DECIMAL) \
\
	/* the task has to reclaim memory itself before it gets any (begins: 1), or has done so (0); \
	 * reclaimed: how many pages then */ \
	EVENT(KTR_DIRECT, 43, "direct-reclaim", KTR_PLAIN, "") \
	ARG(KTR_DIRECT, BEGINS, 0, "begins", KTR_DECIMAL) \
	ARG(KTR_DIRECT, ORDER, 1, "order", KTR_DECIMAL) \
	ARG(KTR_DIRECT, RECLAIMED, 2, "reclaimed", KTR_DECIMAL) \
\
	/* a process is killed for its memory */ \
	EVENT(KTR_OOM_KILL, 44, "oom-kill", KTR_PLAIN, "name") \
	ARG(KTR_OOM_KILL, TID, 0, "tid", KTR_DECIMAL) \
	ARG(KTR_OOM_KILL, TGID, 1, "tgid", KTR_DECIMAL) \
\
	/* lists of generations: a new one, with this number, is the youngest; group: the number of the \
	 * cgroup (memory) that they are of */ \
	EVENT(KTR_AGE, 45, "age", KTR_PLAIN, "") \
	ARG(KTR_AGE, GENERATION, 0, "generation", KTR_DECIMAL) \
	ARG(KTR_AGE, GROUP, 1, "group", KTR_DECIMAL) \
	ARG(KTR_AGE, NODE, 2, "node", KTR_DECIMAL) \
\
	/* the task begins to wait for memory, or to work for it (begins: 1), or goes on (0): what the \
	 * kernel counts as pressure */ \
	EVENT(KTR_STALL, 46, "stall", KTR_PLAIN, "") \
	ARG(KTR_STALL, BEGINS, 0, "begins", KTR_DECIMAL) \
\
	/* a page, named as in KTR_RECLAIM, begins to be written to its device or to swap, for whatever reason \
	 * (begins: 1), or has been written (0) */ \
	EVENT(KTR_WRITE_BACK, 47, "write-back", KTR_PLAIN, "") \
	KTR_FOLIO_ARGS(ARG, KTR_WRITE_BACK) \
	ARG(KTR_WRITE_BACK, BEGINS, 6, "begins", KTR_DECIMAL) \
\
	/* what is free in a zone, in pages, and the marks by which that is little or enough; when kswapd is to \
	 * wake because too little is free (wanted: 1), and when it sleeps again (0) */ \
	EVENT(KTR_WATERMARK, 48, "watermark", KTR_PLAIN, "") \
	ARG(KTR_WATERMARK, WANTED, 0, "wanted", KTR_DECIMAL) \
	ARG(KTR_WATERMARK, NODE, 1, "node", KTR_DECIMAL) \
	ARG(KTR_WATERMARK, ZONE, 2, "zone", KTR_DECIMAL) \
	ARG(KTR_WATERMARK, FREE, 3, "free", KTR_DECIMAL) \
	ARG(KTR_WATERMARK, MIN, 4, "min", KTR_DECIMAL) \
	ARG(KTR_WATERMARK, LOW, 5, "low", KTR_DECIMAL) \
	ARG(KTR_WATERMARK, HIGH, 6, "high", KTR_DECIMAL) \
	ARG(KTR_WATERMARK, ORDER, 7, "order", KTR_DECIMAL)	/* of the free pages that are wanted */ \
\
	/* a page, named as in KTR_RECLAIM, is in this list from now on, and of this generation (KTR_NONE: of \
	 * none, or it is not known) */ \
	EVENT(KTR_PLACE, 49, "place", KTR_PLAIN, "") \
	KTR_FOLIO_ARGS(ARG, KTR_PLACE) \
	ARG(KTR_PLACE, LIST, 6, "list", KTR_DECIMAL)		/* enum ktr_list */ \
	ARG(KTR_PLACE, GENERATION, 7, "generation", KTR_SIGNED) \
	ARG(KTR_PLACE, CAUSE, 8, "cause", KTR_DECIMAL)		/* enum ktr_placed */ \
\
	/* reclaim has taken a page, named as in KTR_RECLAIM, from this list, and of this generation (KTR_NONE: \
	 * of none), to see whether it can be reclaimed, or is to be active */ \
	EVENT(KTR_ISOLATE, 50, "isolate", KTR_PLAIN, "") \
	KTR_FOLIO_ARGS(ARG, KTR_ISOLATE) \
	ARG(KTR_ISOLATE, LIST, 6, "list", KTR_DECIMAL)		/* enum ktr_list */ \
	ARG(KTR_ISOLATE, GENERATION, 7, "generation", KTR_SIGNED) \
	ARG(KTR_ISOLATE, RECLAIMER, 8, "reclaimer", KTR_DECIMAL)	/* enum ktr_reclaimer */

/* For whoever wants only the events, or only the arguments. */
#define KTR_NO_EVENT(tag, number, name, fence, text)
#define KTR_NO_ARG(tag, argument, number, name, how)

#define KTR_DEFINE_TAG(tag, number, name, fence, text) tag = (number),
#define KTR_DEFINE_ARG(tag, argument, number, name, how) enum { tag##_##argument = (number) };

enum ktr_tag {
	KTR_EVENTS(KTR_DEFINE_TAG, KTR_NO_ARG)
	KTR_TAGS	/* all tags are below: the length of an array that has one for each */
};

KTR_EVENTS(KTR_NO_EVENT, KTR_DEFINE_ARG)

/* For code that handles events alike which have the same arguments: arg[KTR_RANGE_START]. */
KTR_TASK_ARGS(KTR_DEFINE_ARG, KTR_TASK)		/* task-create, space-assign, exec */
KTR_RANGE_ARGS(KTR_DEFINE_ARG, KTR_RANGE)	/* map, unmap, shm-attach, mprotect, discard,
						 * present */
KTR_PAGES_ARGS(KTR_DEFINE_ARG, KTR_PAGES)	/* page-own, huge-map, huge-split */
KTR_CACHE_ARGS(KTR_DEFINE_ARG, KTR_CACHE)	/* cache-add, cache-remove, and all folio arguments */
KTR_FOLIO_ARGS(KTR_DEFINE_ARG, KTR_FOLIO)	/* reclaim, refault, activate, deactivate, write-out,
						 * swap-write, swap-read, write-back, place, isolate */
KTR_SWAP_ARGS(KTR_DEFINE_ARG, KTR_SWAP)		/* swap-out, swap-in */
KTR_SYSCALL_ARGS(KTR_DEFINE_ARG, KTR_SYSCALL)	/* syscall-enter, syscall-exit */

enum ktr_control {
	KTR_CONTROL_START = 1,
	KTR_CONTROL_STOP = 2,
	KTR_CONTROL_FLUSH = 3,
	KTR_CONTROL_END = 4,	/* the workload is over and went well */
	KTR_CONTROL_FAIL = 5,	/* the workload is over and failed */
	KTR_CONTROL_ROTATE = 6,	/* end this segment of the trace, and begin the next */
	KTR_CONTROL_CHECKPOINT = 7,	/* save the machine as it is soon after */
	KTR_CONTROL_QUIT = 8,	/* end the run here, well */
	KTR_CONTROL_READY = 9	/* what a machine needs to do once is done: it may be saved, to begin there */
};

enum ktr_map_kind {
	KTR_MAP_ANONYMOUS = 0,
	KTR_MAP_FILE_PRIVATE = 1,
	KTR_MAP_FILE_SHARED = 2,
	KTR_MAP_SHM = 3,
	KTR_MAP_STACK = 4,
	KTR_MAP_HEAP = 5,
	KTR_MAP_SPECIAL = 6,	/* vdso, device memory */
	KTR_MAP_ANONYMOUS_SHARED = 7
};

enum ktr_file {
	KTR_FILE_REGULAR = 0,
	KTR_FILE_BLOCK = 1,	/* a block device: its pages are the buffer cache */
	KTR_FILE_DIRECTORY = 2,
	KTR_FILE_LINK = 3,
	KTR_FILE_OTHER = 4
};

enum ktr_context {
	KTR_CONTEXT_TASK = 0,
	KTR_CONTEXT_INTERRUPT = 1
};

enum ktr_reclaimer {
	KTR_RECLAIM_KSWAPD = 0,	/* the kernel's own thread, in the background */
	KTR_RECLAIM_DIRECT = 1,	/* a task that wanted memory itself */
	KTR_RECLAIM_CGROUP = 2,	/* from a cgroup, at its limit or for memory.reclaim */
	KTR_RECLAIM_OTHER = 3	/* given pages, as for MADV_PAGEOUT */
};

/* The lists that reclaim goes through. */
enum ktr_list {
	KTR_LIST_INACTIVE_ANON = 0,
	KTR_LIST_ACTIVE_ANON = 1,
	KTR_LIST_INACTIVE_FILE = 2,
	KTR_LIST_ACTIVE_FILE = 3,
	KTR_LIST_GENERATION_ANON = 4,
	KTR_LIST_GENERATION_FILE = 5,
	KTR_LIST_UNEVICTABLE = 6
};

enum ktr_move {
	KTR_MOVE_USE = 0,	/* it was used again */
	KTR_MOVE_RECLAIM = 1,	/* reclaim looked at it */
	KTR_MOVE_REQUEST = 2	/* it was asked for, as by MADV_COLD */
};

enum ktr_placed {
	KTR_PLACED_NEW = 0,		/* it was in none */
	KTR_PLACED_BACK = 1,		/* reclaim had taken it, and leaves it in memory */
	KTR_PLACED_ACTIVE = 2,		/* it is active now (KTR_ACTIVATE) */
	KTR_PLACED_INACTIVE = 3,	/* it was asked for (KTR_DEACTIVATE), or its file's pages are not needed */
	KTR_PLACED_LAST = 4,		/* it is next to be reclaimed: it has been written for that, or is not needed */
	KTR_PLACED_LAZY = 5,		/* its contents are not needed (MADV_FREE) */
	KTR_PLACED_USED = 6,		/* page tables say that it was used: it is of the youngest generation */
	KTR_PLACED_KEPT = 7		/* it is not reclaimed with its generation, but is of the next */
};

enum ktr_fault {
	KTR_FAULT_ANONYMOUS = 0,	/* nothing, or the kernel's zeros: anonymous memory is new */
	KTR_FAULT_FILE = 1,		/* nothing: it is a page of a file, or of shared memory */
	KTR_FAULT_SWAP = 2,		/* an entry of swap */
	KTR_FAULT_PRESENT = 3,		/* the page, which may not be used so (it is shared, say) */
	KTR_FAULT_OTHER = 4		/* a page that is on its way to another frame, say */
};

enum ktr_fault_outcome {
	KTR_FAULT_DONE = 0,
	KTR_FAULT_AGAIN = 1,		/* to be tried again, because it had to wait */
	KTR_FAULT_FAILED = 2
};

#define KTR_PROT_READ	1
#define KTR_PROT_WRITE	2
#define KTR_PROT_EXEC	4

/* Why a task that leaves the processor does not run on; bits, but for 0. */
#define KTR_STATE_RUNNABLE	0
#define KTR_STATE_SLEEPING	0x01	/* a signal would wake it, too */
#define KTR_STATE_WAITING	0x02	/* for a disk, say: a signal would not */
#define KTR_STATE_STOPPED	0x04	/* by a signal */
#define KTR_STATE_TRACED	0x08	/* by a debugger */
#define KTR_STATE_PARKED	0x40
#define KTR_STATE_DEAD		0x80
#define KTR_STATE_IDLE		0x400	/* with KTR_STATE_WAITING: a kernel thread without work */

#define KTR_ABI_64	0
#define KTR_ABI_32	1	/* calls have other numbers */

/* A page of a swap area; areas count from 0. */
#define KTR_SWAP_ENTRY(area, page) ((ktr_u64)(area) << 56 | (ktr_u64)(page))

/*
 * The handshake, for a kernel (module) that knows the record's address only
 * at run time: three 32-bit OUTs to KTR_PORT from kernel mode, in this order,
 *
 *	KTR_HELLO, the linear address's low half, its high half.
 *
 * The simulator then reads the record's magic, version and size, and refuses
 * (with a message and a non-zero exit) what does not match.  KTR_GOODBYE takes
 * the address back, before the memory is freed.  Other machines have no device
 * at this port and ignore it.
 */
#define KTR_PORT	0x4c50
#define KTR_HELLO	0x4c504831U
#define KTR_GOODBYE	0x4c504230U

#endif
