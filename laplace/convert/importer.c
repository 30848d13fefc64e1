/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Import; see importer.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event_text.h"
#include "importer.h"

struct lpl_importer *lpl_importer_new(const struct lpl_import_options *options)
{
	struct lpl_importer *importer = calloc(1, sizeof(*importer));

	if (!importer)
		return NULL;
	importer->options = *options;
	if (options->format->import_state) {
		importer->state = calloc(1, options->format->import_state);
		if (!importer->state) {
			free(importer);
			return NULL;
		}
	}
	return importer;
}

void lpl_importer_free(struct lpl_importer *importer)
{
	if (!importer)
		return;
	if (importer->state && importer->options.format->import_free)
		importer->options.format->import_free(importer->state);
	free(importer->state);
	free(importer);
}

/* ---- complaints ---- */

#define EXCERPT 48	/* characters of the line that is wrong */

void *lpl_import_refuse(struct lpl_importer *importer, enum lpl_error error,
			const char *format, ...)
{
	const struct lpl_import_options *options = &importer->options;
	char what[LPL_REPORT_SIZE], line[4 * EXCERPT + 1] = "";
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	if (options->format->traits & LPL_FORMAT_BINARY) {
		(void)lpl_fail(importer->report, error, "%s: byte %" PRIu64 ": %s",
			       options->path, importer->place, what);
	} else {
		size_t length = strcspn(importer->line, "\r\n");

		lpl_text_escape(line, sizeof(line), importer->line,
				length < EXCERPT ? length : EXCERPT);
		(void)lpl_fail(importer->report, error, "%s: line %" PRIu64 ": %s, in '%s%s'",
			       options->path, importer->place, what, line,
			       length < EXCERPT ? "" : "...");
	}
	return NULL;
}

void *lpl_import_no_field(struct lpl_importer *importer, const char *field)
{
	return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "the %s is missing, malformed or too "
				 "large (a line is %s)", field, importer->options.format->fields);
}

const char *lpl_import_bad_end(struct lpl_importer *importer)
{
	return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "something follows the line's last field "
				 "(a line is %s)", importer->options.format->fields);
}

const char *lpl_import_other_line(struct lpl_importer *importer, const char *at)
{
	const char *end = scan_line_end(at);

	if (end)
		return end;
	if ((importer->options.format->traits & LPL_FORMAT_EVENTS) && lpl_event_is_line(at))
		return lpl_event_read(importer, at + 1);
	return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "no line of this format (which is %s)",
				 importer->options.format->fields);
}

/* ---- what goes out ---- */

bool lpl_import_flush(struct lpl_importer *importer)
{
	struct lpl_sink *sink = importer->options.sink;
	size_t count = importer->count;

	importer->count = 0;
	importer->refs += count;
	return !count || !sink->refs(sink, importer->batch, count, importer->report);
}

bool lpl_import_event(struct lpl_importer *importer, const struct lpl_event *event)
{
	struct lpl_sink *sink = importer->options.sink;

	if (!lpl_import_flush(importer) || sink->event(sink, event, importer->report))
		return false;
	importer->ref = event->ref;
	importer->instr = event->instr;
	importer->cycle = event->cycle;
	importer->events++;
	return true;
}

bool lpl_import_check_clock(struct lpl_importer *importer, const char *name, uint64_t time,
			    uint64_t before)
{
	if (time >= before)
		return true;
	lpl_import_refuse(importer, LPL_ERR_ORDER, "time runs backwards: %s %" PRIx64
			  " after %" PRIx64, name, time, before);
	return false;
}

bool lpl_import_parts(struct lpl_importer *importer, const struct lpl_ref *whole,
		      uint64_t length)
{
	const uint64_t page = 1U << LPL_PAGE_SHIFT;
	struct lpl_ref ref = *whole;

	if (length < 1 || length > IMPORT_LENGTH_MAX) {
		lpl_import_refuse(importer, LPL_ERR_DAMAGED, "a length of %" PRIu64
				  " bytes (possible are 1 to %d)", length, IMPORT_LENGTH_MAX);
		return false;
	}
	if (ref.address + (length - 1) < ref.address) {
		lpl_import_refuse(importer, LPL_ERR_DAMAGED, "the access goes beyond the last "
				  "address");
		return false;
	}
	for (;;) {
		uint64_t part = page - (ref.address & (page - 1));

		if (part > IMPORT_LENGTH)
			part = IMPORT_LENGTH;
		if (part > length)
			part = length;
		ref.length = (uint16_t)part;
		if (!lpl_import_ref(importer, &ref))
			return false;
		length -= part;
		if (!length)
			return true;
		ref.ref++;
		ref.address += part;
		ref.flags = whole->flags & (uint8_t)~LPL_SECOND;
		if (!(ref.address & (page - 1)))
			ref.flags |= LPL_SECOND;
	}
}

bool lpl_import_set_page(struct lpl_importer *importer, struct lpl_ref *ref, uint64_t page)
{
	const unsigned int shift = importer->options.page_shift;

	ref->address = page << shift;
	ref->flags |= LPL_PAGED;
	ref->length = 0;
	if (ref->address >> shift == page)
		return true;
	lpl_import_refuse(importer, LPL_ERR_DAMAGED, "page %" PRIx64 " has no address of 64 bits",
			  page);
	return false;
}

bool lpl_import_timed_ref(struct lpl_importer *importer, struct lpl_ref *ref)
{
	if (!ref->ref) {
		lpl_import_refuse(importer, LPL_ERR_DAMAGED, "references are counted from 1");
		return false;
	}
	if (!lpl_import_check_clock(importer, "reference", ref->ref, importer->ref) ||
	    !lpl_import_check_clock(importer, "instruction", ref->instr, importer->instr) ||
	    !lpl_import_check_clock(importer, "cycle", ref->cycle, importer->cycle))
		return false;
	if (ref->ref == importer->ref && !(ref->flags & LPL_SYNTHETIC)) {
		lpl_import_refuse(importer, LPL_ERR_ORDER, "reference %" PRIx64 " comes again",
				  ref->ref);
		return false;
	}
	return lpl_import_ref(importer, ref);
}

bool lpl_import_full_ref(struct lpl_importer *importer, struct lpl_ref *ref, uint64_t length)
{
	const uint64_t page = 1U << LPL_PAGE_SHIFT;
	const uint64_t offset = ref->address & (page - 1);
	const bool paged = (ref->flags & LPL_PAGED) != 0;

	if (length > IMPORT_LENGTH || (length == 0) != paged) {
		lpl_import_refuse(importer, LPL_ERR_DAMAGED, "a length of %" PRIu64
				  " bytes (possible are 1 to %d, and 0 for a page)", length,
				  IMPORT_LENGTH);
		return false;
	}
	if (paged ? offset != 0 : offset + length > page) {
		lpl_import_refuse(importer, LPL_ERR_DAMAGED, paged ?
				  "the address is not a page's first" :
				  "the reference crosses a page");
		return false;
	}
	ref->length = (uint16_t)length;
	importer->paged |= paged;
	return lpl_import_timed_ref(importer, ref);
}

/* ---- reading ---- */

struct input {
	char *buffer;		/* IMPORT_BUFFER, and room for a newline */
	size_t start, end;	/* what has been read and not yet used */
	bool over;		/* the file has ended */
};

/* Read on behind what is left; at least a byte unless the file ends. */
static bool fill(struct lpl_importer *importer, struct input *input)
{
	size_t left = input->end - input->start;

	memmove(input->buffer, input->buffer + input->start, left);
	input->start = 0;
	input->end = left;
	while (input->end < IMPORT_BUFFER && !input->over) {
		ssize_t n = read(importer->options.fd, input->buffer + input->end,
				 IMPORT_BUFFER - input->end);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			(void)lpl_fail(importer->report, LPL_ERR_IO, "%s",
				       importer->options.path);
			return false;
		}
		input->over = n == 0;
		input->end += (size_t)n;
		importer->bytes += (uint64_t)n;
		/* a pipe's writer may be slow, and what it wrote is shown */
		if (n > 0 && input->end > IMPORT_BUFFER / 2)
			break;
	}
	return true;
}

/* Files that are something else altogether. */
static bool check_magic(struct lpl_importer *importer, const struct input *input)
{
	static const struct {
		const char *magic, *unpack;
		size_t length;
	} packed[] = {
		{ "\x1f\x8b\x08\x00", "gzip -dc", 4 },
		{ "\x1f\x8b\x08\x08", "gzip -dc", 4 },
		{ "\x28\xb5\x2f\xfd", "zstd -dc", 4 },
		{ "\xfd" "7zXZ", "xz -dc", 6 },
		{ "BZh", "bzip2 -dc", 3 },
	};
	static const char trace[] = "\x89LPL\r\n\x1a\n";

	for (size_t i = 0; i < sizeof(packed) / sizeof(packed[0]); i++) {
		if (input->end < packed[i].length ||
		    memcmp(input->buffer, packed[i].magic, packed[i].length) != 0)
			continue;
		(void)lpl_fail(importer->report, LPL_ERR_FORMAT, "%s: is compressed: unpack it, "
			       "as with `%s FILE | laplace import --from %s - ...'",
			       importer->options.path, packed[i].unpack,
			       importer->options.format->name);
		return false;
	}
	if (input->end >= sizeof(trace) - 1 &&
	    memcmp(input->buffer, trace, sizeof(trace) - 1) == 0) {
		(void)lpl_fail(importer->report, LPL_ERR_FORMAT, "%s: is a Laplace trace "
			       "already", importer->options.path);
		return false;
	}
	return true;
}

/* Every line of the buffer that is there to its newline. */
static bool read_lines(struct lpl_importer *importer, struct input *input)
{
	const struct lpl_format *format = importer->options.format;
	const char *at = input->buffer + input->start, *last;

	if (input->over && input->end > input->start &&
	    input->buffer[input->end - 1] != '\n') {
		input->buffer[input->end++] = '\n';
		importer->unended = true;
	}
	last = memrchr(at, '\n', input->end - input->start);
	if (!last && input->end - input->start >= IMPORT_BUFFER) {
		importer->place++;
		importer->line = "";
		lpl_import_refuse(importer, LPL_ERR_DAMAGED, "longer than %u bytes",
				  IMPORT_BUFFER - 1);
		return false;
	}
	while (last && at <= last) {
		const char *end;

		importer->place++;
		importer->line = at;
		end = format->read_line(importer, at);
		if (!end)
			return false;
		at = end + 1;
	}
	input->start = (size_t)(at - input->buffer);
	return true;
}

static bool read_records(struct lpl_importer *importer, struct input *input)
{
	const struct lpl_format *format = importer->options.format;
	const uint8_t *at = (const uint8_t *)input->buffer + input->start;
	const uint8_t *end = (const uint8_t *)input->buffer + input->end;

	while (at < end && (input->over || (size_t)(end - at) >= format->record_bytes)) {
		const uint8_t *next = format->read_record(importer, at, end);

		if (!next)
			return false;
		importer->place += (uint64_t)(next - at);
		at = next;
	}
	input->start = (size_t)(at - (const uint8_t *)input->buffer);
	return true;
}

static bool read_all(struct lpl_importer *importer, struct input *input)
{
	const struct lpl_import_options *options = &importer->options;
	const bool binary = options->format->traits & LPL_FORMAT_BINARY;

	while (!input->over) {
		bool first = importer->bytes == 0;

		if (!fill(importer, input) || (first && !check_magic(importer, input)))
			return false;
		if (input->end > input->start &&
		    !(binary ? read_records : read_lines)(importer, input))
			return false;
		if (options->progress)
			options->progress(importer, options->context);
	}
	return !options->format->read_end || options->format->read_end(importer);
}

enum lpl_error lpl_importer_run(struct lpl_importer *importer, struct lpl_report *report)
{
	struct lpl_sink *sink = importer->options.sink;
	struct input input = { .buffer = malloc(IMPORT_BUFFER + 1) };

	importer->report = report;
	if (!input.buffer)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory");
	if (read_all(importer, &input)) {
		if (lpl_import_flush(importer))
			(void)sink->finish(sink, report);
	} else if (lpl_error_status(report->error) == 3) {
		/* the first complaint stays */
		(void)lpl_import_flush(importer);
	}
	free(input.buffer);
	return report->error;
}
