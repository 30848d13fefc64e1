/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An array of 32-bit numbers that may be longer than memory should hold, gone through forwards or backwards:
 * one block of it is in memory, and where there are more, the others are in a temporary file.
 */
#ifndef LAPLACE_SIM_LONG_ARRAY_H
#define LAPLACE_SIM_LONG_ARRAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/temporary.h"

enum { LPL_LONG_BLOCK_BITS = 20 };
#define LPL_LONG_BLOCK ((size_t)1 << LPL_LONG_BLOCK_BITS)	/* numbers */

struct lpl_long_array {			/* of zeros: empty */
	uint32_t *number;		/* those of the block in memory; NULL: none yet; owned */
	size_t block;			/* which one that is */
	bool changed;			/* it is not in the file as it is */
	bool has_file;
	struct lpl_temporary file;
};

void lpl_long_array_free(struct lpl_long_array *array);

/* Have that block in memory.  LPL_ERR_MEMORY; LPL_ERR_IO and LPL_ERR_FULL of the file. */
enum lpl_error lpl_long_array_turn(struct lpl_long_array *array, size_t block,
				   struct lpl_report *report);

/* Have the number at an index in memory: *at, until the next call.  One that was never set is any number. */
static inline enum lpl_error lpl_long_array_at(struct lpl_long_array *array, size_t index, uint32_t **at,
					       struct lpl_report *report)
{
	if (!array->number || index >> LPL_LONG_BLOCK_BITS != array->block) {
		const enum lpl_error error = lpl_long_array_turn(array, index >> LPL_LONG_BLOCK_BITS, report);

		if (error != LPL_OK)
			return error;
	}
	*at = &array->number[index & (LPL_LONG_BLOCK - 1)];
	return LPL_OK;
}

/* The number there is set: it is kept. */
static inline void lpl_long_array_set(struct lpl_long_array *array, uint32_t *at, uint32_t number)
{
	*at = number;
	array->changed = true;
}

#endif
