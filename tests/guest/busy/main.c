/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* busy: which part is meant, and what the parts share. */
#include "busy.h"

#include <sys/mman.h>
#include <sys/wait.h>

static const struct {
	const char *name;
	void (*run)(int argc, char *argv[]);
} part[] = {
	{ "compile", compile }, { "expect", expect }, { "load", load },
	{ "threads", threads }, { "pressure", pressure }, { "shared", shared },
	{ "ranges", ranges }, { "tasks", tasks },
};

_Noreturn void die(const char *what)
{
	fprintf(stderr, "busy: %d: %s: %s\n", (int)getpid(), what, strerror(errno));
	_exit(1);
}

int call(int result, const char *what)
{
	if (result < 0)
		die(what);
	return result;
}

void require(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "busy: %d: %s\n", (int)getpid(), what);
	_exit(1);
}

void *map(void *at, size_t size, int flags, int fd)
{
	void *got = mmap(at, size, PROT_READ | PROT_WRITE, flags | (at ? MAP_FIXED : 0), fd, 0);

	if (got == MAP_FAILED)
		die("mmap");
	return got;
}

pid_t start(void (*body)(uint64_t argument), uint64_t argument)
{
	pid_t child = call(fork(), "fork");

	if (child == 0) {
		body(argument);
		_exit(0);
	}
	return child;
}

void join(pid_t child)
{
	int status;

	if (waitpid(child, &status, 0) != child)
		die("waitpid");
	require(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a child failed");
}

void fill(volatile unsigned char *at, unsigned int pages, uint64_t seed)
{
	for (unsigned int i = 0; i < pages; i++)
		*(volatile uint64_t *)(at + i * PAGE) = scramble(seed + i);
}

void verify(volatile unsigned char *at, unsigned int pages, uint64_t seed, const char *what)
{
	for (unsigned int i = 0; i < pages; i++)
		require(*(volatile uint64_t *)(at + i * PAGE) == scramble(seed + i), what);
}

int make_file(const char *path, unsigned int pages, uint64_t seed)
{
	static unsigned char page[PAGE];
	int fd = call(open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), path);

	for (unsigned int i = 0; i < pages; i++) {
		fill(page, 1, seed + i);
		if (write(fd, page, sizeof(page)) != sizeof(page))
			die(path);
	}
	return fd;
}

int main(int argc, char *argv[])
{
	for (size_t i = 0; argc > 1 && i < sizeof(part) / sizeof(part[0]); i++) {
		if (strcmp(argv[1], part[i].name) == 0) {
			part[i].run(argc - 1, argv + 1);
			return fflush(stdout) != 0;
		}
	}
	fprintf(stderr, "usage: busy PART [ARGUMENT...]\n");
	return 2;
}
