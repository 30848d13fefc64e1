/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A Unix socket that is its owner's alone; see control_socket.h.
 *
 * Its mode is set before it has a name: Linux gives the name the mode of the socket (less the
 * umask).  So there is no moment at which another could connect, and the process's umask, which
 * other threads make files by, is left alone.
 *
 * What has its name already is looked at: a socket without a listener is what a killed run
 * left, and is replaced.  Two runs that find the same one must not both do so, or the second
 * would remove what the first has just made; they lock its directory meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/try.h"
#include "control_socket.h"

#define BACKLOG 8

static int lock_directory(const char *path)
{
	char copy[sizeof(((struct sockaddr_un *)0)->sun_path)];
	int fd;

	memcpy(copy, path, strlen(path) + 1);
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* where file systems know no locks, bind() mostly notices two at once */
	if (fd >= 0)
		(void)flock(fd, LOCK_EX);
	return fd;
}

/* Something has the name. */
static enum lpl_error clear_name(const struct sockaddr_un *address, struct lpl_report *report)
{
	const char *path = address->sun_path;
	struct stat about;
	int fd, problem;

	if (lstat(path, &about) < 0)
		return lpl_fail(report, LPL_ERR_IO, "%s", path);
	if (!S_ISSOCK(about.st_mode))
		return lpl_fail(report, LPL_ERR_USAGE, "%s: is there already, and no socket", path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return lpl_fail(report, LPL_ERR_IO, "%s: no socket", path);
	problem = connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 ? errno : 0;
	(void)close(fd);
	errno = problem;
	if (problem == 0 || problem == EAGAIN)
		return lpl_fail(report, LPL_ERR_USAGE, "%s: another run is steered by it", path);
	if (problem != ECONNREFUSED || unlink(path) < 0)
		return lpl_fail(report, LPL_ERR_IO, "%s: is there already", path);
	return LPL_OK;
}

static enum lpl_error bind_name(int fd, const struct sockaddr_un *address,
				struct lpl_report *report)
{
	const struct sockaddr *any = (const struct sockaddr *)address;

	if (bind(fd, any, sizeof(*address)) == 0)
		return LPL_OK;
	if (errno != EADDRINUSE)
		return lpl_fail(report, LPL_ERR_IO, "%s: no socket can be made",
				address->sun_path);
	LPL_TRY(clear_name(address, report));
	if (bind(fd, any, sizeof(*address)) < 0)
		return lpl_fail(report, LPL_ERR_IO, "%s: no socket can be made",
				address->sun_path);
	return LPL_OK;
}

enum lpl_error lpl_control_socket_open(struct lpl_control_socket *s, const char *path,
				       struct lpl_report *report)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct stat about;
	enum lpl_error error;
	int lock;

	*s = (struct lpl_control_socket){ .fd = -1 };
	if (strlen(path) >= sizeof(address.sun_path))
		return lpl_fail(report, LPL_ERR_USAGE, "%s: a socket's path has at most %zu bytes",
				path, sizeof(address.sun_path) - 1);
	memcpy(address.sun_path, path, strlen(path));
	s->path = strdup(path);
	if (s->path == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for a socket");
	s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->fd < 0 || fchmod(s->fd, S_IRUSR | S_IWUSR) < 0) {
		error = lpl_fail(report, LPL_ERR_IO, "%s: no socket", path);
		goto failed;
	}
	lock = lock_directory(path);
	error = bind_name(s->fd, &address, report);
	if (!error && (lstat(path, &about) < 0 || listen(s->fd, BACKLOG) < 0))
		error = lpl_fail(report, LPL_ERR_IO, "%s", path);
	if (lock >= 0)
		(void)close(lock);
	if (error)
		goto failed;
	s->device = about.st_dev;
	s->inode = about.st_ino;
	return LPL_OK;
failed:
	if (s->fd >= 0)
		(void)close(s->fd);
	free(s->path);
	return error;
}

enum lpl_error lpl_control_socket_take(struct lpl_control_socket *s, const char *path, int fd,
				       struct lpl_report *report)
{
	socklen_t size = sizeof(int);
	struct stat about;
	int listens = 0;

	*s = (struct lpl_control_socket){ .fd = fd, .path = strdup(path) };
	if (s->path != NULL && lstat(path, &about) == 0 && S_ISSOCK(about.st_mode) &&
	    getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens &&
	    fcntl(fd, F_SETFD, FD_CLOEXEC) == 0) {
		s->device = about.st_dev;
		s->inode = about.st_ino;
		return LPL_OK;
	}
	free(s->path);
	return lpl_fail(report, LPL_ERR_IO, "%s: no other program listens there", path);
}

int lpl_control_socket_leave(struct lpl_control_socket *s)
{
	free(s->path);
	(void)fcntl(s->fd, F_SETFD, 0);
	return s->fd;
}

void lpl_control_socket_close(struct lpl_control_socket *s)
{
	struct stat about;

	if (lstat(s->path, &about) == 0 && about.st_dev == s->device && about.st_ino == s->inode)
		(void)unlink(s->path);
	(void)close(s->fd);
	free(s->path);
}

bool lpl_control_peer_is_owner(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
	       (peer.uid == geteuid() || peer.uid == 0);
}
