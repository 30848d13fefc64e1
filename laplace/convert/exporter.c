/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Printing a stream; see exporter.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <laplace/reducer.h>

#include "cli/common.h"
#include "event_text.h"
#include "exporter.h"
#include "fields.h"

void *lpl_export_refuse(struct lpl_exporter *exporter, enum lpl_error error,
			const char *format, ...)
{
	char what[LPL_REPORT_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	(void)lpl_fail(exporter->report, error, "%s: %s", exporter->options.path, what);
	return NULL;
}

static int flush(struct lpl_exporter *exporter)
{
	const struct lpl_export_options *options = &exporter->options;
	size_t done = 0;

	while (done < exporter->used) {
		ssize_t n = write(options->fd, exporter->buffer + done, exporter->used - done);

		if (n < 0 && errno != EINTR)
			return lpl_fail(exporter->report, LPL_ERR_IO, "%s", options->output);
		if (n > 0)
			done += (size_t)n;
	}
	exporter->written += exporter->used;
	exporter->used = 0;
	return LPL_OK;
}

bool lpl_export_rewrite(struct lpl_exporter *exporter, uint64_t offset, const void *bytes, size_t count)
{
	size_t done = 0;

	/* what is printed at once is never written in two parts */
	if (offset >= exporter->written) {
		memcpy(exporter->buffer + (offset - exporter->written), bytes, count);
		return true;
	}
	while (done < count) {
		ssize_t n = pwrite(exporter->options.fd, (const char *)bytes + done, count - done,
				   (off_t)(offset + done));

		if (n < 0 && errno != EINTR) {
			(void)lpl_fail(exporter->report, LPL_ERR_IO, "%s",
				       exporter->options.output);
			return false;
		}
		if (n > 0)
			done += (size_t)n;
	}
	return true;
}

/* Where to print to; NULL after an error. */
static char *room(struct lpl_exporter *exporter)
{
	char *out;

	if (EXPORT_BUFFER - exporter->used < EXPORT_ROOM && flush(exporter))
		return NULL;
	out = exporter->buffer + exporter->used;
	if (exporter->begun || !exporter->options.format->begin)
		return out;
	exporter->begun = true;
	return exporter->options.format->begin(exporter, out);
}

static void printed(struct lpl_exporter *exporter, const char *out)
{
	exporter->used = (size_t)(out - exporter->buffer);
}

static int print_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
		      struct lpl_report *report)
{
	struct lpl_exporter *exporter = (struct lpl_exporter *)sink;
	const struct lpl_format *format = exporter->options.format;

	exporter->report = report;
	for (size_t i = 0; i < count; i++) {
		const struct lpl_ref *ref = &refs[i];
		char *out = room(exporter);

		exporter->paged |= (ref->flags & LPL_PAGED) != 0;
		exporter->spaces_mixed |= exporter->any && ref->space != exporter->last.space;
		if (out)
			out = format->put(exporter, out, ref);
		if (!out)
			return report->error;
		printed(exporter, out);
		exporter->any = true;
		exporter->last = *ref;
	}
	exporter->refs += count;
	return LPL_OK;
}

/* What the format holds back comes first; then a line, if it has such lines. */
static char *print_event_line(struct lpl_exporter *exporter, char *out, const struct lpl_event *event)
{
	const struct lpl_format *format = exporter->options.format;

	if (!exporter->options.events || !(format->traits & LPL_FORMAT_EVENTS)) {
		exporter->events_left_out++;
		return out;
	}
	if (format->end)
		out = format->end(exporter, out);
	if (!out)
		return NULL;
	return put_newline((format == &lpl_format_csv ? lpl_event_write_comment : lpl_event_write)(out, event));
}

static int print_event(struct lpl_sink *sink, const struct lpl_event *event,
		       struct lpl_report *report)
{
	struct lpl_exporter *exporter = (struct lpl_exporter *)sink;
	const struct lpl_format *format = exporter->options.format;
	char *out, *next = NULL;

	exporter->report = report;
	out = room(exporter);
	if (!out)
		return report->error;
	if (format->put_event)
		next = format->put_event(exporter, out, event);
	if (!next && !report->error)
		next = print_event_line(exporter, out, event);
	if (!next)
		return report->error;
	printed(exporter, next);
	return LPL_OK;
}

static int print_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct lpl_exporter *exporter = (struct lpl_exporter *)sink;
	const struct lpl_format *format = exporter->options.format;
	char *out;

	exporter->report = report;
	out = room(exporter);
	if (out && format->end)
		out = format->end(exporter, out);
	if (!out)
		return report->error;
	printed(exporter, out);
	return flush(exporter);
}

/* ---- opening ---- */

/* The size that the header tells, or that of its reduction if it is larger; 0: none. */
static uint64_t page_size_of(const struct lpl_meta *meta)
{
	const char *text = lpl_meta_get(meta, LPL_META_PAGE_SIZE);
	uint64_t reduced = lpl_reduction_page_size(lpl_meta_get(meta, LPL_META_REDUCTION));
	uint64_t size;
	char *end;

	if (!text)
		return reduced;
	errno = 0;
	size = strtoull(text, &end, 10);
	if (errno || end == text || *end || size < 1U << LPL_PAGE_SHIFT || (size & (size - 1)))
		return 0;
	return size > reduced ? size : reduced;
}

static enum lpl_error set_page_size(struct lpl_exporter *exporter, struct lpl_report *report)
{
	const uint64_t size = page_size_of(exporter->options.meta);

	if (!size)
		return lpl_fail(report, LPL_ERR_UNSUPPORTED, "%s: its pages are of a size that is "
				"no power of two from 4096 on", exporter->options.path);
	exporter->page_shift = (unsigned int)__builtin_ctzll(size);
	return LPL_OK;
}

static enum lpl_error check_behaviour(const struct lpl_export_options *options,
				      struct lpl_report *report)
{
	const char *reduction = lpl_meta_get(options->meta, LPL_META_REDUCTION);

	if (lpl_reduction_behaviour(reduction))
		return LPL_OK;
	return lpl_fail(report, LPL_ERR_UNSUPPORTED, "%s: is no behaviour sequence (its reduction "
			"is '%.80s'); `laplace reduce -m lrubs:K' makes one of a reference trace",
			options->path, reduction ? reduction : "none");
}

enum lpl_error lpl_exporter_open(struct lpl_exporter **result, const struct lpl_export_options *options,
				 struct lpl_report *report)
{
	struct lpl_exporter *exporter;
	enum lpl_error error;

	*result = NULL;
	if (options->format == &lpl_format_behaviour) {
		error = check_behaviour(options, report);
		if (error)
			return error;
	}
	exporter = calloc(1, sizeof(*exporter));
	if (!exporter)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory");
	exporter->sink = (struct lpl_sink){ print_refs, print_event, print_finish };
	exporter->options = *options;
	if (options->format->print_state) {
		exporter->state = calloc(1, options->format->print_state);
		if (!exporter->state) {
			lpl_exporter_close(exporter);
			return lpl_fail(report, LPL_ERR_MEMORY, "no memory");
		}
	}
	error = set_page_size(exporter, report);
	if (error) {
		lpl_exporter_close(exporter);
		return error;
	}
	*result = exporter;
	return LPL_OK;
}

void lpl_exporter_close(struct lpl_exporter *exporter)
{
	if (!exporter)
		return;
	if (exporter->state && exporter->options.format->print_free)
		exporter->options.format->print_free(exporter->state);
	free(exporter->state);
	free(exporter);
}

static void tell(const struct lpl_exporter *exporter, const char *what)
{
	cli_complain(0, "warning: %s: %s", exporter->options.path, what);
}

void lpl_exporter_tell_losses(const struct lpl_exporter *exporter)
{
	const struct lpl_export_options *options = &exporter->options;
	const unsigned int traits = options->format->traits;
	char what[64];

	if (exporter->paged && !(traits & (LPL_FORMAT_WHOLE | LPL_FORMAT_PAGES)))
		tell(exporter, traits & LPL_TELLS_LENGTH ?
		     "reduced to pages: lengths are printed as 0, addresses are those of pages" :
		     "reduced to pages: addresses are those of pages");
	if (exporter->spaces_mixed && !(traits & LPL_TELLS_SPACE))
		tell(exporter, "has several address spaces, whose pages look alike in this format");
	if (exporter->walks)
		tell(exporter, "references to page tables are printed as reads and writes, of "
		     "physical addresses");
	if (exporter->events_left_out && options->tell_events) {
		snprintf(what, sizeof(what), "%" PRIu64 " events are left out",
			 exporter->events_left_out);
		tell(exporter, what);
	}
}
