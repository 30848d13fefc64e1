/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of segments, and whether they are free. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "base/output.h"
#include "segment_names.h"

#define ENDING		".lpl"
#define PART		".part"
#define DIGITS		6	/* at least */

char *lpl_segments_stem(const char *manifest)
{
	size_t length = strlen(manifest), ending = strlen(ENDING);
	const char *base = lpl_segments_base(manifest);

	if (length > ending && strcmp(manifest + length - ending, ENDING) == 0 &&
	    manifest + length - ending > base)
		length -= ending;
	return strndup(manifest, length);
}

const char *lpl_segments_base(const char *stem)
{
	const char *slash = strrchr(stem, '/');

	return slash ? slash + 1 : stem;
}

char *lpl_segment_path(const char *stem, uint64_t number, bool part)
{
	char *path;

	if (asprintf(&path, "%s.%0*" PRIu64 ENDING "%s", stem, DIGITS, number,
		     part ? PART : "") < 0)
		return NULL;
	return path;
}

/* Is it the name of some segment?  *number: of which, as far as there are so many. */
static bool is_segment(const char *name, const char *base, uint64_t *number)
{
	size_t length = strlen(base), digits;

	if (strncmp(name, base, length) != 0 || name[length] != '.')
		return false;
	name += length + 1;
	digits = strspn(name, "0123456789");
	if (digits < DIGITS || !lpl_scan_decimal(name, number))
		*number = UINT64_MAX;
	name += digits;
	return digits >= DIGITS && (strcmp(name, ENDING) == 0 || strcmp(name, ENDING PART) == 0);
}

enum lpl_error lpl_segments_are_free(const char *stem, uint64_t old, struct lpl_report *report)
{
	const char *base = lpl_segments_base(stem);
	char *folder = base == stem ? strdup(".") : strndup(stem, (size_t)(base - stem));
	enum lpl_error error = LPL_OK;
	char name[LPL_NAME_SIZE];
	const struct dirent *entry;
	uint64_t number;
	DIR *directory;

	if (!folder)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory to look for segments");
	directory = opendir(folder);
	lpl_short_name(name, folder);
	free(folder);
	if (!directory)
		return lpl_fail(report, LPL_ERR_IO, "%s: cannot be looked through for segments",
				name);
	while (error == LPL_OK && (errno = 0, entry = readdir(directory)) != NULL) {
		if (!is_segment(entry->d_name, base, &number) || (number > 0 && number <= old))
			continue;
		lpl_short_name(name, entry->d_name);
		error = lpl_fail(report, LPL_ERR_USAGE, "%s: is there already, and has the name of "
				 "a segment that would be written; choose another name for the "
				 "trace, or remove it", name);
	}
	if (error == LPL_OK && errno != 0)
		error = lpl_fail(report, LPL_ERR_IO, "%s: cannot be looked through for segments",
				 name);
	(void)closedir(directory);
	return error;
}
