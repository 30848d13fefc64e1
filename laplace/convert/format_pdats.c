/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * PDATS (Johnson and Ha 1994, as described in Johnson, "PDATS II", section 2): address
 * traces as offsets to the reference of the same type before, with runs.
 *
 *	header		repeat 1 (top bit), address code 2, time code 2, type 3
 *	repeat		a byte, if that bit is set: so many times more
 *	offset		none (code 0: it is the stride, 4 in the paper), or 1, 2, 4 bytes
 *			(codes 1, 2, 3; code 3 is 8 where addresses have 64 bits), two's
 *			complement, the high byte first
 *	time		how much later than the reference before: none (code 0: by 1 for a
 *			fetch, by 0 for others), or 1, 2 bytes (codes 1, 2)
 *
 * Types are 0 read, 1 write, 2 fetch, of the user; where types say the mode 4, 5, 6 are the
 * supervisor's, and 3 and 7 the processor's own reads and writes of page tables.  Time code 3 is
 * of a record that is no reference: 7 bytes follow, by which it is later.
 *
 * The paper does not say what is in the header of a file (pdats_header.c), what the time codes
 * and the other types are, nor in which order the bytes of an offset are.  No record of 32-bit
 * addresses exceeds its 8 bytes.  As in the paper's table 3 only fetches use code 0 when written.
 */
#include <inttypes.h>

#include "exporter.h"
#include "importer.h"
#include "pdats.h"

#define REPEAT 0x80U
#define CODE_SHIFT 5
#define CODE_DEFAULT 0U
#define TIME_SHIFT 3
#define TIME_ONLY 3U
#define TIME_ONLY_BYTES 7
#define TIME_MASK 0x18U
#define TYPE_MASK 0x07U
#define TYPES 8
#define PLAIN_TYPES 3		/* 0, 1, 2: as LPL_READ, LPL_WRITE, LPL_FETCH */

/* What the types are where they say the mode. */
static const struct {
	uint8_t type, flags;
} moded[TYPES] = {
	{ LPL_READ, LPL_USER }, { LPL_WRITE, LPL_USER }, { LPL_FETCH, LPL_USER },
	{ LPL_WALK_READ, 0 },
	{ LPL_READ, 0 }, { LPL_WRITE, 0 }, { LPL_FETCH, 0 }, { LPL_WALK_WRITE, 0 },
};

struct pdats_state {
	struct pdats_header header;
	uint64_t address[TYPES];	/* of the last reference of each type */
	uint64_t time;			/* of the last reference, or of a record of time */
	/* printing: a record that may be repeated */
	bool pending;
	unsigned int type, repeats;
	int64_t offset;
	uint64_t later;
};

/* By how much time goes on where a reference of this type does not say so. */
static uint64_t usual_time(unsigned int type)
{
	return moded[type].type == LPL_FETCH;
}

/* ---- reading ---- */

static bool go_on(struct lpl_importer *importer, uint64_t later)
{
	struct pdats_state *state = importer->state;

	state->time += later;
	if (state->time >= later)
		return true;
	return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "the time exceeds 64 bits");
}

static const uint8_t *read_time(struct lpl_importer *importer, const uint8_t *at,
				const uint8_t *end)
{
	uint64_t later = 0;

	if (end - at < TIME_ONLY_BYTES)
		return lpl_pdats_cut_off(importer);
	for (int i = 0; i < TIME_ONLY_BYTES; i++)
		later = later << 8 | at[i];
	return go_on(importer, later) ? at + TIME_ONLY_BYTES : NULL;
}

static bool is_known(const struct pdats_header *header, unsigned int record)
{
	return (header->modes || (record & TYPE_MASK) < PLAIN_TYPES) &&
	       (header->times || !(record & TIME_MASK)) &&
	       (record & TIME_MASK) != TIME_MASK;
}

static bool send(struct lpl_importer *importer, unsigned int type, int64_t offset,
		 uint64_t later)
{
	struct pdats_state *state = importer->state;
	const struct pdats_header *header = &state->header;
	struct lpl_ref ref = { .type = moded[type].type };

	if (header->modes)
		ref.flags = moded[type].flags;
	if (!go_on(importer, later))
		return false;
	ref.cycle = state->time;
	state->address[type] = (state->address[type] + (uint64_t)offset) & pdats_mask(header);
	ref.address = state->address[type];
	return pdats_send(importer, &ref, header->times);
}

static const uint8_t *read_reference(struct lpl_importer *importer, const uint8_t *at,
				     const uint8_t *end)
{
	struct pdats_state *state = importer->state;
	const unsigned int record = *at++;
	const unsigned int type = record & TYPE_MASK, code = record >> CODE_SHIFT & 3;
	const size_t bytes = pdats_bytes(&state->header, code);
	const size_t time_bytes = record >> TIME_SHIFT & 3;
	unsigned int repeats = 0;
	int64_t offset = state->header.stride;
	uint64_t later = 0;

	if ((size_t)(end - at) < (record & REPEAT ? 1 : 0) + bytes + time_bytes)
		return lpl_pdats_cut_off(importer);
	if (record & REPEAT)
		repeats = *at++;
	if (code != CODE_DEFAULT)
		offset = pdats_read(at, bytes);
	at += bytes;
	for (size_t i = 0; i < time_bytes; i++)
		later = later << 8 | *at++;
	if (state->header.times && !time_bytes)
		later = usual_time(type);
	do {
		if (!send(importer, type, offset, later))
			return NULL;
	} while (repeats--);
	return at;
}

static const uint8_t *read_pdats(struct lpl_importer *importer, const uint8_t *at,
				 const uint8_t *end)
{
	struct pdats_state *state = importer->state;

	if (!importer->place) {
		const uint8_t *start = at;

		at = lpl_pdats_read_header(importer, PDATS, at, end, &state->header);
		if (at != start)
			return at;
	}
	if (state->header.times && *at == TIME_MASK)
		return read_time(importer, at + 1, end);
	if (!is_known(&state->header, *at))
		return lpl_import_refuse(importer, LPL_ERR_DAMAGED, "header %02x has a type or a "
					 "time code that is not known", *at);
	return read_reference(importer, at, end);
}

/* ---- printing ---- */

/* Write as much of the time as no reference can say, and return the rest, with its code. */
static char *write_time(const struct pdats_state *state, char *out, uint64_t *later,
			unsigned int *code)
{
	const uint64_t most = (UINT64_C(1) << 8 * TIME_ONLY_BYTES) - 1;
	const uint64_t usual = usual_time(state->type);

	while (*later > UINT16_MAX) {
		const uint64_t part = *later - usual < most ? *later - usual : most;

		*out++ = (char)TIME_MASK;
		out = pdats_write(out, part, TIME_ONLY_BYTES);
		*later -= part;
	}
	*code = 0;
	if (state->header.times && *later != usual)
		*code = *later <= UINT8_MAX ? 1 : 2;
	return out;
}

static char *write_pending(struct lpl_exporter *exporter, char *out)
{
	struct pdats_state *state = exporter->state;
	const bool plain = moded[state->type].type == LPL_FETCH &&
			   state->offset == (int64_t)state->header.stride;
	const unsigned int code = plain ? CODE_DEFAULT : pdats_code(state->offset);
	unsigned int time_code;

	if (!state->pending)
		return out;
	state->pending = false;
	out = write_time(state, out, &state->later, &time_code);
	*out++ = (char)((state->repeats ? REPEAT : 0) | code << CODE_SHIFT |
			time_code << TIME_SHIFT | state->type);
	if (state->repeats)
		*out++ = (char)state->repeats;
	out = pdats_write(out, (uint64_t)state->offset, pdats_bytes(&state->header, code));
	return pdats_write(out, state->later, time_code);
}

/* Where types say the mode: none of them is lost. */
static unsigned int moded_type(const struct lpl_ref *ref)
{
	unsigned int type = 0;

	while (moded[type].type != ref->type ||
	       (ref->type <= LPL_FETCH && moded[type].flags != (ref->flags & LPL_USER)))
		type++;
	return type;
}

static char *write_pdats(struct lpl_exporter *exporter, char *out, const struct lpl_ref *ref)
{
	struct pdats_state *state = exporter->state;
	const struct pdats_header *header = &state->header;
	const unsigned int type = header->modes ? moded_type(ref) :
						  lpl_export_plain_type(exporter, ref);
	const uint64_t later = header->times ? ref->cycle - state->time : 0;
	int64_t offset;

	if (!pdats_check(exporter, header, ref))
		return NULL;
	offset = pdats_offset(header, ref->address, state->address[type]);
	state->address[type] = ref->address;
	state->time = ref->cycle;
	if (state->pending && type == state->type && offset == state->offset &&
	    later == state->later && later <= UINT16_MAX && state->repeats < UINT8_MAX) {
		state->repeats++;
		return out;
	}
	out = write_pending(exporter, out);
	state->pending = true;
	state->type = type;
	state->offset = offset;
	state->later = later;
	state->repeats = 0;
	return out;
}

static char *begin_pdats(struct lpl_exporter *exporter, char *out)
{
	struct pdats_state *state = exporter->state;

	return lpl_pdats_begin(exporter, out, PDATS, &state->header);
}

const struct lpl_format lpl_format_pdats = {
	.name = "pdats",
	.fields = "header, repeats, offset, time",
	.traits = LPL_FORMAT_BINARY | LPL_WITH_WRITES | LPL_WITH_FETCHES,
	.recognise = lpl_pdats_recognise,
	.read_record = read_pdats,
	.record_bytes = PDATS_HEADER,
	.import_state = sizeof(struct pdats_state),
	.write_begin = begin_pdats,
	.write_ref = write_pdats,
	.write_rest = write_pending,
	.export_state = sizeof(struct pdats_state),
};
