/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How large segments get, as a specification says it. */
#include <inttypes.h>
#include <string.h>

#include <laplace/collector.h>

#include "base/digits.h"

/* 1G, 250M, 1000000 up to the end of a part; what follows it, or NULL. */
static const char *scan_number(const char *at, uint64_t *number)
{
	static const char units[] = "kMGT";
	const char *unit;

	at = lpl_scan_decimal(at, number);
	unit = at && *at ? strchr(units, *at) : NULL;
	for (const char *u = units; unit && u <= unit; u++) {
		if (__builtin_mul_overflow(*number, (uint64_t)1000, number))
			return NULL;
	}
	return unit ? at + 1 : at;
}

enum lpl_error lpl_segment_size_parse(struct lpl_segment_size *size, const char *spec,
				      struct lpl_report *report)
{
	static const char bytes[] = "bytes:", instructions[] = "instructions:";
	const char *at = spec;

	*size = (struct lpl_segment_size){ 0 };
	do {
		const bool of_bytes = strncmp(at, bytes, strlen(bytes)) == 0;
		uint64_t *number = of_bytes ? &size->bytes : &size->instructions;
		const char *name = of_bytes ? bytes : instructions;

		if (strncmp(at, name, strlen(name)) != 0)
			return lpl_fail(report, LPL_ERR_USAGE, "'%.40s' is none of bytes:N, "
					"instructions:N", at);
		if (*number != 0)
			return lpl_fail(report, LPL_ERR_USAGE, "%s is given twice", name);
		at = scan_number(at + strlen(name), number);
		if (!at || (*at && *at != '+') || *number < LPL_SEGMENT_LEAST)
			return lpl_fail(report, LPL_ERR_USAGE, "%s is followed by a number from"
					" %d on, as 4G or 1000000", name, LPL_SEGMENT_LEAST);
	} while (*at++);
	return LPL_OK;
}
