/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A collection as people read it: a line of progress, or a panel; see collection.h. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "collection.h"
#include "say.h"

/* ---- a line ---- */

#define PARTS 12
#define PART_SIZE 64

/* The parts of a line, in order; the rank of what matters most is 0. */
struct parts {
	struct {
		char text[PART_SIZE];
		int rank;
	} part[PARTS];
	size_t count;
};

static void add(struct parts *parts, int rank, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void add(struct parts *parts, int rank, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(parts->part[parts->count].text, PART_SIZE, format, args);
	va_end(args);
	parts->part[parts->count++].rank = rank;
}

static size_t width(const struct parts *parts)
{
	size_t columns = 0;

	for (size_t i = 0; i < parts->count; i++)
		columns += strlen(parts->part[i].text) + (i ? 2 : 0);
	return columns;
}

static void remove_least(struct parts *parts)
{
	size_t least = 0;

	for (size_t i = 1; i < parts->count; i++)
		if (parts->part[i].rank > parts->part[least].rank)
			least = i;
	memmove(&parts->part[least], &parts->part[least + 1],
		(--parts->count - least) * sizeof(parts->part[0]));
}

/* What is out of the ordinary, or how far it is. */
static void add_state(struct parts *parts, const struct cli_collection *c, uint64_t expected)
{
	char left[CLI_HUMAN_SIZE];

	if (c->closing || c->ended) {	/* a slow disk takes its time */
		add(parts, 1, c->ended ? "ended" : "closing the trace");
	} else if (c->waiting_for_room) {
		add(parts, 0, "waits for room on the disk");
	} else if (expected && c->instructions && c->instructions < expected) {
		double whole = (double)expected / (double)c->instructions;
		double seconds = (double)c->elapsed_ns / 1e9 * (whole - 1);

		add(parts, 1, "%.0f%%, %s left", 100 / whole,
		    cli_duration(left, (uint64_t)(seconds + 0.5)));
	}
}

char *cli_collection_line(char text[CLI_COLLECTION_LINE], const struct cli_collection *c,
			  uint64_t expected, int columns)
{
	struct parts parts = { .count = 0 };
	char number[CLI_HUMAN_SIZE], left[CLI_HUMAN_SIZE], kept[CLI_PERCENT_SIZE];
	size_t used = 0;

	add(&parts, 0, "%s instructions", cli_human(number, c->instructions));
	add(&parts, 2, "%.1f MIPS", (double)c->rates.instructions / 1e6);
	add(&parts, 6, "%s references", cli_human(number, c->references));
	add(&parts, 7, "%s kept", cli_percent(kept, 3, c->kept, c->references));
	add(&parts, 3, "%sB", cli_human(number, c->bytes));
	add(&parts, 4, "%.1f%% stalled", 100 * c->rates.waiting);
	if (c->has_disk && c->disk_seconds)
		add(&parts, 5, "%sB free, for %s", cli_human(number, c->disk_free),
		    cli_duration(left, c->disk_seconds));
	else if (c->has_disk)
		add(&parts, 5, "%sB free", cli_human(number, c->disk_free));
	if (c->has_mark)
		add(&parts, 8, "mark '%.32s'", c->mark);
	if (c->stopped && !c->closing && !c->ended)
		add(&parts, 1, "tracing is off");
	add_state(&parts, c, expected);

	while (parts.count > 1 && width(&parts) > (size_t)(columns > 0 ? columns : 0))
		remove_least(&parts);
	text[0] = '\0';
	for (size_t i = 0; i < parts.count && used < CLI_COLLECTION_LINE; i++)
		used += (size_t)snprintf(text + used, CLI_COLLECTION_LINE - used, "%s%s",
					 i ? "  " : "", parts.part[i].text);
	return text;
}

/* ---- a panel ---- */

struct panel {
	FILE *out;
	int columns;
	const char *newline;
};

static void row(const struct panel *panel, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void row(const struct panel *panel, const char *name, const char *format, ...)
{
	char line[CLI_COLLECTION_LINE];
	int used = snprintf(line, sizeof(line), "%-14s", name);
	va_list args;

	va_start(args, format);
	vsnprintf(line + used, sizeof(line) - (size_t)used, format, args);
	va_end(args);
	fprintf(panel->out, "%.*s%s", panel->columns, line, panel->newline);
}

/* A count, how fast it grows, and did so in all. */
static void counter(const struct panel *panel, const char *name, uint64_t count, uint64_t now,
		    uint64_t mean, const char *unit)
{
	char number[CLI_HUMAN_SIZE], fast[CLI_HUMAN_SIZE], in_all[CLI_HUMAN_SIZE];

	row(panel, name, "%8s%-2s  %8s%s/s now  %8s%s/s in all", cli_human(number, count), unit,
	    cli_human(fast, now), unit, cli_human(in_all, mean), unit);
}

static const char *state(const struct cli_collection *c)
{
	return c->ended ? "ended" : c->closing ? "closing the trace" :
	       c->waiting_for_room ? "waits for room on the disk" :
	       c->stopped ? "running, tracing is off" : "running";
}

void cli_collection_panel(FILE *out, const struct cli_collection *c, int columns,
			  const char *newline)
{
	const struct panel panel = { out, columns, newline };
	const uint64_t age = cli_collection_age(c);
	char number[CLI_HUMAN_SIZE], left[CLI_HUMAN_SIZE], kept[CLI_PERCENT_SIZE];

	row(&panel, "trace", "%s", c->trace);
	if (cli_collection_is_silent(c))
		row(&panel, "state", "silent for %s; before that, %s for %s", cli_duration(left, age), state(c),
		    cli_duration(number, c->elapsed_ns / 1000000000));
	else
		row(&panel, "state", "%s for %s%s%s%s", state(c),
		    cli_duration(number, c->elapsed_ns / 1000000000), age > 1 ? ", reported " : "",
		    age > 1 ? cli_duration(left, age) : "", age > 1 ? " ago" : "");
	counter(&panel, "instructions", c->instructions, c->rates.instructions,
		c->mean.instructions, "");
	counter(&panel, "references", c->references, c->rates.references, c->mean.references, "");
	counter(&panel, "file", c->bytes, c->rates.bytes, c->mean.bytes, "B");
	row(&panel, "kept", "%8s    %s of the references", cli_human(number, c->kept),
	    cli_percent(kept, 3, c->kept, c->references));
	row(&panel, "events", "%8s", cli_human(number, c->events));
	row(&panel, "stalled", "%7.1f%%    now  %7.1f%% in all", 100 * c->rates.waiting,
	    100 * c->mean.waiting);
	if (c->has_disk)
		row(&panel, "disk", "%8sB   free%s%s", cli_human(number, c->disk_free),
		    c->disk_seconds ? ", at this rate for " : "",
		    c->disk_seconds ? cli_duration(left, c->disk_seconds) : "");
	row(&panel, "memory", "%8sB", cli_human(number, c->memory));
	if (c->segment)
		row(&panel, "segment", "%8" PRIu64, c->segment);
	if (c->has_mark)
		row(&panel, "mark", "'%s' at instruction %" PRIu64, c->mark, c->mark_instr);
	if (c->has_checkpoint)
		row(&panel, "checkpoint", "at instruction %" PRIu64 ", %s ago",
		    c->checkpoint_instr,
		    cli_duration(left, (c->elapsed_ns - c->checkpoint_ns) / 1000000000));
	if (c->checkpoints_failed)
		row(&panel, "not made", "%8" PRIu64 " checkpoint%s", c->checkpoints_failed,
		    c->checkpoints_failed == 1 ? "" : "s");
}

/* ---- the end ---- */

void cli_collection_end(FILE *out, const struct cli_collection *c)
{
	struct cli_collection whole = *c;	/* what it was in all, and nothing of now */
	char line[CLI_COLLECTION_LINE], duration[CLI_HUMAN_SIZE];
	const char *how = strcmp(c->end, "clean") == 0 ? "ended, all is well" :
			  strcmp(c->end, "fail") == 0 ? "failed in the guest" :
			  strcmp(c->end, "quit") == 0 ? "was ended before its guest was done" :
							"failed";

	whole.rates = c->mean;
	whole.ended = whole.closing = whole.stopped = whole.has_disk = false;
	fprintf(out, "%s: %s%s%s, after %s: %s\n", c->trace, how, c->message[0] ? ": " : "",
		c->message, cli_duration(duration, c->elapsed_ns / 1000000000),
		cli_collection_line(line, &whole, 0, CLI_COLLECTION_LINE));
}
