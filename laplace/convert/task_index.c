/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading tasks.csv. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "importer.h"
#include "merge/output/open_files.h"
#include "merge/output/per_process.h"
#include "task_index.h"

static const char *no_cell(struct lpl_importer *importer, const char *column)
{
	return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "the column %s is missing or malformed",
				 column);
}

/* Each returns what follows the cell and its comma; NULL after a complaint. */

static const char *number_cell(struct lpl_importer *importer, const char *at, const char *column,
			       uint64_t *value)
{
	at = lpl_scan_decimal(at, value);
	return at && *at == ',' ? at + 1 : no_cell(importer, column);
}

static const char *id_cell(struct lpl_importer *importer, const char *at, const char *column,
			   uint32_t *id)
{
	uint64_t value;

	at = number_cell(importer, at, column, &value);
	if (at && value > UINT32_MAX)
		return no_cell(importer, column);
	*id = at ? (uint32_t)value : 0;
	return at;
}

/* It may be empty. */
static const char *optional_cell(struct lpl_importer *importer, const char *at, const char *column,
				 uint64_t *value, bool *empty)
{
	*empty = *at == ',';
	return *empty ? at + 1 : number_cell(importer, at, column, value);
}

/* Only the number in it counts, and the rest has to be as it is for that. */
static const char *directory_cell(struct lpl_importer *importer, const char *at, uint64_t *directory)
{
	const size_t length = strcspn(at, ",\n");
	const char *slash = memrchr(at, '/', length);
	char path[FILES_PATH];

	if (at[length] == ',' &&
	    lpl_scan_decimal(slash ? slash + 1 : at, directory) == at + length &&
	    strlen(lpl_task_file_directory(path, *directory)) == length &&
	    memcmp(path, at, length) == 0)
		return at + length + 1;
	return no_cell(importer, "directory");
}

static const char *end_cell(struct lpl_importer *importer, const char *at)
{
	static const char *const word[] = { "exit,", "left,", "lost,", "moved," };

	for (size_t i = 0; i < sizeof(word) / sizeof(word[0]); i++)
		if (strncmp(at, word[i], strlen(word[i])) == 0)
			return at + strlen(word[i]);
	return no_cell(importer, "end");
}

/* In quotes, of which one that is meant is two. */
static const char *name_cell(struct lpl_importer *importer, const char *at)
{
	if (*at++ == '"') {
		while (*at != '\n' && (*at != '"' || at[1] == '"'))
			at += *at == '"' ? 2 : 1;
		if (at[0] == '"' && at[1] == ',')
			return at + 2;
	}
	return no_cell(importer, "name");
}

/* Returns the newline; NULL after a complaint. */
static const char *read_row(struct lpl_importer *importer, const char *at, struct task_entry *entry)
{
	bool no_first = false, no_last = false, none;
	uint64_t unused;

	at = directory_cell(importer, at, &entry->source.directory);
	if (at)
		at = number_cell(importer, at, "file", &entry->source.name);
	if (at)
		at = id_cell(importer, at, "tid", &entry->tid);
	if (at)
		at = id_cell(importer, at, "tgid", &entry->tgid);
	if (at)
		at = optional_cell(importer, at, "parent", &unused, &none);
	if (at)
		at = optional_cell(importer, at, "first_cycle", &entry->first_cycle, &no_first);
	if (at)
		at = optional_cell(importer, at, "last_cycle", &entry->last_cycle, &no_last);
	if (at && no_first != no_last)
		return no_cell(importer, "last_cycle");
	entry->empty = no_first;
	if (at)
		at = number_cell(importer, at, "references", &entry->references);
	if (at)
		at = end_cell(importer, at);
	if (at)
		at = optional_cell(importer, at, "exit_code", &unused, &none);
	if (at)
		at = name_cell(importer, at);
	if (at)
		at = number_cell(importer, at, "events", &entry->events);
	if (!at)
		return NULL;
	if ((at[0] != TASKS_PLAIN && at[0] != TASKS_DIFFERENCES) || at[1] != '\n')
		return no_cell(importer, "version");
	entry->differences = at[0] == TASKS_DIFFERENCES;
	return at + 1;
}

/* Returns the newline; NULL after a complaint. */
static const char *read_heading(struct lpl_importer *importer, const char *at)
{
	static const char first[] = TASKS_COLUMNS "\n";

	if (at && strncmp(at, TASKS_HEADING, strlen(TASKS_HEADING)) == 0)
		return at + strlen(TASKS_HEADING) - 1;
	if (at && strncmp(at, first, strlen(first)) == 0)
		return lpl_import_refuse(importer, LPL_ERR_FORMAT, "this directory is of version "
					 "1, with lines that have no clock but the cycle: merge its "
					 "trace again");
	return lpl_import_refuse(importer, LPL_ERR_FORMAT, "the first line is not " TASKS_COLUMNS
				 ",events,version");
}

static bool read_rows(struct lpl_importer *importer, struct task_files *files,
		      struct task_source *source, struct task_index *index)
{
	const char *line;

	for (;;) {
		struct task_entry entry = { .source = { .line = 1 } };

		if (!lpl_task_line(importer, files, source, &line))
			return false;
		if (!line)
			break;
		line = read_row(importer, line, &entry);
		if (!line)
			return false;
		lpl_task_line_read(source, line);
		if (!lpl_reach(index->entry, index->room, index->count))
			return lpl_import_no_memory(importer);
		index->entry[index->count++] = entry;
	}
	/* the idle task is reported last, whatever else there is */
	if (!index->count || index->entry[index->count - 1].source.name != 0)
		return lpl_import_refuse(importer, LPL_ERR_TRUNCATED, "the line of task 0, which is "
					 "the last one, is missing: was the file cut off?");
	return true;
}

bool lpl_task_index_read(struct lpl_importer *importer, struct task_files *files,
			 struct task_index *index)
{
	struct task_source source = { .index = true, .line = 1 };
	const char *line;
	bool good = lpl_task_line(importer, files, &source, &line);

	line = good ? read_heading(importer, line) : NULL;
	if (line)
		lpl_task_line_read(&source, line);
	good = line && read_rows(importer, files, &source, index);
	lpl_task_source_close(&source);
	files->shown = NULL;
	for (size_t i = 0; i < index->count && good; i++)
		if (index->entry[i].empty)
			good = lpl_task_source_is_empty(importer, files, &index->entry[i].source);
	return good;
}

void lpl_task_index_free(struct task_index *index)
{
	free(index->entry);
	*index = (struct task_index){ 0 };
}
