/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The files of a checkpoint: brought to the disk, distinguished from others, removed.
 *
 * A directory is only looked into if it is one itself: a link's files are somebody else's.
 */
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <xxhash.h>

#include "checkpoint_files.h"

/* Each file's name, with the open directory; false: `what` said so, or not all were found. */
static bool each_file(const char *path, bool (*what)(int directory, const char *name, void *context),
		      void *context)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
	bool good = directory != NULL;

	while (good) {
		errno = 0;
		struct dirent *entry = readdir(directory);

		if (!entry) {
			good = !errno;
			break;
		}
		if (entry->d_name[0] != '.')
			good = what(dirfd(directory), entry->d_name, context);
	}
	int problem = errno;

	if (directory)
		closedir(directory);
	errno = problem;
	return good;
}

static bool close_after(int fd, bool good)
{
	int problem = errno;

	if (fd >= 0)
		close(fd);
	errno = problem;
	return good;
}

/* ---- on the disk ---- */

static bool sync_file(int directory, const char *name, void *)
{
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);

	return close_after(fd, fd >= 0 && fsync(fd) == 0);
}

static bool sync_directory(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return close_after(fd, fd >= 0 && fsync(fd) == 0);
}

bool laplace_sync_files(const char *directory)
{
	return each_file(directory, sync_file, NULL) && sync_directory(directory);
}

bool laplace_sync_parent(const char *path)
{
	char parent[4096];
	char *slash;

	if ((size_t)snprintf(parent, sizeof(parent), "%s", path) >= sizeof(parent)) {
		errno = ENAMETOOLONG;
		return false;
	}
	slash = strrchr(parent, '/');
	if (slash)
		slash[slash == parent] = '\0';
	return sync_directory(slash ? parent : ".");
}

/* ---- away ---- */

static bool remove_file(int directory, const char *name, void *)
{
	return unlinkat(directory, name, 0) == 0;
}

bool laplace_remove_directory(const char *path)
{
	return (each_file(path, remove_file, NULL) && rmdir(path) == 0) || errno == ENOENT;
}

/* ---- the same ones? ---- */

/* From an offset on, as much as fits; -1: it cannot be read. */
static ssize_t read_at(int fd, char *bytes, size_t size, off_t at)
{
	size_t filled = 0;
	ssize_t count = 1;

	while (count && filled < size) {
		count = pread(fd, bytes + filled, size - filled, at + (off_t)filled);
		if (count < 0 && errno != EINTR)
			return -1;
		filled += count > 0 ? (size_t)count : 0;
	}
	return (ssize_t)filled;
}

/*
 * What is in a file, and where.  Holes are not read, and zeros count as one: a machine's memory is mostly that, and a copy
 * of it need not have the same holes.
 */
static bool digest_rest(int fd, XXH3_state_t *state)
{
	static char bytes[1 << 16];
	const off_t size = lseek(fd, 0, SEEK_END);

	if (size < 0)
		return false;
	XXH3_64bits_update(state, &size, sizeof(size));
	for (off_t at = 0; at < size; at += (off_t)sizeof(bytes)) {
		const off_t data = lseek(fd, at, SEEK_DATA);

		if (data < 0 && errno == ENXIO)
			break;		/* a hole, up to its end */
		if (data > at)
			at = data - data % (off_t)sizeof(bytes);
		const ssize_t count = read_at(fd, bytes, sizeof(bytes), at);

		if (count < 0)
			return false;
		if (count == 0 || (!bytes[0] && !memcmp(bytes, bytes + 1, (size_t)count - 1)))
			continue;
		XXH3_64bits_update(state, &at, sizeof(at));
		XXH3_64bits_update(state, bytes, (size_t)count);
	}
	return true;
}

/* Of the name, if it counts, and what is in it. */
static bool digest_at(int directory, const char *path, bool named, uint64_t *digest)
{
	XXH3_state_t *state = XXH3_createState();
	int fd = state ? openat(directory, path, O_RDONLY | O_CLOEXEC) : -1;
	bool good = fd >= 0;

	if (good) {
		XXH3_64bits_reset(state);
		if (named)
			XXH3_64bits_update(state, path, strlen(path) + 1);
		good = digest_rest(fd, state);
		*digest = XXH3_64bits_digest(state);
	}
	XXH3_freeState(state);
	return close_after(fd, good);
}

bool laplace_digest_file(const char *path, uint64_t *digest)
{
	return digest_at(AT_FDCWD, path, false, digest);
}

struct sum {
	const char *except;
	uint64_t digest;
};

/* In whatever order they come. */
static bool add_file(int directory, const char *name, void *context)
{
	struct sum *sum = (struct sum *)context;
	uint64_t digest;

	if (!strcmp(name, sum->except))
		return true;
	if (!digest_at(directory, name, true, &digest))
		return false;
	sum->digest += digest;
	return true;
}

bool laplace_digest_files(const char *directory, const char *except, uint64_t *digest)
{
	struct sum sum = { except, 0 };
	bool good = each_file(directory, add_file, &sum);

	*digest = sum.digest;
	return good;
}
