/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Status lines from a file or a socket; see status_source.h.
 *
 * A file is read from where it ended when it was looked at last, and at first from near its
 * end.  Lines of it that are no status are left out: a crash may have torn one.  A socket is
 * connected to for each question, so that nothing is held that a server may want to close.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/host.h"
#include "say.h"
#include "status_source.h"

#define LINE_MOST 65536		/* longer ones are none */
#define ANSWER_NS UINT64_C(5000000000)

bool cli_status_source_open(struct cli_status_source *source, const char *path)
{
	struct stat about;

	*source = (struct cli_status_source){ .path = path };
	if (stat(path, &about) < 0) {
		cli_complain(CLI_FAILED, "%s: %s", path, strerror(errno));
		return false;
	}
	source->is_socket = S_ISSOCK(about.st_mode);
	if (!source->is_socket && !S_ISREG(about.st_mode)) {
		cli_complain(CLI_FAILED, "%s: is neither a socket nor a status file", path);
		return false;
	}
	return true;
}

/* The status that an answer is, or has; NULL: none. */
static json_t *status_in(const char *line)
{
	json_t *answer = json_loads(line, 0, NULL);
	json_t *status = json_object_get(answer, "status");

	if (!json_is_object(status))
		status = answer;
	if (!json_is_integer(json_object_get(status, "laplace-status")))
		status = NULL;
	json_incref(status);
	json_decref(answer);
	return status;
}

/* ---- a file ---- */

/* A run reports its status at least as often as its lines are apart; some come in between. */
static void take_time(struct cli_status_source *source, const json_t *status)
{
	const json_int_t pid = json_integer_value(json_object_get(status, "pid"));
	const json_int_t elapsed = json_integer_value(json_object_get(status, "elapsed_ns"));

	/* if it is another run's first line, that run is reported as often as the one before it */
	if (pid && pid == source->pid && source->elapsed_ns >= 0 &&
	    elapsed > source->elapsed_ns &&
	    (uint64_t)(elapsed - source->elapsed_ns) > source->period_ns)
		source->period_ns = (uint64_t)(elapsed - source->elapsed_ns);
	source->pid = pid;
	source->elapsed_ns = elapsed;
}

/* The last status from source->at on, in NULL or *status; what follows it is read again. */
static void read_lines(struct cli_status_source *source, FILE *file, json_t **status)
{
	char line[LINE_MOST];

	if (fseeko(file, source->at, SEEK_SET) != 0)
		return;
	while (fgets(line, sizeof(line), file)) {
		json_t *found;

		if (feof(file))
			return;		/* being written */
		source->at = ftello(file);
		found = status_in(line);
		if (found) {
			take_time(source, found);
			json_decref(*status);
			*status = found;
		}
	}
}

static enum cli_news look_into_file(struct cli_status_source *source, json_t **status)
{
	int fd = open(source->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
	struct stat about;

	if (!file || fstat(fd, &about) != 0) {
		if (fd >= 0)
			(void)close(fd);
		return CLI_NO_SOURCE;
	}
	if (about.st_dev != source->device || about.st_ino != source->inode ||
	    about.st_size < source->at) {
		source->device = about.st_dev;
		source->inode = about.st_ino;
		source->at = about.st_size > LINE_MOST ? about.st_size - LINE_MOST : 0;
	}
	read_lines(source, file, status);
	(void)fclose(file);
	return *status ? CLI_NEWS : CLI_NO_NEWS;
}

/* ---- a socket ---- */

static int connect_to(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(address.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	int number = errno;
	(void)close(fd);
	errno = number;
	return -1;
}

/* A line, up to the server's end.  false: see errno. */
static bool read_answer(int fd, char *line, size_t size)
{
	const uint64_t until = lpl_now_ns() + ANSWER_NS;
	size_t used = 0;

	while (used < size - 1) {
		uint64_t now = lpl_now_ns();
		struct pollfd wait = { .fd = fd, .events = POLLIN };
		ssize_t n;

		if (now >= until || poll(&wait, 1, (int)((until - now) / 1000000) + 1) == 0) {
			errno = ETIMEDOUT;
			return false;
		}
		n = read(fd, line + used, size - 1 - used);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		used += (size_t)n;
		line[used] = '\0';
		if (n == 0 || strchr(line, '\n'))
			break;
	}
	errno = ECONNRESET;
	return used > 0;
}

static enum cli_news ask_socket(struct cli_status_source *source, json_t **status)
{
	static const char question[] = "status\n";
	char line[LINE_MOST];
	int fd = connect_to(source->path), number;
	bool answered = fd >= 0 && write(fd, question, sizeof(question) - 1) > 0 &&
			read_answer(fd, line, sizeof(line));

	number = errno;
	if (fd >= 0)
		(void)close(fd);
	errno = number;
	if (!answered)
		return CLI_NO_SOURCE;
	*status = status_in(line);
	return *status ? CLI_NEWS : CLI_NO_STATUS;
}

enum cli_news cli_status_source_look(struct cli_status_source *source, json_t **status)
{
	*status = NULL;
	return source->is_socket ? ask_socket(source, status) : look_into_file(source, status);
}
