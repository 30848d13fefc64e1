/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * PDATS II (Johnson, section 4): one record for a jump and the instructions in
 * sequence after it, one for a datum and those after it.
 *
 *	instruction	1 (top bit), offset code 2, count 5
 *	datum		0, write 1, offset code 3, zone 1, count 2
 *
 * and then the offset, as the code says:
 *
 *	instruction	0: it is +1; 1, 2, 3: 1, 2, 4 bytes; in units of the stride, to
 *			the fetch before
 *	datum		0 to 4: it is 0, +4, -4, +8, -8; 5, 6, 7: 1, 2, 4 bytes; to the
 *			last reference in its zone, whether read or write
 *
 * two's complement, the high byte first; where addresses have 64 bits, the 4 bytes are 8.  The
 * count is of fetches that follow, each a stride on.  There are two zones, of which a datum takes
 * the one with the shorter offset; where both are of the widest, the one not used last, for a new
 * region is entered.
 *
 * The stride is that of the processor's instructions, 4 bytes in the paper.  Where they have any
 * length, as on x86, it is 1.
 *
 * The paper gives the fields and their widths, and says that there is a version of 64-bit
 * addresses with up to 8 bytes of offset.  Its figures of where in the header byte each field is,
 * and the file's header, are lost: the order above is the one in which the text names them, and
 * pdats_header.c has the file's header.
 */
#include <inttypes.h>

#include "exporter.h"
#include "importer.h"
#include "pdats.h"

#define INSTRUCTION 0x80
#define INSTRUCTION_CODE_SHIFT 5
#define INSTRUCTION_COUNT 31
#define WRITE 0x40
#define DATA_CODE_SHIFT 3
#define ZONE 0x04
#define DATA_COUNT 3
#define COMMON_OFFSETS 5		/* data codes before those with bytes */

static const int8_t common_offset[COMMON_OFFSETS] = { 0, 4, -4, 8, -8 };

struct pdats2_state {
	struct pdats_header header;
	uint64_t fetch;			/* the address of the last one */
	uint64_t zone[2];		/* of the last reference in each */
	/* printing: a record with a count that may grow */
	bool pending;
	unsigned int latest;		/* the zone used last */
	unsigned int record, count, count_max;
	int64_t offset;
	size_t bytes;
};

/* ---- reading ---- */

/* The offset that the record's header announces, and where it ends; NULL: the input ends. */
static const uint8_t *read_offset(const struct pdats_header *header, unsigned int record,
				  const uint8_t *at, const uint8_t *end, int64_t *offset)
{
	unsigned int code;
	size_t bytes;

	if (record & INSTRUCTION) {
		code = record >> INSTRUCTION_CODE_SHIFT & 3;
		*offset = 1;
	} else {
		code = record >> DATA_CODE_SHIFT & 7;
		*offset = code < COMMON_OFFSETS ? common_offset[code] : 0;
		code = code < COMMON_OFFSETS ? 0 : code - COMMON_OFFSETS + 1;
	}
	bytes = pdats_bytes(header, code);
	if ((size_t)(end - at) < bytes)
		return NULL;
	if (bytes)
		*offset = pdats_read(at, bytes);
	return at + bytes;
}

static bool send(struct lpl_importer *importer, unsigned int type, uint64_t *address,
		 uint64_t bytes)
{
	const struct pdats2_state *state = importer->state;
	struct lpl_ref ref = { .type = (uint8_t)type };

	*address = (*address + bytes) & pdats_mask(&state->header);
	ref.address = *address;
	return pdats_send(importer, &ref, false);
}

static const uint8_t *read_reference(struct lpl_importer *importer, const uint8_t *at,
				     const uint8_t *end)
{
	struct pdats2_state *state = importer->state;
	const unsigned int stride = state->header.stride, record = *at;
	const bool fetch = record & INSTRUCTION;
	unsigned int count = record & (fetch ? INSTRUCTION_COUNT : DATA_COUNT);
	int64_t offset;
	bool sent;

	at = read_offset(&state->header, record, at + 1, end, &offset);
	if (!at)
		return lpl_pdats_cut_off(importer);
	if (fetch)
		sent = send(importer, LPL_FETCH, &state->fetch, (uint64_t)offset * stride);
	else
		sent = send(importer, record & WRITE ? LPL_WRITE : LPL_READ,
			    &state->zone[record & ZONE ? 1 : 0], (uint64_t)offset);
	while (sent && count--)
		sent = send(importer, LPL_FETCH, &state->fetch, stride);
	return sent ? at : NULL;
}

static const uint8_t *read_pdats2(struct lpl_importer *importer, const uint8_t *at,
				  const uint8_t *end)
{
	struct pdats2_state *state = importer->state;

	if (!importer->place) {
		const uint8_t *start = at;

		at = lpl_pdats_read_header(importer, PDATS2, at, end, &state->header);
		if (at != start)
			return at;
	}
	return read_reference(importer, at, end);
}

/* ---- printing ---- */

static char *write_pending(struct lpl_exporter *exporter, char *out)
{
	struct pdats2_state *state = exporter->state;

	if (!state->pending)
		return out;
	state->pending = false;
	*out++ = (char)(state->record | state->count);
	return pdats_write(out, (uint64_t)state->offset, state->bytes);
}

static void begin_record(struct pdats2_state *state, unsigned int record, unsigned int count_max,
			 int64_t offset, unsigned int code)
{
	state->pending = true;
	state->record = record;
	state->count = 0;
	state->count_max = count_max;
	state->offset = offset;
	state->bytes = pdats_bytes(&state->header, code);
}

static char *write_fetch(struct lpl_exporter *exporter, char *out, const struct lpl_ref *ref)
{
	struct pdats2_state *state = exporter->state;
	const unsigned int stride = state->header.stride;
	const int64_t bytes = pdats_offset(&state->header, ref->address, state->fetch);
	int64_t offset;
	unsigned int code;

	if (bytes & (stride - 1))
		return lpl_export_refuse(exporter, LPL_ERR_UNSUPPORTED, "reference %" PRIu64 ", a "
					 "fetch, is no multiple of %u bytes from the fetch "
					 "before: pdats2 with a stride of 1 is for instructions of "
					 "any length, and so is pdats", ref->ref, stride);
	state->fetch = ref->address;
	if (state->pending && bytes == stride && state->count < state->count_max) {
		state->count++;
		return out;
	}
	out = write_pending(exporter, out);
	offset = bytes / (int64_t)stride;
	code = offset == 1 ? 0 : pdats_code(offset);
	begin_record(state, INSTRUCTION | code << INSTRUCTION_CODE_SHIFT, INSTRUCTION_COUNT,
		     offset, code);
	return out;
}

/* Of 0 to 7. */
static unsigned int data_code(int64_t offset)
{
	for (unsigned int code = 0; code < COMMON_OFFSETS; code++) {
		if (offset == common_offset[code])
			return code;
	}
	return COMMON_OFFSETS - 1 + pdats_code(offset);
}

/* How many bytes a code is followed by, as pdats_bytes() has it. */
static unsigned int width_of(unsigned int data_code)
{
	return data_code < COMMON_OFFSETS ? 0 : data_code - COMMON_OFFSETS + 1;
}

static int64_t zone_offset(const struct pdats2_state *state, unsigned int zone, uint64_t address)
{
	return pdats_offset(&state->header, address, state->zone[zone]);
}

static unsigned int choose_zone(const struct pdats2_state *state, uint64_t address)
{
	const unsigned int latest = state->latest, other = latest ^ 1;
	const unsigned int here = width_of(data_code(zone_offset(state, latest, address)));
	const unsigned int there = width_of(data_code(zone_offset(state, other, address)));

	if (here != there)
		return here < there ? latest : other;
	return here == PDATS_CODE_WIDE ? other : latest;
}

static char *write_datum(struct lpl_exporter *exporter, char *out, const struct lpl_ref *ref,
			 bool write)
{
	struct pdats2_state *state = exporter->state;
	const unsigned int zone = choose_zone(state, ref->address);
	const int64_t offset = zone_offset(state, zone, ref->address);
	const unsigned int code = data_code(offset);

	out = write_pending(exporter, out);
	begin_record(state, (write ? WRITE : 0) | code << DATA_CODE_SHIFT | (zone ? ZONE : 0),
		     DATA_COUNT, offset, width_of(code));
	state->zone[zone] = ref->address;
	state->latest = zone;
	return out;
}

static char *begin_pdats2(struct lpl_exporter *exporter, char *out)
{
	struct pdats2_state *state = exporter->state;

	/* so that zone 0 is the first to be entered */
	state->latest = 1;
	return lpl_pdats_begin(exporter, out, PDATS2, &state->header);
}

static char *write_pdats2(struct lpl_exporter *exporter, char *out, const struct lpl_ref *ref)
{
	const struct pdats2_state *state = exporter->state;
	const unsigned int type = lpl_export_plain_type(exporter, ref);

	if (!pdats_check(exporter, &state->header, ref))
		return NULL;
	return type == LPL_FETCH ? write_fetch(exporter, out, ref) :
				   write_datum(exporter, out, ref, type == LPL_WRITE);
}

const struct lpl_format lpl_format_pdats2 = {
	.name = "pdats2",
	.fields = "header, offset",
	.traits = LPL_FORMAT_BINARY | LPL_WITH_WRITES | LPL_WITH_FETCHES,
	.recognise = lpl_pdats2_recognise,
	.read_record = read_pdats2,
	.record_bytes = PDATS_HEADER,
	.import_state = sizeof(struct pdats2_state),
	.write_begin = begin_pdats2,
	.write_ref = write_pdats2,
	.write_rest = write_pending,
	.export_state = sizeof(struct pdats2_state),
};
