/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Kernel events as lines, in the formats that have them:
 *
 *	E NAME CYCLE INSTRUCTION REFERENCE SPACE TID TGID ARG,ARG... TEXT
 */
#ifndef LAPLACE_CONVERT_EVENT_TEXT_H
#define LAPLACE_CONVERT_EVENT_TEXT_H

#include <stdbool.h>

#include <laplace/record.h>

struct lpl_importer;

/* Without a newline; at most EVENT_TEXT bytes. */
#define EVENT_TEXT 2048
char *lpl_event_write(char *out, const struct lpl_event *event);
/* The same as a comment of csv. */
char *lpl_event_write_comment(char *out, const struct lpl_event *event);

/* E and a name, and more: no page E and another page. */
bool lpl_event_is_line(const char *at);

#define EVENT_FIELDS "E NAME CYCLE INSTRUCTION REFERENCE SPACE TID TGID ARGUMENTS TEXT"

/* What follows the E.  Returns the newline, or NULL, and *wrong says why. */
const char *lpl_event_scan(const char *at, struct lpl_event *event, const char **wrong);

/* The same, and it is sent on where it stands.  Returns the newline, or NULL. */
const char *lpl_event_read(struct lpl_importer *importer, const char *at);

#endif
