/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The control socket's requests, done by the simulator's thread; see control.cc. */
#ifndef LAPLACE_INSTRUMENT_CONTROL_H
#define LAPLACE_INSTRUMENT_CONTROL_H

/* The socket, before anything is recorded.  Ends the program if there can be none. */
void laplace_control_listen(const char *path);
/* Serve requests at it from now on; there is a collector. */
void laplace_control_open(const char *path);
/* Do what is asked for, if anything is; between two instructions. */
void laplace_control_attend(void);
/* Has the end been asked for?  From any thread, as long as there is a collector. */
bool laplace_control_ends(void);
/* A checkpoint was not made; the client that asked for it gets the reason. */
void laplace_control_checkpointed(const char *problem);
/*
 * Another program is executed in this process, after a checkpoint: the descriptor that it has to
 * have, for laplace_control_listen() in it; -1: there is no socket.
 */
int laplace_control_leave(void);
/* The collector is about to be closed. */
void laplace_control_ending(void);
/* And it was; NULL: well. */
void laplace_control_closed(const char *problem);

#endif
