/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How long a second of the guest's is. */
#ifndef LAPLACE_CLI_GUEST_TIME_H
#define LAPLACE_CLI_GUEST_TIME_H

#include <laplace/trace.h>

/*
 * In cycles: what `cpu: ips=` says in the machine's bochsrc, the last of them if there are
 * several; 0: nothing.
 */
uint64_t cli_cycles_a_second(const struct lpl_meta *meta);

#endif
