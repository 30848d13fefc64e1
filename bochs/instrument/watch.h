/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The record of the guest's kernel: where it is, and when it is complete; see watch.cc. */
#ifndef LAPLACE_INSTRUMENT_WATCH_H
#define LAPLACE_INSTRUMENT_WATCH_H

#include <cstdint>

struct kernel_trace_record;

/* Each record that is complete, and holds, is given to this, when its trigger is written. */
void laplace_watch_begin(void (*take)(const struct kernel_trace_record *record));
/*
 * Watch the record at this address; `present`: it has to be there already.  False: it cannot be one,
 * and `why` says why.
 */
bool laplace_watch_record(uint64_t address, bool present, char *why, unsigned size);

/* The kernel is between a record's begin and its trigger. */
bool laplace_record_is_open(void);
/* A record that was begun and is never completed must not silence the trace. */
void laplace_suppression_check(void);

#endif
