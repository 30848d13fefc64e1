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

#include "event_text.h"
#include "exporter.h"
#include "importer.h"

/* The number is there, and makes the other clocks. */
static bool send_page(struct lpl_importer *importer, struct lpl_ref *ref, uint64_t page)
{
	ref->instr = ref->cycle = ref->ref;
	return lpl_import_set_page(importer, ref, page) && lpl_import_timed_ref(importer, ref);
}

static const char *read_pages(struct lpl_importer *importer, const char *at)
{
	unsigned int type = scan_type(*at);
	struct lpl_ref ref = { .ref = importer->ref + 1 };
	const char *rest;
	uint64_t page;

	if (type == LPL_TYPES) {
		/* a number by itself: as if there were a letter before it */
		rest = lpl_scan_hex(*at == '0' && (at[1] | 0x20) == 'x' ? at + 2 : at, &page);
		if (!rest || !scan_is_end(*rest) || lpl_event_is_line(at))
			return lpl_import_other_line(importer, at);
		type = LPL_READ;
	} else {
		rest = scan_hex_field(at + 1, &page);
		if (!rest)
			return lpl_import_no_field(importer, "page");
	}
	ref.type = (uint8_t)type;
	at = lpl_import_line_end(importer, rest);
	return at && send_page(importer, &ref, page) ? at : NULL;
}

static const char *read_time_passed(struct lpl_importer *importer, const char *at)
{
	const unsigned int type = scan_type(*at);
	struct lpl_ref ref = { .type = (uint8_t)type };
	uint64_t passed, page;

	if (type == LPL_TYPES)
		return lpl_import_other_line(importer, at);
	at = scan_decimal_field(at + 1, &passed);
	if (!at)
		return lpl_import_no_field(importer, "time passed");
	at = scan_hex_field(at, &page);
	if (!at)
		return lpl_import_no_field(importer, "page");
	/* an event between has the number of a reference that was dropped */
	ref.ref = importer->last.ref + passed + 1;
	if (ref.ref <= passed)
		return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "the time exceeds 64 bits");
	at = lpl_import_line_end(importer, at);
	return at && send_page(importer, &ref, page) ? at : NULL;
}

static char *write_pages(struct lpl_exporter *exporter, char *out, const struct lpl_ref *ref)
{
	*out++ = lpl_type_letter(ref->type);
	out = put_hex_field(out, lpl_export_page(exporter, ref));
	return put_newline(out);
}

static char *write_time_passed(struct lpl_exporter *exporter, char *out, const struct lpl_ref *ref)
{
	if (ref->ref == exporter->last.ref || (ref->flags & LPL_SYNTHETIC))
		return lpl_export_refuse(exporter, LPL_ERR_UNSUPPORTED, "reference %" PRIu64
					 " was put in by a reducer with no time passed: that is "
					 "not in time-passed", ref->ref);
	*out++ = lpl_type_letter(ref->type);
	out = put_decimal_field(out, ref->ref - exporter->last.ref - 1);
	out = put_hex_field(out, lpl_export_page(exporter, ref));
	return put_newline(out);
}

const struct lpl_format lpl_format_pages = {
	.name = "pages",
	.fields = "[TYPE] PAGE",
	.traits = LPL_FORMAT_PAGES | LPL_FORMAT_EVENTS | LPL_WITH_TYPES,
	.read_line = read_pages,
	.write_ref = write_pages,
};

const struct lpl_format lpl_format_time_passed = {
	.name = "time-passed",
	.fields = "TYPE TIME-PASSED PAGE",
	.traits = LPL_FORMAT_PAGES | LPL_FORMAT_REDUCED | LPL_FORMAT_EVENTS | LPL_WITH_REF |
		  LPL_WITH_TYPES,
	.read_line = read_time_passed,
	.write_ref = write_time_passed,
};
