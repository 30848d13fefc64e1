/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A report as text of at most 100 columns, of printable ASCII: for a terminal and a pipe.
 */
#include <inttypes.h>
#include <string.h>

#include <laplace/trace.h>

#include "cli/say.h"
#include "report.h"

static void print_meta(const struct surveyed_trace *trace, FILE *out)
{
	static const char *const keys[] = {
		LPL_META_TITLE, LPL_META_GUEST, LPL_META_WORKLOAD, LPL_META_PRODUCER,
		LPL_META_REDUCTION, LPL_META_EXACT, LPL_META_SCHEDULE
	};
	char text[160];

	lpl_text_escape(text, 80, trace->path, strlen(trace->path));
	fprintf(out, "%-14s %s\n", "trace", text);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *value = lpl_meta_get(trace->meta, keys[i]);

		if (value)
			fprintf(out, "%-14s %s\n", keys[i],
				lpl_text_escape(text, 84, value, strlen(value)));
	}
}

static void print_clock(FILE *out, const char *name, uint64_t first, uint64_t last)
{
	fprintf(out, "%-14s %" PRIu64 " (%" PRIu64 " to %" PRIu64 ")\n", name, last - first,
		first, last);
}

static void print_trace(const struct surveyed_trace *trace, FILE *out)
{
	const struct lpl_survey *survey = trace->survey;
	const struct lpl_survey_clocks *first = &survey->time->first, *last = &survey->time->last;
	const uint64_t *type = survey->references->by_type;
	uint64_t all = survey->references->all;
	char percent[CLI_PERCENT_SIZE];

	print_meta(trace, out);
	fprintf(out, "%-14s %" PRIu64, "references", all);
	if (trace->references_made)
		fprintf(out, " kept of %" PRIu64 " (%s)", trace->references_made,
			cli_percent(percent, 3, all, trace->references_made));
	fprintf(out, "\n%-14s reads %" PRIu64 ", writes %" PRIu64 ", fetches %" PRIu64, "",
		type[LPL_READ], type[LPL_WRITE], type[LPL_FETCH]);
	if (type[LPL_WALK_READ] + type[LPL_WALK_WRITE])
		fprintf(out, ", walks %" PRIu64, type[LPL_WALK_READ] + type[LPL_WALK_WRITE]);
	fprintf(out, "; in user mode %" PRIu64 "\n", survey->references->user);
	print_clock(out, "instructions", first->instr, last->instr);
	print_clock(out, "cycles", first->cycle, last->cycle);
	if (trace->kind.cycles_a_second)
		fprintf(out, "%-14s %.3f s of the guest's (%" PRIu64 " cycles a second), from %.3f s "
			"after it was switched on\n", "time",
			(double)(last->cycle - first->cycle) / (double)trace->kind.cycles_a_second,
			trace->kind.cycles_a_second,
			(double)first->cycle / (double)trace->kind.cycles_a_second);
	fprintf(out, "%-14s %s\n", "addresses", report_addresses(trace));
	fprintf(out, "%-14s %" PRIu64 "\n", "bytes", trace->bytes);
	fprintf(out, "%-14s %" PRIu64 " tasks, %" PRIu64 " address spaces, %" PRIu64 " events, "
		"%" PRIu64 " switches\n", "guest", survey->merge->tasks, survey->merge->spaces,
		survey->events->counts.all, survey->tasks->switches);
}

/* Filled to 96 columns; a word that is longer is broken. */
static void print_note(void *context, const char *text)
{
	FILE *out = context;
	size_t column = 3;

	fputs("  *", out);
	while (*text) {
		size_t length = strcspn(text, " ");

		length = length < 92 ? length : 92;
		if (column + 1 + length > 96 && column > 3) {
			fputs("\n   ", out);
			column = 3;
		}
		fprintf(out, " %.*s", (int)length, text);
		column += 1 + length;
		text += length;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

int report_text(const struct surveyed_trace *trace, FILE *out)
{
	print_trace(trace, out);
	fputs("\nNOTES\n", out);
	report_notes(trace, print_note, out);
	if (trace->survey->references->all == 0 && trace->survey->events->counts.all == 0) {
		print_note(out, "The trace holds no reference and no event.");
		return CLI_DONE;
	}
	report_parts(trace, TABLE_TEXT, out);
	return CLI_DONE;
}
