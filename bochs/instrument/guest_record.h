/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What follows from a record of the guest's kernel; see guest_record.cc. */
#ifndef LAPLACE_INSTRUMENT_GUEST_RECORD_H
#define LAPLACE_INSTRUMENT_GUEST_RECORD_H

struct kernel_trace_record;

/* The kernel has completed this record, which holds. */
void laplace_take_record(const struct kernel_trace_record *record);

#endif
