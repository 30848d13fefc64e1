/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ring's records of windows, as the simulator's thread sends them and the collector's
 * (ring_stream.h) reads them.  C++ may include this header.
 *
 * The top byte of word[3] is the kind.  `number` is a reference's number << 3 | (user mode) << 2 |
 * type (0 read, 1 write, 2 fetch; a walk's type is 0 or 1, and a bit elsewhere marks it as a walk).
 *
 *	PAGE	first number, instr, cycle, page number: a page of the window, and ...
 *	  +1	last number, instr, cycle, space | walk << 46 | wrote << 47
 *	WINDOW	references so far, tracer references, instructions: the window's
 *		pages are complete
 *	EVENT	ref, instr, cycle; LPL_WIRE_EVENT_RECORDS records follow, a
 *		kernel_trace_record, padded; pages with earlier references may
 *		follow it
 *	TOTALS	references so far, tracer references, instructions; before an EVENT, and
 *		at the end
 *	FLUSH	make all before it readable; follows a WINDOW.  LPL_WIRE_ROTATE in word[0]: where
 *		there are segments, one ends here
 */
#ifndef LAPLACE_COLLECT_WIRE_H
#define LAPLACE_COLLECT_WIRE_H

#include <stdint.h>

#include <laplace/kernel_trace_record.h>

#include "ring/ring.h"

enum lpl_wire {
	LPL_WIRE_PAGE = 1,
	LPL_WIRE_WINDOW = 2,
	LPL_WIRE_EVENT = 3,
	LPL_WIRE_TOTALS = 4,
	LPL_WIRE_FLUSH = 5
};
#define LPL_WIRE_ROTATE		UINT64_C(1)
#define LPL_WIRE_KIND(k)	((uint64_t)(k) << 56)
#define LPL_WIRE_SPACE		((UINT64_C(1) << 46) - 1)
#define LPL_WIRE_WALK		(UINT64_C(1) << 46)
#define LPL_WIRE_WROTE		(UINT64_C(1) << 47)
#define LPL_WIRE_EVENT_RECORDS \
	((sizeof(struct kernel_trace_record) + sizeof(struct lpl_ring_record) - 1) / \
	 sizeof(struct lpl_ring_record))

#endif
