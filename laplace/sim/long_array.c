/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Arrays of which one block is in memory. */
#include "long_array.h"

#include <stdlib.h>

#include "base/try.h"

#define BYTES (LPL_LONG_BLOCK * sizeof(uint32_t))

void lpl_long_array_free(struct lpl_long_array *array)
{
	free(array->number);
	if (array->has_file)
		lpl_temporary_close(&array->file);
}

static enum lpl_error store(struct lpl_long_array *array, struct lpl_report *report)
{
	if (!array->has_file)
		LPL_TRY(lpl_temporary_open(&array->file, NULL, report));
	array->has_file = true;
	LPL_TRY(lpl_temporary_write(&array->file, array->number, BYTES, array->block * BYTES, report));
	array->changed = false;
	return LPL_OK;
}

enum lpl_error lpl_long_array_turn(struct lpl_long_array *array, size_t block,
				   struct lpl_report *report)
{
	size_t got;

	if (!array->number)
		array->number = calloc(1, BYTES);	/* all of it is written, with what was never set */
	else if (array->changed)
		LPL_TRY(store(array, report));
	if (!array->number)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for a block of numbers");
	array->block = block;
	/* what it has not is new */
	return array->has_file ?
		lpl_temporary_read(&array->file, array->number, BYTES, block * BYTES, &got, report) : LPL_OK;
}
