/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tables of page walks: for which program, mode, kind of page and file they were made, and of which page tables. */
#include <string.h>

#include "report.h"

static uint64_t sum(const uint64_t by_mode[2])
{
	return by_mode[0] + by_mode[1];
}

static uint64_t all_walks(const struct surveyed_trace *trace)
{
	const uint64_t *type = trace->survey->references->by_type;

	return type[LPL_WALK_READ] + type[LPL_WALK_WRITE];
}

static struct cell by_thousand(uint64_t walks, uint64_t references)
{
	return cell_if(references > 0, cell_real(1000 * share_of(walks, references), 1));
}

static void add_walked(struct table *table, const struct surveyed_trace *trace, struct entry name,
		       const struct lpl_survey_walked *walked)
{
	const uint64_t *walks = walked->walks, *references = walked->references;

	TABLE_ROW(table, name,
		ALL("user", "in user mode", "user mode", 12, cell_number(walks[1])),
		NO_JSON("for 1000", "for 1000", 9, by_thousand(walks[1], references[1])),
		JSON("user_references", cell_number(references[1])),
		ALL("kernel", "in the kernel's", "kernel's", 12, cell_number(walks[0])),
		NO_JSON("for 1000", "for 1000", 9, by_thousand(walks[0], references[0])),
		JSON("kernel_references", cell_number(references[0])),
		NO_JSON("of all", "of all", 7, cell_share(sum(walks), all_walks(trace))));
}

static void add_program(struct table *table, const struct surveyed_trace *trace, const char *name,
			const struct lpl_survey_walked *walked)
{
	add_walked(table, trace, ALL("program", "program", "program", -22, CELL(CUT, .text = name)), walked);
}

void trace_walks_by_program(struct table *table, const struct surveyed_trace *trace)
{
	const struct lpl_survey_processes *processes = trace->survey->processes;
	const uint64_t shown = table->form == TABLE_JSON ? trace->programs :
							   trace_shown(trace, trace->programs);

	table_begin(table);
	add_program(table, trace, "", &processes->sum->walked);
	for (uint64_t i = 0; i < shown; i++)
		add_program(table, trace, trace->program[i].name, &trace->program[i].walked);
	if (processes->others)
		add_program(table, trace, "(others)", &processes->sum->walked);
	table_end(table, trace->programs - shown);
}

static void add_kind(struct table *table, const struct surveyed_trace *trace, unsigned int kind)
{
	add_walked(table, trace, ALL("kind", "to pages", "to pages", -22, cell_text(trace_kind_name(kind))),
		   &trace->survey->walks->by_kind[kind]);
}

void trace_walks_by_kind(struct table *table, const struct surveyed_trace *trace)
{
	table_begin(table);
	add_kind(table, trace, 0);
	for (unsigned int kind = 0; kind < LPL_PAGE_KINDS; kind++) {
		if (sum(trace->survey->walks->by_kind[kind].references))
			add_kind(table, trace, kind);
	}
	table_end(table, 0);
}

static void add_table(struct table *table, const struct lpl_survey_table *of, unsigned int number)
{
	static const char *const name[LPL_TABLE_MAX + 1] = { "not known", "1", "2", "3", "4", "5" };

	TABLE_ROW(table,
		ALL("table", "of table", "of table", -10, cell_text(name[number])),
		ALL("fetches", "read for fetches", "for fetches", 12, cell_number(of->reads[LPL_PURPOSE_FETCH])),
		ALL("reads", "reads", "reads", 12, cell_number(of->reads[LPL_PURPOSE_READ])),
		ALL("writes", "writes", "writes", 12, cell_number(of->reads[LPL_PURPOSE_WRITE])),
		ALL("others", "others", "others", 8, cell_number(of->reads[LPL_PURPOSE_UNKNOWN])),
		ALL("large", "large pages", "large pages", 12, cell_number(of->large)),
		ALL("accessed", "accessed bits set", "accessed", 10, cell_number(of->accessed)),
		ALL("dirty", "dirty bits set", "dirty", 8, cell_number(of->dirty)));
}

/* The first one that is walked comes first. */
void trace_walks_by_table(struct table *table, const struct surveyed_trace *trace)
{
	static const struct lpl_survey_table none;
	const struct lpl_survey_table *of = trace->survey->walks->table;

	table_begin(table);
	add_table(table, &none, 0);
	for (unsigned int number = LPL_TABLE_MAX + 1; number-- > 0;)
		if (memcmp(&of[number], &none, sizeof(none)) != 0)
			add_table(table, &of[number], number);
	table_end(table, 0);
}

static void add_file(struct table *table, const struct surveyed_trace *trace,
		     const struct lpl_survey_file *file)
{
	const uint64_t walks = sum(file->walks);
	char name[PLACE_SIZE];

	TABLE_ROW(table,
		ALL("name", "to the file", "to the file", -47, CELL(PATH, .text = trace_file_name(file, name))),
		JSON("device", cell_id(file->device)), JSON("inode", cell_id(file->inode)),
		JSON("generation", cell_id(file->generation)),
		JSON("user", cell_number(file->walks[1])), JSON("kernel", cell_number(file->walks[0])),
		NO_JSON("walks", "walks", 12, cell_number(walks)),
		JSON("references", cell_number(file->references)),
		NO_JSON("for 1000", "for 1000", 9, by_thousand(walks, file->references)),
		NO_JSON("of all", "of all", 7, cell_share(walks, all_walks(trace))));
}

void trace_walks_by_file(struct table *table, const struct surveyed_trace *trace)
{
	const uint64_t shown = table->form == TABLE_JSON ? trace->walked_files :
							   trace_shown(trace, trace->walked_files);

	table_begin(table);
	add_file(table, trace, &(struct lpl_survey_file){ .inode = 0 });
	for (uint64_t i = 0; i < shown; i++)
		add_file(table, trace, trace->walked_file[i]);
	table_end(table, trace->walked_files - shown);
}
