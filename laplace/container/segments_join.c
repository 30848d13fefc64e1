/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Segments that several processes wrote become a trace; see segments_join.h. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/output.h"
#include "base/try.h"
#include "manifest.h"
#include "segments_join.h"

/* PATH.part, as a manifest. */
static enum lpl_error open_part(struct lpl_manifest **manifest, const char *path, struct lpl_report *report)
{
	char name[LPL_NAME_SIZE], *part;
	int fd;

	*manifest = NULL;
	lpl_short_name(name, path);
	if (asprintf(&part, "%s.part", path) < 0)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for a manifest");
	fd = open(part, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || !lpl_is_manifest_file(fd)) {
		if (fd >= 0)
			(void)close(fd);
		free(part);
		return lpl_fail(report, LPL_ERR_DAMAGED, "%s: its manifest, in a file that ends in .part, is "
				"missing", name);
	}
	const enum lpl_error error = lpl_manifest_open(manifest, fd, path, NULL, report);

	free(part);
	return error;
}

enum lpl_error lpl_segments_meta(const char *path, struct lpl_meta **meta, struct lpl_report *report)
{
	struct lpl_manifest *manifest;

	*meta = NULL;
	LPL_TRY(open_part(&manifest, path, report));
	*meta = lpl_meta_copy(manifest->meta);
	lpl_manifest_close(manifest);
	return *meta ? LPL_OK : lpl_fail(report, LPL_ERR_MEMORY, "no memory for a header");
}

static enum lpl_error write_lines(struct lpl_output *output, char *const *line, size_t count,
				  struct lpl_report *report)
{
	char *end = lpl_manifest_end_line(count);
	enum lpl_error error = end ? LPL_OK : lpl_fail(report, LPL_ERR_MEMORY, "no memory for a manifest");

	for (size_t i = 0; error == LPL_OK && i < count; i++)
		error = lpl_output_write(output, line[i], strlen(line[i]), report);
	if (error == LPL_OK)
		error = lpl_output_write(output, end, strlen(end), report);
	free(end);
	return error;
}

/* Does PATH.part name a trace that is whole? */
static enum lpl_error check(const char *path, size_t count, struct lpl_report *report)
{
	enum lpl_segment_kind kind = LPL_SEGMENT_NAMED;
	struct lpl_manifest *manifest;
	char name[LPL_NAME_SIZE];
	enum lpl_error error;
	int fd;

	LPL_TRY(open_part(&manifest, path, report));
	while (kind == LPL_SEGMENT_NAMED) {
		kind = lpl_manifest_next(manifest, &fd, name, report);
		if (fd >= 0)
			(void)close(fd);
	}
	lpl_short_name(name, path);
	error = kind == LPL_SEGMENT_BAD ? report->error :
		manifest->segments != count || !manifest->closed ?
		lpl_fail(report, LPL_ERR_DAMAGED, "%s: its segments do not follow each other", name) : LPL_OK;
	lpl_manifest_close(manifest);
	return error;
}

/* The bytes of its first line, whatever follows. */
static uint64_t first_line(struct lpl_manifest *manifest)
{
	uint64_t bytes = 1;
	int byte;

	rewind(manifest->file);
	while ((byte = getc(manifest->file)) != EOF && byte != '\n')
		bytes++;
	return bytes;
}

enum lpl_error lpl_segments_join(const char *path, char *const *line, size_t count, bool overwrite,
				 struct lpl_report *report)
{
	struct lpl_manifest *manifest;
	struct lpl_output output;
	uint64_t begin;
	enum lpl_error error;

	/* lines may be there, where joining was cut off */
	LPL_TRY(open_part(&manifest, path, report));
	begin = first_line(manifest);
	lpl_manifest_close(manifest);
	LPL_TRY(lpl_output_continue(&output, path, begin, overwrite, report));
	error = write_lines(&output, line, count, report);
	if (error == LPL_OK)
		error = lpl_output_sync(&output, report);
	if (error == LPL_OK)
		error = check(path, count, report);
	if (error == LPL_OK)
		return lpl_output_commit(&output, report);
	lpl_output_discard(&output);
	return error;
}
