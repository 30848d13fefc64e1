/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pages alone, of one space.
 *
 *	pages		r 800a3		or only 800a3: a read
 *	time-passed	r 12 800a3	TYPE TIME-PASSED PAGE
 *
 * TIME-PASSED is decimal: how many references were dropped between this one and the
 * one before it.  It is the annotation with which traces that were reduced for WS
 * and VMIN keep their reference time (Kaplan et al., section 6); 0 throughout when
 * nothing was dropped.
 */
#include <inttypes.h>

#include "events.h"
#include "importer.h"
#include "printer.h"
#include "put.h"

/* The number is there, and makes the other clocks. */
static bool put_page(struct importer *importer, struct lpl_ref *ref, uint64_t page)
{
	ref->instr = ref->cycle = ref->ref;
	return importer_set_page(importer, ref, page) && importer_put_told(importer, ref);
}

static const char *read_pages(struct importer *importer, const char *at)
{
	unsigned int type = scan_type(*at);
	struct lpl_ref ref = { .ref = importer->ref + 1 };
	const char *rest;
	uint64_t page;

	if (type == LPL_TYPES) {
		/* a number by itself: as if there were a letter before it */
		rest = scan_hex(*at == '0' && (at[1] | 0x20) == 'x' ? at + 2 : at, &page);
		if (!rest || !scan_is_end(*rest) || event_is_line(at))
			return importer_other_line(importer, at);
		type = LPL_READ;
	} else {
		rest = scan_hex_field(at + 1, &page);
		if (!rest)
			return importer_no_field(importer, "page");
	}
	ref.type = (uint8_t)type;
	at = importer_line_end(importer, rest);
	return at && put_page(importer, &ref, page) ? at : NULL;
}

static const char *read_time_passed(struct importer *importer, const char *at)
{
	const unsigned int type = scan_type(*at);
	struct lpl_ref ref = { .type = (uint8_t)type };
	uint64_t passed, page;

	if (type == LPL_TYPES)
		return importer_other_line(importer, at);
	at = scan_decimal_field(at + 1, &passed);
	if (!at)
		return importer_no_field(importer, "time passed");
	at = scan_hex_field(at, &page);
	if (!at)
		return importer_no_field(importer, "page");
	/* an event between has the number of a reference that was dropped */
	ref.ref = importer->last.ref + passed + 1;
	if (ref.ref <= passed)
		return importer_refuse(importer, LPL_ERR_DAMAGED, "the time exceeds 64 bits");
	at = importer_line_end(importer, at);
	return at && put_page(importer, &ref, page) ? at : NULL;
}

static char *print_pages(struct printer *printer, char *out, const struct lpl_ref *ref)
{
	*out++ = lpl_type_letter(ref->type);
	out = put_hex_field(out, printer_page(printer, ref));
	return put_newline(out);
}

static char *print_time_passed(struct printer *printer, char *out, const struct lpl_ref *ref)
{
	if (ref->ref == printer->last.ref || (ref->flags & LPL_SYNTHETIC))
		return printer_refuse(printer, LPL_ERR_UNSUPPORTED, "reference %" PRIu64 " was put "
				      "in by a reducer: no time passed is not told by "
				      "time-passed", ref->ref);
	*out++ = lpl_type_letter(ref->type);
	out = put_decimal_field(out, ref->ref - printer->last.ref - 1);
	out = put_hex_field(out, printer_page(printer, ref));
	return put_newline(out);
}

const struct format format_pages = {
	.name = "pages",
	.fields = "[TYPE] PAGE",
	.traits = FORMAT_PAGES | FORMAT_EVENTS,
	.read_line = read_pages,
	.put = print_pages,
};

const struct format format_time_passed = {
	.name = "time-passed",
	.fields = "TYPE TIME-PASSED PAGE",
	.traits = FORMAT_PAGES | FORMAT_REDUCED | FORMAT_EVENTS | TELLS_REF,
	.read_line = read_time_passed,
	.put = print_time_passed,
};
