/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The survey of `laplace report` against its definitions (docs/report.md), by brute force: for whom, in
 * which mode and for which pages tables were walked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "survey_log.h"

/* What the walk in line `i` was made for; NULL: nothing. */
static const struct line *cause(const struct log *log, size_t i)
{
	while (++i < log->lines) {
		if (log->line[i].is == REFERENCE && !log->line[i].walks)
			return &log->line[i];
	}
	return NULL;
}

struct counts {
	struct lpl_survey_walked by_kind[LPL_PAGE_KINDS], by_process[TASKS], by_page[PAGES];
	uint64_t walks, unknown;
};

static void count(const struct log *log, struct counts *counts)
{
	memset(counts, 0, sizeof(*counts));
	for (size_t i = 0; i < log->lines; i++) {
		const struct line *line = &log->line[i], *made_for;

		if (line->is != REFERENCE)
			continue;
		if (!line->walks) {
			counts->by_kind[line->kind].references[line->user]++;
			counts->by_process[line->process].references[line->user]++;
			continue;
		}
		made_for = cause(log, i);
		counts->walks++;
		if (!made_for) {
			counts->unknown++;
			continue;
		}
		counts->by_kind[made_for->kind].walks[made_for->user]++;
		counts->by_process[made_for->process].walks[made_for->user]++;
		counts->by_page[made_for->page].walks[made_for->user]++;
	}
}

static void add(struct lpl_survey_walked *sum, const struct lpl_survey_walked *part)
{
	for (int mode = 0; mode < 2; mode++) {
		sum->references[mode] += part->references[mode];
		sum->walks[mode] += part->walks[mode];
	}
}

/* Each that has a record, and all others. */
static void check_processes(const struct log *log, const struct counts *counts)
{
	const struct lpl_survey *survey = log->survey;
	struct lpl_survey_walked others = { .walks = { 0 } };
	bool is_recorded[TASKS] = { false };

	for (size_t i = 0; i < survey->processes->recorded; i++) {
		const struct lpl_survey_process *process = lpl_survey_process_at(survey, i);

		is_recorded[process->number] = true;
		assert_memory_equal(&process->walked, &counts->by_process[process->number],
				    sizeof(process->walked));
	}
	for (int i = 0; i < TASKS; i++) {
		if (!is_recorded[i])
			add(&others, &counts->by_process[i]);
	}
	assert_memory_equal(&survey->processes->sum->walked, &others, sizeof(others));
}

static bool is_of(const struct log *log, uint64_t page, const struct lpl_survey_file *file)
{
	const struct file *own = &log->file[page];

	return log->kind[page] == file->kind && own->device == file->device && own->inode == file->inode &&
	       own->generation == file->generation &&
	       (own->inode != KTR_NONE || strcmp(own->name, file->name) == 0);
}

static void check_files(const struct log *log, const struct counts *counts)
{
	const struct lpl_survey *survey = log->survey;

	for (size_t i = 0; i < survey->files->count; i++) {
		struct lpl_survey_walked sum = { .walks = { 0 } };

		for (uint64_t page = 1; page <= log->pages; page++) {
			if (is_of(log, page, &survey->files->file[i]))
				add(&sum, &counts->by_page[page]);
		}
		assert_memory_equal(survey->files->file[i].walks, sum.walks, sizeof(sum.walks));
	}
}

static void check(const struct log *log)
{
	static struct counts counts;
	const uint64_t *type = log->survey->references->by_type;

	count(log, &counts);
	assert_true(counts.walks > 0);
	assert_int_equal(type[LPL_WALK_READ] + type[LPL_WALK_WRITE], counts.walks);
	assert_memory_equal(log->survey->walks->by_kind, counts.by_kind, sizeof(counts.by_kind));
	assert_int_equal(log->survey->walks->unknown, counts.unknown);
	check_processes(log, &counts);
	check_files(log, &counts);
}

int main(void)
{
	return survey_tests(&(struct survey_checks){ check, check });
}
