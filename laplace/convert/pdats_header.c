/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The header of a PDATS or PDATS II file, and what it may say.  The papers have one, but not
 * what is in it: this is ours.
 *
 *	magic		2f 00 P D A T S
 *	version		1 PDATS, 2 PDATS II
 *	address bytes	4 or 8
 *	stride		bytes from one instruction to the next: 1, 2, 4, 8 or 16
 *	flags		1 there are time stamps, 2 types say the mode; of PDATS alone
 *	nothing		5 bytes, 0
 *
 * No file without a header begins like that: 2f is no header of a record there (PDATS), or is
 * followed by an offset that needs no byte (PDATS II).
 */
#include <string.h>

#include "pdats.h"

enum { AT_VERSION = 7, AT_ADDRESS_BYTES, AT_STRIDE, AT_FLAGS, AT_NOTHING };
#define TIMES 1U
#define MODES 2U

static const char magic[AT_VERSION] = { 0x2f, 0, 'P', 'D', 'A', 'T', 'S' };

const struct pdats_header lpl_pdats_no_header = { .address_bytes = 4, .stride = PDATS_STRIDE };

static const char *name_of(unsigned int version)
{
	return version == PDATS2 ? "pdats2" : "pdats";
}

void *lpl_pdats_cut_off(struct lpl_importer *importer)
{
	return lpl_import_refuse(importer, LPL_ERR_TRUNCATED, "the input ends within a record");
}

/* ---- reading ---- */

static bool is_known(const uint8_t *at, enum pdats_version version)
{
	static const uint8_t nothing[PDATS_HEADER - AT_NOTHING];
	const unsigned int stride = at[AT_STRIDE];

	return (at[AT_ADDRESS_BYTES] == 4 || at[AT_ADDRESS_BYTES] == 8) &&
	       stride && stride <= PDATS_STRIDE_MAX && !(stride & (stride - 1)) &&
	       at[AT_FLAGS] <= (version == PDATS ? TIMES | MODES : 0) &&
	       memcmp(at + AT_NOTHING, nothing, sizeof(nothing)) == 0;
}

const uint8_t *lpl_pdats_read_header(struct lpl_importer *importer, enum pdats_version version,
				     const uint8_t *at, const uint8_t *end,
				     struct pdats_header *header)
{
	const size_t size = (size_t)(end - at);

	*header = lpl_pdats_no_header;
	if (size < sizeof(magic) || memcmp(at, magic, sizeof(magic)) != 0)
		return at;
	if (size < PDATS_HEADER)
		return lpl_import_refuse(importer, LPL_ERR_TRUNCATED, "the input ends within the "
					 "file's header");
	if (at[AT_VERSION] != version && (at[AT_VERSION] == PDATS || at[AT_VERSION] == PDATS2))
		return lpl_import_refuse(importer, LPL_ERR_FORMAT, "the file's header says that "
					 "this is %s: --from %s", name_of(at[AT_VERSION]),
					 name_of(at[AT_VERSION]));
	if (at[AT_VERSION] != version || !is_known(at, version))
		return lpl_import_refuse(importer, LPL_ERR_FORMAT, "the file's header says what "
					 "is not known here");
	*header = (struct pdats_header){
		.address_bytes = at[AT_ADDRESS_BYTES], .stride = at[AT_STRIDE],
		.times = at[AT_FLAGS] & TIMES, .modes = at[AT_FLAGS] & MODES,
	};
	return at + PDATS_HEADER;
}

bool lpl_pdats_has_header(const struct lpl_sample *sample, enum pdats_version version)
{
	return sample->size > AT_VERSION && memcmp(sample->bytes, magic, sizeof(magic)) == 0 &&
	       sample->bytes[AT_VERSION] == version;
}

/* ---- writing ---- */

char *lpl_pdats_begin(struct lpl_exporter *exporter, char *out, enum pdats_version version,
		      struct pdats_header *header)
{
	const struct lpl_pdats_options *options = &exporter->options.pdats;
	/* an instruction of x86 has any length */
	const unsigned int stride = version == PDATS2 ? 1 : PDATS_STRIDE;

	*header = lpl_pdats_no_header;
	if (options->bare)
		return out;
	*header = (struct pdats_header){
		.address_bytes = options->address_bits == 32 ? 4 : 8,
		.stride = options->stride ? options->stride : stride,
		.times = options->times, .modes = options->modes,
	};
	memset(out, 0, PDATS_HEADER);
	memcpy(out, magic, sizeof(magic));
	out[AT_VERSION] = (char)version;
	out[AT_ADDRESS_BYTES] = (char)header->address_bytes;
	out[AT_STRIDE] = (char)header->stride;
	out[AT_FLAGS] = (char)((header->times ? TIMES : 0) | (header->modes ? MODES : 0));
	return out + PDATS_HEADER;
}
