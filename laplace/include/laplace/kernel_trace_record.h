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
 * Tags.  "->" lists arg[0], arg[1], ...; addresses are bytes, ranges are
 * [start, end), devices are major << 20 | minor, offsets are in pages.
 */
enum ktr_tag {
	/* -> child tid, child tgid, child space, clone flags; text: comm */
	KTR_TASK_CREATE = 1,
	/* -> previous tid, its state (0: runnable), next tid, next tgid,
	 *    next space (0: keeps the previous one); text: comm of next */
	KTR_SCHEDULE = 2,
	/* a task gets (another) address space -> tid, tgid, space */
	KTR_SPACE_ASSIGN = 3,
	/* -> tid, tgid, space, device, inode; text: path of the image */
	KTR_EXEC = 4,
	/* -> tid, tgid, exit code, 1 when the last task of its process */
	KTR_EXIT = 5,
	/* -> space, start, end, KTR_PROT_*, KTR_MAP_* kind, device, inode,
	 *    offset of start in the file; text: name */
	KTR_MAP = 6,
	/* -> space, start, end */
	KTR_UNMAP = 7,
	/* -> space, old start, old end, new start, new end */
	KTR_REMAP = 8,
	/* the heap ends elsewhere -> space, old end, new end */
	KTR_BRK = 9,
	/* -> space, start, end, segment id, inode of the segment */
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
	KTR_CONTROL = 18
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

#define KTR_PROT_READ	1
#define KTR_PROT_WRITE	2
#define KTR_PROT_EXEC	4

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
