/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which files a trace consists of: so that they are not written to by mistake. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <laplace/trace.h>

#include "manifest.h"
#include "segment_names.h"

/* The manifest at PATH; NULL: there is none that can be read. */
static struct lpl_manifest *open_manifest(const char *path)
{
	struct lpl_manifest *manifest;
	struct stat status;
	int fd;

	/* a pipe must not be opened: its writer may be waiting for its reader */
	if (strcmp(path, "-") == 0 || stat(path, &status) != 0 || !S_ISREG(status.st_mode))
		return NULL;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	if (!lpl_is_manifest_file(fd)) {
		(void)close(fd);
		return NULL;
	}
	return lpl_manifest_open(&manifest, fd, path, NULL, NULL) == LPL_OK ? manifest : NULL;
}

static int call_each(const struct lpl_manifest *manifest, uint64_t number, bool part,
		     bool *is_there, int (*each)(void *context, const char *file),
		     void *context)
{
	char *path = lpl_segment_path(manifest->stem, number, part);
	struct stat status;
	int result = path ? each(context, path) : -1;

	*is_there = path && stat(path, &status) == 0;
	free(path);
	return result;
}

int lpl_trace_files(const char *path, int (*each)(void *context, const char *file), void *context)
{
	int result = each(context, path);
	struct lpl_manifest *manifest = result == 0 ? open_manifest(path) : NULL;
	bool is_there = true, part_is_there = false;
	uint64_t number = 1;

	if (!manifest)
		return result;
	for (; result == 0 && number <= manifest->segments; number++)
		result = call_each(manifest, number, false, &is_there, each, context);
	/* those that it does not name (yet) are found by their names */
	is_there = !manifest->closed;
	for (; result == 0 && (is_there || part_is_there); number++) {
		result = call_each(manifest, number, true, &part_is_there, each, context);
		if (result == 0)
			result = call_each(manifest, number, false, &is_there, each, context);
	}
	lpl_manifest_close(manifest);
	return result;
}
