/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What we ask the machine that we run on. */
#ifndef LAPLACE_BASE_HOST_H
#define LAPLACE_BASE_HOST_H

#include <stdint.h>

/* Nanoseconds of a clock that only goes forward, from some moment on. */
uint64_t lpl_now_ns(void);

/* The processors this process may run on (taskset, a container's set); at least 1. */
unsigned int lpl_processors(void);

#endif
