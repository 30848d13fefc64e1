/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What formats hand over on import, and what they complain of.  A reference leaves here only
 * when it is one that a trace may hold, in its place.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "event_text.h"
#include "importer.h"

/* ---- what is wrong ---- */

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
			       options->input, importer->place, what);
	} else if (!importer->line) {
		(void)lpl_fail(importer->report, error, "%s/%s: line %" PRIu64 ": %s",
			       options->input, importer->below, importer->place, what);
	} else {
		size_t length = strcspn(importer->line, "\r\n");

		lpl_text_escape(line, sizeof(line), importer->line,
				length < EXCERPT ? length : EXCERPT);
		(void)lpl_fail(importer->report, error, "%s%s%s: line %" PRIu64 ": %s, in '%s%s'",
			       options->input, *importer->below ? "/" : "", importer->below,
			       importer->place, what, line,
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
	return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "something follows the line's last "
				 "field (a line is %s)", importer->options.format->fields);
}

void *lpl_import_no_memory(struct lpl_importer *importer)
{
	(void)lpl_fail(importer->report, LPL_ERR_MEMORY, "no memory");
	return NULL;
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

/* ---- references and events ---- */

bool lpl_import_sent(struct lpl_importer *importer, enum lpl_error error)
{
	if (error && !importer->report->error)
		importer->report->error = error;
	return !error;
}

bool lpl_import_flush(struct lpl_importer *importer)
{
	struct lpl_sink *sink = importer->sink;
	size_t count = importer->count;

	importer->count = 0;
	importer->result.refs += count;
	return !count || lpl_import_sent(importer, sink->refs(sink, importer->batch, count,
							      importer->report));
}

bool lpl_import_event(struct lpl_importer *importer, const struct lpl_event *event)
{
	struct lpl_sink *sink = importer->sink;

	if (!lpl_import_flush(importer) ||
	    !lpl_import_sent(importer, sink->event(sink, event, importer->report)))
		return false;
	importer->ref = event->ref;
	importer->instr = event->instr;
	importer->cycle = event->cycle;
	importer->result.events++;
	return true;
}

bool lpl_import_check_clock(struct lpl_importer *importer, const char *name, uint64_t time,
			    uint64_t before)
{
	if (time >= before)
		return true;
	return lpl_import_refuse(importer, LPL_ERR_ORDER, "time runs backwards: %s %" PRIx64
				 " after %" PRIx64, name, time, before);
}

bool lpl_import_parts(struct lpl_importer *importer, const struct lpl_ref *whole,
		      uint64_t length)
{
	const uint64_t page = 1U << LPL_PAGE_SHIFT;
	struct lpl_ref ref = *whole;

	if (length < 1 || length > IMPORT_LENGTH_MAX)
		return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "a length of %" PRIu64
					 " bytes (possible are 1 to %d)", length,
					 IMPORT_LENGTH_MAX);
	if (ref.address + (length - 1) < ref.address)
		return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "the access goes beyond the "
					 "last address");
	for (;;) {
		uint64_t part = page - (ref.address & (page - 1));

		if (part > IMPORT_LENGTH)
			part = IMPORT_LENGTH;
		if (part > length)
			part = length;
		assert(part > 0);
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
	const unsigned int shift = importer->page_shift;

	ref->address = page << shift;
	ref->flags |= shift < LPL_PAGE_SHIFT ? 0 : LPL_PAGED;
	ref->length = (uint16_t)(shift < LPL_PAGE_SHIFT ? 1U << shift : 0);
	if (ref->address >> shift == page)
		return true;
	return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "page %" PRIx64 " has no address of "
				 "64 bits", page);
}

bool lpl_import_timed_ref(struct lpl_importer *importer, struct lpl_ref *ref)
{
	if (!ref->ref)
		return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "references are counted from "
					 "1");
	if (!lpl_import_check_clock(importer, "reference", ref->ref, importer->ref) ||
	    !lpl_import_check_clock(importer, "instruction", ref->instr, importer->instr) ||
	    !lpl_import_check_clock(importer, "cycle", ref->cycle, importer->cycle))
		return false;
	if (ref->ref == importer->ref && !(ref->flags & LPL_SYNTHETIC))
		return lpl_import_refuse(importer, LPL_ERR_ORDER, "reference %" PRIx64 " comes "
					 "again", ref->ref);
	return lpl_import_ref(importer, ref);
}

bool lpl_import_numbered_ref(struct lpl_importer *importer, struct lpl_ref *ref)
{
	const struct lpl_ref *last = &importer->last;

	if (ref->ref == importer->ref &&
	    (ref->ref != last->ref || (ref->instr == last->instr && ref->cycle == last->cycle)))
		ref->flags |= LPL_SYNTHETIC;
	return lpl_import_timed_ref(importer, ref);
}

bool lpl_import_whole_ref(struct lpl_importer *importer, struct lpl_ref *ref, uint64_t length)
{
	const uint64_t page = 1U << LPL_PAGE_SHIFT;
	const uint64_t offset = ref->address & (page - 1);
	const bool paged = (ref->flags & LPL_PAGED) != 0;
	const bool finer = importer->page_shift < LPL_PAGE_SHIFT &&
			   length == UINT64_C(1) << importer->page_shift;

	if ((length > IMPORT_LENGTH && !finer) || (length == 0) != paged)
		return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "a length of %" PRIu64
					 " bytes (possible are 1 to %d, and 0 for a page)", length,
					 IMPORT_LENGTH);
	if (paged ? offset != 0 : offset + length > page)
		return lpl_import_refuse(importer, LPL_ERR_DAMAGED, paged ?
					 "the address is not a page's first" :
					 "the reference crosses a page");
	ref->length = (uint16_t)length;
	importer->result.paged |= paged;
	return lpl_import_timed_ref(importer, ref);
}
