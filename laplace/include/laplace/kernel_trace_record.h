/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-or-later */
/*
 * kernel_trace_record: how a guest kernel tells the simulator what it does.
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
 * How the simulator learns the address: from the bochsrc option
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
 * and both are numbered from small numbers.  A kernel tells them apart by this bit
 * in a segment's inode number, wherever it names one (KTR_MAP, KTR_SHM_ATTACH,
 * KTR_CACHE_ADD ...).  In a KTR_CACHE_REMOVE it may be missing: by then a kernel
 * may have forgotten that the file was a segment.
 */
#define KTR_INODE_SYSV	((ktr_u64)1 << 63)

/*
 * Tags.  "->" lists arg[0], arg[1], ...; addresses are bytes, ranges are
 * [start, end), devices are major << 20 | minor, offsets are in pages.
 */
enum ktr_tag {
	/* -> child tid, child tgid, child space, clone flags; text: comm */
	KTR_TASK_CREATE = 1,
	/* -> previous tid, KTR_STATE_*, next tid, next tgid,
	 *    next space (0: keeps the previous one); text: comm of next */
	KTR_SCHEDULE = 2,
	/* a task gets (another) address space -> tid, tgid, space */
	KTR_SPACE_ASSIGN = 3,
	/* -> tid, tgid, space, device, inode; text: path of the image */
	KTR_EXEC = 4,
	/* -> tid, tgid, exit code, 1 when the last task of its process */
	KTR_EXIT = 5,
	/* -> space, start, end, KTR_PROT_*, KTR_MAP_* kind, device, inode,
	 *    offset of start in the file, bytes of a page where it is not the
	 *    usual one (hugetlbfs; else 0); text: name */
	KTR_MAP = 6,
	/* -> space, start, end */
	KTR_UNMAP = 7,
	/* -> space, old start, old end, new start, new end */
	KTR_REMAP = 8,
	/* the heap ends elsewhere -> space, old end, new end */
	KTR_BRK = 9,
	/* -> space, start, end, segment id, inode of the segment; no device: a
	 *    segment is named by its inode alone, see KTR_INODE_SYSV */
	KTR_SHM_ATTACH = 10,
	/* -> space, start */
	KTR_SHM_DETACH = 11,
	/* fork copies an address space -> parent space, child space */
	KTR_SPACE_DUPLICATE = 12,
	/* a space is gone -> space */
	KTR_SPACE_END = 13,
	/* a write ends sharing -> space, address, old frame, new frame
	 *    (equal frames: the page was the last sharer and is kept) */
	KTR_COW_BREAK = 14,
	/* a file's page enters the page cache -> device, inode, offset,
	 *    frame, pages, kernel address of the first page or KTR_NONE */
	KTR_CACHE_ADD = 15,
	/* -> device, inode, offset, frame, pages */
	KTR_CACHE_REMOVE = 16,
	/* user mark; text: what it says */
	KTR_MARK = 17,
	/* the guest steers the collection -> enum ktr_control */
	KTR_CONTROL = 18,

	/* of the calls that were chosen -> number, KTR_ABI_*, the arguments of
	 *    any call, six; text: the call's name */
	KTR_SYSCALL_ENTER = 19,
	/* -> number, KTR_ABI_*, result (signed; a small negative one is an
	 *    error's number, and from -512 down the call is begun again
	 *    after a signal); text: name */
	KTR_SYSCALL_EXIT = 20,
	/* what may be done in a range changes
	 *    -> space, start, end, KTR_PROT_* */
	KTR_MPROTECT = 21,
	/* pages that were the space's own (anonymous, or copied from a file by a
	 *    write) are gone; what is mapped there stays
	 *    -> space, start, end */
	KTR_DISCARD = 22,
	/* a page that was shared by fork, or not there, is the space's own from
	 *    now on, without a write to a shared one; a page that nobody
	 *    shares stays what it is -> space, address, frame, pages */
	KTR_PAGE_OWN = 23,
	/* pages leave for swap -> space, address, KTR_SWAP_ENTRY, frame, pages;
	 *    those of shared memory: 0, 0, KTR_SWAP_ENTRY, frame, pages,
	 *    device, inode, offset */
	KTR_SWAP_OUT = 24,
	/* and come back -> as in KTR_SWAP_OUT */
	KTR_SWAP_IN = 25,
	/* one entry of a page table maps many pages
	 *    -> space, address, first frame, pages */
	KTR_HUGE_MAP = 26,
	/* they have an entry each, again
	 *    -> space, address, first frame, pages */
	KTR_HUGE_SPLIT = 27,
	/* what a file is, before its first page enters the page cache
	 *    -> device, inode, enum ktr_file, generation of the inode's
	 *    number, KTR_FILE_BLOCK: the block device's own number; text:
	 *    path in its file system, or the end of it */
	KTR_FILE = 28,
	/* in a snapshot, pages that are there already and not what the mapping
	 *    says: shared by fork, or the space's own instead of a file's;
	 *    where frames, or swap entries, are equal it is one page
	 *    -> space, start, end, first frame or KTR_NONE, first
	 *    KTR_SWAP_ENTRY or KTR_NONE */
	KTR_PRESENT = 29,
	/* what exists already is told -> 1 from here, 0 up to here; where the
	 * kernel's half of an address space begins (0: at bit 63) */
	KTR_SNAPSHOT = 30
};

enum ktr_control {
	KTR_CONTROL_START = 1,
	KTR_CONTROL_STOP = 2,
	KTR_CONTROL_FLUSH = 3,
	KTR_CONTROL_END = 4,	/* the workload is over and went well */
	KTR_CONTROL_FAIL = 5	/* the workload is over and failed */
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
#define KTR_STATE_IDLE		0x400	/* with KTR_STATE_WAITING: a kernel thread
					 * that has nothing to do */

#define KTR_ABI_64	0
#define KTR_ABI_32	1	/* calls have other numbers */

/* A page of a swap area; areas count from 0. */
#define KTR_SWAP_ENTRY(area, page) ((ktr_u64)(area) << 56 | (ktr_u64)(page))

/*
 * The handshake, for a kernel (module) that learns the record's address only
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
