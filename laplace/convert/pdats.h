/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What PDATS and PDATS II have in common: a file's header, and offsets of 0 bytes or of as many
 * as a code of 1 to 3 selects.
 */
#ifndef LAPLACE_CONVERT_PDATS_H
#define LAPLACE_CONVERT_PDATS_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exporter.h"
#include "importer.h"

enum pdats_version { PDATS = 1, PDATS2 };

#define PDATS_HEADER 16		/* bytes */
#define PDATS_STRIDE 4		/* of the paper's processors, and of files without a header */
#define PDATS_STRIDE_MAX 16
#define PDATS_CODE_WIDE 3U	/* of an offset of as many bytes as an address has */

/* What a file's header says, or what is so without one. */
struct pdats_header {
	unsigned int address_bytes;	/* 4 or 8 */
	unsigned int stride;		/* bytes, a power of two */
	bool times, modes;		/* PDATS: it has time stamps, types say the mode */
};

extern const struct pdats_header lpl_pdats_no_header;

/*
 * The header of a file that begins with `at`, if there is one: returns what follows.  Without one
 * it is lpl_pdats_no_header, and `at` is returned.  NULL after lpl_import_refuse().
 */
const uint8_t *lpl_pdats_read_header(struct lpl_importer *importer, enum pdats_version version,
				     const uint8_t *at, const uint8_t *end,
				     struct pdats_header *header);

/* What the options ask for; writes the header, if there is to be one. */
char *lpl_pdats_begin(struct lpl_exporter *exporter, char *out, enum pdats_version version,
		      struct pdats_header *header);

/* Does a file begin with the header of this version? */
bool lpl_pdats_has_header(const struct lpl_sample *sample, enum pdats_version version);
enum lpl_recognition lpl_pdats_recognise(const struct lpl_sample *sample);
enum lpl_recognition lpl_pdats2_recognise(const struct lpl_sample *sample);

/* The input ends within a record.  Returns NULL. */
void *lpl_pdats_cut_off(struct lpl_importer *importer) __attribute__((cold));

static inline uint64_t pdats_mask(const struct pdats_header *header)
{
	return header->address_bytes == 4 ? UINT32_MAX : UINT64_MAX;
}

/* From one address to another, as a signed number. */
static inline int64_t pdats_offset(const struct pdats_header *header, uint64_t to, uint64_t from)
{
	const uint64_t offset = to - from;

	return header->address_bytes == 4 ? (int32_t)(uint32_t)offset : (int64_t)offset;
}

static inline size_t pdats_bytes(const struct pdats_header *header, unsigned int code)
{
	return code == PDATS_CODE_WIDE ? header->address_bytes : code;
}

/* The code for an offset that is written out. */
static inline unsigned int pdats_code(int64_t offset)
{
	if (offset >= INT8_MIN && offset <= INT8_MAX)
		return 1;
	return offset >= INT16_MIN && offset <= INT16_MAX ? 2 : PDATS_CODE_WIDE;
}

/* Two's complement, the high byte first; 1 to 8 bytes. */
static inline int64_t pdats_read(const uint8_t *at, size_t bytes)
{
	uint64_t offset = at[0] & 0x80 ? UINT64_MAX : 0;

	for (size_t i = 0; i < bytes; i++)
		offset = offset << 8 | at[i];
	return (int64_t)offset;
}

static inline char *pdats_write(char *out, uint64_t offset, size_t bytes)
{
	while (bytes-- > 0)
		*out++ = (char)(offset >> 8 * bytes);
	return out;
}

/* There are no lengths: a reference is one of a byte.  `ref` lacks the clocks but the cycle. */
static inline bool pdats_send(struct lpl_importer *importer, struct lpl_ref *ref, bool times)
{
	ref->instr = lpl_import_instruction(importer, ref->type);
	if (!times)
		ref->cycle = ref->instr;
	return lpl_import_access(importer, ref, 1);
}

/* false: refused. */
static inline bool pdats_check(struct lpl_exporter *exporter, const struct pdats_header *header,
			       const struct lpl_ref *ref)
{
	if (header->address_bytes == 8 || ref->address <= UINT32_MAX)
		return true;
	return lpl_export_refuse(exporter, LPL_ERR_UNSUPPORTED, "reference %" PRIu64 " is to "
				 "address %" PRIx64 ", which has more than the 32 bits "
				 "that were asked for", ref->ref, ref->address);
}

#endif
