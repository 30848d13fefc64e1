/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The other end of a run's control socket; see control_client.h. */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/host.h"
#include "control_client.h"
#include "say.h"

#define REPLY_MOST (1 << 20)	/* a longer line is no reply */

int cli_control_connect(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(address.sun_path)) {
		cli_complain(0, "%s: a socket's path has at most %zu bytes", path,
			     sizeof(address.sun_path) - 1);
		return -1;
	}
	memcpy(address.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	cli_complain(0, "%s: %s", path, errno == ECONNREFUSED ? "no run listens: it is over" :
								 strerror(errno));
	if (fd >= 0)
		(void)close(fd);
	return -1;
}

static bool send_line(int fd, const char *request)
{
	char line[1024];
	size_t length = (size_t)snprintf(line, sizeof(line), "%s\n", request), sent = 0;

	if (length >= sizeof(line)) {
		errno = EMSGSIZE;
		return false;
	}
	while (sent < length) {
		ssize_t n = send(fd, line + sent, length - sent, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR)
			return false;
		sent += n > 0 ? (size_t)n : 0;
	}
	return true;
}

/* Something was received, or its end, before that moment (0: ever).  Else errno says why not. */
static bool wait_for_bytes(int fd, uint64_t until_ns)
{
	for (;;) {
		struct pollfd wait = { .fd = fd, .events = POLLIN };
		uint64_t now = lpl_now_ns();
		uint64_t left = until_ns > now ? (until_ns - now) / 1000000 + 1 : 0;
		int ready = poll(&wait, 1, until_ns == 0 ? -1 : left > 60000 ? 60000 : (int)left);

		if (ready > 0)
			return true;
		if (ready < 0 && errno != EINTR)
			return false;
		if (until_ns != 0 && lpl_now_ns() >= until_ns) {
			errno = ETIMEDOUT;
			return false;
		}
	}
}

/* NULL: errno says why. */
static char *receive_line(int fd, uint64_t until_ns)
{
	size_t used = 0, size = 0;
	char *line = NULL, *newline = NULL;

	while (newline == NULL) {
		ssize_t n;

		if (size - used < 2) {
			char *larger = size < REPLY_MOST ? realloc(line, size = 2 * size + 4096) : NULL;

			if (larger == NULL)
				goto failed;
			line = larger;
		}
		if (!wait_for_bytes(fd, until_ns))
			goto failed;
		n = recv(fd, line + used, size - used - 1, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = ECONNRESET;
		if (n <= 0)
			goto failed;
		newline = memchr(line + used, '\n', (size_t)n);
		used += (size_t)n;
	}
	*newline = '\0';
	return line;
failed:
	free(line);
	return NULL;
}

char *cli_control_ask(int fd, const char *path, const char *request, uint64_t seconds)
{
	uint64_t until = seconds ? lpl_now_ns() + seconds * UINT64_C(1000000000) : 0;
	char *line = send_line(fd, request) ? receive_line(fd, until) : NULL;

	if (line == NULL && errno == ETIMEDOUT)
		cli_complain(0, "%s: no reply within %ju s: the machine may stand still, in the "
			     "debugger or for want of room on the disk (see laplace top)", path,
			     (uintmax_t)seconds);
	else if (line == NULL)
		cli_complain(0, "%s: no reply: %s", path, errno == ECONNRESET || errno == EPIPE ?
			     "the run has ended" : strerror(errno));
	return line;
}
