/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writing a stream in a format.  Whatever the format writes goes through one buffer; what is
 * written at once, a line or a record, is never in two parts of it.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <laplace/select.h>

#include "base/output.h"
#include "base/try.h"
#include "event_text.h"
#include "exporter.h"

void *lpl_export_refuse(struct lpl_exporter *exporter, enum lpl_error error,
			const char *format, ...)
{
	char what[LPL_REPORT_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	(void)lpl_fail(exporter->report, error, "%s: %s", exporter->options.trace, what);
	return NULL;
}

/* ---- the file ---- */

static enum lpl_error write_all(struct lpl_exporter *exporter, const char *bytes, size_t count,
				off_t offset)
{
	if (lpl_write_all(exporter->options.fd, bytes, count, offset))
		return LPL_OK;
	return lpl_fail(exporter->report, LPL_ERR_IO, "%s", exporter->options.output);
}

static enum lpl_error flush(struct lpl_exporter *exporter)
{
	LPL_TRY(write_all(exporter, exporter->buffer, exporter->used, LPL_HERE));
	exporter->result.bytes += exporter->used;
	exporter->used = 0;
	return LPL_OK;
}

bool lpl_export_rewrite(struct lpl_exporter *exporter, uint64_t offset, const void *bytes,
			size_t count)
{
	const uint64_t written = exporter->result.bytes;

	if (offset < written)
		return !write_all(exporter, bytes, count, (off_t)offset);
	assert(offset - written + count <= exporter->used);	/* it was written before */
	memcpy(exporter->buffer + (offset - written), bytes, count);
	return true;
}

/* Where to write to; NULL after an error. */
static char *room(struct lpl_exporter *exporter)
{
	char *out;

	if (EXPORT_BUFFER - exporter->used < EXPORT_ROOM && flush(exporter))
		return NULL;
	out = exporter->buffer + exporter->used;
	if (exporter->begun || !exporter->options.format->write_begin)
		return out;
	exporter->begun = true;
	return exporter->options.format->write_begin(exporter, out);
}

static void written_to(struct lpl_exporter *exporter, const char *out)
{
	assert((size_t)(out - exporter->buffer) <= EXPORT_BUFFER);
	exporter->used = (size_t)(out - exporter->buffer);
}

/* ---- the sink ---- */

static struct lpl_exporter *exporter_of(struct lpl_sink *sink, struct lpl_report *report)
{
	struct lpl_exporter *exporter = (struct lpl_exporter *)sink;

	exporter->report = report ? report : &exporter->own_report;
	return exporter;
}

/* An address that lpl_physical_sink() makes where the frame is not known. */
static bool lacks_frame(const struct lpl_exporter *exporter, const struct lpl_ref *ref)
{
	return exporter->options.physical && ref->address > INT64_MAX &&
	       ref->type != LPL_WALK_READ && ref->type != LPL_WALK_WRITE;
}

/* What a format may lose; whether this one does is asked in lpl_exporter_result(). */
static void count_losses(struct lpl_exporter *exporter, const struct lpl_ref *ref)
{
	struct lpl_losses *losses = &exporter->result.losses;

	losses->frames += lacks_frame(exporter, ref);
	losses->addresses += (ref->flags & LPL_PAGED) != 0;
	losses->purposes += (ref->flags & LPL_WALK_FLAGS) != 0;
	/* page tables are in physical memory, whatever is said of the space */
	if (ref->type == LPL_WALK_READ || ref->type == LPL_WALK_WRITE)
		return;
	losses->spaces += exporter->placed && ref->space != exporter->space;
	exporter->placed = true;
	exporter->space = ref->space;
}

/* With `strict`: was anything lost up to here? */
static enum lpl_error check_strict(struct lpl_exporter *exporter, uint64_t number)
{
	struct lpl_export_result result;
	char text[LPL_WARNINGS_SIZE];

	if (!exporter->options.strict)
		return LPL_OK;
	lpl_exporter_result(exporter, &result);
	if (!exporter->options.events)
		result.losses.events = 0;
	if (!*lpl_losses_text(&result.losses, text))
		return LPL_OK;
	text[strlen(text) - 1] = '\0';
	for (char *end = text; (end = strchr(end, '\n'));)
		*end = ';';
	return lpl_fail(exporter->report, LPL_ERR_UNSUPPORTED, "%s: %s has no place for all of it, by "
			"reference %" PRIu64 ": %s", exporter->options.trace,
			exporter->options.format->name, number, text);
}

static enum lpl_error export_ref(struct lpl_exporter *exporter, const struct lpl_ref *ref)
{
	char *out = room(exporter);

	count_losses(exporter, ref);
	if (out)
		out = exporter->options.format->write_ref(exporter, out, ref);
	if (!out)
		return exporter->report->error;
	written_to(exporter, out);
	exporter->any = true;
	exporter->last = *ref;
	exporter->result.refs++;
	return LPL_OK;
}

static enum lpl_error export_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				  struct lpl_report *report)
{
	struct lpl_exporter *exporter = exporter_of(sink, report);
	const bool wants_frames = exporter->options.format->traits & LPL_FORMAT_PHYSICAL;

	for (size_t i = 0; i < count; i++) {
		if (wants_frames && lacks_frame(exporter, &refs[i]))
			exporter->result.losses.frames_left_out++;
		else
			LPL_TRY(export_ref(exporter, &refs[i]));
	}
	return count ? check_strict(exporter, refs[count - 1].ref) : LPL_OK;
}

/* What the format holds back comes first; then a line, if it has such lines. */
static char *write_event_line(struct lpl_exporter *exporter, char *out,
			      const struct lpl_event *event)
{
	const struct lpl_format *format = exporter->options.format;

	if (!exporter->options.events || !(format->traits & LPL_FORMAT_EVENTS)) {
		exporter->result.losses.events++;
		return out;
	}
	if (format->write_rest)
		out = format->write_rest(exporter, out);
	if (!out)
		return NULL;
	out = format->write_event_line ? format->write_event_line(out, event) :
					 lpl_event_write(out, event);
	return put_newline(out);
}

static enum lpl_error export_event(struct lpl_sink *sink, const struct lpl_event *event,
				   struct lpl_report *report)
{
	struct lpl_exporter *exporter = exporter_of(sink, report);
	const struct lpl_format *format = exporter->options.format;
	char *out = room(exporter), *next = NULL;

	if (!out)
		return exporter->report->error;
	if (format->write_event)
		next = format->write_event(exporter, out, event);
	if (!next && !exporter->report->error)
		next = write_event_line(exporter, out, event);
	if (!next)
		return exporter->report->error;
	written_to(exporter, next);
	return check_strict(exporter, event->ref);
}

static enum lpl_error export_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct lpl_exporter *exporter = exporter_of(sink, report);
	const struct lpl_format *format = exporter->options.format;
	char *out = room(exporter);

	if (out)
		written_to(exporter, out);	/* what begins the file can be rewritten */
	if (out && format->write_rest)
		out = format->write_rest(exporter, out);
	if (out && format->write_end)
		out = format->write_end(exporter, out);
	if (!out)
		return exporter->report->error;
	written_to(exporter, out);
	LPL_TRY(check_strict(exporter, exporter->last.ref));
	return flush(exporter);
}

/* ---- opening ---- */

static uint64_t page_size_of(const struct lpl_meta *meta)
{
	return lpl_page_size(lpl_meta_get(meta, LPL_META_PAGE_SIZE),
			     lpl_meta_get(meta, LPL_META_REDUCTION));
}

static enum lpl_error check_page_size(const struct lpl_export_options *options,
				      struct lpl_report *report)
{
	if (page_size_of(options->meta))
		return LPL_OK;
	return lpl_fail(report, LPL_ERR_UNSUPPORTED, "%s: " LPL_NO_PAGE_SIZE, options->trace);
}

static enum lpl_error check_format(const struct lpl_export_options *options,
				   struct lpl_report *report)
{
	const unsigned int traits = options->format->traits;
	const char *reduction = lpl_meta_get(options->meta, LPL_META_REDUCTION);
	struct stat about;

	if (traits & LPL_FORMAT_IMPORT_ONLY)
		return lpl_fail(report, LPL_ERR_UNSUPPORTED, "%s: the format %s is read only",
				options->output, options->format->name);
	if (traits & LPL_FORMAT_DIRECTORY)
		return lpl_fail(report, LPL_ERR_UNSUPPORTED, "%s: %s is a directory of files, as `laplace export' makes "
				"it", options->output, options->format->name);
	if ((traits & LPL_FORMAT_SEEKS) && !(fstat(options->fd, &about) == 0 &&
					     S_ISREG(about.st_mode) && about.st_size == 0))
		return lpl_fail(report, LPL_ERR_USAGE, "%s: %s goes to a file only, and an empty "
				"one: it is completed as it is written", options->output,
				options->format->name);
	if ((traits & LPL_FORMAT_HITS) && !lpl_reduction_annotated(reduction))
		return lpl_fail(report, LPL_ERR_UNSUPPORTED, "%s: is no annotated LRU trace (its "
				"reduction is '%.80s'); `laplace reduce -m annotated:K' makes one "
				"of a reference trace", options->trace,
				reduction ? reduction : "none");
	if ((traits & LPL_FORMAT_BEHAVIOUR) && !(traits & LPL_FORMAT_HITS) &&
	    !lpl_reduction_behaviour(reduction))
		return lpl_fail(report, LPL_ERR_UNSUPPORTED, "%s: is no behaviour sequence (its "
				"reduction is '%.80s'); `laplace reduce -m lrubs:K' makes one of "
				"a reference trace", options->trace,
				reduction ? reduction : "none");
	return LPL_OK;
}

static enum lpl_error check_pdats(const struct lpl_export_options *options,
				  struct lpl_report *report)
{
	const struct lpl_pdats_options *pdats = &options->pdats;
	const char *format = options->format->name;
	const bool headed = pdats->stride || pdats->address_bits || pdats->times || pdats->modes;

	if (!headed && !pdats->bare)
		return LPL_OK;
	if (strncmp(format, "pdats", 5) != 0)
		return lpl_fail(report, LPL_ERR_USAGE, "strides, address bits, times, modes and "
				"the lack of a header are options of pdats and pdats2, not of %s",
				format);
	if ((pdats->times || pdats->modes) && strcmp(format, "pdats") != 0)
		return lpl_fail(report, LPL_ERR_USAGE, "%s has neither times nor modes: pdats "
				"does", format);
	if (pdats->bare && headed)
		return lpl_fail(report, LPL_ERR_USAGE, "without a header there is nothing that "
				"says the stride, the address bits, times or modes");
	if (pdats->stride > 16 || (pdats->stride & (pdats->stride - 1)))
		return lpl_fail(report, LPL_ERR_USAGE, "a stride is 1, 2, 4, 8 or 16 bytes");
	if (pdats->address_bits && pdats->address_bits != 32 && pdats->address_bits != 64)
		return lpl_fail(report, LPL_ERR_USAGE, "addresses have 32 or 64 bits");
	return LPL_OK;
}

static bool begin_state(struct lpl_exporter *exporter, const struct lpl_export_options *options)
{
	return !options->format->export_begin || options->format->export_begin(exporter->state);
}

enum lpl_error lpl_exporter_open(struct lpl_exporter **result,
				 const struct lpl_export_options *options,
				 struct lpl_report *report)
{
	const size_t state_size = options->format->export_state;
	struct lpl_exporter *exporter;

	*result = NULL;
	LPL_TRY(check_format(options, report));
	LPL_TRY(check_page_size(options, report));
	LPL_TRY(check_pdats(options, report));
	exporter = calloc(1, sizeof(*exporter));
	if (exporter && state_size)
		exporter->state = calloc(1, state_size);
	if (!exporter || (state_size && !exporter->state) || !begin_state(exporter, options)) {
		if (exporter)
			free(exporter->state);
		free(exporter);
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory");
	}
	exporter->sink = (struct lpl_sink){ export_refs, export_event, export_finish };
	exporter->options = *options;
	exporter->cycles_a_second = lpl_cycles_a_second(options->meta);
	exporter->page_shift = (unsigned int)__builtin_ctzll(page_size_of(options->meta));
	*result = exporter;
	return LPL_OK;
}

struct lpl_sink *lpl_exporter_sink(struct lpl_exporter *exporter)
{
	return &exporter->sink;
}

void lpl_exporter_result(const struct lpl_exporter *exporter, struct lpl_export_result *result)
{
	const unsigned int traits = exporter->options.format->traits;
	struct lpl_losses *losses = &result->losses;

	*result = exporter->result;
	result->refs -= losses->fetches_left_out;
	if (traits & (LPL_FORMAT_WHOLE | LPL_FORMAT_PAGES))
		losses->addresses = 0;
	if (traits & LPL_WITH_LENGTH)
		losses->lengths = losses->addresses;
	if ((traits & LPL_WITH_SPACE) || exporter->options.physical)
		losses->spaces = 0;
}

void lpl_exporter_close(struct lpl_exporter *exporter)
{
	if (!exporter)
		return;
	if (exporter->state && exporter->options.format->export_free)
		exporter->options.format->export_free(exporter->state);
	free(exporter->state);
	free(exporter);
}

/* Of formats that have instructions. */
static void put_instruction_losses(char *at, const struct lpl_losses *losses)
{
	const struct {
		uint64_t count;
		const char *what;
	} loss[] = {
		{ losses->walks_left_out, "references to page tables are left out" },
		{ losses->own, "references that the processor makes by itself, and no operand, are left out" },
		{ losses->delivered, "references of interrupts, exceptions and returns from them are left out: markers stand "
		  "for them" },
		{ losses->incomplete, "instructions that did not complete are left out: markers stand for them" },
		{ losses->undecoded, "instructions are left out that are none of 64-bit mode, or not known" },
		{ losses->unfollowed, "last instructions are left out, as it is not known how they went on" },
		{ losses->gaps, "places where instructions are missing are marked" },
	};

	for (size_t i = 0; i < sizeof(loss) / sizeof(loss[0]); i++)
		if (loss[i].count)
			at += sprintf(at, "%" PRIu64 " %s\n", loss[i].count, loss[i].what);
}

char *lpl_losses_text(const struct lpl_losses *losses, char text[LPL_WARNINGS_SIZE])
{
	char *at = text;

	*at = '\0';
	if (losses->lengths)
		at = stpcpy(at, "reduced to pages: lengths are printed as 0, addresses are those "
				"of pages\n");
	else if (losses->addresses)
		at = stpcpy(at, "reduced to pages: addresses are those of pages\n");
	if (losses->spaces)
		at = stpcpy(at, "has several address spaces, and their pages look alike in this "
				"format\n");
	if (losses->fetches)
		at += sprintf(at, "%" PRIu64 " instruction fetches are written as reads\n",
			      losses->fetches);
	if (losses->fetches_left_out)
		at += sprintf(at, "%" PRIu64 " instruction fetches are left out\n",
			      losses->fetches_left_out);
	if (losses->walks)
		at = stpcpy(at, "references to page tables are printed as reads and writes, of "
				"physical addresses\n");
	else if (losses->purposes)
		at = stpcpy(at, "what page tables were walked for is left out (`laplace cat --walks' has it)\n");
	if (losses->frames)
		at += sprintf(at, "of %" PRIu64 " references the frame is not known: each of their "
			      "pages counts as one\n", losses->frames);
	if (losses->frames_left_out)
		at += sprintf(at, "of %" PRIu64 " references the frame is not known: they are left "
			      "out\n", losses->frames_left_out);
	if (losses->instructions)
		at += sprintf(at, "of %" PRIu64 " instructions the bytes are not known\n", losses->instructions);
	if (losses->data_left_out)
		at += sprintf(at, "%" PRIu64 " data references are left out: they are of no instruction, or more than "
			      "this format has room for\n", losses->data_left_out);
	if (losses->events)
		at += sprintf(at, "%" PRIu64 " events are left out\n", losses->events);
	put_instruction_losses(at, losses);
	return text;
}
