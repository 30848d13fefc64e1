/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An import into a trace file.
 *
 * A trace begins with its header, which says what was dropped before.  In a format with
 * lengths, if it was not given, the first reference decides: one to a whole page was reduced.  So
 * the events before it are kept in memory (not many: they are those that a kernel sends before
 * it lets a program run).  A reduced reference after others that were whole refutes the header,
 * and ends the import.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/map.h"
#include "base/try.h"
#include "importer.h"

#define EARLY_EVENTS_MAX 65536		/* 26 MB */

struct trace {
	struct lpl_sink sink;		/* where the importer sends everything */
	struct lpl_importer *importer;
	const char *path;
	struct lpl_writer *writer;	/* NULL until the header is known */
	bool guessed;			/* that nothing was dropped, by the first reference */
	struct lpl_event *early;	/* events before that */
	size_t early_count, early_room;
	struct lpl_totals totals;	/* of what was imported */
	struct lpl_map spaces;		/* those seen; each has value 1 */
	uint64_t space;			/* of the last reference */
};

/* ---- how many there were ---- */

static enum lpl_error count_refs(struct trace *trace, const struct lpl_ref *refs, size_t count,
				 struct lpl_report *report)
{
	struct lpl_totals *totals = &trace->totals;

	for (size_t i = 0; i < count; i++) {
		const struct lpl_ref *ref = &refs[i];

		totals->refs[ref->type]++;
		totals->user_refs += (ref->flags & LPL_USER) != 0;
		/* spaces change seldom */
		if (trace->spaces.count && ref->space == trace->space)
			continue;
		if (!lpl_map_put(&trace->spaces, LPL_KEY(ref->space), 1))
			return lpl_fail(report, LPL_ERR_MEMORY, "no memory for %zu address spaces",
					trace->spaces.count);
		trace->space = ref->space;
	}
	totals->total += count;
	return LPL_OK;
}

/*
 * How many references there were before reduction, up to number `last`: those that were imported,
 * when none were dropped; else as many as they are numbered, if they are.
 */
static void pass_totals(struct trace *trace, uint64_t last)
{
	const struct lpl_importer *importer = trace->importer;
	struct lpl_totals totals = { .events = trace->totals.events };

	if (strcmp(importer->result.reduction, "none") == 0)
		totals = trace->totals;
	else if (importer->options.format->traits & LPL_WITH_REF)
		totals.total = last > trace->totals.total ? last : trace->totals.total;
	lpl_writer_totals(trace->writer, &totals);
}

/* ---- the header ---- */

static enum lpl_error open_writer(struct trace *trace, const char *reduction,
				  struct lpl_report *report)
{
	const struct lpl_import_options *options = &trace->importer->options;
	struct lpl_meta *meta;
	enum lpl_error error;

	LPL_TRY(lpl_import_describe(trace->importer, reduction, report));
	meta = lpl_import_meta(trace->importer, report);
	if (!meta)
		return report->error;
	error = lpl_writer_open(&trace->writer, trace->path, meta, &options->writer,
				options->overwrite, report);
	lpl_meta_free(meta);
	return error;
}

static enum lpl_error send_event(struct trace *trace, const struct lpl_event *event,
				 struct lpl_report *report)
{
	struct lpl_sink *next = lpl_writer_sink(trace->writer);

	trace->totals.events++;
	pass_totals(trace, event->ref);
	return next->event(next, event, report);
}

/* Whether it was reduced is known: open the trace, and send what was held back until then. */
static enum lpl_error begin(struct trace *trace, bool reduced, struct lpl_report *report)
{
	enum lpl_error error = open_writer(trace, reduced ? "unknown" : "none", report);

	trace->guessed = !reduced;
	for (size_t i = 0; i < trace->early_count && !error; i++)
		error = send_event(trace, &trace->early[i], report);
	free(trace->early);
	trace->early = NULL;
	trace->early_count = trace->early_room = 0;
	return error;
}

static bool is_reduced(const struct lpl_ref *ref)
{
	return (ref->flags & (LPL_PAGED | LPL_SYNTHETIC)) != 0;
}

static enum lpl_error check_guess(const struct trace *trace, const struct lpl_ref *refs,
				  size_t count, struct lpl_report *report)
{
	for (size_t i = 0; i < count; i++) {
		if (is_reduced(&refs[i]))
			return lpl_fail(report, LPL_ERR_USAGE, "%s: reference %" PRIu64 " is to a "
					"whole page, others before it are not: what was it "
					"reduced by?  Say so with --reduction (unknown, "
					"if it is not known)",
					trace->importer->options.input, refs[i].ref);
	}
	return LPL_OK;
}

/* ---- the stream ---- */

static enum lpl_error trace_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				 struct lpl_report *report)
{
	struct trace *trace = (struct trace *)sink;
	struct lpl_sink *next;

	if (!trace->writer)
		LPL_TRY(begin(trace, is_reduced(&refs[0]), report));
	if (trace->guessed)
		LPL_TRY(check_guess(trace, refs, count, report));
	LPL_TRY(count_refs(trace, refs, count, report));
	pass_totals(trace, refs[count - 1].ref);
	next = lpl_writer_sink(trace->writer);
	return next->refs(next, refs, count, report);
}

static enum lpl_error trace_event(struct lpl_sink *sink, const struct lpl_event *event,
				  struct lpl_report *report)
{
	struct trace *trace = (struct trace *)sink;

	if (!trace->writer && trace->early_count < EARLY_EVENTS_MAX) {
		if (!lpl_reach(trace->early, trace->early_room, trace->early_count))
			return lpl_fail(report, LPL_ERR_MEMORY, "no memory for %zu events",
					trace->early_count + 1);
		trace->early[trace->early_count++] = *event;
		return LPL_OK;
	}
	if (!trace->writer)
		LPL_TRY(begin(trace, false, report));
	return send_event(trace, event, report);
}

static enum lpl_error trace_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct trace *trace = (struct trace *)sink;
	struct lpl_sink *next;

	if (!trace->writer)
		LPL_TRY(begin(trace, false, report));
	next = lpl_writer_sink(trace->writer);
	return next->finish(next, report);
}

/* ---- the file ---- */

static enum lpl_error close_writer(struct trace *trace, struct lpl_report *report)
{
	struct lpl_import_result *result = &trace->importer->result;
	struct stat about;
	enum lpl_error error;

	/* of a pipe, without the index that is still to come */
	result->trace_bytes = lpl_writer_bytes(trace->writer);
	error = lpl_writer_close(trace->writer, report);
	trace->writer = NULL;
	if (!error && stat(trace->path, &about) == 0 && S_ISREG(about.st_mode))
		result->trace_bytes = (uint64_t)about.st_size;
	return error;
}

/* When the input is wrong, what precedes the error is left where it can be looked at. */
static void leave_part(struct trace *trace, enum lpl_error error)
{
	trace->importer->result.part = lpl_error_status(error) == 3 && trace->writer &&
				       !lpl_writer_flush(trace->writer, NULL) &&
				       strcmp(trace->path, "-") != 0;
}

enum lpl_error lpl_importer_write(struct lpl_importer *importer, int fd, const char *path,
				  struct lpl_report *report)
{
	struct trace trace = { .sink = { trace_refs, trace_event, trace_finish },
			       .importer = importer, .path = path };
	/* as that of any format that is recognised */
	const char *reduction = lpl_import_reduction(&importer->options);
	enum lpl_error error = LPL_OK;

	if (!report)
		report = &importer->own_report;
	lpl_map_init(&trace.spaces, 1);
	if (!lpl_import_recognise(importer, fd, report))
		error = report->error;
	if (!error && reduction)
		error = open_writer(&trace, reduction, report);
	if (!error) {
		error = lpl_importer_run(importer, fd, &trace.sink, report);
		if (error)
			leave_part(&trace, error);
		else
			error = close_writer(&trace, report);
	}
	importer->result.spaces = trace.spaces.count;
	lpl_writer_abandon(trace.writer);
	lpl_map_free(&trace.spaces);
	free(trace.early);
	return error;
}

/* ---- what may not be what was meant ---- */

char *lpl_importer_warnings(const struct lpl_importer *importer, char text[LPL_WARNINGS_SIZE])
{
	const struct lpl_import_result *result = &importer->result;
	char *at = text;

	*at = '\0';
	if (result->guessed)
		at += sprintf(at, "has no header: read as %s, of which it has the records; if that is "
			      "wrong, name the format with --from\n", result->format->name);
	if (!result->bytes)
		at = stpcpy(at, "is empty, and so is the trace\n");
	else if (!result->refs)
		at = stpcpy(at, "holds no reference, so that the trace is empty\n");
	if (result->no_end)
		at += sprintf(at, "line %" PRIu64 ", the last, has no end: was the file cut "
			      "off?\n", result->no_end);
	if (result->events_no_end)
		at += sprintf(at, "line %" PRIu64 ", the last of the events, has no end: was their "
			      "file cut off?\n", result->events_no_end);
	if (importer->options.events && result->bytes && !result->joined)
		at = stpcpy(at, "the other file has no event in it\n");
	if (result->joined && !result->joined_inside)
		at = stpcpy(at, "no event of the other file is between two references: are the "
				"cycles of both of one clock?\n");
	if (result->no_last && result->refs)
		at = stpcpy(at, "the line LAST is missing at its end: was the file cut off?\n");
	if (result->paged && !importer->options.reduction)
		at = stpcpy(at, "holds references to whole pages, so that it was reduced; "
				"say by what with --reduction\n");
	if (result->unknown)
		at += sprintf(at, "%" PRIu64 " references of unknown type became reads\n",
			      result->unknown);
	if (result->flushes)
		at += sprintf(at, "%" PRIu64 " cache flushes were passed over\n", result->flushes);
	if (result->unsized)
		at += sprintf(at, "%" PRIu64 " accesses have no size: they are of one byte\n",
			      result->unsized);
	if (result->prefetches)
		at += sprintf(at, "%" PRIu64 " prefetches were passed over\n", result->prefetches);
	if (result->foreign)
		at += sprintf(at, "%" PRIu64 " lines that are not %s's were passed over, the "
			      "first of them line %" PRIu64 "; what a program printed may hide "
			      "references: valgrind's --log-file keeps it apart\n",
			      result->foreign, importer->options.format->name,
			      result->first_foreign);
	if (result->sizes)
		at += sprintf(at, "sizes of objects are not kept: each is a page of %" PRIu64
			      " bytes\n", result->page_size);
	if (result->unread)
		sprintf(at, "tracing ended by itself, when the log had not been read for %" PRIu64
			" seconds: what followed is not in it\n", result->unread);
	return text;
}
