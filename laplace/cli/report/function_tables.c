/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of functions, by the faults that they take in memories of LRU. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/function_faults.h"
#include "report.h"

enum { NAME = 600, TITLE = 40 };

/* A row; without a share, the titles. */
static void add_function(struct table *table, const struct function_faults *faults,
			 const struct function_share *share)
{
	const struct function none = { .file = "", .name = "all", .mode = CODE_NONE };
	const struct function *function = share->function ? share->function : &none;
	struct entry entry[6 + FUNCTION_FAULTS_SIZES];
	char title[FUNCTION_FAULTS_SIZES][TITLE], json[FUNCTION_FAULTS_SIZES][TITLE];
	size_t entries = 0;

	entry[entries++] =
		ALL("function", " function", "function", -24, CELL(CUT, .text = function->name));
	entry[entries++] = ALL("file", " file", "file", -15, CELL(PATH, .text = function->file));
	entry[entries++] = NO_TEXT("mode", " mode", cell_text(code_mode_name(function->mode)));
	entry[entries++] =
		ALL("references", "references", "refs", 11, cell_number(share->references));
	entry[entries++] = ALL("pages", "pages", "pages", 6, cell_number(share->pages));
	for (size_t i = 0; i < faults->results; i++) {
		const uint64_t count = share->function ?
			lpl_simulator_charged(faults->simulator, 0, i, function->number) :
			faults->result[i].faults;

		snprintf(title[i], TITLE, "%" PRIu64, faults->result[i].size);
		snprintf(json[i], TITLE, "faults_in_%" PRIu64, faults->result[i].size);
		entry[entries++] = ALL(json[i], title[i], title[i], 7, cell_number(count));
	}
	entry[entries++] = ALL("cold_faults", "cold", "cold", 6, cell_number(share->cold));
	table_row(table, entry, entries);
}

void trace_functions(struct table *table, const struct surveyed_trace *trace)
{
	const struct function_faults *faults = trace->functions;
	const uint64_t shown =
		table->form == TABLE_JSON ? faults->count : trace_shown(trace, faults->count);

	table_begin(table);
	add_function(table, faults, &faults->share[faults->count]);
	for (uint64_t i = 0; i < shown; i++)
		add_function(table, faults, &faults->share[i]);
	if (table->form != TABLE_JSON)
		add_function(table, faults, &faults->share[faults->count]);
	table_end(table, faults->count - shown);
}
