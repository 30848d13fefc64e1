/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which task runs, of which process, and what these are called, as the events of a guest's kernel say
 * (docs/merging.md, "Who made a reference"); in the books.
 */
#ifndef LAPLACE_TESTS_REGRET_TASKS_H
#define LAPLACE_TESTS_REGRET_TASKS_H

#include "regret-guest.h"

/* Before guest_event(). */
void task_event(struct books *b, const struct event *e);
/* The process that the space is of: that which runs, if it has it, else that which had it first. */
uint32_t process_in(const struct books *b, uint64_t space);

#endif
