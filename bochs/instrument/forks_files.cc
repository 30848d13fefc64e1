/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A forked process shares its parent's open files, and where each of them is read and written.  Here it gets others by the
 * same numbers: of what is only read another place to read at; of what is read and written a copy, without a name; and
 * of what is only written nothing.  Standard input, output and error stay, and so do pipes and the like.
 */
#include "bochs.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "forks_files.h"

static const size_t AT_ONCE = 1 << 30;

static bool copy_range(int from, int to, off_t begin, off_t end)
{
	loff_t in = begin, out = begin;

	while (in < end) {
		const size_t most = (size_t)(end - in) < AT_ONCE ? (size_t)(end - in) : AT_ONCE;
		const ssize_t copied = copy_file_range(from, &in, to, &out, most, 0);

		if (copied < 0 && errno != EINTR)
			return false;
		if (copied == 0)
			break;
	}
	return true;
}

/* Holes stay holes. */
static bool copy_data(int from, int to, off_t size)
{
	if (ftruncate(to, size))
		return false;
	for (off_t at = 0; at < size;) {
		const off_t begin = lseek(from, at, SEEK_DATA);

		if (begin < 0)
			return errno == ENXIO;
		const off_t end = lseek(from, begin, SEEK_HOLE);

		if (end < 0 || !copy_range(from, to, begin, end))
			return false;
		at = end;
	}
	return true;
}

/* Where the file itself is, if it is still there by a name. */
static int open_nameless(const char *proc)
{
	char path[PATH_MAX], *slash;
	const ssize_t length = readlink(proc, path, sizeof(path) - 1);
	int fd = -1;

	path[length > 0 ? length : 0] = '\0';
	slash = strrchr(path, '/');
	if (slash) {
		*slash = '\0';
		fd = open(*path ? path : "/", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	}
	if (fd < 0)
		fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	return fd;
}

static int copy_of(const char *proc, int fd)
{
	const off_t place = lseek(fd, 0, SEEK_CUR);
	/* one that has a place of its own, so that our parent's stays */
	const int from = open(proc, O_RDONLY | O_CLOEXEC), to = from < 0 ? -1 : open_nameless(proc);
	struct stat about;
	int problem;

	if (to >= 0 && fstat(from, &about) == 0 &&
	    (ioctl(to, FICLONE, from) == 0 || copy_data(from, to, about.st_size)) && lseek(to, place, SEEK_SET) == place) {
		(void)close(from);
		return to;
	}
	problem = errno;
	if (from >= 0)
		(void)close(from);
	if (to >= 0)
		(void)close(to);
	errno = problem;
	return -1;
}

static int reopened(const char *proc, int fd)
{
	const int other = open(proc, O_RDONLY | O_CLOEXEC);

	if (other >= 0)
		(void)lseek(other, lseek(fd, 0, SEEK_CUR), SEEK_SET);
	return other;
}

static bool alone(int fd)
{
	char proc[32];
	struct stat about;
	const int how = fcntl(fd, F_GETFL);
	int other;

	if (how < 0 || fstat(fd, &about) || !S_ISREG(about.st_mode))
		return true;
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
	other = (how & O_ACCMODE) == O_RDONLY ? reopened(proc, fd) :
		(how & O_ACCMODE) == O_RDWR ? copy_of(proc, fd) : open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (other < 0)
		return false;
	const bool taken = dup3(other, fd, O_CLOEXEC) == fd;

	(void)close(other);
	return taken;
}

bool laplace_files_alone(void)
{
	DIR *directory = opendir("/proc/self/fd");
	struct dirent *entry;
	bool good = directory != NULL;

	while (good && (entry = readdir(directory))) {
		const int fd = atoi(entry->d_name);

		if (fd > STDERR_FILENO && fd != dirfd(directory))
			good = alone(fd);
	}
	const int problem = errno;

	if (directory)
		closedir(directory);
	errno = problem;
	return good;
}
