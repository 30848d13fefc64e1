/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The status line; see status.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "status.h"

/* As much of the text as fits, for a string of JSON; control characters become blanks. */
static void quote(char *quoted, size_t size, const char *text)
{
	size_t n = 0;

	for (; *text && n < size - 8; text++) {
		if (*text == '"' || *text == '\\')
			quoted[n++] = '\\';
		quoted[n++] = (unsigned char)*text < ' ' ? ' ' : *text;
	}
	quoted[n] = '\0';
}

static bool write_all(int fd, const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t written = write(fd, bytes, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
		bytes += written;
		size -= (size_t)written;
	}
	return true;
}

bool lpl_status_write(int fd, const struct lpl_collector_status *status, const char *state,
		      const char *end, const char *message)
{
	char line[1536], quoted[600];

	quote(quoted, sizeof(quoted), message ? message : "");
	int length = snprintf(line, sizeof(line),
		"{\"state\":\"%s\",%s%s%s\"message\":\"%s\",\"instructions\":%" PRIu64
		",\"references\":%" PRIu64 ",\"kept\":%" PRIu64 ",\"events\":%" PRIu64
		",\"bytes\":%" PRIu64 ",\"wait_ns\":%" PRIu64 ",\"elapsed_ns\":%" PRIu64
		",\"syncs\":%" PRIu64 ",\"sync_ns\":%" PRIu64 ",\"waiting_for_room\":%s"
		",\"room_wait_ns\":%" PRIu64 "}\n",
		state, end ? "\"end\":\"" : "", end ? end : "", end ? "\"," : "", quoted,
		status->instructions, status->references, status->kept, status->events,
		status->bytes, status->wait_ns, status->elapsed_ns, status->syncs, status->sync_ns,
		status->waiting_for_room ? "true" : "false", status->room_wait_ns);

	return write_all(fd, line, (size_t)length);
}
