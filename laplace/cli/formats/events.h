/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Kernel events as lines, in the formats that have them:
 *
 *	E NAME CYCLE INSTRUCTION REFERENCE SPACE TID TGID ARG,ARG... TEXT
 */
#ifndef LAPLACE_CLI_EVENTS_H
#define LAPLACE_CLI_EVENTS_H

#include <stdbool.h>

#include <laplace/record.h>

struct importer;

/* Without a newline; at most 2048 bytes. */
char *event_print(char *out, const struct lpl_event *event);

/* E and a name, and more: no page E and another page. */
bool event_is_line(const char *at);

/* What follows the E.  Returns the newline, or NULL. */
const char *event_read(struct importer *importer, const char *at);

#endif
