/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A survey's files.  What has an inode is known by device, inode, generation and kind; what has
 * none, a device's memory say, by its name instead of the inode.
 *
 * The map's key is the first three of them, with a number made of the name where that counts.
 * The few files that differ in the rest are a list.
 */
#include "survey_files.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/array.h"

static bool has_inode(const struct lpl_merge_page *page)
{
	return page->inode != KTR_NONE;
}

static struct lpl_key key_of(const struct lpl_merge_page *page)
{
	uint64_t last = page->generation;

	if (!has_inode(page) && page->name_length > 0)
		last ^= XXH3_64bits(page->name, page->name_length);
	return LPL_KEY(page->device, page->inode, last);
}

static bool is_same(const struct lpl_survey_file *file, const struct lpl_merge_page *page,
		    const char *name)
{
	return file->generation == page->generation && file->kind == page->kind &&
	       (has_inode(page) || (file->name && strcmp(file->name, name) == 0));
}

/* A new file, before which `before` has the same key.  Its index + 1; 0: no memory. */
static uint32_t add(struct survey_files *files, const struct lpl_merge_page *page,
		    uint32_t before)
{
	size_t index = files->result.count;

	if (!lpl_reach(files->result.file, files->room, index) ||
	    !lpl_reach(files->before, files->before_room, index))
		return 0;
	files->before[index] = before;
	files->result.file[index] = (struct lpl_survey_file){
		.device = page->device, .inode = page->inode, .generation = page->generation,
		.kind = page->kind
	};
	return (uint32_t)++files->result.count;
}

uint32_t lpl_survey_files_find(struct survey_files *files, const struct lpl_merge_page *page)
{
	char name[4 * KTR_TEXT + 1];
	struct lpl_survey_file *file;
	struct lpl_key key = key_of(page);
	uint32_t last = (uint32_t)lpl_map_get(&files->last, key), found;

	lpl_text_escape(name, sizeof(name), page->name_length ? page->name : "",
			page->name_length);
	for (found = last; found != 0; found = files->before[found - 1]) {
		if (is_same(&files->result.file[found - 1], page, name))
			break;
	}
	if (found == 0) {
		found = add(files, page, last);
		if (found == 0 || !lpl_map_put(&files->last, key, found))
			return 0;
	}
	file = &files->result.file[found - 1];
	/* a name may be reported later than the file's first page */
	if (!file->name && name[0]) {
		file->name = strdup(name);
		if (!file->name)
			return 0;
	}
	return found;
}

void lpl_survey_files_init(struct survey_files *files)
{
	*files = (struct survey_files){ .room = 0 };
	lpl_map_init(&files->last, 3);
}

void lpl_survey_files_free(struct survey_files *files)
{
	for (size_t i = 0; i < files->result.count; i++)
		free(files->result.file[i].name);
	free(files->result.file);
	free(files->before);
	lpl_map_free(&files->last);
}
