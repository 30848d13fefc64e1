/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-or-later */
/*
 * What kVMTrace, our patch to Linux 2.4.20, writes: a log of records of 48 bytes,
 * little-endian, without padding.  It begins with a record KVMTRACE_START and ends
 * with a KVMTRACE_STOP; what follows (of a disk that it was written to) means nothing.
 * This header compiles in that kernel, in the guest's reader and on a host.
 *
 * Records carry numbers without a gap, from 0 at START: no record is ever dropped.
 */
#ifndef LAPLACE_KVMTRACE_RECORD_H
#define LAPLACE_KVMTRACE_RECORD_H

#ifdef __KERNEL__
#include <linux/types.h>
typedef __u16 kvmtrace_u16;
typedef __u32 kvmtrace_u32;
#else
#include <stdint.h>
typedef uint16_t kvmtrace_u16;
typedef uint32_t kvmtrace_u32;
#endif

#define KVMTRACE_MAGIC		0x544d564bU	/* "KVMT" in memory */
#define KVMTRACE_VERSION	1
#define KVMTRACE_NAME		16		/* bytes of a task's name, ended by 0 */

/* The part that differs; "->" lists what is in word[0], word[1] ... */
enum kvmtrace_kind {
	/* address: KVMTRACE_MAGIC; space: the reader's -> KVMTRACE_VERSION, pages in
	 *    the pool, enum kvmtrace_policy, bytes of a record */
	KVMTRACE_START = 1,
	/* -> records lost (0), times that a task waited for the reader, entries
	 *    found wrong (0), 0 or the seconds for which a task had waited and no one
	 *    read, when tracing ended for that */
	KVMTRACE_STOP = 2,
	/* the pool is another, and empty -> 0, its pages, enum kvmtrace_policy, 0 */
	KVMTRACE_POOL = 3,
	/* a page was referenced that was protected -> device, inode, page of the
	 *    file (0, 0, 0 for anonymous memory), frame */
	KVMTRACE_REFERENCE = 4,
	/* a page left the pool, but not for another -> 0, 0, 0, 0 */
	KVMTRACE_LEFT = 5,
	/* read() or write() -> device, inode, page of the file, frame; address 0 */
	KVMTRACE_FILE = 6,
	/* -> the child's pid, tgid, space, flags of clone(); address 0.  No page has
	 * parted from the copy of the space yet.  Should the fork fail after that, an
	 * EXIT of the child's follows */
	KVMTRACE_FORK = 7,
	/* name: of the program */
	KVMTRACE_EXEC = 8,
	/* -> exit code, 1 when the space has no other task, 0, 0 */
	KVMTRACE_EXIT = 9,
	/* all that was mapped in the space is unmapped; which may be of a task that was
	 * ending at START, and has no other record */
	KVMTRACE_SPACE_END = 10,
	/* after START: a task that exists already; name.  Also of the threads that
	 * the reader leaves behind when it executes another program */
	KVMTRACE_TASK = 11,
	/* mremap() moved pages; address: from -> to, bytes, 0, 0 */
	KVMTRACE_REMAP = 12
};

/* Of KVMTRACE_REFERENCE and KVMTRACE_FILE. */
#define KVMTRACE_WRITE	0x0001	/* by a write */
#define KVMTRACE_USER	0x0002	/* made in user mode */
#define KVMTRACE_FRESH	0x0004	/* nothing was mapped there before */
#define KVMTRACE_SWAPIN	0x0008	/* it was in swap */
#define KVMTRACE_COPIED	0x0010	/* the write ended sharing: a new frame */
#define KVMTRACE_KEPT	0x0020	/* the write ended sharing: the frame is kept */
#define KVMTRACE_OPEN	0x0040	/* it was in the pool, and keeps its place there */
#define KVMTRACE_FOLLOW	0x0080	/* by its frame (ptrace, direct I/O): not into the pool */
#define KVMTRACE_SHARED	0x0100	/* the mapping is shared */
#define KVMTRACE_SYSV	0x0200	/* ... and a System V segment: inode is its id */

/* Which page is protected for another. */
enum kvmtrace_policy {
	KVMTRACE_FIFO = 0,
	KVMTRACE_CLOCK = 1	/* what was referenced since the hand passed is kept */
};

/*
 * `device` is major << 8 | minor.  `space` is the page number of the page
 * directory, by which traces name address spaces, too; 0: none.  `tsc` is the
 * processor's time stamp counter.
 */
struct kvmtrace_record {
	kvmtrace_u32 sequence;
	kvmtrace_u16 kind;	/* enum kvmtrace_kind */
	kvmtrace_u16 flags;
	kvmtrace_u32 tsc_low, tsc_high;
	kvmtrace_u32 pid, tgid;	/* of the task that did it */
	kvmtrace_u32 space;	/* of the page, or of the task */
	kvmtrace_u32 address;	/* that was referenced, to the byte */
	union {
		kvmtrace_u32 word[4];
		char name[KVMTRACE_NAME];
	} is;
};

/* ---- the device ---- */

#define KVMTRACE_MAJOR		240	/* for local use, by the kernel's list */
#define KVMTRACE_POOL_MIN	16	/* one instruction may need 8 pages at once */
#define KVMTRACE_POOL_MAX	16384

/*
 * The process that opens it for reading is the reader.  There is one, and it is never
 * traced, also when it executes another program; to other processes that have its
 * descriptor START and read() are not permitted.  A process that opens it for writing
 * alone may steer.  Tracing ends when the reader closes it, or when it does not read for long
 * while a task waits for it.  read() gives whole records, waits for some, and gives 0
 * bytes after the last.
 */
enum kvmtrace_ioctl {
	KVMTRACE_IOC_START = 0x6b01,	/* the reader alone */
	KVMTRACE_IOC_STOP = 0x6b02,
	KVMTRACE_IOC_POOL = 0x6b03,	/* argument: pages */
	KVMTRACE_IOC_POLICY = 0x6b04,	/* argument: enum kvmtrace_policy */
	KVMTRACE_IOC_STATUS = 0x6b05	/* argument: struct kvmtrace_status * */
};

struct kvmtrace_status {
	kvmtrace_u32 version, tracing, pool, policy;
	kvmtrace_u32 open;		/* pages in the pool */
	kvmtrace_u32 ring, used;	/* records of room, and in it */
	kvmtrace_u32 records;		/* since START */
	kvmtrace_u32 lost, waits, wrong;	/* as in KVMTRACE_STOP */
};

#endif
