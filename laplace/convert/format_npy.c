/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * NumPy's own format, a file that says itself what is in it: an array of records with
 * every field of a reference, as unsigned numbers of their full width.
 *
 *	\x93NUMPY 1 0		magic and version
 *	size 16			of the header that follows, little-endian
 *	header			{'descr': [...], 'fortran_order': False, 'shape': (N,), } with
 *				blanks and a newline after it
 *	N records		48 bytes each, as `fields` has them
 *
 * How many records there are is known at the end and stands at the beginning, which is
 * why this is written to files only.  Read is what is of the same fields: what was written
 * here, and what NumPy saved of it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "exporter.h"
#include "importer.h"
#include "npy.h"

#define BYTES 48
#define HEADER_MOST 4096	/* of what is read */

/* The last byte of a record is none's. */
static const char fields[] =
	"{'descr': [('reference', '<u8'), ('instruction', '<u8'), ('cycle', '<u8'), "
	"('space', '<u8'), ('address', '<u8'), ('length', '<u2'), ('type', '|S1'), "
	"('user', '|b1'), ('second', '|b1'), ('paged', '|b1'), ('synthetic', '|b1'), "
	"('', '|V1')], 'fortran_order': False, 'shape': (";

enum { FLAGS = 4, FLAGS_AT = 43 };
static const uint8_t flag[FLAGS] = { LPL_USER, LPL_SECOND, LPL_PAGED, LPL_SYNTHETIC };

/* ---- reading ---- */

struct npy_state {
	bool begun;
	uint64_t left;		/* records that are to come */
};

static const char *skip(const char *at, const char *text)
{
	size_t length = strlen(text);

	return at && strncmp(at, text, length) == 0 ? at + length : NULL;
}

/* How many records a header of that many bytes announces; false: it is of something else. */
static bool read_shape(const uint8_t *header, size_t size, uint64_t *count)
{
	char text[HEADER_MOST + 1];
	const char *at;

	memcpy(text, header, size);
	text[size] = '\0';
	at = skip(text, fields);
	if (at)
		at = lpl_scan_decimal(at, count);
	at = skip(at, ",), }");
	if (!at || size == 0 || text[size - 1] != '\n')
		return false;
	return at + strspn(at, " ") == &text[size - 1];
}

static const uint8_t *read_header(struct lpl_importer *importer, const uint8_t *at,
				  const uint8_t *end)
{
	struct npy_state *state = importer->state;
	size_t size;

	if (end - at < NPY_HEADER_AT || memcmp(at, NPY_MAGIC, NPY_MAGIC_BYTES) != 0)
		return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "is no .npy file of version "
					 "1.0");
	size = (size_t)at[NPY_MAGIC_BYTES] | (size_t)at[NPY_MAGIC_BYTES + 1] << 8;
	if ((size_t)(end - at) < NPY_HEADER_AT + size && size <= HEADER_MOST)
		return lpl_import_refuse(importer, LPL_ERR_TRUNCATED, "the input ends within the "
					 "header");
	if (size > HEADER_MOST || !read_shape(at + NPY_HEADER_AT, size, &state->left))
		return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "is no array in one dimension "
					 "with the fields that `laplace export --to npy' writes");
	state->begun = true;
	return at + NPY_HEADER_AT + size;
}

static const uint8_t *read_npy(struct lpl_importer *importer, const uint8_t *at,
			       const uint8_t *end)
{
	struct npy_state *state = importer->state;
	struct lpl_ref ref = { 0 };
	unsigned int type;

	if (!state->begun)
		return read_header(importer, at, end);
	if (!state->left)
		return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "something follows the last "
					 "record");
	if (end - at < BYTES)
		return lpl_import_refuse(importer, LPL_ERR_TRUNCATED, "the input ends within a "
					 "record, after %d of its %d bytes", (int)(end - at),
					 BYTES);
	state->left--;
	type = scan_type((char)at[42]);
	if (type == LPL_TYPES)
		return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "type 0x%02x is none of r, w, "
					 "i, p, q", at[42]);
	ref.type = (uint8_t)type;
	ref.ref = scan_le64(at);
	ref.instr = scan_le64(at + 8);
	ref.cycle = scan_le64(at + 16);
	ref.space = scan_le64(at + 24);
	ref.address = scan_le64(at + 32);
	for (size_t i = 0; i < FLAGS; i++)
		ref.flags |= at[FLAGS_AT + i] ? flag[i] : 0;
	return lpl_import_whole_ref(importer, &ref, (uint64_t)at[40] | (uint64_t)at[41] << 8) ?
		at + BYTES : NULL;
}

static bool read_end(struct lpl_importer *importer)
{
	const struct npy_state *state = importer->state;

	/* an empty file is an empty trace, in every format */
	if (!state->left)
		return true;
	return lpl_import_refuse(importer, LPL_ERR_TRUNCATED, "the input ends %" PRIu64 " records "
				 "before the number that its header gives", state->left);
}

/* ---- printing ---- */

static char *write_empty_header(struct lpl_exporter *exporter, char *out)
{
	(void)exporter;
	return npy_put_header(out, fields, 0);
}

static char *write_npy(struct lpl_exporter *exporter, char *out, const struct lpl_ref *ref)
{
	(void)exporter;
	out = put_le64(out, ref->ref);
	out = put_le64(out, ref->instr);
	out = put_le64(out, ref->cycle);
	out = put_le64(out, ref->space);
	out = put_le64(out, ref->address);
	*out++ = (char)(ref->length & 0xff);
	*out++ = (char)(ref->length >> 8);
	*out++ = lpl_type_letter(ref->type);
	for (size_t i = 0; i < FLAGS; i++)
		*out++ = (ref->flags & flag[i]) != 0;
	*out++ = 0;
	return out;
}

static char *write_count(struct lpl_exporter *exporter, char *out)
{
	char header[NPY_RECORDS_AT];

	npy_put_header(header, fields, exporter->result.refs);
	return lpl_export_rewrite(exporter, 0, header, sizeof(header)) ? out : NULL;
}

const struct lpl_format lpl_format_npy = {
	.name = "npy",
	.fields = "NumPy's, of 48 bytes a record",
	.traits = LPL_FORMAT_BINARY | LPL_FORMAT_WHOLE | LPL_FORMAT_SEEKS | LPL_WITH_REF |
		  LPL_WITH_INSTR | LPL_WITH_CYCLE | LPL_WITH_SPACE | LPL_WITH_LENGTH |
		  LPL_WITH_TYPES | LPL_WITH_MODE,
	.read_record = read_npy,
	.record_bytes = NPY_HEADER_AT + HEADER_MOST,
	.read_end = read_end,
	.import_state = sizeof(struct npy_state),
	.write_begin = write_empty_header,
	.write_ref = write_npy,
	.write_rest = write_count,
};
