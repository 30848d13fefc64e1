/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Steering a run from outside: requests (control_request.h) through a Unix socket.
 *
 * The socket belongs to the simulator's process and is served by a thread of its own, which never
 * touches the simulator: it keeps requests until the simulator's thread takes them, where that
 * looks anyway, and sends the reply once that thread has given the result.  So nothing a client does
 * (or fails to do) changes what is recorded, except by its requests.  C++ may include this header.
 */
#ifndef LAPLACE_COLLECT_CONTROL_H
#define LAPLACE_COLLECT_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <laplace/error.h>

#include "control_request.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the socket's thread asks for; each is called on that thread. */
struct lpl_control_hooks {
	void *context;
	/* A request waits: have the simulator's thread look.  Again and again until it did. */
	void (*poke)(void *context);
	/* How the run is: a JSON object, to be freed; NULL: no memory. */
	char *(*status)(void *context);
	/* How many flushes have been done since the run began. */
	uint64_t (*flushes)(void *context);
};

struct lpl_control;

/*
 * Make the socket at `path`, which only its owner can use (mode 0600, and the user of each
 * connection is checked), and serve it on a thread of its own.  A socket without a listener is
 * replaced.  LPL_ERR_USAGE: the path is too long, or is something else than a socket, or another
 * process listens there; LPL_ERR_IO, LPL_ERR_MEMORY.  *control is NULL then.
 */
enum lpl_error lpl_control_open(struct lpl_control **control, const char *path,
				const struct lpl_control_hooks *hooks, struct lpl_report *report);

/*
 * The same in two steps, the first of which can be made before there is anything to steer, so that a
 * run does not begin if its socket cannot be made.  Returns the descriptor of the socket, which
 * survives an exec and is the caller's; clients that connect wait.  -1: an error as those above.
 */
int lpl_control_listen(const char *path, struct lpl_report *report);
/*
 * `listening` is such a descriptor, or that of a socket that another process has left
 * (lpl_control_leave()).  LPL_ERR_IO: it is none; the descriptor is the caller's still.
 */
enum lpl_error lpl_control_take_over(struct lpl_control **control, const char *path, int listening,
				     const struct lpl_control_hooks *hooks,
				     struct lpl_report *report);

/* ---- the simulator's thread ---- */

/*
 * Is there a request?  It is taken then, and has to be answered before the next one is taken.
 * (`status` and `help` are answered without it, so they are never taken here.)
 */
bool lpl_control_take(struct lpl_control *control, struct lpl_control_request *request);
/*
 * Has a client asked for the end?  From any thread: one that waits for what may never happen stops
 * waiting then, so that the simulator's thread can take the request.
 */
bool lpl_control_end_asked(const struct lpl_control *control);
/* It was not done, because of this. */
void lpl_control_refuse(struct lpl_control *control, const char *why);
/* It is done; with `flushes`, when so many have been. */
void lpl_control_done(struct lpl_control *control, uint64_t flushes);

/*
 * The run is ending: the hooks are called no more when this returns, and no request is taken.
 * Until lpl_control_close() the status that clients get is the last one.
 */
void lpl_control_ending(struct lpl_control *control);
/*
 * It has ended: well, or with a problem (else NULL).  Clients that asked for the end are answered, and
 * so are those that still wait for something else; the socket is removed and the thread ends.  NULL is
 * fine.
 */
void lpl_control_close(struct lpl_control *control, const char *problem);
/*
 * The socket is about to be left to another program: clients that connect from now on wait for that one.  To be called
 * before the reply after which a client may connect again.
 */
void lpl_control_leaving(struct lpl_control *control);
/*
 * As lpl_control_close() without a problem, but the socket is kept, for another program that this
 * process is about to execute: returns its descriptor.  Clients that connect meanwhile wait.  Requests
 * that were not taken are not done, and the reply says so.
 */
int lpl_control_leave(struct lpl_control *control);

#ifdef __cplusplus
}
#endif

#endif
