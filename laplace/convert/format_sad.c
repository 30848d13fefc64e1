/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reduced traces: type, the three clocks, space and page of each reference.
 *
 *	sad		r 123456789abcdef0 1bd8ef123 2ca4563118 9f8e7 800a3
 *	sad-diff	r 100 232 25e 0 + a3		against the line before
 *
 * A number of a reference that comes again is one that a reducer put in
 * (LPL_SYNTHETIC).
 */
#include <stdbool.h>

#include "exporter.h"
#include "importer.h"

/* The three clocks, in their order; NULL after a complaint. */
static const char *read_clocks(struct lpl_importer *importer, const char *at, struct lpl_ref *ref)
{
	at = scan_hex_field(at, &ref->cycle);
	if (!at)
		return lpl_import_no_field(importer, "cycle");
	at = scan_hex_field(at, &ref->instr);
	if (!at)
		return lpl_import_no_field(importer, "instruction");
	at = scan_hex_field(at, &ref->ref);
	if (!at)
		return lpl_import_no_field(importer, "reference");
	return at;
}

static const char *read_sad(struct lpl_importer *importer, const char *at)
{
	const unsigned int type = scan_type(*at);
	struct lpl_ref ref = { .type = (uint8_t)type };
	uint64_t page;

	if (type == LPL_TYPES)
		return lpl_import_other_line(importer, at);
	at = read_clocks(importer, at + 1, &ref);
	if (!at)
		return NULL;
	at = scan_hex_field(at, &ref.space);
	if (!at)
		return lpl_import_no_field(importer, "space");
	at = scan_hex_field(at, &page);
	if (!at)
		return lpl_import_no_field(importer, "page");
	at = lpl_import_line_end(importer, at);
	return at && lpl_import_set_page(importer, &ref, page) && lpl_import_numbered_ref(importer, &ref) ?
		at : NULL;
}

static bool add(uint64_t *clock, uint64_t before)
{
	*clock += before;
	return *clock >= before;
}

static const char *read_sad_diff(struct lpl_importer *importer, const char *at)
{
	const struct lpl_ref *last = &importer->last;
	const unsigned int type = scan_type(*at);
	struct lpl_ref ref = { .type = (uint8_t)type };
	uint64_t page;

	if (type == LPL_TYPES)
		return lpl_import_other_line(importer, at);
	at = read_clocks(importer, at + 1, &ref);
	if (!at)
		return NULL;
	if (!add(&ref.cycle, last->cycle) || !add(&ref.instr, last->instr) ||
	    !add(&ref.ref, last->ref))
		return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "a clock exceeds 64 bits");
	at = scan_space_change(at, last->space, &ref.space);
	if (!at)
		return lpl_import_no_field(importer, "space");
	at = scan_difference(at, last->address >> importer->page_shift, &page);
	if (!at)
		return lpl_import_no_field(importer, "page");
	at = lpl_import_line_end(importer, at);
	return at && lpl_import_set_page(importer, &ref, page) && lpl_import_numbered_ref(importer, &ref) ?
		at : NULL;
}

static char *write_sad(struct lpl_exporter *exporter, char *out, const struct lpl_ref *ref)
{
	*out++ = lpl_type_letter(ref->type);
	out = put_hex_field(out, ref->cycle);
	out = put_hex_field(out, ref->instr);
	out = put_hex_field(out, ref->ref);
	out = put_hex_field(out, ref->space);
	out = put_hex_field(out, lpl_export_page(exporter, ref));
	return put_newline(out);
}

static char *write_sad_diff(struct lpl_exporter *exporter, char *out, const struct lpl_ref *ref)
{
	const struct lpl_ref *last = &exporter->last;

	*out++ = lpl_type_letter(ref->type);
	out = put_hex_field(out, ref->cycle - last->cycle);
	out = put_hex_field(out, ref->instr - last->instr);
	out = put_hex_field(out, ref->ref - last->ref);
	out = put_space_change(out, ref->space, last->space);
	out = put_difference(out, lpl_export_page(exporter, ref), lpl_export_page(exporter, last));
	return put_newline(out);
}

const struct lpl_format lpl_format_sad = {
	.name = "sad",
	.fields = "TYPE CYCLE INSTRUCTION REFERENCE SPACE PAGE",
	.traits = LPL_FORMAT_PAGES | LPL_FORMAT_REDUCED | LPL_FORMAT_EVENTS | LPL_WITH_REF |
		  LPL_WITH_INSTR | LPL_WITH_CYCLE | LPL_WITH_SPACE | LPL_WITH_TYPES,
	.read_line = read_sad,
	.write_ref = write_sad,
};

const struct lpl_format lpl_format_sad_diff = {
	.name = "sad-diff",
	.fields = "TYPE CYCLES INSTRUCTIONS REFERENCES SPACE SIGN PAGES",
	.traits = LPL_FORMAT_PAGES | LPL_FORMAT_REDUCED | LPL_FORMAT_EVENTS | LPL_WITH_REF |
		  LPL_WITH_INSTR | LPL_WITH_CYCLE | LPL_WITH_SPACE | LPL_WITH_TYPES,
	.read_line = read_sad_diff,
	.write_ref = write_sad_diff,
};
