/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From references to columns of them (struct lpl_ref_columns). */
#ifndef LAPLACE_RECORD_COLUMNS_H
#define LAPLACE_RECORD_COLUMNS_H

#include <laplace/record.h>

/* References into the columns that are wanted, from index `at` on. */
void lpl_ref_columns_put(const struct lpl_ref_columns *columns, size_t at, const struct lpl_ref *refs,
		     size_t count);

#endif
