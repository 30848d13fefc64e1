/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From references to columns of them; see columns.h.
 *
 * A block of references is larger than a processor's first cache, and each column goes through
 * all of it.  So it is taken in pieces that stay there until the last column has been through.
 */
#include "columns.h"

#define PIECE 256

#define PUT(field) do { \
	if (columns->field) \
		for (size_t i = 0; i < count; i++) \
			columns->field[at + i] = refs[i].field; \
} while (0)

static void put_piece(const struct lpl_ref_columns *columns, size_t at, const struct lpl_ref *refs,
		      size_t count)
{
	PUT(ref);
	PUT(instr);
	PUT(cycle);
	PUT(address);
	PUT(space);
	PUT(length);
	PUT(type);
	PUT(flags);
}

void lpl_ref_columns_put(const struct lpl_ref_columns *columns, size_t at, const struct lpl_ref *refs,
		     size_t count)
{
	for (size_t done = 0; done < count; done += PIECE)
		put_piece(columns, at + done, refs + done,
			  count - done < PIECE ? count - done : PIECE);
}
