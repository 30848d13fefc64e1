/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A Unix socket in the file system that is its owner's alone. */
#ifndef LAPLACE_COLLECT_CONTROL_SOCKET_H
#define LAPLACE_COLLECT_CONTROL_SOCKET_H

#include <stdbool.h>
#include <sys/stat.h>

#include <laplace/error.h>

struct lpl_control_socket {
	int fd;			/* listens; does not block */
	char *path;
	dev_t device;		/* which file it is, so that no other is removed */
	ino_t inode;
};

/* LPL_ERR_USAGE, LPL_ERR_IO, LPL_ERR_MEMORY: as lpl_control_open(). */
enum lpl_error lpl_control_socket_open(struct lpl_control_socket *s, const char *path,
				       struct lpl_report *report);
/* The socket at `path` listens already, by this descriptor, which is the socket's then. */
enum lpl_error lpl_control_socket_take(struct lpl_control_socket *s, const char *path, int fd,
				       struct lpl_report *report);
/* Leave it where it is, for another process: the descriptor, which survives an exec. */
int lpl_control_socket_leave(struct lpl_control_socket *s);
/* Close it, and remove its file if it is still ours. */
void lpl_control_socket_close(struct lpl_control_socket *s);

/* Is the user at the other end of this connection one that may steer: the owner, or root? */
bool lpl_control_peer_is_owner(int fd);

#endif
