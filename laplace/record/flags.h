/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which flags a reference may have: those that make sense for its type. */
#ifndef LAPLACE_RECORD_FLAGS_H
#define LAPLACE_RECORD_FLAGS_H

#include <laplace/record.h>

/* The highest flags of references of this type; `paged`, 0 or 1: to whole pages. */
static inline uint64_t lpl_flags_max(uint64_t type, uint64_t paged)
{
	const uint64_t walk = (uint64_t)(type == LPL_WALK_READ) | (uint64_t)(type == LPL_WALK_WRITE);

	return (LPL_USER | LPL_SECOND | LPL_PAGED | LPL_SYNTHETIC) | (walk & (paged ^ 1)) * LPL_WALK_FLAGS;
}

#endif
