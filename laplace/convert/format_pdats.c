/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * PDATS (Johnson and Ha 1994, as described in Johnson, "PDATS II", section 2): address
 * traces as offsets to the reference of the same type before, with runs.
 *
 *	header		repeat 1 (top bit), address code 2, time code 2, type 3
 *	repeat		a byte, if that bit is set: so many times more
 *	offset		none (code 0: it is 4), or 1, 2, 4 bytes (codes 1, 2, 3),
 *			two's complement, the high byte first
 *
 * Types are 0 read, 1 write, 2 fetch.  The paper does not say what is in the header
 * of a file, what a time code other than 0 is followed by, nor in which order the
 * bytes of an offset are: there is no file header here, and no time.  Addresses
 * have 32 bits.  As in the paper's table 3 only fetches use code 0 when written.
 */
#include <inttypes.h>

#include "exporter.h"
#include "importer.h"
#include "pdats.h"

#define RECORD_MAX 6
#define REPEAT 0x80
#define CODE_SHIFT 5
#define CODE_DEFAULT 0U
#define TIME_MASK 0x18
#define TYPE_MASK 0x07
#define DEFAULT_OFFSET 4
#define TYPES 3		/* 0, 1, 2: as LPL_READ, LPL_WRITE, LPL_FETCH */

struct pdats_state {
	uint32_t address[TYPES];	/* of the last reference of each type */
	/* printing: a record that may be repeated */
	bool pending;
	unsigned int type, repeats;
	uint32_t offset;
};

/* ---- reading ---- */

static const uint8_t *read_pdats(struct lpl_importer *importer, const uint8_t *at,
				 const uint8_t *end)
{
	struct pdats_state *state = importer->state;
	const unsigned int header = *at++;
	const unsigned int type = header & TYPE_MASK, code = header >> CODE_SHIFT & 3;
	const size_t bytes = pdats_bytes(code);
	unsigned int repeats = 0;
	uint32_t offset = DEFAULT_OFFSET;

	if (type >= TYPES || (header & TIME_MASK))
		return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "header %02x has a type or a "
					 "time code that is not known", header);
	if ((size_t)(end - at) < bytes + (header & REPEAT ? 1 : 0))
		return lpl_import_refuse(importer, LPL_ERR_TRUNCATED, "the input ends within a "
					 "record");
	if (header & REPEAT)
		repeats = *at++;
	if (code != CODE_DEFAULT)
		offset = pdats_read(at, bytes);
	do {
		state->address[type] += offset;
		if (!pdats_send_ref(importer, type, state->address[type]))
			return NULL;
	} while (repeats--);
	return at + bytes;
}

/* ---- printing ---- */

static char *write_pending(struct lpl_exporter *exporter, char *out)
{
	struct pdats_state *state = exporter->state;
	const bool plain = state->type == LPL_FETCH && state->offset == DEFAULT_OFFSET;
	const unsigned int code = plain ? CODE_DEFAULT : pdats_code(state->offset);

	if (!state->pending)
		return out;
	state->pending = false;
	*out++ = (char)((state->repeats ? REPEAT : 0) | code << CODE_SHIFT | state->type);
	if (state->repeats)
		*out++ = (char)state->repeats;
	return pdats_write(out, state->offset, pdats_bytes(code));
}

static char *write_pdats(struct lpl_exporter *exporter, char *out, const struct lpl_ref *ref)
{
	struct pdats_state *state = exporter->state;
	const unsigned int type = lpl_export_plain_type(exporter, ref);
	uint32_t offset;

	if (!pdats_check(exporter, ref))
		return NULL;
	offset = (uint32_t)ref->address - state->address[type];
	state->address[type] = (uint32_t)ref->address;
	if (state->pending && type == state->type && offset == state->offset &&
	    state->repeats < UINT8_MAX) {
		state->repeats++;
		return out;
	}
	out = write_pending(exporter, out);
	state->pending = true;
	state->type = type;
	state->offset = offset;
	state->repeats = 0;
	return out;
}

const struct lpl_format lpl_format_pdats = {
	.name = "pdats",
	.fields = "header, repeats, offset",
	.traits = LPL_FORMAT_BINARY,
	.read_record = read_pdats,
	.record_bytes = RECORD_MAX,
	.import_state = sizeof(struct pdats_state),
	.write_ref = write_pdats,
	.write_rest = write_pending,
	.export_state = sizeof(struct pdats_state),
};
