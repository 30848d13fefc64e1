/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A disk that fails, for any program: preloaded, it stands between the program and the calls that
 * change files below $FAULTY_DIR (an absolute path).
 *
 *	FAULT=CALL:N:ERROR[:TIMES]	the Nth CALL fails so, and the next ones, TIMES in all (1;
 *					0: from then on).  CALL is write, sync (fsync, fdatasync),
 *					rename, reserve (fallocate), truncate or create (open, of a
 *					file that shall be new); ERROR is ENOSPC,
 *					EDQUOT, EIO, EINTR or, of a write, short: half of it is done
 *	FAULTY_CAPACITY=BYTES		no file has room for more
 *	FAULTY_LOG=FILE			a line for each call that was made: its name; of a write,
 *					the offset and the size; of truncate and reserve, the size
 *
 * Streams made by fdopen() write through here, too.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum call { WRITE, SYNC, RENAME, RESERVE, TRUNCATE, CREATE, CALLS };

static const char *const names[CALLS] = {
	"write", "sync", "rename", "reserve", "truncate", "create"
};
static atomic_long made[CALLS];

/* ---- which files, and what becomes of them ---- */

static bool is_below(const char *path)
{
	const char *directory = getenv("FAULTY_DIR");

	return directory && strncmp(path, directory, strlen(directory)) == 0;
}

static bool is_ours(int fd)
{
	char link[32], path[PATH_MAX];
	ssize_t length;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	if (length < 0)
		return false;
	path[length] = '\0';
	return is_below(path);
}

static void note(enum call call, const char *format, ...)
{
	const char *log = getenv("FAULTY_LOG");
	char line[96];
	va_list arguments;
	int used, fd;

	if (!log)
		return;
	used = snprintf(line, sizeof(line), "%s", names[call]);
	va_start(arguments, format);
	used += vsnprintf(line + used, sizeof(line) - (size_t)used - 1, format, arguments);
	va_end(arguments);
	line[used++] = '\n';
	fd = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_APPEND | O_CREAT, 0666);
	if (fd < 0 || syscall(SYS_write, fd, line, (size_t)used) != used)
		abort();
	(void)syscall(SYS_close, fd);
}

static int number_of(const char *error)
{
	return strncmp(error, "ENOSPC", 6) == 0 ? ENOSPC : strncmp(error, "EDQUOT", 6) == 0 ? EDQUOT :
	       strncmp(error, "EIO", 3) == 0 ? EIO : strncmp(error, "EINTR", 5) == 0 ? EINTR : 0;
}

/* Is it this call's turn?  -1: no; 0: half of it; else errno. */
static int fault(enum call call)
{
	const char *wanted = getenv("FAULT"), *rest;
	long at, times = 1, now = atomic_fetch_add(&made[call], 1) + 1;
	size_t length = strlen(names[call]);
	char *end;

	if (!wanted || strncmp(wanted, names[call], length) != 0 || wanted[length] != ':')
		return -1;
	at = strtol(wanted + length + 1, &end, 10);
	rest = strchr(end + 1, ':');
	if (rest)
		times = strtol(rest + 1, NULL, 10);
	return now < at || (times && now >= at + times) ? -1 : number_of(end + 1);
}

static uint64_t capacity(void)
{
	const char *text = getenv("FAULTY_CAPACITY");

	return text ? strtoull(text, NULL, 10) : UINT64_MAX;
}

/* ---- the calls ---- */

ssize_t write(int fd, const void *bytes, size_t size)
{
	uint64_t at, room;
	int error;

	if (!is_ours(fd))
		return syscall(SYS_write, fd, bytes, size);
	error = fault(WRITE);
	if (error > 0) {
		errno = error;
		return -1;
	}
	if (error == 0 && size > 1)
		size /= 2;
	at = (uint64_t)lseek(fd, 0, SEEK_CUR);
	room = capacity() > at ? capacity() - at : 0;
	if (room == 0) {
		errno = ENOSPC;
		return -1;
	}
	if (size > room)
		size = (size_t)room;
	note(WRITE, " %llu %zu", (unsigned long long)at, size);
	return syscall(SYS_write, fd, bytes, size);
}

static int synced(int fd, long number)
{
	int error;

	if (!is_ours(fd))
		return (int)syscall(number, fd);
	error = fault(SYNC);
	if (error > 0) {
		errno = error;
		return -1;
	}
	note(SYNC, "%s", number == SYS_fdatasync ? " data" : "");
	return 0;	/* quickly: the machine is not turned off */
}

int fsync(int fd)
{
	return synced(fd, SYS_fsync);
}

int fdatasync(int fd)
{
	return synced(fd, SYS_fdatasync);
}

int renameat2(int old_directory, const char *old, int new_directory, const char *new,
	      unsigned int flags)
{
	int error = is_below(new) ? fault(RENAME) : -1;

	if (error > 0) {
		errno = error;
		return -1;
	}
	if (is_below(new))
		note(RENAME, "%s", "");
	return (int)syscall(SYS_renameat2, old_directory, old, new_directory, new, flags);
}

int rename(const char *old, const char *new)
{
	return renameat2(AT_FDCWD, old, AT_FDCWD, new, 0);
}

int fallocate64(int fd, int mode, off64_t offset, off64_t size)
{
	int error;

	if (!is_ours(fd))
		return (int)syscall(SYS_fallocate, fd, mode, offset, size);
	error = fault(RESERVE);
	if (error > 0 || (uint64_t)(offset + size) > capacity()) {
		errno = error > 0 ? error : ENOSPC;
		return -1;
	}
	note(RESERVE, " %lld", (long long)offset + (long long)size);
	return (int)syscall(SYS_fallocate, fd, mode, offset, size);
}

int ftruncate64(int fd, off64_t size)
{
	int error;

	if (!is_ours(fd))
		return (int)syscall(SYS_ftruncate, fd, size);
	error = fault(TRUNCATE);
	if (error > 0) {
		errno = error;
		return -1;
	}
	note(TRUNCATE, " %lld", (long long)size);
	return (int)syscall(SYS_ftruncate, fd, size);
}

int open64(const char *path, int flags, ...)
{
	const bool creates = (flags & O_CREAT) && is_below(path);
	int error = creates ? fault(CREATE) : -1;
	mode_t mode = 0;
	va_list arguments;

	if (error > 0) {
		errno = error;
		return -1;
	}
	if (creates)
		note(CREATE, "%s", "");
	if (flags & (O_CREAT | __O_TMPFILE)) {
		va_start(arguments, flags);
		mode = va_arg(arguments, mode_t);
		va_end(arguments);
	}
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_LARGEFILE, mode);
}

/* ---- streams ---- */

static ssize_t write_stream(void *cookie, const char *bytes, size_t size)
{
	ssize_t count = write((int)(intptr_t)cookie, bytes, size);

	return count < 0 ? 0 : count;	/* as a cookie's write reports errors */
}

static int close_stream(void *cookie)
{
	return close((int)(intptr_t)cookie);
}

/* Streams that were made here, for fileno(). */
static struct {
	FILE *stream;
	int fd;
} streams[64];
static atomic_uint made_streams;

FILE *fdopen(int fd, const char *mode)
{
	FILE *(*real)(int, const char *);
	FILE *stream;
	unsigned int i;

	if (!is_ours(fd) || mode[0] != 'w') {
		*(void **)&real = dlsym(RTLD_NEXT, "fdopen");
		return real(fd, mode);
	}
	stream = fopencookie((void *)(intptr_t)fd, mode, (cookie_io_functions_t){
		.write = write_stream, .close = close_stream });
	i = atomic_fetch_add(&made_streams, 1) % 64;
	streams[i].stream = stream;
	streams[i].fd = fd;
	return stream;
}

int fileno(FILE *stream)
{
	int (*real)(FILE *);

	for (unsigned int i = 0; i < 64; i++)
		if (streams[i].stream == stream)
			return streams[i].fd;
	*(void **)&real = dlsym(RTLD_NEXT, "fileno");
	return real(stream);
}
