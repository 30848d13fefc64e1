/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * press-keys DISPLAY-NUMBER KEYCODE...: press these keys of an X server, one after the other, and
 * release them in the opposite order, as a person does with Ctrl and another.
 * press-keys DISPLAY-NUMBER --type LINE: type a line, one key after the other, and Return.  It may
 * have what is on an American keyboard without Shift.
 *
 * It talks X's protocol and that of its extension XTEST by itself, so that no more than a
 * server (Xvfb) has to be there.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { QUERY_EXTENSION = 98, GET_INPUT_FOCUS = 43, FAKE_INPUT = 2, PRESS = 2, RELEASE = 3 };

static int fail(const char *what)
{
	fprintf(stderr, "press-keys: %s\n", what);
	exit(1);
}

static void put(int x, const void *bytes, size_t size)
{
	if (write(x, bytes, size) != (ssize_t)size)
		fail("the server does not listen");
}

static void get(int x, void *bytes, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = read(x, (char *)bytes + done, size - done);

		if (n <= 0)
			fail("the server does not answer");
		done += (size_t)n;
	}
}

static int connect_to(const char *number)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const uint8_t hello[12] = { 'l', 0, 11 };	/* lowest byte first; version 11 */
	uint8_t answer[8], rest[4];
	int x = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "/tmp/.X11-unix/X%s", number);
	if (x < 0 || connect(x, (struct sockaddr *)&address, sizeof(address)) != 0)
		fail("there is no such server");
	put(x, hello, sizeof(hello));
	get(x, answer, sizeof(answer));
	if (answer[0] != 1)
		fail("the server refuses");
	for (unsigned words = answer[6] | answer[7] << 8; words; words--)
		get(x, rest, sizeof(rest));
	return x;
}

static uint8_t find_xtest(int x)
{
	const uint8_t question[16] = { QUERY_EXTENSION, 0, 4, 0, 5, 0, 0, 0, 'X', 'T', 'E', 'S', 'T' };
	uint8_t answer[32];

	put(x, question, sizeof(question));
	get(x, answer, sizeof(answer));
	if (answer[0] != 1 || !answer[8])
		fail("the server has no XTEST");
	return answer[9];
}

static void move(int x, uint8_t xtest, uint8_t how, int key)
{
	const uint8_t request[36] = { xtest, FAKE_INPUT, 9, 0, how, (uint8_t)key };

	put(x, request, sizeof(request));
}

static void press_together(int x, uint8_t xtest, char **keys, int count)
{
	for (int i = 0; i < count; i++)
		move(x, xtest, PRESS, atoi(keys[i]));
	for (int i = count - 1; i >= 0; i--)
		move(x, xtest, RELEASE, atoi(keys[i]));
}

/* What the keys from keycode 10 on write; \1 is a key that writes nothing. */
static const char KEYS[] = "1234567890-=\1\tqwertyuiop[]\n\1asdfghjkl;'`\1\\zxcvbnm,./\1\1\1 ";

static void type(int x, uint8_t xtest, const char *line)
{
	const struct timespec pause = { .tv_nsec = 50 * 1000 * 1000 };

	for (const char *c = line;; c++) {
		const char *key = strchr(KEYS, *c ? *c : '\n');

		if (!key || *c == '\1')
			fail("no key writes that");
		move(x, xtest, PRESS, 10 + (int)(key - KEYS));
		move(x, xtest, RELEASE, 10 + (int)(key - KEYS));
		if (!*c)
			return;
		nanosleep(&pause, NULL);	/* a keyboard holds few */
	}
}

int main(int argc, char **argv)
{
	const uint8_t question[4] = { GET_INPUT_FOCUS, 0, 1, 0 };
	uint8_t answer[32], xtest;
	int x;

	if (argc < 3)
		return fail("which keys of which server?");
	x = connect_to(argv[1]);
	xtest = find_xtest(x);
	if (strcmp(argv[2], "--type") != 0)
		press_together(x, xtest, argv + 2, argc - 2);
	else if (argc == 4)
		type(x, xtest, argv[3]);
	else
		return fail("--type wants a line");
	/* what is answered comes after all that was asked; events may come before */
	put(x, question, sizeof(question));
	do
		get(x, answer, sizeof(answer));
	while (answer[0] > 1);
	if (answer[0] != 1)
		return fail("a key was refused");
	return 0;
}
