/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tables of scan.h.
 */
#include <laplace/record.h>

#include "scan.h"

#define TEN_TIMES(x) x, x, x, x, x, x, x, x, x, x
#define NONE16 TEN_TIMES(16), 16, 16, 16, 16, 16, 16

const uint8_t scan_digit[256] = {
	NONE16, NONE16, NONE16,
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 16, 16, 16, 16, 16,
	16, 10, 11, 12, 13, 14, 15, 16, 16, 16, 16, 16, 16, 16, 16, 16,
	NONE16,
	16, 10, 11, 12, 13, 14, 15, 16, 16, 16, 16, 16, 16, 16, 16, 16,
	NONE16,
	NONE16, NONE16, NONE16, NONE16, NONE16, NONE16, NONE16, NONE16,
};

#define NONE (uint8_t)LPL_TYPES
#define NO_TYPE16 TEN_TIMES(NONE), NONE, NONE, NONE, NONE, NONE, NONE

const uint8_t scan_letter_type[256] = {
	NO_TYPE16, NO_TYPE16, NO_TYPE16, NO_TYPE16, NO_TYPE16, NO_TYPE16,
	/* a-o */
	NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, LPL_FETCH,
	NONE, NONE, NONE, NONE, NONE, NONE,
	/* p-z */
	LPL_WALK_READ, LPL_WALK_WRITE, LPL_READ, NONE, NONE, NONE, NONE, LPL_WRITE,
	NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE,
	NO_TYPE16, NO_TYPE16, NO_TYPE16, NO_TYPE16,
	NO_TYPE16, NO_TYPE16, NO_TYPE16, NO_TYPE16,
};
