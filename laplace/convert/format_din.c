/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The format of the dinero cache simulators.
 *
 *	2 430d70		LABEL ADDRESS; the rest of a line is comment
 *
 * Labels: 0 read, 1 write, 2 fetch, 3 a reference of unknown type (imported as a
 * read), 4 flush the cache (no reference; passed over).  Lengths are unknown: a
 * reference is imported as one of a byte, which crosses nothing.
 */
#include <string.h>

#include "exporter.h"
#include "importer.h"

/* ---- recognising ---- */

/* Text, up to the newline. */
static bool is_text(const char *at)
{
	while (*at != '\n' && ((uint8_t)*at >= ' ' || *at == '\t' || *at == '\r'))
		at++;
	return *at == '\n';
}

/* A line of this format; *refs counts its references. */
static bool is_line(const char *at, size_t *refs)
{
	uint64_t address;

	if (!is_text(at))
		return false;
	at = scan_blanks(at);
	if (scan_line_end(at))
		return true;
	if (*at < '0' || *at > '4' || !scan_is_end(at[1]))
		return false;
	if (*at == '4')
		return true;
	++*refs;
	return scan_hex_field(at + 1, &address) != NULL;
}

/* Every line has to be one: no other text begins with one of these digits and a number in each. */
static enum lpl_recognition recognise_din(const struct lpl_sample *sample)
{
	const char *at = (const char *)sample->bytes, *const end = at + sample->size;
	size_t refs = 0;

	while (at < end) {
		const char *newline = rawmemchr(at, '\n');

		if (newline >= end && !sample->whole)
			break;
		if (!is_line(at, &refs))
			return LPL_OTHER;
		at = newline + 1;
	}
	return refs ? LPL_LIKELY : LPL_OTHER;
}

/* ---- reading and printing ---- */

static const char *read_din(struct lpl_importer *importer, const char *at)
{
	static const uint8_t type[] = { LPL_READ, LPL_WRITE, LPL_FETCH, LPL_READ };
	struct lpl_ref ref = { 0 };
	unsigned int label;

	at = scan_blanks(at);
	label = (unsigned int)(uint8_t)*at - '0';
	if (label > 4 || !scan_is_end(at[1])) {
		at = scan_line_end(at);
		return at ? at : lpl_import_no_field(importer, "label");
	}
	if (label == 4) {
		importer->result.flushes++;
		return rawmemchr(at, '\n');
	}
	importer->result.unknown += label == 3;
	ref.type = type[label];
	at = scan_hex_field(at + 1, &ref.address);
	if (!at)
		return lpl_import_no_field(importer, "address");
	ref.instr = ref.cycle = lpl_import_instruction(importer, ref.type);
	if (!lpl_import_access(importer, &ref, 1))
		return NULL;
	return *at == '\n' ? at : rawmemchr(at, '\n');
}

static char *write_din(struct lpl_exporter *exporter, char *out, const struct lpl_ref *ref)
{
	static const char label[LPL_TYPES] = { '0', '1', '2' };

	*out++ = label[lpl_export_plain_type(exporter, ref)];
	out = put_hex_field(out, ref->address);
	return put_newline(out);
}

const struct lpl_format lpl_format_din = {
	.name = "din",
	.fields = "LABEL ADDRESS",
	.traits = LPL_WITH_WRITES | LPL_WITH_FETCHES,
	.recognise = recognise_din,
	.read_line = read_din,
	.write_ref = write_din,
};
