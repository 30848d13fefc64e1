/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What we ask the machine that we run on. */
#ifndef LAPLACE_BASE_HOST_H
#define LAPLACE_BASE_HOST_H

#include <signal.h>
#include <stdint.h>

/* Nanoseconds of a clock that only goes forward, from some moment on. */
uint64_t lpl_now_ns(void);

/* The processors this process may run on (taskset, a container's set); at least 1. */
unsigned int lpl_processors(void);

/*
 * Add a signal to `mask`, unless it is ignored: whoever started us with nohup, or in the background
 * of a script, wants it to stay so, and a signal that is waited for comes even when it is ignored.
 */
void lpl_add_unless_ignored(sigset_t *mask, int number);

#endif
