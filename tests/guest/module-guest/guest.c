/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the rooms of module-smoke's guest share. */
#include "guest.h"

#include <stdarg.h>

static int kmsg;

void open_log(void)
{
	kmsg = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);
}

void say(const char *format, ...)
{
	char line[512] = "check: ";
	va_list args;
	size_t length = strlen(line);

	va_start(args, format);
	length += (size_t)vsnprintf(line + length, sizeof(line) - length - 1, format, args);
	va_end(args);
	if (length > sizeof(line) - 2)
		length = sizeof(line) - 2;
	/* Without it the line is not complete, and not shown, until the next. */
	line[length++] = '\n';
	if (write(kmsg, line, length) < 0)
		abort();
}

_Noreturn void die(const char *what)
{
	say("died: %s: %s", what, strerror(errno));
	_exit(1);
}

void mark(const char *name)
{
	say("mark %s", name);
}

void list_maps(void)
{
	static char text[65536];
	size_t used = 0;
	int fd = call(open("/proc/self/maps", O_RDONLY | O_CLOEXEC), "maps");
	ssize_t got;

	while ((got = read(fd, text + used, sizeof(text) - 1 - used)) > 0)
		used += (size_t)got;
	close(fd);
	text[used] = '\0';
	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		uint64_t from, to;

		*end = '\0';
		/* Not a mapping of this space: the kernel emulates it. */
		if (strstr(line, "[vsyscall]"))
			continue;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &from, &to) != 2)
			die("maps line");
		say("maps %d %" PRIx64 " %" PRIx64, getpid(), from, to);
	}
	say("mapped %d", getpid());
}

uint64_t pagemap(const volatile void *address)
{
	uint64_t entry = 0;
	int fd = call(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC), "pagemap");

	if (pread(fd, &entry, 8, (off_t)((uintptr_t)address / PAGE * 8)) != 8)
		die("pagemap");
	close(fd);
	return entry;
}

uint64_t frame(const volatile void *address)
{
	uint64_t entry = pagemap(address);

	return entry >> 63 ? entry & ((1ULL << 55) - 1) : 0;
}

uint64_t device(dev_t number)
{
	return (uint64_t)major(number) << 20 | minor(number);
}

void expect_map(const void *at, size_t length, unsigned int prot, unsigned int kind,
		const struct stat *st, uint64_t offset, const char *name)
{
	uintptr_t start = (uintptr_t)at;

	if (st)
		say("expect MAP - %lx %lx %x %x %" PRIx64 " %lx %" PRIx64 " \"%s\"", start,
		    start + length, prot, kind, device(st->st_dev),
		    (unsigned long)st->st_ino, offset, name);
	else
		say("expect MAP - %lx %lx %x %x - - - \"%s\"", start,
		    start + length, prot, kind, name);
}

void expect_range(const char *event, const volatile void *at, size_t length)
{
	say("expect %s - %lx %lx", event, (uintptr_t)at, (uintptr_t)at + length);
}

void refuse_range(const char *event, const volatile void *at, size_t length)
{
	say("refuse %s - %lx %lx", event, (uintptr_t)at, (uintptr_t)at + length);
}

void expect_unmap(const void *at, size_t length)
{
	expect_range("UNMAP", at, length);
}

void expect_cow(const volatile void *at, uint64_t old, uint64_t new)
{
	say("expect COW_BREAK - %lx %" PRIx64 " %" PRIx64,
	    (uintptr_t)at & ~(PAGE - 1), old, new);
}

void *map(void *at, size_t length, int prot, int flags, int fd, off_t offset)
{
	void *got = mmap(at, length, prot, flags, fd, offset);

	if (got == MAP_FAILED)
		die("mmap");
	return got;
}

int call(int result, const char *what)
{
	if (result < 0)
		die(what);
	return result;
}

pid_t fork_or_die(void)
{
	return call(fork(), "fork");
}

void join(pid_t child, const char *what)
{
	int status;

	if (waitpid(child, &status, 0) != child || status)
		die(what);
}

void set(const char *file, const char *value)
{
	int fd = call(open(file, O_WRONLY | O_CLOEXEC), file);

	if (write(fd, value, strlen(value)) != (ssize_t)strlen(value))
		die(file);
	close(fd);
}

void command(const char *text)
{
	set("/dev/laplace", text);
}

char *huge_in(char *area)
{
	char *page = (char *)(((uintptr_t)area + HUGE - 1) & ~(HUGE - 1));

	call(madvise(page, HUGE, MADV_HUGEPAGE), "madvise");
	return page;
}

long call32(long number, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t s)
{
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(number), "b"(b), "c"(c), "d"(d), "S"(s)
			 : "memory", "r8", "r9", "r10", "r11");
	return result;
}
