/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What PDATS and PDATS II have in common: offsets of 0, 1, 2 or 4 bytes, which a
 * code of 0 to 3 selects, and addresses of 32 bits.
 */
#ifndef LAPLACE_CONVERT_PDATS_H
#define LAPLACE_CONVERT_PDATS_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exporter.h"
#include "importer.h"

static inline size_t pdats_bytes(unsigned int code)
{
	return code == 3 ? 4 : code;
}

/* The code for an offset that is written out. */
static inline unsigned int pdats_code(uint32_t offset)
{
	if (offset + 0x80 < 0x100)
		return 1;
	return offset + 0x8000 < 0x10000 ? 2 : 3;
}

/* Two's complement, the high byte first; 1, 2 or 4 bytes. */
static inline uint32_t pdats_read(const uint8_t *at, size_t bytes)
{
	uint32_t offset = at[0] & 0x80 ? UINT32_MAX : 0;

	for (size_t i = 0; i < bytes; i++)
		offset = offset << 8 | at[i];
	return offset;
}

static inline char *pdats_write(char *out, uint32_t offset, size_t bytes)
{
	while (bytes-- > 0)
		*out++ = (char)(offset >> 8 * bytes);
	return out;
}

/* There are no lengths: a reference is one of a byte. */
static inline bool pdats_send_ref(struct lpl_importer *importer, unsigned int type,
				  uint32_t address)
{
	struct lpl_ref ref = { .type = (uint8_t)type, .address = address };

	ref.instr = ref.cycle = lpl_import_instruction(importer, type);
	return lpl_import_access(importer, &ref, 1);
}

/* false: refused. */
static inline bool pdats_check(struct lpl_exporter *exporter, const struct lpl_ref *ref)
{
	if (ref->address <= UINT32_MAX)
		return true;
	return lpl_export_refuse(exporter, LPL_ERR_UNSUPPORTED, "reference %" PRIu64 " is to "
				 "address %" PRIx64 ": %s has 32 bits for it", ref->ref,
				 ref->address, exporter->options.format->name);
}

#endif
