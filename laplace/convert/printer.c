/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Printing a stream; see printer.h.
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
#include "events.h"
#include "printer.h"
#include "put.h"

void *printer_refuse(struct printer *printer, enum lpl_error error,
		     const char *format, ...)
{
	char what[LPL_REPORT_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	(void)lpl_fail(printer->report, error, "%s: %s", printer->options.path, what);
	return NULL;
}

static int flush(struct printer *printer)
{
	const struct printer_options *options = &printer->options;
	size_t done = 0;

	while (done < printer->used) {
		ssize_t n = write(options->fd, printer->buffer + done, printer->used - done);

		if (n < 0 && errno != EINTR)
			return lpl_fail(printer->report, LPL_ERR_IO, "%s", options->output);
		if (n > 0)
			done += (size_t)n;
	}
	printer->written += printer->used;
	printer->used = 0;
	return LPL_OK;
}

bool printer_patch(struct printer *printer, uint64_t offset, const void *bytes, size_t count)
{
	size_t done = 0;

	/* what is printed at once is never written in two parts */
	if (offset >= printer->written) {
		memcpy(printer->buffer + (offset - printer->written), bytes, count);
		return true;
	}
	while (done < count) {
		ssize_t n = pwrite(printer->options.fd, (const char *)bytes + done, count - done,
				   (off_t)(offset + done));

		if (n < 0 && errno != EINTR) {
			(void)lpl_fail(printer->report, LPL_ERR_IO, "%s",
				       printer->options.output);
			return false;
		}
		if (n > 0)
			done += (size_t)n;
	}
	return true;
}

/* Where to print to; NULL after an error. */
static char *room(struct printer *printer)
{
	char *out;

	if (PRINTER_BUFFER - printer->used < PRINTER_ROOM && flush(printer))
		return NULL;
	out = printer->buffer + printer->used;
	if (printer->begun || !printer->options.format->begin)
		return out;
	printer->begun = true;
	return printer->options.format->begin(printer, out);
}

static void printed(struct printer *printer, const char *out)
{
	printer->used = (size_t)(out - printer->buffer);
}

static int print_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
		      struct lpl_report *report)
{
	struct printer *printer = (struct printer *)sink;
	const struct format *format = printer->options.format;

	printer->report = report;
	for (size_t i = 0; i < count; i++) {
		const struct lpl_ref *ref = &refs[i];
		char *out = room(printer);

		printer->paged |= (ref->flags & LPL_PAGED) != 0;
		printer->spaces_mixed |= printer->any && ref->space != printer->last.space;
		if (out)
			out = format->put(printer, out, ref);
		if (!out)
			return report->error;
		printed(printer, out);
		printer->any = true;
		printer->last = *ref;
	}
	printer->refs += count;
	return LPL_OK;
}

/* What the format holds back comes first; then a line, if it has such lines. */
static char *print_event_line(struct printer *printer, char *out, const struct lpl_event *event)
{
	const struct format *format = printer->options.format;

	if (!printer->options.events || !(format->traits & FORMAT_EVENTS)) {
		printer->events_left_out++;
		return out;
	}
	if (format->end)
		out = format->end(printer, out);
	if (!out)
		return NULL;
	return put_newline((format == &format_csv ? event_print_row : event_print)(out, event));
}

static int print_event(struct lpl_sink *sink, const struct lpl_event *event,
		       struct lpl_report *report)
{
	struct printer *printer = (struct printer *)sink;
	const struct format *format = printer->options.format;
	char *out, *next = NULL;

	printer->report = report;
	out = room(printer);
	if (!out)
		return report->error;
	if (format->put_event)
		next = format->put_event(printer, out, event);
	if (!next && !report->error)
		next = print_event_line(printer, out, event);
	if (!next)
		return report->error;
	printed(printer, next);
	return LPL_OK;
}

static int print_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct printer *printer = (struct printer *)sink;
	const struct format *format = printer->options.format;
	char *out;

	printer->report = report;
	out = room(printer);
	if (out && format->end)
		out = format->end(printer, out);
	if (!out)
		return report->error;
	printed(printer, out);
	return flush(printer);
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

static enum lpl_error set_page_size(struct printer *printer, struct lpl_report *report)
{
	const uint64_t size = page_size_of(printer->options.meta);

	if (!size)
		return lpl_fail(report, LPL_ERR_UNSUPPORTED, "%s: its pages are of a size that is "
				"no power of two from 4096 on", printer->options.path);
	printer->page_shift = (unsigned int)__builtin_ctzll(size);
	return LPL_OK;
}

static enum lpl_error check_behaviour(const struct printer_options *options,
				      struct lpl_report *report)
{
	const char *reduction = lpl_meta_get(options->meta, LPL_META_REDUCTION);

	if (lpl_reduction_behaviour(reduction))
		return LPL_OK;
	return lpl_fail(report, LPL_ERR_UNSUPPORTED, "%s: is no behaviour sequence (its reduction "
			"is '%.80s'); `laplace reduce -m lrubs:K' makes one of a reference trace",
			options->path, reduction ? reduction : "none");
}

enum lpl_error printer_open(struct printer **result, const struct printer_options *options,
			    struct lpl_report *report)
{
	struct printer *printer;
	enum lpl_error error;

	*result = NULL;
	if (options->format == &format_behaviour) {
		error = check_behaviour(options, report);
		if (error)
			return error;
	}
	printer = calloc(1, sizeof(*printer));
	if (!printer)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory");
	printer->sink = (struct lpl_sink){ print_refs, print_event, print_finish };
	printer->options = *options;
	if (options->format->print_state) {
		printer->state = calloc(1, options->format->print_state);
		if (!printer->state) {
			printer_close(printer);
			return lpl_fail(report, LPL_ERR_MEMORY, "no memory");
		}
	}
	error = set_page_size(printer, report);
	if (error) {
		printer_close(printer);
		return error;
	}
	*result = printer;
	return LPL_OK;
}

void printer_close(struct printer *printer)
{
	if (!printer)
		return;
	if (printer->state && printer->options.format->print_free)
		printer->options.format->print_free(printer->state);
	free(printer->state);
	free(printer);
}

static void tell(const struct printer *printer, const char *what)
{
	cli_complain(0, "warning: %s: %s", printer->options.path, what);
}

void printer_tell_losses(const struct printer *printer)
{
	const struct printer_options *options = &printer->options;
	const unsigned int traits = options->format->traits;
	char what[64];

	if (printer->paged && !(traits & (FORMAT_WHOLE | FORMAT_PAGES)))
		tell(printer, traits & TELLS_LENGTH ?
		     "reduced to pages: lengths are printed as 0, addresses are those of pages" :
		     "reduced to pages: addresses are those of pages");
	if (printer->spaces_mixed && !(traits & TELLS_SPACE))
		tell(printer, "has several address spaces, whose pages look alike in this format");
	if (printer->walks)
		tell(printer, "references to page tables are printed as reads and writes, of "
		     "physical addresses");
	if (printer->events_left_out && options->tell_events) {
		snprintf(what, sizeof(what), "%" PRIu64 " events are left out",
			 printer->events_left_out);
		tell(printer, what);
	}
}
