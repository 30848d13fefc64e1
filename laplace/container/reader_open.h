/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading from a descriptor that is already open; for tests and fuzzing. */
#ifndef LAPLACE_CONTAINER_READER_OPEN_H
#define LAPLACE_CONTAINER_READER_OPEN_H

#include <laplace/trace.h>

/* `fd` is the reader's, and closed with it, when `owned`; also on failure. */
enum lpl_error lpl_reader_open_fd(struct lpl_reader **reader, int fd, bool owned,
				  const char *name, struct lpl_report *report);

#endif
