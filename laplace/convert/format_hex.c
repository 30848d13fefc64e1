/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The traces that classes on operating systems hand out for exercises in paging.
 *
 *	0041f7a0 R		ADDRESS R|W, in hexadecimal
 *
 * There are no fetches: they are written as reads.  Lengths are unknown: a reference is imported as
 * one of a byte, which crosses nothing.
 */
#include <string.h>

#include "exporter.h"
#include "importer.h"

/* ---- reading ---- */

/* The type after an address, and the end of the line; NULL: it is none of this format. */
static const char *scan_access(const char *at, uint8_t *type)
{
	at = scan_blanks(at);
	if (*at != 'R' && *at != 'r' && *at != 'W' && *at != 'w')
		return NULL;
	*type = *at == 'W' || *at == 'w' ? LPL_WRITE : LPL_READ;
	return scan_line_end(at + 1);
}

/* An address begins a line, as another field would follow a blank. */
static const char *scan_address(const char *at, uint64_t *address)
{
	at = scan_blanks(at);
	if (*at == '0' && (at[1] == 'x' || at[1] == 'X'))
		at += 2;
	at = lpl_scan_hex(at, address);
	return at && (*at == ' ' || *at == '\t') ? at : NULL;
}

static const char *read_hex(struct lpl_importer *importer, const char *at)
{
	struct lpl_ref ref = { 0 };
	const char *end = scan_line_end(at);

	if (end)
		return end;
	at = scan_address(at, &ref.address);
	if (!at)
		return lpl_import_no_field(importer, "address");
	at = scan_access(at, &ref.type);
	if (!at)
		return lpl_import_no_field(importer, "R or W");
	ref.instr = ref.cycle = importer->ref + 1;
	return lpl_import_access(importer, &ref, 1) ? at : NULL;
}

/* Every line has to be one, or empty: no other format ends its lines so. */
static enum lpl_recognition recognise_hex(const struct lpl_sample *sample)
{
	const char *at = (const char *)sample->bytes, *const end = at + sample->size;
	size_t refs = 0;

	while (at < end) {
		const char *newline = rawmemchr(at, '\n');
		uint64_t address;
		uint8_t type;

		if (newline >= end && !sample->whole)
			break;
		if (!scan_line_end(at)) {
			at = scan_address(at, &address);
			if (!at || !scan_access(at, &type))
				return LPL_OTHER;
			refs++;
		}
		at = newline + 1;
	}
	return refs ? LPL_LIKELY : LPL_OTHER;
}

/* ---- printing ---- */

static char *write_hex(struct lpl_exporter *exporter, char *out, const struct lpl_ref *ref)
{
	const unsigned int type = lpl_export_read_or_write(exporter, ref);

	out = put_hex_digits(out, ref->address, 8);
	*out++ = ' ';
	*out++ = type == LPL_WRITE ? 'W' : 'R';
	return put_newline(out);
}

const struct lpl_format lpl_format_hex = {
	.name = "hex",
	.fields = "ADDRESS R|W",
	.traits = LPL_WITH_WRITES,
	.recognise = recognise_hex,
	.read_line = read_hex,
	.write_ref = write_hex,
};
