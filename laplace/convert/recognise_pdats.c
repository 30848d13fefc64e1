/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Is a file without a header PDATS, or PDATS II?  By its records alone.
 *
 * Nearly any bytes are records of PDATS II, and many are of PDATS.  But a writer that wastes
 * nothing makes only few of them: no offset in more bytes than it needs, no record for what the
 * one before could have had in its count.  So a file is taken for one of the two if each record in
 * its beginning is one that such a writer makes.  Of other bytes, more than nine in ten do not
 * begin such a record of PDATS, and one in ten does not begin one of PDATS II: that is how many of them
 * are enough.  What a trace is not, such as nothing but zeros, may look like PDATS II: a trace has jumps and
 * at least as many fetches as data.
 */
#include "pdats.h"

#define PDATS_RECORDS 16
#define PDATS2_RECORDS 256
#define PDATS2_RECORDS_PER_JUMP 64

/* What is left of a sample. */
struct rest {
	const uint8_t *at, *end;
};

/*
 * The offset that follows in so many bytes, the shortest that hold it.  false: it is another, or
 * is not there.
 */
static bool shortest(struct rest *rest, unsigned int code, int64_t *offset)
{
	const size_t bytes = pdats_bytes(&lpl_pdats_no_header, code);

	if ((size_t)(rest->end - rest->at) < bytes)
		return false;
	*offset = pdats_read(rest->at, bytes);
	rest->at += bytes;
	return pdats_code(*offset) == code;
}

/* Does the sample end within a record, because it is not all of the file? */
static bool is_cut_off(const struct lpl_sample *sample, const struct rest *rest)
{
	return !sample->whole && rest->end - rest->at < PDATS_HEADER;
}

/* ---- PDATS ---- */

struct pdats_record {
	unsigned int type, repeats;
	int64_t offset;
};

static bool read_pdats_record(struct rest *rest, struct pdats_record *record)
{
	const unsigned int header = *rest->at++;
	const unsigned int code = header >> 5 & 3;
	const bool fetch = (header & 7) == LPL_FETCH;

	record->type = header & 7;
	record->repeats = 0;
	record->offset = PDATS_STRIDE;
	if (header & 0x18 || record->type > LPL_FETCH || (code == 0 && !fetch))
		return false;
	if (header & 0x80) {
		if (rest->at == rest->end || !*rest->at)
			return false;
		record->repeats = *rest->at++;
	}
	if (code == 0)
		return true;
	return shortest(rest, code, &record->offset) && !(fetch && record->offset == PDATS_STRIDE);
}

enum lpl_recognition lpl_pdats_recognise(const struct lpl_sample *sample)
{
	struct rest rest = { sample->bytes, sample->bytes + sample->size };
	struct pdats_record last, record = { .repeats = UINT8_MAX };
	size_t records = 0;

	if (lpl_pdats_has_header(sample, PDATS))
		return LPL_CERTAIN;
	while (rest.at < rest.end && !is_cut_off(sample, &rest)) {
		last = record;
		if (!read_pdats_record(&rest, &record))
			return LPL_OTHER;
		/* it would have been one repetition more */
		if (last.repeats < UINT8_MAX && record.type == last.type &&
		    record.offset == last.offset)
			return LPL_OTHER;
		records++;
	}
	return records >= PDATS_RECORDS ? LPL_LIKELY : LPL_POSSIBLE;
}

/* ---- PDATS II ---- */

struct pdats2_count {
	size_t records, jumps, fetches, data;
	bool full;		/* the last record's count could not be higher */
};

static bool read_instruction(struct rest *rest, unsigned int header, struct pdats2_count *counts)
{
	const unsigned int code = header >> 5 & 3, count = header & 31;
	int64_t offset;

	/* the record before would have counted it */
	if (code == 0 && counts->records && !counts->full)
		return false;
	counts->full = count == 31;
	counts->fetches += 1 + count;
	counts->jumps += code != 0;
	return code == 0 || (shortest(rest, code, &offset) && offset != 1);
}

static bool read_datum(struct rest *rest, unsigned int header, struct pdats2_count *counts)
{
	const unsigned int code = header >> 3 & 7, count = header & 3;
	int64_t offset;

	counts->full = count == 3;
	counts->fetches += count;
	counts->data++;
	if (code < 5)
		return true;
	return shortest(rest, code - 4, &offset) &&
	       offset != 0 && offset != 4 && offset != -4 && offset != 8 && offset != -8;
}

enum lpl_recognition lpl_pdats2_recognise(const struct lpl_sample *sample)
{
	struct rest rest = { sample->bytes, sample->bytes + sample->size };
	struct pdats2_count counts = { 0 };

	if (lpl_pdats_has_header(sample, PDATS2))
		return LPL_CERTAIN;
	while (rest.at < rest.end && !is_cut_off(sample, &rest)) {
		const unsigned int header = *rest.at++;

		if (!(header & 0x80 ? read_instruction : read_datum)(&rest, header, &counts))
			return LPL_OTHER;
		counts.records++;
	}
	return counts.records >= PDATS2_RECORDS && counts.fetches >= counts.data &&
	       counts.jumps >= counts.records / PDATS2_RECORDS_PER_JUMP ? LPL_LIKELY : LPL_POSSIBLE;
}
