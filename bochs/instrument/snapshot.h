/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a snapshot has beside Bochs' machine; see snapshot.cc, and checkpoint.cc, which makes it. */
#ifndef LAPLACE_SNAPSHOT_H
#define LAPLACE_SNAPSHOT_H

#include <laplace/kernel_trace_record.h>

/* A record of the guest's kernel is about to go into the stream: where a snapshot is to be made, it is kept. */
void laplace_snapshot_keep(const struct kernel_trace_record *record);

/*
 * Where a snapshot is to be made, or the recording `begins' with one: can it be, with what else is asked for?  Else
 * this ends the program.  `windows': of time.
 */
void laplace_snapshot_check(bool begins, bool windows);

/* Into the snapshot's directory; false with errno. */
bool laplace_snapshot_write(const char *directory);
/* Out of it, and whether the machine has the same disks.  Ends the program if it cannot be used. */
void laplace_snapshot_read(const char *directory);
/* With the machine restored: the stream gets what the kernel had reported by then, as of then. */
void laplace_snapshot_report(void);

#endif
