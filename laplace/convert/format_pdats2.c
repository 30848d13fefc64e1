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
 *	instruction	0: it is +1; 1, 2, 3: 1, 2, 4 bytes; in units of 4 bytes, to
 *			the fetch before
 *	datum		0 to 4: it is 0, +4, -4, +8, -8; 5, 6, 7: 1, 2, 4 bytes; to the
 *			last reference in its zone, whether read or write
 *
 * two's complement, the high byte first.  The count is of fetches that follow, each
 * 4 bytes on.  There are two zones, of which a datum takes the one with the
 * shorter offset; where both are of 4 bytes, the one not used last, for a new region
 * is entered.
 *
 * The paper gives the fields and their widths.  Its figures of where in the header
 * byte each of them is, and the file's header, are lost: the order
 * above is the one in which the text names them, and there is no file header.
 * Addresses have 32 bits, and fetches are 4 bytes apart or a multiple of that: the
 * format is one for RISC processors.
 */
#include <inttypes.h>

#include "exporter.h"
#include "importer.h"
#include "pdats.h"

#define RECORD_MAX 5
#define STRIDE 4
#define INSTRUCTION 0x80
#define INSTRUCTION_CODE_SHIFT 5
#define INSTRUCTION_COUNT 31
#define WRITE 0x40
#define DATA_CODE_SHIFT 3
#define ZONE 0x04
#define DATA_COUNT 3
#define COMMON_OFFSETS 5		/* data codes before those with bytes */

static const uint32_t common_offset[COMMON_OFFSETS] = {
	0, 4, UINT32_MAX - 3, 8, UINT32_MAX - 7,
};

struct pdats2_state {
	uint32_t fetch;			/* the address of the last one */
	uint32_t zone[2];		/* of the last reference in each */
	/* printing: a record with a count that may grow */
	bool pending;
	unsigned int latest;		/* the zone used last */
	unsigned int header, count, count_max;
	uint32_t offset;
	size_t bytes;
};

/* ---- reading ---- */

/* The offset that the header announces, and where it ends; NULL: the input ends. */
static const uint8_t *read_offset(unsigned int header, const uint8_t *at,
				  const uint8_t *end, uint32_t *offset)
{
	unsigned int code;
	size_t bytes;

	if (header & INSTRUCTION) {
		code = header >> INSTRUCTION_CODE_SHIFT & 3;
		*offset = 1;
	} else {
		code = header >> DATA_CODE_SHIFT & 7;
		*offset = code < COMMON_OFFSETS ? common_offset[code] : 0;
		code = code < COMMON_OFFSETS ? 0 : code - COMMON_OFFSETS + 1;
	}
	bytes = pdats_bytes(code);
	if ((size_t)(end - at) < bytes)
		return NULL;
	if (bytes)
		*offset = pdats_read(at, bytes);
	return at + bytes;
}

static const uint8_t *read_pdats2(struct lpl_importer *importer, const uint8_t *at,
				  const uint8_t *end)
{
	struct pdats2_state *state = importer->state;
	const unsigned int header = *at;
	unsigned int count, type;
	uint32_t offset, *address;

	at = read_offset(header, at + 1, end, &offset);
	if (!at)
		return lpl_import_refuse(importer, LPL_ERR_TRUNCATED, "the input ends within a "
				       "record");
	if (header & INSTRUCTION) {
		type = LPL_FETCH;
		address = &state->fetch;
		offset *= STRIDE;
		count = header & INSTRUCTION_COUNT;
	} else {
		type = header & WRITE ? LPL_WRITE : LPL_READ;
		address = &state->zone[header & ZONE ? 1 : 0];
		count = header & DATA_COUNT;
	}
	*address += offset;
	if (!pdats_send_ref(importer, type, *address))
		return NULL;
	while (count--) {
		state->fetch += STRIDE;
		if (!pdats_send_ref(importer, LPL_FETCH, state->fetch))
			return NULL;
	}
	return at;
}

/* ---- printing ---- */

static char *write_pending(struct lpl_exporter *exporter, char *out)
{
	struct pdats2_state *state = exporter->state;

	if (!state->pending)
		return out;
	state->pending = false;
	*out++ = (char)(state->header | state->count);
	return pdats_write(out, state->offset, state->bytes);
}

static void begin_record(struct pdats2_state *state, unsigned int header, unsigned int count_max,
		 uint32_t offset, unsigned int code)
{
	state->pending = true;
	state->header = header;
	state->count = 0;
	state->count_max = count_max;
	state->offset = offset;
	state->bytes = pdats_bytes(code);
}

static char *write_fetch(struct lpl_exporter *exporter, char *out, const struct lpl_ref *ref)
{
	struct pdats2_state *state = exporter->state;
	const uint32_t address = (uint32_t)ref->address;
	const uint32_t bytes = address - state->fetch;
	uint32_t offset;
	unsigned int code;

	if (bytes % STRIDE)
		return lpl_export_refuse(exporter, LPL_ERR_UNSUPPORTED, "reference %" PRIu64 ", a "
					 "fetch, is no multiple of %d bytes from the fetch "
					 "before: pdats2 is for processors with instructions of "
					 "that size (pdats is for any)", ref->ref, STRIDE);
	state->fetch = address;
	if (state->pending && bytes == STRIDE && state->count < state->count_max) {
		state->count++;
		return out;
	}
	out = write_pending(exporter, out);
	/* an arithmetic shift, written out */
	offset = bytes / STRIDE | (bytes >> 31 ? 0xc0000000U : 0);
	code = offset == 1 ? 0 : pdats_code(offset);
	begin_record(state, INSTRUCTION | code << INSTRUCTION_CODE_SHIFT, INSTRUCTION_COUNT,
		     offset, code);
	return out;
}

/* Of 0 to 7. */
static unsigned int data_code(uint32_t offset)
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

static unsigned int choose_zone(const struct pdats2_state *state, uint32_t address)
{
	const unsigned int latest = state->latest, other = latest ^ 1;
	const unsigned int here = width_of(data_code(address - state->zone[latest]));
	const unsigned int there = width_of(data_code(address - state->zone[other]));

	if (here != there)
		return here < there ? latest : other;
	return here == 3 ? other : latest;
}

static char *write_datum(struct lpl_exporter *exporter, char *out, const struct lpl_ref *ref,
			 bool write)
{
	struct pdats2_state *state = exporter->state;
	const uint32_t address = (uint32_t)ref->address;
	const unsigned int zone = choose_zone(state, address);
	const uint32_t offset = address - state->zone[zone];
	const unsigned int code = data_code(offset);

	out = write_pending(exporter, out);
	begin_record(state, (write ? WRITE : 0) | code << DATA_CODE_SHIFT | (zone ? ZONE : 0),
		     DATA_COUNT, offset, width_of(code));
	state->zone[zone] = address;
	state->latest = zone;
	return out;
}

static char *begin_pdats2(struct lpl_exporter *exporter, char *out)
{
	struct pdats2_state *state = exporter->state;

	/* so that zone 0 is the first to be entered */
	state->latest = 1;
	return out;
}

static char *write_pdats2(struct lpl_exporter *exporter, char *out, const struct lpl_ref *ref)
{
	const unsigned int type = lpl_export_plain_type(exporter, ref);

	if (!pdats_check(exporter, ref))
		return NULL;
	return type == LPL_FETCH ? write_fetch(exporter, out, ref) :
				   write_datum(exporter, out, ref, type == LPL_WRITE);
}

const struct lpl_format lpl_format_pdats2 = {
	.name = "pdats2",
	.fields = "header, offset",
	.traits = LPL_FORMAT_BINARY,
	.read_record = read_pdats2,
	.record_bytes = RECORD_MAX,
	.import_state = sizeof(struct pdats2_state),
	.write_begin = begin_pdats2,
	.write_ref = write_pdats2,
	.write_rest = write_pending,
	.export_state = sizeof(struct pdats2_state),
};
