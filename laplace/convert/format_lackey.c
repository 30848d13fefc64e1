/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What valgrind --tool=lackey --trace-mem=yes prints.
 *
 *	I  04016b80,3		fetch
 *	 L 1ffeffe7e0,8		load
 *	 S 1ffeffe7e8,8		store
 *	 M 0421c7cc,4		modify: a load and a store
 *
 * Addresses are hexadecimal, sizes decimal.  Lines of valgrind's own (`==12== ...')
 * are passed over, and so is what the program printed, as long as that is no more lines
 * than half of the references: it is counted.  An access is whole here, also one that
 * crosses a page: what is two references in a trace is put together again.  All are the
 * program's own: valgrind sees nothing of the kernel.
 */
#include <inttypes.h>
#include <string.h>

#include "exporter.h"
#include "importer.h"

/* ---- reading ---- */

/* `==12== ', `--12-- ', `**12** ' */
static bool is_valgrinds_own(const char *at)
{
	return (*at == '=' || *at == '-' || *at == '*') && at[1] == *at;
}

static const char *read_other(struct lpl_importer *importer, const char *at)
{
	const char *end = scan_line_end(at);

	if (end)
		return end;
	if (is_valgrinds_own(at))
		return rawmemchr(at, '\n');
	if (importer->result.foreign >= importer->ref / 2)
		return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "no line of lackey's (which "
					 "are %s)%s", importer->options.format->fields,
					 importer->result.foreign ? ", as more than half as many "
					 "lines are as there are references" : "");
	if (importer->result.foreign++ == 0)
		importer->result.first_foreign = importer->place;
	return rawmemchr(at, '\n');
}

/*
 * Does a record stand after the letter, be it a wrong one?  A program may print the letter,
 * and a word after it that begins like a number.
 */
static bool is_record(const char *at)
{
	const char *digits = scan_blanks(at);
	uint8_t next;

	if (digits == at)
		return false;
	for (at = digits; lpl_digit[(uint8_t)*at] < 16; at++)
		;
	next = (uint8_t)*at;
	if (at - digits >= 8)		/* lackey's have as many */
		return next == ',' || scan_is_end((char)next);
	return at > digits && next == ',' && lpl_digit[(uint8_t)at[1]] < 10;
}

/* There is no such field: of a record, or because this is none. */
static const char *no_field(struct lpl_importer *importer, const char *line, const char *field)
{
	return is_record(scan_blanks(line) + 1) ? lpl_import_no_field(importer, field) :
						   read_other(importer, line);
}

static const char *read_lackey(struct lpl_importer *importer, const char *at)
{
	const char *line = at;
	struct lpl_ref ref = { .flags = LPL_USER };
	uint64_t size;
	char letter;

	at = scan_blanks(at);
	letter = *at++;
	switch (letter) {
	case 'I':
		ref.type = LPL_FETCH;
		break;
	case 'L':
	case 'M':
		ref.type = LPL_READ;
		break;
	case 'S':
		ref.type = LPL_WRITE;
		break;
	default:
		return read_other(importer, line);
	}
	if (*at != ' ' && *at != '\t')
		return read_other(importer, line);
	at = lpl_scan_hex(scan_blanks(at), &ref.address);
	if (!at || *at != ',')
		return no_field(importer, line, "address");
	at = lpl_scan_decimal(at + 1, &size);
	if (!at || !scan_is_end(*at))
		return no_field(importer, line, "size");
	at = lpl_import_line_end(importer, at);
	if (!at)
		return NULL;
	ref.instr = ref.cycle = lpl_import_instruction(importer, ref.type);
	if (!lpl_import_access(importer, &ref, size))
		return NULL;
	if (letter != 'M')
		return at;
	ref.type = LPL_WRITE;
	return lpl_import_access(importer, &ref, size) ? at : NULL;
}

/* ---- printing ---- */

/* An access that may go on in the next reference. */
struct access {
	struct lpl_ref ref;
	uint64_t size;		/* 0: there is none */
	unsigned int type;
};

static char *write_access(struct lpl_exporter *exporter, char *out)
{
	static const char *const letters[LPL_TYPES] = { " L ", " S ", "I  " };
	struct access *access = exporter->state;

	if (!access->size)
		return out;
	out = stpcpy(out, letters[access->type]);
	out = put_hex_digits(out, access->ref.address, 8);	/* as valgrind does */
	*out++ = ',';
	out = lpl_put_decimal(out, access->size);
	access->size = 0;
	return put_newline(out);
}

static char *write_lackey(struct lpl_exporter *exporter, char *out, const struct lpl_ref *ref)
{
	struct access *access = exporter->state;

	if (!ref->length)
		return lpl_export_refuse(exporter, LPL_ERR_UNSUPPORTED, "was reduced to pages, "
					 "and lackey wants the size of every access");
	if (access->size && (ref->flags & LPL_SECOND) && ref->type == access->ref.type &&
	    ref->space == access->ref.space &&
	    ref->address == access->ref.address + access->size) {
		access->size += ref->length;
		return out;
	}
	out = write_access(exporter, out);
	access->ref = *ref;
	access->size = ref->length;
	access->type = lpl_export_plain_type(exporter, ref);
	return out;
}

const struct lpl_format lpl_format_lackey = {
	.name = "lackey",
	.fields = "I|L|S|M ADDRESS,SIZE",
	.traits = LPL_WITH_LENGTH | LPL_WITH_WRITES | LPL_WITH_FETCHES,
	.read_line = read_lackey,
	.write_ref = write_lackey,
	.write_rest = write_access,
	.export_state = sizeof(struct access),
};
