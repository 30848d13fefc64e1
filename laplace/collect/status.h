/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How far a collection is, as a line of JSON for who watches it. */
#ifndef LAPLACE_COLLECT_STATUS_H
#define LAPLACE_COLLECT_STATUS_H

#include <laplace/collector.h>

/*
 * One JSON object and a newline to `fd`: `state`, `end` unless it is NULL, `message` (NULL
 * counts as ""), and the numbers.  false: nobody reads any more.
 */
bool lpl_status_write(int fd, const struct lpl_collector_status *status, const char *state,
		      const char *end, const char *message);

#endif
