/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A survey's files: those that pages are of, by device, inode and generation (or, of what has
 * no inode, by name), and how a page is called.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "survey.h"

/* Inode numbers are guest input, but a guest that makes its own files collide only waits. */
static size_t hash(const struct lpl_merge_page *page)
{
	uint64_t value = page->inode;

	value = (value ^ page->device << 32 ^ page->generation << 16) *
		UINT64_C(0x9e3779b97f4a7c15);
	for (uint32_t i = 0; page->inode == KTR_NONE && i < page->name_length; i++)
		value = (value ^ (unsigned char)page->name[i]) * UINT64_C(0x9e3779b97f4a7c15);
	return (size_t)(value >> 20);
}

static bool same(const struct survey_file *file, const struct lpl_merge_page *page,
		 const char *name)
{
	return file->device == page->device && file->inode == page->inode &&
	       file->generation == page->generation && file->kind == page->kind &&
	       (page->inode != KTR_NONE || (file->name && strcmp(file->name, name) == 0));
}

static bool grow(struct survey *survey)
{
	size_t slots = survey->file_slots ? 2 * survey->file_slots : 64;
	uint32_t *index = calloc(slots, sizeof(*index));
	struct survey_file *file = realloc(survey->file, slots / 2 * sizeof(*file));

	if (file)
		survey->file = file;
	if (!index || !file) {
		free(index);
		return false;
	}
	free(survey->file_index);
	survey->file_index = index;
	survey->file_slots = slots;
	for (size_t i = 0; i < survey->files; i++) {
		size_t at = survey->file[i].hash & (slots - 1);

		while (index[at])
			at = (at + 1) & (slots - 1);
		index[at] = (uint32_t)i + 1;
	}
	return true;
}

uint32_t survey_file_of(struct survey *survey, const struct lpl_merge_page *page)
{
	char name[4 * KTR_TEXT + 1];
	size_t key = hash(page), at;
	struct survey_file *file;

	if (2 * survey->files >= survey->file_slots && !grow(survey))
		return 0;
	lpl_text_escape(name, sizeof(name), page->name_length ? page->name : "",
			page->name_length);
	for (at = key & (survey->file_slots - 1); survey->file_index[at];
	     at = (at + 1) & (survey->file_slots - 1)) {
		if (same(&survey->file[survey->file_index[at] - 1], page, name))
			break;
	}
	if (!survey->file_index[at]) {
		survey->file[survey->files] = (struct survey_file){
			.device = page->device, .inode = page->inode,
			.generation = page->generation, .kind = page->kind, .hash = key
		};
		survey->file_index[at] = (uint32_t)++survey->files;
	}
	file = &survey->file[survey->file_index[at] - 1];
	/* a name may be told later than the file's first page */
	if (!file->name && name[0]) {
		file->name = strdup(name);
		if (!file->name)
			return 0;
	}
	return survey->file_index[at];
}

void survey_files_free(struct survey *survey)
{
	for (size_t i = 0; i < survey->files; i++)
		free(survey->file[i].name);
	free(survey->file);
	free(survey->file_index);
}

char *survey_file_text(const struct survey_file *file, char *buf)
{
	if (file->name)
		snprintf(buf, SURVEY_PLACE_TEXT, "%s", file->name);
	else if (file->inode & KTR_INODE_SYSV)
		snprintf(buf, SURVEY_PLACE_TEXT, "segment %" PRIu64,
			 file->inode & ~KTR_INODE_SYSV);
	else
		snprintf(buf, SURVEY_PLACE_TEXT, "inode %" PRIu64 " of device %" PRIu64 ":%" PRIu64,
			 file->inode, file->device >> 20, file->device & 0xfffff);
	return buf;
}

char *survey_place_text(const struct survey *survey, const struct survey_place *place, char *buf)
{
	const struct survey_task *task = survey_task(survey, place->task);
	size_t length;

	if (place->file != 0) {
		survey_file_text(&survey->file[place->file - 1], buf);
		length = strlen(buf);
		snprintf(buf + length, SURVEY_PLACE_TEXT - length, ", page %" PRIu64,
			 place->offset);
	} else if (place->kind == LPL_PAGE_PHYSICAL) {
		snprintf(buf, SURVEY_PLACE_TEXT, "physical %" PRIx64, place->offset << 12);
	} else if (place->kind == LPL_PAGE_KERNEL || !task) {
		snprintf(buf, SURVEY_PLACE_TEXT, "%" PRIx64, place->offset << 12);
	} else {
		snprintf(buf, SURVEY_PLACE_TEXT, "%" PRIx64 " of %s (%" PRIu32 ")",
			 place->offset << 12, task->name, task->tid);
	}
	return buf;
}
