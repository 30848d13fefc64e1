/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Raw traces: type, cycle, length, space and address of each reference.
 *
 *	raw	r 123456789abcdef0 4 9f8e7 9a8b7c6d
 *	diff	r 1 4 0 + 1152		against the line before
 *	raw18	the same in 18 bytes: type 8, cycle 64, length 8, space 32,
 *		address 32 bits, little-endian
 *	raw17	in 17: the space in 24 bits
 *
 * In `diff` the line before the first is all zeros, and space 0 stands for the
 * one before: a change back to space 0 (a machine before paging is on) is 00.
 */
#include <inttypes.h>
#include <string.h>

#include "exporter.h"
#include "importer.h"

/* ---- reading ---- */

/*
 * A fetch in the cycle of the fetch before it, which it continues on the next page,
 * is of the same instruction: no two are begun in one cycle.
 */
static bool is_second(const struct lpl_ref *last, const struct lpl_ref *ref)
{
	return ref->type == LPL_FETCH && last->type == LPL_FETCH && last->ref &&
	       ref->cycle == last->cycle && ref->space == last->space &&
	       ref->address == last->address + last->length &&
	       !(ref->address & ((1U << LPL_PAGE_SHIFT) - 1));
}

/* Type, cycle, space and address are there. */
static bool send_raw(struct lpl_importer *importer, struct lpl_ref *ref, uint64_t length)
{
	if (ref->cycle < importer->cycle)
		return lpl_import_check_clock(importer, "cycle", ref->cycle, importer->cycle);
	if (is_second(&importer->last, ref)) {
		ref->flags |= LPL_SECOND;
		ref->instr = importer->instr;
	} else {
		ref->instr = lpl_import_instruction(importer, ref->type);
	}
	if (length)
		return lpl_import_access(importer, ref, length);
	/* without a length it was reduced to its page */
	if (ref->address & ((1U << LPL_PAGE_SHIFT) - 1))
		return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "a length of 0, but address %"
					 PRIx64 " is not a page's first", ref->address);
	importer->result.paged = true;
	ref->flags |= LPL_PAGED;
	ref->ref = importer->ref + 1;
	return lpl_import_ref(importer, ref);
}

static const char *read_raw(struct lpl_importer *importer, const char *at)
{
	const unsigned int type = scan_type(*at);
	struct lpl_ref ref = { .type = (uint8_t)type };
	uint64_t length;

	if (type == LPL_TYPES)
		return lpl_import_other_line(importer, at);
	at = scan_hex_field(at + 1, &ref.cycle);
	if (!at)
		return lpl_import_no_field(importer, "cycle");
	at = scan_decimal_field(at, &length);
	if (!at)
		return lpl_import_no_field(importer, "length");
	at = scan_hex_field(at, &ref.space);
	if (!at)
		return lpl_import_no_field(importer, "space");
	at = scan_hex_field(at, &ref.address);
	if (!at)
		return lpl_import_no_field(importer, "address");
	at = lpl_import_line_end(importer, at);
	return at && send_raw(importer, &ref, length) ? at : NULL;
}

/* The cycle of the line before is that of the reference, not of an event between. */
static bool add_cycle(struct lpl_importer *importer, struct lpl_ref *ref, uint64_t difference)
{
	ref->cycle = importer->last.cycle + difference;
	if (ref->cycle >= difference)
		return true;
	return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "the cycle exceeds 64 bits");
}

/* The address of the line before: of what was one line, not of its parts. */
struct diff_state {
	uint64_t address;
};

static const char *read_diff(struct lpl_importer *importer, const char *at)
{
	struct diff_state *before = importer->state;
	const unsigned int type = scan_type(*at);
	struct lpl_ref ref = { .type = (uint8_t)type };
	uint64_t cycles, length;

	if (type == LPL_TYPES)
		return lpl_import_other_line(importer, at);
	at = scan_hex_field(at + 1, &cycles);
	if (!at)
		return lpl_import_no_field(importer, "cycle");
	at = scan_decimal_field(at, &length);
	if (!at)
		return lpl_import_no_field(importer, "length");
	at = scan_space_change(at, importer->last.space, &ref.space);
	if (!at)
		return lpl_import_no_field(importer, "space");
	at = scan_difference(at, before->address, &ref.address);
	if (!at)
		return lpl_import_no_field(importer, "address");
	before->address = ref.address;
	at = lpl_import_line_end(importer, at);
	return at && add_cycle(importer, &ref, cycles) && send_raw(importer, &ref, length) ?
		at : NULL;
}

/* Of a record with so many bytes for the space. */
#define PACKED_BYTES(space_bytes) (14 + (space_bytes))
#define RAW17_SPACE 3
#define RAW18_SPACE 4

static const uint8_t *read_packed(struct lpl_importer *importer, const uint8_t *at,
				  const uint8_t *end, size_t space_bytes)
{
	const size_t bytes = PACKED_BYTES(space_bytes);
	struct lpl_ref ref = { 0 };
	unsigned int type;

	if ((size_t)(end - at) < bytes)
		return lpl_import_refuse(importer, LPL_ERR_TRUNCATED, "the input ends within a "
					 "record, after %d of its %zu bytes", (int)(end - at),
					 bytes);
	type = scan_type((char)at[0]);
	if (type == LPL_TYPES)
		return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "type 0x%02x is none of r, w, "
					 "i, p, q", at[0]);
	ref.type = (uint8_t)type;
	ref.cycle = scan_le64(at + 1);
	ref.space = scan_le(at + 10, space_bytes);
	ref.address = scan_le32(at + 10 + space_bytes);
	return send_raw(importer, &ref, at[9]) ? at + bytes : NULL;
}

static const uint8_t *read_raw17(struct lpl_importer *importer, const uint8_t *at,
				 const uint8_t *end)
{
	return read_packed(importer, at, end, RAW17_SPACE);
}

static const uint8_t *read_raw18(struct lpl_importer *importer, const uint8_t *at,
				 const uint8_t *end)
{
	return read_packed(importer, at, end, RAW18_SPACE);
}

/* ---- printing ---- */

static char *write_raw(struct lpl_exporter *exporter, char *out, const struct lpl_ref *ref)
{
	(void)exporter;
	*out++ = lpl_type_letter(ref->type);
	out = put_hex_field(out, ref->cycle);
	out = put_decimal_field(out, ref->length);
	out = put_hex_field(out, ref->space);
	out = put_hex_field(out, ref->address);
	return put_newline(out);
}

static char *write_diff(struct lpl_exporter *exporter, char *out, const struct lpl_ref *ref)
{
	const struct lpl_ref *last = &exporter->last;

	*out++ = lpl_type_letter(ref->type);
	out = put_hex_field(out, ref->cycle - last->cycle);
	out = put_decimal_field(out, ref->length);
	out = put_space_change(out, ref->space, last->space);
	out = put_difference(out, ref->address, last->address);
	return put_newline(out);
}

static char *refuse_width(struct lpl_exporter *exporter, const struct lpl_ref *ref,
			  const char *field, uint64_t value, unsigned int bits)
{
	return lpl_export_refuse(exporter, LPL_ERR_UNSUPPORTED, "reference %" PRIu64 " has the %s "
				 "%" PRIx64 ": %s has %u bits for that", ref->ref, field, value,
				 exporter->options.format->name, bits);
}

static char *write_packed(struct lpl_exporter *exporter, char *out, const struct lpl_ref *ref,
			  unsigned int space_bytes)
{
	if (ref->address > UINT32_MAX)
		return refuse_width(exporter, ref, "address", ref->address, 32);
	if (ref->space >> 8 * space_bytes)
		return refuse_width(exporter, ref, "space", ref->space, 8 * space_bytes);
	if (ref->length > UINT8_MAX)
		return refuse_width(exporter, ref, "length", ref->length, 8);
	*out++ = lpl_type_letter(ref->type);
	out = put_le64(out, ref->cycle);
	*out++ = (char)ref->length;
	out = put_le(out, ref->space, space_bytes);
	return put_le32(out, (uint32_t)ref->address);
}

static char *write_raw17(struct lpl_exporter *exporter, char *out, const struct lpl_ref *ref)
{
	return write_packed(exporter, out, ref, RAW17_SPACE);
}

static char *write_raw18(struct lpl_exporter *exporter, char *out, const struct lpl_ref *ref)
{
	return write_packed(exporter, out, ref, RAW18_SPACE);
}

const struct lpl_format lpl_format_raw = {
	.name = "raw",
	.fields = "TYPE CYCLE LENGTH SPACE ADDRESS",
	.traits = LPL_FORMAT_EVENTS | LPL_WITH_CYCLE | LPL_WITH_SPACE | LPL_WITH_LENGTH |
		  LPL_WITH_TYPES,
	.read_line = read_raw,
	.write_ref = write_raw,
};

const struct lpl_format lpl_format_diff = {
	.name = "diff",
	.fields = "TYPE CYCLES LENGTH SPACE SIGN BYTES",
	.traits = LPL_FORMAT_EVENTS | LPL_WITH_CYCLE | LPL_WITH_SPACE | LPL_WITH_LENGTH |
		  LPL_WITH_TYPES,
	.read_line = read_diff,
	.import_state = sizeof(struct diff_state),
	.write_ref = write_diff,
};

const struct lpl_format lpl_format_raw18 = {
	.name = "raw18",
	.fields = "type 8, cycle 64, length 8, space 32, address 32 bits",
	.traits = LPL_FORMAT_BINARY | LPL_WITH_CYCLE | LPL_WITH_SPACE | LPL_WITH_LENGTH |
		  LPL_WITH_TYPES,
	.read_record = read_raw18,
	.record_bytes = PACKED_BYTES(RAW18_SPACE),
	.write_ref = write_raw18,
};

const struct lpl_format lpl_format_raw17 = {
	.name = "raw17",
	.fields = "type 8, cycle 64, length 8, space 24, address 32 bits",
	.traits = LPL_FORMAT_BINARY | LPL_WITH_CYCLE | LPL_WITH_SPACE | LPL_WITH_LENGTH |
		  LPL_WITH_TYPES,
	.read_record = read_raw17,
	.record_bytes = PACKED_BYTES(RAW17_SPACE),
	.write_ref = write_raw17,
};
