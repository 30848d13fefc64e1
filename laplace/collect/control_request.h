/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is said at the control socket; control.h has the protocol. */
#ifndef LAPLACE_COLLECT_CONTROL_REQUEST_H
#define LAPLACE_COLLECT_CONTROL_REQUEST_H

#include "control.h"

const char *lpl_control_verb(enum lpl_request what);

/* Replies: a line each, to be freed; NULL: no memory.  `status` may be NULL. */
char *lpl_control_reply_done(enum lpl_request what, const char *status);
char *lpl_control_reply_failed(const char *why);
char *lpl_control_reply_help(void);

#endif
