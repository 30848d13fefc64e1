/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How large the segments of a recording get.  C++ may include this header. */
#ifndef LAPLACE_COLLECT_SEGMENT_SIZE_H
#define LAPLACE_COLLECT_SEGMENT_SIZE_H

#include <stdint.h>

#include <laplace/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A segment ends at the first place after so many bytes, or instructions of the machine,
 * recorded or not, where the stream can be cut (docs/format.md, section 11.4).  0: that is no
 * reason.
 */
struct lpl_segment_size {
	uint64_t bytes, instructions;
};
#define LPL_SEGMENT_LEAST 1000000	/* of either, in a specification */
/*
 * "bytes:N" or "instructions:N", or both with a plus sign or a comma between them; N may end in k,
 * M, G or T.  LPL_ERR_USAGE.
 */
enum lpl_error lpl_segment_size_parse(struct lpl_segment_size *size, const char *spec,
				      struct lpl_report *report);

#ifdef __cplusplus
}
#endif

#endif
