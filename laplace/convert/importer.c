/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading a file in another format: opening an import, and finding the lines or records in what
 * was read.  Each line that a format gets is there to its newline, each record to its end.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/try.h"
#include "importer.h"
#include "recognise.h"

#define PAGE_SIZE_MIN UINT64_C(16)
#define PAGE_SIZE_MAX (UINT64_C(1) << 30)

/* ---- opening ---- */

static enum lpl_error check_options(const struct lpl_import_options *options,
				    struct lpl_report *report)
{
	const unsigned int traits = import_traits(options);
	const char *name = options->format ? options->format->name : "to be recognised";
	const uint64_t page_size = options->page_size;

	if (traits & LPL_FORMAT_EXPORT_ONLY)
		return lpl_fail(report, LPL_ERR_USAGE, "the format %s is written only", name);
	if (!(traits & LPL_FORMAT_BEHAVIOUR) != !options->memory)
		return lpl_fail(report, LPL_ERR_USAGE, "the size of the memory has to be given "
				"for a behaviour sequence, and for no other format");
	if (page_size && !(traits & LPL_FORMAT_PAGES))
		return lpl_fail(report, LPL_ERR_USAGE, "the format %s has no pages, of which "
				"there would be a size", name);
	if (page_size && (page_size < PAGE_SIZE_MIN || page_size > PAGE_SIZE_MAX ||
			  (page_size & (page_size - 1))))
		return lpl_fail(report, LPL_ERR_USAGE, "a page size is a power of two from %" PRIu64
				" to %" PRIu64, PAGE_SIZE_MIN, PAGE_SIZE_MAX);
	if (options->events && ((traits & LPL_FORMAT_IMPORT_ONLY) || !(traits & LPL_WITH_CYCLE) ||
				!(traits & LPL_WITH_SPACE)))
		return lpl_fail(report, LPL_ERR_USAGE, "the format %s is not joined with a log of "
				"events: that takes the time stamp and the address space of each "
				"reference, as in raw, sad and csv", name);
	return LPL_OK;
}

static bool make_state(struct lpl_importer *importer)
{
	const struct lpl_format *format = importer->options.format;

	if (!format || !format->import_state)
		return true;
	importer->state = calloc(1, format->import_state);
	return importer->state &&
	       (!format->import_begin || format->import_begin(importer->state));
}

enum lpl_error lpl_importer_open(struct lpl_importer **result,
				 const struct lpl_import_options *options,
				 struct lpl_report *report)
{
	struct lpl_importer *importer;
	const char *reduction;
	enum lpl_error error;

	*result = NULL;
	LPL_TRY(check_options(options, report));
	importer = calloc(1, sizeof(*importer));
	if (!importer)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory");
	importer->options = *options;
	importer->result.format = options->format;
	reduction = lpl_import_reduction(options);
	error = lpl_import_describe(importer, reduction ? reduction : "none", report);
	if (!error && !make_state(importer))
		error = lpl_fail(report, LPL_ERR_MEMORY, "no memory");
	if (error) {
		lpl_importer_close(importer);
		return error;
	}
	importer->page_shift = (unsigned int)__builtin_ctzll(importer->result.page_size);
	*result = importer;
	return LPL_OK;
}

void lpl_importer_close(struct lpl_importer *importer)
{
	if (!importer)
		return;
	if (importer->state && importer->options.format->import_free)
		importer->options.format->import_free(importer->state);
	free(importer->state);
	free(importer->input.buffer);
	free(importer);
}

const struct lpl_import_result *lpl_importer_result(const struct lpl_importer *importer)
{
	return &importer->result;
}

/* ---- reading ---- */

/* Read on after what is left; at least a byte unless the file ends. */
static bool fill(struct lpl_importer *importer, struct import_input *input)
{
	size_t left = input->end - input->start;

	memmove(input->buffer, input->buffer + input->start, left);
	input->start = 0;
	input->end = left;
	while (input->end < IMPORT_BUFFER && !input->over) {
		ssize_t n = read(importer->fd, input->buffer + input->end,
				 IMPORT_BUFFER - input->end);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			(void)lpl_fail(importer->report, LPL_ERR_IO, "%s",
				       importer->options.input);
			return false;
		}
		input->over = n == 0;
		input->end += (size_t)n;
		importer->result.bytes += (uint64_t)n;
		/* a pipe's writer may be slow, and what it wrote is shown */
		if (n > 0 && input->end > IMPORT_BUFFER / 2)
			break;
	}
	return true;
}

/* Files that are something else altogether. */
static bool check_magic(struct lpl_importer *importer, const struct import_input *input)
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
	const struct lpl_format *format = importer->options.format;

	for (size_t i = 0; i < sizeof(packed) / sizeof(packed[0]); i++) {
		if (input->end < packed[i].length ||
		    memcmp(input->buffer, packed[i].magic, packed[i].length) != 0)
			continue;
		(void)lpl_fail(importer->report, LPL_ERR_FORMAT, "%s: is compressed: unpack it, "
			       "as with `%s FILE | laplace import %s%s%s- ...'",
			       importer->options.input, packed[i].unpack, format ? "--from " : "",
			       format ? format->name : "", format ? " " : "");
		return false;
	}
	if (input->end >= sizeof(trace) - 1 &&
	    memcmp(input->buffer, trace, sizeof(trace) - 1) == 0) {
		(void)lpl_fail(importer->report, LPL_ERR_FORMAT, "%s: is a Laplace trace "
			       "already", importer->options.input);
		return false;
	}
	return true;
}

/* The beginning of the file is in the buffer: its format, if it was not named. */
static bool find_format(struct lpl_importer *importer)
{
	struct import_input *input = &importer->input;
	const struct lpl_sample sample = { (const uint8_t *)input->buffer, input->end, input->over };
	struct lpl_import_result *result = &importer->result;

	if (importer->options.format)
		return true;
	input->buffer[input->end] = '\n';
	result->format = lpl_recognise(importer->options.input, &sample, &result->guessed,
				       importer->report);
	importer->options.format = result->format;
	if (!result->format)
		return false;
	return make_state(importer) || lpl_import_no_memory(importer);
}

/* Read the beginning of the file, unless that has been done. */
static bool begin_file(struct lpl_importer *importer)
{
	struct import_input *input = &importer->input;

	if (input->buffer)
		return importer->options.format != NULL;
	input->buffer = malloc(IMPORT_BUFFER + 1);
	if (!input->buffer)
		return lpl_import_no_memory(importer);
	return fill(importer, input) && check_magic(importer, input) && find_format(importer);
}

bool lpl_import_recognise(struct lpl_importer *importer, int fd, struct lpl_report *report)
{
	importer->report = report;
	importer->fd = fd;
	return importer->options.format || begin_file(importer);
}

/* Every line of the buffer, which is not empty, that is there to its newline. */
static bool read_lines(struct lpl_importer *importer, struct import_input *input)
{
	const struct lpl_format *format = importer->options.format;
	const char *at = input->buffer + input->start, *last;
	const bool cut_off = input->over && input->buffer[input->end - 1] != '\n';

	if (cut_off)
		input->buffer[input->end++] = '\n';
	last = memrchr(at, '\n', input->end - input->start);
	if (!last && input->end - input->start >= IMPORT_BUFFER) {
		importer->place++;
		importer->line = "";
		return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "longer than %u bytes",
					 IMPORT_BUFFER - 1);
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
	importer->result.no_end = cut_off ? importer->place : 0;
	return true;
}

static bool read_records(struct lpl_importer *importer, struct import_input *input)
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

static bool read_file(struct lpl_importer *importer)
{
	const struct lpl_import_options *options = &importer->options;
	struct import_input *input = &importer->input;

	if (!begin_file(importer))
		return false;
	for (;;) {
		const bool binary = options->format->traits & LPL_FORMAT_BINARY;

		if (input->end > input->start &&
		    !(binary ? read_records : read_lines)(importer, input))
			return false;
		if (options->progress)
			options->progress(importer, options->context);
		if (input->over)
			break;
		if (!fill(importer, input))
			return false;
	}
	return !options->format->read_end || options->format->read_end(importer);
}

static bool read_all(struct lpl_importer *importer)
{
	const struct lpl_format *format = importer->options.format;

	return format && format->read_directory ? format->read_directory(importer) :
						  read_file(importer);
}

enum lpl_error lpl_import_read(struct lpl_importer *importer, int fd, struct lpl_sink *sink)
{
	importer->fd = fd;
	importer->sink = sink;
	if (read_all(importer)) {
		if (lpl_import_flush(importer))
			(void)lpl_import_sent(importer, sink->finish(sink, importer->report));
	} else if (lpl_error_status(importer->report->error) == 3) {
		/* the first complaint is kept */
		(void)lpl_import_flush(importer);
	}
	return importer->report->error;
}
