/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The other end of a run's control socket (collect/control.h). */
#ifndef LAPLACE_CLI_CONTROL_CLIENT_H
#define LAPLACE_CLI_CONTROL_CLIENT_H

#include <stdint.h>

/* A connection to it, or -1: that is reported. */
int cli_control_connect(const char *path);

/*
 * Send a request, which is a line without its newline, and wait for the reply: a line, to be
 * freed, without its newline.  NULL: there is none, or not within so many seconds (0: no limit);
 * that is reported.
 */
char *cli_control_ask(int fd, const char *path, const char *request, uint64_t seconds);

#endif
