/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Hashes of files that a stranger chose; see sha256.h.
 *
 * To open some files is to act on them, or to wait: a watchdog, a tape, a pipe.  So the file is
 * looked at through a descriptor that does not open it, and that descriptor, not the name, is what
 * is opened then.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sha256.h"

static bool is_made_up(int fd)
{
	static const unsigned int magic[] = {
		PROC_SUPER_MAGIC, SYSFS_MAGIC, DEBUGFS_MAGIC, TRACEFS_MAGIC, SECURITYFS_MAGIC,
		CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, SELINUX_MAGIC, BPF_FS_MAGIC,
		PSTOREFS_MAGIC, EFIVARFS_MAGIC, BINFMTFS_MAGIC
	};
	struct statfs about;

	if (fstatfs(fd, &about) < 0)
		return true;
	for (size_t i = 0; i < sizeof(magic) / sizeof(magic[0]); i++)
		if ((unsigned int)about.f_type == magic[i])
			return true;
	return false;
}

/* Returns NULL, or what is wrong; the descriptor is the caller's. */
static const char *open_regular(int *fd, off_t *size, const char *path)
{
	int place = open(path, O_PATH | O_CLOEXEC);
	const char *wrong = NULL;
	struct stat about;
	char self[64];

	*fd = -1;
	if (place < 0)
		return errno == ENOENT || errno == ENOTDIR ? "is not there" : strerror(errno);
	if (fstat(place, &about) < 0) {
		wrong = strerror(errno);
	} else if (!S_ISREG(about.st_mode)) {
		wrong = "is not a regular file";
	} else if (is_made_up(place)) {
		wrong = "is not a file of a disk";
	} else {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", place);
		*fd = open(self, O_RDONLY | O_CLOEXEC);
		if (*fd < 0)
			wrong = strerror(errno);
		*size = about.st_size;
	}
	close(place);
	return wrong;
}

static _Noreturn void become_sha256sum(const int in[2], const int out[2])
{
	signal(SIGPIPE, SIG_DFL);
	if (dup2(in[0], STDIN_FILENO) >= 0 && dup2(out[1], STDOUT_FILENO) >= 0)
		execlp("sha256sum", "sha256sum", (char *)NULL);
	_exit(127);
}

/* No more than `size` bytes, whatever was written to the file meanwhile. */
static bool copy(int from, int to, off_t size)
{
	char buffer[1 << 16];

	while (size > 0) {
		size_t most = (size_t)size < sizeof(buffer) ? (size_t)size : sizeof(buffer);
		ssize_t got = read(from, buffer, most);

		if (got <= 0)
			return got == 0;
		for (ssize_t done = 0; done < got;) {
			ssize_t put = write(to, buffer + done, (size_t)(got - done));

			if (put < 0)
				return false;
			done += put;
		}
		size -= got;
	}
	return true;
}

static bool read_hash(char hash[SHA256_SIZE], int fd)
{
	size_t got = 0;

	while (got < SHA256_SIZE - 1) {
		ssize_t more = read(fd, hash + got, SHA256_SIZE - 1 - got);

		if (more <= 0)
			return false;
		got += (size_t)more;
	}
	hash[got] = '\0';
	return strspn(hash, "0123456789abcdef") == got;
}

const char *sha256_regular(char hash[SHA256_SIZE], const char *path)
{
	int in[2] = { -1, -1 }, out[2] = { -1, -1 }, fd, status = -1;
	const char *wrong;
	off_t size = 0;
	pid_t child = -1;

	wrong = open_regular(&fd, &size, path);
	if (!wrong && (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0 ||
		       (child = fork()) < 0))
		wrong = strerror(errno);
	if (child == 0)
		become_sha256sum(in, out);
	if (!wrong) {
		close(in[0]);
		close(out[1]);
		in[0] = out[1] = -1;
		if (!copy(fd, in[1], size))
			wrong = "cannot be read";
		close(in[1]);
		in[1] = -1;
		if (!read_hash(hash, out[0]) && !wrong)
			wrong = "cannot be hashed: is there no sha256sum?";
		if (waitpid(child, &status, 0) < 0 || (status != 0 && !wrong))
			wrong = "cannot be hashed: sha256sum failed";
	}
	for (size_t i = 0; i < 2; i++) {
		if (in[i] >= 0)
			close(in[i]);
		if (out[i] >= 0)
			close(out[i]);
	}
	if (fd >= 0)
		close(fd);
	return wrong;
}
