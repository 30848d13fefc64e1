/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files of a guest's tree.  Paths are a guest's, and so are the links of a tree that was taken out
 * of an image: the kernel resolves them as if the directory were the root of everything
 * (openat2(2), Linux 5.6).
 */
#include "inside.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int inside_root(const char *directory)
{
	return open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int inside_open(int root, const char *path)
{
	/* a pipe or a device in the tree shall neither block nor become our terminal */
	struct open_how how = {
		.flags = (uint64_t)(O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS
	};
	struct stat about;
	int fd;

	while (*path == '/')
		path++;
	fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	if (fd < 0 || (fstat(fd, &about) == 0 && S_ISREG(about.st_mode)))
		return fd;
	close(fd);
	errno = ENOENT;
	return -1;
}
