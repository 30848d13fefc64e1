/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * status-server SOCKET: in the place of a collection's control socket.  Each connection may ask
 * once, "status\n", and is given the next line of standard input; after the last one the socket
 * is removed.  A line that is "-" is no answer: the connection is closed.
 *
 * It goes into the background when the socket can be connected to, so that a script need
 * not wait for it.
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int fail(const char *what)
{
	perror(what);
	return 1;
}

static int serve(int server)
{
	static char line[65536];
	char question[16];

	while (fgets(line, sizeof(line), stdin)) {
		int client = accept(server, NULL, NULL);
		ssize_t length = client < 0 ? -1 : read(client, question, sizeof(question));

		if (length != 7 || memcmp(question, "status\n", 7) != 0)
			return fail("status-server: the question");
		if (strcmp(line, "-\n") != 0 && write(client, line, strlen(line)) < 0)
			return fail("status-server: the answer");
		(void)close(client);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int server = socket(AF_UNIX, SOCK_STREAM, 0), result;
	pid_t child;

	if (argc != 2 || strlen(argv[1]) >= sizeof(address.sun_path))
		return 2;
	memcpy(address.sun_path, argv[1], strlen(argv[1]) + 1);
	if (server < 0 || bind(server, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    listen(server, 8) != 0)
		return fail("status-server");
	child = fork();
	if (child != 0)
		return child < 0 ? fail("status-server") : 0;
	(void)alarm(60);	/* against questions that never come */
	result = serve(server);
	(void)unlink(argv[1]);
	return result;
}
