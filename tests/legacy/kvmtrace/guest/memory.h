/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the guest's memory is used for, by /proc; and all of it taken that can be had. */
#ifndef KVMTRACE_MEMORY_H
#define KVMTRACE_MEMORY_H

#include "guest.h"

/* In KiB. */
struct memory {
	u32 used;		/* neither free nor in one of the next two */
	u32 buffers;		/* pages of metadata of file systems */
	u32 cached;		/* pages of files and of disks that are written to: of the log's */
	u32 slab;		/* in use: pages for the kernel's structures */
	u32 buffer_heads;	/* of these: for what describes pages of disks, four to a page */
	u32 objects;		/* structures that exist, but for buffer_heads */
};

void read_memory(struct memory *memory);
/* Since the machine began: how many processes there have been, and seconds. */
u32 processes_made(void);
u32 seconds_up(void);

/*
 * A process takes memory until hardly any is left that the kernel could give, and ends: what is
 * still in use then is what the kernel needs, or has lost.  0: all went well.
 */
int squeeze(void);

#endif
