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
	.traits = 0,
	.read_line = read_din,
	.write_ref = write_din,
};
