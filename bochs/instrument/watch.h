/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the guest's kernel reported, for code that does not watch its record. */
#ifndef LAPLACE_INSTRUMENT_WATCH_H
#define LAPLACE_INSTRUMENT_WATCH_H

#include <cstdint>

/* The kernel is between a record's begin and its trigger. */
bool laplace_record_is_open(void);

/* The task that has the processor, and its process, as the kernel reported; 0, 0: not known. */
void laplace_running_task(uint32_t *tid, uint32_t *tgid);
/* The same, as a checkpoint has it. */
void laplace_note_running(uint32_t tid, uint32_t tgid);

#endif
