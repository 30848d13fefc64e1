/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The clocks of a chunk, by its first and its last record: of either `struct item` (stream.h,
 * property/oracle.h), which the test has included before.
 */
#ifndef LAPLACE_TESTS_CHUNK_CLOCKS_H
#define LAPLACE_TESTS_CHUNK_CLOCKS_H

#include <laplace/trace.h>

static inline struct lpl_chunk chunk_clocks(const struct item *first, const struct item *last)
{
	return (struct lpl_chunk){
		.first_ref = first->is_event ? first->event.ref : first->ref.ref,
		.first_instr = first->is_event ? first->event.instr : first->ref.instr,
		.first_cycle = first->is_event ? first->event.cycle : first->ref.cycle,
		.last_ref = last->is_event ? last->event.ref : last->ref.ref,
		.last_instr = last->is_event ? last->event.instr : last->ref.instr,
		.last_cycle = last->is_event ? last->event.cycle : last->ref.cycle,
	};
}

#endif
